/* Packets and reply blocks that are not as they should be: all are refused. */
#include "harness.h"

#include <stdlib.h>

#include <gmp.h>

#include "sphinx/packet.h"
#include "sphinx_util.h"

/* --- what is refused ------------------------------------------------------ */

static void
test_bad_arguments(void)
{
	static sphinx_packet_t packet;
	static uint8_t message[SPHINX_MESSAGE_MAX + 1];
	static const sphinx_packet_t zeros;
	struct sphinx *s = context(SPHINX_WIDE, SPHINX_KERNEL_AUTO);
	sphinx_key_t keys[SPHINX_HOPS_MAX];
	sphinx_path_t path, bad;
	sphinx_surb_owner_t owner;
	sphinx_surb_t surb;
	uint8_t seed[32] = {1};
	enum sphinx_suite suite;

	random_path(&path, keys, 3);
	CHECK_STATUS(sphinx_build(s, &packet, &path, message,
			 SPHINX_MESSAGE_MAX + 1, seed),
	    ST_BAD_LENGTH);
	CHECK_MEM(&packet, &zeros, sizeof(packet));
	CHECK_STATUS(sphinx_build(s, &packet, &path, message, SIZE_MAX, seed),
	    ST_BAD_LENGTH);
	bad = path;
	for (unsigned hops = 0; hops <= 4; hops += 4) {
		bad.hops = hops;
		CHECK_STATUS(sphinx_build(s, &packet, &bad, message, 1, seed),
		    ST_BAD_LENGTH);
		CHECK_STATUS(sphinx_surb_build(s, &surb, &owner, &bad, seed),
		    ST_BAD_LENGTH);
	}
	for (unsigned i = 0; i < 3; i++) {
		bad = path;
		memset(bad.hop[i].id, 0, 32);
		CHECK_STATUS(sphinx_build(s, &packet, &bad, message, 1, seed),
		    ST_WEAK_KEY);
		memset(bad.hop[i].id, 0xff, 32);
		CHECK_STATUS(sphinx_surb_build(s, &surb, &owner, &bad, seed),
		    ST_WEAK_KEY);
		CHECK_INT(surb.len, 0);
	}
	CHECK_STATUS(sphinx_suite_parse(&suite, "stream"), ST_OK);
	CHECK(suite == SPHINX_STREAM);
	CHECK_STATUS(sphinx_suite_parse(&suite, "wide"), ST_OK);
	CHECK(suite == SPHINX_WIDE);
	CHECK_STATUS(sphinx_suite_parse(&suite, "Wide"), ST_UNKNOWN);
	CHECK_STR(sphinx_suite_name(SPHINX_STREAM), "stream");
	sphinx_free(s);
	sphinx_free(NULL);
}

/* Each bit of the header: a refusal that leaves the packet as it was. */
static void
test_header_flips(void)
{
	static sphinx_packet_t packet, flipped, before;

	for (size_t n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n], SPHINX_KERNEL_AUTO);
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		sphinx_step_t step;

		sample(s, &packet, keys, 3);
		for (size_t bit = 0; bit < 8 * SPHINX_HEADER_SIZE; bit++) {
			flipped = packet;
			((uint8_t *)&flipped)[bit / 8] ^=
			    (uint8_t)(1 << bit % 8);
			before = flipped;
			enum status st =
			    sphinx_peel(s, &step, &flipped, &keys[0]);
			/* The top bit of the element, and little else, makes
			 * it not canonical. */
			CHECK(st == ST_BAD_MAC ||
			    (st == ST_WEAK_KEY && bit < 256));
			CHECK(bit != 255 || st == ST_WEAK_KEY);
			CHECK(step.action == 0);
			CHECK_MEM(&flipped, &before, sizeof(before));
		}
		/* Not this node's: the same answer. */
		CHECK_STATUS(
		    sphinx_peel(s, &step, &packet, &keys[1]), ST_BAD_MAC);
		sphinx_free(s);
	}
}

