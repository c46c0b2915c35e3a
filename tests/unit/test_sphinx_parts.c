/* The replay filter and the message layer. */
#include "harness.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "postern/sphinx.h"

static struct sphinx_replay
filter_new(uint64_t capacity)
{
	struct sphinx_replay r;
	size_t size = sphinx_replay_size(capacity);
	void *memory = aligned_alloc(SPHINX_REPLAY_ALIGN, size);
	uint8_t key[16];

	CHECK(memory != NULL);
	memset(memory, 0, size);
	test_random_bytes(key, sizeof(key));
	sphinx_replay_init(&r, memory, capacity, key);
	return r;
}

/* Tag number I of a sequence without order. */
static void
tag_of(uint8_t out[16], uint64_t i)
{
	store_le64(out, i * UINT64_C(0x9e3779b97f4a7c15));
	store_le64(out + 8, i ^ UINT64_C(0x5851f42d4c957f2d));
}

static void
test_filter_fills(void)
{
	static const uint64_t capacities[] = {0, 1, 5, 6, 7, 48, 1000, 300000};
	uint8_t tag[16];

	for (size_t c = 0; c < 8; c++) {
		uint64_t n = capacities[c];
		struct sphinx_replay r = filter_new(n);
		for (uint64_t i = 0; i < n; i++) {
			tag_of(tag, i);
			sphinx_replay_prefetch(&r, tag);
			CHECK(!sphinx_replay_seen(&r, tag));
			CHECK_STATUS(sphinx_replay_insert(&r, tag), ST_OK);
			CHECK(sphinx_replay_seen(&r, tag));
		}
		CHECK_INT(r.count, n);
		tag_of(tag, n);
		CHECK_STATUS(sphinx_replay_insert(&r, tag), ST_BUSY);
		CHECK_INT(r.count, n);
		/* All are still there, and nothing that was not put in. */
		for (uint64_t i = 0; i < n; i++) {
			tag_of(tag, i);
			CHECK_STATUS(sphinx_replay_insert(&r, tag), ST_REPLAY);
		}
		for (uint64_t i = n; i < 3 * n + 1000; i++) {
			tag_of(tag, i);
			CHECK(!sphinx_replay_seen(&r, tag));
		}
		free(r.slots);
	}
}

