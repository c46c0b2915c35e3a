#include "net/dialer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/crowd.h"
#include "net/sockaddr.h"
#include "net/stream.h"

#define ATTEMPT_MS 10000
#define TIMEOUT_MS 20000
/* Attempts of one dial at a time. */
#define PARALLEL 4

struct dial;

struct attempt {
	struct watch watch;
	struct deadline timeout;
	struct dial *dial;
	ip_t ip;
	int fd; /* -1: not in use */
};

struct dial {
	struct dialer *dialer;
	handle_t self, owner;
	struct task start;
	struct deadline stagger, timeout;
	struct attempt attempts[PARALLEL];
	unsigned running;
	enum status why; /* the most telling failure so far */
	endpoint_t next_at; /* its port is that of all */
	uint8_t n, next;
	ip_t ips[DIALER_ADDRESSES];
};

struct dialer {
	struct dialer_config config;
	struct loop *loop;
	dialer_fn *fn;
	void *arg;
	struct slab dials;
	struct dial *memory;
	struct slab_slot *slots;
	struct crowd crowd;
};

static void advance(struct dial *d);

/* --- what failures mean --- */

static enum status
status_of(int error)
{
	switch (error) {
	case ECONNREFUSED:
		return ST_CONNECT_REFUSED;
	case ETIMEDOUT:
		return ST_CONNECT_TIMEOUT;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
	case EHOSTDOWN:
		return ST_CONNECT_UNREACHABLE;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		return ST_OVERLOADED;
	default:
		return ST_CONNECT_FAILED;
	}
}

/* The nearer to the destination a failure happened, the more it tells. */
static unsigned
weight(enum status s)
{
	static const enum status by_weight[] = {ST_DNS_NOT_FOUND,
	    ST_TARGET_LIMIT, ST_OVERLOADED, ST_CONNECT_UNREACHABLE,
	    ST_CONNECT_TIMEOUT, ST_CONNECT_FAILED, ST_CONNECT_REFUSED};
	unsigned i = 0;

	while (
	    i < sizeof(by_weight) / sizeof(by_weight[0]) && by_weight[i] != s)
		i++;
	return i;
}

static void
note(struct dial *d, enum status s)
{
	if (weight(s) > weight(d->why))
		d->why = s;
}

/* --- one attempt --- */

/* End A; its descriptor is returned, and the caller's. */
static int
detach(struct attempt *a)
{
	int fd = a->fd;

	watch_stop(&a->watch);
	deadline_stop(a->dial->dialer->loop, &a->timeout);
	a->fd = -1;
	a->dial->running--;
	return fd;
}

static void
abandon(struct attempt *a)
{
	ip_t ip = a->ip;

	close(detach(a));
	crowd_leave(&a->dial->dialer->crowd, &ip);
}

/* Stop everything D does and give its slot back. */
static void
release(struct dial *d)
{
	struct dialer *dialer = d->dialer;

	for (unsigned i = 0; i < PARALLEL; i++) {
		if (d->attempts[i].fd >= 0)
			abandon(&d->attempts[i]);
	}
	task_drop(&d->start);
	deadline_stop(dialer->loop, &d->stagger);
	deadline_stop(dialer->loop, &d->timeout);
	slab_release(&dialer->dials, d->self);
}

static void
answer(struct dial *d, enum status s, int fd, ip_t ip)
{
	struct dialer *dialer = d->dialer;
	handle_t owner = d->owner;

	release(d);
	dialer->fn(dialer->arg, owner, s, fd, ip);
}

static void
on_connected(struct watch *w, unsigned what)
{
	struct attempt *a = loop_owner(w, struct attempt, watch);
	struct dial *d = a->dial;
	int error = 0;
	socklen_t len = sizeof(error);
	ip_t ip = a->ip;

	(void)what;
	if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error == 0) {
		answer(d, ST_OK, detach(a), ip);
		return;
	}
	note(d, status_of(error));
	abandon(a);
	advance(d);
}

static void
on_attempt_timeout(struct deadline *t)
{
	struct attempt *a = loop_owner(t, struct attempt, timeout);
	struct dial *d = a->dial;

	note(d, ST_CONNECT_TIMEOUT);
	abandon(a);
	advance(d);
}

/* Bind FD to where connections of AT's version start. The port is chosen by
 * connect (IP_BIND_ADDRESS_NO_PORT): otherwise one source address would have
 * no more ports than one destination can use up. */
