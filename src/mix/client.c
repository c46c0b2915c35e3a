#include "mix/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"

#define REPLIES 256
#define INBOX_CONNECTIONS 64
#define MESSAGE_MS 30000

/* A reply that is waited for. */
struct waiting {
	struct mix_client *client;
	handle_t self;
	sphinx_surb_owner_t owner;
	struct deadline late;
	mix_reply_fn *fn;
	void *arg;
};

struct mix_client {
	struct outbox *outbox;
	struct mix_client_config config;
	struct inbox *inbox;
	uint8_t tag[SPHINX_KEY_SIZE];
	struct slab slab;
	struct waiting *memory;
	struct slab_slot *slots;
};

static void
waiting_free(struct waiting *w)
{
	struct mix_client *c = w->client;

	deadline_stop(c->outbox->loop, &w->late);
	wipe(&w->owner, sizeof(w->owner));
	slab_release(&c->slab, w->self);
}

static void
on_late(struct deadline *d)
{
	struct waiting *w = loop_owner(d, struct waiting, late);
	mix_reply_fn *fn = w->fn;
	void *arg = w->arg;

	waiting_free(w);
	fn(arg, ST_IDLE, NULL, 0);
}

static struct waiting *
find(const struct mix_client *c, const uint8_t id[static SPHINX_KEY_SIZE])
{
	for (uint32_t i = 0; i < c->slab.capacity; i++) {
		handle_t h;
		struct waiting *w = slab_nth(&c->slab, i, &h);
		if (w != NULL && memcmp(w->owner.id, id, SPHINX_KEY_SIZE) == 0)
			return w;
	}
	return NULL;
}

/* SEALED, LEN bytes of it, came for the reply block with this id. */
static void
on_reply(struct mix_client *c, const uint8_t *id, uint8_t *sealed, size_t len)
{
	struct waiting *w = find(c, id);
	const uint8_t *reply;
	size_t reply_len;

	if (w == NULL)
		return; /* too late, or none of ours */
	mix_reply_fn *fn = w->fn;
	void *arg = w->arg;
	sphinx_surb_owner_t owner = w->owner;
	waiting_free(w);
	enum status st = sphinx_surb_open(
	    c->outbox->sphinx, &reply, &reply_len, &owner, sealed, len);
	wipe(&owner, sizeof(owner));
	fn(arg, st == ST_OK ? ST_OK : ST_CORRUPT, reply, reply_len);
}

static void
on_message(void *arg, uint8_t *bytes, size_t len)
{
	struct mix_client *c = arg;
	sphinx_message_t m;

	if (sphinx_message_decode(&m, bytes, len) != ST_OK)
		return;
	if (m.kind == SPHINX_REPLIED)
		on_reply(c, m.id, bytes + (m.body - bytes), m.body_len);
	else if (c->config.message != NULL)
		c->config.message(c->config.arg, &m);
}

enum status
mix_client_new(struct mix_client **out, struct outbox *o,
    const struct mix_client_config *config)
{
	struct mix_client *c = calloc(1, sizeof(*c));
	struct inbox_config inbox = {
	    INBOX_CONNECTIONS, MESSAGE_MS, on_message, c};
	uint32_t replies = config->replies != 0 ? config->replies : REPLIES;
	endpoint_t address = config->address;
	enum status st = ST_NO_MEMORY;

	*out = c;
	if (c == NULL)
		return ST_NO_MEMORY;
	c->outbox = o;
	c->config = *config;
	c->memory = calloc(replies, sizeof(*c->memory));
	c->slots = calloc(replies, sizeof(*c->slots));
	if (c->memory != NULL && c->slots != NULL) {
		slab_init(
		    &c->slab, c->memory, c->slots, sizeof(*c->memory), replies);
		st = inbox_new(&c->inbox, o->loop, &config->listen, &inbox);
	}
	if (st == ST_OK) {
		if (address.port == 0)
			address.port = inbox_port(c->inbox);
		st = tag_make(c->tag, &address);
	}
	if (st != ST_OK)
		mix_client_free(out);
	return st;
}

