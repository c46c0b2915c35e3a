#include "client/facts.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "postern/group.h"

#define FACTS_VERSION 1

/* A reading: the object, and where it went wrong. */
struct reading {
	const char *where;
	enum status status;
};

static void
fail(struct reading *r, const char *where, enum status st)
{
	if (r->status != ST_OK)
		return;
	r->where = where;
	r->status = st;
}

static uint64_t
number(struct reading *r, const json_t *o, const char *key, uint64_t max)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v))
		fail(r, key, ST_MISSING);
	else if (json_integer_value(v) < 0 ||
	    (uint64_t)json_integer_value(v) > max)
		fail(r, key, ST_BAD_VALUE);
	else
		return (uint64_t)json_integer_value(v);
	return 0;
}

static void
decimal(
    struct reading *r, uint8_t out[static 32], const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	memset(out, 0, 32);
	if (s == NULL)
		fail(r, key, ST_MISSING);
	else if (decimal_decode(out, span_str(s)) != ST_OK)
		fail(r, key, ST_BAD_VALUE);
}

/* Copy a string of at most CAP - 1 bytes; without one, "" if OPTIONAL. */
static void
string(struct reading *r, char *out, size_t cap, const json_t *o,
    const char *key, bool optional)
{
	const char *s = json_string_value(json_object_get(o, key));

	out[0] = '\0';
	if (s == NULL && !optional)
		fail(r, key, ST_MISSING);
	else if (s != NULL && strlen(s) >= cap)
		fail(r, key, ST_BAD_VALUE);
	else if (s != NULL)
		memcpy(out, s, strlen(s) + 1);
}

static void
read_epoch(struct reading *r, struct facts *f, const json_t *o)
{
	struct epoch_rules *rules = &f->rules;
	uint8_t scope[32], said[32];

	rules->length =
	    (uint32_t)number(r, o, "epoch_length", EPOCH_LENGTH_MAX);
	rules->grace = (uint32_t)number(r, o, "grace", EPOCH_LENGTH_MAX);
	rules->early = (uint32_t)number(r, o, "early", EPOCH_LENGTH_MAX);
	rules->slots = (uint32_t)number(r, o, "slots", EPOCH_SLOTS_MAX);
	string(r, rules->realm, sizeof(rules->realm), o, "realm", true);
	f->epoch = number(r, o, "epoch", UINT32_MAX);
	decimal(r, said, o, "scope");
	if (r->status != ST_OK)
		return;
	if (epoch_rules_check(rules, NULL) != ST_OK) {
		fail(r, "epoch_length", ST_BAD_VALUE);
		return;
	}
	epoch_scope(scope, rules, f->epoch, 0);
	if (memcmp(scope, said, 32) != 0)
		fail(r, "scope", ST_BAD_VALUE);
}

static void
read_roots(struct reading *r, struct facts *f, const json_t *list)
{
	const json_t *o;
	size_t i;

	if (!json_is_array(list))
		fail(r, "roots", ST_MISSING);
	json_array_foreach(list, i, o)
	{
		struct facts_root *root = &f->roots[f->n_roots];
		if (f->n_roots == FACTS_ROOTS_MAX)
			break;
		decimal(r, root->root, o, "root");
		root->depth = (uint32_t)number(r, o, "depth", GROUP_DEPTH_MAX);
		string(r, root->group, sizeof(root->group), o, "group", true);
		root->current = json_is_true(json_object_get(o, "current"));
		f->n_roots++;
	}
}

/* A path on the gateway, to be asked for as it stands. */
static bool
is_path(const char *s)
{
	return s[0] == '/' &&
	    strspn(s,
		"/-._~0123456789abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(s);
}

static void
read_groups(struct reading *r, struct facts *f, const json_t *list)
{
	const json_t *o;
	size_t i;

	if (!json_is_array(list))
		fail(r, "groups", ST_MISSING);
	json_array_foreach(list, i, o)
	{
		struct facts_group *g = &f->groups[f->n_groups];
		if (f->n_groups == FACTS_GROUPS_MAX)
			break;
		string(r, g->name, sizeof(g->name), o, "name", false);
		string(r, g->members_path, sizeof(g->members_path), o,
		    "members_path", true);
		if (g->members_path[0] != '\0' && !is_path(g->members_path))
			fail(r, "members_path", ST_BAD_VALUE);
		f->n_groups++;
	}
}

enum status
facts_read(struct facts *f, const char **where, const void *text, size_t len)
{
	struct reading r = {"", ST_OK};
	json_t *o = len <= FACTS_TEXT_MAX
	    ? json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL)
	    : NULL;

	memset(f, 0, sizeof(*f));
	if (!json_is_object(o))
		fail(&r, "", ST_NOT_JSON);
	else if (number(&r, o, "version", INT64_MAX) != FACTS_VERSION)
		fail(&r, "version", ST_BAD_VERSION);
	if (r.status == ST_OK) {
		read_epoch(&r, f, o);
		decimal(&r, f->message, o, "message");
		f->any_message =
		    json_is_true(json_object_get(o, "any_message"));
		read_roots(&r, f, json_object_get(o, "roots"));
		read_groups(&r, f, json_object_get(o, "groups"));
	}
	json_decref(o);
	if (r.status != ST_OK)
		memset(f, 0, sizeof(*f));
	*where = r.where;
	return r.status;
}

const struct facts_root *
facts_find_root(const struct facts *f, const uint8_t root[static 32])
{
	for (size_t i = 0; i < f->n_roots; i++) {
		if (memcmp(f->roots[i].root, root, 32) == 0)
			return &f->roots[i];
	}
	return NULL;
}
