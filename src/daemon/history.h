/* daemon/history.h: the last hour of a gateway, in steps of half a minute, for
 * the status page.
 *
 * A ring of fixed size; each step holds what happened in it (differences of
 * the counters in metrics.h) and the highest of the gauges. The newest step is
 * the one that is under way. Nothing in it is about one member, target or
 * connection.
 *
 * Pure: no clock. Threads: one at a time.
 */
#ifndef DAEMON_HISTORY_H
#define DAEMON_HISTORY_H

#include "daemon/metrics.h"

#define HISTORY_STEPS 120
#define HISTORY_STEP_MS 30000

/* Answers to CONNECT, by what they mean to an operator. */
enum history_answer {
	ANSWER_OPENED,
	ANSWER_UNPROVEN, /* 407: no proof, or one that does not hold */
	ANSWER_QUOTA, /* 429 */
	ANSWER_FORBIDDEN, /* 403: where nobody may go */
	ANSWER_FAILED, /* 5xx: the target, or the gateway */
	ANSWER_MALFORMED, /* the rest */
	HISTORY_ANSWERS
};

struct history_step {
	uint64_t answers[HISTORY_ANSWERS];
	uint64_t verified; /* checks; 0: the quantiles mean nothing */
	uint64_t verify_p50_ns, verify_p95_ns;
	uint64_t tunnels, queue; /* highest seen */
	uint64_t bytes_up, bytes_down;
	uint64_t mix_relayed, mix_lost;
};

/* What is not in struct metrics. */
struct history_now {
	uint64_t tunnels, queue;
	uint64_t mix_relayed, mix_lost; /* so far */
};

struct history {
	struct history_step steps[HISTORY_STEPS];
	size_t newest, n; /* n steps have been, the newest one included */
	uint64_t ends; /* of the newest step, ms */
	struct history_step base; /* the counters when it began */
	struct histogram base_verify;
};

/* Take the state at NOW (monotonic, ms) in: call it every second or so. */
void history_look(struct history *h, uint64_t now, const struct metrics *m,
    const struct history_now *s);

/* The step AGO steps before the newest; all zero if there was none. */
const struct history_step *history_step(const struct history *h, size_t ago);

/* The answers of M by their meaning. */
void history_answers(uint64_t out[HISTORY_ANSWERS], const struct metrics *m);

/* "opened", "not proven", ... */
const char *history_answer_name(enum history_answer a);

#endif
