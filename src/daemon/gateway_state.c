/* What the gateway tells of itself: readiness, gauges, and what it logs when
 * its state has changed. */
#include <stdio.h>
#include <string.h>

#include "daemon/gateway_impl.h"
#include "daemon/log.h"
#include "daemon/memory.h"
#include "daemon/mix_gate.h"
#include "daemon/tor_link.h"
#include "daemon/well_known.h"

/* How often files are looked at for what inotify can not see, and the
 * machine's addresses for what has changed. */
#define POLL_MS 10000

now_t
gateway_now(const struct gateway *g)
{
	return (now_t){
	    .wall = (uint64_t)(loop_wall(g->loop) / 1000),
	    .mono = loop_now(g->loop),
	};
}

const struct policy *
gateway_policy(const struct gateway *g, uint16_t number)
{
	if (number >= ROOT_GROUPS_MAX || g->policy_of[number] == 0)
		return NULL;
	return &g->policies.policies[g->policy_of[number] - 1];
}

const struct config_group *
gateway_group(const struct gateway *g, uint16_t number)
{
	if (number >= ROOT_GROUPS_MAX || g->policy_of[number] == 0)
		return NULL;
	return &g->config->groups[g->policy_of[number] - 1];
}

static bool
someone_may_pass(const struct gateway *g)
{
	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++) {
		if (roots_current(&g->gate.roots, i) != NULL)
			return true;
	}
	return false;
}

bool
gateway_is_ready(const struct gateway *g, const char **why)
{
	struct ledger_store_health health;

	ledger_store_health(g->store, &health);
	*why = NULL;
	if (g->phase == GATEWAY_STARTING)
		*why = "starting";
	else if (g->phase != GATEWAY_OPEN)
		*why = "draining";
	else if (health.status == ST_LEDGER_UNREACHABLE)
		*why = "the shared ledger can not be reached";
	else if (health.status != ST_OK)
		*why = "the journal can not be written";
	else if (!key_maker_is_done(g->key_maker_at))
		*why = "verification keys are being made ready";
	else if (!someone_may_pass(g))
		*why = "no group has members";
	else if (g->onion_file.changed)
		*why = "the onion service has another address: start anew";
	return *why == NULL;
}

static void
pool_gauges(const struct gateway *g, struct gauges *out)
{
	struct pool_counts counts = pool_counts(g->verifiers);

	out->queue[0] = counts.waiting[0];
	out->queue[1] = counts.waiting[1];
	out->queue_max = g->config->limits.queue;
	out->running = counts.running;
	out->batches = counts.batches;
	out->largest_batch = counts.largest_batch;
}

static void
ledger_gauges(const struct gateway *g, struct gauges *out)
{
	struct ledger_store_health health;
	struct ledger_stats stats;

	ledger_stats(&stats, &g->gate.ledger);
	ledger_store_health(g->store, &health);
	out->ledger_entries = stats.entries;
	out->ledger_bytes = stats.chunks * LEDGER_CHUNK;
	out->ledger_bytes_max = stats.chunks_max * LEDGER_CHUNK;
	out->journal = g->config->ledger.journal != NULL;
	out->journal_healthy = health.status == ST_OK;
	out->journal_pending = health.pending;
	out->journal_records = health.records;
	out->journal_bytes = health.bytes;
	out->journal_unsynced = health.records - health.synced;
	out->journal_syncs = health.syncs;
	out->journal_failures = health.failures;
	out->shared = health.shared;
	out->shared_up = health.up;
	out->shared_pending = health.pending;
	out->shared_connects = health.connects;
	out->shared_timeouts = health.timeouts;
	out->shared_owed = health.owed;
	out->shared_lost = health.lost;
}

static void
group_gauges(const struct gateway *g, struct gauges *out,
    struct gauge_group groups[static ROOT_GROUPS_MAX])
{
	struct root none;

	out->roots = roots_list(&none, 0, &g->gate.roots, loop_now(g->loop));
	out->groups = groups;
	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++) {
		const struct seat *seat = membership_seat(g->membership, i);
		if (seat == NULL)
			continue;
		struct gauge_group *group = &groups[out->groups_n++];
		*group = (struct gauge_group){
		    .name = seat->name,
		    .healthy = seat->fault.status == ST_OK,
		};
		if (seat->roll != NULL) {
			group->members = seat->roll->root.size;
			group->depth = seat->roll->root.depth;
		}
	}
}

static void
mix_gauges(const struct gateway *g, struct gauges *out)
{
	struct mix_exit_counts c = mix_gate_counts(g->mix);

	out->mix = g->mix != NULL;
	out->mix_relayed = c.relayed;
	out->mix_refused = c.refused;
	out->mix_failed = c.failed;
	out->mix_bad = c.bad;
	out->mix_dropped = c.dropped;
}

void
gateway_gauges(const struct gateway *g, struct gauges *out,
    struct gauge_group groups[static ROOT_GROUPS_MAX])
{
	const struct epoch_rules *rules = &g->gate.book.rules;
	const struct control_info *info = tor_link_info(g->tor);
	const char *why;