/* The positions in PAYLOAD_SIZE that a flip is tried at. */
static size_t
flip_position(size_t i)
{
	static const size_t edges[] = {0, 15, 16, 19, 20,
	    SPHINX_PAYLOAD_SIZE - 1, SPHINX_PAYLOAD_SIZE - 16,
	    SPHINX_PAYLOAD_SIZE - 17};

	return i < 8 ? edges[i] : test_random() % SPHINX_PAYLOAD_SIZE;
}

static size_t
bits_that_differ(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += (size_t)__builtin_popcount((unsigned)(a[i] ^ b[i]));
	return n;
}

/* A bit flipped on the link to hop FROM: what the next hop sends, and that the
 * exit drops it. */
static void
flip_payload(struct sphinx *s, const sphinx_packet_t *packet,
    const sphinx_key_t *keys, unsigned from, size_t at)
{
	static sphinx_packet_t good, bad;
	sphinx_step_t step;
	size_t len = SPHINX_PAYLOAD_SIZE, changed;

	good = *packet;
	if (from > 0)
		peel_all(s, &good, keys, from);
	bad = good;
	bad.payload[at] ^= (uint8_t)(1 << test_random() % 8);
	for (unsigned i = from; i < 2; i++) {
		CHECK_STATUS(sphinx_peel(s, &step, &good, &keys[i]), ST_OK);
		CHECK_STATUS(sphinx_peel(s, &step, &bad, &keys[i]), ST_OK);
		changed = bits_that_differ(good.payload, bad.payload, len);
		if (sphinx_suite_of(s) == SPHINX_STREAM) {
			/* The gap of that format: the flip is still there. */
			CHECK_INT(changed, 1);
			continue;
		}
		/* Half of all 259,072 bits, within 8 standard deviations, in
		 * every part of the payload. */
		CHECK(changed > len * 4 - 2100 && changed < len * 4 + 2100);
		for (size_t b = 0; b < len; b += 16)
			CHECK(
			    memcmp(good.payload + b, bad.payload + b, 16) != 0);
	}
	CHECK_STATUS(sphinx_peel(s, &step, &good, &keys[2]), ST_OK);
	CHECK_STATUS(sphinx_peel(s, &step, &bad, &keys[2]), ST_CORRUPT);
	CHECK(step.action == 0 && step.message == NULL);
	for (size_t i = 0; i < len; i++)
		CHECK(bad.payload[i] == 0);
}

static void
test_payload_flips(void)
{
	static sphinx_packet_t packet;

	for (size_t n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n], SPHINX_KERNEL_AUTO);
		sphinx_key_t keys[SPHINX_HOPS_MAX];

		sample(s, &packet, keys, 3);
		for (size_t i = 0; i < 100; i++)
			flip_payload(s, &packet, keys, (unsigned)(i % 3),
			    flip_position(i));
		sphinx_free(s);
	}
}

/* Another packet's payload under a good header is noise too. */
static void
test_swapped_payloads(void)
{
	static sphinx_packet_t a, b;

	for (size_t n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n], SPHINX_KERNEL_AUTO);
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		sphinx_path_t path;
		sphinx_step_t step;
		uint8_t seed[32];

		random_path(&path, keys, 1);
		test_random_bytes(seed, sizeof(seed));
		CHECK_STATUS(sphinx_build(s, &a, &path, "a", 1, seed), ST_OK);
		seed[0] ^= 1;
		CHECK_STATUS(sphinx_build(s, &b, &path, "b", 1, seed), ST_OK);
		memcpy(a.payload, b.payload, sizeof(a.payload));
		CHECK_STATUS(sphinx_peel(s, &step, &a, &keys[0]), ST_CORRUPT);
		sphinx_free(s);
	}
}

