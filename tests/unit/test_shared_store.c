/* One budget over several gateways, counted in a real server that is killed,
 * paused, replaced, emptied of its scripts and filled to the brim meanwhile. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gate_util.h"
#include "harness.h"
#include "net_util.h"
#include "redis_util.h"
#include "store/shared_store.h"

#define DAY 86400
#define QUOTA 100
#define GATEWAYS 3
#define PENDING 4000

static struct redis server, replica;
static struct loop *loop;
static uint8_t member_key[MEMBER_KEY] = {7};

/* One gateway's counting. */
struct gateway {
	struct gate gate;
	void *memory;
	struct ledger_store *store;
	unsigned answered, passed, asked;
	unsigned by_status[ST_COUNT];
	bool keep; /* tunnels open */
	struct gate_tunnel tunnels[PENDING];
	unsigned open;
	struct quota_left left; /* of the last answer */
};

static struct gateway gateways[GATEWAYS];

static struct shared_store_config
config_of(const struct shared_place *places, size_t n)
{
	return (struct shared_store_config){
	    .link = {.places = places, .places_n = n, .retry_ms = 20},
	    .prefix = "test",
	    .pending = PENDING,
	};
}

static now_t
now(void)
{
	return (now_t){
	    .wall = (uint64_t)(loop_wall(loop) / 1000),
	    .mono = loop_now(loop),
	};
}

static void
on_settled(void *ctx, handle_t who, enum status s, const struct gate_grant *g)
{
	struct gateway *w = ctx;

	CHECK(who.generation == 5);
	CHECK(g->tunnel.open == (s == ST_OK));
	w->answered++;
	w->by_status[s]++;
	w->left = g->left;
	if (s != ST_OK)
		return;
	w->passed++;
	w->tunnels[w->open++] = g->tunnel;
	if (!w->keep)
		ledger_store_close(w->store, &w->tunnels[--w->open]);
}

static const struct quota_limits standard = {
    .requests = QUOTA,
    .tunnels = 10000,
    .bytes_up = QUOTA_UNLIMITED,
    .bytes_down = QUOTA_UNLIMITED,
    .rate = {BUCKET_UNLIMITED, 0},
};

static void
open_gate(
    struct gateway *w, const struct quota_limits *limits, const char *realm)
{
	struct gate_config c = small_gate();
	struct root root = {.root = {[31] = 1}};

	memset(w, 0, sizeof(*w));
	memcpy(c.member_key, member_key, sizeof(member_key));
	if (realm != NULL)
		snprintf(c.epoch.realm, sizeof(c.epoch.realm), "%s", realm);
	w->memory = calloc(1, gate_memory(&c));
	CHECK(w->memory != NULL);
	CHECK_STATUS(gate_init(&w->gate, &c, w->memory), ST_OK);
	CHECK_STATUS(roots_set(&w->gate.roots, &root, 0), ST_OK);
	gate_set_limits(&w->gate, 0, limits);
}

static void
open_gateway(struct gateway *w, const struct shared_store_config *c,
    const struct quota_limits *limits)
{
	char why[REDIS_LINK_WHY_MAX];

	open_gate(w, limits, NULL);
	CHECK_STATUS(
	    shared_store_new(&w->store, loop, &w->gate, c, on_settled, w, why),
	    ST_OK);
}

static void
close_gateway(struct gateway *w)
{
	ledger_store_free(&w->store);
	gate_clear(&w->gate);
	free(w->memory);
}

static struct ledger_store_health
health(const struct gateway *w)
{
	struct ledger_store_health h;

	ledger_store_health(w->store, &h);
	return h;
}

static void
await_up(const struct gateway *w)
{
	SPIN(loop, health(w).up);
}

/* The server, a loop, and N gateways that are connected. */
static void
enter(unsigned n, const struct shared_store_config *c,
    const struct quota_limits *limits)
{
	for (unsigned i = 0; i < n; i++) {
		open_gateway(&gateways[i], c, limits);
		await_up(&gateways[i]);
	}
}

static void
leave(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close_gateway(&gateways[i]);
	loop_free(&loop);
	redis_stop(&server);
}