void
mix_client_free(struct mix_client **out)
{
	struct mix_client *c = *out;

	if (c == NULL)
		return;
	inbox_free(&c->inbox);
	for (uint32_t i = 0; i < c->slab.capacity; i++) {
		handle_t h;
		struct waiting *w = slab_nth(&c->slab, i, &h);
		if (w != NULL)
			waiting_free(w);
	}
	free(c->memory);
	free(c->slots);
	free(c);
	*out = NULL;
}

const uint8_t *
mix_client_tag(const struct mix_client *c)
{
	return c->tag;
}

uint16_t
mix_client_port(const struct mix_client *c)
{
	return inbox_port(c->inbox);
}

enum status
mix_client_way(struct mix_client *c, struct mix_way *way,
    const struct mix_way *avoid, const uint8_t tag[static SPHINX_KEY_SIZE])
{
	enum status st = outbox_path(c->outbox, &way->path, &way->nodes,
	    c->config.mean_ms, avoid != NULL ? &avoid->nodes : NULL, tag);

	way->delay_ms = 0;
	for (unsigned i = 0; i < way->path.hops; i++)
		way->delay_ms += way->path.hop[i].delay_ms;
	return st;
}

enum status
mix_client_surb(struct mix_client *c, sphinx_surb_t *surb, handle_t *reply,
    const struct mix_way *way, uint64_t timeout_ms, mix_reply_fn *fn, void *arg)
{
	const struct mix_random *r = c->outbox->config.random;
	uint8_t seed[SPHINX_SEED_SIZE];
	struct waiting *w;
	void *object;
	enum status st = slab_take(&c->slab, reply, &object);

	if (st != ST_OK)
		return st;
	w = object;
	*w =
	    (struct waiting){.client = c, .self = *reply, .fn = fn, .arg = arg};
	deadline_init(&w->late, on_late);
	r->fill(r->ctx, seed, sizeof(seed));
	st = sphinx_surb_build(
	    c->outbox->sphinx, surb, &w->owner, &way->path, seed);
	wipe(seed, sizeof(seed));
	if (st != ST_OK) {
		waiting_free(w);
		*reply = (handle_t){0};
		return st;
	}
	deadline_start(c->outbox->loop, &w->late, timeout_ms);
	return ST_OK;
}

void
mix_client_forget(struct mix_client *c, handle_t reply)
{
	struct waiting *w = slab_at(&c->slab, reply);

	if (w != NULL)
		waiting_free(w);
}

enum status
mix_client_send(
    struct mix_client *c, const struct mix_way *way, const sphinx_message_t *m)
{
	uint8_t *message = malloc(SPHINX_MESSAGE_MAX);
	size_t len;
	enum status st;

	if (message == NULL)
		return ST_NO_MEMORY;
	st = sphinx_message_encode(message, SPHINX_MESSAGE_MAX, &len, m);
	if (st == ST_OK)
		st = outbox_send(c->outbox, &way->path, message, len);
	wipe(message, SPHINX_MESSAGE_MAX);
	free(message);
	return st;
}

enum status
mix_client_ask(struct mix_client *c, const endpoint_t *to, const void *body,
    size_t len, uint64_t timeout_ms, mix_reply_fn *fn, void *arg)
{
	uint8_t tag[SPHINX_KEY_SIZE];
	struct mix_way there, back;
	sphinx_surb_t surb;
	handle_t reply;
	enum status st;

	if ((st = tag_make(tag, to)) != ST_OK ||
	    (st = mix_client_way(c, &there, NULL, tag)) != ST_OK ||
	    (st = mix_client_way(c, &back, &there, c->tag)) != ST_OK ||
	    (st = mix_client_surb(
		 c, &surb, &reply, &back, timeout_ms, fn, arg)) != ST_OK)
		return st;
	sphinx_message_t m = {.kind = SPHINX_REQUEST,
	    .flags = SPHINX_FLAG_SURB,
	    .surb = surb.bytes,
	    .surb_len = surb.len,
	    .body = body,
	    .body_len = len};
	st = mix_client_send(c, &there, &m);
	if (st != ST_OK)
		mix_client_forget(c, reply);
	return st;
}
