/* The ledger: against a naive model, at size, over epochs, out of memory. */
#include <stdlib.h>

#include "base/bytes.h"
#include "gate/ledger.h"
#include "harness.h"

#define HOLD 1000

/* Chunks from malloc, with a ceiling and a count. */
struct bank {
	size_t out, peak, limit;
};

static void *
bank_take(void *ctx)
{
	struct bank *b = ctx;
	void *chunk;

	if (b->out == b->limit)
		return NULL;
	CHECK(posix_memalign(&chunk, 64, LEDGER_CHUNK) == 0);
	memset(chunk, 0, LEDGER_CHUNK);
	if (++b->out > b->peak)
		b->peak = b->out;
	return chunk;
}

static void
bank_give(void *ctx, void *chunk)
{
	struct bank *b = ctx;

	CHECK(b->out > 0);
	b->out--;
	free(chunk);
}

static struct ledger ledger; /* 128 KiB: not on the stack */
static struct bank bank;

static void
open_ledger(size_t chunks)
{
	const struct ledger_memory memory = {bank_take, bank_give, &bank};

	bank = (struct bank){.limit = SIZE_MAX};
	ledger_init(&ledger, &memory, chunks, HOLD, 0);
}

static void
close_ledger(void)
{
	ledger_clear(&ledger);
	CHECK_INT(bank.out, 0);
	CHECK_INT(ledger.chunks, 0);
}

/* Member N of EPOCH, with a tag as uniform as a real one. */
static member_t
member(uint64_t epoch, uint64_t n)
{
	static const uint8_t key[MEMBER_KEY] = {42};
	uint8_t nullifier[32] = {0};
	member_t m;

	store_be64(nullifier, n);
	member_name(&m, key, epoch, 0, nullifier);
	return m;
}

/* The same at a tenth of the price: splitmix64, a bijection. */
static member_t
quick_member(uint64_t epoch, uint64_t n)
{
	member_t m = {.epoch = epoch};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t z = (2 * n + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		store_le64(m.tag + 8 * i, z ^ z >> 31);
	}
	return m;
}

static usage_t
look(const member_t *m)
{
	usage_t u;

	CHECK_STATUS(ledger_look(&u, &ledger, m), ST_OK);
	return u;
}

static void
keep(const member_t *m, uint32_t requests)
{
	usage_t u = look(m);

	u.requests = requests;
	CHECK_STATUS(ledger_keep(&ledger, m, &u), ST_OK);
}

/* --- cases --- */

static void
test_names(void)
{
	uint8_t key[MEMBER_KEY] = {1}, nullifier[32] = {2};
	member_t a, b;

	member_name(&a, key, 5, 3, nullifier);
	member_name(&b, key, 5, 3, nullifier);
	CHECK_MEM(&a, &b, sizeof(a));
	CHECK_INT(a.epoch, 5);
	/* Every input is part of the name. */
	member_name(&b, key, 6, 3, nullifier);
	CHECK(memcmp(a.tag, b.tag, MEMBER_TAG) != 0);
	member_name(&b, key, 5, 4, nullifier);
	CHECK(memcmp(a.tag, b.tag, MEMBER_TAG) != 0);
	nullifier[31] ^= 1;
	member_name(&b, key, 5, 3, nullifier);
	CHECK(memcmp(a.tag, b.tag, MEMBER_TAG) != 0);
	nullifier[31] ^= 1;
	key[31] ^= 1;
	member_name(&b, key, 5, 3, nullifier);
	CHECK(memcmp(a.tag, b.tag, MEMBER_TAG) != 0);
}

/* All fields at their largest come back as they went in. */
static void
test_fields(void)
{
	member_t m = member(1, 1);
	usage_t u = {
	    .requests = USAGE_REQUESTS_MAX,
	    .tunnels = USAGE_TUNNELS_MAX,
	    .bytes_up = USAGE_BYTES_MAX,
	    .bytes_down = USAGE_BYTES_MAX - 1,
	    .full_at = UINT64_C(0x123456789abc),
	};
	usage_t got;

	open_ledger(10);
	CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_OK);
	got = look(&m);
	CHECK_INT(got.requests, u.requests);
	CHECK_INT(got.tunnels, u.tunnels);
	CHECK_INT(got.bytes_up, u.bytes_up);
	CHECK_INT(got.bytes_down, u.bytes_down);
	CHECK_INT(got.full_at, u.full_at);

	/* A record brings counts, and neither tunnels nor a bucket. */
	struct ledger_record r = {member(1, 2), 7, 8, 9};
	CHECK_STATUS(ledger_restore(&ledger, &r), ST_OK);
	got = look(&r.member);
	CHECK_INT(got.requests, 7);
	CHECK_INT(got.bytes_up, 8);
	CHECK_INT(got.bytes_down, 9);
	CHECK_INT(got.tunnels, 0);
	CHECK_INT(got.full_at, 0);
	close_ledger();
}

