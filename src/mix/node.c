#include "mix/node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/wipe.h"
#include "net/pool.h"

#define BATCH 8
#define INLETS 256
#define FRAME_MS 30000
#define TICK_MS 1000
#define IDLE_LINK_MS 600000
#define MAX_DELAY_MS 3600000
#define LOOP_GRACE_MS 30000

struct mix_node {
	struct mix_node_config config;
	struct loop *loop;
	struct outbox outbox;
	struct keyring keys;
	struct inlets *inlets;
	struct mix_client *client; /* NULL without loops */
	struct loops *loops;
	struct pool *syncer;
	struct deadline tick;
	/* Frames that came this round. */
	struct parcel *batch[BATCH];
	size_t batched;
	struct task process;
	bool journal_failed, filter_full; /* told so */
	uint8_t pin[TLS_PIN_SIZE];
};

static void
tell(struct mix_node *n, enum mix_event e, enum status st, const char *problem)
{
	if (n->config.event != NULL)
		n->config.event(n->config.arg, e, st, problem);
}

static void
drop(struct mix_node *n, struct parcel *p, enum mix_drop why)
{
	n->outbox.counts.dropped[why]++;
	parcel_free(p);
}

/* --- out ------------------------------------------------------------------ */

/* The delay of P, which is told its next hop, is over. */
static void
on_released(void *arg, struct parcel *p)
{
	struct mix_node *n = arg;

	if (p->deliver)
		links_send(n->outbox.links, p);
	else
		/* Drops and counts P when the node is not there any more. */
		(void)!outbox_post(&n->outbox, p, p->next);
}

/* Make a frame of what is delivered: length u32 | message. The length's place
 * is before the message in both suites; a wide reply gets its kind and id in
 * front, where the header was. */
static void
frame_delivery(struct parcel *p, const sphinx_step_t *step)
{
	uint8_t *start = (uint8_t *)&p->packet;
	size_t at = (size_t)(step->message - start), len = step->message_len;

	if (step->action == SPHINX_REPLY) {
		at -= sizeof(step->surb);
		memcpy(start + at, step->surb, sizeof(step->surb));
		start[--at] = SPHINX_REPLIED;
		len += 1 + sizeof(step->surb);
	}
	at -= 4;
	store_le32(start + at, (uint32_t)len);
	p->out = start + at;
	p->out_len = 4 + len;
}

/* Hold P as STEP says, or drop it. */
static void
route(struct mix_node *n, struct parcel *p, const sphinx_step_t *step)
{
	uint32_t delay = step->delay_ms;

	if (step->action == SPHINX_FORWARD) {
		if (n->outbox.registry == NULL ||
		    registry_find(n->outbox.registry, step->next) == NULL) {
			drop(n, p, DROP_UNKNOWN_NODE);
			return;
		}
		memcpy(p->next, step->next, sizeof(p->next));
	} else {
		if (tag_read(&p->to, step->next) != ST_OK ||
		    address_check(n->config.deliver, &p->to.ip, p->to.port) !=
			ST_OK) {
			drop(n, p, DROP_ADDRESS);
			return;
		}
		p->deliver = true;
		frame_delivery(p, step);
	}
	if (delay > n->config.max_delay_ms) {
		delay = n->config.max_delay_ms;
		n->outbox.counts.clamped++;
	}
	parcel_hold(p, delay, on_released);
}

/* --- in ------------------------------------------------------------------- */

static enum mix_drop
drop_of(enum status st)
{
	switch ((int)st) {
	case ST_WEAK_KEY:
		return DROP_WEAK_KEY;
	case ST_BAD_ENCODING:
		return DROP_BAD_ENCODING;
	case ST_CORRUPT:
		return DROP_CORRUPT;
	case ST_REPLAY:
		return DROP_REPLAY;
	case ST_BUSY:
		return DROP_FILTER_FULL;
	case ST_SYS:
		return DROP_JOURNAL;
	default:
		return DROP_BAD_MAC;
	}
}

