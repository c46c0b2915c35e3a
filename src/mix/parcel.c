#include "mix/parcel.h"

#include <stddef.h>
#include <sys/mman.h>

#include "base/wipe.h"

static void
on_release(struct deadline *d)
{
	struct parcel *p = loop_owner(d, struct parcel, release);
	uint64_t now = loop_now(p->pool->loop);

	if (now > p->due)
		p->pool->counts->late_ms += now - p->due;
	p->released(p->pool->arg, p);
}

enum status
parcel_pool_init(struct parcel_pool *pool, struct loop *l, size_t capacity,
    struct mix_counts *counts, void *arg)
{
	*pool = (struct parcel_pool){
	    .loop = l, .counts = counts, .arg = arg, .capacity = capacity};
	list_init(&pool->free);
	list_init(&pool->age);
	pool->memory = mmap(NULL, capacity * sizeof(*pool->memory),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pool->memory == MAP_FAILED) {
		pool->memory = NULL;
		return ST_NO_MEMORY;
	}
	for (size_t i = 0; i < capacity; i++) {
		struct parcel *p = &pool->memory[i];
		p->pool = pool;
		list_init(&p->age);
		list_init(&p->queue);
		deadline_init(&p->release, on_release);
		list_append(&pool->free, &p->age);
	}
	return ST_OK;
}

void
parcel_pool_clear(struct parcel_pool *pool)
{
	size_t bytes = pool->capacity * sizeof(*pool->memory);

	if (pool->memory == NULL)
		return;
	for (size_t i = 0; i < pool->capacity; i++) {
		struct parcel *p = &pool->memory[i];
		if (deadline_is_running(&p->release))
			deadline_stop(pool->loop, &p->release);
	}
	/* The kernel hands out no page of it again before zeroing it. */
	munmap(pool->memory, bytes);
	pool->memory = NULL;
}

struct parcel *
parcel_take(struct parcel_pool *pool)
{
	struct parcel *p;

	if (list_empty(&pool->free)) {
		if (list_empty(&pool->age))
			return NULL;
		pool->counts->dropped[DROP_OVERFLOW]++;
		parcel_free(list_entry(pool->age.next, struct parcel, age));
	}
	p = list_entry(pool->free.next, struct parcel, age);
	list_remove(&p->age);
	pool->used++;
	return p;
}

static void
leave_queue(struct parcel *p)
{
	if (p->queue_length != NULL)
		(*p->queue_length)--;
	p->queue_length = NULL;
	list_remove(&p->queue);
}

void
parcel_free(struct parcel *p)
{
	struct parcel_pool *pool = p->pool;

	deadline_stop(pool->loop, &p->release);
	leave_queue(p);
	list_remove(&p->age);
	/* All that is after the pool's own members. */
	wipe(&p->released, sizeof(*p) - offsetof(struct parcel, released));
	/* In front: what was used last is in the cache. */
	list_append(pool->free.next, &p->age);
	pool->used--;
}

void
parcel_hold(struct parcel *p, uint64_t delay_ms,
    void (*released)(void *arg, struct parcel *p))
{
	parcel_unpin(p);
	p->released = released;
	p->due = loop_now(p->pool->loop) + delay_ms;
	deadline_start(p->pool->loop, &p->release, delay_ms);
}

void
parcel_enqueue(struct parcel *p, struct list_node *queue, uint32_t *length)
{
	leave_queue(p);
	list_append(queue, &p->queue);
	p->queue_length = length;
	(*length)++;
	if (list_empty(&p->age))
		parcel_unpin(p);
}

void
parcel_pin(struct parcel *p)
{
	list_remove(&p->age);
}

void
parcel_unpin(struct parcel *p)
{
	list_remove(&p->age);
	list_append(&p->pool->age, &p->age);
}
