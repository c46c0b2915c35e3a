/* Happy Eyeballs over loopback, and the count of who is where. Addresses of
 * 127.0.0.0/8 stand for the addresses of one name: one that answers, one that
 * refuses, one that swallows (its backlog is full), one without a route. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/crowd.h"
#include "net/dialer.h"
#include "net/sockaddr.h"
#include "net_util.h"

#define STAGGER 60

struct fixture {
	struct loop *loop;
	struct dialer *dialer;
	uint16_t port;
	int good, bad, full, fillers[4]; /* sockets */
	/* What came back. */
	unsigned n;
	enum status status[8];
	int fd[8];
	ip_t ip[8];
	handle_t owner[8];
	unsigned fds;
};

static ip_t
ip(const char *text)
{
	ip_t out;

	CHECK_STATUS(ip_parse(&out, span_str(text)), ST_OK);
	return out;
}

static const ip_t good = {4, {127, 0, 0, 1}};
static const ip_t good_too = {4, {127, 0, 0, 2}};
static const ip_t refuses = {4, {127, 0, 0, 3}};
static const ip_t swallows = {4, {127, 0, 0, 4}};
/* TCP does not go there: no packet leaves. */
static const ip_t nowhere = {4, {224, 0, 0, 1}};

static void
on_dialed(void *arg, handle_t owner, enum status status, int fd, ip_t addr)
{
	struct fixture *f = arg;

	CHECK(f->n < 8);
	CHECK((status == ST_OK) == (fd >= 0));
	f->status[f->n] = status;
	f->fd[f->n] = fd;
	f->ip[f->n] = addr;
	f->owner[f->n++] = owner;
}

static int
socket_at(ip_t addr, uint16_t port)
{
	endpoint_t at = {addr, port};
	union sockaddr_any a;
	socklen_t len = sockaddr_of_ip(&a, &at);
	int fd = socket(a.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK_INT(bind(fd, &a.sa, len), 0);
	return fd;
}

/* Fill the backlog, so that further SYNs are dropped. */
static void
fill(struct fixture *f)
{
	endpoint_t at = {swallows, f->port};
	union sockaddr_any a;
	socklen_t len = sockaddr_of_ip(&a, &at);

	CHECK_INT(listen(f->full, 0), 0);
	for (int i = 0; i < 4; i++) {
		f->fillers[i] = socket(
		    AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)!connect(f->fillers[i], &a.sa, len);
	}
}

static void
setup(struct fixture *f, const struct dialer_config *given)
{
	struct dialer_config c = *given;
	endpoint_t at;

	*f = (struct fixture){.loop = test_loop()};
	/* A port that is free at one is free at the others, nearly always. */
	CHECK(listen_at(&f->good, &at, 4, 16));
	f->port = at.port;
	f->bad = socket_at(refuses, f->port);
	f->full = socket_at(swallows, f->port);
	fill(f);
	if (c.capacity == 0)
		c.capacity = 8;
	if (c.stagger_ms == 0)
		c.stagger_ms = STAGGER;
	CHECK_STATUS(dialer_new(&f->dialer, f->loop, &c, on_dialed, f), ST_OK);
	f->fds = count_fds();
}

static void
teardown(struct fixture *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		if (f->fd[i] < 0)
			continue;
		close(f->fd[i]);
		dialer_leave(f->dialer, f->ip[i]);
	}
	CHECK_INT(dialer_pending(f->dialer), 0);
	CHECK_INT(dialer_open(f->dialer), 0);
	CHECK_INT(count_fds(), f->fds);
	dialer_free(&f->dialer);
	CHECK(f->dialer == NULL);
	close(f->good);
	close(f->bad);
	close(f->full);
	for (int i = 0; i < 4; i++)
		close(f->fillers[i]);
	loop_free(&f->loop);
}

static enum status
dial(struct fixture *f, handle_t *h, const ip_t *ips, size_t n)
{
	handle_t ignored;

	return dialer_dial(f->dialer, h != NULL ? h : &ignored,
	    (handle_t){7, 9}, ips, n, f->port);
}

/* Dial, and wait for what comes of it; returns the milliseconds it took,
 * rounded up twice: the loop's clock stands still within a round. */
