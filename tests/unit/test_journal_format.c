/* The journal's bytes: spellings, torn tails, damage, power cuts. */
#include <stdlib.h>

#include "base/bytes.h"
#include "harness.h"
#include "store/journal_format.h"

static const uint8_t file_id[JOURNAL_FILE_ID] = {9, 8, 7};
static const struct epoch_rules rules = {.length = 86400, .slots = 1};

static struct journal_header
header_of(uint64_t floor)
{
	const uint8_t message[32] = {1};
	struct journal_header h = {.floor = floor};

	memcpy(h.file_id, file_id, sizeof(file_id));
	journal_identity(h.identity, message, &rules);
	test_random_bytes(h.member_key, sizeof(h.member_key));
	return h;
}

static void
test_header(void)
{
	uint8_t block[JOURNAL_HEADER];
	struct journal_header h = header_of(12345), got;
	static const struct journal_header none;

	journal_header_encode(block, &h);
	CHECK_STATUS(journal_header_decode(&got, block, h.identity), ST_OK);
	CHECK_MEM(&got, &h, sizeof(h));

	/* Every single bit counts. */
	for (size_t i = 0; i < JOURNAL_HEADER; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			block[i] ^= (uint8_t)(1 << bit);
			enum status s =
			    journal_header_decode(&got, block, h.identity);
			CHECK_STATUS(
			    s, i >= 8 && i < 12 ? ST_BAD_VERSION : ST_CORRUPT);
			CHECK_MEM(&got, &none, sizeof(got));
			block[i] ^= (uint8_t)(1 << bit);
		}
	}
	memset(block, 0, sizeof(block));
	CHECK_STATUS(
	    journal_header_decode(&got, block, h.identity), ST_CORRUPT);
}

/* Counts mean the same only under the same audience, realm and length. */
static void
test_identity(void)
{
	uint8_t a[JOURNAL_IDENTITY], b[JOURNAL_IDENTITY], block[JOURNAL_HEADER];
	uint8_t message[32] = {1};
	struct epoch_rules r = rules;
	struct journal_header h = header_of(0), got;

	journal_identity(a, message, &r);
	CHECK_MEM(a, h.identity, sizeof(a));
	r.grace = 5;
	r.early = 6;
	r.slots = 7;
	journal_identity(b, message, &r);
	CHECK_MEM(a, b, sizeof(a));
	strcpy(r.realm, "north");
	journal_identity(b, message, &r);
	CHECK(memcmp(a, b, sizeof(a)) != 0);
	r = rules;
	r.length++;
	journal_identity(b, message, &r);
	CHECK(memcmp(a, b, sizeof(a)) != 0);
	message[31] = 1;
	journal_identity(b, message, &rules);
	CHECK(memcmp(a, b, sizeof(a)) != 0);
	journal_header_encode(block, &h);
	CHECK_STATUS(journal_header_decode(&got, block, b), ST_FOREIGN);
}

static struct journal_entry
count_of(uint32_t n)
{
	struct journal_entry e = {.kind = JOURNAL_COUNT};

	e.count.member.epoch = 20000 + n % 2;
	store_be32(e.count.member.tag, n);
	e.count.requests = n;
	e.count.bytes_up = (uint64_t)n << 16;
	e.count.bytes_down = USAGE_BYTES_MAX - n;
	return e;
}

static void
test_record(void)
{
	const struct journal_entry entries[] = {
	    count_of(UINT32_MAX),
	    {.kind = JOURNAL_CLOSE, .closed = UINT64_MAX, .floor = 3},
	    {.kind = JOURNAL_MARK},
	    {.kind = JOURNAL_SEAL},
	    count_of(0),
	};
	struct journal_entry e;
	struct journal_scan s;
	uint8_t block[JOURNAL_RECORD];

	journal_scan_init(&s, file_id);
	for (uint64_t i = 0; i < 5; i++) {
		journal_record_encode(block, &entries[i], i, i, file_id);
		CHECK_STATUS(journal_scan_next(&s, &e, block), ST_OK);
		CHECK_INT(e.kind, entries[i].kind);
		CHECK_MEM(&e.count, &entries[i].count, sizeof(e.count));
		CHECK_INT(e.closed, entries[i].closed);
		CHECK_INT(e.floor, entries[i].floor);
	}
	CHECK_INT(s.good, 5);
	CHECK(!s.torn);
}

/* A whole file in memory, in batches as the writer makes them. */
#define RECORDS 400
static uint8_t records[RECORDS][JOURNAL_RECORD];
static uint64_t durable_at[RECORDS]; /* what each says was synced */

static void
make_records(void)
{
	uint64_t synced = 0, batch_end = 0;

	for (uint64_t i = 0; i < RECORDS; i++) {
		struct journal_entry e = count_of((uint32_t)i);
		if (i == batch_end) {
			synced = i;
			batch_end = i + 1 + test_random() % 100;
		}
		durable_at[i] = synced;
		journal_record_encode(records[i], &e, synced, i, file_id);
	}
}

