/* What a member may use, and of which group it is: buckets, quotas, roots. */
#include <stdlib.h>

#include "base/bytes.h"
#include "gate/bucket.h"
#include "gate/quota.h"
#include "gate/roots.h"
#include "harness.h"

#define DAY 86400
static const uint8_t hash_key[LRU_HASH_KEY] = {1, 2, 3};

static now_t
at(uint64_t wall, uint64_t mono)
{
	return (now_t){.wall = wall, .mono = mono};
}

/* --- the bucket and the quota --- */

static void
test_bucket(void)
{
	const bucket_rate_t seven = {7, 60000};
	uint64_t b = 0, mono = 123456;

	/* A full bucket gives exactly its count at once ... */
	for (int i = 0; i < 7; i++) {
		CHECK_INT(bucket_wait(b, &seven, mono), 0);
		b = bucket_take(b, &seven, mono);
	}
	/* ... and then one each 60/7 s. */
	CHECK_INT(bucket_wait(b, &seven, mono), 8571429);
	CHECK_INT(bucket_seconds(8571429), 9);
	CHECK(bucket_wait(b, &seven, mono + 8571) > 0);
	CHECK_INT(bucket_wait(b, &seven, mono + 8572), 0);

	/* Over a long time never more than burst + rate * time, and all of
	 * that to whoever always asks. */
	uint64_t taken = 0, until = mono + 3600 * 1000;
	for (; mono < until; mono += 10) {
		if (bucket_wait(b, &seven, mono) == 0) {
			b = bucket_take(b, &seven, mono);
			taken++;
		}
	}
	CHECK_INT(taken, 7 * 60 - 1);

	const bucket_rate_t none = {0, 1000}, all = {BUCKET_UNLIMITED, 0};
	CHECK(bucket_wait(0, &none, mono) == BUCKET_NEVER);
	CHECK_INT(bucket_wait(UINT64_MAX, &all, mono), 0);
	CHECK_INT(bucket_take(5, &all, mono), 5);
	/* Absurd values overflow nothing. */
	const bucket_rate_t huge = {UINT64_MAX - 1, UINT64_MAX};
	b = bucket_take(0, &huge, mono);
	CHECK_INT(bucket_wait(b, &huge, mono), 0);
	const bucket_rate_t slow = {1, UINT64_MAX};
	b = bucket_take(0, &slow, mono);
	CHECK(bucket_wait(b, &slow, mono) > UINT64_C(900000000) * 1000000);
	/* A shorter period at a reload: the wait is that of an empty bucket. */
	CHECK_INT(bucket_wait(b, &seven, mono), 8571429);
}

static const struct quota_limits roomy = {
    .requests = QUOTA_UNLIMITED,
    .tunnels = QUOTA_UNLIMITED,
    .bytes_up = QUOTA_UNLIMITED,
    .bytes_down = QUOTA_UNLIMITED,
    .rate = {BUCKET_UNLIMITED, 0},
};

