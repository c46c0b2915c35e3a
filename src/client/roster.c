#include "client/roster.h"

#include <stdio.h>
#include <string.h>

static void
say(char why[static ROSTER_WHY_MAX], const char *what)
{
	snprintf(why, ROSTER_WHY_MAX, "%s", what);
}

/* The path of COMMITMENT in the tree of M, if it is there. */
static enum status
find_path(struct roster *r, const struct members *m,
    const uint8_t commitment[static 32])
{
	struct group_root root;
	struct group *g;
	size_t place;
	enum status st = group_new(&g);

	if (st != ST_OK)
		return st;
	st = group_add(g, m->list, m->n, NULL);
	if (st == ST_OK) {
		group_root(&root, g);
		memcpy(r->root, root.root, 32);
		r->depth = root.depth;
		r->members = root.size;
		r->member = group_find(g, &place, commitment) == ST_OK;
		if (r->member)
			st = group_proof(&r->path, g, place);
	}
	group_free(g);
	return st;
}

enum status
roster_read(struct roster *r, char why[static ROSTER_WHY_MAX], const void *text,
    size_t len, const uint8_t commitment[static 32])
{
	char words[MEMBERS_FAULT_MAX];
	struct members_fault fault;
	struct members m;
	enum status st;

	*r = (struct roster){0};
	why[0] = '\0';
	st = members_parse(&m, text, len, &fault);
	if (st != ST_OK) {
		say(why, members_fault_text(words, &fault));
		return st;
	}
	st = find_path(r, &m, commitment);
	members_clear(&m);
	if (st != ST_OK) {
		*r = (struct roster){0};
		say(why, status_text(st));
	}
	return st;
}
