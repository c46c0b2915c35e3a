/* gate/member.h: what the gate calls a member within one epoch and slot.
 *
 * A member's only name is the nullifier. The ledger, its journal and the cache
 * of proofs do not keep it: they keep a tag,
 *
 *	tag = BLAKE2b-128(key; epoch u64 BE || slot u16 BE || nullifier)
 *
 * with a secret key. A tag is half as long; it is uniformly distributed and
 * nobody outside can foresee it, so that tables are indexed by it without
 * hashing again; and what is written to disk, or sent to a shared ledger, can
 * not be compared with the nullifiers that somebody else has recorded. Two
 * tags collide with a chance of n^2 / 2^129: never.
 *
 * The key belongs to the ledger and lives as long: a journal brings its own.
 */
#ifndef GATE_MEMBER_H
#define GATE_MEMBER_H

#include <stdint.h>

#include "postern/attr.h"

#define MEMBER_TAG 16
#define MEMBER_KEY 32

/* A member in one epoch and slot: a plain value. */
typedef struct {
	uint64_t epoch;
	uint8_t tag[MEMBER_TAG];
} member_t;

/* Name the member with NULLIFIER in EPOCH and SLOT. */
void member_name(member_t *out, const uint8_t key[static MEMBER_KEY],
    uint64_t epoch, uint16_t slot, const uint8_t nullifier[static 32]);

#endif
