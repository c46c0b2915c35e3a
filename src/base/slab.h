/* base/slab.h: a fixed number of objects in memory that the caller gives,
 * and handles to them that can be stale but never wrong.
 *
 * A slot carries a generation that grows each time the slot is released. A
 * handle is slot + generation: whoever kept one from before gets NULL from
 * slab_at. That is how an answer that comes late (from a worker, a resolver,
 * a timer) finds out that its session is gone, without holding a pointer.
 *
 * Nothing here allocates: when all slots are taken the answer is ST_BUSY.
 * Threads: one at a time.
 */
#ifndef BASE_SLAB_H
#define BASE_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include "postern/status.h"

/* Names an object; the zero value names none. */
typedef struct {
	uint32_t slot; /* index + 1; 0 names nothing */
	uint32_t generation;
} handle_t;

struct slab_slot {
	uint32_t generation;
	uint32_t next_free; /* index + 1 of the next free slot; 0: none */
	uint32_t taken;
};

struct slab {
	uint8_t *objects;
	struct slab_slot *slots;
	size_t size; /* of one object */
	uint32_t capacity, used;
	uint32_t free; /* index + 1 of the first free slot */
};

/* Set up S over OBJECTS (CAPACITY * SIZE bytes) and SLOTS (CAPACITY), both
 * owned by the caller and alive as long as S. CAPACITY is below 2^32 - 1. */
void slab_init(struct slab *s, void *objects, struct slab_slot *slots,
    size_t size, uint32_t capacity);

/* Take a slot. The object's bytes are zero.
 * Returns: ST_OK; ST_BUSY when all are taken (then *h names nothing). */
enum status slab_take(struct slab *s, handle_t *h, void **object) WARN_UNUSED;

/* The object that H names, or NULL when it names nothing (any more). */
void *slab_at(const struct slab *s, handle_t h);

/* Give H's slot back; every handle to it goes stale. A stale H: no effect. */
void slab_release(struct slab *s, handle_t h);

/* The object in slot INDEX (0 to capacity - 1) if taken, else NULL: to walk
 * over all of them. */
void *slab_nth(const struct slab *s, uint32_t index, handle_t *h);

#endif
