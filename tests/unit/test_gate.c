/* The gate's pure decisions: time, audience, roots, quotas, circuits, proofs
 * seen before, checks under way. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/text.h"
#include "gate/audience.h"
#include "gate/bucket.h"
#include "gate/circuits.h"
#include "gate/epoch.h"
#include "gate/pending.h"
#include "gate/proof_cache.h"
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

/* --- epoch --- */

static const struct epoch_rules plain = {
    .length = DAY,
    .grace = 600,
    .early = 60,
    .slots = 1,
};

static void
test_epoch_turn(void)
{
	const uint64_t turn = UINT64_C(20000) * DAY;

	CHECK_INT(epoch_at(&plain, turn - 1), 19999);
	CHECK_INT(epoch_at(&plain, turn), 20000);
	CHECK_INT(epoch_begin(&plain, 20000), turn);
	CHECK_INT(epoch_end(&plain, 20000), turn + DAY);

	/* The exact seconds at which each acceptance begins and ends. */
	CHECK_STATUS(epoch_accepts(&plain, 20000, turn - 61), ST_EPOCH_FUTURE);
	CHECK_STATUS(epoch_accepts(&plain, 20000, turn - 60), ST_OK);
	CHECK_STATUS(epoch_accepts(&plain, 20000, turn), ST_OK);
	CHECK_STATUS(epoch_accepts(&plain, 20000, turn + DAY - 1), ST_OK);
	CHECK_STATUS(epoch_accepts(&plain, 20000, turn + DAY + 599), ST_OK);
	CHECK_STATUS(
	    epoch_accepts(&plain, 20000, turn + DAY + 600), ST_EPOCH_PAST);
	CHECK_STATUS(epoch_accepts(&plain, 20002, turn), ST_EPOCH_FUTURE);
	CHECK_STATUS(epoch_accepts(&plain, 19998, turn), ST_EPOCH_PAST);
	CHECK_STATUS(epoch_accepts(&plain, 0, 0), ST_OK);
	CHECK_STATUS(epoch_accepts(&plain, UINT64_MAX, 0), ST_EPOCH_FUTURE);

	/* Without grace and early time nothing but the epoch itself. */
	struct epoch_rules strict = plain;
	strict.grace = strict.early = 0;
	CHECK_STATUS(epoch_accepts(&strict, 19999, turn), ST_EPOCH_PAST);
	CHECK_STATUS(epoch_accepts(&strict, 20000, turn - 1), ST_EPOCH_FUTURE);
	/* With both as long as the epoch, three epochs at all times. */
	strict.grace = strict.early = DAY;
	for (uint64_t t = turn; t < turn + DAY; t += 3599) {
		CHECK_STATUS(epoch_accepts(&strict, 19999, t), ST_OK);
		CHECK_STATUS(epoch_accepts(&strict, 20001, t), ST_OK);
		CHECK_STATUS(epoch_accepts(&strict, 20002, t), ST_EPOCH_FUTURE);
		CHECK_STATUS(epoch_accepts(&strict, 19998, t), ST_EPOCH_PAST);
	}
}

static void
test_epoch_rules(void)
{
	const char *why = NULL;
	struct epoch_rules r = plain;

	CHECK_STATUS(epoch_rules_check(&r, &why), ST_OK);
	r.length = EPOCH_LENGTH_MIN - 1;
	CHECK_STATUS(epoch_rules_check(&r, &why), ST_BAD_VALUE);
	CHECK(why != NULL);
	r = plain;
	r.grace = DAY + 1;
	CHECK_STATUS(epoch_rules_check(&r, NULL), ST_BAD_VALUE);
	r = plain;
	r.early = DAY + 1;
	CHECK_STATUS(epoch_rules_check(&r, NULL), ST_BAD_VALUE);
	r = plain;
	r.slots = 0;
	CHECK_STATUS(epoch_rules_check(&r, NULL), ST_BAD_VALUE);
	r.slots = EPOCH_SLOTS_MAX + 1;
	CHECK_STATUS(epoch_rules_check(&r, NULL), ST_BAD_VALUE);
	r = plain;
	memset(r.realm, 'x', sizeof(r.realm));
	CHECK_STATUS(epoch_rules_check(&r, NULL), ST_BAD_VALUE);
}

