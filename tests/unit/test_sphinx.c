/* The packet: both suites, both ways, in batches, and without the heap. */
#include "harness.h"

#include <openssl/crypto.h>

#include "sphinx/packet.h"
#include "sphinx_util.h"

/* --- there and back ------------------------------------------------------- */

/* One packet there and one reply back. */
static void
round_trip(struct sphinx *s, unsigned hops, size_t len)
{
	static sphinx_packet_t packet;
	static uint8_t message[SPHINX_MESSAGE_MAX];
	sphinx_key_t keys[SPHINX_HOPS_MAX];
	sphinx_path_t path;
	sphinx_packet_t *view;
	sphinx_step_t step;
	uint8_t seed[32];

	random_path(&path, keys, hops);
	test_random_bytes(seed, sizeof(seed));
	test_random_bytes(message, sizeof(message));
	CHECK_STATUS(
	    sphinx_build(s, &packet, &path, message, len, seed), ST_OK);
	for (unsigned i = 0; i < hops; i++) {
		CHECK_STATUS(
		    sphinx_decode(&view, &packet, sizeof(packet)), ST_OK);
		CHECK(view == &packet);
		CHECK_STATUS(sphinx_peel(s, &step, view, &keys[i]), ST_OK);
		CHECK_INT(step.delay_ms, path.hop[i].delay_ms);
		if (i + 1 < hops) {
			CHECK(step.action == SPHINX_FORWARD);
			CHECK_MEM(step.next, keys[i + 1].id, 32);
			CHECK(step.message == NULL && step.message_len == 0);
		}
	}
	CHECK(step.action == SPHINX_DELIVER);
	CHECK_MEM(step.next, path.tag, 32);
	CHECK_INT(step.message_len, len);
	CHECK_MEM(step.message, message, len);
	CHECK(step.message >= packet.payload &&
	    step.message + len <= packet.payload + SPHINX_PAYLOAD_SIZE);
}

static void
test_round_trips(void)
{
	static const size_t lengths[] = {
	    0, 1, 1000, SPHINX_MESSAGE_MAX - 1, SPHINX_MESSAGE_MAX};

	for (size_t n = 0; n < 4; n++) {
		struct sphinx *s = context(suites[n / 2], kernels[n % 2]);
		for (unsigned hops = 1; hops <= 3 && s != NULL; hops++) {
			for (size_t i = 0; i < 5; i++)
				round_trip(s, hops, lengths[i]);
		}
		sphinx_free(s);
	}
}

static void
reply_trip(struct sphinx *s, unsigned hops, size_t len)
{
	static sphinx_packet_t packet;
	static uint8_t text[SPHINX_MESSAGE_MAX], sealed[SPHINX_PAYLOAD_SIZE];
	sphinx_key_t keys[SPHINX_HOPS_MAX];
	sphinx_path_t path;
	sphinx_surb_t surb;
	sphinx_surb_owner_t owner, other;
	sphinx_message_t m = {0};
	uint8_t seed[32], first[32];
	const uint8_t *reply;
	size_t got;

	random_path(&path, keys, hops);
	test_random_bytes(seed, sizeof(seed));
	test_random_bytes(text, sizeof(text));
	CHECK_STATUS(sphinx_surb_build(s, &surb, &owner, &path, seed), ST_OK);
	CHECK_STATUS(sphinx_surb_decode(s, &got, surb.bytes, surb.len), ST_OK);
	CHECK_INT(got, surb.len);
	CHECK_STATUS(
	    sphinx_surb_use(s, &packet, first, surb.bytes, surb.len, text, len),
	    ST_OK);
	sphinx_step_t step = peel_all(s, &packet, keys, hops);
	if (sphinx_suite_of(s) == SPHINX_STREAM) {
		CHECK_STATUS(
		    sphinx_message_decode(&m, step.message, step.message_len),
		    ST_OK);
		CHECK_MEM(m.id, owner.id, 32);
		memcpy(sealed, m.body, m.body_len);
		got = m.body_len;
	} else {
		CHECK_MEM(step.surb, owner.id, 32);
		memcpy(sealed, step.message, step.message_len);
		got = step.message_len;
	}
	/* Another block's owner opens nothing, nor does a changed bit. */
	static uint8_t copy[SPHINX_PAYLOAD_SIZE];
	size_t opened;
	memcpy(copy, sealed, got);
	other = owner;
	other.reply_key[7] ^= 1;
	CHECK_STATUS(sphinx_surb_open(s, &reply, &opened, &other, copy, got),
	    ST_CORRUPT);
	CHECK(reply == NULL && opened == 0);
	memcpy(copy, sealed, got);
	copy[test_random() % got] ^= (uint8_t)(1 << test_random() % 8);
	CHECK_STATUS(sphinx_surb_open(s, &reply, &opened, &owner, copy, got),
	    ST_CORRUPT);
	CHECK_STATUS(
	    sphinx_surb_open(s, &reply, &opened, &owner, sealed, got), ST_OK);
	CHECK_INT(opened, len);
	CHECK_MEM(reply, text, len);
}

static void
test_reply_trips(void)
{
	for (size_t n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n], SPHINX_KERNEL_AUTO);
		size_t max =
		    n == 0 ? SPHINX_REPLY_MAX_WIDE : SPHINX_REPLY_MAX_STREAM;
		for (unsigned hops = 1; hops <= 3; hops++) {
			reply_trip(s, hops, 0);
			reply_trip(s, hops, 100);
			reply_trip(s, hops, max);
		}
		sphinx_free(s);
	}
}

/* The header of a packet is as long whatever the path, and nothing in it
 * repeats: no block of zeros from the padding, no two equal blocks. */
