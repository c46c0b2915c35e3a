#include "store/journal_format.h"

#include <sodium.h>
#include <string.h>

#include "base/bytes.h"

static const uint8_t magic[8] = {'P', 'O', 'S', 'T', 'E', 'R', 'N', 'J'};

/* Where things stand in a header ... */
enum {
	AT_VERSION = 8,
	AT_RECORD_SIZE = 12,
	AT_FILE_ID = 16,
	AT_IDENTITY = 32,
	AT_MEMBER_KEY = 64,
	AT_FLOOR = 96,
	AT_HEADER_CHECK = 104,
	HEADER_CHECK = 16,
	HEADER_END = AT_HEADER_CHECK + HEADER_CHECK,
};

/* ... and in a record. */
enum {
	AT_KIND = 0,
	AT_REQUESTS = 4,
	AT_EPOCH = 8,
	AT_TAG = 16,
	AT_UP = 32,
	AT_DOWN = 40,
	AT_DURABLE = 48,
	AT_CHECK = 56,
};

_Static_assert(JOURNAL_FILE_ID == crypto_shorthash_KEYBYTES, "SipHash-2-4");
_Static_assert(AT_CHECK + crypto_shorthash_BYTES == JOURNAL_RECORD, "64 bytes");
_Static_assert(AT_TAG + MEMBER_TAG == AT_UP, "a tag of 16 bytes");

void
journal_identity(uint8_t out[static JOURNAL_IDENTITY],
    const uint8_t message[static 32], const struct epoch_rules *rules)
{
	static const char label[] =
	    "postern/journal"; /* its NUL is hashed too */
	uint8_t length[4];
	crypto_generichash_state state;

	store_be32(length, rules->length);
	/* Each part has one length but for the realm, which is the last. */
	(void)crypto_generichash_init(&state, NULL, 0, JOURNAL_IDENTITY);
	(void)crypto_generichash_update(
	    &state, (const uint8_t *)label, sizeof(label));
	(void)crypto_generichash_update(&state, message, 32);
	(void)crypto_generichash_update(&state, length, sizeof(length));
	(void)crypto_generichash_update(
	    &state, (const uint8_t *)rules->realm, strlen(rules->realm));
	(void)crypto_generichash_final(&state, out, JOURNAL_IDENTITY);
}

static void
header_check(
    uint8_t out[static HEADER_CHECK], const uint8_t in[static JOURNAL_HEADER])
{
	(void)crypto_generichash(
	    out, HEADER_CHECK, in, AT_HEADER_CHECK, NULL, 0);
}

void
journal_header_encode(
    uint8_t out[static JOURNAL_HEADER], const struct journal_header *h)
{
	memset(out, 0, JOURNAL_HEADER);
	memcpy(out, magic, sizeof(magic));
	store_be32(out + AT_VERSION, JOURNAL_VERSION);
	store_be32(out + AT_RECORD_SIZE, JOURNAL_RECORD);
	memcpy(out + AT_FILE_ID, h->file_id, JOURNAL_FILE_ID);
	memcpy(out + AT_IDENTITY, h->identity, JOURNAL_IDENTITY);
	memcpy(out + AT_MEMBER_KEY, h->member_key, MEMBER_KEY);
	store_be64(out + AT_FLOOR, h->floor);
	header_check(out + AT_HEADER_CHECK, out);
}

/* The version comes before the check: another one may check differently. */
enum status
journal_header_decode(struct journal_header *h,
    const uint8_t in[static JOURNAL_HEADER],
    const uint8_t identity[static JOURNAL_IDENTITY])
{
	uint8_t check[HEADER_CHECK];

	memset(h, 0, sizeof(*h));
	if (memcmp(in, magic, sizeof(magic)) != 0)
		return ST_CORRUPT;
	if (load_be32(in + AT_VERSION) != JOURNAL_VERSION)
		return ST_BAD_VERSION;
	header_check(check, in);
	if (memcmp(check, in + AT_HEADER_CHECK, HEADER_CHECK) != 0 ||
	    load_be32(in + AT_RECORD_SIZE) != JOURNAL_RECORD ||
	    !sodium_is_zero(in + HEADER_END, JOURNAL_HEADER - HEADER_END))
		return ST_CORRUPT;
	if (memcmp(in + AT_IDENTITY, identity, JOURNAL_IDENTITY) != 0)
		return ST_FOREIGN;
	memcpy(h->file_id, in + AT_FILE_ID, JOURNAL_FILE_ID);
	memcpy(h->identity, in + AT_IDENTITY, JOURNAL_IDENTITY);
	memcpy(h->member_key, in + AT_MEMBER_KEY, MEMBER_KEY);
	h->floor = load_be64(in + AT_FLOOR);
	return ST_OK;
}