/* By Python's hashlib, from the design's formula. */
static void
test_scope_vectors(void)
{
	static const struct {
		const char *realm;
		uint64_t epoch;
		uint32_t slots;
		uint16_t slot;
		const char *scope;
	} vectors[] = {
	    {"", 20000, 1, 0,
		"000000000000000000000000000000"
		"0000000000000000000000000000004e20"},
	    {"", 20000, 4, 3,
		"0085ad0e3bef122ad38e55e2b4cea5184"
		"b2d6e6a9beb5dded4fdda89752b4fa2"},
	    {"north", 20000, 1, 0,
		"0037e4f15efcb9c732bd27e69d694e180"
		"b24b8735bece1297b5108cee7ddfe27"},
	    {"north", 20000, 1024, 1023,
		"00d45e417909b28ce5f87c17b28795f7f"
		"446ad6cef2df8cbdbebed21835f9dba"},
	    {"south", 20001, 1, 0,
		"00af49b3a1dd01ce8a85fd2d49c3de80c"
		"8916c47dfcf7db0d0fef0e6ded1561d"},
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		struct epoch_rules r = plain;
		uint8_t scope[32];
		char hex[65];
		r.slots = vectors[i].slots;
		strcpy(r.realm, vectors[i].realm);
		epoch_scope(scope, &r, vectors[i].epoch, vectors[i].slot);
		hex_encode(hex, span_of(scope, 32));
		CHECK_STR(hex, vectors[i].scope);
	}
}

static void
check_find(struct epoch_book *b, const uint8_t scope[static 32], uint64_t wall,
    enum status want, uint64_t want_epoch, uint16_t want_slot)
{
	uint64_t epoch;
	uint16_t slot;

	CHECK_STATUS(epoch_find(b, &epoch, &slot, scope, wall), want);
	CHECK_INT(epoch, want_epoch);
	CHECK_INT(slot, want_slot);
}

/* Time that runs, jumps a day forward and back, and every slot. */
static void
test_book(void)
{
	static struct epoch_book b;
	struct epoch_rules r = plain;
	const uint64_t noon = UINT64_C(20000) * DAY + DAY / 2;
	uint8_t scope[32];

	r.slots = 1024;
	strcpy(r.realm, "north");
	epoch_book_init(&b, &r);
	for (unsigned slot = 0; slot < r.slots; slot += 31) {
		epoch_scope(scope, &r, 20000, (uint16_t)slot);
		check_find(&b, scope, noon, ST_OK, 20000, (uint16_t)slot);
		check_find(&b, scope, noon + DAY, ST_EPOCH_PAST, 20000,
		    (uint16_t)slot);
		check_find(&b, scope, noon - DAY, ST_EPOCH_FUTURE, 20000,
		    (uint16_t)slot);
		check_find(&b, scope, noon + 9 * DAY, ST_SCOPE_UNKNOWN, 0, 0);
		check_find(&b, scope, noon, ST_OK, 20000, (uint16_t)slot);
	}
	/* The turn: grace for the old, and the new at the exact second. */
	epoch_scope(scope, &r, 20000, 7);
	check_find(&b, scope, noon + DAY / 2 + 599, ST_OK, 20000, 7);
	check_find(&b, scope, noon + DAY / 2 + 600, ST_EPOCH_PAST, 20000, 7);
	check_find(&b, scope, noon - DAY / 2 - 60, ST_OK, 20000, 7);
	check_find(&b, scope, noon - DAY / 2 - 61, ST_EPOCH_FUTURE, 20000, 7);

	/* A slot that there is not; a bit changed in a byte that the look-up by
	 * leading bytes does not see, and in one that it does. */
	epoch_scope(scope, &r, 20000, 1024);
	check_find(&b, scope, noon, ST_SCOPE_UNKNOWN, 0, 0);
	for (unsigned i = 0; i < 32; i++) {
		epoch_scope(scope, &r, 20000, 5);
		scope[i] ^= 1;
		check_find(&b, scope, noon, ST_SCOPE_UNKNOWN, 0, 0);
	}
	memset(scope, 0, sizeof(scope));
	check_find(&b, scope, noon, ST_SCOPE_UNKNOWN, 0, 0);
	/* At the beginning of time there is no epoch before. */
	epoch_scope(scope, &r, 0, 3);
	check_find(&b, scope, 0, ST_OK, 0, 3);
}

