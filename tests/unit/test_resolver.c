/* The resolver against a name server that does what it is asked to: answer,
 * be slow, lie, cut short, say nothing. */
#include "harness.h"

#include <stdlib.h>
#include <unistd.h>

#include "dns_server.h"
#include "net/resolver.h"

#define MANY 2100

struct fixture {
	struct loop *loop;
	struct dns_server dns;
	struct resolver *resolver;
	unsigned n;
	handle_t owner[MANY];
	enum status status[MANY];
	/* Of the last answer. */
	ip_t ips[2 * RESOLVER_ADDRESSES];
	size_t n_ips;
	unsigned fds;
};

static void
on_resolved(
    void *arg, handle_t owner, enum status status, const ip_t *ips, size_t n)
{
	struct fixture *f = arg;

	CHECK(f->n < MANY);
	CHECK((status == ST_OK) == (n != 0));
	CHECK(n <= 2 * RESOLVER_ADDRESSES);
	f->owner[f->n] = owner;
	f->status[f->n++] = status;
	memcpy(f->ips, ips, n * sizeof(*ips));
	f->n_ips = n;
}

static struct fixture *
setup(struct resolver_config c)
{
	static struct fixture f;

	f.loop = test_loop();
	dns_start(&f.dns, f.loop);
	f.fds = count_fds();
	if (c.servers == NULL)
		c.servers = f.dns.at;
	CHECK_STATUS(
	    resolver_new(&f.resolver, f.loop, &c, on_resolved, &f), ST_OK);
	return &f;
}

static void
teardown(struct fixture *f)
{
	CHECK_INT(resolver_pending(f->resolver), 0);
	resolver_free(&f->resolver);
	CHECK(f->resolver == NULL);
	/* The name server may still hold what it has accepted. */
	dns_stop(&f->dns);
	CHECK(count_fds() <= f->fds - 3);
	loop_free(&f->loop);
}

static enum status
ask(struct fixture *f, handle_t *h, const char *name)
{
	handle_t ignored;

	return resolver_query(f->resolver, h != NULL ? h : &ignored,
	    (handle_t){f->n + 1, 5}, span_str(name));
}

/* Resolve NAME; returns how long it took, in milliseconds. */
static unsigned
resolve(struct fixture *f, const char *name)
{
	uint64_t start = loop_clock_ns();
	unsigned before = f->n;

	CHECK_STATUS(ask(f, NULL, name), ST_OK);
	CHECK_INT(f->n, before); /* never from within */
	SPIN(f->loop, f->n > before);
	CHECK_INT(f->n, before + 1);
	CHECK_INT(f->owner[before].slot, before + 1);
	CHECK_INT(f->owner[before].generation, 5);
	return (unsigned)((loop_clock_ns() - start) / 1000000) + 2;
}

static void
check(
    struct fixture *f, const char *name, enum status want, size_t n6, size_t n4)
{
	(void)resolve(f, name);
	CHECK_STATUS(f->status[f->n - 1], want);
	CHECK_INT(f->n_ips, n6 + n4);
	for (size_t i = 0; i < n6 + n4; i++)
		CHECK_INT(f->ips[i].version, i < n6 ? 6 : 4);
}

/* --- cases --- */

static void
test_answers(void)
{
	struct fixture *f = setup((struct resolver_config){.timeout_ms = 200});
	const ip_t a = {4, {192, 0, 2, 1}};
	const ip_t aaaa = {6, {0x20, 1, 0xd, 0xb8, [15] = 1}};

	check(f, "ok.example", ST_OK, 1, 1);
	CHECK(ip_equal(&f->ips[0], &aaaa));
	CHECK(ip_equal(&f->ips[1], &a));
	CHECK_STR(f->dns.last_name, "ok.example.");
	CHECK(f->dns.asked_recursion);
	CHECK(f->dns.had_edns);
	CHECK_INT(f->dns.udp_questions, 2);
	check(f, "v4.example", ST_OK, 0, 2);
	check(f, "v6.example", ST_OK, 2, 0);
	check(f, "OK.example.", ST_OK, 1, 1);
	check(f, "many.example", ST_OK, 16, 16);
	check(f, "none.example", ST_DNS_NOT_FOUND, 0, 0);
	check(f, "nx.example", ST_DNS_NOT_FOUND, 0, 0);
	check(f, "servfail.example", ST_DNS_FAILED, 0, 0);
	check(f, "refused.example", ST_DNS_FAILED, 0, 0);
	check(f, "broken6.example", ST_OK, 0, 1);
	check(f, "alias.example", ST_OK, 1, 1);
	check(f, "slow.example", ST_OK, 1, 1);
	/* What is wrong with these is the caller's to say. */
	check(f, "lies.example", ST_OK, 1, 1);
	CHECK_INT(f->ips[1].bytes[0], 127);
	teardown(f);
}