/* Tell the operator once when packets are lost for his reasons. */
static void
watch_filter(struct mix_node *n, enum status st)
{
	if (st == ST_SYS && !n->journal_failed)
		tell(n, MIX_JOURNAL_FAILED, st, "");
	if (st == ST_OK && n->journal_failed)
		tell(n, MIX_JOURNAL_BACK, st, "");
	if (st == ST_BUSY && !n->filter_full)
		tell(n, MIX_FILTER_FULL, st, "");
	if (st == ST_OK || st == ST_SYS)
		n->journal_failed = st == ST_SYS;
	if (st == ST_OK || st == ST_BUSY)
		n->filter_full = st == ST_BUSY;
}

/* A batch, on its way through the keys: what is left are the packets that no
 * key has opened yet. */
struct batch {
	struct parcel *parcel[BATCH];
	sphinx_packet_t *packet[BATCH];
	enum status result[BATCH];
	sphinx_step_t step[BATCH];
	size_t n;
};

/* Ask the filter of ENTRY for what its key has opened. Corrupt packets are
 * asked for too: their header was good, and must not be tried again. */
static void
ask_filter(struct mix_node *n, struct keyring_entry *entry, struct batch *b)
{
	enum status seen[BATCH];
	uint8_t once[BATCH][SEEN_TAG_SIZE];

	for (size_t i = 0; i < b->n; i++) {
		seen[i] = b->result[i] == ST_OK || b->result[i] == ST_CORRUPT
		    ? ST_OK
		    : ST_BAD_MAC;
		memcpy(once[i], b->step[i].once, sizeof(once[i]));
	}
	seen_add(entry->seen, seen, once[0], b->n);
	for (size_t i = 0; i < b->n; i++) {
		if (seen[i] == ST_BAD_MAC)
			continue;
		watch_filter(n, seen[i]);
		if (b->result[i] == ST_OK)
			b->result[i] = seen[i];
	}
}

/* Open what ENTRY's key opens, and send it on its way; keep the rest. */
static void
try_key(struct mix_node *n, struct keyring_entry *entry, struct batch *b)
{
	size_t left = 0;

	if (entry->seen == NULL || b->n == 0)
		return;
	for (size_t i = 0; i < b->n; i++)
		b->packet[i] = &b->parcel[i]->packet;
	sphinx_peel_batch(
	    n->outbox.sphinx, b->result, b->step, b->packet, b->n, &entry->key);
	ask_filter(n, entry, b);
	for (size_t i = 0; i < b->n; i++) {
		struct parcel *p = b->parcel[i];
		if (b->result[i] == ST_OK)
			route(n, p, &b->step[i]);
		else if (b->result[i] == ST_BAD_MAC)
			b->parcel[left++] = p;
		else
			drop(n, p, drop_of(b->result[i]));
	}
	b->n = left;
}

static void
process(struct mix_node *n)
{
	struct batch b = {.n = n->batched};

	memcpy(b.parcel, n->batch, sizeof(b.parcel));
	n->batched = 0;
	for (int role = 0; role < KEY_ROLES; role++)
		try_key(n, &n->keys.entry[role], &b);
	for (size_t i = 0; i < b.n; i++)
		drop(n, b.parcel[i], DROP_BAD_MAC);
	wipe(b.step, sizeof(b.step));
}

static void
on_process(struct task *t)
{
	process(loop_owner(t, struct mix_node, process));
}

static void
on_received(void *arg, struct parcel *p)
{
	struct mix_node *n = arg;

	n->batch[n->batched++] = p;
	if (n->batched == BATCH)
		process(n);
	else
		task_defer(n->loop, &n->process);
}

static void
on_message(void *arg, const sphinx_message_t *m)
{
	struct mix_node *n = arg;

	/* Only our own loops come here. */
	if (n->loops != NULL)
		(void)loops_message(n->loops, m);
}

/* --- now and then --------------------------------------------------------- */

/* On a worker: a duplicate of a journal's descriptor. */
static void
run_sync(const void *shared, void *state, void *const *jobs, unsigned count)
{
	(void)shared;
	(void)state;
	for (unsigned i = 0; i < count; i++) {
		int fd;
		memcpy(&fd, jobs[i], sizeof(fd));
		(void)!fdatasync(fd);
		close(fd);
	}
}

