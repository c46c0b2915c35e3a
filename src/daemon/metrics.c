#include "daemon/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/version.h"
#include "daemon/sandbox.h"

/* Upper bounds in microseconds: from a cached proof to a hopeless connect. */
static const uint64_t bounds_us[HISTOGRAM_BUCKETS] = {50, 100, 200, 500, 1000,
    2000, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 5000000,
    10000000};

void
histogram_add(struct histogram *h, uint64_t ns)
{
	unsigned i = 0;

	while (i < HISTOGRAM_BUCKETS && ns > bounds_us[i] * 1000)
		i++;
	h->bucket[i]++;
	h->sum_ns += ns;
	h->count++;
}

uint64_t
histogram_quantile(const struct histogram *h, double share)
{
	double rank = share * (double)h->count, seen = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && h->count > 0; i++) {
		double here = (double)h->bucket[i];
		if (here > 0 && seen + here >= rank) {
			double low = i == 0 ? 0 : (double)bounds_us[i - 1];
			double high = (double)bounds_us[i];
			double part = (rank - seen) / here;
			return (uint64_t)((low + (high - low) * part) * 1000);
		}
		seen += here;
	}
	return h->count == 0 ? 0 : bounds_us[HISTOGRAM_BUCKETS - 1] * 1000;
}

void
quota_use_add(struct quota_use *q, uint64_t left, uint64_t limit)
{
	double used = left < limit ? 1 - (double)left / (double)limit : 0;
	unsigned i = 0;

	while (i + 1 < QUOTA_BUCKETS && used > (i + 1.0) / QUOTA_BUCKETS)
		i++;
	q->bucket[i]++;
	q->count++;
	q->sum += used;
}

/* --- writing --- */

static void
head(struct buffer *b, const char *name, const char *type, const char *help)
{
	buffer_format(b, "# HELP postern_%s %s\n# TYPE postern_%s %s\n", name,
	    help, name, type);
}

static void
counter(struct buffer *b, const char *name, uint64_t v, const char *help)
{
	head(b, name, "counter", help);
	buffer_format(b, "postern_%s %" PRIu64 "\n", name, v);
}

static void
gauge(struct buffer *b, const char *name, uint64_t v, const char *help)
{
	head(b, name, "gauge", help);
	buffer_format(b, "postern_%s %" PRIu64 "\n", name, v);
}

/* One sample of NAME with one label. */
static void
sample(struct buffer *b, const char *name, const char *label, const char *value,
    uint64_t v)
{
	buffer_format(
	    b, "postern_%s{%s=\"%s\"} %" PRIu64 "\n", name, label, value, v);
}

/* A counter for each status; those that an answer can have are always there,
 * so that a rate can be taken from the first one on. */
static void
by_status(struct buffer *b, const char *name, const char *label,
    const uint64_t counts[ST_COUNT], bool answers, const char *help)
{
	head(b, name, "counter", help);
	for (unsigned s = 0; s < ST_COUNT; s++) {
		const struct status_info *info = status_info((enum status)s);
		if (counts[s] != 0 || (answers && info->http != 0))
			sample(b, name, label, info->label, counts[s]);
	}
}

static void
histogram(struct buffer *b, const char *name, const struct histogram *h,
    const char *help)
{
	uint64_t below = 0;

	head(b, name, "histogram", help);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		below += h->bucket[i];
		buffer_format(b, "postern_%s_bucket{le=\"%g\"} %" PRIu64 "\n",
		    name, (double)bounds_us[i] / 1e6, below);
	}
	buffer_format(b,
	    "postern_%s_bucket{le=\"+Inf\"} %" PRIu64 "\n"
	    "postern_%s_sum %.9f\npostern_%s_count %" PRIu64 "\n",
	    name, h->count, name, (double)h->sum_ns / 1e9, name, h->count);
}

static void
quota_use(struct buffer *b, const struct quota_use *q)
{
	static const char name[] = "quota_used_ratio";
	uint64_t below = 0;

	head(b, name, "histogram",
	    "Counted requests by the share of their quota that is used then.");
	for (unsigned i = 0; i < QUOTA_BUCKETS; i++) {
		below += q->bucket[i];
		buffer_format(b, "postern_%s_bucket{le=\"%g\"} %" PRIu64 "\n",
		    name, (i + 1.0) / QUOTA_BUCKETS, below);
	}
	buffer_format(b,
	    "postern_%s_bucket{le=\"+Inf\"} %" PRIu64
	    "\npostern_%s_sum %.4f\npostern_%s_count %" PRIu64 "\n",
	    name, q->count, name, q->sum, name, q->count);
}