/* Where it has no addresses, a name is asked for as it is: no search domains,
 * no hosts file, no names that are special. */
static void
test_no_other_source(void)
{
	char host[256];

	setenv("LOCALDOMAIN", "search.example", 1);
	setenv("RES_OPTIONS", "ndots:5", 1);
	struct fixture *f = setup((struct resolver_config){0});
	check(f, "nx", ST_DNS_NOT_FOUND, 0, 0);
	CHECK_STR(f->dns.last_name, "nx.");
	unsigned before = f->dns.udp_questions;
	/* These are in every hosts file. */
	f->dns.last_name[0] = '\0';
	CHECK_STATUS(ask(f, NULL, "localhost"), ST_OK);
	SPIN(f->loop, f->dns.udp_questions == before + 2);
	CHECK_STR(f->dns.last_name, "localhost.");
	CHECK_INT(gethostname(host, sizeof(host) - 1), 0);
	before = f->dns.udp_questions;
	CHECK_STATUS(ask(f, NULL, host), ST_OK);
	SPIN(f->loop, f->dns.udp_questions == before + 2);
	/* A text that looks like an address is a name here. */
	before = f->dns.udp_questions;
	CHECK_STATUS(ask(f, NULL, "127.0.0.1"), ST_OK);
	SPIN(f->loop, f->dns.udp_questions == before + 2);
	CHECK_STR(f->dns.last_name, "127.0.0.1.");
	CHECK_INT(f->n, 1);
	resolver_free(&f->resolver);
	dns_stop(&f->dns);
	loop_free(&f->loop);
}

static void
test_truncated(void)
{
	struct fixture *f = setup((struct resolver_config){.timeout_ms = 100});

	check(f, "big.example", ST_OK, 16, 16);
	CHECK(f->dns.tcp_questions >= 2);
	check(f, "cut.example", ST_DNS_TIMEOUT, 0, 0);
	/* A server without TCP. */
	watch_stop(&f->dns.tcp_watch);
	CHECK_INT(close(f->dns.tcp), 0);
	f->dns.tcp = dup(0);
	(void)resolve(f, "big.example");
	CHECK(f->status[2] == ST_DNS_FAILED || f->status[2] == ST_DNS_TIMEOUT);
	teardown(f);
}

/* One family does not answer: the other does not wait for long. */
static void
test_grace(void)
{
	struct fixture *f =
	    setup((struct resolver_config){.timeout_ms = 5000, .tries = 1});

	unsigned ms = resolve(f, "half.example");
	CHECK_STATUS(f->status[0], ST_OK);
	CHECK_INT(f->n_ips, 1);
	CHECK(ms >= RESOLVER_GRACE_MS && ms < 4000);
	ms = resolve(f, "half4.example");
	CHECK_STATUS(f->status[1], ST_OK);
	CHECK_INT(f->ips[0].version, 6);
	CHECK(ms >= RESOLVER_GRACE_MS && ms < 4000);
	teardown(f);
}

static void
test_silence(void)
{
	struct fixture *f =
	    setup((struct resolver_config){.timeout_ms = 50, .tries = 2});

	unsigned ms = resolve(f, "silent.example");
	CHECK_STATUS(f->status[0], ST_DNS_TIMEOUT);
	CHECK_INT(f->dns.udp_questions, 4); /* two tries of two families */
	CHECK(ms >= 100 && ms < 5000);
	teardown(f);

	/* The deadline of the whole is shorter. */
	f = setup((struct resolver_config){
	    .timeout_ms = 5000, .tries = 3, .deadline_ms = 100});
	f->n = 0;
	ms = resolve(f, "silent.example");
	CHECK_STATUS(f->status[0], ST_DNS_TIMEOUT);
	CHECK(ms >= 100 && ms < 4000);
	teardown(f);
}