static unsigned
dial_and_wait(struct fixture *f, const ip_t *ips, size_t n)
{
	CHECK_STATUS(loop_turn(f->loop, 0), ST_OK);
	uint64_t start = loop_clock_ns();
	unsigned before = f->n;

	CHECK_STATUS(dial(f, NULL, ips, n), ST_OK);
	CHECK_INT(f->n, before); /* never from within */
	SPIN(f->loop, f->n == before + 1);
	return (unsigned)((loop_clock_ns() - start) / 1000000) + 2;
}

static const struct dialer_config plain;

static void
test_one(void)
{
	struct fixture f;
	int value = 0;
	socklen_t len = sizeof(value);

	setup(&f, &plain);
	(void)dial_and_wait(&f, &good, 1);
	CHECK_STATUS(f.status[0], ST_OK);
	CHECK_INT(f.owner[0].slot, 7);
	CHECK_INT(f.owner[0].generation, 9);
	CHECK(ip_equal(&f.ip[0], &good));
	CHECK((fcntl(f.fd[0], F_GETFL) & O_NONBLOCK) != 0);
	CHECK((fcntl(f.fd[0], F_GETFD) & FD_CLOEXEC) != 0);
	CHECK_INT(
	    getsockopt(f.fd[0], IPPROTO_TCP, TCP_NODELAY, &value, &len), 0);
	CHECK(value != 0);
	int peer = accept(f.good, NULL, NULL);
	CHECK(peer >= 0);
	send_all(f.loop, f.fd[0], "hi", 2);
	char got[2];
	CHECK_INT(recv(peer, got, 2, MSG_WAITALL), 2);
	close(peer);
	CHECK_INT(dialer_open(f.dialer), 1);
	CHECK_INT(dialer_pending(f.dialer), 0);
	teardown(&f);
}

/* The second is tried after the stagger, not after the time-out. */
static void
test_first_dead(void)
{
	struct fixture f;
	const ip_t ips[] = {swallows, good};

	setup(&f, &plain);
	unsigned ms = dial_and_wait(&f, ips, 2);
	CHECK_STATUS(f.status[0], ST_OK);
	CHECK(ip_equal(&f.ip[0], &good));
	CHECK(ms >= STAGGER && ms < 5000);
	CHECK_INT(dialer_open(f.dialer), 1); /* the loser is not counted */
	teardown(&f);
}

/* A refusal is not waited for. */
static void
test_first_refuses(void)
{
	static const struct dialer_config c = {.stagger_ms = 10000};
	struct fixture f;
	const ip_t ips[] = {nowhere, refuses, good};

	setup(&f, &c);
	unsigned ms = dial_and_wait(&f, ips, 3);
	CHECK_STATUS(f.status[0], ST_OK);
	CHECK(ms < 5000);
	teardown(&f);
}

static void
test_all_fail(void)
{
	static const struct dialer_config quick = {.attempt_ms = 100};
	struct fixture f;
	const ip_t refused[] = {nowhere, refuses, swallows};
	const ip_t unreachable[] = {nowhere, nowhere};
	const ip_t timeout[] = {nowhere, swallows};

	setup(&f, &quick);
	unsigned ms = dial_and_wait(&f, refused, 3);
	CHECK_STATUS(f.status[0], ST_CONNECT_REFUSED);
	CHECK(ms >= 100); /* the last one was given its time */
	(void)dial_and_wait(&f, unreachable, 2);
	CHECK_STATUS(f.status[1], ST_CONNECT_UNREACHABLE);
	(void)dial_and_wait(&f, timeout, 2);
	CHECK_STATUS(f.status[2], ST_CONNECT_TIMEOUT);
	(void)dial_and_wait(&f, timeout, 0);
	CHECK_STATUS(f.status[3], ST_DNS_NOT_FOUND);
	teardown(&f);
}

static void
test_whole_timeout(void)
{
	static const struct dialer_config c = {.timeout_ms = 150};
	struct fixture f;
	const ip_t ips[] = {swallows, swallows, swallows};

	setup(&f, &c);
	unsigned ms = dial_and_wait(&f, ips, 3);
	CHECK_STATUS(f.status[0], ST_CONNECT_TIMEOUT);
	CHECK(ms >= 150 && ms < 5000);
	teardown(&f);
}

/* More dead addresses than are tried side by side: the one behind them is
 * reached when the first has had its time. */
static void
test_many_dead(void)
{
	static const struct dialer_config c = {.attempt_ms = 400};
	struct fixture f;
	const ip_t ips[] = {
	    swallows, swallows, swallows, swallows, swallows, good};

	setup(&f, &c);
	unsigned ms = dial_and_wait(&f, ips, 6);
	CHECK_STATUS(f.status[0], ST_OK);
	CHECK(ms >= 400 && ms < 5000);
	teardown(&f);
}