#define MODEL_MEMBERS 5000
#define MODEL_EPOCHS 3

struct model {
	uint32_t requests;
	uint64_t up, down;
};

/* A walk shows each member that the model has, with its latest counts. */
static void
check_walk(struct model model[MODEL_EPOCHS][MODEL_MEMBERS], uint64_t base)
{
	static struct ledger_record records[LEDGER_WALK_MIN];
	static uint8_t seen[MODEL_EPOCHS][MODEL_MEMBERS];
	struct ledger_cursor c = {0};
	size_t n, expected = 0, found = 0;

	memset(seen, 0, sizeof(seen));
	while (!c.done) {
		ledger_walk(records, &n, LEDGER_WALK_MIN, &c, &ledger);
		for (size_t i = 0; i < n; i++) {
			const struct ledger_record *r = &records[i];
			uint64_t e = r->member.epoch - base;
			CHECK(e < MODEL_EPOCHS);
			found++;
			/* Which member it is the model does not know; its
			 * request count was made unique. */
			uint32_t who = r->requests / 1000;
			CHECK(who < MODEL_MEMBERS);
			CHECK(!seen[e][who]);
			seen[e][who] = 1;
			CHECK_INT(r->requests, model[e][who].requests);
			CHECK(r->bytes_up == model[e][who].up);
			CHECK(r->bytes_down == model[e][who].down);
		}
	}
	for (unsigned e = 0; e < MODEL_EPOCHS; e++) {
		for (unsigned i = 0; i < MODEL_MEMBERS; i++)
			expected += model[e][i].requests != 0;
	}
	CHECK_INT(found, expected);
}

/* 10^5 random operations over three live epochs, against plain arrays. */
static void
test_model(void)
{
	static struct model model[MODEL_EPOCHS][MODEL_MEMBERS];
	uint64_t base = 100;

	open_ledger(30);
	for (int step = 0; step < 100000; step++) {
		unsigned e = (unsigned)(test_random() % MODEL_EPOCHS);
		unsigned i = (unsigned)(test_random() % MODEL_MEMBERS);
		struct model *want = &model[e][i];
		member_t m = quick_member(base + e, i);
		usage_t u = look(&m);
		CHECK_INT(u.requests, want->requests);
		CHECK(u.bytes_up == want->up && u.bytes_down == want->down);
		if (want->requests == 0)
			want->requests = i * 1000;
		if (want->requests % 1000 < 999)
			want->requests++;
		want->up += test_random() % 5000;
		want->down += test_random() % 100000;
		u.requests = want->requests;
		u.bytes_up = want->up;
		u.bytes_down = want->down;
		CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_OK);
	}
	check_walk(model, base);
	/* One epoch ends; the others are as they were. */
	ledger_close(&ledger, base, base + 1);
	while (ledger_tidy(&ledger, 1))
		;
	memset(model[0], 0, sizeof(model[0]));
	check_walk(model, base);
	close_ledger();
}

/* Average and longest look-up over STEP members of N, in buckets visited. */
static void
measure(uint64_t n, uint64_t step, double *average, unsigned *longest)
{
	uint64_t sum = 0, looked = 0;

	*longest = 0;
	for (uint64_t i = 0; i < n; i += step) {
		member_t m = quick_member(9, i);
		unsigned probes = ledger_probes(&ledger, &m);
		CHECK_INT(look(&m).requests, i % 1000 + 1);
		sum += probes;
		looked++;
		if (probes > *longest)
			*longest = probes;
	}
	*average = (double)sum / (double)looked;
}

/* Three million members (or LEDGER_ENTRIES in the environment): a look-up
 * visits as many buckets as in a small table, at every size on the way. */