static struct shared_place
begin(const char *const *more)
{
	redis_start(&server, more);
	loop = test_loop();
	return redis_place(&server);
}

static uint32_t
epoch_now(void)
{
	return (uint32_t)(now().wall / DAY);
}

/* Ask for member N at W. */
static enum status
ask_in(struct gateway *w, uint32_t n, uint32_t epoch)
{
	char token[SEMAPHORE_COMPACT_LENGTH + 1];
	struct semaphore_fault fault;
	struct gate_grant grant;
	struct gate_ticket t;
	enum status s;

	w->asked++;
	make_token(token, n, epoch, 0);
	s = gate_screen(
	    &w->gate, &t, &fault, &w->left, ST_OK, span_str(token), now());
	if (s == ST_OK) {
		s = ledger_store_settle(w->store, &grant, &t, VERDICT_ACCEPT,
		    (handle_t){1, 5}, now());
		CHECK(!grant.tunnel.open);
	}
	if (s != ST_OK) {
		w->answered++;
		w->by_status[s]++;
	}
	return s;
}

static void
ask(struct gateway *w, uint32_t n)
{
	unsigned before = w->passed;
	enum status s = ask_in(w, n, epoch_now());

	(void)s;
	/* Never from inside the call. */
	CHECK_INT(w->passed, before);
}

static void
await_answers(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		SPIN(loop, gateways[i].answered == gateways[i].asked);
}

/* What the server has counted for all members together. */
static long long
counted(const struct redis *r)
{
	return redis_do(r, "EVAL %s 0",
	    "local sum = 0 "
	    "for _, k in ipairs(redis.call('KEYS', 'test:*:*')) do "
	    "sum = sum + redis.call('HGET', k, 'n') end return sum");
}

/* ... and how many tunnels are open there. */
static long long
open_there(const struct redis *r)
{
	return redis_do(r, "EVAL %s 0",
	    "local sum = 0 "
	    "for _, k in ipairs(redis.call('KEYS', 'test:*:*')) do "
	    "for _, f in ipairs(redis.call('HKEYS', k)) do "
	    "if string.match(f, '^g.') then sum = sum + "
	    "string.match(redis.call('HGET', k, f), '^%d+') end end end "
	    "return sum");
}

static unsigned
passed(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += gateways[i].passed;
	return sum;
}

/* --- cases --- */

static void
test_exact(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);

	enter(GATEWAYS, &c, &standard);
	for (unsigned i = 0; i < 10002; i++)
		ask(&gateways[i % GATEWAYS], 1);
	await_answers(GATEWAYS);
	CHECK_INT(passed(GATEWAYS), QUOTA);
	CHECK_INT(counted(&server), QUOTA);
	for (unsigned i = 0; i < GATEWAYS; i++) {
		CHECK_INT(gateways[i].passed +
			gateways[i].by_status[ST_QUOTA_REQUESTS],
		    gateways[i].asked);
		ask(&gateways[i], 1);
	}
	await_answers(GATEWAYS);
	CHECK_INT(passed(GATEWAYS), QUOTA);
	CHECK_INT(counted(&server), QUOTA);
	SPIN(loop, open_there(&server) == 0);
	leave(GATEWAYS);
}

/* What is left, and by which cause nobody passes: as the gate's own ledger
 * says it, over random limits and steps. */
