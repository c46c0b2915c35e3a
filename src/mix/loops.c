#include "mix/loops.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY 256
#define PROBE_SIZE 32
/* A node dates what comes by the beginning of its loop's round, so a packet
 * may leave that much early. A way is early by more. */
#define EARLY_MS 20

/* One loop under way. */
struct trip {
	struct loops *loops;
	handle_t self, reply;
	uint8_t probe[PROBE_SIZE];
	struct mix_way there, back;
	uint64_t sent, arrived; /* ms; arrived 0: not yet */
	unsigned registry; /* the registry of its ways */
};

struct loops {
	struct outbox *outbox;
	struct mix_client *client;
	struct loops_config config;
	struct deadline next;
	struct slab slab;
	struct trip *memory;
	struct slab_slot *slots;
	unsigned registry; /* how often it changed */
	struct loop_figures layer[MIX_LAYERS];
	struct loop_figures *node; /* by index in the registry */
	size_t nodes;
};

/* --- figures --- */

/* One way is over, ST_OK when it was gone to its end. */
static void
count(struct loop_figures *f, enum status st, uint64_t took, uint64_t asked)
{
	if (st != ST_OK) {
		f->lost++;
		return;
	}
	f->returned++;
	f->early += took + EARLY_MS < asked;
	f->late_ms += took > asked ? took - asked : 0;
}

static void
count_way(struct loops *l, const struct trip *t, const struct mix_way *way,
    enum status st, uint64_t took)
{
	for (unsigned i = 0; i < MIX_LAYERS; i++) {
		size_t node = way->nodes.node[i];
		count(&l->layer[i], st, took, way->delay_ms);
		if (t->registry == l->registry && node < l->nodes)
			count(&l->node[node], st, took, way->delay_ms);
	}
}

static void
count_sent(struct loops *l, const struct mix_way *way)
{
	for (unsigned i = 0; i < MIX_LAYERS; i++) {
		size_t node = way->nodes.node[i];
		l->layer[i].sent++;
		if (node < l->nodes)
			l->node[node].sent++;
	}
}

/* --- a loop --- */

static void
on_back(void *arg, enum status st, const uint8_t *reply, size_t len)
{
	struct trip *t = arg;
	struct loops *l = t->loops;
	uint64_t now = loop_now(l->outbox->loop);
	uint64_t took = now - t->sent;
	uint64_t asked = t->there.delay_ms + t->back.delay_ms;

	(void)reply;
	(void)len;
	if (t->arrived == 0)
		count_way(l, t, &t->there, ST_IDLE, 0);
	else
		count_way(l, t, &t->back, st, now - t->arrived);
	slab_release(&l->slab, t->self);
	if (l->config.done != NULL)
		l->config.done(l->config.arg, st, took, asked);
}

enum status
loops_send(struct loops *l)
{
	const struct mix_random *r = l->outbox->config.random;
	const uint8_t *tag = mix_client_tag(l->client);
	sphinx_surb_t surb;
	struct trip *t;
	handle_t self;
	void *object;
	enum status st = slab_take(&l->slab, &self, &object);

	if (st != ST_OK)
		return st;
	t = object;
	*t = (struct trip){.loops = l,
	    .self = self,
	    .registry = l->registry,
	    .sent = loop_now(l->outbox->loop)};
	r->fill(r->ctx, t->probe, sizeof(t->probe));
	st = mix_client_way(l->client, &t->there, NULL, tag);
	if (st == ST_OK)
		st = mix_client_way(l->client, &t->back, &t->there, tag);
	if (st == ST_OK)
		st = mix_client_surb(l->client, &surb, &t->reply, &t->back,
		    t->there.delay_ms + t->back.delay_ms + l->config.grace_ms,
		    on_back, t);
	if (st != ST_OK) {
		slab_release(&l->slab, self);
		return st;
	}
	sphinx_message_t m = {.kind = SPHINX_REQUEST,
	    .flags = SPHINX_FLAG_SURB | SPHINX_FLAG_COVER,
	    .surb = surb.bytes,
	    .surb_len = surb.len,
	    .body = t->probe,
	    .body_len = sizeof(t->probe)};
	st = mix_client_send(l->client, &t->there, &m);
	if (st != ST_OK) {
		mix_client_forget(l->client, t->reply);
		slab_release(&l->slab, self);
		return st;
	}
	count_sent(l, &t->there);
	return ST_OK;
}

