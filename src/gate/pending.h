/* gate/pending.h: checks that are under way, and who waits for each.
 *
 * Identical proofs that arrive while the first is still being checked share
 * that check: the second waits for its result. Each waiter is a handle of the
 * caller's (base/slab.h) and waits for one check at most, so the waiters take
 * one place per slot of that slab and nothing here can be exhausted by asking
 * often. A waiter that dies leaves; a check nobody waits for any more still
 * runs to its end, and its result is of use to the cache.
 *
 * A pending check reserves nothing of a member's quota. Threads: the loop.
 */
#ifndef GATE_PENDING_H
#define GATE_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "gate/lru.h"
#include "gate/proof_cache.h"
#include "postern/attr.h"
#include "postern/status.h"

struct pending_waiter {
	handle_t who; /* slot 0: waits for nothing */
	uint32_t prev, next; /* slots of the waiters; 0: none */
	proof_digest_t digest; /* of the check it waits for */
};

struct pending {
	struct lru checks;
	struct pending_waiter *waiters; /* by slot of their handle */
	uint32_t slots;
};

/* Bytes of memory for CHECKS checks and handles with slots 1 to SLOTS. */
size_t pending_memory(uint32_t checks, uint32_t slots);

void pending_init(struct pending *p, void *memory, uint32_t checks,
    uint32_t slots, const uint8_t hash_key[static LRU_HASH_KEY]);

/* WHO waits for the check of DIGEST.
 * Out:     *first: nobody did before; the caller starts the check (and calls
 *          pending_take even if starting it fails).
 * Returns: ST_OK; ST_BUSY when there are as many checks as there may be;
 *          ST_INTERNAL for a handle that waits already or is out of range. */
enum status pending_join(struct pending *p, bool *first,
    const proof_digest_t *digest, handle_t who) WARN_UNUSED;

/* WHO is gone. No effect if it does not wait. */
void pending_leave(struct pending *p, handle_t who);

/* Take one waiter of DIGEST's check. When none is left, the check is forgotten
 * and the answer is false: call it until then.
 * In the meantime nobody new may join DIGEST: the caller is the loop and does
 * nothing else between the calls, or has put the result into the cache. */
bool
pending_take(struct pending *p, handle_t *who, const proof_digest_t *digest);

/* How many checks are under way. */
uint32_t pending_count(const struct pending *p);

#endif
