/* The replay filter: open addressing over buckets of one cache line.
 *
 * One half of a tag gives its bucket, both its fingerprint. A look-up
 * reads the bucket and, only when that is full, the ones after it. At five
 * eighths full nine look-ups in ten touch one line of memory, which is what
 * they cost; whether a bucket is full is a branch that waits for memory, so a
 * fuller table is slower than its loads alone would say.
 *
 * A sender knows the tags of its own packets and could try many seeds until
 * they share a bucket. So the bucket comes from a keyed hash, the high half of
 * a * x modulo 2^128 for a secret odd a: two values share it with probability
 * at most 2/buckets whatever they are (Dietzfelbinger, Hagerup, Katajainen,
 * Penttonen, J. Algorithms 25, 1997). It takes two multiplications, few enough
 * instructions that the processor overlaps one look-up with the next.
 *
 * False positives: a look-up compares fewer than 64 fingerprints (but for a
 * chance too small to matter), each equal by accident with 2^-64. Fingerprints
 * are hashes of secrets that only sender and hop share, so nobody can aim at
 * another's.
 */
#include "postern/sphinx.h"

#include "base/bytes.h"

#define BUCKET 8 /* slots: 64 bytes */
#define BUCKET_FILL 5 /* of them in use on average, when full */

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
	r->multiplier[0] = load_le64(key) | 1;
	r->multiplier[1] = load_le64(key + 8);
}

struct place {
	uint64_t bucket, fingerprint;
};

static struct place
place_of(const struct sphinx_replay *r, const uint8_t once[static 16])
{
	uint64_t x = load_le64(once);
	u128 low = (u128)r->multiplier[0] * x;
	uint64_t h = (uint64_t)(low >> 64) + r->multiplier[1] * x;
	struct place p;

	p.bucket = (uint64_t)((u128)h * r->buckets >> 64);
	p.fingerprint = load_le64(once + 8) + h; /* all bits of the tag count */
	p.fingerprint += p.fingerprint == 0; /* zero is a free slot */
	return p;
}

/* The slot that holds P's fingerprint, or the free one where it belongs.
 * There is one: count never exceeds capacity, which is less than the slots.
 * A bucket is compared as a whole, for which slot of it fits is beyond what a
 * branch predictor can know, and a wrong guess waits for memory. */
static uint64_t *
find(const struct sphinx_replay *r, struct place p)
{
	for (;;) {
		uint64_t *slot = r->slots + p.bucket * BUCKET;
		unsigned fits = 0;
		for (unsigned i = 0; i < BUCKET; i++) {
			bool same = slot[i] == p.fingerprint;
			fits |= (unsigned)(same | (slot[i] == 0)) << i;
		}
		/* Slots fill in order, so the first that fits is the one. */
		if (fits != 0)
			return &slot[__builtin_ctz(fits)];
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
