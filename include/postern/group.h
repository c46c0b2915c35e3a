/* postern/group.h: a group of members: its tree, and its member file.
 *
 * A group is a list of identity commitments, the leaves of a Lean Incremental
 * Merkle Tree (LeanIMT, @zk-kit/lean-imt): binary, Poseidon over two children,
 * a node without a right sibling is its own parent, and the depth is the least
 * that holds the leaves: ceil(log2(size)). So the root of one member is that
 * member's commitment, at depth 0.
 *
 * A gateway needs the root alone; a member needs the path from its leaf. A
 * member taken out of a file takes its line along, so that the leaves behind
 * it move up: the root is that of the list that is left (not that of the
 * official removeMember, which keeps a zero in the place).
 *
 * Commitments are 32 bytes, big-endian, not zero, below r. They are public
 * within the group: variable time. Threads: any number read one group; a
 * change needs it alone.
 */
#ifndef POSTERN_GROUP_H
#define POSTERN_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/runner.h"
#include "postern/status.h"

/* Deepest tree that a circuit exists for, and so the largest group. */
#define GROUP_DEPTH_MAX 32

/* One commitment. */
struct group_member {
	uint8_t commitment[32];
};

/* What a gateway keeps of a group: a plain value. */
struct group_root {
	uint8_t root[32]; /* zero for an empty group */
	uint32_t depth;
	uint64_t size;
};

/* The tree of a group, with all its nodes: 64 bytes a member. */
struct group;

/* Make an empty group. Out: *g, which the caller frees; NULL on failure.
 * Returns: ST_OK; ST_NO_MEMORY. */
enum status group_new(struct group **g) NONNULL WARN_UNUSED;

void group_free(struct group *g);

/* Add N members behind those that are there, as fast as can be: each new node
 * is hashed once, several side by side.
 * In:      runner, NULL to stay on this thread.
 * Returns: ST_OK; ST_BAD_VALUE (a zero), ST_NOT_CANONICAL (not below r),
 *          ST_NO_SPACE (more than 2^32 members), ST_NO_MEMORY: then the group
 *          is as before. Duplicates are not looked for: group_find does. */
enum status group_add(struct group *g, const struct group_member *members,
    size_t n, const struct runner *runner) NONNULL_ARGS(1) WARN_UNUSED;

/* The root, depth and size as they are now. */
void group_root(struct group_root *out, const struct group *g) NONNULL;

/* Only the root of N members, without keeping a tree: a few bits a
 * member of memory while it works.
 * Returns: as group_add. On failure *out is zero. */
enum status
group_root_of(struct group_root *out, const struct group_member *members,
    size_t n, const struct runner *runner) NONNULL_ARGS(1) WARN_UNUSED;

/* Where COMMITMENT is (the first, if it is there more than once).
 * Returns: ST_OK; ST_NOT_FOUND. */
enum status group_find(const struct group *g, size_t *index,
    const uint8_t commitment[static 32]) NONNULL WARN_UNUSED;

/* The path from a leaf to the root, as the official generateMerkleProof has
 * it. A level where the node has no sibling is left out, so that `index` has
 * one bit for each sibling (the lowest for the leaf's) and is not always the
 * leaf's place in the list. */
struct group_proof {
	uint8_t root[32];
	uint8_t leaf[32];
	uint64_t index;
	uint32_t length; /* how many siblings */
	uint8_t siblings[GROUP_DEPTH_MAX][32];
};

/* The path of the leaf at PLACE in the list.
 * Returns: ST_OK; ST_NOT_FOUND when there is no such leaf. */
enum status group_proof(struct group_proof *out, const struct group *g,
    size_t place) NONNULL WARN_UNUSED;

/* Walk P from its leaf: true when that leads to its root. */
bool group_proof_holds(const struct group_proof *p) NONNULL WARN_UNUSED;

/* --- the member file ---
 *
 * Text, one decimal commitment a line. '#' begins a comment, to the end of the
 * line; blank lines, and blanks around a commitment, count for nothing. A line
 * ends with LF or CR LF, the last may lack it.
 */

/* A file that is not right: why, and where. */
struct members_fault {
	enum status status;
	size_t line; /* from 1; 0: the file as a whole */
	size_t first_line; /* ST_DUPLICATE: where it stands already */
};

/* Longest text of a fault, with the NUL. */
#define MEMBERS_FAULT_MAX 96

/* Say F for people: "line 7: the same commitment as line 3". */
const char *members_fault_text(
    char out[static MEMBERS_FAULT_MAX], const struct members_fault *f) NONNULL;

/* What a file says: one owner, members_clear when done. */
struct members {
	struct group_member *list;
	size_t *lines; /* the line each stands on, from 1 */
	size_t n;
};

/* Read a member file.
 * Out:     m; on failure it is empty, and f says the first line that is wrong.
 * Returns: ST_OK; ST_BAD_ENCODING (not a canonical decimal); ST_BAD_VALUE
 *          (zero); ST_NOT_CANONICAL (not below r); ST_DUPLICATE;
 *          ST_NO_MEMORY. */
enum status members_parse(struct members *m, const void *text, size_t len,
    struct members_fault *f) NONNULL WARN_UNUSED;

/* Release what M holds and make it empty. */
void members_clear(struct members *m) NONNULL;

/* The text of a member file with N commitments more, each on a line at its
 * end. The caller has seen to it that none is there already.
 * Out:     *out, *out_len: to be freed; NULL on failure.
 * Returns: ST_OK; ST_NO_MEMORY. */
enum status
members_text_add(char **out, size_t *out_len, const void *text, size_t len,
    const struct group_member *add, size_t n) NONNULL_ARGS(1, 2) WARN_UNUSED;

/* The text of a member file without the lines LINES (N numbers from 1,
 * ascending); all else stays as it is, comments too.
 * Out, Returns: as members_text_add. */
enum status members_text_remove(char **out, size_t *out_len, const void *text,
    size_t len, const size_t *lines, size_t n) NONNULL_ARGS(1, 2) WARN_UNUSED;

/* Read one commitment in decimal, as the last line of `postern identity new`.
 * Returns: ST_OK; ST_BAD_LENGTH (empty); ST_BAD_ENCODING; ST_BAD_VALUE;
 *          ST_NOT_CANONICAL. */
enum status commitment_parse(
    uint8_t out[static 32], const void *text, size_t len) NONNULL WARN_UNUSED;

#endif
