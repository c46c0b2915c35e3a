#include "mix/links.h"

#include <stdlib.h>
#include <string.h>

#include "base/slab.h"
#include "mix/tls.h"
#include "net/dialer.h"
#include "net/wire.h"

#define RETRY_FIRST_MS 250
#define RETRY_LAST_MS 10000
/* A service that could not be reached so many times loses its queue. */
#define DELIVERY_TRIES 4

struct link {
	struct links *links;
	handle_t self, dial; /* dial: empty when none is under way */
	endpoint_t to;
	bool deliver, pinned;
	uint8_t pin[TLS_PIN_SIZE];
	struct wire wire;
	struct list_node queue;
	uint32_t queued;
	struct parcel *writing; /* at the head of the queue, pinned */
	size_t written; /* of it */
	struct deadline retry;
	unsigned failures; /* in a row */
	uint64_t last_used; /* ms */
};

struct links {
	struct links_config config;
	struct loop *loop;
	struct dialer *dialer;
	struct slab slab;
	struct link *memory;
	struct slab_slot *slots;
	uint32_t connected;
};

static void on_ready(struct wire *w);
static void on_retry(struct deadline *d);
static void connect_link(struct link *k);

/* --- life of a link --- */

static void
link_close(struct link *k)
{
	if (wire_is_open(&k->wire)) {
		wire_close(&k->wire);
		k->links->connected--;
		dialer_leave(k->links->dialer, k->to.ip);
	}
	/* What was cut off is sent again from its beginning. */
	if (k->writing != NULL)
		parcel_unpin(k->writing);
	k->writing = NULL;
	k->written = 0;
}

static void
link_free(struct link *k)
{
	link_close(k);
	dialer_cancel(k->links->dialer, k->dial);
	deadline_stop(k->links->loop, &k->retry);
	slab_release(&k->links->slab, k->self);
}

static struct parcel *
first(const struct link *k)
{
	return list_empty(&k->queue)
	    ? NULL
	    : list_entry(k->queue.next, struct parcel, queue);
}

/* Drop everything that waits. */
static void
drop_queue(struct link *k, enum mix_drop why)
{
	struct parcel *p;

	while ((p = first(k)) != NULL) {
		k->links->config.counts->dropped[why]++;
		parcel_free(p);
	}
}

/* The connection is gone or could not be made: try again if there is reason
 * to, later if this was not the first time. */
static void
link_failed(struct link *k)
{
	struct links *l = k->links;
	uint64_t wait = RETRY_FIRST_MS;

	link_close(k);
	l->config.counts->dial_failures++;
	k->failures++;
	if (k->deliver && k->failures >= DELIVERY_TRIES)
		drop_queue(k, DROP_UNDELIVERED);
	if (k->queued == 0) {
		if (k->deliver)
			link_free(k);
		return;
	}
	for (unsigned i = 1; i < k->failures && wait < RETRY_LAST_MS; i++)
		wait *= 2;
	if (wait > RETRY_LAST_MS)
		wait = RETRY_LAST_MS;
	wait -= mix_random_below(l->config.random, wait / 2);
	deadline_start(l->loop, &k->retry, wait);
}

static void
on_retry(struct deadline *d)
{
	connect_link(loop_owner(d, struct link, retry));
}

static void
connect_link(struct link *k)
{
	struct links *l = k->links;

	l->config.counts->dials++;
	if (dialer_dial(l->dialer, &k->dial, k->self, &k->to.ip, 1,
		k->to.port) != ST_OK) {
		k->dial = (handle_t){0};
		link_failed(k);
	}
}

static void
on_dialed(void *arg, handle_t owner, enum status st, int fd, ip_t ip)
{
	struct links *l = arg;
	struct link *k = slab_at(&l->slab, owner);

	(void)ip;
	/* A link that is freed has cancelled its dial. */
	if (k == NULL)
		return;
	k->dial = (handle_t){0};
	if (st != ST_OK) {
		link_failed(k);
		return;
	}
	st = wire_open(&k->wire, l->loop, fd, on_ready);
	/* The pin outlives the session: it is in the link. */
	if (st == ST_OK && k->pinned)
		st = wire_secure(
		    &k->wire, tls_connect(l->config.tls, fd, k->pin));
	if (st != ST_OK) {
		dialer_leave(l->dialer, k->to.ip);
		link_failed(k);
		return;
	}
	l->connected++;
	on_ready(&k->wire);
}

/* --- writing --- */

/* P is written. */
static void
finish(struct link *k, struct parcel *p)
{
	struct mix_counts *counts = k->links->config.counts;

	if (k->deliver)
		counts->delivered++;
	else
		counts->forwarded++;
	k->writing = NULL;
	k->written = 0;
	k->failures = 0;
	parcel_free(p);
}

/* Write what there is, as far as the peer takes it.
 * Returns: ST_OK (all written); ST_MORE; ST_RESET. */
static enum status
write_queue(struct link *k)
{
	struct parcel *p;
	enum status st;
	size_t n;

	while ((p = first(k)) != NULL) {
		st = wire_write(
		    &k->wire, p->out + k->written, p->out_len - k->written, &n);
		if (st != ST_OK)
			return st;
		if (k->writing == NULL) {
			parcel_pin(p);
			k->writing = p;
		}
		k->written += n;
		if (k->written == p->out_len)
			finish(k, p);
	}
	return ST_OK;
}