bool
loops_message(struct loops *l, const sphinx_message_t *m)
{
	if (m->kind != SPHINX_REQUEST || m->surb == NULL ||
	    m->body_len != PROBE_SIZE)
		return false;
	for (uint32_t i = 0; i < l->slab.capacity; i++) {
		handle_t h;
		struct trip *t = slab_nth(&l->slab, i, &h);
		if (t == NULL || memcmp(t->probe, m->body, PROBE_SIZE) != 0)
			continue;
		if (t->arrived != 0)
			return true; /* twice: somebody replays it */
		t->arrived = loop_now(l->outbox->loop);
		count_way(l, t, &t->there, ST_OK, t->arrived - t->sent);
		/* If it can not be sent back, it will be counted as lost. */
		if (outbox_reply(l->outbox, m->surb, m->surb_len, NULL, 0) ==
		    ST_OK)
			count_sent(l, &t->back);
		return true;
	}
	return false;
}

/* --- the process --- */

static void
schedule(struct loops *l)
{
	double mean = 1000 / l->config.rate;

	deadline_start(l->outbox->loop, &l->next,
	    mix_random_delay(l->outbox->config.random, mean, UINT32_MAX));
}

static void
on_next(struct deadline *d)
{
	struct loops *l = loop_owner(d, struct loops, next);

	/* Without a registry, or with too many under way: not this one. */
	(void)!loops_send(l);
	schedule(l);
}

enum status
loops_new(struct loops **out, struct outbox *o, struct mix_client *c,
    const struct loops_config *config)
{
	struct loops *l = calloc(1, sizeof(*l));
	uint32_t capacity = config->capacity != 0 ? config->capacity : CAPACITY;

	*out = l;
	if (l == NULL)
		return ST_NO_MEMORY;
	l->outbox = o;
	l->client = c;
	l->config = *config;
	deadline_init(&l->next, on_next);
	l->memory = calloc(capacity, sizeof(*l->memory));
	l->slots = calloc(capacity, sizeof(*l->slots));
	if (l->memory == NULL || l->slots == NULL) {
		loops_free(out);
		return ST_NO_MEMORY;
	}
	slab_init(&l->slab, l->memory, l->slots, sizeof(*l->memory), capacity);
	loops_registry_changed(l);
	if (config->rate > 0)
		schedule(l);
	return ST_OK;
}

void
loops_free(struct loops **out)
{
	struct loops *l = *out;

	if (l == NULL)
		return;
	deadline_stop(l->outbox->loop, &l->next);
	for (uint32_t i = 0; i < l->slab.capacity; i++) {
		handle_t h;
		struct trip *t = slab_nth(&l->slab, i, &h);
		if (t != NULL)
			mix_client_forget(l->client, t->reply);
	}
	free(l->memory);
	free(l->slots);
	free(l->node);
	free(l);
	*out = NULL;
}

void
loops_registry_changed(struct loops *l)
{
	const struct registry *r = l->outbox->registry;

	free(l->node);
	l->nodes = r != NULL ? r->n : 0;
	l->node = calloc(l->nodes + 1, sizeof(*l->node));
	if (l->node == NULL)
		l->nodes = 0;
	l->registry++;
}

struct loop_figures
loops_layer(const struct loops *l, unsigned layer)
{
	return l->layer[layer];
}

struct loop_figures
loops_node(const struct loops *l, size_t index)
{
	return index < l->nodes ? l->node[index] : (struct loop_figures){0};
}