/* The first server is silent, or not there: the second is asked. */
static void
test_second_server(void)
{
	struct fixture *f;
	struct resolver_config c = {.timeout_ms = 60};
	char servers[80];
	struct loop *l = test_loop();
	struct dns_server dead;

	dns_start(&dead, l); /* its loop never turns */
	f = setup(c);
	snprintf(servers, sizeof(servers), "%s,%s", dead.at, f->dns.at);
	CHECK_STATUS(resolver_reload(f->resolver, servers), ST_OK);
	check(f, "ok.example", ST_OK, 1, 1);
	dns_stop(&dead); /* now its port is closed: ICMP says so */
	(void)resolve(f, "ok.example"); /* the slower family may be late */
	CHECK_STATUS(f->status[1], ST_OK);
	teardown(f);
	loop_free(&l);
}

static void
test_forged(void)
{
	struct fixture *f = setup((struct resolver_config){.timeout_ms = 100});

	for (int i = 0; i < 20; i++) {
		check(f, "spoof.example", ST_OK, 1, 1);
		for (size_t k = 0; k < f->n_ips; k++)
			CHECK_INT(
			    f->ips[k].bytes[f->ips[k].version == 4 ? 3 : 15],
			    9);
	}
	check(f, "other.example", ST_DNS_TIMEOUT, 0, 0);
	teardown(f);
}

/* Whatever comes, there is one answer, and in time. */
static void
test_nonsense(void)
{
	struct fixture *f = setup((struct resolver_config){
	    .timeout_ms = 20, .tries = 1, .deadline_ms = 100});

	check(f, "loop.example", ST_DNS_NOT_FOUND, 0, 0);
	(void)resolve(f, "badlength.example");
	CHECK_INT(f->n_ips, 0);
	for (int i = 0; i < 30; i++)
		(void)resolve(f, "garbage.example");
	for (int i = 0; i < 600; i++) {
		CHECK_STATUS(ask(f, NULL, "mutant.example"), ST_OK);
		if (i % 50 == 49)
			SPIN(f->loop, resolver_pending(f->resolver) == 0);
	}
	CHECK_INT(f->n, 632);
	teardown(f);
}

static void
test_cancel(void)
{
	struct fixture *f = setup((struct resolver_config){
	    .timeout_ms = 100, .tries = 1, .capacity = 4});
	handle_t h[6];

	for (int i = 0; i < 4; i++)
		CHECK_STATUS(ask(f, &h[i], "slow.example"), ST_OK);
	CHECK_STATUS(ask(f, &h[4], "ok.example"), ST_BUSY);
	CHECK_INT(h[4].slot, 0);
	resolver_cancel(f->resolver, h[1]);
	resolver_cancel(f->resolver, h[1]);
	resolver_cancel(f->resolver, (handle_t){0});
	CHECK_INT(resolver_pending(f->resolver), 3);
	CHECK_STATUS(ask(f, &h[4], "ok.example"), ST_OK);
	resolver_cancel(f->resolver, h[1]); /* not the new owner of the slot */
	SPIN(f->loop, f->n == 4);
	spin_for(f->loop, 120);
	CHECK_INT(f->n, 4);
	/* Cancelled ones stay with c-ares for a while: bounded, too. */
	int i = 0;
	enum status s;
	while ((s = ask(f, &h[0], "silent.example")) == ST_OK && i++ < 100)
		resolver_cancel(f->resolver, h[0]);
	CHECK_STATUS(s, ST_BUSY);
	SPIN(f->loop, ask(f, &h[0], "silent.example") == ST_OK);
	resolver_cancel(f->resolver, h[0]);
	CHECK_INT(f->n, 4);
	teardown(f);
}

static void
test_free_busy(void)
{
	struct fixture *f = setup((struct resolver_config){0});

	for (int i = 0; i < 200; i++)
		CHECK_STATUS(ask(f, NULL, "silent.example"), ST_OK);
	CHECK_STATUS(ask(f, NULL, "big.example"), ST_OK);
	spin_for(f->loop, 20);
	f->n = 0;
	resolver_free(&f->resolver);
	CHECK_STATUS(loop_turn(f->loop, 0), ST_OK);
	CHECK_INT(f->n, 0);
	dns_stop(&f->dns);
	loop_free(&f->loop);
}