static void
test_filler(void)
{
	static sphinx_packet_t packet;

	for (unsigned hops = 1; hops <= 3; hops++) {
		struct sphinx *s = context(SPHINX_WIDE, SPHINX_KERNEL_AUTO);
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		sphinx_step_t step;

		sample(s, &packet, keys, hops);
		for (unsigned i = 0; i < hops; i++) {
			const uint8_t *h = (const uint8_t *)&packet.header;
			for (size_t a = 0; a + 8 <= SPHINX_HEADER_SIZE; a++) {
				for (size_t b = a + 1;
				     b + 8 <= SPHINX_HEADER_SIZE; b++)
					CHECK(memcmp(h + a, h + b, 8) != 0);
			}
			CHECK_STATUS(
			    sphinx_peel(s, &step, &packet, &keys[i]), ST_OK);
		}
		sphinx_free(s);
	}
}

/* --- batches -------------------------------------------------------------- */

/* Any number of packets, some of them bad, in each kernel: as one by one. */
static void
test_peel_batch(void)
{
	enum { MAX = 19 };
	static sphinx_packet_t together[MAX], alone[MAX];

	for (size_t n = 0; n < 4; n++) {
		struct sphinx *s = context(suites[n / 2], kernels[n % 2]);
		sphinx_packet_t *packets[MAX];
		sphinx_step_t steps[MAX], step;
		enum status results[MAX];
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		sphinx_path_t path;

		if (s == NULL)
			continue;
		for (size_t count = 0; count <= MAX; count += 1 + count / 4) {
			random_path(&path, keys, 1 + (unsigned)(count % 3));
			for (size_t i = 0; i < count; i++) {
				uint8_t seed[32];
				test_random_bytes(seed, sizeof(seed));
				CHECK_STATUS(sphinx_build(s, &together[i],
						 &path, &i, sizeof(i), seed),
				    ST_OK);
				if (i % 5 == 3)
					together[i].header.beta[i] ^= 1;
				if (i % 7 == 5)
					memset(&together[i], 0, 32);
				if (i % 6 == 4)
					together[i].payload[i] ^= 1;
				alone[i] = together[i];
				packets[i] = &together[i];
			}
			sphinx_peel_batch(
			    s, results, steps, packets, count, &keys[0]);
			for (size_t i = 0; i < count; i++) {
				CHECK_STATUS(
				    sphinx_peel(s, &step, &alone[i], &keys[0]),
				    results[i]);
				CHECK_MEM(
				    &alone[i], &together[i], sizeof(alone[i]));
				CHECK(step.action == steps[i].action);
				CHECK_MEM(step.once, steps[i].once, 16);
				CHECK_INT(
				    step.message_len, steps[i].message_len);
			}
		}
		sphinx_free(s);
	}
}

static void
test_build_batch(void)
{
	enum { MAX = 11 };
	static const char text[] = "the same in all of them";
	static sphinx_packet_t together[MAX], alone;
	sphinx_build_t jobs[MAX];
	sphinx_path_t paths[MAX];
	sphinx_key_t keys[SPHINX_HOPS_MAX];

	for (size_t n = 0; n < 4; n++) {
		struct sphinx *s = context(suites[n / 2], kernels[n % 2]);
		if (s == NULL)
			continue;
		for (size_t count = 0; count <= MAX; count++) {
			bool bad = count == 7;
			for (size_t i = 0; i < count; i++) {
				random_path(
				    &paths[i], keys, 1 + (unsigned)(i % 3));
				if (bad && i == 4)
					paths[i].hops = 9;
				jobs[i] =
				    (sphinx_build_t){&together[i], &paths[i],
					text, sizeof(text), {0}, ST_BUSY};
				test_random_bytes(jobs[i].seed, 32);
			}
			CHECK_STATUS(sphinx_build_batch(s, jobs, count),
			    bad ? ST_BAD_LENGTH : ST_OK);
			for (size_t j = 0; j < count; j++) {
				CHECK_STATUS(
				    sphinx_build(s, &alone, &paths[j], text,
					sizeof(text), jobs[j].seed),
				    jobs[j].status);
				CHECK_MEM(&together[j], &alone, sizeof(alone));
			}
		}
		sphinx_free(s);
	}
}

/* --- no heap -------------------------------------------------------------- */

static unsigned allocations;

static void *
count_malloc(size_t len, const char *file, int line)
{
	(void)file;
	(void)line;
	allocations++;
	return malloc(len);
}

static void *
count_realloc(void *ptr, size_t len, const char *file, int line)
{
	(void)file;
	(void)line;
	allocations++;
	return realloc(ptr, len);
}

static void
count_free(void *ptr, const char *file, int line)
{
	(void)file;
	(void)line;
	free(ptr);
}

/* OpenSSL allocates nothing after sphinx_new; nor do we, as only suite.c can
 * (make symbols shows who calls calloc). */
static void
test_no_heap(void)
{
	CHECK(CRYPTO_set_mem_functions(
		  count_malloc, count_realloc, count_free) == 1);
	for (size_t n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n], SPHINX_KERNEL_AUTO);
		CHECK(allocations > 0);
		allocations = 0;
		round_trip(s, 3, 1000);
		reply_trip(s, 3, 1000);
		CHECK_INT(allocations, 0);
		sphinx_free(s);
	}
}

TESTS({"round trips of 1 to 3 hops", test_round_trips},
    {"replies over 1 to 3 hops", test_reply_trips},
    {"headers show no padding", test_filler},
    {"peeling in batches", test_peel_batch},
    {"building in batches", test_build_batch},
    {"nothing is allocated after sphinx_new", test_no_heap})
