/* The packet: both suites, both ways, against the Erebus network's own packets
 * (stream) and an independent implementation in Python (wide); and everything
 * that must be refused. */
#include "harness.h"

#include <stdlib.h>

#include <gmp.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <sodium.h>

#include "base/text.h"
#include "postern/sphinx.h"
#include "sphinx/packet.h"

static const enum sphinx_suite suites[] = {SPHINX_WIDE, SPHINX_STREAM};
static const enum sphinx_kernel kernels[] = {
    SPHINX_KERNEL_PORTABLE, SPHINX_KERNEL_IFMA};

/* NULL when the CPU can not run KERNEL. */
static struct sphinx *
context(enum sphinx_suite suite, enum sphinx_kernel kernel)
{
	struct sphinx *s;

	if (x25519_kernel(kernel) == NULL) {
		CHECK_STATUS(sphinx_new(&s, suite, kernel), ST_NOT_FOUND);
		CHECK(s == NULL);
		return NULL;
	}
	CHECK_STATUS(sphinx_new(&s, suite, kernel), ST_OK);
	CHECK(sphinx_suite_of(s) == suite);
	CHECK(sphinx_kernel_of(s) != SPHINX_KERNEL_AUTO);
	return s;
}

/* --- vectors -------------------------------------------------------------- */

static json_t *
load(const char *path)
{
	char *text = test_read_file(path, NULL);
	json_error_t error;
	json_t *root = json_loads(text, 0, &error);

	CHECK(json_is_array(root));
	free(text);
	return root;
}

static const char *
text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	CHECK(text != NULL);
	return text;
}

static void
bytes_of(void *out, size_t len, const json_t *object, const char *name)
{
	CHECK_STATUS(
	    hex_decode(out, len, span_str(text_of(object, name))), ST_OK);
}

static long long
integer_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	CHECK(json_is_integer(value));
	return json_integer_value(value);
}

static void
check_hex(const void *got, size_t len, const json_t *object, const char *name)
{
	const char *want = text_of(object, name);
	char *text = malloc(2 * len + 1);

	CHECK(text != NULL);
	hex_encode(text, span_of(got, len));
	CHECK_STR(text, want);
	free(text);
}

static unsigned
keys_of(sphinx_key_t keys[SPHINX_HOPS_MAX], const json_t *test)
{
	const json_t *list = json_object_get(test, "keys");
	unsigned n = (unsigned)json_array_size(list);

	CHECK(n >= 1 && n <= SPHINX_HOPS_MAX);
	for (unsigned i = 0; i < n; i++) {
		uint8_t secret[32];
		const char *hex = json_string_value(json_array_get(list, i));
		CHECK_STATUS(
		    hex_decode(secret, sizeof(secret), span_str(hex)), ST_OK);
		sphinx_key_make(&keys[i], secret);
	}
	return n;
}

/* The message that long vectors abbreviate: byte i is 7 i + 2. */
static void
long_message(uint8_t *out, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(i * 7 + 2);
}

/* What an Erebus step says, against what we found. */
static void
check_step(
    const json_t *want, const sphinx_step_t *got, const sphinx_packet_t *packet)
{
	bool forward = strcmp(text_of(want, "action"), "forward") == 0;

	CHECK(got->action == (forward ? SPHINX_FORWARD : SPHINX_DELIVER));
	CHECK_INT(got->delay_ms, integer_of(want, "delay_ms"));
	check_hex(got->replay_tag, 32, want, "replay_tag");
	check_hex(got->next, 32, want, forward ? "next" : "tag");
	if (!forward) {
		CHECK_INT(got->message_len, integer_of(want, "message_len"));
		return;
	}
	check_hex(&packet->header, SPHINX_HEADER_SIZE, want, "header");
	check_hex(packet->payload, 64, want, "payload_head");
	check_hex(packet->payload + SPHINX_PAYLOAD_SIZE - 64, 64, want,
	    "payload_tail");
}

static void
check_message(const json_t *test, const uint8_t *message, size_t len)
{
	static uint8_t want[SPHINX_MESSAGE_MAX];

	if (text_of(test, "message")[0] == '(') {
		CHECK_INT(len, sizeof(want));
		long_message(want, sizeof(want));
		CHECK_MEM(message, want, sizeof(want));
	} else {
		check_hex(message, len, test, "message");
	}
}

