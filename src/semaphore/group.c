#include "postern/group.h"

#include <stdlib.h>
#include <string.h>

#include "hash/poseidon.h"

/* level[0] are the leaves, level[depth] is the root alone; level[k] has
 * count_at(size, k) nodes in room[k] places. */
struct group {
	fr_t *level[GROUP_DEPTH_MAX + 1];
	size_t room[GROUP_DEPTH_MAX + 1];
	uint64_t size;
	uint32_t depth;
};

#define SIZE_MAX_MEMBERS (UINT64_C(1) << GROUP_DEPTH_MAX)

/* Nodes at height K above SIZE leaves: ceil(size / 2^k). */
static uint64_t
count_at(uint64_t size, uint32_t k)
{
	return (size >> k) + ((size & ((UINT64_C(1) << k) - 1)) != 0);
}

static uint32_t
depth_of(uint64_t size)
{
	uint32_t depth = 0;

	while (count_at(size, depth) > 1)
		depth++;
	return depth;
}

static enum status
leaf(fr_t *out, const struct group_member *m)
{
	enum status st = fr_from_bytes_strict(out, m->commitment);

	if (st == ST_OK && fr_is_zero(out))
		st = ST_BAD_VALUE;
	return st;
}

/* --- folding: one level from the one below --- */

struct fold {
	fr_t *out;
	const fr_t *in;
};

static void
fold_part(void *arg, size_t from, size_t to)
{
	const struct fold *f = arg;

	poseidon_pairs(f->out + from, f->in + 2 * from, to - from);
}

/* Few pairs are done before a thread would have woken up. */
#define FOLD_ALONE 256

/* Make the nodes above the N nodes IN; an odd last one is its own parent. */
static void
fold(fr_t *out, const fr_t *in, size_t n, const struct runner *runner)
{
	struct fold f = {out, in};

	if (runner != NULL && n / 2 > FOLD_ALONE)
		runner->run(runner->self, fold_part, &f, n / 2);
	else
		fold_part(&f, 0, n / 2);
	if (n % 2 != 0)
		out[n / 2] = in[n - 1];
}

/* --- the tree --- */

enum status
group_new(struct group **g)
{
	*g = calloc(1, sizeof(**g));
	return *g != NULL ? ST_OK : ST_NO_MEMORY;
}

void
group_free(struct group *g)
{
	if (g == NULL)
		return;
	for (unsigned k = 0; k <= GROUP_DEPTH_MAX; k++)
		free(g->level[k]);
	free(g);
}

/* Make room for SIZE members; what is there stays. */
static enum status
reserve(struct group *g, uint64_t size)
{
	for (uint32_t k = 0; k <= depth_of(size); k++) {
		size_t need = (size_t)count_at(size, k);
		if (need <= g->room[k])
			continue;
		/* Grow by half at least, so that one by one stays cheap. */
		size_t room = g->room[k] + g->room[k] / 2;
		if (room < need)
			room = need;
		if (room > SIZE_MAX / sizeof(fr_t))
			return ST_NO_MEMORY;
		fr_t *level = realloc(g->level[k], room * sizeof(fr_t));
		if (level == NULL)
			return ST_NO_MEMORY;
		g->level[k] = level;
		g->room[k] = room;
	}
	return ST_OK;
}

enum status
group_add(struct group *g, const struct group_member *members, size_t n,
    const struct runner *runner)
{
	enum status st;

	if (n > SIZE_MAX_MEMBERS - g->size)
		return ST_NO_SPACE;
	if (n == 0)
		return ST_OK;
	uint64_t size = g->size + n;
	if ((st = reserve(g, size)) != ST_OK)
		return st;
	for (size_t i = 0; i < n; i++) {
		if ((st = leaf(&g->level[0][g->size + i], &members[i])) !=
		    ST_OK)
			return st;
	}
	/* Only nodes above the new leaves, and the last old one, change. */
	uint64_t from = g->size;
	g->size = size;
	g->depth = depth_of(size);
	for (uint32_t k = 0; k < g->depth; k++) {
		from /= 2;
		fold(g->level[k + 1] + from, g->level[k] + 2 * from,
		    (size_t)(count_at(size, k) - 2 * from), runner);
	}
	return ST_OK;
}

