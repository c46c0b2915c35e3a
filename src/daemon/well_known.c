#include "daemon/well_known.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define MEMBERS_PATH WELL_KNOWN_PATH "/members"

/* How long the JSON is served before it is made anew: the remaining life of
 * replaced roots is in it. */
#define FRESH_MS 1000
/* What clients may keep it for. */
#define MAX_AGE_SECONDS 30

/* How many roots are listed: the current one of each group and some that they
 * replaced. */
#define ROOTS_LISTED (2 * ROOT_GROUPS_MAX)

static json_t *
decimal(const uint8_t value[static 32])
{
	char text[DECIMAL_MAX];

	decimal_encode(text, value);
	return json_string(text);
}

/* A limit, or null for one that is none. */
static json_t *
limit(uint64_t v)
{
	return v == OPTION_UNLIMITED ? json_null()
				     : json_integer((json_int_t)v);
}

static json_t *
scope_of(const struct gateway *g, uint64_t epoch, unsigned slot)
{
	uint8_t scope[32];

	epoch_scope(scope, &g->gate.book.rules, epoch, (uint16_t)slot);
	return decimal(scope);
}

/* The scopes of all slots of EPOCH. */
static json_t *
scopes_of(const struct gateway *g, uint64_t epoch)
{
	json_t *list = json_array();

	for (unsigned slot = 0; slot < g->gate.book.rules.slots; slot++)
		json_array_append_new(list, scope_of(g, epoch, slot));
	return list;
}

static void
add_epoch(json_t *o, const struct gateway *g, now_t now)
{
	const struct epoch_rules *rules = &g->gate.book.rules;
	uint64_t epoch = epoch_at(rules, now.wall);

	json_object_set_new(o, "scope", scope_of(g, epoch, 0));
	json_object_set_new(o, "next_scope", scope_of(g, epoch + 1, 0));
	if (rules->slots > 1) {
		json_object_set_new(o, "scopes", scopes_of(g, epoch));
		json_object_set_new(o, "next_scopes", scopes_of(g, epoch + 1));
	}
	json_object_set_new(o, "epoch", json_integer((json_int_t)epoch));
	json_object_set_new(o, "epoch_length", json_integer(rules->length));
	json_object_set_new(
	    o, "epoch_end", json_integer((json_int_t)epoch_end(rules, epoch)));
	json_object_set_new(o, "grace", json_integer(rules->grace));
	json_object_set_new(o, "early", json_integer(rules->early));
	json_object_set_new(o, "slots", json_integer(rules->slots));
	if (rules->realm[0] != '\0')
		json_object_set_new(o, "realm", json_string(rules->realm));
}

static json_t *
one_root(const struct gateway *g, const struct root *r, now_t now)
{
	const struct seat *seat = membership_seat(g->membership, r->group);
	json_t *o = json_object();

	json_object_set_new(o, "root", decimal(r->root));
	json_object_set_new(o, "depth", json_integer(r->depth));
	json_object_set_new(o, "members", json_integer((json_int_t)r->members));
	json_object_set_new(
	    o, "group", json_string(seat != NULL ? seat->name : ""));
	json_object_set_new(
	    o, "current", json_boolean(r->expires == ROOT_CURRENT));
	if (r->expires != ROOT_CURRENT)
		json_object_set_new(o, "seconds_left",
		    json_integer((json_int_t)((r->expires - now.mono) / 1000)));
	return o;
}

static json_t *
all_roots(const struct gateway *g, now_t now)
{
	struct root roots[ROOTS_LISTED];
	size_t n = roots_list(roots, ROOTS_LISTED, &g->gate.roots, now.mono);
	json_t *list = json_array();

	for (size_t i = 0; i < n && i < ROOTS_LISTED; i++)
		json_array_append_new(list, one_root(g, &roots[i], now));
	return list;
}

/* Ports as numbers, ranges of them as [first, last]. */
static json_t *
ports_of(const struct policy *p)
{
	size_t n;
	const port_range_t *ranges = target_ports(p->target, &n);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		if (ranges[i].first == ranges[i].last)
			json_array_append_new(
			    list, json_integer(ranges[i].first));
		else
			json_array_append_new(list,
			    json_pack("[ii]", (int)ranges[i].first,
				(int)ranges[i].last));
	}
	return list;
}

