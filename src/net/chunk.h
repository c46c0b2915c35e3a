/* net/chunk.h: buffers that are borrowed while bytes are in them.
 *
 * A connection that says nothing owns no buffer. Bytes that have to wait in
 * user space (a request head, an answer, what a client sends early) wait in a
 * chunk borrowed from a pool with a fixed size and a fixed maximum: memory is
 * bounded by arithmetic, and running out is ST_BUSY for one connection
 * instead of an end for all.
 *
 * Chunks are wiped when they are given back: heads hold tokens and names.
 */
#ifndef NET_CHUNK_H
#define NET_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/status.h"

/* Bytes [start, end) of data[] are in use. One owner at a time; ownership is
 * handed over with the pointer. */
struct chunk {
	struct chunk *next; /* in the pool's free list */
	uint32_t start, end, size;
	uint32_t high; /* the most that was ever in use: what has to be wiped */
	uint8_t data[];
};

struct chunk_pool {
	struct chunk *free;
	uint32_t size; /* data bytes of a chunk */
	uint32_t lent, kept, max, keep;
};

/* Chunks of SIZE bytes, at most MAX at once; up to KEEP of those given back
 * stay for the next borrower, the others return to the system. */
void chunk_pool_init(
    struct chunk_pool *p, uint32_t size, uint32_t max, uint32_t keep);

/* Free what was kept. Every chunk has been given back. */
void chunk_pool_clear(struct chunk_pool *p);

/* Borrow an empty chunk.
 * Returns: ST_OK; ST_BUSY (MAX are lent); ST_NO_MEMORY. *c is NULL then. */
enum status chunk_take(struct chunk_pool *p, struct chunk **c) WARN_UNUSED;

/* Give *C back (NULL: nothing) and null it. */
void chunk_give(struct chunk_pool *p, struct chunk **c);

/* The bytes in C; none when C is NULL. */
span_t chunk_bytes(const struct chunk *c);

/* Drop the first N bytes, at most what is there. */
void chunk_consume(struct chunk *c, size_t n);

/* Room behind the last byte, after moving the bytes to the front. */
size_t chunk_room(struct chunk *c);

/* Count N bytes, at most the room, that the caller wrote at data + end. */
void chunk_grow(struct chunk *c, size_t n);

/* Append IN. Returns: ST_OK; ST_NO_SPACE (then nothing is appended). */
enum status chunk_append(struct chunk *c, span_t in) WARN_UNUSED;

#endif
