/* What `postern client --status` tells. It names gateways, counts and times,
 * and no destination. */
#include <jansson.h>
#include <stdlib.h>

#include "client/client_impl.h"
#include "client/door.h"
#include "client/trouble.h"

#define STATUS_VERSION 1

static json_t *
number(uint64_t v)
{
	return json_integer((json_int_t)v);
}

/* What is left of the quotas of the slots that were used last. */
static json_t *
quotas(const struct door *d)
{
	const uint64_t epoch = door_epoch(d);
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(d->left) / sizeof(d->left[0]); i++) {
		const struct door_left *l = &d->left[i];
		if (l->known && l->epoch == epoch)
			json_array_append_new(list,
			    json_pack("{s:i, s:I}", "slot", (int)l->slot,
				"requests_left", (json_int_t)l->remaining));
	}
	return list;
}

static size_t
count_proofs(const struct door *d)
{
	const struct epoch_rules *r = &d->facts.rules;
	uint8_t scope[32];
	size_t n = 0;

	for (unsigned slot = 0; slot < r->slots; slot++) {
		epoch_scope(scope, r, door_epoch(d), (uint16_t)slot);
		n += purse_find(&d->client->purse, d->key, scope) != NULL;
	}
	return n;
}

static const char *
state_of(const struct door *d)
{
	if (d->trouble != TROUBLE_NONE)
		return "trouble";
	if (door_is_down(d))
		return "down";
	if (!d->has_facts || d->fetch != NULL)
		return "asking";
	if (d->loading)
		return "reading members";
	return d->n_mints > 0 ? "making proofs" : "up";
}

static json_t *
gateway(const struct door *d)
{
	json_t *o = json_object();

	json_object_set_new(o, "onion", json_string(d->conf->onion));
	json_object_set_new(o, "port", number(d->conf->port));
	json_object_set_new(o, "weight", number(d->conf->weight));
	json_object_set_new(o, "state", json_string(state_of(d)));
	if (d->trouble != TROUBLE_NONE) {
		const struct trouble_info *info = trouble_info(d->trouble);
		json_object_set_new(o, "error", json_string(info->label));
		json_object_set_new(o, "problem", json_string(d->why));
		json_object_set_new(o, "cure", json_string(info->cure));
	}
	if (!d->has_facts)
		return o;
	json_object_set_new(o, "epoch", number(door_epoch(d)));
	json_object_set_new(
	    o, "epoch_end", number(epoch_end(&d->facts.rules, door_epoch(d))));
	json_object_set_new(o, "slots", number(d->facts.rules.slots));
	json_object_set_new(o, "proofs", number(count_proofs(d)));
	json_object_set_new(o, "quotas", quotas(d));
	if (d->has_roster)
		json_object_set_new(o, "members", number(d->roster.members));
	return o;
}

/* Seconds of the oldest and the newest circuit that was used. */
static json_t *
circuits(const struct client *c)
{
	const uint64_t now = loop_now(c->loop);
	uint64_t n = 0, oldest = 0, newest = UINT64_MAX;
	json_t *o = json_object();

	for (size_t i = 0; i < CLIENT_CIRCUITS; i++) {
		uint64_t age;
		if (c->circuits[i].opened == 0)
			continue;
		age = (now - c->circuits[i].opened) / 1000;
		oldest = age > oldest ? age : oldest;
		newest = age < newest ? age : newest;
		n++;
	}
	json_object_set_new(o, "count", number(n));
	if (n > 0) {
		json_object_set_new(o, "oldest_seconds", number(oldest));
		json_object_set_new(o, "newest_seconds", number(newest));
	}
	return o;
}

char *
client_status(const struct client *c)
{
	json_t *o = json_object(), *gateways = json_array();
	char *text;

	for (unsigned i = 0; i < c->config.n_gateways; i++)
		json_array_append_new(gateways, gateway(&c->doors[i]));
	json_object_set_new(o, "version", json_integer(STATUS_VERSION));
	json_object_set_new(o, "ready", json_boolean(c->ready_told));
	json_object_set_new(o, "requests", number(c->requests));
	json_object_set_new(o, "opened", number(c->opened));
	json_object_set_new(o, "refused", number(c->refused));
	json_object_set_new(o, "tunnels", number(c->tunnels));
	json_object_set_new(o, "circuits", circuits(c));
	json_object_set_new(o, "gateways", gateways);
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}
