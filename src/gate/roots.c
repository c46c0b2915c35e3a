#include "gate/roots.h"

#include <string.h>

#define ROOT_BYTES 32

size_t
roots_memory(uint32_t capacity)
{
	return lru_memory(capacity, sizeof(struct root));
}

void
roots_init(struct roots *r, void *memory, uint32_t capacity, uint64_t keep,
    const uint8_t hash_key[static LRU_HASH_KEY])
{
	lru_init(&r->table, memory, capacity, sizeof(struct root), ROOT_BYTES,
	    hash_key);
	r->keep = keep;
	r->next_serial = 1;
}

static bool
is_accepted(const struct root *root, uint64_t mono)
{
	return root->expires == ROOT_CURRENT || mono < root->expires;
}

/* All roots, in any order; the next one is read before the body, which may
 * remove the one at hand. */
#define EACH_ROOT(R, ROOT)                                                 \
	for (struct root *ROOT = lru_oldest(&(R)->table), *next_ = NULL;   \
	     ROOT != NULL && (next_ = lru_newer(&(R)->table, ROOT), true); \
	     ROOT = next_)

const struct root *
roots_current(const struct roots *r, uint16_t group)
{
	EACH_ROOT(r, root)
	{
		if (root->group == group && root->expires == ROOT_CURRENT)
			return root;
	}
	return NULL;
}

/* Make room for one more by taking the replaced root that expires first. */
static bool
make_room(struct roots *r)
{
	struct root *first = NULL;

	if (r->table.used < r->table.capacity)
		return true;
	EACH_ROOT(r, root)
	{
		if (root->expires != ROOT_CURRENT &&
		    (first == NULL || root->expires < first->expires))
			first = root;
	}
	if (first == NULL)
		return false;
	lru_remove(&r->table, first);
	return true;
}

static uint64_t
until(uint64_t mono, uint64_t keep)
{
	return keep < ROOT_CURRENT - 1 - mono ? mono + keep : ROOT_CURRENT - 1;
}

/* End the time of GROUP's current root, unless it is NEW. */
static void
replace_current(
    struct roots *r, uint16_t group, const struct root *new, uint64_t mono)
{
	EACH_ROOT(r, root)
	{
		if (root == new || root->group != group ||
		    root->expires != ROOT_CURRENT)
			continue;
		if (r->keep == 0)
			lru_remove(&r->table, root);
		else
			root->expires = until(mono, r->keep);
	}
}

enum status
roots_set(struct roots *r, const struct root *root, uint64_t mono)
{
	struct root *there = lru_find(&r->table, root->root);

	if (root->group >= ROOT_GROUPS_MAX)
		return ST_BAD_VALUE;
	if (there != NULL && there->expires == ROOT_CURRENT &&
	    there->group != root->group)
		return ST_DUPLICATE;
	/* One that has expired, or meant another group, begins anew. */
	if (there != NULL &&
	    (!is_accepted(there, mono) || there->group != root->group)) {
		lru_remove(&r->table, there);
		there = NULL;
	}
	if (there == NULL) {
		/* With keep = 0 the one it replaces would make the room. */
		if (r->keep == 0)
			replace_current(r, root->group, NULL, mono);
		if (!make_room(r))
			return ST_BUSY;
		there = lru_add(&r->table, root->root);
		there->serial = r->next_serial++;
		if (r->next_serial == 0)
			r->next_serial = 1;
	}
	there->group = root->group;
	there->depth = root->depth;
	there->members = root->members;
	there->expires = ROOT_CURRENT;
	replace_current(r, root->group, there, mono);
	return ST_OK;
}

void
roots_drop_group(struct roots *r, uint16_t group)
{
	EACH_ROOT(r, root)
	{
		if (root->group == group)
			lru_remove(&r->table, root);
	}
}

void
roots_drop_replaced(struct roots *r, uint16_t group)
{
	EACH_ROOT(r, root)
	{
		if (root->group == group && root->expires != ROOT_CURRENT)
			lru_remove(&r->table, root);
	}
}

void
roots_set_keep(struct roots *r, uint64_t keep, uint64_t mono)
{
	uint64_t latest = until(mono, keep);

	r->keep = keep;
	EACH_ROOT(r, root)
	{
		if (root->expires != ROOT_CURRENT && root->expires > latest)
			root->expires = latest;
	}
}

enum status
roots_find(struct root *out, const struct roots *r,
    const uint8_t root[static 32], uint64_t mono)
{
	const struct root *found = lru_find(&r->table, root);

	*out = (struct root){0};
	if (found == NULL || !is_accepted(found, mono))
		return ST_ROOT_UNKNOWN;
	*out = *found;
	return ST_OK;
}

void
roots_tidy(struct roots *r, uint64_t mono)
{
	EACH_ROOT(r, root)
	{
		if (!is_accepted(root, mono))
			lru_remove(&r->table, root);
	}
}

size_t
roots_list(struct root *out, size_t cap, const struct roots *r, uint64_t mono)
{
	size_t n = 0;

	for (int current = 1; current >= 0; current--) {
		EACH_ROOT(r, root)
		{
			if (!is_accepted(root, mono) ||
			    (root->expires == ROOT_CURRENT) != current)
				continue;
			if (n < cap)
				out[n] = *root;
			n++;
		}
	}
	return n;
}
