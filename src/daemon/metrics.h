/* daemon/metrics.h: what the gateway counts, and its Prometheus text.
 *
 * Counters and histograms live here and are raised by the code that sees the
 * thing happen; gauges are asked for at the moment of a scrape (struct
 * gauges). Names follow Prometheus's conventions: a unit as suffix, _total for
 * counters, base units.
 *
 * Labels come from the status table (`status`, `reason`), from fixed lists, and
 * from the operator's own names of groups. None names a member, a target or a
 * circuit, and no metric is kept per any of these.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_METRICS_H
#define DAEMON_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/buffer.h"
#include "postern/status.h"

#define HISTOGRAM_BUCKETS 16

/* Times in nanoseconds, counted into buckets with upper bounds from a table
 * that all histograms share (metrics.c). */
struct histogram {
	uint64_t bucket[HISTOGRAM_BUCKETS + 1]; /* the last is +Inf */
	uint64_t sum_ns, count;
};

void histogram_add(struct histogram *h, uint64_t ns);

/* How much of a quota a counted request left used: a quarter at most, a half,
 * three quarters, all. Never whose. */
#define QUOTA_BUCKETS 4

struct quota_use {
	uint64_t bucket[QUOTA_BUCKETS];
	uint64_t count;
	double sum;
};

/* Count a request that leaves LEFT of LIMIT (not zero, not unlimited). */
void quota_use_add(struct quota_use *q, uint64_t left, uint64_t limit);

/* The time below which SHARE (0 to 1) of H's times lie, in ns, by linear
 * interpolation within a bucket; 0 when H is empty. */
uint64_t histogram_quantile(const struct histogram *h, double share);

struct metrics {
	uint64_t connections; /* accepted */
	uint64_t refused; /* ... and turned away: no session was free */
	uint64_t answers[ST_COUNT]; /* requests by what they were answered */
	uint64_t ends[ST_COUNT]; /* sessions by how they ended */
	uint64_t verified, cached; /* proofs that held: checked, remembered */
	uint64_t invalid; /* proofs whose check failed */
	uint64_t shared; /* requests that waited for another's check */
	uint64_t bytes_up, bytes_down; /* relayed */
	uint64_t documents; /* well-known documents served */
	uint64_t reloads, reload_failures;
	struct histogram verify; /* a check, from queue to verdict */
	struct histogram pairing; /* of which a worker computed */
	struct histogram count; /* making a count durable */
	struct histogram dns;
	struct histogram connect;
	struct quota_use quota;
};

struct sandbox;

/* One group as a scrape sees it. */
struct gauge_group {
	const char *name;
	uint64_t members;
	uint32_t depth;
	bool healthy; /* its file is right */
};

struct gauges {
	bool ready, draining;
	uint64_t start_seconds; /* Unix time */
	uint64_t sessions, sessions_max, tunnels;
	uint64_t queue[2], queue_max, running;
	uint64_t batches, largest_batch;
	uint64_t epoch, epoch_end_seconds;
	uint64_t ledger_entries, ledger_bytes, ledger_bytes_max;
	bool journal, journal_healthy;
	uint64_t journal_pending, journal_records, journal_bytes;
	uint64_t journal_unsynced; /* records a crash of the machine loses */
	uint64_t journal_syncs, journal_failures;
	bool shared, shared_up; /* a ledger that gateways share */
	uint64_t shared_pending, shared_connects, shared_timeouts;
	uint64_t shared_owed, shared_lost;
	uint64_t roots;
	uint64_t accept_pauses;
	bool tor_configured, tor_up;
	uint64_t circuits_closed;
	const struct sandbox *sandbox; /* NULL: not told */
	uint64_t log_dropped;
	bool mix; /* at the end of a mixnet */
	uint64_t mix_relayed, mix_refused, mix_failed; /* requests from it */
	uint64_t mix_bad, mix_dropped; /* messages; unfinished requests */
	const struct gauge_group *groups;
	size_t groups_n;
};

/* Write M and G in Prometheus's text format, version 0.0.4. */
void metrics_render(
    struct buffer *out, const struct metrics *m, const struct gauges *g);

#endif
