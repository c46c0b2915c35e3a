/* mix/seen.h: which packets a key has opened, for as long as the key lives.
 *
 * A replay filter (postern/sphinx.h) and its journal: a file of the tags, 16
 * bytes each, behind a header. A tag is in the file before its packet goes on,
 * so that a node that is killed and started again refuses what it has handled
 * before. What the machine has not put on its disk when its power fails is
 * lost, a second's worth at most: seen_sync asks for it.
 *
 *	"POSTERNS" | version u32 | zeros u32 | node id 32 | tags 16 each
 *
 * Tags are hashes of secrets that sender and node shared; the file links
 * nothing to anything. It goes with its key.
 *
 * Threads: the loop; seen_sync from a worker, with the descriptor.
 */
#ifndef MIX_SEEN_H
#define MIX_SEEN_H

#include "postern/sphinx.h"

struct seen;

#define SEEN_TAG_SIZE 16

/* Open the journal at PATH (NULL: none, memory only) of the key with this ID,
 * making it if there is none, and load it. A half-written tag at the end is
 * cut off. One process at a time.
 * In:      CAPACITY, tags that fit.
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS (errno); ST_LOCKED; ST_CORRUPT (not a
 *          journal); ST_FOREIGN (another key's); ST_NO_SPACE (it has more
 *          tags than CAPACITY). *s is NULL on failure. */
enum status seen_open(struct seen **s, const char *path,
    const uint8_t id[static SPHINX_KEY_SIZE], uint64_t capacity)
    NONNULL_ARGS(1, 3) WARN_UNUSED;

/* Close, free and null *S; the file stays. */
void seen_close(struct seen **s) NONNULL;

/* Look N tags (SEEN_TAG_SIZE bytes each) up and add those that are new, one write for all.
 * Out:     results[i]: ST_OK (new); ST_REPLAY; ST_BUSY (the filter is full);
 *          ST_SYS (the journal can not be written: the packet must not go
 *          on). Only those whose results[i] is ST_OK before are looked at. */
void seen_add(struct seen *s, enum status *results, const uint8_t *tags,
    size_t n) NONNULL;

/* Tags inside. */
uint64_t seen_count(const struct seen *s) NONNULL;

/* The journal's descriptor if there is something to sync, else -1; calling it
 * says that it will be synced. */
int seen_take_dirty(struct seen *s) NONNULL;

#endif