static void
on_ready(struct wire *w)
{
	struct link *k = loop_owner(w, struct link, wire);
	uint8_t byte;
	size_t n;
	enum status st;

	/* A peer has nothing to say here, except that it ends. */
	st = wire_read(w, &byte, 1, &n);
	if (st == ST_MORE)
		st = write_queue(k);
	else
		st = ST_RESET;
	k->last_used = loop_now(k->links->loop);
	if (st == ST_RESET || st == ST_CLOSED) {
		/* An idle link that ends is no failure. */
		if (k->queued == 0 && !k->deliver)
			link_close(k);
		else
			link_failed(k);
	} else if (st == ST_OK && k->deliver) {
		link_free(k);
	}
}

/* --- the whole --- */

static struct link *
find(const struct links *l, const struct parcel *p)
{
	for (uint32_t i = 0; i < l->slab.capacity; i++) {
		handle_t h;
		struct link *k = slab_nth(&l->slab, i, &h);
		if (k != NULL && k->to.port == p->to.port &&
		    k->deliver == p->deliver && k->pinned == p->pinned &&
		    ip_equal(&k->to.ip, &p->to.ip) &&
		    (!k->pinned || memcmp(k->pin, p->pin, sizeof(k->pin)) == 0))
			return k;
	}
	return NULL;
}

static struct link *
link_new(struct links *l, const struct parcel *p)
{
	struct link *k;
	handle_t self;
	void *object;

	if (slab_take(&l->slab, &self, &object) != ST_OK) {
		links_prune(l, 0);
		if (slab_take(&l->slab, &self, &object) != ST_OK)
			return NULL;
	}
	k = object;
	*k = (struct link){.links = l,
	    .self = self,
	    .to = p->to,
	    .deliver = p->deliver,
	    .pinned = p->pinned};
	memcpy(k->pin, p->pin, sizeof(k->pin));
	wire_init(&k->wire);
	list_init(&k->queue);
	deadline_init(&k->retry, on_retry);
	return k;
}

void
links_send(struct links *l, struct parcel *p)
{
	struct link *k = find(l, p);

	if (k == NULL)
		k = link_new(l, p);
	if (k == NULL) {
		l->config.counts->dropped[DROP_LINK_LIMIT]++;
		parcel_free(p);
		return;
	}
	if (k->queued >= l->config.queue_max) {
		struct parcel *oldest = first(k);
		/* One that is half written stays: the next is older. */
		if (oldest == k->writing)
			oldest = list_entry(
			    oldest->queue.next, struct parcel, queue);
		l->config.counts->dropped[DROP_LINK_FULL]++;
		parcel_free(oldest);
	}
	k->last_used = loop_now(l->loop);
	parcel_enqueue(p, &k->queue, &k->queued);
	if (wire_is_open(&k->wire)) {
		if (k->queued == 1)
			on_ready(&k->wire);
	} else if (k->dial.slot == 0 && !deadline_is_running(&k->retry)) {
		connect_link(k);
	}
}

enum status
links_new(
    struct links **out, struct loop *loop, const struct links_config *config)
{
	struct links *l = calloc(1, sizeof(*l));
	struct dialer_config dialer = {.capacity = config->capacity};
	enum status st = ST_NO_MEMORY;

	*out = l;
	if (l == NULL)
		return ST_NO_MEMORY;
	l->config = *config;
	l->loop = loop;
	l->memory = calloc(config->capacity, sizeof(*l->memory));
	l->slots = calloc(config->capacity, sizeof(*l->slots));
	if (l->memory != NULL && l->slots != NULL) {
		slab_init(&l->slab, l->memory, l->slots, sizeof(*l->memory),
		    config->capacity);
		st = dialer_new(&l->dialer, loop, &dialer, on_dialed, l);
	}
	if (st != ST_OK)
		links_free(out);
	return st;
}

void
links_free(struct links **out)
{
	struct links *l = *out;

	if (l == NULL)
		return;
	for (uint32_t i = 0; l->dialer != NULL && i < l->slab.capacity; i++) {
		handle_t h;
		struct link *k = slab_nth(&l->slab, i, &h);
		struct parcel *p;
		if (k == NULL)
			continue;
		while ((p = first(k)) != NULL) {
			if (p == k->writing)
				k->writing = NULL;
			parcel_free(p);
		}
		link_free(k);
	}
	dialer_free(&l->dialer);
	free(l->memory);
	free(l->slots);
	free(l);
	*out = NULL;
}

struct links_gauges
links_gauges(const struct links *l)
{
	struct links_gauges g = {
	    .links = l->slab.used, .connected = l->connected};

	for (uint32_t i = 0; i < l->slab.capacity; i++) {
		handle_t h;
		const struct link *k = slab_nth(&l->slab, i, &h);
		if (k != NULL)
			g.queued += k->queued;
	}
	return g;
}

void
links_prune(struct links *l, uint64_t idle_ms)
{
	uint64_t now = loop_now(l->loop);

	for (uint32_t i = 0; i < l->slab.capacity; i++) {
		handle_t h;
		struct link *k = slab_nth(&l->slab, i, &h);
		if (k != NULL && k->queued == 0 && k->dial.slot == 0 &&
		    now - k->last_used >= idle_ms)
			link_free(k);
	}
}
