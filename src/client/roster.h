/* client/roster.h: the member list, as far as this member needs it: its root
 * and the path from our own commitment to it.
 *
 * Building the tree takes time linear in the members (a second for some
 * millions), so this runs on a worker thread. Pure.
 */
#ifndef CLIENT_ROSTER_H
#define CLIENT_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/group.h"
#include "postern/status.h"

/* Longest list that is read: some ten million members. */
#define ROSTER_TEXT_MAX ((size_t)1 << 30)
#define ROSTER_WHY_MAX 256

/* A plain value. */
struct roster {
	uint8_t root[32];
	uint32_t depth; /* of the tree */
	uint64_t members;
	bool member; /* our commitment is in it: */
	struct group_proof path;
};

/* Build the roster of COMMITMENT from the text of a member file.
 * Out:     r; zeroed on failure, and why.
 * Returns: ST_OK (a member or not); as members_parse; ST_NO_MEMORY. */
enum status
roster_read(struct roster *r, char why[static ROSTER_WHY_MAX], const void *text,
    size_t len, const uint8_t commitment[static 32]) NONNULL WARN_UNUSED;

#endif