static void
on_synced(void *arg, handle_t owner, void *job)
{
	(void)arg;
	(void)owner;
	(void)job;
}

static void
sync_journals(struct mix_node *n)
{
	for (int role = 0; role < KEY_ROLES; role++) {
		struct seen *s = n->keys.entry[role].seen;
		int fd = s != NULL ? seen_take_dirty(s) : -1;
		if (fd >= 0)
			fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (fd >= 0 &&
		    pool_submit(n->syncer, NULL, 0, (handle_t){0}, &fd,
			sizeof(fd)) != ST_OK)
			close(fd); /* the last one is still at it */
	}
}

static void
on_tick(struct deadline *d)
{
	struct mix_node *n = loop_owner(d, struct mix_node, tick);
	bool changed;
	enum status st =
	    keyring_tick(&n->keys, &changed, outbox_now(&n->outbox));

	if (st != ST_OK)
		tell(n, MIX_KEY_FAILED, st, n->keys.problem);
	else if (changed)
		tell(n, MIX_KEY_TURNED, st, "");
	sync_journals(n);
	links_prune(n->outbox.links, IDLE_LINK_MS);
	deadline_start(n->loop, &n->tick, TICK_MS);
}

/* --- life ----------------------------------------------------------------- */

static enum status
make_syncer(struct mix_node *n)
{
	struct pool_config config = {.workers = 1,
	    .capacity = {KEY_ROLES, 1},
	    .job_size = sizeof(int),
	    .batch_max = 1,
	    .run = run_sync,
	    .done = on_synced,
	    .arg = n};

	return pool_new(&n->syncer, n->loop, &config);
}

static enum status
make_loops(struct mix_node *n)
{
	struct mix_client_config client = n->config.inbox;
	struct loops_config loops = {
	    .rate = n->config.loop_rate, .grace_ms = n->config.loop_grace_ms};
	enum status st;

	client.mean_ms = n->config.loop_mean_ms;
	client.message = on_message;
	client.arg = n;
	st = mix_client_new(&n->client, &n->outbox, &client);
	if (st == ST_OK)
		st = loops_new(&n->loops, &n->outbox, n->client, &loops);
	return st;
}

static enum status
make_inlets(struct mix_node *n)
{
	struct inlets_config config = {.capacity = n->config.inlets,
	    .frame_ms = FRAME_MS,
	    .tls = n->config.tls ? n->outbox.tls : NULL,
	    .pool = &n->outbox.pool,
	    .counts = &n->outbox.counts,
	    .received = on_received,
	    .arg = n};

	return inlets_new(&n->inlets, n->loop, &n->config.listen, &config);
}

static enum status
make_parts(struct mix_node *n, char problem[static 256])
{
	struct outbox_config outbox = n->config.outbox;
	enum status st;

	outbox.tls_secret =
	    n->config.tls ? n->config.keys.identity.secret : NULL;
	if ((st = outbox_init(&n->outbox, n->loop, &outbox, n)) != ST_OK)
		return st;
	/* What is pinned must leave room for what comes. */
	if (n->outbox.config.parcels <
	    2 * (size_t)(n->config.inlets + n->outbox.config.links))
		return ST_BAD_VALUE;
	st = keyring_open(&n->keys, &n->config.keys, outbox_now(&n->outbox));
	if (st != ST_OK) {
		memcpy(problem, n->keys.problem, sizeof(n->keys.problem));
		return st;
	}
	if (n->config.tls &&
	    (st = tls_pin_of(n->pin, n->config.keys.identity.secret)) != ST_OK)
		return st;
	if ((st = make_syncer(n)) != ST_OK)
		return st;
	endpoint_format(problem, &n->config.listen);
	if ((st = make_inlets(n)) != ST_OK)
		return st;
	endpoint_format(problem, &n->config.inbox.listen);
	if (n->config.loop_rate > 0 && (st = make_loops(n)) != ST_OK)
		return st;
	problem[0] = '\0';
	return ST_OK;
}

