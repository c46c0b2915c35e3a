/* The commands of daemon/ctl.h. */
#include <string.h>

#include "base/text.h"
#include "base/version.h"
#include "daemon/ctl.h"
#include "daemon/log.h"
#include "daemon/tor_link.h"

static json_t *
count(uint64_t v)
{
	return json_integer((json_int_t)(v > INT64_MAX ? INT64_MAX : v));
}

/* --- status --- */

static const char *
phase_name(const struct gateway *g)
{
	switch (g->phase) {
	case GATEWAY_STARTING:
		return "starting";
	case GATEWAY_OPEN:
		return "open";
	case GATEWAY_DRAINING:
		return "draining";
	case GATEWAY_OVER:
		break;
	}
	return "over";
}

static json_t *
groups_json(const struct gateway *g)
{
	json_t *list = json_array();
	char why[ROLL_FAULT_MAX];

	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++) {
		const struct seat *seat = membership_seat(g->membership, i);
		if (seat == NULL)
			continue;
		json_t *o = json_object();
		json_object_set_new(o, "name", json_string(seat->name));
		json_object_set_new(o, "file", json_string(seat->path));
		if (seat->roll != NULL) {
			char root[DECIMAL_MAX];
			decimal_encode(root, seat->roll->root.root);
			json_object_set_new(
			    o, "members", count(seat->roll->root.size));
			json_object_set_new(
			    o, "depth", count(seat->roll->root.depth));
			json_object_set_new(o, "root", json_string(root));
		}
		json_object_set_new(o, "problem",
		    seat->fault.status == ST_OK
			? json_null()
			: json_string(roll_fault_text(why, &seat->fault)));
		json_array_append_new(list, o);
	}
	return list;
}

/* Requests by what they were answered, as far as there were any. */
static json_t *
answers_json(const struct metrics *m)
{
	json_t *o = json_object();

	for (unsigned s = 0; s < ST_COUNT; s++) {
		if (m->answers[s] != 0)
			json_object_set_new(o,
			    status_info((enum status)s)->label,
			    count(m->answers[s]));
	}
	return o;
}

/* The same by what they mean to an operator, all of them. */
static json_t *
verdicts_json(const struct metrics *m)
{
	uint64_t answers[HISTORY_ANSWERS];
	json_t *o = json_object();

	history_answers(answers, m);
	for (unsigned i = 0; i < HISTORY_ANSWERS; i++)
		json_object_set_new(o,
		    history_answer_name((enum history_answer)i),
		    count(answers[i]));
	return o;
}

static json_t *
quota_json(const struct quota_use *q)
{
	static const char *const names[QUOTA_BUCKETS] = {
	    "0-25 %", "25-50 %", "50-75 %", "75-100 %"};
	json_t *o = json_object();

	for (unsigned i = 0; i < QUOTA_BUCKETS; i++)
		json_object_set_new(o, names[i], count(q->bucket[i]));
	return o;
}

static json_t *
times_json(const struct histogram *h)
{
	return json_pack("{s:o, s:f, s:f}", "count", count(h->count), "p50_ms",
	    (double)histogram_quantile(h, 0.5) / 1e6, "p95_ms",
	    (double)histogram_quantile(h, 0.95) / 1e6);
}

static json_t *
journal_json(const struct gateway *g)
{
	struct ledger_store_health h;

	ledger_store_health(g->store, &h);
	if (g->config->ledger.journal == NULL)
		return json_null();
	return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "file",
	    g->config->ledger.journal, "healthy", h.status == ST_OK, "records",
	    count(h.records), "bytes", count(h.bytes), "unsynced",
	    count(h.records - h.synced), "failures", count(h.failures),
	    "compactions", count(h.compactions));
}

static json_t *
shared_json(const struct gateway *g)
{
	struct ledger_store_health h;

	ledger_store_health(g->store, &h);
	if (!h.shared)
		return json_null();
	return json_pack("{s:b, s:s, s:o, s:o, s:o, s:o, s:o}", "up", h.up,
	    "why_down", h.up ? "" : h.why_down, "pending", count(h.pending),
	    "owed", count(h.owed), "connects", count(h.connects), "timeouts",
	    count(h.timeouts), "lost", count(h.lost));
}

