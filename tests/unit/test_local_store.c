/* Counting through the store: durable before anybody is served, kept over a
 * restart, refused while the disk fails, and forgotten with the epoch. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"
#include "disk.h"
#include "gate_util.h"
#include "harness.h"
#include "store/file.h"
#include "store/local_store.h"

#define DAY 86400
#define EPOCH 20000
#define NOON (UINT64_C(20000) * DAY + DAY / 2)
#define PATH "journal"
#define QUOTA 20

static char folder[64];
static char why[JOURNAL_WHY_MAX];
static struct gate *gate;
static void *memory;
static struct ledger_store *store;
static struct journal_replayed replayed;
static struct gate_grant grant;

/* What has been answered, by slot of the handle. */
static struct {
	bool told;
	enum status status;
	struct gate_tunnel tunnel;
	uint64_t left;
} answers[5000];
static unsigned answered;

static void
on_settled(void *ctx, handle_t who, enum status s, const struct gate_grant *g)
{
	CHECK(ctx == &answers);
	CHECK(who.slot < 5000 && who.generation == 77);
	CHECK(!answers[who.slot].told);
	CHECK(g->tunnel.open == (s == ST_OK));
	answers[who.slot].told = true;
	answers[who.slot].status = s;
	answers[who.slot].tunnel = g->tunnel;
	answers[who.slot].left = g->left.requests;
	answered++;
}

/* Start the gateway's counting as the daemon does. */
static void
start(bool with_journal)
{
	struct gate_config c = small_gate();
	const struct quota_limits limits = {
	    .requests = QUOTA,
	    .tunnels = 1000,
	    .bytes_up = QUOTA_UNLIMITED,
	    .bytes_down = QUOTA_UNLIMITED,
	    .rate = {BUCKET_UNLIMITED, 0},
	};
	struct journal_options o = {.path = PATH, .retry = 50};
	struct journal *journal = NULL;
	struct root root = {.root = {[31] = 1}};

	if (with_journal) {
		journal_identity(o.identity, c.audience.message, &c.epoch);
		CHECK_STATUS(journal_open(&journal, &o, why), ST_OK);
		journal_member_key(c.member_key, journal);
		c.floor = journal_floor(journal);
	}
	gate = calloc(1, sizeof(*gate));
	memory = calloc(1, gate_memory(&c));
	CHECK(gate != NULL && memory != NULL);
	CHECK_STATUS(gate_init(gate, &c, memory), ST_OK);
	CHECK_STATUS(roots_set(&gate->roots, &root, 0), ST_OK);
	gate_set_limits(gate, 0, &limits);
	CHECK_STATUS(local_store_new(&store, &replayed, gate, journal, 1000,
			 on_settled, answers, why),
	    ST_OK);
}

static void
stop(void)
{
	ledger_store_free(&store);
	CHECK(store == NULL);
	gate_clear(gate);
	free(gate);
	free(memory);
}