/* Scan what is in RECORDS. Out: how many records were taken, in order. */
static enum status
scan(uint64_t n, uint64_t *good)
{
	struct journal_scan s;
	struct journal_entry e;

	*good = 0;
	journal_scan_init(&s, file_id);
	for (uint64_t i = 0; i < n; i++) {
		enum status st = journal_scan_next(&s, &e, records[i]);
		if (st != ST_OK)
			return st;
		if (e.kind == JOURNAL_NONE)
			continue;
		CHECK_INT(e.count.requests, i);
		CHECK_INT(i, *good); /* none after one that is missing */
		++*good;
	}
	CHECK_INT(s.good, *good);
	CHECK(s.torn == (*good < n));
	return ST_OK;
}

/* A flipped bit anywhere: refused if somebody was told that it was safe,
 * cut off if not, and never taken for something else. */
static void
test_bit_flips(void)
{
	uint64_t good;

	make_records();
	CHECK_STATUS(scan(RECORDS, &good), ST_OK);
	CHECK_INT(good, RECORDS);
	for (uint64_t i = 0; i < RECORDS; i++) {
		for (unsigned bit = 0; bit < 8 * JOURNAL_RECORD; bit += 7) {
			uint8_t *at = &records[i][bit / 8];
			*at ^= (uint8_t)(1 << bit % 8);
			enum status s = scan(RECORDS, &good);
			*at ^= (uint8_t)(1 << bit % 8);
			if (i < durable_at[RECORDS - 1]) {
				CHECK_STATUS(s, ST_CORRUPT);
			} else {
				CHECK_STATUS(s, ST_OK);
				CHECK_INT(good, i);
			}
		}
	}
}

/* A power cut: what was synced is there; of what was written after that, any
 * part may be, in any order. */
static void
test_power_cut(void)
{
	static uint8_t whole[RECORDS][JOURNAL_RECORD];
	uint64_t good;

	for (int run = 0; run < 300; run++) {
		make_records();
		memcpy(whole, records, sizeof(whole));
		/* The cut comes in the batch that the last record is of. */
		uint64_t n = 1 + test_random() % RECORDS;
		uint64_t safe = durable_at[n - 1], first_lost = n;
		for (uint64_t i = safe; i < n; i++) {
			switch (test_random() % 4) {
			case 0: /* never written */
				memset(records[i], 0, JOURNAL_RECORD);
				break;
			case 1: /* in part */
				memset(records[i] + test_random() % 64, 0, 1);
				break;
			case 2: /* a former file's block shines through */
				journal_record_encode(records[i],
				    &(struct journal_entry){
					.kind = JOURNAL_MARK},
				    i, i, (const uint8_t[JOURNAL_FILE_ID]){1});
				break;
			default:
				break;
			}
			if (first_lost == n &&
			    memcmp(records[i], whole[i], JOURNAL_RECORD) != 0)
				first_lost = i;
		}
		CHECK_STATUS(scan(n, &good), ST_OK);
		CHECK_INT(good, first_lost);
		CHECK(good >= safe);
	}
}

/* Two records change places; one is there twice; one of another file. */
static void
test_order(void)
{
	uint8_t saved[JOURNAL_RECORD];
	uint64_t good;

	make_records();
	memcpy(saved, records[10], JOURNAL_RECORD);
	memcpy(records[10], records[11], JOURNAL_RECORD);
	memcpy(records[11], saved, JOURNAL_RECORD);
	CHECK_STATUS(scan(RECORDS, &good), ST_CORRUPT);
	make_records();
	memcpy(records[11], records[10], JOURNAL_RECORD);
	CHECK_STATUS(scan(RECORDS, &good), ST_CORRUPT);
	make_records();
	struct journal_entry e = count_of(11);
	journal_record_encode(
	    records[11], &e, 0, 11, (const uint8_t[JOURNAL_FILE_ID]){1});
	CHECK_STATUS(scan(RECORDS, &good), ST_CORRUPT);
}

/* A check that holds over what we never write is no accident of the disk. */
static void
test_never_written(void)
{
	struct journal_entry bad[3] = {
	    count_of(1), count_of(1), {.kind = (enum journal_kind)9}};
	struct journal_entry e;
	struct journal_scan s;
	uint8_t block[JOURNAL_RECORD];

	bad[0].count.bytes_up = USAGE_BYTES_MAX + 1;
	bad[1].count.bytes_down = UINT64_MAX;
	for (unsigned i = 0; i < 3; i++) {
		journal_scan_init(&s, file_id);
		journal_record_encode(block, &bad[i], 0, 0, file_id);
		CHECK_STATUS(journal_scan_next(&s, &e, block), ST_CORRUPT);
		CHECK_INT(e.kind, JOURNAL_NONE);
	}
	/* More synced than there was. */
	bad[0] = count_of(1);
	journal_scan_init(&s, file_id);
	journal_record_encode(block, &bad[0], 1, 0, file_id);
	CHECK_STATUS(journal_scan_next(&s, &e, block), ST_CORRUPT);
}

TESTS({"journal: header", test_header}, {"journal: whose it is", test_identity},
    {"journal: records", test_record},
    {"journal: flipped bits", test_bit_flips},
    {"journal: power cuts", test_power_cut}, {"journal: order", test_order},
    {"journal: what is never written", test_never_written})