	*out = (struct gauges){
	    .ready = gateway_is_ready(g, &why),
	    .draining = g->phase == GATEWAY_DRAINING,
	    .start_seconds = (uint64_t)g->started,
	    .sessions = g->sessions.used,
	    .sessions_max = g->sessions.capacity,
	    .tunnels = g->tunnels,
	    .epoch = epoch_at(rules, gateway_now(g).wall),
	    .tor_configured = info != NULL,
	    .sandbox = &g->sandbox,
	    .log_dropped = log_dropped(),
	};
	out->epoch_end_seconds = epoch_end(rules, out->epoch);
	for (size_t i = 0; i < g->listeners_n; i++)
		out->accept_pauses += listener_counts(g->listeners[i]).pauses;
	if (info != NULL) {
		out->tor_up = info->state == CONTROL_UP;
		out->circuits_closed = info->circuits_closed;
	}
	pool_gauges(g, out);
	ledger_gauges(g, out);
	mix_gauges(g, out);
	group_gauges(g, out, groups);
}

/* --- changes worth a line --- */

static void
look_at_epoch(struct gateway *g)
{
	uint64_t epoch = epoch_at(&g->gate.book.rules, gateway_now(g).wall);

	if (epoch == g->epoch)
		return;
	if (epoch < g->epoch)
		log_plain(EV_CLOCK_JUMPED);
	else
		LOG(EV_EPOCH_TURNED,
		    log_number(KEY_SECONDS, g->gate.book.rules.length));
	g->epoch = epoch;
	well_known_stale(g);
}

/* It came, went, or went for another reason. */
static void
look_at_shared(struct gateway *g, const struct ledger_store_health *health)
{
	const char *why = health->up ? "" : health->why_down;

	if (health->up == g->shared_up_said &&
	    strcmp(why, g->shared_why_said) == 0)
		return;
	if (health->up)
		log_plain(EV_LEDGER_BACK);
	else
		LOG(EV_LEDGER_LOST, log_words(KEY_WHAT, why));
	g->shared_up_said = health->up;
	snprintf(g->shared_why_said, sizeof(g->shared_why_said), "%s", why);
}

static void
look_at_ledger(struct gateway *g)
{
	struct ledger_store_health health;

	ledger_store_health(g->store, &health);
	if (health.shared) {
		look_at_shared(g, &health);
		return;
	}
	if (health.compactions != g->compactions_said)
		LOG(EV_JOURNAL_COMPACTED,
		    log_number(KEY_ENTRIES, health.records),
		    log_number(KEY_BYTES, health.bytes));
	g->compactions_said = health.compactions;
	if (health.status == g->journal_said)
		return;
	if (health.status == ST_OK)
		log_plain(EV_JOURNAL_BACK);
	else
		LOG(EV_JOURNAL_FAILED, log_errno(health.error));
	g->journal_said = health.status;
}

static void
look_at_listeners(struct gateway *g)
{
	bool paused = false;

	for (size_t i = 0; i < g->listeners_n; i++)
		paused |= listener_counts(g->listeners[i]).paused;
	if (paused != g->accept_paused_said)
		log_plain(paused ? EV_DESCRIPTORS_OUT : EV_DESCRIPTORS_BACK);
	g->accept_paused_said = paused;
}

static void
look_at_onion(struct gateway *g)
{
	if (onion_file_look(&g->onion_file))
		log_plain(
		    g->onion_file.changed ? EV_ONION_CHANGED : EV_ONION_BACK);
}

static void
look_at_history(struct gateway *g)
{
	struct pool_counts pool = pool_counts(g->verifiers);
	struct mix_exit_counts mix = mix_gate_counts(g->mix);
	const struct history_now now = {
	    .tunnels = g->tunnels,
	    .queue = pool.waiting[0] + pool.waiting[1],
	    .mix_relayed = mix.relayed,
	    .mix_lost = mix.failed + mix.dropped,
	};

	history_look(&g->history, loop_now(g->loop), &g->metrics, &now);
}

void
gateway_tick(struct gateway *g)
{
	uint64_t now = loop_now(g->loop);

	look_at_history(g);
	/* Filled again as soon as may be; a reload is refused without it. */
	(void)memory_reserve();
	ledger_store_tick(g->store, gateway_now(g));
	roots_tidy(&g->gate.roots, now);
	look_at_epoch(g);
	look_at_ledger(g);
	look_at_listeners(g);
	if (now - g->polled_at < POLL_MS)
		return;
	g->polled_at = now;
	membership_poll(g->membership);
	look_at_onion(g);
	/* When it fails the former list stays. */
	if (own_addresses_refresh(&g->own) != ST_OK)
		LOG(EV_FINDING, log_words(KEY_PLACE, "interfaces"),
		    log_words(KEY_WHAT, "the addresses can not be read"));
}