void
group_root(struct group_root *out, const struct group *g)
{
	memset(out, 0, sizeof(*out));
	out->size = g->size;
	out->depth = g->depth;
	if (g->size != 0)
		fr_to_bytes(out->root, &g->level[g->depth][0]);
}

enum status
group_find(
    const struct group *g, size_t *index, const uint8_t commitment[static 32])
{
	fr_t wanted;

	*index = 0;
	if (fr_from_bytes_strict(&wanted, commitment) != ST_OK)
		return ST_NOT_FOUND;
	for (size_t i = 0; i < g->size; i++) {
		if (fr_eq(&g->level[0][i], &wanted)) {
			*index = i;
			return ST_OK;
		}
	}
	return ST_NOT_FOUND;
}

enum status
group_proof(struct group_proof *out, const struct group *g, size_t place)
{
	memset(out, 0, sizeof(*out));
	if (place >= g->size)
		return ST_NOT_FOUND;
	fr_to_bytes(out->leaf, &g->level[0][place]);
	fr_to_bytes(out->root, &g->level[g->depth][0]);
	for (uint32_t k = 0; k < g->depth; k++, place /= 2) {
		size_t sibling = place ^ 1;
		if (sibling >= count_at(g->size, k))
			continue;
		out->index |= (uint64_t)(place & 1) << out->length;
		fr_to_bytes(
		    out->siblings[out->length++], &g->level[k][sibling]);
	}
	return ST_OK;
}

bool
group_proof_holds(const struct group_proof *p)
{
	fr_t node, sibling, root;

	if (p->length > GROUP_DEPTH_MAX || p->index >> p->length != 0 ||
	    fr_from_bytes_strict(&node, p->leaf) != ST_OK ||
	    fr_from_bytes_strict(&root, p->root) != ST_OK)
		return false;
	for (uint32_t k = 0; k < p->length; k++) {
		if (fr_from_bytes_strict(&sibling, p->siblings[k]) != ST_OK)
			return false;
		if (p->index >> k & 1)
			poseidon_pair(&node, &sibling, &node);
		else
			poseidon_pair(&node, &node, &sibling);
	}
	return fr_eq(&node, &root);
}

/* --- the root alone --- */

/* A chunk is folded on the stack to one node, at height CHUNK_HEIGHT. */
#define CHUNK_HEIGHT 8
#define CHUNK (1u << CHUNK_HEIGHT)

struct chunks {
	fr_t *tops;
	const struct group_member *members;
	size_t n;
};

static void
chunk_part(void *arg, size_t from, size_t to)
{
	const struct chunks *c = arg;
	fr_t nodes[CHUNK];

	for (size_t i = from; i < to; i++) {
		const struct group_member *first = &c->members[i * CHUNK];
		size_t n = c->n - i * CHUNK;
		if (n > CHUNK)
			n = CHUNK;
		for (size_t k = 0; k < n; k++)
			(void)leaf(&nodes[k], &first[k]); /* checked before */
		for (; n > 1; n = n / 2 + n % 2)
			fold(nodes, nodes, n, NULL);
		c->tops[i] = nodes[0];
	}
}

enum status
group_root_of(struct group_root *out, const struct group_member *members,
    size_t n, const struct runner *runner)
{
	struct chunks c = {NULL, members, n};
	size_t count = n / CHUNK + (n % CHUNK != 0);
	fr_t checked;
	enum status st;

	memset(out, 0, sizeof(*out));
	if (n > SIZE_MAX_MEMBERS)
		return ST_NO_SPACE;
	if (n == 0)
		return ST_OK;
	for (size_t i = 0; i < n; i++) {
		if ((st = leaf(&checked, &members[i])) != ST_OK)
			return st;
	}
	if ((c.tops = malloc(count * sizeof(fr_t))) == NULL)
		return ST_NO_MEMORY;
	if (runner != NULL && count > 1)
		runner->run(runner->self, chunk_part, &c, count);
	else
		chunk_part(&c, 0, count);
	for (size_t left = count; left > 1; left = left / 2 + left % 2)
		fold(c.tops, c.tops, left, NULL);
	fr_to_bytes(out->root, &c.tops[0]);
	free(c.tops);
	out->size = n;
	out->depth = depth_of(n);
	return ST_OK;
}