static void
test_like_local(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0], *local = &gateways[1];

	enter(1, &c, &standard);
	w->keep = true;
	for (uint32_t member = 1; member <= 40; member++) {
		const struct quota_limits limits = {
		    .requests = 1 + test_random() % 8,
		    .tunnels = 1 + test_random() % 6,
		    .bytes_up = test_random() % 2 ? 1 + test_random() % 50
						  : QUOTA_UNLIMITED,
		    .bytes_down = 1 + test_random() % 50,
		    /* A bucket that does not refill in the test's time. */
		    .rate = {test_random() % 2 ? 1 + test_random() % 8
					       : BUCKET_UNLIMITED,
			DAY * 1000},
		};
		struct gate_tunnel mine[64];
		unsigned n = 0;

		open_gate(local, &limits, NULL);
		gate_set_limits(&w->gate, 0, &limits);
		w->open = 0;
		for (unsigned step = 0; step < 24; step++) {
			char token[SEMAPHORE_COMPACT_LENGTH + 1];
			struct semaphore_fault fault;
			struct gate_grant grant = {0};
			struct gate_ticket t;
			struct ledger_record r;
			enum status want, got;
			bool due;

			if (n > 0 && test_random() % 3 == 0) {
				uint64_t up = test_random() % 20;
				uint64_t down = test_random() % 20;
				n--;
				(void)!gate_tunnel_add(
				    &local->gate, &mine[n], &r, &due, up, down);
				gate_tunnel_close(&local->gate, &mine[n], &r);
				(void)!ledger_store_add(
				    w->store, &w->tunnels[--w->open], up, down);
				ledger_store_close(
				    w->store, &w->tunnels[w->open]);
			}
			make_token(token, member, epoch_now(), 0);
			want = gate_screen(&local->gate, &t, &fault,
			    &grant.left, ST_OK, span_str(token), now());
			if (want == ST_OK)
				want = gate_settle(&local->gate, &grant, &t,
				    VERDICT_ACCEPT, now());
			if (want == ST_OK)
				mine[n++] = grant.tunnel;

			memset(w->by_status, 0, sizeof(w->by_status));
			got = ask_in(w, member, epoch_now());
			if (got == ST_OK) {
				await_answers(1);
				for (int s = 0; s < ST_COUNT; s++) {
					if (w->by_status[s] != 0)
						got = (enum status)s;
				}
			}
			CHECK_STATUS(got, want);
			CHECK_INT(w->left.requests, grant.left.requests);
			CHECK_INT(w->left.bytes_up, grant.left.bytes_up);
			CHECK_INT(w->left.bytes_down, grant.left.bytes_down);
			CHECK_INT(w->left.tunnels, grant.left.tunnels);
		}
		while (w->open > 0)
			ledger_store_close(w->store, &w->tunnels[--w->open]);
		gate_clear(&local->gate);
		free(local->memory);
	}
	leave(1);
}

/* Killed again and again with requests on the way: who passed is counted, and
 * nobody is counted who did not. */
static void
test_killed(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct quota_limits limits = standard;

	limits.requests = 5000;
	c.timeout_ms = 20000;
	enter(GATEWAYS, &c, &limits);
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned i = 0; i < 600; i++)
			ask(&gateways[i % GATEWAYS], i % 7);
		for (unsigned turn = 0; turn < test_random() % 8; turn++)
			CHECK_STATUS(loop_turn(loop, 0), ST_OK);
		redis_kill(&server);
		CHECK_STATUS(loop_turn(loop, 1), ST_OK);
		redis_restart(&server, NULL);
		await_answers(GATEWAYS);
	}
	CHECK_INT(passed(GATEWAYS), 8 * 600);
	CHECK_INT(counted(&server), 8 * 600);
	SPIN(loop, open_there(&server) == 0);
	leave(GATEWAYS);
}

/* It stops in the middle: who waits is refused in time, and a count that was
 * made after all is taken back. */
static void
test_paused(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];
	struct quota_limits limits = standard;

	/* One for before it and one for after: what is undone takes none. */
	limits.rate = (bucket_rate_t){2, DAY * 1000};
	c.timeout_ms = 300;
	enter(2, &c, &limits);
	ask(w, 1);
	await_answers(2);
	CHECK_INT(w->passed, 1);
	CHECK(kill(server.pid, SIGSTOP) == 0);
	for (unsigned i = 0; i < 20; i++)
		ask(&gateways[i % 2], 1);
	await_answers(2);
	CHECK_INT(passed(2), 1);
	CHECK_INT(w->by_status[ST_LEDGER_UNREACHABLE], 10);
	SPIN(loop, !health(w).up);
	CHECK_STATUS(health(w).status, ST_LEDGER_UNREACHABLE);
	CHECK(health(w).why_down[0] != '\0');
	/* No need to wait any more. */
	CHECK_STATUS(ask_in(w, 1, epoch_now()), ST_LEDGER_UNREACHABLE);
	CHECK(kill(server.pid, SIGCONT) == 0);
	await_up(w);
	await_up(&gateways[1]);
	/* What the server finds in its socket counts first, then is undone. */
	SPIN(loop, counted(&server) == 1 && open_there(&server) == 0);
	ask(w, 1);
	await_answers(2);
	CHECK_INT(w->passed, 2);
	leave(2);
}