static void
test_flat(void)
{
	const char *given = getenv("LEDGER_ENTRIES");
	uint64_t entries = given != NULL ? strtoull(given, NULL, 0) : 3000000;
	uint64_t next = 30000, n = 0;
	double average;
	unsigned longest;
	struct ledger_stats stats;

	open_ledger(ledger_chunks(entries));
	for (; n < entries; n++) {
		member_t m = quick_member(9, n);
		usage_t u = {.requests = (uint32_t)(n % 1000) + 1};
		CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_OK);
		if (n + 1 < next)
			continue;
		measure(n + 1, (n + 1) / 30000, &average, &longest);
		CHECK(average < 1.6);
		CHECK(longest <= 6);
		next = next * 13 / 10;
	}
	measure(n, 7, &average, &longest);
	ledger_stats(&stats, &ledger);
	CHECK_INT(stats.entries, entries);
	printf("    %llu entries: %.2f buckets a look-up, %u at most, "
	       "%.1f bytes an entry\n",
	    (unsigned long long)entries, average, longest,
	    (double)bank.out * (double)LEDGER_CHUNK / (double)entries);
	CHECK(average < 1.6);
	CHECK(longest <= 6);
	CHECK((double)bank.out * (double)LEDGER_CHUNK <
	    80.0 * (double)entries + 4.0 * (double)LEDGER_CHUNK);
	close_ledger();
}

/* As many entries as were asked for find room, for any number. */
static void
test_room(void)
{
	static const uint64_t sizes[] = {
	    1, 100, 24575, 24577, 50000, 100000, 131072, 200000, 299999};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		open_ledger(ledger_chunks(sizes[i]));
		for (uint64_t n = 0; n < 2 * sizes[i]; n++) {
			member_t m = quick_member(7 + n % 2, n / 2);
			keep(&m, 1);
		}
		close_ledger();
	}
}

/* No memory: new members are refused, those who are there are counted on, and
 * nothing is lost; when there is memory again, it goes on. */
static void
test_full(void)
{
	uint64_t n = 0;
	usage_t u = {.requests = 1};
	member_t m;
	enum status s;

	open_ledger(1000);
	bank.limit = 2;
	for (;; n++) {
		m = quick_member(5, n);
		if ((s = ledger_keep(&ledger, &m, &u)) != ST_OK)
			break;
	}
	CHECK_STATUS(s, ST_LEDGER_FULL);
	CHECK(n > 2 * 4096 * 3); /* at least half of the room was used */
	CHECK_INT(look(&m).requests, 0);
	for (uint64_t i = 0; i < n; i++) {
		m = quick_member(5, i);
		CHECK_INT(look(&m).requests, 1);
		keep(&m, 2);
	}
	/* Neither is there room for another epoch. */
	m = quick_member(6, 0);
	CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_LEDGER_FULL);
	CHECK_INT(look(&m).requests, 0);

	bank.limit = SIZE_MAX;
	for (uint64_t i = n; i < 2 * n; i++) {
		m = quick_member(5, i);
		CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_OK);
	}
	for (uint64_t i = 0; i < 2 * n; i++) {
		m = quick_member(5, i);
		CHECK_INT(look(&m).requests, i < n ? 2 : 1);
	}
	close_ledger();
}

/* An epoch may take half of the ceiling: when it is full, the next one is not.
 */
static void
test_share(void)
{
	usage_t u = {.requests = 1};
	member_t m;
	uint64_t n = 0;

	open_ledger(8);
	do
		m = quick_member(1, n++);
	while (ledger_keep(&ledger, &m, &u) == ST_OK);
	CHECK_INT(bank.out, 4);
	for (uint64_t i = 0; i < n / 2; i++) {
		m = quick_member(2, i);
		CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_OK);
	}
	close_ledger();
}

static bool
turn(uint64_t first, uint64_t last, uint64_t mono, uint64_t want)
{
	uint64_t closed;
	bool did = ledger_turn(&ledger, &closed, first, last, mono);

	CHECK_INT(closed, want);
	return did;
}