static void
test_other_family(void)
{
	struct fixture f;
	endpoint_t at;
	int fd;

	if (!listen_at(&fd, &at, 6, 4)) {
		printf("    no ::1 here\n");
		return;
	}
	setup(&f, &plain);
	const ip_t ips[] = {swallows, ip("::1")};
	f.port = at.port; /* nothing listens there at swallows: refused */
	(void)dial_and_wait(&f, ips, 2);
	CHECK_STATUS(f.status[0], ST_OK);
	CHECK_INT(f.ip[0].version, 6);
	teardown(&f);
	close(fd);
}

static void
test_cap(void)
{
	static const struct dialer_config c = {.per_destination = 2};
	struct fixture f;
	const ip_t both[] = {good, good_too};

	setup(&f, &c);
	int second = socket_at(good_too, f.port);
	CHECK_INT(listen(second, 4), 0);
	(void)dial_and_wait(&f, &good, 1);
	(void)dial_and_wait(&f, &good, 1);
	CHECK_STATUS(f.status[1], ST_OK);
	(void)dial_and_wait(&f, &good, 1);
	CHECK_STATUS(f.status[2], ST_TARGET_LIMIT);
	(void)dial_and_wait(&f, both, 2); /* the other one has room */
	CHECK_STATUS(f.status[3], ST_OK);
	CHECK(ip_equal(&f.ip[3], &good_too));
	CHECK_INT(dialer_open(f.dialer), 3);
	close(f.fd[0]);
	f.fd[0] = -1;
	dialer_leave(f.dialer, f.ip[0]);
	(void)dial_and_wait(&f, &good, 1);
	CHECK_STATUS(f.status[4], ST_OK);
	/* One that failed is not counted, and one nobody joined neither. */
	for (int i = 0; i < 3; i++)
		(void)dial_and_wait(&f, &refuses, 1);
	CHECK_STATUS(f.status[7], ST_CONNECT_REFUSED);
	dialer_leave(f.dialer, refuses);
	CHECK_INT(dialer_open(f.dialer), 3);
	close(second);
	teardown(&f);
}

static void
test_cancel(void)
{
	struct fixture f;
	const ip_t ips[] = {swallows, swallows};
	handle_t h, h2;

	setup(&f, &plain);
	CHECK_STATUS(dial(&f, &h, ips, 2), ST_OK);
	spin_for(f.loop, STAGGER + 40); /* two on their way */
	CHECK_INT(dialer_open(f.dialer), 2);
	dialer_cancel(f.dialer, h);
	dialer_cancel(f.dialer, h);
	CHECK_INT(dialer_open(f.dialer), 0);
	CHECK_INT(count_fds(), f.fds);
	/* Before it has even begun. */
	CHECK_STATUS(dial(&f, &h2, &good, 1), ST_OK);
	dialer_cancel(f.dialer, h2);
	dialer_cancel(f.dialer, (handle_t){0});
	spin_for(f.loop, 30);
	CHECK_INT(f.n, 0);
	/* The slot's next owner is not hit by the old name. */
	CHECK_STATUS(dial(&f, &h, &good, 1), ST_OK);
	dialer_cancel(f.dialer, h2);
	SPIN(f.loop, f.n == 1);
	teardown(&f);
}

static void
test_free_busy(void)
{
	struct fixture f;
	const ip_t ips[] = {swallows, swallows};

	setup(&f, &plain);
	CHECK_STATUS(dial(&f, NULL, ips, 2), ST_OK);
	CHECK_STATUS(dial(&f, NULL, ips, 1), ST_OK);
	spin_for(f.loop, 10);
	dialer_free(&f.dialer);
	CHECK_INT(count_fds(), f.fds);
	CHECK_STATUS(loop_turn(f.loop, 0), ST_OK);
	CHECK_INT(f.n, 0);
	loop_free(&f.loop);
}

