/* The replay filter: open addressing over buckets of one cache line.
 *
 * A tag's keyed hash gives its bucket (by multiplication, so that any number
 * of buckets will do) and its fingerprint, 64 bits of each. A look-up reads
 * the bucket and, only when that is full, the ones after it. At three quarters
 * full most look-ups touch one line of memory, which is all that they cost.
 *
 * False positives: a look-up compares fewer than 64 fingerprints (but for a
 * chance too small to matter), each equal by accident with 2^-64.
 */
#include "postern/sphinx.h"

#include <string.h>

#include <sodium.h>

#include "base/bytes.h"

#define BUCKET 8 /* slots: 64 bytes */
#define BUCKET_FILL 6 /* of them in use on average, when full */

__extension__ typedef unsigned __int128 u128;

static uint64_t
bucket_count(uint64_t capacity)
{
	return capacity / BUCKET_FILL + 1;
}

size_t
sphinx_replay_size(uint64_t capacity)
{
	uint64_t buckets = bucket_count(capacity);

	if (buckets > SIZE_MAX / (BUCKET * sizeof(uint64_t)))
		return 0;
	return (size_t)buckets * BUCKET * sizeof(uint64_t);
}

void
sphinx_replay_init(struct sphinx_replay *r, void *memory, uint64_t capacity,
    const uint8_t key[static 16])
{
	r->slots = memory;
	r->buckets = bucket_count(capacity);
	r->count = 0;
	r->capacity = capacity;
	memcpy(r->key, key, sizeof(r->key));
}

struct place {
	uint64_t bucket, fingerprint;
};

static struct place
place_of(const struct sphinx_replay *r, const uint8_t once[static 16])
{
	uint8_t h[crypto_shorthash_siphashx24_BYTES];
	struct place p;

	crypto_shorthash_siphashx24(h, once, 16, r->key);
	p.bucket = (uint64_t)((u128)load_le64(h) * r->buckets >> 64);
	p.fingerprint = load_le64(h + 8);
	p.fingerprint += p.fingerprint == 0; /* zero is a free slot */
	return p;
}

/* The slot that holds P's fingerprint, or the free one where it belongs.
 * There is one: count never exceeds capacity, which is less than the slots. */
static uint64_t *
find(const struct sphinx_replay *r, struct place p)
{
	for (;;) {
		uint64_t *slot = r->slots + p.bucket * BUCKET;
		for (int i = 0; i < BUCKET; i++) {
			if (slot[i] == p.fingerprint || slot[i] == 0)
				return &slot[i];
		}
		if (++p.bucket == r->buckets)
			p.bucket = 0;
	}
}

bool
sphinx_replay_seen(const struct sphinx_replay *r, const uint8_t once[static 16])
{
	return *find(r, place_of(r, once)) != 0;
}

enum status
sphinx_replay_insert(struct sphinx_replay *r, const uint8_t once[static 16])
{
	struct place p = place_of(r, once);
	uint64_t *slot = find(r, p);

	if (*slot != 0)
		return ST_REPLAY;
	if (r->count >= r->capacity)
		return ST_BUSY;
	*slot = p.fingerprint;
	r->count++;
	return ST_OK;
}

void
sphinx_replay_prefetch(
    const struct sphinx_replay *r, const uint8_t once[static 16])
{
	__builtin_prefetch(r->slots + place_of(r, once).bucket * BUCKET);
}