static void
render_requests(struct buffer *b, const struct metrics *m)
{
	counter(
	    b, "connections_total", m->connections, "Connections accepted.");
	counter(b, "connections_refused_total", m->refused,
	    "Connections turned away because all sessions were taken.");
	by_status(b, "requests_total", "status", m->answers, true,
	    "Requests by what they were answered.");
	by_status(b, "sessions_ended_total", "reason", m->ends, false,
	    "Connections by how they ended.");
	head(b, "proofs_total", "counter", "Proofs by what became of them.");
	sample(b, "proofs_total", "result", "verified", m->verified);
	sample(b, "proofs_total", "result", "cached", m->cached);
	sample(b, "proofs_total", "result", "invalid", m->invalid);
	counter(b, "checks_shared_total", m->shared,
	    "Requests that waited for another's check of the same proof.");
	counter(
	    b, "documents_total", m->documents, "Well-known documents served.");
	head(b, "tunnel_bytes_total", "counter",
	    "Bytes relayed: up from clients, down to them.");
	sample(b, "tunnel_bytes_total", "direction", "up", m->bytes_up);
	sample(b, "tunnel_bytes_total", "direction", "down", m->bytes_down);
	histogram(b, "verify_seconds", &m->verify,
	    "From the queue to the verdict on a proof.");
	histogram(b, "pairing_seconds", &m->pairing,
	    "What a worker needed for a proof (its share of a batch).");
	histogram(b, "count_seconds", &m->count,
	    "Making the count of a request durable.");
	histogram(b, "dns_seconds", &m->dns, "Name look-ups.");
	histogram(b, "connect_seconds", &m->connect,
	    "From the first attempt to a connection, or to giving up.");
	quota_use(b, &m->quota);
	counter(b, "reloads_total", m->reloads, "Reloads taken over.");
	counter(b, "reload_failures_total", m->reload_failures,
	    "Reloads refused; the old state stayed.");
}

static void
render_journal(struct buffer *b, const struct gauges *g)
{
	gauge(b, "journal_healthy", g->journal_healthy,
	    "1 while counts can be written.");
	gauge(b, "journal_pending_records", g->journal_pending,
	    "Requests that wait for their count to be durable.");
	gauge(b, "journal_records", g->journal_records,
	    "Records in the journal.");
	gauge(b, "journal_bytes", g->journal_bytes, "Size of the journal.");
	gauge(b, "journal_unsynced_records", g->journal_unsynced,
	    "Records that a power cut would lose now.");
	counter(b, "journal_syncs_total", g->journal_syncs,
	    "Times the journal was synced.");
	counter(b, "journal_failures_total", g->journal_failures,
	    "Times it could not be written or synced.");
}

static void
render_shared(struct buffer *b, const struct gauges *g)
{
	gauge(b, "shared_ledger_up", g->shared_up,
	    "1 while the ledger that gateways share counts.");
	gauge(b, "shared_ledger_pending_requests", g->shared_pending,
	    "Requests that wait for it.");
	gauge(b, "shared_ledger_owed_requests", g->shared_owed,
	    "Requests counted here while it was away, and not told it yet.");
	counter(b, "shared_ledger_connects_total", g->shared_connects,
	    "Times it came up.");
	counter(b, "shared_ledger_timeouts_total", g->shared_timeouts,
	    "Requests refused because it did not answer in time.");
	counter(b, "shared_ledger_lost_total", g->shared_lost,
	    "Changes that it will never be told.");
}

static void
render_groups(struct buffer *b, const struct gauges *g)
{
	head(b, "group_members", "gauge", "Members of a group.");
	for (size_t i = 0; i < g->groups_n; i++)
		sample(b, "group_members", "group", g->groups[i].name,
		    g->groups[i].members);
	head(b, "group_depth", "gauge", "Depth of a group's tree.");
	for (size_t i = 0; i < g->groups_n; i++)
		sample(b, "group_depth", "group", g->groups[i].name,
		    g->groups[i].depth);
	head(b, "group_healthy", "gauge",
	    "1 while a group's member file is right.");
	for (size_t i = 0; i < g->groups_n; i++)
		sample(b, "group_healthy", "group", g->groups[i].name,
		    g->groups[i].healthy);
	gauge(b, "roots", g->roots, "Roots that proofs may be for.");
}