/* A gateway that has heard that the quota is used up asks all the same: another
 * may have taken a count back since. */
static void
test_taken_back(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[1];
	struct quota_limits limits = standard;

	limits.requests = 3;
	enter(2, &c, &limits);
	for (unsigned i = 0; i < 3; i++)
		ask(&gateways[0], 1);
	await_answers(2);
	for (unsigned i = 0; i < 2; i++)
		ask(w, 1);
	await_answers(2);
	CHECK_INT(w->by_status[ST_QUOTA_REQUESTS], 2);
	redis_do(&server, "EVAL %s 0",
	    "for _, k in ipairs(redis.call('KEYS', 'test:*:*')) do "
	    "redis.call('HINCRBY', k, 'n', -1) end return 0");
	for (unsigned i = 0; i < 2; i++)
		ask(w, 1);
	await_answers(2);
	CHECK_INT(w->passed, 1);
	CHECK_INT(w->by_status[ST_QUOTA_REQUESTS], 3);
	leave(2);
}

/* CLIENT PAUSE: it takes commands and answers none. */
static void
test_client_pause(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];

	c.timeout_ms = 5000;
	enter(1, &c, &standard);
	redis_do(&server, "CLIENT PAUSE 400 ALL");
	for (unsigned i = 0; i < 10; i++)
		ask(w, 1);
	await_answers(1);
	CHECK_INT(w->passed, 10);
	CHECK_INT(counted(&server), 10);
	leave(1);
}

/* The master dies, its replica is made one: with WAIT no count is lost, and
 * the gateways find it by themselves. */
static void
test_failed_over(void)
{
	char port[8];
	const char *const more[] = {"--replicaof", "127.0.0.1", port,
	    "--repl-diskless-sync-delay", "0", NULL};
	struct shared_place places[2];
	struct shared_store_config c = config_of(places, 2);
	char said[4096];

	server.port = redis_free_port();
	snprintf(port, sizeof(port), "%u", (unsigned)server.port);
	places[1] = begin(NULL);
	redis_start(&replica, more);
	places[0] = redis_place(&replica);
	for (int i = 0; i < 1000; i++) {
		redis_ask(said, sizeof(said), &replica, "INFO replication");
		if (strstr(said, "master_link_status:up") != NULL)
			break;
		usleep(10000);
	}
	CHECK(strstr(said, "master_link_status:up") != NULL);

	c.replicas = 1;
	c.timeout_ms = 3000;
	enter(2, &c, &standard);
	for (unsigned i = 0; i < 60; i++)
		ask(&gateways[i % 2], 1);
	await_answers(2);
	CHECK_INT(passed(2), 60);
	for (unsigned i = 0; i < 20; i++)
		ask(&gateways[i % 2], 1);
	for (unsigned turn = 0; turn < test_random() % 6; turn++)
		CHECK_STATUS(loop_turn(loop, 0), ST_OK);
	redis_kill(&server);
	redis_do(&replica, "REPLICAOF NO ONE");
	/* There is no replica now to have what is counted. */
	await_answers(2);
	CHECK(passed(2) >= 60 && passed(2) <= 80);
	SPIN(loop, counted(&replica) == passed(2));
	CHECK(redis_do(&replica, "EXISTS test:gateways") == 1);
	leave(2);
	redis_stop(&replica);
}

/* Without its scripts it is told them again. */
static void
test_scripts_gone(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];

	enter(1, &c, &standard);
	ask(w, 1);
	await_answers(1);
	redis_do(&server, "SCRIPT FLUSH");
	for (unsigned i = 0; i < 5; i++)
		ask(w, 1);
	await_answers(1);
	CHECK_INT(w->passed, 6);
	CHECK_INT(counted(&server), 6);
	CHECK_INT(health(w).connects, 2);
	leave(1);
}

