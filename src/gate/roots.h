/* gate/roots.h: the set of Merkle roots that proofs may be for.
 *
 * A root stands for one state of one group's member list, and says which group
 * a proof belongs to: quota and ports follow. When a list changes, its last
 * root stays accepted for a time, so that a proof made just before passes; a
 * member who was taken out is therefore out after that time, or at once when
 * the operator drops the replaced roots.
 *
 * The set is bounded. When it is full, the replaced root that would expire
 * first makes room: refusing early is safe, and happens only when a list
 * changes very often. A group's current root is never evicted.
 *
 * Each time a root enters the set it gets a new serial number; what was
 * decided under one serial (a cached proof) is void under another.
 *
 * Times are milliseconds of the steady clock (gate/now.h). Threads: the loop.
 */
#ifndef GATE_ROOTS_H
#define GATE_ROOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/lru.h"
#include "postern/attr.h"
#include "postern/status.h"

/* How many groups there are at most: their ids are 0 to ROOT_GROUPS_MAX - 1. */
#define ROOT_GROUPS_MAX 64

/* An expiry that never comes: the root is current. */
#define ROOT_CURRENT UINT64_MAX

/* An accepted root: a plain value. */
struct root {
	uint8_t root[32]; /* big-endian; first: it is the key */
	uint64_t expires; /* mono, ms; ROOT_CURRENT */
	uint64_t members;
	uint32_t serial; /* never 0 */
	uint16_t group;
	uint16_t depth; /* of the group's tree */
};

struct roots {
	struct lru table;
	uint64_t keep; /* ms that a replaced root stays */
	uint32_t next_serial;
};

/* Bytes of memory for CAPACITY roots of all groups, which must be above the
 * number of groups. */
size_t roots_memory(uint32_t capacity);

/* Set up R, empty: no root is accepted.
 * In:  keep, how long a replaced root stays, in ms; 0: not at all. */
void roots_init(struct roots *r, void *memory, uint32_t capacity, uint64_t keep,
    const uint8_t hash_key[static LRU_HASH_KEY]);

/* Make ROOT the current one of GROUP; the one before stays for `keep` ms from
 * NOW. The same root again changes nothing. A root that had been replaced and
 * comes back is current again.
 * In:      root->root, group, depth and members; the rest is set here.
 * Returns: ST_OK; ST_DUPLICATE when it is the current root of another group
 *          (the root could not say which): nothing is changed; ST_BUSY when
 *          the set is full of current roots; ST_BAD_VALUE for a group out of
 *          range. */
enum status
roots_set(struct roots *r, const struct root *root, uint64_t mono) WARN_UNUSED;

/* GROUP's current root, or NULL. Valid until the set changes. */
const struct root *roots_current(const struct roots *r, uint16_t group);

/* End GROUP: none of its roots is accepted any more. */
void roots_drop_group(struct roots *r, uint16_t group);

/* Drop the replaced roots of GROUP now: who was taken out is out. */
void roots_drop_replaced(struct roots *r, uint16_t group);

/* Change how long replaced roots stay, from the next one on; those that would
 * now stay longer than that are cut short. */
void roots_set_keep(struct roots *r, uint64_t keep, uint64_t mono);

/* Find an accepted root.
 * Out:     *out, a copy; zero on failure.
 * Returns: ST_OK; ST_ROOT_UNKNOWN.
 * Time:    constant on average, whatever ROOT is. */
enum status roots_find(struct root *out, const struct roots *r,
    const uint8_t root[static 32], uint64_t mono) WARN_UNUSED;

/* Forget what has expired. To be called now and then; roots_find does not
 * depend on it. */
void roots_tidy(struct roots *r, uint64_t mono);

/* Copy the accepted roots, current ones first, at most CAP: for the well-known
 * document. Returns: how many there are, which may be above CAP. */
size_t
roots_list(struct root *out, size_t cap, const struct roots *r, uint64_t mono);

#endif