static void
test_quota(void)
{
	struct quota_limits l = roomy;
	struct quota_left left;
	usage_t u = {0};
	now_t now = at(1000, 5000);

	l.requests = 3;
	for (int i = 0; i < 3; i++) {
		CHECK_STATUS(quota_look(&u, &l, now), ST_OK);
		CHECK_STATUS(quota_count(&u, &l, now), ST_OK);
	}
	usage_t before = u;
	CHECK_STATUS(quota_look(&u, &l, now), ST_QUOTA_REQUESTS);
	CHECK_STATUS(quota_count(&u, &l, now), ST_QUOTA_REQUESTS);
	CHECK_MEM(&u, &before, sizeof(u));
	quota_left(&left, &u, &l, 1500, now, ST_QUOTA_REQUESTS);
	CHECK_INT(left.requests, 0);
	CHECK(left.tunnels == QUOTA_UNLIMITED);
	CHECK_INT(left.reset, 500);
	CHECK_INT(left.retry, 500);
	/* In the grace time the next epoch has begun: try at once. */
	quota_left(&left, &u, &l, 900, now, ST_QUOTA_REQUESTS);
	CHECK_INT(left.reset, 0);
	CHECK_INT(left.retry, 0);
	quota_uncount(&u, &l);
	CHECK_STATUS(quota_count(&u, &l, now), ST_OK);

	l = roomy;
	l.tunnels = 3;
	CHECK_STATUS(quota_count(&u, &l, now), ST_QUOTA_TUNNELS);
	quota_left(&left, &u, &l, 1500, now, ST_QUOTA_TUNNELS);
	CHECK_INT(left.retry, QUOTA_TUNNELS_RETRY);
	quota_close(&u);
	CHECK_STATUS(quota_count(&u, &l, now), ST_OK);

	l = roomy;
	l.bytes_up = 100;
	CHECK_STATUS(quota_add_bytes(&u, &l, 100, 9999), ST_OK);
	CHECK_STATUS(quota_count(&u, &l, now), ST_QUOTA_BYTES);
	CHECK_STATUS(quota_add_bytes(&u, &l, 1, 0), ST_QUOTA_BYTES);
	quota_left(&left, &u, &l, 1500, now, ST_OK);
	CHECK_INT(left.bytes_up, 0);
	l = roomy;
	l.bytes_down = 10000;
	CHECK_STATUS(quota_add_bytes(&u, &l, 0, 1), ST_OK);
	CHECK_STATUS(quota_count(&u, &l, now), ST_QUOTA_BYTES);

	l = roomy;
	l.rate = (bucket_rate_t){2, 10000};
	u = (usage_t){0};
	CHECK_STATUS(quota_count(&u, &l, now), ST_OK);
	CHECK_STATUS(quota_count(&u, &l, now), ST_OK);
	CHECK_STATUS(quota_count(&u, &l, now), ST_QUOTA_RATE);
	quota_left(&left, &u, &l, 1500, now, ST_QUOTA_RATE);
	CHECK_INT(left.retry, 5);
	/* What did not pass took nothing of the rate. */
	quota_uncount(&u, &l);
	CHECK_STATUS(quota_count(&u, &l, now), ST_OK);
	CHECK_STATUS(quota_count(&u, &l, now), ST_QUOTA_RATE);
	CHECK_INT(u.requests, 2);
	/* The calendar does not fill a bucket, the steady clock does. */
	CHECK_STATUS(quota_count(&u, &l, at(1000 + DAY, 5000)), ST_QUOTA_RATE);
	CHECK_STATUS(quota_count(&u, &l, at(1000 - 500, 10000)), ST_OK);

	/* Zero is a limit. */
	for (unsigned i = 0; i < 5; i++) {
		static const enum status want[] = {ST_QUOTA_REQUESTS,
		    ST_QUOTA_TUNNELS, ST_QUOTA_BYTES, ST_QUOTA_BYTES,
		    ST_QUOTA_RATE};
		l = roomy;
		uint64_t *limit[] = {&l.requests, &l.tunnels, &l.bytes_up,
		    &l.bytes_down, &l.rate.count};
		*limit[i] = 0;
		u = (usage_t){0};
		CHECK_STATUS(quota_count(&u, &l, now), want[i]);
	}
	struct quota_limits zero = {0};
	CHECK_STATUS(quota_count(&u, &zero, now), ST_QUOTA_REQUESTS);
}

/* Counters that are at their largest stay there and let nobody through but
 * those without a limit. */