static void
enter(void)
{
	snprintf(folder, sizeof(folder), "%s/postern-store-XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(folder) != NULL);
	CHECK(chdir(folder) == 0);
}

static void
leave(void)
{
	unlink(PATH);
	unlink(PATH ".lock");
	CHECK(chdir("/") == 0);
	CHECK(rmdir(folder) == 0);
}

/* The ticket that screening gives member N at NOW. */
static struct gate_ticket
ticket_of(uint32_t n, uint32_t epoch, now_t now)
{
	char token[SEMAPHORE_COMPACT_LENGTH + 1];
	struct semaphore_fault fault;
	struct quota_left left;
	struct gate_ticket t;

	make_token(token, n, epoch, 0);
	CHECK_STATUS(
	    gate_screen(gate, &t, &fault, &left, ST_OK, span_str(token), now),
	    ST_OK);
	return t;
}

static enum status
ask(const struct gate_ticket *t, uint32_t slot, now_t now)
{
	return ledger_store_settle(
	    store, &grant, t, VERDICT_ACCEPT, (handle_t){slot, 77}, now);
}

static void
wait_some(int ms)
{
	struct pollfd p = {.fd = ledger_store_fd(store), .events = POLLIN};

	ledger_store_flush(store);
	if (poll(&p, 1, ms) == 1)
		ledger_store_dispatch(store);
}

static void
wait_answered(unsigned n)
{
	for (int i = 0; answered < n; i++) {
		CHECK(i < 1000);
		wait_some(1000);
	}
	CHECK_INT(answered, n);
}

/* Ask once and wait. */
static enum status
count_one(uint32_t n, uint32_t epoch, now_t now)
{
	struct gate_ticket t = ticket_of(n, epoch, now);
	unsigned before = answered;
	enum status s;

	memset(&answers[1], 0, sizeof(answers[1]));
	s = ask(&t, 1, now);
	CHECK(!grant.tunnel.open);
	if (s != ST_OK)
		return s;
	CHECK(!answers[1].told); /* never from inside the call */
	wait_answered(before + 1);
	if (answers[1].status == ST_OK)
		ledger_store_close(store, &answers[1].tunnel);
	return answers[1].status;
}

/* --- cases --- */

/* Fifty circuits at once, for each of ten members. */
static void
race(bool with_journal)
{
	now_t now = at(NOON);
	struct gate_ticket t[10];
	unsigned passed[10] = {0}, taken = 0;

	start(with_journal);
	for (uint32_t m = 0; m < 10; m++)
		t[m] = ticket_of(m, EPOCH, now);
	for (uint32_t i = 0; i < 500; i++) {
		enum status s = ask(&t[i % 10], i + 1, now);
		if (s == ST_OK)
			taken++;
		else
			CHECK_STATUS(s, ST_QUOTA_REQUESTS);
		if (i % 33 == 0)
			wait_some(0);
	}
	wait_answered(taken);
	CHECK_INT(taken, 10 * QUOTA);
	for (uint32_t i = 0; i < 500; i++) {
		if (answers[i + 1].told) {
			CHECK_STATUS(answers[i + 1].status, ST_OK);
			passed[i % 10]++;
		}
	}
	for (unsigned m = 0; m < 10; m++)
		CHECK_INT(passed[m], QUOTA);
	stop();
}

static void
test_race(void)
{
	enter();
	race(true);
	leave();
}

static void
test_race_in_memory(void)
{
	enter();
	race(false);
	CHECK(access(PATH, F_OK) != 0);
	/* And a restart forgets. */
	start(false);
	CHECK_STATUS(count_one(1, EPOCH, at(NOON)), ST_OK);
	CHECK_INT(answers[1].left, QUOTA - 1);
	stop();
	leave();
}

static void
test_restart(void)
{
	now_t now = at(NOON);
	struct gate_ticket t;

	enter();
	start(true);
	for (int i = 0; i < QUOTA - 1; i++)
		CHECK_STATUS(count_one(1, EPOCH, now), ST_OK);
	/* Bytes are known after the tunnel has closed. */
	t = ticket_of(2, EPOCH, now);
	CHECK_STATUS(ask(&t, 2, now), ST_OK);
	wait_answered(answered + 1);
	CHECK_STATUS(
	    ledger_store_add(store, &answers[2].tunnel, 100, 200), ST_OK);
	ledger_store_close(store, &answers[2].tunnel);
	CHECK(!answers[2].tunnel.open);
	stop();

	start(true);
	CHECK(replayed.sealed);
	CHECK(replayed.records >= QUOTA + 1);
	usage_t u;
	CHECK_STATUS(ledger_look(&u, &gate->ledger, &t.member), ST_OK);
	CHECK_INT(u.requests, 1);
	CHECK_INT(u.bytes_up, 100);
	CHECK_INT(u.bytes_down, 200);
	CHECK_INT(u.tunnels, 0);
	CHECK_STATUS(count_one(1, EPOCH, now), ST_OK);
	CHECK_INT(answers[1].left, 0);
	stop();
	leave();
}

/* While the disk fails: a clear refusal, no free pass, no lost quota; then it
 * goes on by itself. */
static void
test_disk_fails(void)
{
	struct ledger_store_health h;
	now_t now = at(NOON);
	int tries = 0;

	enter();
	start(true);
	for (int kind = 0; kind < 2; kind++) {
		uint32_t who = (uint32_t)kind;
		CHECK_STATUS(count_one(who, EPOCH, now), ST_OK);
		CHECK_INT(answers[1].left, QUOTA - 1);
		disk_watch(kind == 0 ? DISK_PWRITE : DISK_FDATASYNC);
		disk_fail(1, INT32_MAX, kind == 0 ? ENOSPC : EIO);
		for (int i = 0; i < 3 * QUOTA; i++)
			CHECK_STATUS(
			    count_one(who, EPOCH, now), ST_JOURNAL_FAILED);
		ledger_store_health(store, &h);
		CHECK_STATUS(h.status, ST_JOURNAL_FAILED);
		CHECK_INT(h.error, kind == 0 ? ENOSPC : EIO);
		for (int i = 0; i < 3; i++) {
			ledger_store_tick(store, now);
			wait_some(60);
		}
		CHECK_STATUS(count_one(who, EPOCH, now), ST_JOURNAL_FAILED);
		disk_fail(0, 0, 0);
		/* Without any request: by the tick. */
		for (tries = 0; tries < 100; tries++) {
			ledger_store_tick(store, now);
			wait_some(10);
			ledger_store_health(store, &h);
			if (h.status == ST_OK)
				break;
			poll(NULL, 0, 10);
		}
		CHECK_STATUS(h.status, ST_OK);
		CHECK_STATUS(count_one(who, EPOCH, now), ST_OK);
		CHECK_INT(answers[1].left, QUOTA - 2);
	}
	CHECK(h.failures >= 4);
	CHECK_INT(h.pending, 0);
	stop();
	start(true);
	for (uint32_t who = 0; who < 2; who++) {
		CHECK_STATUS(count_one(who, EPOCH, now), ST_OK);
		CHECK_INT(answers[1].left, QUOTA - 3);
	}
	stop();
	leave();
}

/* TAG stands in the file. */
static bool
file_has(const uint8_t tag[static MEMBER_TAG])
{
	char *text;
	size_t len;
	bool has;

	CHECK_STATUS(file_load(&text, &len, PATH, 1 << 20, FILE_OWNER), ST_OK);
	has = memmem(text, len, tag, MEMBER_TAG) != NULL;
	free(text);
	return has;
}

/* The epoch ends: its names are gone from the file, those of the next are
 * there; and nobody gets a second quota by a restart or by the clock. */
static void
test_turn(void)
{
	struct ledger_store_health h;
	now_t now = at(NOON + DAY / 2 - 30);
	struct gate_ticket old, new;
	uint8_t nullifier[32] = {0};
	char *text;
	size_t len;

	enter();
	start(true);
	old = ticket_of(1, EPOCH, now);
	new = ticket_of(1, EPOCH + 1, now);
	for (int i = 0; i < QUOTA; i++)
		CHECK_STATUS(count_one(1, EPOCH, now), ST_OK);
	for (int i = 0; i < 5; i++)
		CHECK_STATUS(count_one(1, EPOCH + 1, now), ST_OK);
	ledger_store_tick(store, now);
	CHECK(file_has(old.member.tag) && file_has(new.member.tag));

	/* The grace time, and the hold; then the tick ends it. */
	for (uint64_t t = 0; t <= 700; t += 10) {
		ledger_store_tick(store, at(NOON + DAY / 2 + t));
		wait_some(0);
		ledger_store_health(store, &h);
		CHECK(t < 660 || h.compactions > 0 || h.compacting);
		CHECK(t >= 660 || h.compactions == 0);
	}
	for (int i = 0; h.compactions == 0; i++) {
		CHECK(i < 100);
		wait_some(100);
		ledger_store_health(store, &h);
	}
	CHECK(!file_has(old.member.tag) && file_has(new.member.tag));
	stop();

	start(true);
	CHECK_INT(gate->ledger.floor, EPOCH + 1);
	/* The clock is wrong after the restart: still no second quota. */
	struct semaphore_fault fault;
	struct quota_left left;
	struct gate_ticket t;
	char token[SEMAPHORE_COMPACT_LENGTH + 1];
	make_token(token, 1, EPOCH, 0);
	CHECK_STATUS(gate_screen(gate, &t, &fault, &left, ST_OK,
			 span_str(token), at(NOON)),
	    ST_EPOCH_PAST);
	CHECK_STATUS(count_one(1, EPOCH + 1, at(NOON + DAY / 2 + 900)), ST_OK);
	CHECK_INT(answers[1].left, QUOTA - 6);
	stop();

	/* No nullifier is in the file, of any epoch. */
	CHECK_STATUS(file_load(&text, &len, PATH, 1 << 20, FILE_OWNER), ST_OK);
	store_be32(nullifier + 4, 1);
	CHECK(memmem(text, len, nullifier, 32) == NULL);
	free(text);
	leave();
}

/* The epoch has ended and the machine dies before there is a new file: the end
 * is remembered, and the new file is made after the restart. */
static void
test_turn_without_compaction(void)
{
	const uint64_t over = NOON + DAY / 2 + 700;
	struct ledger_store_health h;
	struct gate_ticket old;
	now_t now = at(NOON);

	enter();
	start(true);
	old = ticket_of(1, EPOCH, now);
	for (int i = 0; i < QUOTA; i++)
		CHECK_STATUS(count_one(1, EPOCH, now), ST_OK);
	disk_watch(DISK_RENAME);
	disk_fail(1, INT32_MAX, EIO);
	for (uint64_t t = 0; t < 100; t++) {
		ledger_store_tick(store, at(over + t));
		wait_some(0);
	}
	CHECK_INT(gate->ledger.floor, EPOCH + 1);
	stop();
	CHECK(file_has(old.member.tag));
	disk_fail(0, 0, 0);

	start(true);
	CHECK_INT(gate->ledger.floor, EPOCH + 1);
	usage_t u;
	CHECK_STATUS(
	    ledger_look(&u, &gate->ledger, &old.member), ST_EPOCH_PAST);
	for (int i = 0; i < 100; i++) {
		ledger_store_tick(store, at(over + 200));
		wait_some(10);
		ledger_store_health(store, &h);
		if (h.compactions > 0)
			break;
	}
	CHECK_INT(h.compactions, 1);
	CHECK(!file_has(old.member.tag));
	stop();
	leave();
}

/* Member N of the next epoch, known to nobody but the ledger. */
static member_t
silent_member(uint32_t n)
{
	member_t m = {.epoch = EPOCH + 1};

	store_be32(m.tag, n * UINT32_C(2654435761)); /* odd: a bijection */
	return m;
}

/* A ledger of many parts is written whole, though the writer is behind. */
static void
test_compacts_all(void)
{
	const uint32_t members = 20000;
	const uint64_t over = NOON + DAY / 2 + 700;
	struct ledger_store_health h;
	usage_t u = {0};

	enter();
	start(true);
	CHECK_STATUS(count_one(1, EPOCH, at(NOON)), ST_OK);
	for (uint32_t i = 0; i < members; i++) {
		member_t m = silent_member(i);
		u.requests = i + 1;
		CHECK_STATUS(ledger_keep(&gate->ledger, &m, &u), ST_OK);
	}
	ledger_store_tick(store, at(over));
	ledger_store_tick(store, at(over + 60));
	do {
		wait_some(1000);
		ledger_store_health(store, &h);
	} while (h.compacting);
	CHECK_INT(h.compactions, 1);
	CHECK_INT(h.records, members);
	stop();
	start(true);
	for (uint32_t i = 0; i < members; i++) {
		member_t m = silent_member(i);
		CHECK_STATUS(ledger_look(&u, &gate->ledger, &m), ST_OK);
		CHECK_INT(u.requests, i + 1);
	}
	stop();
	leave();
}

/* Bytes are noted as a tunnel goes on, and while the disk fails they are kept
 * for later: when it is well the whole ledger is written. */
static void
test_bytes_are_noted(void)
{
	struct ledger_store_health h;
	struct gate_ticket t;
	now_t now = at(NOON);
	usage_t u;

	enter();
	start(true);
	t = ticket_of(1, EPOCH, now);
	CHECK_STATUS(ask(&t, 2, now), ST_OK);
	wait_answered(1);
	for (int i = 0; i < 3; i++)
		CHECK_STATUS(ledger_store_add(
				 store, &answers[2].tunnel, 1, GATE_NOTE_BYTES),
		    ST_OK);
	for (int i = 0; i < 100; i++) {
		wait_some(10);
		ledger_store_health(store, &h);
		if (h.records == 4)
			break;
	}
	CHECK_INT(h.records, 4); /* the count and three notes */

	disk_watch(DISK_PWRITE);
	disk_fail(1, INT32_MAX, ENOSPC);
	CHECK_STATUS(count_one(2, EPOCH, now), ST_JOURNAL_FAILED);
	CHECK_STATUS(ledger_store_add(store, &answers[2].tunnel, 5, 7), ST_OK);
	ledger_store_close(store, &answers[2].tunnel);
	disk_fail(0, 0, 0);
	for (int i = 0; i < 100; i++) {
		ledger_store_tick(store, now);
		wait_some(10);
		ledger_store_health(store, &h);
		if (h.compactions > 0)
			break;
	}
	CHECK_INT(h.compactions, 1);
	stop();
	start(true);
	CHECK_STATUS(ledger_look(&u, &gate->ledger, &t.member), ST_OK);
	CHECK_INT(u.bytes_up, 8);
	CHECK_INT(u.bytes_down, 3 * GATE_NOTE_BYTES + 7);
	stop();
	leave();
}

/* A full journal is written anew by itself, under traffic, and has the same
 * counts afterwards. */
static void
test_compacts_itself(void)
{
	struct ledger_store_health h;
	now_t now = at(NOON);
	uint32_t rounds = 0;

	enter();
	start(true);
	struct quota_limits many = gate->limits[0];
	many.requests = QUOTA_UNLIMITED;
	gate_set_limits(gate, 0, &many);
	static struct gate_ticket t[100];
	for (uint32_t m = 0; m < 100; m++)
		t[m] = ticket_of(m, EPOCH, now);
	do {
		memset(answers, 0, sizeof(answers));
		unsigned before = answered;
		for (uint32_t m = 0; m < 900; m++)
			CHECK_STATUS(ask(&t[m % 100], m + 1, now), ST_OK);
		wait_answered(before + 900);
		for (uint32_t m = 0; m < 900; m++)
			ledger_store_close(store, &answers[m + 1].tunnel);
		rounds++;
		ledger_store_tick(store, now);
		ledger_store_health(store, &h);
		CHECK(rounds < 200);
	} while (h.compactions < 2);
	CHECK(h.records < 70000);
	stop();
	start(true);
	for (uint32_t m = 0; m < 100; m++) {
		usage_t u;
		CHECK_STATUS(
		    ledger_look(&u, &gate->ledger, &t[m].member), ST_OK);
		CHECK_INT(u.requests, 9 * rounds);
	}
	stop();
	leave();
}

/* More answers outstanding than there may be: a refusal, nothing counted. */
static void
test_overload(void)
{
	now_t now = at(NOON);
	unsigned taken = 0;
	enum status s = ST_OK;

	enter();
	start(true);
	struct quota_limits many = gate->limits[0];
	many.requests = QUOTA_UNLIMITED;
	many.tunnels = QUOTA_UNLIMITED;
	gate_set_limits(gate, 0, &many);
	struct gate_ticket t = ticket_of(1, EPOCH, now);
	for (uint32_t i = 1; s == ST_OK; i++) {
		s = ask(&t, i, now);
		taken += s == ST_OK;
	}
	CHECK_STATUS(s, ST_OVERLOADED);
	CHECK_INT(taken, 1000);
	wait_answered(1000);
	usage_t u;
	CHECK_STATUS(ledger_look(&u, &gate->ledger, &t.member), ST_OK);
	CHECK_INT(u.requests, 1000);
	CHECK_INT(u.tunnels, 1000);
	/* The end gives the answers that are still to come. */
	memset(answers, 0, sizeof(answers));
	answered = 0;
	for (uint32_t i = 1; i <= 300; i++)
		CHECK_STATUS(ask(&t, i, now), ST_OK);
	stop();
	CHECK_INT(answered, 300);
	leave();
}

/* A journal that holds more than the ledger may. */
static void
test_too_small(void)
{
	now_t now = at(NOON);

	enter();
	start(true);
	CHECK_STATUS(count_one(1, EPOCH, now), ST_OK);
	stop();

	struct gate_config c = {
	    .epoch = {.length = DAY, .slots = 1},
	    .ledger_chunks = 1,
	    .memory = heap_chunks,
	    .roots = 2 * ROOT_GROUPS_MAX,
	    .cached = 1,
	    .checks = 1,
	    .sessions = 1,
	};
	struct journal_options o = {.path = PATH};
	struct journal *journal;
	journal_identity(o.identity, c.audience.message, &c.epoch);
	CHECK_STATUS(journal_open(&journal, &o, why), ST_OK);
	gate = calloc(1, sizeof(*gate));
	memory = calloc(1, gate_memory(&c));
	CHECK_STATUS(gate_init(gate, &c, memory), ST_OK);
	gate->ledger.chunks_max = 0;
	CHECK_STATUS(local_store_new(&store, &replayed, gate, journal, 10,
			 on_settled, answers, why),
	    ST_LEDGER_FULL);
	CHECK(strstr(why, "raise the limit") != NULL);
	CHECK(store == NULL);
	gate_clear(gate);
	free(gate);
	free(memory);
	/* It was closed, unlocked and not touched. */
	start(true);
	CHECK_STATUS(count_one(1, EPOCH, now), ST_OK);
	CHECK_INT(answers[1].left, QUOTA - 2);
	stop();
	leave();
}

TESTS({"store: not one more than the quota", test_race},
    {"store: the same in memory only", test_race_in_memory},
    {"store: counts survive a restart", test_restart},
    {"store: a disk that fails, and recovers", test_disk_fails},
    {"store: the turn of an epoch", test_turn},
    {"store: an end that is not yet compacted", test_turn_without_compaction},
    {"store: a ledger of many parts", test_compacts_all},
    {"store: bytes are noted", test_bytes_are_noted},
    {"store: compacts itself", test_compacts_itself},
    {"store: overload", test_overload},
    {"store: a ledger too small for its journal", test_too_small})
