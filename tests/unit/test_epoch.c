/* Time and audience: which scope a proof is for, and which gateway. */

#include <stdlib.h>

#include "base/text.h"
#include "gate/audience.h"
#include "gate/epoch.h"
#include "harness.h"

#define DAY 86400

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

TESTS({"epoch: the exact seconds of the turn", test_epoch_turn},
    {"epoch: rules that do not fit", test_epoch_rules},
    {"epoch: scopes by the formula", test_scope_vectors},
    {"epoch: slots, and a clock that jumps", test_book},
    {"epoch: plain scopes", test_book_plain},
    {"epoch: realms have nothing in common", test_realms_differ},
    {"audience: onion addresses", test_onion},
    {"audience: fixed, any, own", test_audience})