static void
test_stream_peel(void)
{
	json_t *tests = load("vectors/sphinx-stream.json");
	static sphinx_packet_t packet;

	CHECK(json_array_size(tests) >= 4);
	for (size_t k = 0; k < 2; k++) {
		struct sphinx *s = context(SPHINX_STREAM, kernels[k]);
		for (size_t t = 0; t < json_array_size(tests) && s; t++) {
			const json_t *test = json_array_get(tests, t);
			const json_t *steps = json_object_get(test, "steps");
			sphinx_key_t keys[SPHINX_HOPS_MAX];
			unsigned hops = keys_of(keys, test);
			sphinx_step_t step;
			bytes_of(&packet, sizeof(packet), test, "packet");
			CHECK_INT(json_array_size(steps), hops);
			for (unsigned i = 0; i < hops; i++) {
				CHECK_STATUS(
				    sphinx_peel(s, &step, &packet, &keys[i]),
				    ST_OK);
				check_step(
				    json_array_get(steps, i), &step, &packet);
			}
			check_message(test, step.message, step.message_len);
		}
		sphinx_free(s);
	}
	json_decref(tests);
}

/* What the sender of a stream packet must have known, found out with the keys
 * of its hops: enough to build the same packet. */
struct recovered {
	struct hop_keys keys[SPHINX_HOPS_MAX];
	struct routing routing[SPHINX_HOPS_MAX];
	uint8_t pad[PAD_MAX];
};

static void
recover(const struct sphinx *s, struct recovered *r, sphinx_header_t header,
    const sphinx_key_t *keys, unsigned hops)
{
	for (unsigned i = 0; i < hops; i++) {
		uint8_t shared[X25519_SIZE], plain[SPHINX_BETA_SIZE];
		CHECK(crypto_scalarmult(
			  shared, keys[i].secret, header.element) == 0);
		hop_keys_derive(
		    &r->keys[i], s->suite, shared, header.element, keys[i].id);
		memcpy(plain, header.beta, sizeof(plain));
		CHECK_STATUS(chacha20_xor(&s->ciphers, r->keys[i].rho, NULL,
				 plain, sizeof(plain)),
		    ST_OK);
		/* At the exit, behind its routing. */
		memcpy(r->pad, plain + ROUTING_SIZE, sizeof(r->pad));
		CHECK_STATUS(header_peel(&s->ciphers, &r->routing[i], &header,
				 &r->keys[i]),
		    ST_OK);
	}
}

static void
test_stream_build(void)
{
	json_t *tests = load("vectors/sphinx-stream.json");
	struct sphinx *s = context(SPHINX_STREAM, SPHINX_KERNEL_AUTO);
	static sphinx_packet_t want, got;
	static uint8_t message[SPHINX_MESSAGE_MAX];

	for (size_t t = 0; t < json_array_size(tests); t++) {
		const json_t *test = json_array_get(tests, t);
		const char *hex = text_of(test, "message");
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		unsigned hops = keys_of(keys, test);
		struct recovered r;
		size_t len = strlen(hex) / 2;

		bytes_of(&want, sizeof(want), test, "packet");
		recover(s, &r, want.header, keys, hops);
		if (hex[0] == '(') {
			len = sizeof(message);
			long_message(message, len);
		} else {
			bytes_of(message, len, test, "message");
		}
		memset(&got, 0, sizeof(got));
		memcpy(got.header.element, want.header.element, 32);
		CHECK_STATUS(header_build(&s->ciphers, &got.header, r.keys,
				 r.routing, hops, r.pad),
		    ST_OK);
		CHECK_STATUS(s->suite->seal(&s->ciphers, got.payload,
				 r.keys[hops - 1].aead, message, len),
		    ST_OK);
		for (unsigned i = hops; i-- > 0;)
			CHECK_STATUS(s->suite->add(&s->ciphers, got.payload,
					 r.keys[i].pi),
			    ST_OK);
		CHECK_MEM(&got, &want, sizeof(want));
	}
	sphinx_free(s);
	json_decref(tests);
}

/* Peel PACKET with the keys of all hops; the last step. */
static sphinx_step_t
peel_all(struct sphinx *s, sphinx_packet_t *packet, const sphinx_key_t *keys,
    unsigned hops)
{
	sphinx_step_t step = {0};

	for (unsigned i = 0; i < hops; i++) {
		CHECK_STATUS(sphinx_peel(s, &step, packet, &keys[i]), ST_OK);
		CHECK(i + 1 == hops || step.action == SPHINX_FORWARD);
	}
	return step;
}

/* A reply block that Erebus made: used by us, opened by us, and made again
 * from what its hops know. */