static void
test_names(void)
{
	struct fixture *f = setup((struct resolver_config){.timeout_ms = 50});
	char name[300];
	handle_t h;

	memset(name, 'a', sizeof(name));
	CHECK_STATUS(resolver_query(f->resolver, &h, (handle_t){0},
			 span_of(name, RESOLVER_NAME_MAX)),
	    ST_BAD_LENGTH);
	static const char *const bad[] = {
	    "", "a b.example", "a\\046b.example", "a\n", "a/b", "caf\xc3\xa9"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_STATUS(ask(f, NULL, bad[i]), ST_BAD_ENCODING);
	CHECK_STATUS(
	    resolver_query(f->resolver, &h, (handle_t){0}, span_of("a\0b", 3)),
	    ST_BAD_ENCODING);
	/* Names that the protocol can not carry: no such name. */
	name[70] = '\0';
	(void)resolve(f, name);
	CHECK_STATUS(f->status[0], ST_DNS_NOT_FOUND);
	(void)resolve(f, "a..example");
	CHECK_STATUS(f->status[1], ST_DNS_NOT_FOUND);
	CHECK_INT(f->dns.udp_questions, 0);
	teardown(f);
}

static void
test_families(void)
{
	struct fixture *f =
	    setup((struct resolver_config){.timeout_ms = 50, .no_ipv6 = true});

	check(f, "ok.example", ST_OK, 0, 1);
	check(f, "v6.example", ST_DNS_NOT_FOUND, 0, 0);
	CHECK_INT(f->dns.udp_questions, 2);
	teardown(f);
	f = setup((struct resolver_config){.timeout_ms = 50, .no_ipv4 = true});
	f->n = 0;
	check(f, "ok.example", ST_OK, 1, 0);
	teardown(f);
}

static void
test_servers(void)
{
	static const char *const bad[] = {"", "nonsense", "127.0.0.1:99999999",
	    "300.1.1.1", ",", "127.0.0.1,", "127.0.0.1, 127.0.0.2",
	    "127.0.0.1:0", "::1:53x", "127.1",
	    ("1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,"
	     "1.1.1.1,1.1.1.1,1.1.1.1")};
	struct fixture *f = setup((struct resolver_config){.timeout_ms = 100});
	struct resolver *r;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct resolver_config c = {.servers = bad[i]};
		CHECK_STATUS(resolver_new(&r, f->loop, &c, on_resolved, NULL),
		    ST_BAD_VALUE);
		CHECK(r == NULL);
		CHECK_STATUS(
		    resolver_reload(f->resolver, bad[i]), ST_BAD_VALUE);
	}
	check(f, "ok.example", ST_OK, 1, 1); /* the old ones are still there */
	static const char *const good[] = {
	    "127.0.0.1", "::1", "[::1]:5353", "127.0.0.1:1,::1,127.0.0.2"};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_STATUS(resolver_reload(f->resolver, good[i]), ST_OK);
	teardown(f);
}

/* Under load the source ports change. */
static void
test_rotation(void)
{
	struct fixture *f = setup((struct resolver_config){.timeout_ms = 1000});
	unsigned asked = 0;

	for (int i = 0; i < 10; i++)
		CHECK_STATUS(ask(f, NULL, "slow.example"), ST_OK);
	/* Never idle, so that no channel closes its sockets by itself. */
	while (f->n < 600) {
		while (asked < 590 && resolver_pending(f->resolver) < 12) {
			CHECK_STATUS(
			    ask(f, NULL,
				asked % 8 ? "ok.example" : "slow.example"),
			    ST_OK);
			asked++;
		}
		CHECK_STATUS(loop_turn(f->loop, 10), ST_OK);
	}
	for (unsigned i = 0; i < f->n; i++)
		CHECK_STATUS(f->status[i], ST_OK);
	CHECK(f->dns.ports >= 2 * 600 / RESOLVER_ROTATE - 1);
	teardown(f);
}

TESTS({"answers of every kind", test_answers},
    {"no source but the name server", test_no_other_source},
    {"truncated: over TCP", test_truncated},
    {"one family is silent", test_grace}, {"silence", test_silence},
    {"the second server", test_second_server}, {"forged answers", test_forged},
    {"nonsense", test_nonsense}, {"cancelled, and bounded", test_cancel},
    {"freed while busy", test_free_busy}, {"names", test_names},
    {"one family only", test_families}, {"server lists", test_servers},
    {"ports change", test_rotation})