static void
test_decode(void)
{
	static uint8_t bytes[SPHINX_PACKET_SIZE + 1];
	sphinx_packet_t *view;
	static sphinx_packet_t packet;
	struct sphinx *s = context(SPHINX_WIDE, SPHINX_KERNEL_AUTO);
	sphinx_key_t key;
	sphinx_step_t step;
	uint8_t secret[32];
	static const size_t lengths[] = {
	    0, 1, SPHINX_PACKET_SIZE - 1, SPHINX_PACKET_SIZE + 1};

	bytes[0] = 9;
	for (size_t i = 0; i < 4; i++) {
		CHECK_STATUS(
		    sphinx_decode(&view, bytes, lengths[i]), ST_BAD_LENGTH);
		CHECK(view == NULL);
	}
	CHECK_STATUS(sphinx_decode(&view, bytes, SPHINX_PACKET_SIZE), ST_OK);
	CHECK(view->header.element == bytes);
	test_random_bytes(secret, sizeof(secret));
	sphinx_key_make(&key, secret);
	/* Zero, p - 1, p, the top bit: decode and peel refuse alike. */
	for (int i = 0; i < 4; i++) {
		memset(packet.header.element, i == 0 ? 0 : 0xff, 32);
		packet.header.element[31] = i == 0 ? 0 : i == 3 ? 0xff : 0x7f;
		if (i == 1 || i == 2)
			packet.header.element[0] = i == 1 ? 0xec : 0xed;
		CHECK_STATUS(
		    sphinx_decode(&view, &packet, sizeof(packet)), ST_WEAK_KEY);
		CHECK_STATUS(sphinx_peel(s, &step, &packet, &key), ST_WEAK_KEY);
	}
	sphinx_free(s);
}

/* --- replays -------------------------------------------------------------- */

/* 1 / u modulo 2^255 - 19: u of the point plus the one of order two. */
static void
add_order_two(uint8_t u[32])
{
	uint8_t out[32] = {0};
	mpz_t p, x;

	mpz_init(x);
	mpz_init_set_ui(p, 1);
	mpz_mul_2exp(p, p, 255);
	mpz_sub_ui(p, p, 19);
	mpz_import(x, 32, -1, 1, 0, 0, u);
	CHECK(mpz_invert(x, x, p) != 0);
	mpz_export(out, NULL, -1, 1, 0, 0, x);
	memcpy(u, out, sizeof(out));
	mpz_clear(x);
	mpz_clear(p);
}

/* A stream packet whose element is replaced by the sum of it and a point of
 * order two passes again, with another replay tag; our filter knows it. The
 * wide suite's keys depend on the element. */
static void
test_other_element(void)
{
	static sphinx_packet_t packet, other;

	for (size_t n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n], SPHINX_KERNEL_AUTO);
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		sphinx_step_t step, again;

		sample(s, &packet, keys, 2);
		other = packet;
		add_order_two(other.header.element);
		CHECK(memcmp(&other, &packet, 32) != 0);
		CHECK_STATUS(sphinx_peel(s, &step, &packet, &keys[0]), ST_OK);
		enum status st = sphinx_peel(s, &again, &other, &keys[0]);
		if (suites[n] == SPHINX_WIDE) {
			CHECK_STATUS(st, ST_BAD_MAC);
		} else {
			CHECK_STATUS(st, ST_OK);
			CHECK_MEM(&other, &packet, sizeof(packet));
			CHECK(
			    memcmp(step.replay_tag, again.replay_tag, 32) != 0);
			CHECK_MEM(step.once, again.once, sizeof(step.once));
		}
		sphinx_free(s);
	}
}

