#include "gate/lru.h"

#include <sodium.h>
#include <string.h>

#include "base/bytes.h"

_Static_assert(LRU_HASH_KEY == crypto_shorthash_KEYBYTES, "SipHash-2-4");

/* Chains: a power of two, at least CAPACITY. */
static uint32_t
chains(uint32_t capacity)
{
	uint32_t n = 1;

	while (n < capacity)
		n *= 2;
	return n;
}

size_t
lru_memory(uint32_t capacity, size_t size)
{
	return capacity * (size + sizeof(struct lru_link)) +
	    chains(capacity) * sizeof(uint32_t);
}

void
lru_init(struct lru *l, void *memory, uint32_t capacity, size_t size,
    size_t key, const uint8_t hash_key[static LRU_HASH_KEY])
{
	uint8_t *links = (uint8_t *)memory + capacity * size;

	*l = (struct lru){
	    .records = memory,
	    .links = (void *)links,
	    .heads = (void *)(links + capacity * sizeof(struct lru_link)),
	    .size = size,
	    .key = key,
	    .capacity = capacity,
	    .mask = chains(capacity) - 1,
	};
	memcpy(l->hash_key, hash_key, LRU_HASH_KEY);
	lru_clear(l);
}

void
lru_clear(struct lru *l)
{
	memset(l->heads, 0, ((size_t)l->mask + 1) * sizeof(*l->heads));
	for (uint32_t i = 0; i < l->capacity; i++) {
		l->links[i] = (struct lru_link){
		    .chain = i + 1 < l->capacity ? i + 2 : 0,
		};
	}
	l->free = 1;
	l->used = l->newest = l->oldest = 0;
}

/* Places are indices + 1, so that 0 is none. */

static void *
record_at(const struct lru *l, uint32_t place)
{
	return place != 0 ? l->records + (size_t)(place - 1) * l->size : NULL;
}

static struct lru_link *
link_at(const struct lru *l, uint32_t place)
{
	return &l->links[place - 1];
}

static uint32_t
place_of(const struct lru *l, const void *record)
{
	size_t offset = (size_t)((const uint8_t *)record - l->records);

	return (uint32_t)(offset / l->size) + 1;
}

static uint32_t *
chain_of(const struct lru *l, const void *key)
{
	uint8_t hash[crypto_shorthash_BYTES];

	crypto_shorthash(hash, key, l->key, l->hash_key);
	return &l->heads[load_le64(hash) & l->mask];
}

void *
lru_find(const struct lru *l, const void *key)
{
	for (uint32_t p = *chain_of(l, key); p != 0; p = link_at(l, p)->chain) {
		if (memcmp(record_at(l, p), key, l->key) == 0)
			return record_at(l, p);
	}
	return NULL;
}

static void
order_remove(struct lru *l, uint32_t place)
{
	struct lru_link *link = link_at(l, place);

	if (link->newer != 0)
		link_at(l, link->newer)->older = link->older;
	else
		l->newest = link->older;
	if (link->older != 0)
		link_at(l, link->older)->newer = link->newer;
	else
		l->oldest = link->newer;
}

static void
order_append(struct lru *l, uint32_t place)
{
	struct lru_link *link = link_at(l, place);

	link->newer = 0;
	link->older = l->newest;
	if (l->newest != 0)
		link_at(l, l->newest)->newer = place;
	else
		l->oldest = place;
	l->newest = place;
}

void
lru_touch(struct lru *l, void *record)
{
	uint32_t place = place_of(l, record);

	order_remove(l, place);
	order_append(l, place);
}

void *
lru_add(struct lru *l, const void *key)
{
	uint32_t place = l->free;

	if (place == 0)
		return NULL;

	uint32_t *chain = chain_of(l, key);
	struct lru_link *link = link_at(l, place);
	uint8_t *record = record_at(l, place);
	l->free = link->chain;
	link->chain = *chain;
	*chain = place;
	order_append(l, place);
	l->used++;
	memcpy(record, key, l->key);
	memset(record + l->key, 0, l->size - l->key);
	return record;
}

void
lru_remove(struct lru *l, void *record)
{
	uint32_t place = place_of(l, record);
	struct lru_link *link = link_at(l, place);
	uint32_t *from = chain_of(l, record);

	while (*from != place)
		from = &link_at(l, *from)->chain;
	*from = link->chain;
	order_remove(l, place);
	link->chain = l->free;
	l->free = place;
	l->used--;
}

void *
lru_oldest(const struct lru *l)
{
	return record_at(l, l->oldest);
}

void *
lru_newer(const struct lru *l, const void *record)
{
	return record_at(l, link_at(l, place_of(l, record))->newer);
}
