#include "world_util.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"
#include "daemon/log.h"
#include "net/sockaddr.h"

/* More than any deadline of the configuration below: 13 hours. */
#define LONGEST_S (13 * 3600)
#define DNS_TIMEOUT_MS 5000

/* --- the clock --- */

static _Atomic int64_t ahead_ms;

/* In the place of the C library's, for the whole process. */
int
clock_gettime(clockid_t id, struct timespec *t)
{
	static int (*_Atomic known)(clockid_t, struct timespec *);
	int (*next)(clockid_t, struct timespec *) = atomic_load(&known);
	int result;

	if (next == NULL) {
		/* POSIX's one exception to C's rule against this. */
		void *f = dlsym(RTLD_NEXT, "clock_gettime");
		CHECK(f != NULL);
		memcpy(&next, &f, sizeof(next));
		atomic_store(&known, next);
	}
	result = next(id, t);
	if (result == 0 && id == CLOCK_MONOTONIC) {
		int64_t ms = atomic_load(&ahead_ms);
		t->tv_sec += ms / 1000;
		t->tv_nsec += ms % 1000 * 1000000;
		if (t->tv_nsec >= 1000000000) {
			t->tv_nsec -= 1000000000;
			t->tv_sec++;
		}
	}
	return result;
}

/* Who waits for a time of that clock waits for the kernel's. */
int
pthread_cond_timedwait(
    pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at)
{
	int (*next)(
	    pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	void *f = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	int64_t ms = atomic_load(&ahead_ms);
	struct timespec real = *at;

	CHECK(f != NULL);
	memcpy(&next, &f, sizeof(next));
	real.tv_sec -= ms / 1000;
	real.tv_nsec -= ms % 1000 * 1000000;
	if (real.tv_nsec < 0) {
		real.tv_nsec += 1000000000;
		real.tv_sec--;
	}
	return next(c, m, &real);
}

void
world_wait(struct world *w, uint64_t ms)
{
	atomic_fetch_add(&ahead_ms, (int64_t)ms);
	world_turn(w);
}

/* --- files --- */

static FILE *
create(const struct world *w, const char *name)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", w->folder, name);
	f = fopen(path, "w");
	CHECK(f != NULL);
	return f;
}

static void
write_members(const struct world *w, const json_t *vectors, const char *list)
{
	FILE *f = create(w, list);
	size_t i;
	json_t *member;

	json_array_foreach(json_object_get(vectors, list), i, member)
	    fprintf(f, "%s\n", json_string_value(member));
	CHECK_INT(fclose(f), 0);
}

/* The epoch of the vectors is now, and far from either turn. */
static void
write_configuration(const struct world *w, const json_t *vectors)
{
	double epoch =
	    (double)json_integer_value(json_object_get(vectors, "epoch"));
	FILE *f = create(w, "postern.conf");

	fprintf(f,
	    "[gateway]\n"
	    "listen = 127.0.0.1:0 unix:%s/door\n"
	    "proxy_line = required\n"
	    "audience = 1\n"
	    "epoch = %lus\n"
	    "publish_members = on\n"
	    "[group main]\n"
	    "members = %s/members\n"
	    "requests = 4000000000\n"
	    "tunnels = 8\n"
	    "[egress]\n"
	    "allow = * .example\n"
	    "ports = 443 %u %u %u\n"
	    "except = 127.0.0.1:%u 127.0.0.1:%u 127.0.0.1:%u\n"
	    "dns = %s\n"
	    "per_destination = unlimited\n"
	    "[ledger]\n"
	    "journal = %s/journal\n"
	    "sync = always\n"
	    "[limits]\n"
	    "sessions = 32\n"
	    "buffer = 4096\n"
	    "head_bytes = 4096\n"
	    "workers = 1\n"
	    "circuit_connections = 8\n"
	    "circuit_failures = unlimited\n"
	    "circuit_rate = unlimited\n"
	    "[log]\n"
	    "level = error\n"
	    "[run]\n"
	    "sandbox = off\n",
	    w->folder, (unsigned long)((double)time(NULL) / (epoch + 0.5)),
	    w->folder, w->port[WORLD_ECHO], w->port[WORLD_DEAF],
	    w->port[WORLD_SHUT], w->port[WORLD_ECHO], w->port[WORLD_DEAF],
	    w->port[WORLD_SHUT], w->dns.at, w->folder);
	CHECK_INT(fclose(f), 0);
}

/* --- places --- */

