#include "base/slab.h"

#include <string.h>

static void *
object_of(const struct slab *s, uint32_t index)
{
	return s->objects + (size_t)index * s->size;
}

void
slab_init(struct slab *s, void *objects, struct slab_slot *slots, size_t size,
    uint32_t capacity)
{
	*s = (struct slab){
	    .objects = objects,
	    .slots = slots,
	    .size = size,
	    .capacity = capacity,
	    .free = capacity != 0 ? 1 : 0,
	};
	for (uint32_t i = 0; i < capacity; i++) {
		slots[i] = (struct slab_slot){
		    .generation = 1,
		    .next_free = i + 1 < capacity ? i + 2 : 0,
		};
	}
}

enum status
slab_take(struct slab *s, handle_t *h, void **object)
{
	*h = (handle_t){0};
	*object = NULL;
	if (s->free == 0)
		return ST_BUSY;

	uint32_t index = s->free - 1;
	struct slab_slot *slot = &s->slots[index];
	s->free = slot->next_free;
	slot->taken = 1;
	s->used++;
	*h = (handle_t){index + 1, slot->generation};
	*object = object_of(s, index);
	memset(*object, 0, s->size);
	return ST_OK;
}

void *
slab_at(const struct slab *s, handle_t h)
{
	if (h.slot == 0 || h.slot > s->capacity)
		return NULL;

	const struct slab_slot *slot = &s->slots[h.slot - 1];
	if (!slot->taken || slot->generation != h.generation)
		return NULL;
	return object_of(s, h.slot - 1);
}

void
slab_release(struct slab *s, handle_t h)
{
	if (slab_at(s, h) == NULL)
		return;

	struct slab_slot *slot = &s->slots[h.slot - 1];
	slot->taken = 0;
	slot->generation++;
	slot->next_free = s->free;
	s->free = h.slot;
	s->used--;
}

void *
slab_nth(const struct slab *s, uint32_t index, handle_t *h)
{
	*h = (handle_t){0};
	if (index >= s->capacity || !s->slots[index].taken)
		return NULL;
	*h = (handle_t){index + 1, s->slots[index].generation};
	return object_of(s, index);
}