static json_t *
tor_json(const struct gateway *g)
{
	const struct control_info *info = tor_link_info(g->tor);

	if (info == NULL)
		return json_null();
	return json_pack("{s:b, s:s, s:b, s:b, s:b, s:i, s:o}", "up",
	    info->state == CONTROL_UP, "version", info->version, "circuits",
	    info->circuit_established, "onion_published", info->onion_published,
	    "onion_added", info->onion_added, "bootstrap", info->bootstrap,
	    "circuits_closed", count(info->circuits_closed));
}

static json_t *
walls_json(const struct sandbox *s)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < WALL_COUNT; i++)
		json_object_set_new(
		    o, wall_name((enum wall)i), json_boolean(s->stands[i]));
	return o;
}

static json_t *
listeners_json(const struct gateway *g)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->listeners_n; i++) {
		char handed[SUPERVISOR_NAME_MAX];
		const char *text = handed;

		supervisor_name(handed, (unsigned)i);
		if (g->supervisor.listeners == 0)
			text = g->config->gateway.listen.items[i].text;
		json_array_append_new(list,
		    json_pack("{s:s, s:i}", "address", text, "port",
			(int)listener_port(g->listeners[i])));
	}
	return list;
}

static void
add_gauges(json_t *o, const struct gauges *s)
{
	json_object_set_new(o, "ready", json_boolean(s->ready));
	json_object_set_new(o, "started", count(s->start_seconds));
	json_object_set_new(o, "sessions", count(s->sessions));
	json_object_set_new(o, "sessions_max", count(s->sessions_max));
	json_object_set_new(o, "tunnels", count(s->tunnels));
	json_object_set_new(o, "queue", count(s->queue[0] + s->queue[1]));
	json_object_set_new(o, "queue_max", count(s->queue_max));
	json_object_set_new(o, "epoch", count(s->epoch));
	json_object_set_new(o, "epoch_end", count(s->epoch_end_seconds));
	json_object_set_new(o, "ledger_entries", count(s->ledger_entries));
	json_object_set_new(o, "ledger_bytes", count(s->ledger_bytes));
	json_object_set_new(o, "roots", count(s->roots));
}

static json_t *
run_status(struct gateway *g, const char *argument, const char **error,
    struct findings *f)
{
	struct gauge_group groups[ROOT_GROUPS_MAX];
	struct gauges gauges;
	json_t *o = json_object();
	const char *why;

	(void)argument;
	(void)error;
	(void)f;
	gateway_gauges(g, &gauges, groups);
	json_object_set_new(o, "version", json_string(POSTERN_VERSION));
	json_object_set_new(o, "phase", json_string(phase_name(g)));
	add_gauges(o, &gauges);
	json_object_set_new(o, "not_ready",
	    gateway_is_ready(g, &why) ? json_null() : json_string(why));
	json_object_set_new(o, "onion", json_string(g->onion));
	json_object_set_new(
	    o, "onion_changed", json_boolean(g->onion_file.changed));
	json_object_set_new(o, "config", json_string(g->config->path));
	json_object_set_new(
	    o, "log_level", json_string(log_level_name(log_current_level())));
	json_object_set_new(o, "listeners", listeners_json(g));
	json_object_set_new(o, "groups", groups_json(g));
	json_object_set_new(o, "answers", answers_json(&g->metrics));
	json_object_set_new(o, "verdicts", verdicts_json(&g->metrics));
	json_object_set_new(o, "quota_used", quota_json(&g->metrics.quota));
	json_object_set_new(o, "bytes_up", count(g->metrics.bytes_up));
	json_object_set_new(o, "bytes_down", count(g->metrics.bytes_down));
	json_object_set_new(o, "verify", times_json(&g->metrics.verify));
	json_object_set_new(o, "connect", times_json(&g->metrics.connect));
	json_object_set_new(o, "journal", journal_json(g));
	json_object_set_new(o, "shared_ledger", shared_json(g));
	json_object_set_new(o, "tor", tor_json(g));
	json_object_set_new(o, "walls", walls_json(&g->sandbox));
	json_object_set_new(
	    o, "descriptors_max", count(g->sandbox.descriptors));
	json_object_set_new(
	    o, "address_space_max", count(g->sandbox.address_space));
	return o;
}

