/* The token of a request, both ways: see postern/semaphore.h. */
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "bn254/fp.h"
#include "bn254/fr.h"
#include "semaphore/codec.h"

/* version u8 | depth u8 | epoch u32 | slot u16 | root 32 | nullifier 32 |
 * A 32 | B 64 | C 32, big-endian. */
enum {
	VERSION = 0x01,
	AT_DEPTH = 1,
	AT_EPOCH = 2,
	AT_SLOT = 6,
	AT_ROOT = 8,
	AT_NULLIFIER = 40,
	AT_POINTS = 72,
	COMPACT_LENGTH = 200
};

_Static_assert(
    (COMPACT_LENGTH * 8 + 5) / 6 == SEMAPHORE_COMPACT_LENGTH, "base64url");
_Static_assert(COMPACT_LENGTH - AT_POINTS == COMPRESSED_END, "points");

/* The two bits above a coordinate: which y, and what is no point to us. */
#define FLAGS 0xc0
#define FLAG_INFINITY 0x40
#define FLAG_AFFINE 0x00

/* The point at P is spelt right: its flags, and its coordinates below p. That
 * there is a point with this x is found out by semaphore_verify. */
static enum status
check_point(const uint8_t *p, size_t len)
{
	uint8_t x[32];

	if ((p[0] & FLAGS) == FLAG_INFINITY)
		return ST_INFINITY;
	if ((p[0] & FLAGS) == FLAG_AFFINE)
		return ST_BAD_ENCODING;
	for (size_t i = 0; i < len; i += 32) {
		memcpy(x, p + i, 32);
		if (i == 0)
			x[0] &= (uint8_t)~FLAGS;
		enum status st = fp_check_bytes(x);
		if (st != ST_OK)
			return st;
	}
	return ST_OK;
}

static enum status
read_scalar(uint8_t out[static 32], const uint8_t in[static 32],
    enum semaphore_field field, struct semaphore_fault *f)
{
	memcpy(out, in, 32);
	return fault_at(f, fr_check_bytes(in), field);
}

static enum status
read_compact(struct semaphore_proof *p, struct semaphore_token *t,
    const uint8_t *in, size_t len, struct semaphore_fault *f)
{
	static const struct {
		enum semaphore_field field;
		size_t at, len;
	} points[] = {{SEMAPHORE_A, COMPRESSED_A, 32},
	    {SEMAPHORE_B, COMPRESSED_B, 64}, {SEMAPHORE_C, COMPRESSED_C, 32}};
	enum status st;

	if (len > COMPACT_LENGTH)
		return fault_at(f, ST_TRAILING, SEMAPHORE_WHOLE);
	if (len < COMPACT_LENGTH)
		return fault_at(f, ST_BAD_LENGTH, SEMAPHORE_WHOLE);
	p->depth = in[AT_DEPTH];
	if (p->depth < SEMAPHORE_DEPTH_MIN || p->depth > SEMAPHORE_DEPTH_MAX)
		return fault_set(
		    f, ST_BAD_DEPTH, SEMAPHORE_DEPTH, -1, in[AT_DEPTH]);
	st = read_scalar(p->root, in + AT_ROOT, SEMAPHORE_ROOT, f);
	if (st == ST_OK)
		st = read_scalar(
		    p->nullifier, in + AT_NULLIFIER, SEMAPHORE_NULLIFIER, f);
	if (st != ST_OK)
		return st;
	for (unsigned i = 0; i < 3; i++) {
		st = check_point(in + AT_POINTS + points[i].at, points[i].len);
		if (st != ST_OK)
			return fault_at(f, st, points[i].field);
	}
	memcpy(p->points, in + AT_POINTS, COMPRESSED_END);
	p->form = SEMAPHORE_COMPRESSED;
	t->kind = SEMAPHORE_TOKEN_COMPACT;
	t->epoch = load_be32(in + AT_EPOCH);
	t->slot = load_be16(in + AT_SLOT);
	return fault_at(f, ST_OK, SEMAPHORE_WHOLE);
}

static enum status
read_bytes(struct semaphore_proof *p, struct semaphore_token *t,
    const uint8_t *in, size_t len, struct semaphore_fault *f)
{
	if (len != 0 && in[0] == VERSION)
		return read_compact(p, t, in, len, f);
	if (len == 0 || in[0] != '{')
		return fault_at(f, ST_BAD_VERSION, SEMAPHORE_WHOLE);
	if (semaphore_proof_from_json(p, in, len, f) == ST_OK)
		t->kind = SEMAPHORE_TOKEN_JSON;
	return f->status;
}

enum status
semaphore_token_decode(struct semaphore_proof *p, struct semaphore_token *t,
    const void *text, size_t len, struct semaphore_fault *f)
{
	uint8_t bytes[SEMAPHORE_TOKEN_MAX / 4 * 3];
	size_t n;
	enum status st;

	memset(p, 0, sizeof(*p));
	memset(t, 0, sizeof(*t));
	if (len > SEMAPHORE_TOKEN_MAX)
		return fault_at(f, ST_NO_SPACE, SEMAPHORE_WHOLE);
	st = base64_decode(
	    bytes, sizeof(bytes), &n, span_of(text, len), BASE64_URL);
	if (st != ST_OK)
		return fault_at(f, st, SEMAPHORE_WHOLE);
	if (read_bytes(p, t, bytes, n, f) != ST_OK) {
		memset(p, 0, sizeof(*p));
		memset(t, 0, sizeof(*t));
	}
	return f->status;
}

enum status
semaphore_token_compact(char out[static SEMAPHORE_COMPACT_LENGTH + 1],
    const struct semaphore_proof *p, uint32_t epoch, uint16_t slot)
{
	uint8_t bytes[COMPACT_LENGTH];

	out[0] = '\0';
	if (p->form != SEMAPHORE_COMPRESSED)
		return ST_BAD_VALUE;
	bytes[0] = VERSION;
	bytes[AT_DEPTH] = (uint8_t)p->depth;
	store_be32(bytes + AT_EPOCH, epoch);
	store_be16(bytes + AT_SLOT, slot);
	memcpy(bytes + AT_ROOT, p->root, 32);
	memcpy(bytes + AT_NULLIFIER, p->nullifier, 32);
	memcpy(bytes + AT_POINTS, p->points, COMPRESSED_END);
	base64_encode(out, span_of(bytes, sizeof(bytes)), BASE64_URL);
	return ST_OK;
}
