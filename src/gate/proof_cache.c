#include "gate/proof_cache.h"

#include <sodium.h>
#include <string.h>

#include "base/bytes.h"

/* Bytes of the points in either form; the rest is zero. */
#define AFFINE 256
#define COMPRESSED 128

/* Four signals; then the points. */
#define DIGEST_INPUT (4 * 32)

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
    const struct semaphore_proof *p)
{
	uint8_t in[DIGEST_INPUT + AFFINE];
	uint8_t salt[crypto_generichash_blake2b_SALTBYTES] = {
	    (uint8_t)p->form, (uint8_t)p->depth};
	size_t points = p->form == SEMAPHORE_COMPRESSED ? COMPRESSED : AFFINE;

	/* The form says how long the rest is, so the bytes can be read in one
	 * way. In BLAKE2's salt, form and depth leave a compressed proof two
	 * blocks of input and not three. */
	memcpy(in, p->root, 32);
	memcpy(in + 32, p->nullifier, 32);
	memcpy(in + 64, p->message, 32);
	memcpy(in + 96, p->scope, 32);
	memcpy(in + DIGEST_INPUT, p->points, points);
	/* Fails only for lengths out of range. */
	(void)crypto_generichash_blake2b_salt_personal(out->bytes, PROOF_DIGEST,
	    in, DIGEST_INPUT + points, key, PROOF_DIGEST_KEY, salt, NULL);
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
