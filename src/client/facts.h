/* client/facts.h: what a gateway says of itself (GET /.well-known/postern, see
 * http/PROTOCOL.md section 5), as far as a client needs it.
 *
 * It is read as what it is, the word of somebody else: everything is bounded,
 * and what would make a member's nullifiers joinable is checked by the caller
 * against what it knows itself (the clock, the onion address). A scope is
 * computed here from epoch, realm and slot and never taken from the document:
 * a nullifier follows from scope and member alone, so a gateway that could name
 * any scope could ask for the nullifier that the member has at another.
 *
 * Pure. Threads: any.
 */
#ifndef CLIENT_FACTS_H
#define CLIENT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/epoch.h"
#include "postern/attr.h"
#include "postern/status.h"

#define FACTS_ROOTS_MAX 64
#define FACTS_GROUPS_MAX 16
#define FACTS_NAME_MAX 64
#define FACTS_PATH_MAX 160
/* Longest document that is read. */
#define FACTS_TEXT_MAX (256 * 1024)

struct facts_root {
	uint8_t root[32];
	uint32_t depth;
	char group[FACTS_NAME_MAX];
	bool current; /* else it has been replaced and is accepted a while */
};

struct facts_group {
	char name[FACTS_NAME_MAX];
	char members_path[FACTS_PATH_MAX]; /* "": the list is not published */
};

struct facts {
	struct epoch_rules rules;
	uint64_t epoch; /* by the gateway's clock */
	uint8_t message[32];
	bool any_message;
	size_t n_roots, n_groups;
	struct facts_root roots[FACTS_ROOTS_MAX];
	struct facts_group groups[FACTS_GROUPS_MAX];
};

/* Read TEXT.
 * Out:     f; zeroed on failure. *where, a constant: the member that is wrong,
 *          "" for the whole.
 * Returns: ST_OK; ST_NOT_JSON; ST_BAD_VERSION; ST_MISSING; ST_BAD_VALUE (a
 *          number out of bounds, or a scope that does not follow from the
 *          epoch). */
enum status facts_read(struct facts *f, const char **where, const void *text,
    size_t len) NONNULL WARN_UNUSED;

/* ROOT in F; NULL when the gateway does not take it. */
const struct facts_root *
facts_find_root(const struct facts *f, const uint8_t root[static 32]) NONNULL;

#endif