static void
record_check(uint8_t out[static crypto_shorthash_BYTES],
    const uint8_t in[static JOURNAL_RECORD], uint64_t number,
    const uint8_t file_id[static JOURNAL_FILE_ID])
{
	uint8_t text[8 + AT_CHECK];

	store_be64(text, number);
	memcpy(text + 8, in, AT_CHECK);
	(void)crypto_shorthash(out, text, sizeof(text), file_id);
}

void
journal_record_encode(uint8_t out[static JOURNAL_RECORD],
    const struct journal_entry *e, uint64_t durable, uint64_t number,
    const uint8_t file_id[static JOURNAL_FILE_ID])
{
	memset(out, 0, JOURNAL_RECORD);
	out[AT_KIND] = (uint8_t)e->kind;
	if (e->kind == JOURNAL_COUNT) {
		store_be32(out + AT_REQUESTS, e->count.requests);
		store_be64(out + AT_EPOCH, e->count.member.epoch);
		memcpy(out + AT_TAG, e->count.member.tag, MEMBER_TAG);
		store_be64(out + AT_UP, e->count.bytes_up);
		store_be64(out + AT_DOWN, e->count.bytes_down);
	} else if (e->kind == JOURNAL_CLOSE) {
		store_be64(out + AT_EPOCH, e->closed);
		store_be64(out + AT_UP, e->floor);
	}
	store_be64(out + AT_DURABLE, durable);
	record_check(out + AT_CHECK, out, number, file_id);
}

/* Read a record whose check holds: false if it says what we never write. */
static bool
record_decode(struct journal_entry *e, const uint8_t in[static JOURNAL_RECORD])
{
	uint8_t again[JOURNAL_RECORD];

	*e = (struct journal_entry){.kind = (enum journal_kind)in[AT_KIND]};
	if (in[AT_KIND] < JOURNAL_COUNT || in[AT_KIND] > JOURNAL_SEAL)
		return false;
	if (e->kind == JOURNAL_COUNT) {
		e->count.requests = load_be32(in + AT_REQUESTS);
		e->count.member.epoch = load_be64(in + AT_EPOCH);
		memcpy(e->count.member.tag, in + AT_TAG, MEMBER_TAG);
		e->count.bytes_up = load_be64(in + AT_UP);
		e->count.bytes_down = load_be64(in + AT_DOWN);
		if (e->count.bytes_up > USAGE_BYTES_MAX ||
		    e->count.bytes_down > USAGE_BYTES_MAX)
			return false;
	} else if (e->kind == JOURNAL_CLOSE) {
		e->closed = load_be64(in + AT_EPOCH);
		e->floor = load_be64(in + AT_UP);
	}
	/* One spelling: what is not used is zero. */
	static const uint8_t no_id[JOURNAL_FILE_ID];
	journal_record_encode(again, e, load_be64(in + AT_DURABLE), 0, no_id);
	return memcmp(again, in, AT_CHECK) == 0;
}

void
journal_scan_init(
    struct journal_scan *s, const uint8_t file_id[static JOURNAL_FILE_ID])
{
	*s = (struct journal_scan){0};
	memcpy(s->file_id, file_id, JOURNAL_FILE_ID);
}

enum status
journal_scan_next(struct journal_scan *s, struct journal_entry *e,
    const uint8_t in[static JOURNAL_RECORD])
{
	uint8_t check[crypto_shorthash_BYTES];
	uint64_t number = s->number++;
	uint64_t durable = load_be64(in + AT_DURABLE);
	bool holds;

	record_check(check, in, number, s->file_id);
	holds = memcmp(check, in + AT_CHECK, sizeof(check)) == 0;
	/* One of ours that says what we never write: not the disk's doing. */
	if (holds && (!record_decode(e, in) || durable > number)) {
		e->kind = JOURNAL_NONE;
		return ST_CORRUPT;
	}
	if (holds && !s->torn) {
		s->good++;
		return ST_OK;
	}
	*e = (struct journal_entry){.kind = JOURNAL_NONE};
	s->torn = true;
	return holds && durable > s->good ? ST_CORRUPT : ST_OK;
}
