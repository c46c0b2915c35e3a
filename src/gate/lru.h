/* gate/lru.h: a bounded table of records, found by key, ordered by use.
 *
 * What the gate keeps of clients (circuits, verified proofs, pending checks,
 * roots) must be bounded, and its keys come from the outside. So: records of a
 * fixed size in memory that the caller gives, the key first in each record,
 * chained hashing with a SipHash key that nobody outside knows (no chains can
 * be built on purpose), and a list from the oldest to the newest. What may be
 * evicted is the user's policy.
 *
 * A record's address stays until it is removed. Threads: one at a time.
 */
#ifndef GATE_LRU_H
#define GATE_LRU_H

#include <stddef.h>
#include <stdint.h>

#include "postern/attr.h"

#define LRU_HASH_KEY 16

struct lru_link {
	uint32_t chain; /* indices + 1; 0: none */
	uint32_t newer, older;
};

struct lru {
	uint8_t *records;
	struct lru_link *links;
	uint32_t *heads; /* of the chains: a power of two, >= capacity */
	size_t size, key; /* bytes of a record, and of its key */
	uint32_t capacity, used, mask;
	uint32_t free, newest, oldest; /* indices + 1 */
	uint8_t hash_key[LRU_HASH_KEY];
};

/* Bytes of memory for CAPACITY (1 to 2^30) records of SIZE bytes. */
size_t lru_memory(uint32_t capacity, size_t size);

/* Set up L over MEMORY, lru_memory() bytes aligned for any object, alive as
 * long as L. SIZE is a multiple of 8; the first KEY bytes of a record are its
 * key. */
void lru_init(struct lru *l, void *memory, uint32_t capacity, size_t size,
    size_t key, const uint8_t hash_key[static LRU_HASH_KEY]);

/* The record with KEY, or NULL. Does not count as use. Time: constant on
 * average, whatever the keys. */
void *lru_find(const struct lru *l, const void *key);

/* RECORD has been used: make it the newest. */
void lru_touch(struct lru *l, void *record);

/* Add a record with KEY, which must not be there, as the newest. All but the
 * key is zero. NULL when the table is full. */
void *lru_add(struct lru *l, const void *key);

/* Take RECORD out. */
void lru_remove(struct lru *l, void *record);

/* The least recently used record; the next newer one; NULL at the end. */
void *lru_oldest(const struct lru *l);
void *lru_newer(const struct lru *l, const void *record);

/* Take all out. */
void lru_clear(struct lru *l);

#endif