static void
test_quota_saturates(void)
{
	struct quota_limits l = roomy;
	usage_t u = {.requests = USAGE_REQUESTS_MAX - 1};
	now_t now = at(0, 0);

	CHECK_STATUS(quota_count(&u, &roomy, now), ST_OK);
	CHECK_INT(u.requests, USAGE_REQUESTS_MAX);
	CHECK_STATUS(quota_count(&u, &roomy, now), ST_OK);
	CHECK_INT(u.requests, USAGE_REQUESTS_MAX);
	l.requests = UINT64_C(1) << 40;
	CHECK_STATUS(quota_count(&u, &l, now), ST_QUOTA_REQUESTS);

	u = (usage_t){.tunnels = USAGE_TUNNELS_MAX};
	CHECK_STATUS(quota_count(&u, &roomy, now), ST_QUOTA_TUNNELS);

	u = (usage_t){.bytes_up = USAGE_BYTES_MAX - 1};
	CHECK_STATUS(quota_add_bytes(&u, &roomy, UINT64_MAX, 0), ST_OK);
	CHECK(u.bytes_up == USAGE_BYTES_MAX);
	l = roomy;
	l.bytes_up = UINT64_MAX - 1;
	CHECK_STATUS(quota_add_bytes(&u, &l, 1, 0), ST_QUOTA_BYTES);
	CHECK_STATUS(quota_look(&u, &l, now), ST_QUOTA_BYTES);
}

/* Fifty circuits look at the same moment; the worker's verdicts come later, in
 * any order. */
static void
test_quota_race(void)
{
	struct quota_limits l = roomy;
	usage_t u = {0};
	unsigned passed = 0;

	l.requests = 20;
	for (unsigned i = 0; i < 50; i++)
		CHECK_STATUS(quota_look(&u, &l, at(0, i)), ST_OK);
	for (unsigned i = 0; i < 50; i++)
		passed += quota_count(&u, &l, at(0, 50 + i)) == ST_OK;
	CHECK_INT(passed, 20);
	CHECK_INT(u.requests, 20);
	CHECK_INT(u.tunnels, 20);
}

/* --- roots --- */

static struct root
root_of(uint16_t group, uint32_t n)
{
	struct root r = {.group = group, .depth = 10, .members = n};

	store_be32(r.root, n);
	r.root[31] = 77;
	return r;
}

static void
set_root(struct roots *r, uint16_t group, uint32_t n, uint64_t mono)
{
	struct root root = root_of(group, n);

	CHECK_STATUS(roots_set(r, &root, mono), ST_OK);
}

/* GROUP of root N at MONO, or -1. */
static int
group_of(const struct roots *r, uint32_t n, uint64_t mono)
{
	struct root root = root_of(0, n), out;

	if (roots_find(&out, r, root.root, mono) != ST_OK) {
		CHECK_INT(out.serial, 0);
		return -1;
	}
	CHECK_INT(out.members, n);
	CHECK(out.serial != 0);
	return out.group;
}

