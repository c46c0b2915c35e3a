/* The journal's reader: a header, records, and what a ledger makes of them.
 *
 * Checksums would keep a fuzzer out of everything behind them, so an input is
 * a recipe for a file:
 *
 *	u8        1: mend the header's check; 2: a byte in its padding;
 *	          4: mend the records' checks; 8: give them to a ledger
 *	120       the header up to its padding
 *	65 each   u8: 1: do not mend this one; then a record
 */
#include "fuzz.h"

#include <sodium.h>
#include <sys/mman.h>

#include "store/journal_format.h"

#define RECIPE_HEADER 120
#define HEADER_CHECK 104
#define RECORD_CHECK 56

static struct ledger ledger;

/* Pages that are not touched cost nothing. */
static void *
take(void *ctx)
{
	void *chunk = mmap(NULL, LEDGER_CHUNK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)ctx;
	return chunk != MAP_FAILED ? chunk : NULL;
}

static void
give(void *ctx, void *chunk)
{
	(void)ctx;
	munmap(chunk, LEDGER_CHUNK);
}

/* Whatever is accepted has one spelling. */
static bool
read_header(struct journal_header *h, uint8_t flags, const uint8_t *in)
{
	uint8_t block[JOURNAL_HEADER] = {0}, again[JOURNAL_HEADER];
	enum status s;

	memcpy(block, in, RECIPE_HEADER);
	if ((flags & 1) != 0)
		crypto_generichash(
		    block + HEADER_CHECK, 16, block, HEADER_CHECK, NULL, 0);
	if ((flags & 2) != 0)
		block[RECIPE_HEADER + in[16] * 15] ^= 1;
	s = journal_header_decode(h, block, block + 32);
	if (s != ST_OK) {
		static const struct journal_header none;
		FUZZ_CHECK(memcmp(h, &none, sizeof(none)) == 0);
		return false;
	}
	journal_header_encode(again, h);
	FUZZ_CHECK(memcmp(again, block, JOURNAL_HEADER) == 0);
	return true;
}

static void
mend(uint8_t record[static JOURNAL_RECORD], uint64_t number,
    const uint8_t *file_id)
{
	uint8_t text[8 + RECORD_CHECK];

	for (unsigned i = 0; i < 8; i++)
		text[i] = (uint8_t)(number >> (56 - 8 * i));
	memcpy(text + 8, record, RECORD_CHECK);
	crypto_shorthash(record + RECORD_CHECK, text, sizeof(text), file_id);
}

/* What was taken is in the ledger, unless the epoch was closed or there are
 * too many. */
static void
apply(const struct journal_entry *e)
{
	usage_t u;

	if (e->kind == JOURNAL_CLOSE) {
		ledger_close(&ledger, e->closed, e->floor);
		FUZZ_CHECK(ledger.floor >= e->floor);
		while (ledger_tidy(&ledger, 1))
			;
	}
	if (e->kind != JOURNAL_COUNT ||
	    ledger_restore(&ledger, &e->count) != ST_OK)
		return;
	enum status s = ledger_look(&u, &ledger, &e->count.member);
	if (e->count.member.epoch < ledger.floor) {
		FUZZ_CHECK(s == ST_EPOCH_PAST);
		return;
	}
	FUZZ_CHECK(s == ST_OK && u.requests == e->count.requests);
	FUZZ_CHECK(u.bytes_up == e->count.bytes_up);
	FUZZ_CHECK(u.bytes_down == e->count.bytes_down);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ledger_memory memory = {take, give, NULL};
	struct journal_header h;
	struct journal_scan scan;
	uint64_t taken = 0;

	if (size < 1 + RECIPE_HEADER || !read_header(&h, data[0], data + 1))
		return 0;
	ledger_init(&ledger, &memory, 8, 0, h.floor);
	journal_scan_init(&scan, h.file_id);
	for (size_t at = 1 + RECIPE_HEADER; at + 1 + JOURNAL_RECORD <= size;
	     at += 1 + JOURNAL_RECORD) {
		uint8_t record[JOURNAL_RECORD], again[JOURNAL_RECORD];
		struct journal_entry e;
		uint64_t number = scan.number;
		memcpy(record, data + at + 1, JOURNAL_RECORD);
		if ((data[0] & 4) != 0 && (data[at] & 1) == 0)
			mend(record, number, h.file_id);
		bool torn = scan.torn;
		if (journal_scan_next(&scan, &e, record) != ST_OK) {
			FUZZ_CHECK(e.kind == JOURNAL_NONE);
			break;
		}
		FUZZ_CHECK(scan.number == number + 1);
		FUZZ_CHECK(scan.torn >= torn);
		FUZZ_CHECK(scan.torn == (e.kind == JOURNAL_NONE));
		if (e.kind == JOURNAL_NONE)
			continue;
		taken++;
		uint64_t durable = 0;
		for (unsigned i = 48; i < 56; i++)
			durable = durable << 8 | record[i];
		journal_record_encode(again, &e, durable, number, h.file_id);
		FUZZ_CHECK(memcmp(again, record, JOURNAL_RECORD) == 0);
		if ((data[0] & 8) != 0)
			apply(&e);
	}
	FUZZ_CHECK(scan.good == taken);
	ledger_clear(&ledger);
	FUZZ_CHECK(ledger.chunks == 0);
	return 0;
}
