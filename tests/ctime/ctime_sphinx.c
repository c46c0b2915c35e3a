/* Packets under valgrind: no branch and no address depends on a node's key, on
 * a sender's seed, on a message or on where a MAC differs. (valgrind knows no
 * AVX-512, so X25519 is the portable kernel's here; the ifma kernel has no
 * branch but the ladder's loop, and no index but loop counters. At the exit of
 * a stream packet OpenSSL branches on whether the tag is right, which is no
 * secret but can not be told it: the exits here are wide ones.) */
#include "harness.h"

#include "base/ctime.h"
#include "postern/sphinx.h"

static const enum sphinx_suite suites[] = {SPHINX_WIDE, SPHINX_STREAM};

static struct sphinx *
context(enum sphinx_suite suite)
{
	struct sphinx *s;

	CHECK_STATUS(sphinx_new(&s, suite, SPHINX_KERNEL_PORTABLE), ST_OK);
	return s;
}

/* A key whose secret half is secret. */
static void
secret_key(sphinx_key_t *key)
{
	uint8_t secret[32];

	test_random_bytes(secret, sizeof(secret));
	classify(secret, sizeof(secret));
	sphinx_key_make(key, secret);
	declassify(key->id, sizeof(key->id));
}

static void
make_path(sphinx_path_t *path, sphinx_key_t *keys)
{
	path->hops = 3;
	for (int i = 0; i < 3; i++) {
		secret_key(&keys[i]);
		memcpy(path->hop[i].id, keys[i].id, 32);
		path->hop[i].delay_ms = 5;
	}
	memcpy(path->tag, "127.0.0.1:9100\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
	    32);
}

static void
secret_bytes(void *out, size_t len)
{
	test_random_bytes(out, len);
	classify(out, len);
}

/* A packet of secrets, sent: what is on the link is public. */
static void
build(struct sphinx *s, sphinx_packet_t *packet, const sphinx_path_t *path)
{
	uint8_t seed[32], message[100];

	secret_bytes(seed, sizeof(seed));
	secret_bytes(message, sizeof(message));
	CHECK_STATUS(
	    sphinx_build(s, packet, path, message, sizeof(message), seed),
	    ST_OK);
	declassify(packet, sizeof(*packet));
}

static void
test_packets(void)
{
	static sphinx_packet_t packet, changed;

	for (int n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n]);
		sphinx_key_t keys[3];
		sphinx_path_t path;
		sphinx_step_t step;
		make_path(&path, keys);
		build(s, &packet, &path);
		for (int i = 0; i < (n == 0 ? 3 : 2); i++) {
			changed = packet;
			changed.header.mac[i * 7] ^= 1;
			CHECK_STATUS(sphinx_peel(s, &step, &changed, &keys[i]),
			    ST_BAD_MAC);
			CHECK_STATUS(
			    sphinx_peel(s, &step, &packet, &keys[i]), ST_OK);
			if (i < 2)
				declassify(&packet, sizeof(packet));
		}
		CHECK_INT(step.message_len, n == 0 ? 100 : 0);
		sphinx_free(s);
	}
}

static void
test_changed_payload(void)
{
	static sphinx_packet_t packet;

	struct sphinx *s = context(SPHINX_WIDE);
	sphinx_key_t keys[3];
	sphinx_path_t path;
	sphinx_step_t step;

	make_path(&path, keys);
	path.hops = 1;
	build(s, &packet, &path);
	packet.payload[1234] ^= 4;
	CHECK_STATUS(sphinx_peel(s, &step, &packet, &keys[0]), ST_CORRUPT);
	sphinx_free(s);
}

static void
test_replies(void)
{
	static sphinx_packet_t packet;
	uint8_t seed[32], first[32], text[50];

	for (int n = 0; n < 2; n++) {
		struct sphinx *s = context(suites[n]);
		sphinx_key_t keys[3];
		sphinx_path_t path;
		sphinx_step_t step;
		sphinx_surb_t surb;
		sphinx_surb_owner_t owner;
		const uint8_t *reply;
		size_t len;
		make_path(&path, keys);
		secret_bytes(seed, sizeof(seed));
		secret_bytes(text, sizeof(text));
		CHECK_STATUS(
		    sphinx_surb_build(s, &surb, &owner, &path, seed), ST_OK);
		/* The replier may look at it; its keys stay secret. */
		size_t header = n == 0 ? 32 : 64;
		declassify(surb.bytes, header + SPHINX_HEADER_SIZE + 1);
		if (n == 0)
			classify(surb.bytes + header + SPHINX_HEADER_SIZE, 1);
		CHECK_STATUS(sphinx_surb_use(s, &packet, first, surb.bytes,
				 surb.len, text, sizeof(text)),
		    ST_OK);
		declassify(&packet, sizeof(packet));
		for (int i = 0; i < (n == 0 ? 3 : 2); i++) {
			CHECK_STATUS(
			    sphinx_peel(s, &step, &packet, &keys[i]), ST_OK);
			if (i < 2)
				declassify(&packet, sizeof(packet));
		}
		if (n == 0) {
			CHECK_STATUS(sphinx_surb_open(s, &reply, &len, &owner,
					 packet.payload, step.message_len),
			    ST_OK);
			CHECK_INT(len, sizeof(text));
		}
		sphinx_free(s);
	}
}

/* What must be caught: the test of the test. */
static void
leak_key(void)
{
	sphinx_key_t key;
	volatile unsigned n = 0;

	secret_key(&key);
	if (key.secret[3] & 1)
		n++;
}

static void
leak_message(void)
{
	static sphinx_packet_t packet;
	struct sphinx *s = context(SPHINX_WIDE);
	sphinx_key_t keys[3];
	sphinx_path_t path;
	sphinx_step_t step;
	volatile unsigned n = 0;

	make_path(&path, keys);
	path.hops = 1;
	build(s, &packet, &path);
	CHECK_STATUS(sphinx_peel(s, &step, &packet, &keys[0]), ST_OK);
	if (step.message[0] & 1)
		n++;
	sphinx_free(s);
}

TESTS({"ctime: packets, there and refused", test_packets},
    {"ctime: a changed payload", test_changed_payload},
    {"ctime: replies", test_replies}, {"leak of a node's key", leak_key},
    {"leak of a message", leak_message})
