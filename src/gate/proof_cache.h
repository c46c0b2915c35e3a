/* gate/proof_cache.h: proofs that have been verified before.
 *
 * A member mints one proof an epoch and shows it with each request; the
 * pairing is paid once. A proof is known by its digest: SHA-256 over a secret
 * of this process and the proof's canonical bytes, so that nobody can search for
 * a collision off line. A secret in front is key enough as no input begins with
 * another (Bellare, Canetti, Krawczyk, "Pseudorandom functions revisited: the
 * cascade construction", FOCS 1996): the form, at a fixed place, says how long
 * the rest is. For nullifier and scope the digest has the member's tag, by which
 * counts are kept.
 *
 * Anybody can re-randomise a proof into any number of others that hold as
 * well, so the cache is kept by member: each has PROOF_CACHE_WAYS places, and
 * a further proof of the same member replaces the oldest of these, never
 * another member's. Members make room for each other by time of last use. The
 * member's name includes epoch and slot, so entries are per epoch by
 * construction; each remembers the serial of its root and is void when that
 * has left (gate/roots.h).
 *
 * Only proofs whose pairing held enter. Threads: the loop.
 */
#ifndef GATE_PROOF_CACHE_H
#define GATE_PROOF_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/lru.h"
#include "gate/member.h"
#include "postern/attr.h"
#include "postern/semaphore.h"

#define PROOF_DIGEST 32
#define PROOF_DIGEST_KEY 32
#define PROOF_CACHE_WAYS 3

/* The name of a proof: a plain value. */
typedef struct {
	uint8_t bytes[PROOF_DIGEST];
} proof_digest_t;

/* Digest P, a proof of M; all of P's members must be set, and M named with P's
 * nullifier and the epoch and slot of P's scope. */
void
proof_digest(proof_digest_t *out, const uint8_t key[static PROOF_DIGEST_KEY],
    const member_t *m, const struct semaphore_proof *p);

struct proof_cache {
	struct lru members;
};

/* Bytes of memory for MEMBERS members. */
size_t proof_cache_memory(uint32_t members);

void proof_cache_init(struct proof_cache *c, void *memory, uint32_t members,
    const uint8_t hash_key[static LRU_HASH_KEY]);

/* This proof of M held under the root with SERIAL. Counts as use. */
bool proof_cache_has(struct proof_cache *c, const member_t *m,
    const proof_digest_t *digest, uint32_t serial) WARN_UNUSED;

/* Remember that it holds. */
void proof_cache_add(struct proof_cache *c, const member_t *m,
    const proof_digest_t *digest, uint32_t serial);

/* Forget everything (the verification keys have changed). */
void proof_cache_clear(struct proof_cache *c);

#endif
