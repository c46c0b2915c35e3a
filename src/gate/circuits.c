#include "gate/circuits.h"

#include <stdbool.h>

struct entry {
	uint32_t id; /* the key */
	uint32_t open; /* connections */
	uint64_t failures;
	uint64_t full_at; /* the bucket of its heads */
};

_Static_assert(sizeof(struct entry) % 8 == 0, "as lru.h wants it");

size_t
circuits_memory(uint32_t capacity)
{
	return lru_memory(capacity, sizeof(struct entry));
}

void
circuits_init(struct circuits *c, void *memory, uint32_t capacity,
    const struct circuit_limits *limits,
    const uint8_t hash_key[static LRU_HASH_KEY])
{
	lru_init(&c->table, memory, capacity, sizeof(struct entry),
	    sizeof(uint32_t), hash_key);
	c->limits = *limits;
	c->generation = 1;
}

void
circuits_set_limits(struct circuits *c, const struct circuit_limits *limits)
{
	c->limits = *limits;
}

/* The entry of CIRCUIT, or NULL if it is none or from before a restart of
 * tor. */
static struct entry *
entry_of(const struct circuits *c, circuit_ref_t circuit)
{
	if (circuit.generation != c->generation)
		return NULL;
	return lru_find(&c->table, &circuit.id);
}

/* Take out the circuit that was used least lately and has no connection.
 * Those that have one count as used just now: the next search does not meet
 * them again before all others. */
static bool
make_room(struct circuits *c)
{
	if (c->table.used < c->table.capacity)
		return true;
	for (uint32_t i = 0; i < c->table.used; i++) {
		struct entry *e = lru_oldest(&c->table);
		if (e->open == 0) {
			lru_remove(&c->table, e);
			return true;
		}
		lru_touch(&c->table, e);
	}
	return false;
}

enum status
circuits_open(struct circuits *c, circuit_ref_t *out, uint32_t id)
{
	struct entry *e = lru_find(&c->table, &id);

	*out = (circuit_ref_t){0};
	if (e == NULL) {
		if (c->limits.connections == 0)
			return ST_CIRCUIT_LIMIT;
		if (!make_room(c))
			return ST_OVERLOADED;
		e = lru_add(&c->table, &id);
	}
	lru_touch(&c->table, e);
	if (e->open >= c->limits.connections || e->open == UINT32_MAX ||
	    e->failures > c->limits.failures)
		return ST_CIRCUIT_LIMIT;
	e->open++;
	*out = (circuit_ref_t){id, c->generation};
	return ST_OK;
}

void
circuits_close(struct circuits *c, circuit_ref_t *circuit)
{
	struct entry *e = entry_of(c, *circuit);

	*circuit = (circuit_ref_t){0};
	if (e != NULL && e->open > 0)
		e->open--;
}

enum status
circuits_request(
    struct circuits *c, circuit_ref_t circuit, uint64_t *retry, now_t now)
{
	struct entry *e = entry_of(c, circuit);
	uint64_t wait = 0;

	if (e != NULL)
		wait = bucket_wait(e->full_at, &c->limits.rate, now.mono);
	if (retry != NULL)
		*retry = bucket_seconds(wait);
	if (wait > 0)
		return ST_CIRCUIT_LIMIT;
	if (e != NULL)
		e->full_at = bucket_take(e->full_at, &c->limits.rate, now.mono);
	return ST_OK;
}

enum status
circuits_failed(struct circuits *c, circuit_ref_t circuit)
{
	struct entry *e = entry_of(c, circuit);

	if (e == NULL)
		return ST_OK;
	if (e->failures < UINT64_MAX - 1)
		e->failures++;
	return e->failures > c->limits.failures ? ST_CIRCUIT_LIMIT : ST_OK;
}

bool
circuits_is_suspect(const struct circuits *c, circuit_ref_t circuit)
{
	const struct entry *e = entry_of(c, circuit);

	return e != NULL && e->failures > 0;
}

void
circuits_forget(struct circuits *c)
{
	lru_clear(&c->table);
	if (++c->generation == 0)
		c->generation = 1;
}