/* Connections to DEAF stay where they are: its queue is full. */
static void
fill_deaf(struct world *w, const endpoint_t *at)
{
	union sockaddr_any a;
	socklen_t len = sockaddr_of_ip(&a, at);

	for (int i = 0; i < 3; i++) {
		w->filler[i] = socket(
		    AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		CHECK(w->filler[i] >= 0);
		CHECK(connect(w->filler[i], &a.sa, len) == 0 ||
		    errno == EINPROGRESS);
	}
}

static void
open_places(struct world *w)
{
	endpoint_t at;

	CHECK(listen_at(&w->echo, &at, 4, 64));
	w->port[WORLD_ECHO] = w->port[WORLD_HOME] = at.port;
	CHECK(listen_at(&w->deaf, &at, 4, 0));
	w->port[WORLD_DEAF] = at.port;
	fill_deaf(w, &at);
	/* Bound and not listening: nobody else gets this port. */
	CHECK(listen_at(&w->shut, &at, 4, 1));
	CHECK_INT(shutdown(w->shut, SHUT_RDWR), 0);
	w->port[WORLD_SHUT] = at.port;
	CHECK(listen_at(&w->door, &at, 4, 64));
	stream_prepare(w->door);
	w->port[WORLD_SILENT] = w->port[WORLD_NOWHERE] = 443;
	w->port[WORLD_LIES] = 443;
	w->port[WORLD_FORBIDDEN] = 25;
	for (int i = 0; i < WORLD_GUESTS; i++)
		w->guest[i] = -1;
}

static void
accept_guests(struct world *w)
{
	int fd;

	while ((fd = accept4(
		    w->echo, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		int i = 0;
		while (i < WORLD_GUESTS - 1 && w->guest[i] >= 0)
			i++;
		if (w->guest[i] >= 0)
			close(w->guest[i]);
		stream_prepare(fd);
		w->guest[i] = fd;
		w->guests++;
	}
}

/* --- life --- */

static void
open_gateway(struct world *w)
{
	char path[64];
	struct findings f = {0};
	struct config *config;
	enum status st;

	snprintf(path, sizeof(path), "%s/postern.conf", w->folder);
	st = config_load(&config, &f, path, NULL, 0);
	if (st == ST_OK) {
		log_configure(
		    config->log.level, config->log.format, config->log.target);
		st = gateway_new(&w->gateway, config, NULL, 0, &f);
	}
	if (st == ST_OK)
		st = gateway_start(w->gateway, &f);
	if (st != ST_OK)
		findings_print(&f, stdout);
	CHECK_STATUS(st, ST_OK);
	findings_clear(&f);
	/* No proof waits for the keys. */
	CHECK(key_maker_wait(&w->gateway->key_maker) != NULL);
}

void
world_open(struct world *w)
{
	/* A disk in memory, where there is one: a journal syncs a lot. */
	const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	json_t *vectors =
	    json_load_file(TESTS_DIR "/vectors/gate.json", 0, NULL);

	*w = (struct world){0};
	CHECK(vectors != NULL);
	snprintf(w->folder, sizeof(w->folder), "%s/world-XXXXXX", where);
	CHECK(mkdtemp(w->folder) != NULL);
	w->loop = test_loop();
	dns_start(&w->dns, w->loop);
	open_places(w);
	write_members(w, vectors, "members");
	write_configuration(w, vectors);
	w->proofs = json_incref(json_object_get(vectors, "proofs"));
	json_decref(vectors);
	open_gateway(w);
}

void
world_close(struct world *w)
{
	static const char *const names[] = {
	    "door", "journal", "members", "postern.conf"};
	char path[64];

	gateway_free(&w->gateway);
	dns_stop(&w->dns);
	loop_free(&w->loop);
	for (int i = 0; i < WORLD_GUESTS; i++) {
		if (w->guest[i] >= 0)
			close(w->guest[i]);
	}
	for (int i = 0; i < 3; i++)
		close(w->filler[i]);
	while (w->stuffed > 0) {
		w->stuffed--;
		close(w->stuffed_pair[w->stuffed][0]);
		close(w->stuffed_pair[w->stuffed][1]);
	}
	close(w->shut);
	close(w->echo);
	close(w->deaf);
	close(w->door);
	json_decref(w->proofs);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", w->folder, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(w->folder);
}

/* --- turning --- */

void
world_turn(struct world *w)
{
	CHECK_STATUS(loop_turn(w->gateway->loop, 0), ST_OK);
	CHECK_STATUS(loop_turn(w->loop, 0), ST_OK);
	accept_guests(w);
}

static bool
is_busy(struct gateway *g)
{
	struct pool_counts proofs = pool_counts(g->verifiers);
	struct ledger_store_health ledger;

	ledger_store_health(g->store, &ledger);
	return proofs.waiting[0] + proofs.waiting[1] + proofs.running != 0 ||
	    ledger.pending != 0 || g->next != NULL;
}

bool
world_is_busy(const struct world *w)
{
	return is_busy(w->gateway);
}

void
world_settle(struct world *w)
{
	unsigned quiet = 0;

	/* Bytes over loopback are there when send returns; what is left is
	 * events that cause events. */
	for (unsigned i = 0; quiet < 4 && i < 10000; i++) {
		quiet = is_busy(w->gateway) ? 0 : quiet + 1;
		if (quiet == 0)
			CHECK_STATUS(loop_turn(w->gateway->loop, 1), ST_OK);
		world_turn(w);
	}
}

/* Nobody is here, and nothing is under way for anybody. */
static bool
is_empty(struct gateway *g)
{
	return g->sessions.used == 0 && g->tunnels == 0 &&
	    g->chunks.lent == 0 && pending_count(&g->gate.pending) == 0 &&
	    dialer_pending(g->dialer) == 0 && dialer_open(g->dialer) == 0 &&
	    resolver_pending(g->resolver) == 0 &&
	    relay_counts(g->relay)->tunnels == 0 &&
	    relay_counts(g->relay)->pipes_lent == 0;
}

bool
world_empty(struct world *w)
{
	struct gateway *g = w->gateway;

	for (unsigned s = 1; s < 2 * LONGEST_S; s *= 2) {
		world_settle(w);
		if (g->sessions.used == 0)
			break;
		world_wait(w, UINT64_C(1000) * s);
	}
	if (!is_empty(g))
		return false;
	/* A look-up that nobody waits for any more is tried to its end. */
	for (int i = 0; i < 4 && w->dns.udp_questions != w->questions; i++) {
		world_wait(w, DNS_TIMEOUT_MS);
		world_settle(w);
	}
	return g->sessions.used == 0 && g->tunnels == 0 &&
	    g->chunks.lent == 0 && pending_count(&g->gate.pending) == 0 &&
	    dialer_pending(g->dialer) == 0 && dialer_open(g->dialer) == 0 &&
	    resolver_pending(g->resolver) == 0 &&
	    relay_counts(g->relay)->tunnels == 0 &&
	    relay_counts(g->relay)->pipes_lent == 0;
}

unsigned
world_fds(const struct world *w)
{
	unsigned guests = 0;

	for (int i = 0; i < WORLD_GUESTS; i++)
		guests += w->guest[i] >= 0;
	return count_fds() - guests - 2 * w->stuffed -
	    2 * relay_counts(w->gateway->relay)->pipes_kept;
}

/* --- clients --- */

/* From another address of loopback each time: ports of one address run out,
 * as each is kept for a minute. */
static void
bind_somewhere(int fd)
{
	static unsigned n;
	endpoint_t from = {{4, {127, 0, 1, 1}}, 0};
	union sockaddr_any a;
	socklen_t len;

	from.ip.bytes[2] = (uint8_t)(1 + n / 250 % 250);
	from.ip.bytes[3] = (uint8_t)(1 + n % 250);
	n++;
	len = sockaddr_of_ip(&a, &from);
	CHECK_INT(bind(fd, &a.sa, len), 0);
}

static int
connect_tcp(uint16_t port)
{
	endpoint_t at = {{4, {127, 0, 0, 1}}, port};
	union sockaddr_any a;
	socklen_t len = sockaddr_of_ip(&a, &at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	bind_somewhere(fd);
	CHECK_INT(connect(fd, &a.sa, len), 0);
	CHECK_INT(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static int
connect_unix(const struct world *w)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/door", w->folder);
	CHECK_INT(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	CHECK_INT(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

/* Write to FD until its socket takes no more for now. */
static void
stuff(int fd)
{
	static const uint8_t junk[65536];

	while (send(fd, junk, sizeof(junk), MSG_NOSIGNAL) > 0)
		continue;
	CHECK_INT(errno, EAGAIN);
}

static void
door_pair(struct world *w, int pair[2])
{
	union sockaddr_any a;
	socklen_t len = sizeof(a);

	CHECK_INT(getsockname(w->door, &a.sa, &len), 0);
	pair[1] = connect_tcp(sockaddr_port(&a));
	pair[0] = accept4(w->door, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	CHECK(pair[0] >= 0);
}

static void
make_small(int fd, int which)
{
	int bytes = 2048;

	CHECK_INT(setsockopt(fd, SOL_SOCKET, which, &bytes, sizeof(bytes)), 0);
}

/* TCP takes a few bytes more after some 45 ms, when the first acknowledgement
 * has come: many pairs wait for that together. */
static void
refill(struct world *w)
{
	for (w->stuffed = 0; w->stuffed < WORLD_STUFFED_PAIRS; w->stuffed++) {
		int *pair = w->stuffed_pair[w->stuffed];
		door_pair(w, pair);
		make_small(pair[1], SO_RCVBUF);
		make_small(pair[0], SO_SNDBUF);
		stuff(pair[0]);
	}
	for (int round = 0; round < 4; round++) {
		usleep(50000);
		for (unsigned i = 0; i < w->stuffed; i++)
			stuff(w->stuffed_pair[i][0]);
	}
}

static void
stuffed_pair(struct world *w, unsigned flags, int pair[2])
{
	if ((flags & WORLD_UNIX) != 0) {
		unix_pair(pair);
		make_small(pair[0], SO_SNDBUF);
		stuff(pair[0]);
		return;
	}
	if (w->stuffed == 0)
		refill(w);
	memcpy(pair, w->stuffed_pair[--w->stuffed], sizeof(int[2]));
}

int
world_connect(struct world *w, unsigned flags)
{
	struct gateway *g = w->gateway;
	bool inside = (flags & WORLD_INSIDE) != 0;
	uint8_t id[GATE_ONCE_ID] = {0};
	int pair[2];

	if ((flags & WORLD_STUFFED) != 0)
		stuffed_pair(w, flags, pair);
	else if (inside)
		unix_pair(pair);
	else if ((flags & WORLD_UNIX) != 0)
		return connect_unix(w);
	else
		return connect_tcp(listener_port(g->listeners[0]));
	if ((flags & WORLD_UNIX) != 0 || inside)
		stream_prepare(pair[0]); /* as the listener does */
	if (inside) {
		store_be64(id, ++w->inside);
		session_accept_inside(g, pair[0], id);
	} else {
		session_accept(g->listeners[0], pair[0], g);
	}
	return pair[1];
}

void
world_reset(int fd)
{
	const struct linger now = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

bool
world_send(int fd, const void *bytes, size_t len)
{
	return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

size_t
world_drain(int fd, bool *ended)
{
	static uint8_t sink[65536];
	size_t all = 0;
	ssize_t n;

	while ((n = recv(fd, sink, sizeof(sink), 0)) > 0)
		all += (size_t)n;
	*ended = n == 0 || errno != EAGAIN;
	return all;
}

char *
world_token(const struct world *w, const char *name)
{
	char *text = json_dumps(json_object_get(w->proofs, name), JSON_COMPACT);
	char *token;

	CHECK(text != NULL);
	token = malloc(base64_length(strlen(text), BASE64_URL) + 1);
	CHECK(token != NULL);
	base64_encode(token, span_str(text), BASE64_URL);
	free(text);
	return token;
}

size_t
world_head(char *out, size_t room, const struct world *w,
    enum world_target target, const char *token)
{
	static const char *const hosts[WORLD_TARGETS] = {"127.0.0.1",
	    "home.example", "127.0.0.1", "127.0.0.1", "silent.example",
	    "nx.example", "lies.example", "ok.example"};
	const char *host = hosts[target];
	unsigned port = w->port[target];
	int n = snprintf(out, room,
	    "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n%s%s%s\r\n", host, port,
	    host, port, token != NULL ? "Proxy-Authorization: Semaphore " : "",
	    token != NULL ? token : "", token != NULL ? "\r\n" : "");

	CHECK(n > 0 && (size_t)n < room);
	return (size_t)n;
}

size_t
world_line(char out[static 128], unsigned id)
{
	return (size_t)snprintf(out, 128,
	    "PROXY TCP6 fc00:dead:beef:4dad::%x:%x ::1 23 80\r\n", id >> 16,
	    id & 0xffff);
}

struct session *
world_session(const struct world *w)
{
	const struct slab *all = &w->gateway->sessions;
	struct session *found = NULL;

	for (uint32_t i = 0; i < all->capacity; i++) {
		handle_t h;
		struct session *s = slab_nth(all, i, &h);
		CHECK(s == NULL || found == NULL);
		if (s != NULL)
			found = s;
	}
	return found;
}