static void
test_stream_surb(void)
{
	json_t *tests = load("vectors/sphinx-stream.json");
	struct sphinx *s = context(SPHINX_STREAM, SPHINX_KERNEL_AUTO);
	static sphinx_packet_t packet;

	for (size_t t = 0; t < json_array_size(tests); t++) {
		const json_t *test = json_array_get(tests, t);
		const char *reply = text_of(test, "surb_reply_text");
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		unsigned hops = keys_of(keys, test);
		size_t len = strlen(text_of(test, "surb")) / 2, used;
		uint8_t surb[SPHINX_SURB_MAX], first[32], copy[1024];
		sphinx_surb_owner_t owner = {.hops = hops};
		sphinx_message_t m;
		const uint8_t *opened;

		CHECK(len <= sizeof(surb));
		bytes_of(surb, len, test, "surb");
		CHECK_STATUS(sphinx_surb_decode(s, &used, surb, len), ST_OK);
		CHECK_INT(used, len);
		CHECK_STATUS(sphinx_surb_use(s, &packet, first, surb, len,
				 reply, strlen(reply)),
		    ST_OK);
		CHECK_MEM(first, keys[0].id, sizeof(first));
		check_hex(&packet.header, SPHINX_HEADER_SIZE, test,
		    "surb_packet_header");

		struct recovered r;
		sphinx_header_t again;
		recover(s, &r, packet.header, keys, hops);
		memcpy(again.element, packet.header.element, 32);
		CHECK_STATUS(header_build(&s->ciphers, &again, r.keys,
				 r.routing, hops, r.pad),
		    ST_OK);
		CHECK_MEM(&again, &packet.header, sizeof(again));

		sphinx_step_t step = peel_all(s, &packet, keys, hops);
		CHECK(step.action == SPHINX_DELIVER);
		CHECK_STATUS(
		    sphinx_message_decode(&m, step.message, step.message_len),
		    ST_OK);
		CHECK(m.kind == SPHINX_REPLIED);
		CHECK_MEM(m.id, surb, 32);
		check_hex(m.body, m.body_len, test, "surb_sealed");
		CHECK(m.body_len <= sizeof(copy));
		memcpy(copy, m.body, m.body_len);
		memcpy(owner.id, surb, 32);
		memcpy(owner.reply_key, surb + len - 32, 32);
		CHECK_STATUS(sphinx_surb_open(
				 s, &opened, &used, &owner, copy, m.body_len),
		    ST_OK);
		CHECK_INT(used, strlen(reply));
		CHECK_MEM(opened, reply, used);
	}
	sphinx_free(s);
	json_decref(tests);
}

static void
check_sha256(
    const void *data, size_t len, const json_t *object, const char *name)
{
	uint8_t digest[32];

	crypto_hash_sha256(digest, data, len);
	check_hex(digest, sizeof(digest), object, name);
}

static void
path_of(sphinx_path_t *path, const sphinx_key_t *keys, const json_t *test)
{
	const json_t *delays = json_object_get(test, "delays");

	path->hops = (unsigned)json_array_size(delays);
	for (unsigned i = 0; i < path->hops; i++) {
		memcpy(path->hop[i].id, keys[i].id, 32);
		path->hop[i].delay_ms =
		    (uint32_t)json_integer_value(json_array_get(delays, i));
	}
	bytes_of(path->tag, 32, test, "tag");
}

/* Packets of tests/diff/sphinx.py: the same from the same seed, and the same
 * at each hop. */
static void
test_wide_vectors(void)
{
	json_t *tests = load("vectors/sphinx-wide.json");
	static sphinx_packet_t packet;
	static uint8_t message[SPHINX_MESSAGE_MAX];

	CHECK_INT(json_array_size(tests), 3);
	long_message(message, sizeof(message));
	for (size_t n = 0; n < 2 * json_array_size(tests); n++) {
		const json_t *test = json_array_get(tests, n / 2);
		const json_t *steps = json_object_get(test, "steps");
		struct sphinx *s = context(SPHINX_WIDE, kernels[n % 2]);
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		unsigned hops = keys_of(keys, test);
		size_t len = (size_t)integer_of(test, "message_len");
		sphinx_path_t path;
		sphinx_step_t step;
		uint8_t seed[32];

		if (s == NULL)
			continue;
		path_of(&path, keys, test);
		bytes_of(seed, sizeof(seed), test, "seed");
		CHECK_STATUS(
		    sphinx_build(s, &packet, &path, message, len, seed), ST_OK);
		check_hex(
		    &packet.header, SPHINX_HEADER_SIZE, test, "packet_header");
		check_sha256(&packet, sizeof(packet), test, "packet_sha256");
		for (unsigned i = 0; i < hops; i++) {
			const json_t *want = json_array_get(steps, i);
			CHECK_STATUS(
			    sphinx_peel(s, &step, &packet, &keys[i]), ST_OK);
			check_hex(step.replay_tag, 32, want, "replay_tag");
			check_hex(step.once, 16, want, "once");
			CHECK_INT(step.delay_ms, integer_of(want, "delay_ms"));
			if (i + 1 == hops)
				break;
			check_hex(step.next, 32, want, "next");
			check_sha256(
			    &packet, sizeof(packet), want, "packet_sha256");
		}
		CHECK(step.action == SPHINX_DELIVER);
		CHECK_MEM(step.next, path.tag, 32);
		CHECK_INT(step.message_len, len);
		CHECK_MEM(step.message, message, len);
		sphinx_free(s);
	}
	json_decref(tests);
}