/* An epoch ends: not at once, and then for good. */
static void
test_turn(void)
{
	member_t old = member(10, 1), new = member(11, 1);
	usage_t u = {.requests = 5};

	open_ledger(10);
	keep(&old, 5);
	CHECK(!turn(10, 10, 0, 0));
	keep(&new, 6);
	CHECK(!turn(10, 11, 100000, 0)); /* grace */
	CHECK(!turn(11, 11, 200000, 0)); /* out of reach from here */
	CHECK(!turn(11, 11, 200000 + HOLD - 1, 0));
	CHECK_INT(look(&old).requests, 5);
	CHECK(turn(11, 11, 200000 + HOLD, 10));
	CHECK(!turn(11, 11, 200000 + HOLD, 0));
	CHECK_STATUS(ledger_look(&u, &ledger, &old), ST_EPOCH_PAST);
	CHECK_STATUS(ledger_keep(&ledger, &old, &u), ST_EPOCH_PAST);
	CHECK_INT(ledger.floor, 11);
	CHECK_INT(look(&new).requests, 6);
	CHECK_INT(bank.out, 2);
	CHECK(!ledger_tidy(&ledger, 10));
	CHECK_INT(bank.out, 1);
	/* A record of it in a journal is not wanted any more, and no error. */
	struct ledger_record r = {old, 7, 8, 9};
	CHECK_STATUS(ledger_restore(&ledger, &r), ST_OK);
	CHECK_INT(bank.out, 1);
	close_ledger();
}

/* The calendar jumps a day forward and back: all counts are there again, those
 * of the day that was not yet as well when it comes. */
static void
test_clock_jumps(void)
{
	member_t today = member(10, 1), tomorrow = member(11, 1);
	member_t far = member(400, 1);

	open_ledger(10);
	keep(&today, 5);
	CHECK(!turn(11, 11, 1000, 0)); /* forward ... */
	keep(&tomorrow, 3);
	CHECK(!turn(11, 11, 1000 + HOLD - 1, 0));
	CHECK(!turn(10, 10, 1000 + HOLD, 0)); /* ... and back */
	CHECK_INT(look(&today).requests, 5);
	CHECK(!turn(10, 10, 1000 + 50 * HOLD, 0));
	CHECK(!turn(10, 11, 1000 + 99 * HOLD, 0));
	CHECK_INT(look(&tomorrow).requests, 3);
	/* Again: the time out of reach is not added up. */
	CHECK(!turn(11, 11, 200000, 0));
	CHECK(!turn(11, 11, 200000 + HOLD / 2, 0));
	CHECK(!turn(10, 10, 200000 + HOLD / 2 + 1, 0));
	CHECK(!turn(11, 11, 200000 + HOLD, 0));
	CHECK(!turn(11, 11, 200000 + 2 * HOLD - 1, 0));

	/* A year ahead, or decades back: nothing of today goes. */
	CHECK(!turn(10, 10, 300000, 0));
	keep(&far, 1);
	CHECK(!turn(0, 0, 300001, 0));
	CHECK(!turn(0, 0, 300001 + 9 * HOLD, 0));
	CHECK(!turn(10, 10, 320000, 0));
	CHECK(!turn(10, 10, 320000 + 9 * HOLD, 0));
	CHECK_INT(ledger.floor, 0);
	CHECK_INT(look(&today).requests, 5);
	CHECK_INT(look(&tomorrow).requests, 3);
	CHECK_INT(look(&far).requests, 1);

	/* Ahead for longer than the hold: today is over for good, no second
	 * quota when the clock is right again. */
	CHECK(!turn(11, 11, 400000, 0));
	CHECK(turn(11, 11, 400000 + HOLD, 10));
	usage_t u;
	CHECK_STATUS(ledger_look(&u, &ledger, &today), ST_EPOCH_PAST);
	CHECK_INT(look(&tomorrow).requests, 3);
	close_ledger();
}

/* More epochs than there may be (a clock gone mad): refused, not forgotten;
 * the one farthest ahead makes room when it has been out of reach. */
static void
test_epochs_bounded(void)
{
	usage_t u = {.requests = 1};
	member_t today = member(10, 1), farthest = member(900, 1), m;

	open_ledger(100);
	keep(&today, 1);
	keep(&farthest, 1);
	for (uint64_t e = 2; e < LEDGER_EPOCHS; e++) {
		m = member(100 * e, 1);
		keep(&m, 1);
	}
	m = member(11, 1);
	CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_LEDGER_FULL);
	CHECK(!turn(10, 11, 5000, 0));
	CHECK(!turn(10, 11, 5000 + HOLD - 1, 0));
	CHECK(turn(10, 11, 5000 + HOLD, 900));
	CHECK_INT(ledger.floor, 0);
	CHECK_INT(look(&today).requests, 1);
	CHECK_INT(look(&farthest).requests, 0);
	/* One is enough. */
	CHECK(!turn(10, 11, 5000 + HOLD, 0));
	/* What is not yet given back still takes its place. */
	CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_LEDGER_FULL);
	CHECK(!ledger_tidy(&ledger, 100));
	CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_OK);
	/* Today is over: it goes first, when its time has come. */
	CHECK(turn(11, 11, 9000, 700));
	CHECK(!ledger_tidy(&ledger, 100));
	m = member(1000, 1);
	keep(&m, 1);
	CHECK(turn(11, 11, 9000 + HOLD, 10));
	CHECK_INT(ledger.floor, 11);
	close_ledger();
}