static json_t *
run_epoch(struct gateway *g, const char *argument, const char **error,
    struct findings *f)
{
	const struct epoch_rules *rules = &g->gate.book.rules;
	uint64_t epoch = epoch_at(rules, gateway_now(g).wall);
	struct ledger_stats stats;

	(void)argument;
	(void)error;
	(void)f;
	ledger_stats(&stats, &g->gate.ledger);
	return json_pack("{s:o, s:o, s:o, s:o}", "epoch", count(epoch),
	    "begins", count(epoch_end(rules, epoch) - rules->length), "ends",
	    count(epoch_end(rules, epoch)), "nullifiers", count(stats.entries));
}

/* --- steering --- */

static json_t *
run_journal(struct gateway *g, const char *argument, const char **error,
    struct findings *f)
{
	json_t *o = journal_json(g);

	(void)f;
	if (json_is_null(o))
		*error = "this gateway has no journal";
	else if (strcmp(argument, "compact") == 0)
		*error = ledger_store_compact(g->store)
		    ? NULL
		    : "this ledger is not compacted from here";
	else if (strcmp(argument, "check") != 0)
		*error = "journal check, or journal compact";
	else if (!json_is_true(json_object_get(o, "healthy")))
		*error = "the journal can not be written";
	if (*error == NULL)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *
run_reload(struct gateway *g, const char *argument, const char **error,
    struct findings *f)
{
	(void)argument;
	if (gateway_reload(g, f) == ST_OK)
		return json_pack("{s:b}", "reloading", true);
	*error = "the configuration is not taken; the old one stays";
	return NULL;
}

static json_t *
run_drain(struct gateway *g, const char *argument, const char **error,
    struct findings *f)
{
	(void)argument;
	(void)error;
	(void)f;
	gateway_drain(g);
	return json_pack(
	    "{s:s, s:o}", "phase", phase_name(g), "tunnels", count(g->tunnels));
}

static json_t *
run_log(struct gateway *g, const char *argument, const char **error,
    struct findings *f)
{
	(void)g;
	(void)f;
	for (int i = LEVEL_ERROR; i <= LEVEL_DEBUG; i++) {
		const char *name = log_level_name((enum log_level)i);
		if (strcmp(name, argument) != 0)
			continue;
		log_set_level((enum log_level)i);
		return json_pack("{s:s}", "log_level", name);
	}
	*error = "a level is error, warning, notice, info or debug";
	return NULL;
}

static json_t *
run_expel(struct gateway *g, const char *argument, const char **error,
    struct findings *f)
{
	uint16_t number = membership_number(g->membership, argument);

	(void)f;
	if (number == ROOT_GROUPS_MAX) {
		*error = "there is no such group";
		return NULL;
	}
	roots_drop_replaced(&g->gate.roots, number);
	return json_pack("{s:s}", "group", argument);
}

const struct ctl_command ctl_commands[] = {
    {"status", NULL, "how the gateway is doing", run_status},
    {"reload", NULL, "take over configuration and members", run_reload},
    {"drain", NULL, "take nothing new; end when the last tunnel has",
	run_drain},
    {"epoch", NULL, "which one it is, and until when", run_epoch},
    {"journal", "check|compact",
	"whether all counts are well on disk; or rewrite it without what is "
	"over",
	run_journal},
    {"log", "LEVEL", "log events of LEVEL and above, until the next reload",
	run_log},
    {"expel", CTL_GROUP,
	"refuse proofs for former lists of GROUP now: who was taken out is out",
	run_expel},
    {NULL, NULL, NULL, NULL},
};
