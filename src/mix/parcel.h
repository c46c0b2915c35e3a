/* mix/parcel.h: packets in memory, from the first byte read to the last byte
 * written, without being copied.
 *
 * A pool has a fixed number of parcels. One that is read into or written from
 * is pinned; one that is held or waits in a link's queue is not, and when a new
 * packet comes and none is free, the oldest of these is dropped: memory never
 * grows, and a flood pushes out what is oldest, not what is newest.
 *
 *	take -> (read) -> hold -> (released) -> queue -> pin -> (written) -> free
 *
 * Threads: the loop.
 */
#ifndef MIX_PARCEL_H
#define MIX_PARCEL_H

#include "base/ip.h"
#include "mix/counts.h"
#include "net/loop.h"
#include "postern/sphinx.h"

struct parcel_pool;

struct parcel {
	struct parcel_pool *pool;
	struct list_node age; /* in the pool's list, unless pinned or free */
	struct list_node queue; /* in a link's */
	uint32_t *queue_length; /* of that link; NULL when in none */
	struct deadline release;
	void (*released)(void *arg, struct parcel *p);
	uint64_t due; /* when it should be released, ms */

	/* Where it goes. */
	uint8_t next[SPHINX_KEY_SIZE]; /* a node, found when released */
	endpoint_t to;
	bool deliver; /* a service, not a node */
	bool pinned; /* to the peer's TLS key */
	uint8_t pin[32];

	/* What is written: within packet. */
	const uint8_t *out;
	size_t out_len;

	sphinx_packet_t packet;
};

struct parcel_pool {
	struct loop *loop;
	struct mix_counts *counts;
	void *arg; /* of released */
	struct parcel *memory;
	size_t capacity, used;
	struct list_node free, age; /* the oldest first */
};

/* Set POOL up for CAPACITY parcels; memory is touched when it is used.
 * Returns: ST_OK; ST_NO_MEMORY. */
enum status
parcel_pool_init(struct parcel_pool *pool, struct loop *l, size_t capacity,
    struct mix_counts *counts, void *arg) NONNULL_ARGS(1, 2, 4) WARN_UNUSED;

/* Wipe and free all, wherever they are. */
void parcel_pool_clear(struct parcel_pool *pool) NONNULL;

/* Take one for a new packet; it is pinned. Drops the oldest if it must.
 * Returns: NULL when all are pinned. */
struct parcel *parcel_take(struct parcel_pool *pool) NONNULL;

/* Wipe P and give it back; out of queue and timer. */
void parcel_free(struct parcel *p) NONNULL;

/* Let P go after DELAY_MS: RELEASED is called then, from the loop. */
void parcel_hold(struct parcel *p, uint64_t delay_ms,
    void (*released)(void *arg, struct parcel *p)) NONNULL;

/* Put P at the end of a link's QUEUE, counted in *LENGTH. */
void parcel_enqueue(
    struct parcel *p, struct list_node *queue, uint32_t *length) NONNULL;

/* P may not be dropped from now on: it is being written; and again it may. */
void parcel_pin(struct parcel *p) NONNULL;
void parcel_unpin(struct parcel *p) NONNULL;

#endif