static void
test_book_plain(void)
{
	static struct epoch_book b;
	const uint64_t noon = UINT64_C(20000) * DAY + DAY / 2;
	uint8_t scope[32];

	epoch_book_init(&b, &plain);
	epoch_scope(scope, &plain, 20000, 0);
	check_find(&b, scope, noon, ST_OK, 20000, 0);
	check_find(&b, scope, noon + DAY, ST_EPOCH_PAST, 20000, 0);
	check_find(&b, scope, noon - DAY, ST_EPOCH_FUTURE, 20000, 0);
	/* Numbers that only end like an epoch's. */
	scope[0] = 1;
	check_find(&b, scope, noon, ST_SCOPE_UNKNOWN, 0, 0);
	scope[0] = 0;
	scope[27] = 1;
	check_find(&b, scope, noon, ST_SCOPE_UNKNOWN, 0, 0);
}

/* Two realms, or two slots, have nothing in common. */
static void
test_realms_differ(void)
{
	static struct epoch_book north_book;
	struct epoch_rules north = plain, south = plain;
	const uint64_t noon = UINT64_C(20000) * DAY + DAY / 2;
	uint8_t a[32], b[32];

	strcpy(north.realm, "north");
	strcpy(south.realm, "south");
	epoch_book_init(&north_book, &north);
	epoch_scope(a, &north, 20000, 0);
	epoch_scope(b, &south, 20000, 0);
	CHECK(memcmp(a, b, 32) != 0);
	check_find(&north_book, a, noon, ST_OK, 20000, 0);
	check_find(&north_book, b, noon, ST_SCOPE_UNKNOWN, 0, 0);
	epoch_scope(b, &plain, 20000, 0);
	check_find(&north_book, b, noon, ST_SCOPE_UNKNOWN, 0, 0);
}

/* --- audience --- */

#define DUCK "duckduckgogg42xjoc72x3sjasowoarfbgcmvfimaftt6twagswzczad.onion"
#define TORPROJECT \
	"2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion"