/* No memory for a count: refused, and as before when there is. */
static void
test_full(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];

	c.timeout_ms = 300;
	enter(1, &c, &standard);
	redis_do(&server, "CONFIG SET maxmemory 1");
	ask(w, 1);
	await_answers(1);
	CHECK_INT(w->by_status[ST_LEDGER_UNREACHABLE], 1);
	SPIN(loop, !health(w).up);
	CHECK_STR(health(w).why_down, "it refuses to count: OOM");
	redis_do(&server, "CONFIG SET maxmemory 0");
	await_up(w);
	ask(w, 1);
	await_answers(1);
	CHECK_INT(w->passed, 1);
	CHECK_INT(counted(&server), 1);
	leave(1);
}

/* Counted here while it is away, and told it afterwards. */
static void
test_fall_back(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];

	c.fall_back = true;
	enter(2, &c, &standard);
	for (unsigned i = 0; i < 40; i++)
		ask(w, 1);
	await_answers(2);
	redis_kill(&server);
	SPIN(loop, !health(w).up);
	CHECK_STATUS(health(w).status, ST_OK);
	/* This one knows of 40 that are used. */
	w->keep = true;
	for (unsigned i = 0; i < 100; i++)
		ask(w, 1);
	/* That one has not met the member. */
	for (unsigned i = 0; i < 30; i++)
		ask(&gateways[1], 1);
	await_answers(2);
	CHECK_INT(w->passed, QUOTA);
	CHECK_INT(w->by_status[ST_QUOTA_REQUESTS], 40);
	CHECK_INT(gateways[1].passed, 30);
	CHECK_INT(health(w).owed, 60);
	redis_restart(&server, NULL);
	await_up(w);
	await_up(&gateways[1]);
	SPIN(loop, health(w).owed + health(&gateways[1]).owed == 0);
	CHECK_INT(counted(&server), QUOTA + 30);
	CHECK_INT(open_there(&server), 60);
	while (w->open > 0)
		ledger_store_close(w->store, &w->tunnels[--w->open]);
	SPIN(loop, open_there(&server) == 0);
	CHECK_INT(health(w).lost + health(&gateways[1]).lost, 0);
	leave(2);
}

/* With requests on the way when it goes, each is answered, and each that
 * passed is counted once. */
static void
test_fall_back_on_the_way(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct quota_limits limits = standard;

	limits.requests = 100000;
	c.fall_back = true;
	enter(2, &c, &limits);
	for (unsigned round = 0; round < 6; round++) {
		for (unsigned i = 0; i < 400; i++)
			ask(&gateways[i % 2], i % 5);
		for (unsigned turn = 0; turn < test_random() % 6; turn++)
			CHECK_STATUS(loop_turn(loop, 0), ST_OK);
		redis_kill(&server);
		await_answers(2);
		redis_restart(&server, NULL);
		await_up(&gateways[0]);
		await_up(&gateways[1]);
	}
	CHECK_INT(passed(2), 6 * 400);
	SPIN(loop, counted(&server) == 6 * 400);
	SPIN(loop, open_there(&server) == 0);
	leave(2);
}

/* Tunnels are counted over all gateways, and those of a dead one are not. */
static void
test_leases(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct quota_limits limits = standard;
	struct gateway *a = &gateways[0], *b = &gateways[1];

	limits.tunnels = 5;
	c.lease_ms = 600;
	enter(2, &c, &limits);
	a->keep = b->keep = true;
	for (unsigned i = 0; i < 6; i++)
		ask(i < 3 ? a : b, 1);
	await_answers(2);
	CHECK_INT(passed(2), 5);
	CHECK_INT(
	    a->by_status[ST_QUOTA_TUNNELS] + b->by_status[ST_QUOTA_TUNNELS], 1);
	/* One lease later they are still alive: they say so. */
	for (unsigned i = 0; i < 12; i++) {
		spin_for(loop, 100);
		ledger_store_tick(a->store, now());
		ledger_store_tick(b->store, now());
	}
	ask(b, 1);
	await_answers(2);
	CHECK_INT(passed(2), 5);
	/* The first is gone, without a word about its tunnels. */
	close_gateway(a);
	for (unsigned i = 0; i < 9; i++) {
		spin_for(loop, 100);
		ledger_store_tick(b->store, now());
	}
	for (unsigned i = 0; i < 6; i++)
		ask(b, 1);
	SPIN(loop, b->answered == b->asked);
	/* Its own, and those that the other had. */
	CHECK_INT(b->passed, 5);
	close_gateway(b);
	leave(0);
}