static json_t *
one_group(const struct gateway *g, const struct config_group *group,
    const struct policy *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(group->name));
	json_object_set_new(o, "requests", limit(group->requests));
	json_object_set_new(o, "tunnels", limit(group->tunnels));
	json_object_set_new(o, "bytes_up", limit(group->bytes_up));
	json_object_set_new(o, "bytes_down", limit(group->bytes_down));
	if (group->rate.count != OPTION_UNLIMITED) {
		json_object_set_new(o, "rate", limit(group->rate.count));
		json_object_set_new(o, "rate_seconds",
		    json_real((double)group->rate.period_ms / 1000));
	}
	json_object_set_new(o, "ports", ports_of(p));
	if (g->config->gateway.publish_members)
		json_object_set_new(o, "members_path",
		    json_sprintf(MEMBERS_PATH "/%s", group->name));
	return o;
}

static json_t *
all_groups(const struct gateway *g)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->config->groups_n && i < g->policies.n; i++)
		json_array_append_new(list,
		    one_group(
			g, &g->config->groups[i], &g->policies.policies[i]));
	return list;
}

enum status
well_known_write(struct buffer *b, struct gateway *g)
{
	now_t now = gateway_now(g);
	json_t *o = json_object();
	char *text;

	json_object_set_new(o, "version", json_integer(1));
	add_epoch(o, g, now);
	json_object_set_new(o, "message", decimal(g->gate.audience.message));
	json_object_set_new(
	    o, "any_message", json_boolean(g->gate.audience.any));
	json_object_set_new(o, "roots", all_roots(g, now));
	json_object_set_new(o, "groups", all_groups(g));
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	if (text == NULL)
		return ST_NO_MEMORY;
	buffer_text(b, text);
	buffer_text(b, "\n");
	free(text);
	return buffer_failed(b) ? ST_NO_MEMORY : ST_OK;
}

void
well_known_stale(struct gateway *g)
{
	document_unref(&g->well_known);
}

static enum status
find_json(struct gateway *g, struct document **d)
{
	uint64_t now = loop_now(g->loop);
	struct buffer b = {0};
	enum status st;

	if (g->well_known != NULL && now >= g->well_known_until)
		well_known_stale(g);
	if (g->well_known == NULL) {
		st = well_known_write(&b, g);
		if (st == ST_OK)
			st = document_new(&g->well_known, &b,
			    "application/json", MAX_AGE_SECONDS);
		buffer_clear(&b);
		if (st != ST_OK)
			return ST_OVERLOADED;
		g->well_known_until = now + FRESH_MS;
	}
	*d = document_ref(g->well_known);
	return ST_OK;
}

/* The roll of the group called NAME; of the first group when it is empty. */
static const struct roll *
find_roll(const struct gateway *g, span_t name)
{
	for (size_t i = 0; i < g->config->groups_n; i++) {
		const char *group = g->config->groups[i].name;
		if (name.len != 0 && !span_equal(name, span_str(group)))
			continue;
		const struct seat *seat = membership_seat(
		    g->membership, membership_number(g->membership, group));
		return seat != NULL ? seat->roll : NULL;
	}
	return NULL;
}

static enum status
find_members(struct gateway *g, struct document **d, span_t name)
{
	const struct roll *roll = find_roll(g, name);

	if (roll == NULL || roll->list == NULL)
		return ST_HTTP_PATH;
	*d = document_ref(roll->list);
	return ST_OK;
}

enum status
well_known_find(struct gateway *g, struct document **d, span_t path)
{
	const struct config *c = g->config;
	span_t members = span_str(MEMBERS_PATH);

	*d = NULL;
	if (!c->gateway.well_known)
		return ST_HTTP_PATH;
	if (span_equal(path, span_str(WELL_KNOWN_PATH)))
		return find_json(g, d);
	if (!c->gateway.publish_members || path.len < members.len ||
	    memcmp(path.ptr, members.ptr, members.len) != 0)
		return ST_HTTP_PATH;
	if (path.len == members.len)
		return find_members(g, d, span_of("", 0));
	if (path.ptr[members.len] != '/' || path.len == members.len + 1)
		return ST_HTTP_PATH;
	return find_members(g, d,
	    span_of(path.ptr + members.len + 1, path.len - members.len - 1));
}