static void
test_onion(void)
{
	uint8_t key[32];
	char hex[65], name[ONION_LENGTH + 1];

	/* Two that are in the world, decoded by Python. */
	CHECK_STATUS(onion_decode(key, span_str(DUCK)), ST_OK);
	hex_encode(hex, span_of(key, 32));
	CHECK_STR(hex,
	    "1d04a1d04a338c6e6ae970bfabee49049d6702250984ca950c01673f4ec034ad");
	onion_encode(name, key);
	CHECK_STR(name, DUCK);
	CHECK_STATUS(onion_decode(key, span_str(TORPROJECT)), ST_OK);
	hex_encode(hex, span_of(key, 32));
	CHECK_STR(hex,
	    "d1b38b83a83b3ed918c5bb69dd444ad56bc8d5835a914de73447474e5f02591b");

	/* Letters of either case; every single wrong one is noticed. */
	for (size_t i = 0; i < ONION_LENGTH; i++) {
		strcpy(name, TORPROJECT);
		name[i] = (char)(name[i] >= 'a' ? name[i] - 32 : name[i]);
		CHECK_STATUS(onion_decode(key, span_str(name)), ST_OK);
		name[i] = name[i] == 'B' ? 'C' : 'B';
		CHECK(onion_decode(key, span_str(name)) != ST_OK);
		name[i] = '1';
		CHECK_STATUS(
		    onion_decode(key, span_str(name)), ST_BAD_ENCODING);
		static const uint8_t zeros[32];
		CHECK_MEM(key, zeros, 32);
	}
	CHECK_STATUS(onion_decode(key, span_str("")), ST_BAD_LENGTH);
	CHECK_STATUS(
	    onion_decode(key, span_of(DUCK, ONION_LENGTH - 1)), ST_BAD_LENGTH);
	CHECK_STATUS(onion_decode(key, span_str(DUCK ".")), ST_BAD_LENGTH);

	/* A version that is not 3, with its own good checksum, does not exist
	 * to test with; the byte alone is read before the checksum. */
	strcpy(name, DUCK);
	name[55] = 'c';
	CHECK_STATUS(onion_decode(key, span_str(name)), ST_BAD_VERSION);
	strcpy(name, DUCK);
	name[0] = 'e';
	CHECK_STATUS(onion_decode(key, span_str(name)), ST_CORRUPT);

	for (int i = 0; i < 100; i++) {
		uint8_t in[32];
		test_random_bytes(in, 32);
		onion_encode(name, in);
		CHECK_STATUS(onion_decode(key, span_str(name)), ST_OK);
		CHECK_MEM(key, in, 32);
	}
}