/* Many epochs one after the other (LEDGER_EACH members in each): memory stays
 * what two of them need, and returns. */
static void
test_many_epochs(void)
{
	const char *given = getenv("LEDGER_EACH");
	const uint64_t each = given != NULL ? strtoull(given, NULL, 0) : 60000;
	const uint64_t epochs = 24;
	unsigned longest;
	uint64_t closed;

	open_ledger(ledger_chunks(each));
	for (uint64_t e = 0; e < epochs; e++) {
		for (uint64_t i = 0; i < each; i++) {
			member_t m = quick_member(e, i);
			usage_t u = {.requests = 1};
			CHECK_STATUS(ledger_keep(&ledger, &m, &u), ST_OK);
		}
		longest = 0;
		for (uint64_t i = 0; i < each; i += 10) {
			member_t m = quick_member(e, i);
			unsigned probes = ledger_probes(&ledger, &m);
			longest = probes > longest ? probes : longest;
		}
		CHECK(longest <= 6);
		(void)ledger_turn(&ledger, &closed, e, e, e * 10 * HOLD);
		(void)ledger_turn(&ledger, &closed, e, e, e * 10 * HOLD + HOLD);
		CHECK(e == 0 || closed == e - 1);
		while (ledger_tidy(&ledger, 2))
			;
		CHECK(bank.out <= ledger_chunks(each) / 2);
	}
	printf("    %llu entries in %llu epochs, at most %zu MiB\n",
	    (unsigned long long)(each * epochs), (unsigned long long)epochs,
	    bank.peak);
	CHECK(bank.peak <= ledger_chunks(each));
	struct ledger_stats stats;
	ledger_stats(&stats, &ledger);
	CHECK_INT(stats.epochs, 1);
	CHECK_INT(stats.entries, each);
	close_ledger();
}

/* Counting goes on during a walk, the table grows, and nobody is missed. */
static void
test_walk_while_growing(void)
{
	static struct ledger_record records[LEDGER_WALK_MIN];
	const uint64_t before = 40000, after = 200000;
	uint8_t *seen = calloc(1, before);
	struct ledger_cursor c = {0};
	uint64_t n = 0, walked = 0;
	size_t got;

	CHECK(seen != NULL);
	open_ledger(ledger_chunks(after));
	for (; n < before; n++) {
		member_t m = quick_member(3, n);
		keep(&m, (uint32_t)n + 1);
	}
	while (!c.done) {
		ledger_walk(records, &got, LEDGER_WALK_MIN, &c, &ledger);
		walked += got;
		for (size_t i = 0; i < got; i++) {
			if (records[i].requests <= before)
				seen[records[i].requests - 1] = 1;
		}
		for (int i = 0; i < 1500 && n < after; i++, n++) {
			member_t m = quick_member(3, n);
			keep(&m, (uint32_t)n + 1);
		}
	}
	CHECK_INT(n, after); /* it did grow in the meantime */
	for (uint64_t i = 0; i < before; i++)
		CHECK(seen[i]);
	CHECK(walked >= before);
	free(seen);
	close_ledger();
}

TESTS({"ledger: names", test_names}, {"ledger: fields", test_fields},
    {"ledger: against a model", test_model},
    {"ledger: flat at every size", test_flat},
    {"ledger: room for what was asked", test_room},
    {"ledger: out of memory", test_full},
    {"ledger: one epoch leaves room for the next", test_share},
    {"ledger: the turn of an epoch", test_turn},
    {"ledger: a clock that jumps", test_clock_jumps},
    {"ledger: epochs are bounded", test_epochs_bounded},
    {"ledger: memory returns", test_many_epochs},
    {"ledger: a walk while it grows", test_walk_while_growing})
