/* gate/epoch.h: the epoch that a proof belongs to, and its scope.
 *
 * Epoch number = floor(unix time / length). A member's nullifier is a function
 * of identity and scope alone, so the scope decides what can be linked: it
 * follows from the epoch, the slot (a member may hold several unlinkable
 * nullifiers in one epoch, each with its own quota) and the realm (two gateways
 * with different realms can not join their members' nullifiers).
 *
 *	no realm, one slot:  scope = epoch
 *	else:                scope = the first 31 bytes of SHA-256(
 *	    "postern/scope" || 0 || realm || 0 || epoch u64 BE || slot u16 BE)
 *
 * as an integer, in 32 bytes big-endian. The previous epoch is accepted for a
 * grace time after the turn, the next one shortly before it: a proof on its
 * way, and clocks that differ, must not make a member fail.
 *
 * Pure arithmetic on `wall`, seconds since 1970. A clock that jumps changes
 * what is accepted at once and back again as soon as it is right; that counts
 * are not lost by it is the ledger's part. Scopes are public: variable time.
 */
#ifndef GATE_EPOCH_H
#define GATE_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/status.h"

#define EPOCH_LENGTH_MIN 60 /* seconds: epochs fit 32 bits until 10000 AD */
#define EPOCH_LENGTH_MAX (366 * 86400)
#define EPOCH_SLOTS_MAX 1024
#define EPOCH_REALM_MAX 255

struct epoch_rules {
	uint32_t length; /* seconds */
	uint32_t grace; /* seconds after the turn; not above length */
	uint32_t early; /* seconds before the turn; not above length */
	uint32_t slots; /* 1 to EPOCH_SLOTS_MAX */
	char realm[EPOCH_REALM_MAX + 1]; /* "": none */
};

/* R can be used.
 * Returns: ST_OK; ST_BAD_VALUE, and *why is a phrase that says which and what
 *          is allowed (why may be NULL). */
enum status
epoch_rules_check(const struct epoch_rules *r, const char **why) WARN_UNUSED;

/* The epoch at WALL, when it began, and when it ends (the first second that is
 * not its own). */
uint64_t epoch_at(const struct epoch_rules *r, uint64_t wall);
uint64_t epoch_begin(const struct epoch_rules *r, uint64_t epoch);
uint64_t epoch_end(const struct epoch_rules *r, uint64_t epoch);

/* The scope of EPOCH and SLOT. */
void epoch_scope(uint8_t out[static 32], const struct epoch_rules *r,
    uint64_t epoch, uint16_t slot);

/* Whether a proof for EPOCH is accepted at WALL.
 * Returns: ST_OK; ST_EPOCH_PAST; ST_EPOCH_FUTURE. */
enum status epoch_accepts(
    const struct epoch_rules *r, uint64_t epoch, uint64_t wall) WARN_UNUSED;

/* The scopes of three epochs around one, sorted, so that a scope's slot is
 * found without hashing for each slot. 48 KiB; no pointers. */
struct epoch_book {
	struct epoch_rules rules;
	struct epoch_page {
		bool made;
		uint64_t epoch;
		struct epoch_line {
			uint64_t head; /* the scope's leading bytes */
			uint16_t slot;
		} lines[EPOCH_SLOTS_MAX];
	} pages[3];
};

/* Set up B; the rules must have passed epoch_rules_check. */
void epoch_book_init(struct epoch_book *b, const struct epoch_rules *r);

/* Find which epoch and slot SCOPE is, among the previous, the current and the
 * next epoch at WALL, and whether it is accepted now.
 * In/Out:  b; the first call after a turn hashes `slots` scopes.
 * Out:     *epoch, *slot; 0 when it is none of ours.
 * Returns: ST_OK; ST_EPOCH_PAST, ST_EPOCH_FUTURE (ours, not now);
 *          ST_SCOPE_UNKNOWN.
 * Time:    constant in `slots` but for its logarithm. */
enum status epoch_find(struct epoch_book *b, uint64_t *epoch, uint16_t *slot,
    const uint8_t scope[static 32], uint64_t wall) WARN_UNUSED;

#endif