enum status
mix_node_new(struct mix_node **out, char problem[static 256], struct loop *l,
    const struct mix_node_config *config)
{
	struct mix_node *n = calloc(1, sizeof(*n));
	enum status st;

	problem[0] = '\0';
	*out = n;
	if (n == NULL)
		return ST_NO_MEMORY;
	n->config = *config;
	n->loop = l;
	if (n->config.inlets == 0)
		n->config.inlets = INLETS;
	if (n->config.max_delay_ms == 0)
		n->config.max_delay_ms = MAX_DELAY_MS;
	if (n->config.loop_grace_ms == 0)
		n->config.loop_grace_ms = LOOP_GRACE_MS;
	task_init(&n->process, on_process);
	deadline_init(&n->tick, on_tick);
	st = make_parts(n, problem);
	if (st != ST_OK) {
		mix_node_free(out);
		return st;
	}
	deadline_start(l, &n->tick, TICK_MS);
	return ST_OK;
}

void
mix_node_free(struct mix_node **out)
{
	struct mix_node *n = *out;
	int error = errno;

	if (n == NULL)
		return;
	deadline_stop(n->loop, &n->tick);
	task_drop(&n->process);
	loops_free(&n->loops);
	mix_client_free(&n->client);
	inlets_free(&n->inlets);
	outbox_clear(&n->outbox);
	pool_free(&n->syncer);
	keyring_close(&n->keys);
	wipe(n, sizeof(*n));
	free(n);
	*out = NULL;
	errno = error;
}

void
mix_node_set_registry(struct mix_node *n, struct registry *r)
{
	outbox_set_registry(&n->outbox, r);
	if (n->loops != NULL)
		loops_registry_changed(n->loops);
}

void
mix_node_drain(struct mix_node *n)
{
	loops_free(&n->loops);
	mix_client_free(&n->client);
	inlets_free(&n->inlets);
}

uint16_t
mix_node_port(const struct mix_node *n)
{
	return n->inlets != NULL ? inlets_port(n->inlets) : 0;
}

uint16_t
mix_node_inbox_port(const struct mix_node *n)
{
	return n->client != NULL ? mix_client_port(n->client) : 0;
}

static void
set_hex(json_t *o, const char *member, const uint8_t bytes[static 32])
{
	char text[65];

	hex_encode(text, span_of(bytes, 32));
	json_object_set_new(o, member, json_string(text));
}

char *
mix_node_announcement(
    const struct mix_node *n, const endpoint_t *address, uint64_t stake)
{
	const struct keyring_entry *e = n->keys.entry;
	char text[ENDPOINT_TEXT_MAX], *dump;
	json_t *o = json_object();

	endpoint_format(text, address);
	set_hex(o, "id", n->config.keys.identity.id);
	json_object_set_new(o, "address", json_string(text));
	json_object_set_new(o, "stake", json_integer((json_int_t)stake));
	json_object_set_new(
	    o, "suite", json_string(sphinx_suite_name(n->config.outbox.suite)));
	if (n->config.tls)
		set_hex(o, "link", n->pin);
	if (e[KEY_NEXT].seen != NULL) {
		json_t *next = json_object();
		set_hex(o, "key", e[KEY_CURRENT].key.id);
		set_hex(next, "key", e[KEY_NEXT].key.id);
		json_object_set_new(
		    next, "from", json_integer(e[KEY_NEXT].from));
		json_object_set_new(o, "next", next);
	}
	dump = json_dumps(o, JSON_INDENT(2));
	json_decref(o);
	return dump;
}

struct mix_node_state
mix_node_state(const struct mix_node *n)
{
	return (struct mix_node_state){
	    .counts = &n->outbox.counts,
	    .registry = n->outbox.registry,
	    .loops = n->loops,
	    .links = links_gauges(n->outbox.links),
	    .inlets = n->inlets != NULL ? inlets_open(n->inlets) : 0,
	    .parcels = n->outbox.pool.used,
	    .parcels_max = n->outbox.pool.capacity,
	    .seen = seen_count(n->keys.entry[KEY_CURRENT].seen),
	    .seen_max = n->config.keys.capacity,
	    .next_key = n->keys.entry[KEY_NEXT].seen != NULL
		? n->keys.entry[KEY_NEXT].from
		: 0,
	};
}