static void
render_state(struct buffer *b, const struct gauges *g)
{
	head(b, "build_info", "gauge", "Always 1; the labels tell.");
	buffer_format(b,
	    "postern_build_info{version=\"" POSTERN_VERSION
	    "\",compiler=\"" __VERSION__ "\"} 1\n");
	gauge(b, "start_time_seconds", g->start_seconds,
	    "When the gateway started, Unix time.");
	gauge(b, "ready", g->ready, "1 while requests can be served.");
	gauge(b, "draining", g->draining, "1 while it is shutting down.");
	gauge(b, "sessions", g->sessions, "Connections open.");
	gauge(b, "sessions_max", g->sessions_max,
	    "Connections that may be open.");
	gauge(b, "tunnels", g->tunnels, "Tunnels open.");
	head(b, "queue_jobs", "gauge",
	    "Proofs waiting for a worker, by class of sender.");
	sample(b, "queue_jobs", "class", "ordinary", g->queue[0]);
	sample(b, "queue_jobs", "class", "suspect", g->queue[1]);
	gauge(b, "queue_jobs_max", g->queue_max, "Proofs that may wait.");
	gauge(b, "workers_running", g->running, "Proofs being checked.");
	counter(b, "batches_total", g->batches, "Batches of proofs checked.");
	gauge(b, "batch_largest_proofs", g->largest_batch,
	    "The largest batch so far.");
	gauge(b, "epoch", g->epoch, "Number of the epoch.");
	gauge(b, "epoch_end_seconds", g->epoch_end_seconds,
	    "When the epoch ends, Unix time.");
	gauge(b, "ledger_entries", g->ledger_entries,
	    "Nullifiers that are counted, in all live epochs.");
	gauge(b, "ledger_bytes", g->ledger_bytes, "Memory of the ledger.");
	gauge(b, "ledger_bytes_max", g->ledger_bytes_max,
	    "Memory the ledger may take.");
	counter(b, "log_dropped_total", g->log_dropped,
	    "Log lines that nobody was ready to take.");
	counter(b, "accept_pauses_total", g->accept_pauses,
	    "Times accepting paused for want of descriptors or memory.");
}

static void
render_mix(struct buffer *b, const struct gauges *g)
{
	head(b, "mix_requests_total", "counter",
	    "Requests from the mixnet, by how they ended.");
	sample(b, "mix_requests_total", "result", "relayed", g->mix_relayed);
	sample(b, "mix_requests_total", "result", "refused", g->mix_refused);
	sample(b, "mix_requests_total", "result", "failed", g->mix_failed);
	counter(b, "mix_bad_messages_total", g->mix_bad,
	    "Messages from the mixnet that are no part of a request.");
	counter(b, "mix_dropped_requests_total", g->mix_dropped,
	    "Requests from the mixnet that were never complete, or too many.");
}

static void
render_walls(struct buffer *b, const struct sandbox *s)
{
	head(b, "wall", "gauge", "1 for each wall of the sandbox that stands.");
	for (unsigned i = 0; i < WALL_COUNT; i++)
		sample(
		    b, "wall", "wall", wall_name((enum wall)i), s->stands[i]);
	gauge(b, "descriptors_max", s->descriptors,
	    "Descriptors that may be open; 0: not limited by the gateway.");
	gauge(b, "address_space_max_bytes", s->address_space,
	    "Address space it may have; 0: not limited by the gateway.");
}

void
metrics_render(
    struct buffer *out, const struct metrics *m, const struct gauges *g)
{
	render_state(out, g);
	render_requests(out, m);
	render_groups(out, g);
	if (g->sandbox != NULL)
		render_walls(out, g->sandbox);
	if (g->journal)
		render_journal(out, g);
	if (g->shared)
		render_shared(out, g);
	if (g->mix)
		render_mix(out, g);
	if (g->tor_configured) {
		gauge(out, "tor_up", g->tor_up,
		    "1 while tor's control port answers.");
		counter(out, "circuits_closed_total", g->circuits_closed,
		    "Circuits closed for bad proofs.");
	}
}