static void
test_roots(void)
{
	const uint32_t capacity = 8;
	void *memory = malloc(roots_memory(capacity));
	struct roots r;
	struct root list[8], old;

	CHECK(memory != NULL);
	roots_init(&r, memory, capacity, 1000, hash_key);
	CHECK_INT(group_of(&r, 1, 0), -1);
	CHECK(roots_current(&r, 3) == NULL);
	set_root(&r, 3, 1, 0);
	set_root(&r, 4, 2, 0);
	CHECK_INT(group_of(&r, 1, UINT64_MAX - 1), 3);
	CHECK_INT(group_of(&r, 2, 0), 4);

	/* Replaced at 5000: out at 6000, to the ms. */
	set_root(&r, 3, 10, 5000);
	CHECK_INT(group_of(&r, 10, 5000), 3);
	CHECK_INT(group_of(&r, 1, 5999), 3);
	CHECK_INT(group_of(&r, 1, 6000), -1);
	CHECK_INT(group_of(&r, 2, 6000), 4);
	CHECK_INT(roots_current(&r, 3)->members, 10);
	CHECK_INT(roots_list(list, 8, &r, 5500), 3);
	CHECK(list[2].expires == 6000);
	CHECK_INT(roots_list(list, 1, &r, 6000), 2);

	/* The same again changes nothing; back to the old one revives it. */
	CHECK_STATUS(roots_find(&old, &r, root_of(0, 1).root, 5500), ST_OK);
	set_root(&r, 3, 10, 5600);
	CHECK_INT(group_of(&r, 1, 5999), 3);
	set_root(&r, 3, 1, 5700);
	CHECK_INT(group_of(&r, 1, 9000), 3);
	CHECK_INT(roots_current(&r, 3)->serial, old.serial);
	CHECK_INT(group_of(&r, 10, 6699), 3);
	CHECK_INT(group_of(&r, 10, 6700), -1);
	/* One that has expired and comes back has a new serial. */
	uint32_t serial = roots_current(&r, 3)->serial;
	set_root(&r, 3, 11, 7000);
	set_root(&r, 3, 1, 9000);
	CHECK(roots_current(&r, 3)->serial != serial);

	/* At once. */
	set_root(&r, 3, 12, 9100);
	CHECK_INT(group_of(&r, 1, 9200), 3);
	roots_drop_replaced(&r, 3);
	CHECK_INT(group_of(&r, 1, 9200), -1);
	CHECK_INT(group_of(&r, 12, 9200), 3);
	roots_drop_group(&r, 3);
	CHECK_INT(group_of(&r, 12, 9200), -1);
	CHECK_INT(group_of(&r, 2, 9200), 4);

	/* A root that is current in another group can not say which. */
	struct root twice = root_of(5, 2);
	CHECK_STATUS(roots_set(&r, &twice, 9200), ST_DUPLICATE);
	CHECK_INT(group_of(&r, 2, 9200), 4);
	twice.group = ROOT_GROUPS_MAX;
	CHECK_STATUS(roots_set(&r, &twice, 9200), ST_BAD_VALUE);
	/* One that is replaced there may be. */
	set_root(&r, 4, 20, 9300);
	serial = r.next_serial;
	set_root(&r, 5, 2, 9400);
	CHECK_INT(group_of(&r, 2, 20000), 5);
	CHECK_INT(roots_current(&r, 5)->serial, serial);
	free(memory);
}

static void
test_roots_bounded(void)
{
	const uint32_t capacity = 4;
	void *memory = malloc(roots_memory(capacity));
	struct roots r;

	CHECK(memory != NULL);
	roots_init(&r, memory, capacity, 1000000, hash_key);
	set_root(&r, 0, 1000, 0);
	for (uint32_t i = 1; i < 100; i++)
		set_root(&r, 1, i, i);
	/* Full: the oldest replaced have gone, both current are there. */
	CHECK_INT(group_of(&r, 1000, 100), 0);
	CHECK_INT(group_of(&r, 99, 100), 1);
	CHECK_INT(group_of(&r, 98, 100), 1);
	CHECK_INT(group_of(&r, 97, 100), 1);
	CHECK_INT(group_of(&r, 96, 100), -1);
	/* Full of current ones: no more, and nothing is lost. */
	set_root(&r, 2, 2000, 100);
	set_root(&r, 3, 3000, 100);
	struct root more = root_of(4, 4000);
	CHECK_STATUS(roots_set(&r, &more, 100), ST_BUSY);
	CHECK_INT(group_of(&r, 99, 100), 1);

	/* A shorter time cuts what is running; none at all ends it. */
	roots_drop_group(&r, 3);
	set_root(&r, 2, 2001, 200);
	CHECK_INT(group_of(&r, 2000, 5000), 2);
	roots_set_keep(&r, 100, 300);
	CHECK_INT(group_of(&r, 2000, 399), 2);
	CHECK_INT(group_of(&r, 2000, 400), -1);
	roots_tidy(&r, 400);
	CHECK_INT(r.table.used, 3);
	roots_set_keep(&r, 0, 400);
	set_root(&r, 2, 2002, 400);
	CHECK_INT(group_of(&r, 2001, 400), -1);
	CHECK_INT(group_of(&r, 2002, 400), 2);
	free(memory);
}

TESTS({"bucket: burst, rate, bounds", test_bucket},
    {"quota: each limit", test_quota},
    {"quota: counters at their largest", test_quota_saturates},
    {"quota: fifty that looked at once", test_quota_race},
    {"roots: replaced, revived, dropped", test_roots},
    {"roots: bounded", test_roots_bounded})
