/* Taking over a configuration and its members, at the start and later. */
#include <string.h>

#include "daemon/gateway_impl.h"
#include "daemon/log.h"
#include "daemon/memory.h"
#include "daemon/mix_gate.h"
#include "daemon/well_known.h"

void
gateway_log_findings(enum log_event event, const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct finding *item = &f->items[i];
		LOG(event, log_words(KEY_PLACE, item->where),
		    log_words(KEY_WHAT, item->what),
		    log_words(KEY_CURE, item->cure));
	}
}

/* --- members --- */

static void
log_members(const struct gateway *g, uint16_t number)
{
	const struct seat *seat = membership_seat(g->membership, number);
	char why[ROLL_FAULT_MAX];

	if (seat == NULL)
		return;
	if (seat->fault.status != ST_OK) {
		LOG(EV_MEMBERS_BROKEN, log_words(KEY_GROUP, seat->name),
		    log_words(KEY_FILE, seat->path),
		    log_words(KEY_CAUSE, roll_fault_text(why, &seat->fault)),
		    log_number(KEY_LINE, seat->fault.where.line));
		return;
	}
	if (seat->roll == NULL)
		return;
	LOG(EV_MEMBERS_LOADED, log_words(KEY_GROUP, seat->name),
	    log_number(KEY_MEMBERS, seat->roll->root.size),
	    log_number(KEY_DEPTH, seat->roll->root.depth));
	if (seat->roll->root.size < g->config->gateway.anonymity_floor)
		LOG(EV_MEMBERS_FEW, log_words(KEY_GROUP, seat->name),
		    log_number(KEY_MEMBERS, seat->roll->root.size));
}

void
gateway_members_changed(void *gateway, uint16_t number)
{
	struct gateway *g = gateway;

	log_members(g, number);
	well_known_stale(g);
}

/* --- the parts that follow the configuration --- */

static void
set_limits(struct gateway *g)
{
	const struct quota_limits nothing = {0};

	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++) {
		const struct config_group *group = gateway_group(g, i);
		struct quota_limits limits = nothing;
		if (group != NULL)
			limits = (struct quota_limits){
			    .requests = group->requests,
			    .tunnels = group->tunnels,
			    .bytes_up = group->bytes_up,
			    .bytes_down = group->bytes_down,
			    .rate = {group->rate.count, group->rate.period_ms},
			};
		gate_set_limits(&g->gate, i, &limits);
	}
}

/* Which policy belongs to which seat. */
static void
map_policies(struct gateway *g)
{
	memset(g->policy_of, 0, sizeof(g->policy_of));
	for (size_t i = 0; i < g->config->groups_n; i++) {
		uint16_t number =
		    membership_number(g->membership, g->config->groups[i].name);
		if (number < ROOT_GROUPS_MAX)
			g->policy_of[number] = (uint16_t)(i + 1);
	}
}

/* Put the configuration in force into what keeps copies of its values. */
static void
apply(struct gateway *g)
{
	const struct config *c = g->config;
	struct circuit_limits circuit_limits;
	struct epoch_rules rules;

	log_configure(c->log.level, c->log.format, c->log.target);
	map_policies(g);
	set_limits(g);
	roots_set_keep(
	    &g->gate.roots, c->gateway.root_lifetime_ms, loop_now(g->loop));
	gateway_circuit_limits(&circuit_limits, c);
	circuits_set_limits(&g->circuits, &circuit_limits);
	/* Of the rules only grace and early can differ: the others change
	 * with a restart. */
	rules = g->gate.book.rules;
	rules.grace = (uint32_t)(c->gateway.grace_ms / 1000);
	rules.early = (uint32_t)(c->gateway.early_ms / 1000);
	epoch_book_init(&g->gate.book, &rules);
	well_known_stale(g);
}

/* --- stages --- */

enum status
gateway_stage(struct gateway *g, struct config *config)
{
	struct policy_set policies;
	enum status st = policy_set_make(&policies, config);

	if (st == ST_OK)
		st = membership_stage(g->membership, config);
	if (st != ST_OK) {
		policy_set_clear(&policies);
		config_unref(&config);
		return st;
	}
	/* One that was being staged makes room. */
	policy_set_clear(&g->next_policies);
	config_unref(&g->next);
	g->next = config;
	g->next_policies = policies;
	return ST_OK;
}

/* Keys that change with a restart only stay as they are. */
static void
inherit(const struct gateway *g)
{
	struct findings f = {0};

	config_inherit(g->next, g->config, &f);
	gateway_log_findings(EV_FINDING, &f);
	findings_clear(&f);
}

void
gateway_staged(void *gateway)
{
	struct gateway *g = gateway;
	bool reload = g->phase != GATEWAY_STARTING;

	if (g->next == NULL)
		return;
	if (reload)
		inherit(g);
	policy_set_clear(&g->policies);
	config_unref(&g->config);
	g->config = g->next;
	g->policies = g->next_policies;
	g->next = NULL;
	g->next_policies = (struct policy_set){0};
	membership_commit(g->membership);
	apply(g);
	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++)
		log_members(g, i);
	if (reload) {
		g->metrics.reloads++;
		supervisor_ready(&g->supervisor);
		LOG(EV_RELOADED, log_number(KEY_GROUPS, g->config->groups_n));
	}
}

enum status
gateway_reload(struct gateway *g, struct findings *f)
{
	struct config *config;
	enum status st;

	supervisor_reloading(&g->supervisor);
	st = !memory_reserve()
	    ? ST_NO_MEMORY
	    : config_load(&config, f, g->config->path,
		  (const char *const *)g->overrides, g->overrides_n);
	if (st == ST_OK)
		st = gateway_stage(g, config);
	if (st != ST_OK) {
		g->metrics.reload_failures++;
		supervisor_ready(&g->supervisor);
		LOG(EV_RELOAD_FAILED, log_words(KEY_FILE, g->config->path));
		return st;
	}
	/* The machine's name servers change without us. */
	if (g->config->egress.dns.n == 0 &&
	    resolver_reload(g->resolver, NULL) != ST_OK)
		findings_add(f, FINDING_WARNING,
		    (struct place){"/etc/resolv.conf", 0}, "",
		    "can not be read again; its name servers stay");
	return ST_OK;
}

void
gateway_hang_up(struct gateway *g)
{
	struct findings f = {0};
	enum status st = gateway_reload(g, &f);

	if (st == ST_OK)
		mix_gate_reload(g->mix);
	if (st != ST_OK && f.errors == 0)
		LOG(EV_FINDING, log_status(KEY_CAUSE, st));
	gateway_log_findings(EV_FINDING, &f);
	findings_clear(&f);
}