/* A reply block used twice: two packets, one `once` at every hop. */
static void
test_surb_twice(void)
{
	static sphinx_packet_t first, second;

	for (size_t n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n], SPHINX_KERNEL_AUTO);
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		sphinx_path_t path;
		sphinx_surb_t surb;
		sphinx_surb_owner_t owner;
		sphinx_step_t a, b;
		struct sphinx_replay filter;
		uint8_t seed[32], to[32], key[16] = {1};
		void *memory =
		    aligned_alloc(SPHINX_REPLAY_ALIGN, sphinx_replay_size(100));

		CHECK(memory != NULL);
		memset(memory, 0, sphinx_replay_size(100));
		sphinx_replay_init(&filter, memory, 100, key);
		random_path(&path, keys, 3);
		test_random_bytes(seed, sizeof(seed));
		CHECK_STATUS(
		    sphinx_surb_build(s, &surb, &owner, &path, seed), ST_OK);
		CHECK_STATUS(sphinx_surb_use(
				 s, &first, to, surb.bytes, surb.len, "yes", 3),
		    ST_OK);
		CHECK_STATUS(sphinx_surb_use(
				 s, &second, to, surb.bytes, surb.len, "no", 2),
		    ST_OK);
		CHECK(memcmp(first.payload, second.payload, 32) != 0);
		for (unsigned i = 0; i < 3; i++) {
			CHECK_STATUS(
			    sphinx_peel(s, &a, &first, &keys[i]), ST_OK);
			CHECK_STATUS(
			    sphinx_peel(s, &b, &second, &keys[i]), ST_OK);
			CHECK_STATUS(
			    sphinx_replay_insert(&filter, a.once), ST_OK);
			CHECK(sphinx_replay_seen(&filter, b.once));
			CHECK_STATUS(
			    sphinx_replay_insert(&filter, b.once), ST_REPLAY);
		}
		free(memory);
		sphinx_free(s);
	}
}

static void
test_surb_refused(void)
{
	static sphinx_packet_t packet;

	for (size_t n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n], SPHINX_KERNEL_AUTO);
		bool stream = suites[n] == SPHINX_STREAM;
		size_t max =
		    stream ? SPHINX_REPLY_MAX_STREAM : SPHINX_REPLY_MAX_WIDE;
		static uint8_t reply[SPHINX_MESSAGE_MAX + 1];
		uint8_t first[32], seed[32] = {2}, bytes[SPHINX_SURB_MAX + 1];
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		sphinx_path_t path;
		sphinx_surb_t surb;
		sphinx_surb_owner_t owner;
		size_t used;

		random_path(&path, keys, 3);
		CHECK_STATUS(
		    sphinx_surb_build(s, &surb, &owner, &path, seed), ST_OK);
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, surb.bytes, surb.len);
		for (size_t len = 0; len < surb.len; len++) {
			CHECK_STATUS(sphinx_surb_decode(s, &used, bytes, len),
			    ST_BAD_LENGTH);
			CHECK_INT(used, 0);
		}
		CHECK_STATUS(
		    sphinx_surb_decode(s, &used, bytes, surb.len + 1), ST_OK);
		CHECK_INT(used, surb.len);
		CHECK_STATUS(sphinx_surb_use(s, &packet, first, bytes,
				 surb.len + 1, reply, 1),
		    ST_TRAILING);
		CHECK_STATUS(sphinx_surb_use(s, &packet, first, bytes, surb.len,
				 reply, max + 1),
		    ST_BAD_LENGTH);
		if (stream) {
			bytes[448] = 0;
			CHECK_STATUS(
			    sphinx_surb_decode(s, &used, bytes, surb.len),
			    ST_BAD_VALUE);
			bytes[448] = 4;
			CHECK_STATUS(
			    sphinx_surb_decode(s, &used, bytes, surb.len),
			    ST_BAD_VALUE);
			bytes[448] = 3;
		}
		memset(bytes + (stream ? 32 : 0), 0, 32);
		CHECK_STATUS(sphinx_surb_use(
				 s, &packet, first, bytes, surb.len, reply, 1),
		    ST_WEAK_KEY);
		sphinx_free(s);
	}
}

TESTS({"bad arguments are refused", test_bad_arguments},
    {"each flipped bit of a header is refused", test_header_flips},
    {"flipped bits of a payload are refused", test_payload_flips},
    {"swapped payloads are refused", test_swapped_payloads},
    {"decode takes 32,768 bytes and good elements", test_decode},
    {"another element of the same secret", test_other_element},
    {"a reply block works once", test_surb_twice},
    {"bad reply blocks are refused", test_surb_refused})
