#include "net/chunk.h"

#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"

void
chunk_pool_init(
    struct chunk_pool *p, uint32_t size, uint32_t max, uint32_t keep)
{
	*p = (struct chunk_pool){.size = size, .max = max, .keep = keep};
}

void
chunk_pool_clear(struct chunk_pool *p)
{
	while (p->free != NULL) {
		struct chunk *c = p->free;
		p->free = c->next;
		free(c);
	}
	p->kept = 0;
}

enum status
chunk_take(struct chunk_pool *p, struct chunk **out)
{
	struct chunk *c = p->free;

	*out = NULL;
	if (p->lent == p->max)
		return ST_BUSY;
	if (c != NULL) {
		p->free = c->next;
		p->kept--;
	} else if ((c = malloc(sizeof(*c) + p->size)) == NULL) {
		return ST_NO_MEMORY;
	}
	c->next = NULL;
	c->start = c->end = c->high = 0;
	c->size = p->size;
	p->lent++;
	*out = c;
	return ST_OK;
}

void
chunk_give(struct chunk_pool *p, struct chunk **chunk)
{
	struct chunk *c = *chunk;

	if (c == NULL)
		return;
	*chunk = NULL;
	wipe(c->data, c->high);
	p->lent--;
	if (p->kept < p->keep) {
		c->next = p->free;
		p->free = c;
		p->kept++;
	} else {
		free(c);
	}
}

span_t
chunk_bytes(const struct chunk *c)
{
	if (c == NULL)
		return span_of(NULL, 0);
	return span_of(c->data + c->start, c->end - c->start);
}

void
chunk_consume(struct chunk *c, size_t n)
{
	uint32_t held = c->end - c->start;

	c->start += n < held ? (uint32_t)n : held;
	if (c->start == c->end)
		c->start = c->end = 0;
}

size_t
chunk_room(struct chunk *c)
{
	if (c->start != 0) {
		memmove(c->data, c->data + c->start, c->end - c->start);
		c->end -= c->start;
		c->start = 0;
	}
	return c->size - c->end;
}

void
chunk_grow(struct chunk *c, size_t n)
{
	c->end += (uint32_t)n;
	if (c->end > c->high)
		c->high = c->end;
}

enum status
chunk_append(struct chunk *c, span_t in)
{
	if (in.len > chunk_room(c))
		return ST_NO_SPACE;
	if (in.len != 0)
		memcpy(c->data + c->end, in.ptr, in.len);
	chunk_grow(c, in.len);
	return ST_OK;
}
