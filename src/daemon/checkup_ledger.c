/* A part of daemon/checkup.h: the server that several gateways count in. */
#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"
#include "daemon/checkup.h"
#include "daemon/gateway_impl.h"
#include "store/redis_link.h"

/* For all places together. */
#define PATIENCE_MS 6000

/* What is being asked. */
struct
try {
	struct redis_link *link;
	struct findings *f;
	struct place where;
	const struct config *c;
	bool up, done;
	size_t answers, failures;
	char why[REDIS_LINK_WHY_MAX];
};

static void
on_up(void *ctx)
{
	static const char *const words[] = {"INFO"};
	static const size_t lengths[] = {4};
	struct try *t = ctx;

	t->up = true;
	t->done = redis_link_send(t->link, 1, words, lengths) != ST_OK;
}

static void
on_down(void *ctx, const char *why)
{
	struct try *t = ctx;

	snprintf(t->why, sizeof(t->why), "%s", why);
	/* Each place once, and what it said last counts. */
	t->done = ++t->failures >= t->c->ledger.shared.n || t->up;
}

/* The line of INFO that begins with NAME: its value, else "". */
static const char *
value_of(const char *info, const char *name)
{
	const char *at = strstr(info, name);

	return at != NULL ? at + strlen(name) : "";
}

static bool
is_value(const char *value, const char *want)
{
	return strncmp(value, want, strlen(want)) == 0 &&
	    strchr("\r\n", value[strlen(want)]) != NULL;
}

/* How the server keeps what it is told. */
static void
on_reply(void *ctx, const redisReply *r)
{
	struct try *t = ctx;
	const char *policy, *slaves;

	t->done = true;
	/* A user that may count and no more can not be told. */
	if (r->type != REDIS_REPLY_STRING)
		return;
	policy = value_of(r->str, "\nmaxmemory_policy:");
	if (policy[0] != '\0' && !is_value(policy, "noeviction"))
		findings_add(t->f, FINDING_ERROR, t->where,
		    "set maxmemory-policy noeviction",
		    "when it is full, the ledger's server throws counts away");
	if (is_value(value_of(r->str, "\naof_enabled:"), "0"))
		findings_add(t->f, FINDING_WARNING, t->where,
		    "set appendonly yes and appendfsync always",
		    "a restart of the ledger's server may give members their "
		    "quota back");
	slaves = value_of(r->str, "\nconnected_slaves:");
	if (strtoull(slaves, NULL, 10) < t->c->ledger.shared_replicas)
		findings_add(t->f, FINDING_ERROR,
		    config_place(t->c, NULL, "ledger", "shared_replicas"),
		    "start replicas, or ask for fewer",
		    "the ledger's server has %llu replicas, fewer than asked "
		    "for",
		    strtoull(slaves, NULL, 10));
}

static const struct redis_link_ops ops = {
    .up = on_up, .reply = on_reply, .down = on_down};

static void
ask(struct try *t, const struct redis_link_config *config)
{
	struct loop *l = NULL;
	uint64_t end;

	if (loop_new(&l) != ST_OK)
		return;
	if (redis_link_new(&t->link, l, config, t->why) != ST_OK)
		t->done = true;
	end = loop_now(l) + PATIENCE_MS;
	while (!t->done && loop_now(l) < end && loop_turn(l, 100) == ST_OK)
		;
	if (!t->up)
		findings_add(t->f,
		    t->c->ledger.unreachable == UNREACHABLE_LOCAL
			? FINDING_WARNING
			: FINDING_ERROR,
		    t->where,
		    "is the server running, and do address, user and password "
		    "fit?",
		    "the shared ledger can not be used: %s",
		    t->why[0] != '\0' ? t->why : "it does not answer");
	redis_link_free(&t->link);
	loop_free(&l);
}

void
checkup_ledger(const struct config *c, struct findings *f)
{
	struct try t = {
	    .f = f, .c = c, .where = config_place(c, NULL, "ledger", "shared")};
	struct shared_place places[REDIS_LINK_PLACES];
	struct redis_link_config config;
	uint8_t key[MEMBER_KEY];
	char *password = NULL;
	size_t len = 0;

	if (c->ledger.shared.n == 0 || c->ledger.shared.n > REDIS_LINK_PLACES)
		return;
	/* What is wrong is in the findings. */
	if (c->ledger.shared_key_file != NULL)
		(void)!gateway_shared_key(key, c, f);
	wipe(key, sizeof(key));
	if (gateway_shared_link(&config, places, &password, &len, c, f) ==
	    ST_OK) {
		config.ops = &ops;
		config.ctx = &t;
		ask(&t, &config);
	}
	if (password != NULL)
		wipe(password, len);
	free(password);
}