static void
test_capacity(void)
{
	static const struct dialer_config c = {.capacity = 2};
	struct fixture f;
	handle_t h[3];

	setup(&f, &c);
	CHECK_STATUS(dial(&f, &h[0], &swallows, 1), ST_OK);
	CHECK_STATUS(dial(&f, &h[1], &swallows, 1), ST_OK);
	CHECK_STATUS(dial(&f, &h[2], &good, 1), ST_BUSY);
	CHECK_INT(h[2].slot, 0);
	CHECK_INT(dialer_pending(f.dialer), 2);
	dialer_cancel(f.dialer, h[0]);
	CHECK_STATUS(dial(&f, NULL, &good, 1), ST_OK);
	SPIN(f.loop, f.n == 1);
	CHECK_STATUS(f.status[0], ST_OK);
	dialer_cancel(f.dialer, h[1]);
	teardown(&f);
}

static void
test_source(void)
{
	struct dialer_config c = {0};
	struct fixture f;
	struct sockaddr_in from;
	socklen_t len = sizeof(from);

	c.source4 = ip("127.0.0.77");
	setup(&f, &c);
	(void)dial_and_wait(&f, &good, 1);
	CHECK_STATUS(f.status[0], ST_OK);
	int peer = accept(f.good, (struct sockaddr *)&from, &len);
	CHECK(peer >= 0);
	CHECK_INT(ntohl(from.sin_addr.s_addr), 0x7f00004d);
	close(peer);
	teardown(&f);

	c.source4 = ip("192.0.2.1"); /* not of this machine */
	setup(&f, &c);
	(void)dial_and_wait(&f, &good, 1);
	CHECK_STATUS(f.status[0], ST_CONNECT_FAILED);
	teardown(&f);
}

static void
test_no_descriptor(void)
{
	struct fixture f;
	struct rlimit r;

	setup(&f, &plain);
	int next = dup(0);
	close(next);
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &r), 0);
	rlim_t before = r.rlim_cur;
	r.rlim_cur = (rlim_t)next;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &r), 0);
	(void)dial_and_wait(&f, &good, 1);
	CHECK_STATUS(f.status[0], ST_OVERLOADED);
	r.rlim_cur = before;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &r), 0);
	teardown(&f);
}

/* --- the crowd --- */

/* Counts as in a table with one row per destination. */
static void
test_crowd(void)
{
	enum { HOSTS = 60, MOST = 40, CAP = 3 };
	struct crowd c;
	uint32_t count[HOSTS] = {0}, used = 0, total = 0;
	ip_t ips[HOSTS];

	CHECK_STATUS(crowd_init(&c, MOST), ST_OK);
	for (int i = 0; i < HOSTS; i++) {
		ips[i] = (ip_t){.version = i % 2 ? 4 : 6};
		test_random_bytes(ips[i].bytes, i % 2 ? 4 : 8);
	}
	for (int round = 0; round < 200000; round++) {
		unsigned i = (unsigned)(test_random() % HOSTS);
		ip_t at = ips[i];
		/* Any address of the /64 is that host. */
		if (at.version == 6)
			test_random_bytes(at.bytes + 8, 8);
		if (test_random() % 100 < 51) {
			enum status want = count[i] >= CAP  ? ST_TARGET_LIMIT
			    : count[i] == 0 && used == MOST ? ST_OVERLOADED
							    : ST_OK;
			CHECK_STATUS(crowd_join(&c, &at, CAP), want);
			if (want == ST_OK) {
				used += count[i]++ == 0;
				total++;
			}
		} else {
			crowd_leave(&c, &at);
			if (count[i] != 0) {
				used -= --count[i] == 0;
				total--;
			}
		}
		CHECK_INT(crowd_at(&c, &at), count[i]);
		CHECK_INT(c.used, used);
		CHECK_INT(c.total, total);
	}
	/* No cap: any number. */
	for (int i = 0; i < HOSTS; i++) {
		while (crowd_at(&c, &ips[i]) != 0)
			crowd_leave(&c, &ips[i]);
	}
	CHECK_INT(c.used, 0);
	for (int i = 0; i < 1000; i++)
		CHECK_STATUS(crowd_join(&c, &ips[0], 0), ST_OK);
	crowd_clear(&c);
}

TESTS({"one address", test_one}, {"the first is dead", test_first_dead},
    {"the first ones fail at once", test_first_refuses},
    {"all fail: the most telling reason", test_all_fail},
    {"the whole dial takes too long", test_whole_timeout},
    {"many are dead", test_many_dead}, {"the other family", test_other_family},
    {"a cap per destination", test_cap}, {"cancelled", test_cancel},
    {"freed while busy", test_free_busy}, {"capacity", test_capacity},
    {"source address", test_source}, {"no descriptor left", test_no_descriptor},
    {"the crowd: the same as the oracle", test_crowd})