static void
test_audience(void)
{
	struct audience a;
	uint8_t key[32], one[32] = {[31] = 1}, other[32] = {[31] = 2};

	CHECK_STATUS(onion_decode(key, span_str(DUCK)), ST_OK);
	CHECK_STATUS(audience_parse(&a, span_str(""), span_str(DUCK)), ST_OK);
	CHECK(audience_accepts(&a, key));
	CHECK(!audience_accepts(&a, one));
	CHECK_STATUS(audience_parse(&a, span_str("1"), span_str(DUCK)), ST_OK);
	CHECK(audience_accepts(&a, one));
	CHECK(!audience_accepts(&a, key));
	CHECK(!audience_accepts(&a, other));
	CHECK_STATUS(
	    audience_parse(&a, span_str("any"), span_str(DUCK)), ST_OK);
	CHECK_MEM(a.message, key, 32);
	CHECK(audience_accepts(&a, one) && audience_accepts(&a, other));
	CHECK_STATUS(audience_parse(&a, span_str("any"), span_str("")), ST_OK);
	CHECK(audience_accepts(&a, other));

	CHECK_STATUS(
	    audience_parse(&a, span_str(""), span_str("")), ST_MISSING);
	CHECK_STATUS(audience_parse(&a, span_str("01"), span_str(DUCK)),
	    ST_BAD_ENCODING);
	CHECK_STATUS(audience_parse(&a, span_str("Any"), span_str(DUCK)),
	    ST_BAD_ENCODING);
	CHECK_STATUS(audience_parse(&a, span_str(""), span_str("x.onion")),
	    ST_BAD_LENGTH);
	CHECK_STATUS(audience_parse(&a, span_str("any"), span_str("x.onion")),
	    ST_BAD_LENGTH);
	CHECK(!a.any);
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
	quota_uncount(&u);
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

/* --- circuits --- */

static void
test_circuits(void)
{
	const struct circuit_limits limits = {2, 3, {2, 1000}};
	void *memory = malloc(circuits_memory(4));
	struct circuits c;
	circuit_ref_t a, b, d, none = {0};
	uint64_t retry;

	CHECK(memory != NULL);
	circuits_init(&c, memory, 4, &limits, hash_key);
	CHECK_STATUS(circuits_open(&c, &a, 23), ST_OK);
	CHECK_STATUS(circuits_open(&c, &b, 23), ST_OK);
	CHECK_STATUS(circuits_open(&c, &d, 23), ST_CIRCUIT_LIMIT);
	CHECK_INT(d.generation, 0);
	CHECK_STATUS(circuits_open(&c, &d, 24), ST_OK);
	circuits_close(&c, &b);
	circuits_close(&c, &b); /* it is none by now */
	CHECK_STATUS(circuits_open(&c, &b, 23), ST_OK);

	/* The rate is the circuit's, not the connection's. */
	CHECK_STATUS(circuits_request(&c, a, &retry, at(0, 5000)), ST_OK);
	CHECK_STATUS(circuits_request(&c, b, &retry, at(0, 5000)), ST_OK);
	CHECK_STATUS(
	    circuits_request(&c, a, &retry, at(0, 5000)), ST_CIRCUIT_LIMIT);
	CHECK_INT(retry, 1);
	CHECK_STATUS(circuits_request(&c, d, NULL, at(0, 5000)), ST_OK);
	CHECK_STATUS(circuits_request(&c, a, NULL, at(0, 5500)), ST_OK);

	/* Failures add up over connections, and outlive them. */
	CHECK(!circuits_is_suspect(&c, a));
	CHECK_STATUS(circuits_failed(&c, a), ST_OK);
	CHECK(circuits_is_suspect(&c, a));
	CHECK_STATUS(circuits_failed(&c, b), ST_OK);
	CHECK_STATUS(circuits_failed(&c, a), ST_OK);
	circuits_close(&c, &a);
	CHECK_STATUS(circuits_failed(&c, b), ST_CIRCUIT_LIMIT);
	circuits_close(&c, &b);
	CHECK_STATUS(circuits_open(&c, &a, 23), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(circuits_failed(&c, d), ST_OK);

	/* Tor restarts: the same number is another circuit, and what an old
	 * connection still holds can not touch it. */
	circuit_ref_t old = d;
	circuits_forget(&c);
	CHECK_STATUS(circuits_open(&c, &a, 24), ST_OK);
	circuits_close(&c, &old);
	CHECK_STATUS(circuits_open(&c, &b, 24), ST_OK);
	CHECK_STATUS(circuits_open(&c, &d, 24), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(circuits_open(&c, &d, 23), ST_OK);

	/* Without a PROXY line there is no circuit, and no limit. */
	CHECK_STATUS(circuits_request(&c, none, NULL, at(0, 0)), ST_OK);
	CHECK_STATUS(circuits_failed(&c, none), ST_OK);
	CHECK(!circuits_is_suspect(&c, none));
	circuits_close(&c, &none);
	free(memory);
}

static void
test_circuits_bounded(void)
{
	const struct circuit_limits limits = {1, 0, {BUCKET_UNLIMITED, 0}};
	void *memory = malloc(circuits_memory(4));
	struct circuits c;
	circuit_ref_t open[4], x;

	CHECK(memory != NULL);
	circuits_init(&c, memory, 4, &limits, hash_key);
	/* Any number of circuits one after the other. */
	for (uint32_t id = 100; id < 1000; id++) {
		CHECK_STATUS(circuits_open(&c, &x, id), ST_OK);
		CHECK_STATUS(circuits_failed(&c, x), ST_CIRCUIT_LIMIT);
		circuits_close(&c, &x);
	}
	CHECK_INT(c.table.used, 4);
	/* The last ones are remembered, the first forgotten. */
	CHECK_STATUS(circuits_open(&c, &x, 999), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(circuits_open(&c, &open[0], 100), ST_OK);
	/* Those with a connection stay. */
	for (uint32_t i = 1; i < 4; i++)
		CHECK_STATUS(circuits_open(&c, &open[i], i), ST_OK);
	CHECK_STATUS(circuits_open(&c, &x, 5), ST_OVERLOADED);
	CHECK_STATUS(circuits_open(&c, &x, 1), ST_CIRCUIT_LIMIT);
	circuits_close(&c, &open[2]);
	CHECK_STATUS(circuits_open(&c, &x, 5), ST_OK);
	CHECK_STATUS(circuits_open(&c, &x, 100), ST_CIRCUIT_LIMIT);

	/* Other limits hold at once. */
	const struct circuit_limits closed = {0, 0, {0, 0}};
	circuits_set_limits(&c, &closed);
	circuits_close(&c, &open[0]);
	CHECK_STATUS(circuits_open(&c, &x, 100), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(circuits_open(&c, &x, 101), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(
	    circuits_request(&c, open[1], NULL, at(0, 0)), ST_CIRCUIT_LIMIT);
	free(memory);
}

/* --- the table beneath --- */

/* Against a plain array, with random operations. */
static void
test_lru_model(void)
{
	enum { capacity = 37, keys = 60 };
	struct record {
		uint32_t key, pad;
		uint64_t value;
	} * rec;
	uint32_t order[capacity]; /* oldest first */
	uint64_t value[keys];
	size_t n = 0;
	struct lru l;
	void *memory = malloc(lru_memory(capacity, sizeof(*rec)));

	CHECK(memory != NULL);
	lru_init(&l, memory, capacity, sizeof(*rec), 4, hash_key);
	for (int step = 0; step < 100000; step++) {
		uint32_t key = (uint32_t)(test_random() % keys);
		size_t i = 0;
		while (i < n && order[i] != key)
			i++;
		rec = lru_find(&l, &key);
		CHECK((rec != NULL) == (i < n));
		if (rec == NULL) {
			rec = lru_add(&l, &key);
			CHECK((rec == NULL) == (n == capacity));
			if (rec == NULL) {
				rec = lru_oldest(&l);
				CHECK_INT(rec->key, order[0]);
				lru_remove(&l, rec);
				memmove(order, order + 1, --n * 4);
				continue;
			}
			CHECK_INT(rec->value, 0);
			rec->value = value[key] = test_random();
			order[n++] = key;
			continue;
		}
		CHECK(rec->value == value[key]);
		memmove(order + i, order + i + 1, (--n - i) * 4);
		if (test_random() % 3 == 0) {
			lru_remove(&l, rec);
		} else {
			lru_touch(&l, rec);
			order[n++] = key;
		}
	}
	size_t i = 0;
	for (rec = lru_oldest(&l); rec != NULL; rec = lru_newer(&l, rec))
		CHECK_INT(rec->key, order[i++]);
	CHECK_INT(i, n);
	CHECK_INT(l.used, n);
	lru_clear(&l);
	CHECK(lru_oldest(&l) == NULL);
	free(memory);
}

/* --- proofs seen before --- */

static proof_digest_t
digest_of(uint32_t n)
{
	proof_digest_t d = {{0}};

	store_be32(d.bytes, n);
	return d;
}

static member_t
member_of(uint32_t n)
{
	member_t m = {.epoch = 1};

	store_be32(m.tag, n);
	return m;
}

static bool
has(struct proof_cache *c, uint32_t member, uint32_t proof, uint32_t serial)
{
	member_t m = member_of(member);
	proof_digest_t d = digest_of(proof);

	return proof_cache_has(c, &m, &d, serial);
}

static void
add(struct proof_cache *c, uint32_t member, uint32_t proof, uint32_t serial)
{
	member_t m = member_of(member);
	proof_digest_t d = digest_of(proof);

	proof_cache_add(c, &m, &d, serial);
}

static void
test_proof_cache(void)
{
	struct proof_cache c;
	void *memory = malloc(proof_cache_memory(3));

	CHECK(memory != NULL);
	proof_cache_init(&c, memory, 3, hash_key);
	CHECK(!has(&c, 1, 1, 9));
	add(&c, 1, 1, 9);
	CHECK(has(&c, 1, 1, 9));
	/* Neither under another root, nor for another member, nor no root. */
	CHECK(!has(&c, 1, 1, 8));
	CHECK(!has(&c, 2, 1, 9));
	CHECK(!has(&c, 1, 2, 9));
	add(&c, 1, 5, 0);
	CHECK(!has(&c, 1, 5, 0));

	/* A member who re-randomises without end displaces nobody else. */
	add(&c, 2, 100, 9);
	add(&c, 3, 200, 9);
	for (uint32_t i = 0; i < 1000; i++) {
		add(&c, 1, 1000 + i, 9);
		CHECK(has(&c, 1, 1000 + i, 9));
	}
	CHECK(has(&c, 1, 1997, 9));
	CHECK(!has(&c, 1, 1999 - PROOF_CACHE_WAYS, 9));
	CHECK(has(&c, 2, 100, 9) && has(&c, 3, 200, 9));
	/* The same proof again takes no second place. */
	add(&c, 1, 1999, 9);
	add(&c, 1, 1999, 9);
	CHECK(has(&c, 1, 1997, 9));

	/* Members make room by time of last use: now 1, 2, 3. */
	CHECK(has(&c, 2, 100, 9) && has(&c, 3, 200, 9));
	add(&c, 4, 300, 9);
	CHECK(!has(&c, 1, 1999, 9));
	CHECK(has(&c, 2, 100, 9) && has(&c, 3, 200, 9) && has(&c, 4, 300, 9));
	/* A re-used place brings nothing along. */
	CHECK(!has(&c, 4, 1999, 9) && !has(&c, 4, 1998, 9));
	proof_cache_clear(&c);
	CHECK(!has(&c, 2, 100, 9));
	free(memory);
}

/* Every byte of a proof counts, in either form; the member and the key do. */
static void
test_proof_digest(void)
{
	uint8_t key[PROOF_DIGEST_KEY] = {1};
	struct semaphore_proof p = {.depth = 20, .form = SEMAPHORE_AFFINE};
	member_t m = {.epoch = 1};
	proof_digest_t a, b;

	test_random_bytes(p.root, 32);
	test_random_bytes(p.points, sizeof(p.points));
	for (unsigned form = 0; form < 2; form++) {
		const struct {
			uint8_t *at;
			size_t len;
		} parts[] = {{key, sizeof(key)}, {m.tag, sizeof(m.tag)},
		    {p.root, 32}, {p.message, 32},
		    {p.points, form == 0 ? 256 : 128}};
		p.form = form == 0 ? SEMAPHORE_AFFINE : SEMAPHORE_COMPRESSED;
		proof_digest(&a, key, &m, &p);
		proof_digest(&b, key, &m, &p);
		CHECK_MEM(&a, &b, sizeof(a));
		for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			for (size_t j = 0; j < parts[i].len; j++) {
				parts[i].at[j] ^= 0x80;
				proof_digest(&b, key, &m, &p);
				CHECK(memcmp(&a, &b, sizeof(a)) != 0);
				parts[i].at[j] ^= 0x80;
			}
		}
		p.depth = 21;
		proof_digest(&b, key, &m, &p);
		CHECK(memcmp(&a, &b, sizeof(a)) != 0);
		p.depth = 20;
	}
	/* Points of one form are none of the other. */
	memset(p.points + 128, 0, 128);
	proof_digest(&a, key, &m, &p);
	p.form = SEMAPHORE_AFFINE;
	proof_digest(&b, key, &m, &p);
	CHECK(memcmp(&a, &b, sizeof(a)) != 0);
}

static void
test_pending(void)
{
	struct pending p;
	void *memory = malloc(pending_memory(2, 10));
	handle_t who[11], out;
	proof_digest_t x = digest_of(1), y = digest_of(2), z = digest_of(3);
	bool first;

	CHECK(memory != NULL);
	pending_init(&p, memory, 2, 10, hash_key);
	for (uint32_t i = 1; i <= 10; i++)
		who[i] = (handle_t){i, 100 + i};
	CHECK_STATUS(pending_join(&p, &first, &x, who[1]), ST_OK);
	CHECK(first);
	CHECK_STATUS(pending_join(&p, &first, &x, who[2]), ST_OK);
	CHECK(!first);
	CHECK_STATUS(pending_join(&p, &first, &x, who[3]), ST_OK);
	CHECK_STATUS(pending_join(&p, &first, &y, who[4]), ST_OK);
	CHECK(first);
	CHECK_INT(pending_count(&p), 2);
	CHECK_STATUS(pending_join(&p, &first, &z, who[5]), ST_BUSY);
	/* Nobody waits twice, and there is no slot 0 or 11. */
	CHECK_STATUS(pending_join(&p, &first, &y, who[1]), ST_INTERNAL);
	CHECK_STATUS(
	    pending_join(&p, &first, &y, (handle_t){0, 1}), ST_INTERNAL);
	CHECK_STATUS(
	    pending_join(&p, &first, &y, (handle_t){11, 1}), ST_INTERNAL);

	/* One that leaves is not told; a stale handle takes nobody out. */
	pending_leave(&p, who[2]);
	pending_leave(&p, who[2]);
	pending_leave(&p, (handle_t){3, 99});
	pending_leave(&p, (handle_t){0, 0});
	CHECK(pending_take(&p, &out, &x));
	CHECK_INT(out.slot, 1);
	CHECK(pending_take(&p, &out, &x));
	CHECK_INT(out.slot, 3);
	CHECK_INT(out.generation, 103);
	CHECK(!pending_take(&p, &out, &x));
	CHECK_INT(out.slot, 0);
	CHECK_INT(pending_count(&p), 1);
	CHECK(!pending_take(&p, &out, &x));

	/* All leave: the check goes on, and who comes then joins it. */
	pending_leave(&p, who[4]);
	CHECK_INT(pending_count(&p), 1);
	CHECK_STATUS(pending_join(&p, &first, &y, who[1]), ST_OK);
	CHECK(!first);
	CHECK(pending_take(&p, &out, &y));
	CHECK(!pending_take(&p, &out, &y));
	CHECK_INT(pending_count(&p), 0);

	/* First, last and middle leave. */
	for (uint32_t i = 1; i <= 10; i++)
		CHECK_STATUS(pending_join(&p, &first, &z, who[i]), ST_OK);
	pending_leave(&p, who[1]);
	pending_leave(&p, who[10]);
	pending_leave(&p, who[5]);
	for (uint32_t i = 2; i <= 9; i++) {
		if (i == 5)
			continue;
		CHECK(pending_take(&p, &out, &z));
		CHECK_INT(out.slot, i);
	}
	CHECK(!pending_take(&p, &out, &z));
	free(memory);
}

TESTS({"epoch: the exact seconds of the turn", test_epoch_turn},
    {"epoch: rules that do not fit", test_epoch_rules},
    {"epoch: scopes by the formula", test_scope_vectors},
    {"epoch: slots, and a clock that jumps", test_book},
    {"epoch: plain scopes", test_book_plain},
    {"epoch: realms have nothing in common", test_realms_differ},
    {"audience: onion addresses", test_onion},
    {"audience: fixed, any, own", test_audience},
    {"bucket: burst, rate, bounds", test_bucket},
    {"quota: each limit", test_quota},
    {"quota: counters at their largest", test_quota_saturates},
    {"quota: fifty that looked at once", test_quota_race},
    {"roots: replaced, revived, dropped", test_roots},
    {"roots: bounded", test_roots_bounded},
    {"circuits: limits, and a restart of tor", test_circuits},
    {"circuits: bounded", test_circuits_bounded},
    {"lru: against a model", test_lru_model},
    {"proof cache: bounded by member", test_proof_cache},
    {"proof cache: the digest covers everything", test_proof_digest},
    {"pending: shared checks", test_pending})