static void
test_wide_surb_vectors(void)
{
	json_t *tests = load("vectors/sphinx-wide.json");
	struct sphinx *s = context(SPHINX_WIDE, SPHINX_KERNEL_AUTO);
	static sphinx_packet_t packet;

	for (size_t t = 0; t < json_array_size(tests); t++) {
		const json_t *test = json_array_get(tests, t);
		const json_t *steps = json_object_get(test, "surb_steps");
		const char *text = text_of(test, "surb_reply_text");
		sphinx_key_t keys[SPHINX_HOPS_MAX];
		unsigned hops = keys_of(keys, test);
		sphinx_surb_owner_t owner;
		sphinx_surb_t surb;
		sphinx_path_t path;
		sphinx_step_t step;
		uint8_t seed[32], first[32];
		const uint8_t *reply;
		size_t len;

		path_of(&path, keys, test);
		bytes_of(seed, sizeof(seed), test, "seed");
		CHECK_STATUS(
		    sphinx_surb_build(s, &surb, &owner, &path, seed), ST_OK);
		check_hex(surb.bytes, surb.len, test, "surb");
		CHECK_STATUS(sphinx_surb_use(s, &packet, first, surb.bytes,
				 surb.len, text, strlen(text)),
		    ST_OK);
		CHECK_MEM(first, keys[0].id, 32);
		check_sha256(
		    &packet, sizeof(packet), test, "surb_packet_sha256");
		for (unsigned i = 0; i < hops; i++) {
			const json_t *want = json_array_get(steps, i);
			CHECK_STATUS(
			    sphinx_peel(s, &step, &packet, &keys[i]), ST_OK);
			if (step.action == SPHINX_FORWARD)
				check_sha256(
				    &packet, sizeof(packet), want, "sha256");
			else
				check_sha256(step.message, step.message_len,
				    want, "sha256");
		}
		CHECK(step.action == SPHINX_REPLY);
		CHECK_MEM(step.surb, owner.id, 32);
		CHECK_MEM(step.next, path.tag, 32);
		CHECK_STATUS(sphinx_surb_open(s, &reply, &len, &owner,
				 packet.payload, step.message_len),
		    ST_OK);
		CHECK_INT(len, strlen(text));
		CHECK_MEM(reply, text, len);
	}
	sphinx_free(s);
	json_decref(tests);
}

/* --- there and back ------------------------------------------------------- */

/* A random path, its keys, and delays as long as they can be. */
static void
random_path(sphinx_path_t *path, sphinx_key_t *keys, unsigned hops)
{
	path->hops = hops;
	for (unsigned i = 0; i < hops; i++) {
		uint8_t secret[32];
		test_random_bytes(secret, sizeof(secret));
		sphinx_key_make(&keys[i], secret);
		memcpy(path->hop[i].id, keys[i].id, 32);
		path->hop[i].delay_ms =
		    i == 0 ? UINT32_MAX : (uint32_t)test_random();
	}
	test_random_bytes(path->tag, sizeof(path->tag));
}

/* A packet of some path. */
static void
sample(struct sphinx *s, sphinx_packet_t *packet, sphinx_key_t *keys,
    unsigned hops)
{
	sphinx_path_t path;
	uint8_t seed[32];

	random_path(&path, keys, hops);
	test_random_bytes(seed, sizeof(seed));
	CHECK_STATUS(sphinx_build(s, packet, &path, "x", 1, seed), ST_OK);
}

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

TESTS({"stream: peel the network's own packets", test_stream_peel},
    {"stream: build the network's own packets", test_stream_build},
    {"stream: the network's own reply blocks", test_stream_surb},
    {"wide: packets of another implementation", test_wide_vectors},
    {"wide: reply blocks of another implementation", test_wide_surb_vectors},
    {"round trips of 1 to 3 hops", test_round_trips},
    {"replies over 1 to 3 hops", test_reply_trips},
    {"headers show no padding", test_filler},
    {"bad arguments are refused", test_bad_arguments},
    {"each flipped bit of a header is refused", test_header_flips},
    {"flipped bits of a payload are refused", test_payload_flips},
    {"swapped payloads are refused", test_swapped_payloads},
    {"decode takes 32,768 bytes and good elements", test_decode},
    {"another element of the same secret", test_other_element},
    {"a reply block works once", test_surb_twice},
    {"bad reply blocks are refused", test_surb_refused},
    {"peeling in batches", test_peel_batch},
    {"building in batches", test_build_batch},
    {"nothing is allocated after sphinx_new", test_no_heap})