static int
bind_source(int fd, const struct dialer_config *config, const endpoint_t *at)
{
	endpoint_t source = {
	    .ip = at->ip.version == 4 ? config->source4 : config->source6};
	union sockaddr_any a;
	socklen_t len = sockaddr_of_ip(&a, &source);
	int on = 1;

	if (len == 0)
		return 0;
	(void)setsockopt(
	    fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	return bind(fd, &a.sa, len);
}

/* A socket on its way to AT; -1 with errno. */
static int
begin_connect(const struct dialer_config *config, const endpoint_t *at)
{
	union sockaddr_any a;
	socklen_t len = sockaddr_of_ip(&a, at);
	int fd = socket(
	    a.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	stream_prepare(fd);
	if (bind_source(fd, config, at) == 0 &&
	    (connect(fd, &a.sa, len) == 0 || errno == EINPROGRESS))
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Start an attempt to reach IP in the free place A.
 * Returns: ST_OK: it is on its way; otherwise why it is not. */
static enum status
try_one(struct dial *d, struct attempt *a, const ip_t *ip)
{
	struct dialer *dialer = d->dialer;
	unsigned ms = dialer->config.attempt_ms;
	enum status s =
	    crowd_join(&dialer->crowd, ip, dialer->config.per_destination);

	if (s != ST_OK)
		return s;
	d->next_at.ip = *ip;
	int fd = begin_connect(&dialer->config, &d->next_at);
	if (fd < 0) {
		s = status_of(errno);
		crowd_leave(&dialer->crowd, ip);
		return s;
	}
	a->ip = *ip;
	a->fd = fd;
	d->running++;
	watch_init(&a->watch, dialer->loop, fd, on_connected);
	deadline_start(dialer->loop, &a->timeout, ms != 0 ? ms : ATTEMPT_MS);
	if (watch_start(&a->watch, WATCH_WRITE) != ST_OK) {
		abandon(a);
		return ST_OVERLOADED;
	}
	return ST_OK;
}

/* --- one dial --- */

static struct attempt *
free_attempt(struct dial *d)
{
	for (unsigned i = 0; i < PARALLEL; i++) {
		if (d->attempts[i].fd < 0)
			return &d->attempts[i];
	}
	return NULL;
}

/* Start the next attempt that can be started, and the wait for the one after
 * it. When there is nothing left to try or to wait for, that is the answer. */
static void
advance(struct dial *d)
{
	struct dialer *dialer = d->dialer;
	unsigned ms = dialer->config.stagger_ms;
	struct attempt *a;
	enum status s = ST_BUSY;

	while (s != ST_OK && d->next < d->n && (a = free_attempt(d)) != NULL) {
		s = try_one(d, a, &d->ips[d->next++]);
		if (s != ST_OK)
			note(d, s);
	}
	if (d->running == 0) {
		answer(d, d->why, -1, (ip_t){0});
		return;
	}
	if (d->next < d->n)
		deadline_start(dialer->loop, &d->stagger,
		    ms != 0 ? ms : DIALER_STAGGER_MS);
}

static void
on_start(struct task *t)
{
	advance(loop_owner(t, struct dial, start));
}

static void
on_stagger(struct deadline *t)
{
	advance(loop_owner(t, struct dial, stagger));
}

static void
on_timeout(struct deadline *t)
{
	struct dial *d = loop_owner(t, struct dial, timeout);

	answer(d, ST_CONNECT_TIMEOUT, -1, (ip_t){0});
}

enum status
dialer_dial(struct dialer *dialer, handle_t *out, handle_t owner,
    const ip_t *ips, size_t n, uint16_t port)
{
	unsigned ms = dialer->config.timeout_ms;
	void *slot;

	if (slab_take(&dialer->dials, out, &slot) != ST_OK)
		return ST_BUSY;

	struct dial *d = slot;
	d->dialer = dialer;
	d->self = *out;
	d->owner = owner;
	d->why = ST_DNS_NOT_FOUND;
	d->next_at.port = port;
	while (d->n < DIALER_ADDRESSES && d->n < n) {
		d->ips[d->n] = ips[d->n];
		d->n++;
	}
	for (unsigned i = 0; i < PARALLEL; i++) {
		struct attempt *a = &d->attempts[i];
		a->dial = d;
		a->fd = -1;
		deadline_init(&a->timeout, on_attempt_timeout);
	}
	deadline_init(&d->stagger, on_stagger);
	deadline_init(&d->timeout, on_timeout);
	deadline_start(dialer->loop, &d->timeout, ms != 0 ? ms : TIMEOUT_MS);
	task_init(&d->start, on_start);
	task_defer(dialer->loop, &d->start);
	return ST_OK;
}

void
dialer_cancel(struct dialer *dialer, handle_t dial)
{
	struct dial *d = slab_at(&dialer->dials, dial);

	if (d != NULL)
		release(d);
}

void
dialer_leave(struct dialer *d, ip_t ip)
{
	crowd_leave(&d->crowd, &ip);
}

/* --- life --- */

enum status
dialer_new(struct dialer **out, struct loop *l,
    const struct dialer_config *config, dialer_fn *fn, void *arg)
{
	struct dialer *d = calloc(1, sizeof(*d));
	uint32_t n = config->capacity;

	*out = NULL;
	if (d == NULL)
		return ST_NO_MEMORY;
	d->config = *config;
	d->loop = l;
	d->fn = fn;
	d->arg = arg;
	d->memory = calloc(n, sizeof(*d->memory));
	d->slots = calloc(n, sizeof(*d->slots));
	if (d->memory == NULL || d->slots == NULL ||
	    crowd_init(&d->crowd, n * (1 + PARALLEL)) != ST_OK) {
		dialer_free(&d);
		return ST_NO_MEMORY;
	}
	slab_init(&d->dials, d->memory, d->slots, sizeof(*d->memory), n);
	*out = d;
	return ST_OK;
}

void
dialer_free(struct dialer **out)
{
	struct dialer *d = *out;
	handle_t h;
	void *dial;

	if (d == NULL)
		return;
	*out = NULL;
	for (uint32_t i = 0; i < d->dials.capacity; i++) {
		if ((dial = slab_nth(&d->dials, i, &h)) != NULL)
			release(dial);
	}
	crowd_clear(&d->crowd);
	free(d->memory);
	free(d->slots);
	free(d);
}

uint32_t
dialer_pending(const struct dialer *d)
{
	return d->dials.used;
}

uint32_t
dialer_open(const struct dialer *d)
{
	return d->crowd.total;
}