static void
test_bytes(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct quota_limits limits = standard;
	struct gateway *a = &gateways[0], *b = &gateways[1];

	limits.bytes_up = 3 * GATE_NOTE_BYTES;
	enter(2, &c, &limits);
	a->keep = b->keep = true;
	ask(a, 1);
	ask(b, 1);
	await_answers(2);
	CHECK_STATUS(
	    ledger_store_add(a->store, &a->tunnels[0], GATE_NOTE_BYTES, 7),
	    ST_OK);
	CHECK_STATUS(
	    ledger_store_add(b->store, &b->tunnels[0], GATE_NOTE_BYTES, 7),
	    ST_OK);
	CHECK_STATUS(
	    ledger_store_add(a->store, &a->tunnels[0], GATE_NOTE_BYTES, 7),
	    ST_OK);
	spin_for(loop, 50);
	/* What the other has sent is known here by now. */
	SPIN(loop,
	    ledger_store_add(b->store, &b->tunnels[0], GATE_NOTE_BYTES, 0) ==
		ST_QUOTA_BYTES);
	ledger_store_close(a->store, &a->tunnels[0]);
	ledger_store_close(b->store, &b->tunnels[0]);
	ask(a, 1);
	await_answers(2);
	CHECK_INT(a->by_status[ST_QUOTA_BYTES], 1);
	leave(2);
}

/* Gateways that do not belong together do not share by mistake. */
static void
test_strangers(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[1];
	char why[REDIS_LINK_WHY_MAX];

	enter(1, &c, &standard);
	member_key[0]++;
	open_gateway(w, &c, &standard);
	SPIN(loop, strstr(health(w).why_down, "another key") != NULL);
	CHECK(!health(w).up);
	close_gateway(w);
	member_key[0]--;
	open_gate(w, &standard, "elsewhere");
	CHECK_STATUS(
	    shared_store_new(&w->store, loop, &w->gate, &c, on_settled, w, why),
	    ST_OK);
	SPIN(loop, strstr(health(w).why_down, "another key") != NULL);
	close_gateway(w);
	/* Under a prefix of their own they may. */
	c.prefix = "other";
	open_gate(w, &standard, "elsewhere");
	CHECK_STATUS(
	    shared_store_new(&w->store, loop, &w->gate, &c, on_settled, w, why),
	    ST_OK);
	await_up(w);
	leave(2);
}

/* Keys go with their epoch, and an epoch whose keys are gone is over. */
static void
test_epochs(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];
	char name[256];
	long long left;

	enter(1, &c, &standard);
	ask(w, 1);
	await_answers(1);
	redis_ask(name, sizeof(name), &server, "EVAL %s 0",
	    "return redis.call('KEYS', 'test:*:*')[1]");
	/* The name is the tag, not the nullifier. */
	CHECK_INT(strlen(name), strlen("test:") + 5 + 1 + 2 * MEMBER_TAG);
	CHECK(strstr(name, "00000000") == NULL);
	left = redis_do(&server, "PTTL %s", name);
	CHECK(left > (long long)DAY * 1000 &&
	    left <= 2LL * DAY * 1000 + GATE_HOLD_DEFAULT);
	leave(1);
}

