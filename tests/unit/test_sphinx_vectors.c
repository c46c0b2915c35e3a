/* The packet against others' packets: the Erebus network's own (stream), and
 * those of an independent implementation in Python (wide). */
#include "harness.h"

#include <stdlib.h>

#include <jansson.h>
#include <sodium.h>

#include "base/text.h"
#include "sphinx/packet.h"
#include "sphinx_util.h"

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

TESTS({"stream: peel the network's own packets", test_stream_peel},
    {"stream: build the network's own packets", test_stream_build},
    {"stream: the network's own reply blocks", test_stream_surb},
    {"wide: packets of another implementation", test_wide_vectors},
    {"wide: reply blocks of another implementation", test_wide_surb_vectors})