/* Tags that differ in one bit anywhere are different tags. */
static void
test_filter_bits(void)
{
	struct sphinx_replay r = filter_new(200);
	uint8_t tag[16];

	test_random_bytes(tag, sizeof(tag));
	CHECK_STATUS(sphinx_replay_insert(&r, tag), ST_OK);
	for (int bit = 0; bit < 128; bit++) {
		tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CHECK_STATUS(sphinx_replay_insert(&r, tag), ST_OK);
		tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	CHECK_STATUS(sphinx_replay_insert(&r, tag), ST_REPLAY);
	free(r.slots);
}

/* About 12.8 bytes a tag; sizes that do not fit are refused. */
static void
test_filter_size(void)
{
	CHECK(sphinx_replay_size(10000000) < 128100000);
	CHECK_INT(sphinx_replay_size(10000000) % SPHINX_REPLAY_ALIGN, 0);
	CHECK_INT(sphinx_replay_size(0), 64);
	CHECK_INT(sphinx_replay_size(UINT64_MAX), 0);
}

/* What M is when written and read again. */
static void
check_message(const sphinx_message_t *m, size_t want)
{
	static uint8_t out[4096];
	sphinx_message_t got;
	size_t len;

	CHECK_STATUS(
	    sphinx_message_encode(out, want - 1, &len, m), ST_NO_SPACE);
	CHECK_INT(len, 0);
	CHECK_STATUS(sphinx_message_encode(out, sizeof(out), &len, m), ST_OK);
	CHECK_INT(len, want);
	CHECK_STATUS(sphinx_message_decode(&got, out, len), ST_OK);
	CHECK(got.kind == m->kind && got.flags == m->flags);
	CHECK(got.surb_len == m->surb_len && got.body_len == m->body_len);
	CHECK(m->kind == SPHINX_REQUEST || memcmp(got.id, m->id, 32) == 0);
	if (m->surb_len > 0)
		CHECK_MEM(got.surb, m->surb, m->surb_len);
	if (m->body_len > 0)
		CHECK_MEM(got.body, m->body, m->body_len);
	/* A reply's body may have any length; all else is exact. */
	for (size_t cut = 0; cut < len; cut++) {
		enum status st = sphinx_message_decode(&got, out, cut);
		if (m->kind == SPHINX_REPLIED && cut >= 33)
			CHECK_STATUS(st, ST_OK);
		else
			CHECK_STATUS(st, ST_BAD_LENGTH);
		CHECK((st == ST_OK) == (got.kind != 0));
	}
	if (m->kind != SPHINX_REPLIED)
		CHECK_STATUS(
		    sphinx_message_decode(&got, out, len + 1), ST_TRAILING);
}

static void
test_messages(void)
{
	uint8_t id[32], surb[609], body[1000];
	sphinx_message_t m = {.kind = SPHINX_REQUEST};

	test_random_bytes(id, sizeof(id));
	test_random_bytes(surb, sizeof(surb));
	test_random_bytes(body, sizeof(body));
	check_message(&m, 7);
	m.flags = SPHINX_FLAG_COVER;
	check_message(&m, 7);
	m.body = body;
	m.body_len = sizeof(body);
	check_message(&m, 1007);
	m.flags |= SPHINX_FLAG_SURB;
	m.surb = surb;
	m.surb_len = sizeof(surb);
	check_message(&m, 1007 + 611);
	m = (sphinx_message_t){.kind = SPHINX_PROBE, .id = id};
	check_message(&m, 33);
	m = (sphinx_message_t){.kind = SPHINX_REPLIED, .id = id};
	check_message(&m, 33);
	m.body = body;
	m.body_len = 100;
	check_message(&m, 133);
}

static void
test_bad_messages(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum status want;
	} bad[] = {
	    {"", 0, ST_BAD_LENGTH},
	    {"\0", 1, ST_UNKNOWN},
	    {"\4", 1, ST_UNKNOWN},
	    {"\1\0\0\0\0\0\0", 7, ST_BAD_VERSION},
	    {"\1\2\0\0\0\0\0", 7, ST_BAD_VERSION},
	    {"\1\1\4\0\0\0\0", 7, ST_BAD_VALUE},
	    {"\1\1\0\1\0\0\0", 7, ST_BAD_LENGTH},
	    {"\1\1\0\xff\xff\xff\xff", 7, ST_BAD_LENGTH},
	    {"\1\1\1\xff\xff\0\0\0\0", 9, ST_BAD_LENGTH},
	    {"\1\1\1\1\0x\0\0\0\0!", 11, ST_TRAILING},
	};
	uint8_t out[64];
	sphinx_message_t m;
	size_t len;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK_STATUS(sphinx_message_decode(
				 &m, (const uint8_t *)bad[i].bytes, bad[i].len),
		    bad[i].want);
		CHECK(m.kind == 0 && m.body == NULL && m.surb == NULL);
	}
	m = (sphinx_message_t){.kind = (enum sphinx_kind)7};
	CHECK_STATUS(
	    sphinx_message_encode(out, sizeof(out), &len, &m), ST_BAD_VALUE);
	m = (sphinx_message_t){
	    .kind = SPHINX_REQUEST, .flags = SPHINX_FLAG_SURB};
	CHECK_STATUS(
	    sphinx_message_encode(out, sizeof(out), &len, &m), ST_BAD_VALUE);
	m = (sphinx_message_t){.kind = SPHINX_REQUEST, .surb = out};
	CHECK_STATUS(
	    sphinx_message_encode(out, sizeof(out), &len, &m), ST_BAD_VALUE);
	m = (sphinx_message_t){.kind = SPHINX_REQUEST, .body_len = SIZE_MAX};
	CHECK_STATUS(
	    sphinx_message_encode(out, sizeof(out), &len, &m), ST_NO_SPACE);
}

TESTS({"replay filter fills up and forgets nothing", test_filter_fills},
    {"replay filter sees each bit", test_filter_bits},
    {"replay filter's size", test_filter_size},
    {"messages there and back", test_messages},
    {"bad messages are refused", test_bad_messages})
