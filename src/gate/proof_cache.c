#include "gate/proof_cache.h"

#include <string.h>

#include "base/wipe.h"
#include "hash/sha256.h"

/* Bytes of the points in either form; the rest is zero. */
#define AFFINE 256
#define COMPRESSED 128

/* Where the parts of the digest's input begin; the points end it. */
enum {
	AT_MEMBER = PROOF_DIGEST_KEY,
	AT_FORM = AT_MEMBER + MEMBER_TAG,
	AT_DEPTH = AT_FORM + 1,
	AT_ROOT = AT_DEPTH + 1,
	AT_MESSAGE = AT_ROOT + 32,
	AT_POINTS = AT_MESSAGE + 32,
};

_Static_assert(
    AT_POINTS + COMPRESSED + 9 <= 4 * 64, "four blocks with their padding");

struct cached {
	uint8_t tag[MEMBER_TAG]; /* the key; includes epoch and slot */
	struct {
		proof_digest_t digest;
		uint32_t serial; /* of the root; 0: empty */
	} way[PROOF_CACHE_WAYS];
	uint32_t next; /* the way that is replaced next */
};

_Static_assert(sizeof(struct cached) % 8 == 0, "as lru.h wants it");
_Static_assert(
    sizeof(((struct semaphore_proof *)0)->points) == AFFINE, "all of it");

void
proof_digest(proof_digest_t *out, const uint8_t key[static PROOF_DIGEST_KEY],
    const member_t *m, const struct semaphore_proof *p)
{
	uint8_t in[AT_POINTS + AFFINE];
	size_t points = p->form == SEMAPHORE_COMPRESSED ? COMPRESSED : AFFINE;

	/* The form says how long the rest is, so the bytes can be read in one
	 * way. The member's tag stands for nullifier, epoch and slot: 16 bytes
	 * instead of 64, and all of a compressed proof is four blocks. */
	memcpy(in, key, PROOF_DIGEST_KEY);
	memcpy(in + AT_MEMBER, m->tag, MEMBER_TAG);
	in[AT_FORM] = (uint8_t)p->form;
	in[AT_DEPTH] = (uint8_t)p->depth;
	memcpy(in + AT_ROOT, p->root, 32);
	memcpy(in + AT_MESSAGE, p->message, 32);
	memcpy(in + AT_POINTS, p->points, points);
	sha256(out->bytes, span_of(in, AT_POINTS + points));
	wipe(in, PROOF_DIGEST_KEY);
}

size_t
proof_cache_memory(uint32_t members)
{
	return lru_memory(members, sizeof(struct cached));
}

void
proof_cache_init(struct proof_cache *c, void *memory, uint32_t members,
    const uint8_t hash_key[static LRU_HASH_KEY])
{
	lru_init(&c->members, memory, members, sizeof(struct cached),
	    MEMBER_TAG, hash_key);
}

bool
proof_cache_has(struct proof_cache *c, const member_t *m,
    const proof_digest_t *digest, uint32_t serial)
{
	struct cached *e = lru_find(&c->members, m->tag);

	if (e == NULL || serial == 0)
		return false;
	for (unsigned i = 0; i < PROOF_CACHE_WAYS; i++) {
		if (e->way[i].serial == serial &&
		    memcmp(&e->way[i].digest, digest, sizeof(*digest)) == 0) {
			lru_touch(&c->members, e);
			return true;
		}
	}
	return false;
}

void
proof_cache_add(struct proof_cache *c, const member_t *m,
    const proof_digest_t *digest, uint32_t serial)
{
	struct cached *e = lru_find(&c->members, m->tag);

	if (serial == 0 || proof_cache_has(c, m, digest, serial))
		return;
	if (e != NULL) {
		lru_touch(&c->members, e);
	} else {
		if (c->members.used == c->members.capacity)
			lru_remove(&c->members, lru_oldest(&c->members));
		e = lru_add(&c->members, m->tag);
	}
	e->way[e->next].digest = *digest;
	e->way[e->next].serial = serial;
	e->next = (e->next + 1) % PROOF_CACHE_WAYS;
}

void
proof_cache_clear(struct proof_cache *c)
{
	lru_clear(&c->members);
}
