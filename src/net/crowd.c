#include "net/crowd.h"

#include <stdlib.h>

#include "base/bytes.h"

enum status
crowd_init(struct crowd *c, uint32_t capacity)
{
	uint64_t size = 16;

	/* At most half full: probes stay short. */
	while (size < 2 * (uint64_t)capacity)
		size *= 2;
	*c = (struct crowd){.mask = (uint32_t)(size - 1), .most = capacity};
	crypto_shorthash_keygen(c->secret);
	c->slots = calloc(size, sizeof(*c->slots));
	return c->slots != NULL ? ST_OK : ST_NO_MEMORY;
}

void
crowd_clear(struct crowd *c)
{
	free(c->slots);
	*c = (struct crowd){0};
}

/* IPv4 addresses, whose upper half is zero here, can not be mistaken for a
 * /64: 0::/64 holds no destination. */
static uint64_t
key_of(const ip_t *ip)
{
	return ip->version == 4 ? load_be32(ip->bytes) : load_be64(ip->bytes);
}

static uint32_t
home_of(const struct crowd *c, uint64_t key)
{
	uint8_t in[8], out[crypto_shorthash_BYTES];

	store_le64(in, key);
	crypto_shorthash(out, in, sizeof(in), c->secret);
	return load_le32(out) & c->mask;
}

/* The slot of KEY, or the free one where it would go. */
static uint32_t
find(const struct crowd *c, uint64_t key)
{
	uint32_t i = home_of(c, key);

	while (c->slots[i].count != 0 && c->slots[i].key != key)
		i = (i + 1) & c->mask;
	return i;
}

enum status
crowd_join(struct crowd *c, const ip_t *ip, uint32_t cap)
{
	uint64_t key = key_of(ip);
	struct crowd_entry *e = &c->slots[find(c, key)];

	if (cap != 0 && e->count >= cap)
		return ST_TARGET_LIMIT;
	if (e->count == 0) {
		if (c->used == c->most)
			return ST_OVERLOADED;
		c->used++;
		e->key = key;
	}
	e->count++;
	c->total++;
	return ST_OK;
}

/* Free slot I and move up whoever probed past it (Knuth, TAOCP 3, 6.4,
 * algorithm R): no tombstones that would pile up. */
static void
vacate(struct crowd *c, uint32_t i)
{
	uint32_t j = i;

	c->used--;
	for (;;) {
		c->slots[i].count = 0;
		uint32_t home;
		do {
			j = (j + 1) & c->mask;
			if (c->slots[j].count == 0)
				return;
			home = home_of(c, c->slots[j].key);
			/* Stay when home lies cyclically in (i, j]. */
		} while (((j - home) & c->mask) < ((j - i) & c->mask));
		c->slots[i] = c->slots[j];
		i = j;
	}
}

void
crowd_leave(struct crowd *c, const ip_t *ip)
{
	uint32_t i = find(c, key_of(ip));

	if (c->slots[i].count == 0)
		return;
	c->total--;
	if (--c->slots[i].count == 0)
		vacate(c, i);
}

uint32_t
crowd_at(const struct crowd *c, const ip_t *ip)
{
	return c->slots[find(c, key_of(ip))].count;
}
