/* semaphore/root_file.h: a group of which only the root is known, as a file.
 *
 * What `postern group follow` writes of a group on a chain, and a gateway reads
 * in the place of a member file:
 *
 *	# any comment
 *	root 12345...
 *	depth 7
 *	size 100
 *	time 1700000000
 *
 * `time` is when this was so, in seconds since 1970: the time of the block. A
 * gateway takes the root for a while from then on (group.max_age) and no
 * longer, so that one whose view of the chain stops does not keep old members
 * for ever. Each line is there once, in any order; nothing else may be. Pure.
 */
#ifndef SEMAPHORE_ROOT_FILE_H
#define SEMAPHORE_ROOT_FILE_H

#include <stdint.h>

#include "base/out.h"
#include "base/span.h"
#include "postern/group.h"
#include "postern/status.h"

/* Longest text that root_file_write writes. */
#define ROOT_FILE_MAX 256

struct root_file {
	struct group_root root; /* root zero: nobody */
	uint64_t time;
};

/* Read TEXT.
 * Out:     *r, zero on failure; fault, as members_parse has it: line 0 where a
 *          line is missing.
 * Returns: ST_OK; ST_MISSING; ST_DUPLICATE; ST_BAD_ENCODING (no such line, or
 *          not a decimal); ST_NOT_CANONICAL (root not below r); ST_BAD_VALUE
 *          (depth or size that no tree has). */
enum status root_file_parse(
    struct root_file *r, struct members_fault *fault, span_t text) WARN_UNUSED;

/* Write R. Fits ROOT_FILE_MAX. */
void root_file_write(struct out *o, const struct root_file *r);

/* Whether DEPTH is the depth of a LeanIMT with SIZE leaves. */
bool root_depth_fits(uint32_t depth, uint64_t size);

#endif