static void
test_password(void)
{
	const char *const more[] = {"--requirepass", "secret", NULL};
	struct shared_place p = begin(more);
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];

	open_gateway(w, &c, &standard);
	SPIN(loop, strstr(health(w).why_down, "NOAUTH") != NULL);
	close_gateway(w);
	c.link.password = "wrong";
	open_gateway(w, &c, &standard);
	SPIN(loop, strstr(health(w).why_down, "WRONGPASS") != NULL);
	CHECK(strstr(health(w).why_down, "user or password") != NULL);
	close_gateway(w);
	c.link.password = "secret";
	c.link.user = "default";
	p.database = 3;
	open_gateway(w, &c, &standard);
	await_up(w);
	ask(w, 1);
	await_answers(1);
	CHECK_INT(w->passed, 1);
	leave(1);
}

/* TLS, with a certificate for the name that is meant and no other. */
static void
test_tls(void)
{
	char folder[] = "/tmp/postern-tls-XXXXXX", command[512], port[8];
	char cert[64], key[64];
	const char *const more[] = {"--tls-port", port, "--tls-cert-file", cert,
	    "--tls-key-file", key, "--tls-ca-cert-file", cert,
	    "--tls-auth-clients", "no", NULL};
	struct shared_place p = {.tls = true, .port = redis_free_port()};
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];

	CHECK(mkdtemp(folder) != NULL);
	snprintf(port, sizeof(port), "%u", (unsigned)p.port);
	snprintf(cert, sizeof(cert), "%s/cert", folder);
	snprintf(key, sizeof(key), "%s/key", folder);
	snprintf(command, sizeof(command),
	    "openssl req -x509 -newkey ed25519 -nodes -days 2 -subj /CN=x "
	    "-addext subjectAltName=DNS:localhost -keyout %s -out %s "
	    "2>/dev/null",
	    key, cert);
	CHECK(system(command) == 0);
	(void)begin(more);
	c.link.ca_file = cert;
	snprintf(p.host, sizeof(p.host), "127.0.0.1");
	open_gateway(w, &c, &standard);
	SPIN(loop, strstr(health(w).why_down, "certificate") != NULL);
	close_gateway(w);
	snprintf(p.host, sizeof(p.host), "localhost");
	open_gateway(w, &c, &standard);
	await_up(w);
	for (unsigned i = 0; i < 150; i++)
		ask(w, 1);
	await_answers(1);
	CHECK_INT(w->passed, QUOTA);
	leave(1);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	CHECK(system(command) == 0);
}

/* Something else listens there. */
static void
test_not_redis(void)
{
	static const char *const words[] = {"HTTP/1.1 400 Bad Request\r\n\r\n",
	    "*1\r\n$5\r\nslave\r\n", "+OK\r\n", "$99999999\r\n", ""};
	static const char *const want[] = {"not understood", "replica",
	    "no such server", "does not answer", "closes"};
	struct shared_place p = {.host = "127.0.0.1"};
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];
	endpoint_t at;
	int fd, peer;

	c.timeout_ms = 200;
	loop = test_loop();
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		CHECK(listen_at(&fd, &at, 4, 8));
		p.port = at.port;
		open_gateway(w, &c, &standard);
		peer = -1;
		SPIN(loop, (peer = accept(fd, NULL, NULL)) >= 0);
		send_all(loop, peer, words[i], strlen(words[i]));
		if (words[i][0] == '\0')
			close(peer);
		SPIN(loop, strstr(health(w).why_down, want[i]) != NULL);
		CHECK(!health(w).up);
		close_gateway(w);
		if (words[i][0] != '\0')
			close(peer);
		close(fd);
	}
	loop_free(&loop);
}

/* A burst of one member's counts, none of them answered when the last is sent:
 * what the server keeps of them must not make it slow for all. */
static void
test_burst(void)
{
	struct shared_place p = begin(NULL);
	struct shared_store_config c = config_of(&p, 1);
	struct quota_limits many = standard;
	struct gateway *w = &gateways[0];

	many.requests = 2000;
	c.pending = 4096;
	c.timeout_ms = 6000;
	enter(1, &c, &many);
	for (unsigned i = 0; i < 1800; i++)
		ask(w, 1);
	await_answers(1);
	CHECK_INT(w->passed, 1800);
	CHECK_INT(counted(&server), 1800);
	leave(1);
}

/* A server whose lists never end must not take memory without end, or time. */
static void
test_endless(void)
{
	static const char *const heads[] = {
	    "*1025\r\n", "*1024\r\n", "*2\r\n*1024\r\n"};
	struct shared_place p = {.host = "127.0.0.1"};
	struct shared_store_config c = config_of(&p, 1);
	struct gateway *w = &gateways[0];
	/* Elements of 100 bytes: 1024 of them are more than any answer. */
	char element[] = "+01234567890123456789012345678901234567890123456789"
			 "01234567890123456789012345678901234567890123456\r\n";
	endpoint_t at;
	int fd, peer;

	c.timeout_ms = 2000;
	loop = test_loop();
	for (unsigned i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		CHECK(listen_at(&fd, &at, 4, 8));
		p.port = at.port;
		open_gateway(w, &c, &standard);
		peer = -1;
		SPIN(loop, (peer = accept(fd, NULL, NULL)) >= 0);
		send_all(loop, peer, heads[i], strlen(heads[i]));
		/* One list is too long at its head, the others by what comes,
		 * and before they are whole. */
		for (unsigned n = 0; i > 0 && n < 700; n++)
			if (send(peer, element, sizeof(element) - 1,
				MSG_NOSIGNAL) < 0)
				break;
		SPIN(loop,
		    health(w).why_down[0] != '\0' &&
			strstr(health(w).why_down, "yet") == NULL);
		CHECK(strstr(health(w).why_down, "not understood") != NULL);
		close_gateway(w);
		close(peer);
		close(fd);
	}
	loop_free(&loop);
}

static void
test_places(void)
{
	struct shared_place p;
	const char *why;
	static const char *const bad[] = {"", "redis://", "http://x", "redis:x",
	    "redis://u:p@h", "redis://h:0", "redis://h:65536", "redis://h:x",
	    "redis://h/x", "redis://h/1x", "redis://h?1", "unix:x",
	    "unix:", "unix:/x?db=y", "redis://[::1", "redis://[::1]x",
	    "redis://::1", "redis://a b", "redis://[127.0.0.1]"};

	CHECK_STATUS(shared_place_parse(&p, &why, "redis://h"), ST_OK);
	CHECK(!p.tls && p.port == 6379 && p.database == 0);
	CHECK_STR(p.host, "h");
	CHECK_STATUS(
	    shared_place_parse(&p, &why, "rediss://[2001:db8::1]:7000/3"),
	    ST_OK);
	CHECK(p.tls && p.port == 7000 && p.database == 3);
	CHECK_STR(p.host, "2001:db8::1");
	CHECK_STATUS(
	    shared_place_parse(&p, &why, "redis://10.0.0.1:1/"), ST_OK);
	CHECK(p.port == 1);
	CHECK_STATUS(shared_place_parse(&p, &why, "unix:/a/b?db=2"), ST_OK);
	CHECK_STR(p.path, "/a/b");
	CHECK(p.database == 2 && p.host[0] == '\0');
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (shared_place_parse(&p, &why, bad[i]) == ST_OK)
			test_fail(
			    __FILE__, __LINE__, "\"%s\" is taken", bad[i]);
		CHECK(why[0] != '\0' && p.host[0] == '\0');
	}
}

TESTS({"three gateways, one member, 10,002 at once", test_exact},
    {"the same answers as the gate's own ledger", test_like_local},
    {"killed again and again", test_killed}, {"paused", test_paused},
    {"a count taken back elsewhere", test_taken_back},
    {"commands taken and not answered for a while", test_client_pause},
    {"failed over to a replica", test_failed_over},
    {"its scripts are gone", test_scripts_gone}, {"it is full", test_full},
    {"counting here while it is away", test_fall_back},
    {"gone with requests on the way", test_fall_back_on_the_way},
    {"tunnels of a dead gateway", test_leases},
    {"bytes over two gateways", test_bytes},
    {"gateways that do not belong together", test_strangers},
    {"keys end with their epoch", test_epochs},
    {"user, password, database", test_password}, {"TLS", test_tls},
    {"something else listens there", test_not_redis},
    {"lists without an end", test_endless},
    {"a burst of one member's", test_burst},
    {"how a place is written", test_places}, )
