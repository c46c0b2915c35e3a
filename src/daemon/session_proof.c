/* From a credential to a count. */
#include <sodium.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/session_impl.h"
#include "daemon/tor_link.h"

/* One check for the pool: copies in, a result out. */
struct verify_job {
	struct semaphore_proof proof;
	proof_digest_t digest;
	uint8_t random[16]; /* the proof's weight in a batch */
	struct semaphore_fault fault; /* the result */
	uint64_t work_ns; /* this proof's share of the work */
};

/* What a worker has to itself. */
struct verify_state {
	struct semaphore_memo *memo; /* sums that repeat; NULL: none (yet) */
};

/* --- on a worker --- */

static void
verify_batch(const struct semaphore_keys *keys, struct semaphore_memo *memo,
    struct verify_job *const *jobs, unsigned n)
{
	const struct semaphore_proof *proofs[POOL_BATCH_MAX];
	struct semaphore_fault faults[POOL_BATCH_MAX];
	uint8_t random[16 * POOL_BATCH_MAX];

	for (unsigned i = 0; i < n; i++) {
		proofs[i] = &jobs[i]->proof;
		memcpy(random + 16 * (size_t)i, jobs[i]->random, 16);
	}
	/* When there is no memory, each fault says so. */
	enum status st =
	    semaphore_verify_batch(keys, memo, faults, proofs, n, random);
	for (unsigned i = 0; i < n; i++) {
		jobs[i]->fault = faults[i];
		if (st != ST_OK)
			jobs[i]->fault.status = st;
	}
}

/* Check JOBS with KEYS: each fault's status is its result. */
static void
verify(const struct semaphore_keys *keys, struct verify_state *mine,
    struct verify_job *const *jobs, unsigned n)
{
	/* Without memory for a memo it goes slower. */
	if (mine->memo == NULL &&
	    semaphore_memo_new(&mine->memo, keys) != ST_OK)
		mine->memo = NULL;
	if (n > 1)
		verify_batch(keys, mine->memo, jobs, n);
	/* n > 0. NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
	else if (semaphore_verify(keys, mine->memo, &jobs[0]->proof,
		     &jobs[0]->fault) != jobs[0]->fault.status)
		jobs[0]->fault.status = ST_INTERNAL;
}

static void
run(const void *shared, void *state, void *const *raw, unsigned n)
{
	struct verify_job *jobs[POOL_BATCH_MAX] = {NULL};
	struct key_maker *const *maker = shared;
	const struct semaphore_keys *keys = key_maker_wait(*maker);
	uint64_t before = loop_clock_ns();

	for (unsigned i = 0; i < n; i++) {
		jobs[i] = raw[i];
		jobs[i]->fault.status = ST_NO_MEMORY;
	}
	if (keys != NULL)
		verify(keys, state, jobs, n);
	for (unsigned i = 0; i < n; i++)
		jobs[i]->work_ns = (loop_clock_ns() - before) / n;
}

static void
clear(void *state)
{
	struct verify_state *mine = state;

	semaphore_memo_free(mine->memo);
	mine->memo = NULL;
}

/* --- on the loop --- */

bool
session_note_failure(struct session *s)
{
	struct gateway *g = s->gateway;

	s->suspect = true;
	if (circuits_failed(&g->circuits, s->circuit) == ST_OK)
		return false;
	tor_link_close_circuit(g->tor, s->circuit_id);
	return true;
}

/* Say that the proof does not hold, and why. */
static void
refuse_proof(
    struct session *s, enum status st, const struct semaphore_fault *fault)
{
	char detail[SEMAPHORE_FAULT_MAX];
	bool say = fault->status != ST_OK && fault->status != ST_PROOF_INVALID;

	if (session_note_failure(s))
		s->keep = false;
	session_answer(
	    s, st, say ? semaphore_fault_text(detail, fault) : NULL, 0);
}

/* What a settle or a screen said no with. */
static void
refuse_count(struct session *s, enum status st, const struct quota_left *left)
{
	uint64_t retry = 10;

	if (status_info(st)->http == 429) {
		s->left = *left;
		s->left_known = true;
		retry = left->retry;
	}
	session_answer(s, st, NULL, retry);
}

/* It was not counted, for the reason ST. */
static void
not_counted(struct session *s, enum status st, const struct quota_left *left)
{
	/* It was here before: whoever delivers it again is told nothing. */
	if (s->marking && st == ST_QUOTA_REQUESTS)
		session_close(s, ST_REPLAY);
	else
		refuse_count(s, st, left);
}

static void
count(struct session *s, const struct gate_ticket *t)
{
	struct gateway *g = s->gateway;
	struct gate_grant grant;
	enum status st = ledger_store_settle(
	    g->store, &grant, t, VERDICT_ACCEPT, s->self, gateway_now(g));

	if (st == ST_OK)
		task_defer(g->loop, &g->store_flush);
	else
		not_counted(s, st, &grant.left);
}

/* The proof holds: count the request; before it its id, if it has one. */
static void
settle(struct session *s)
{
	struct gate_ticket mark;

	s->state = SESSION_COUNT;
	s->since_ns = loop_clock_ns();
	s->marking = s->once;
	if (s->once) {
		mark = gate_once(&s->gateway->gate, &s->ticket, s->once_id);
		count(s, &mark);
	} else {
		count(s, &s->ticket);
	}
}

void
session_settled(void *gateway, handle_t who, enum status status,
    const struct gate_grant *grant)
{
	struct gateway *g = gateway;
	struct session *s = slab_at(&g->sessions, who);
	struct gate_tunnel account = grant->tunnel;
	const struct quota_limits *l;

	if (s == NULL || s->state != SESSION_COUNT) {
		/* Gone in the meantime: counted, and not open any more. */
		if (status == ST_OK)
			ledger_store_close(g->store, &account);
		return;
	}
	if (s->marking && status == ST_OK) {
		s->marking = false;
		ledger_store_close(g->store, &account);
		count(s, &s->ticket);
		return;
	}
	histogram_add(&g->metrics.count, loop_clock_ns() - s->since_ns);
	if (status != ST_OK) {
		not_counted(s, status, &grant->left);
		return;
	}
	l = &g->gate.limits[account.group];
	s->account = account;
	s->left = grant->left;
	s->left_known = true;
	if (l->requests != 0 && l->requests != QUOTA_UNLIMITED)
		quota_use_add(&g->metrics.quota, s->left.requests, l->requests);
	session_counted(s);
}

/* The verdict on S's proof has come. */
static void
take_verdict(struct session *s, const struct semaphore_fault *fault)
{
	struct gateway *g = s->gateway;

	if (s->state != SESSION_CHECK)
		return;
	histogram_add(&g->metrics.verify, loop_clock_ns() - s->since_ns);
	if (fault->status == ST_OK)
		settle(s);
	else if (fault->status == ST_NO_MEMORY || fault->status == ST_INTERNAL)
		session_answer(s, ST_OVERLOADED, NULL, 10);
	else if (fault->status == ST_PROOF_INVALID)
		refuse_proof(s, ST_PROOF_INVALID, fault);
	else
		refuse_proof(s, ST_CREDENTIAL_BAD, fault);
}

/* Tell everybody who waits for the check of DIGEST what came of it. */
static void
tell_waiters(struct gateway *g, const proof_digest_t *digest,
    const struct semaphore_fault *fault)
{
	handle_t who;

	while (pending_take(&g->gate.pending, &who, digest)) {
		struct session *s = slab_at(&g->sessions, who);
		if (s != NULL)
			take_verdict(s, fault);
	}
}

static void
done(void *arg, handle_t owner, void *raw)
{
	struct gateway *g = arg;
	const struct verify_job *job = raw;

	(void)owner;
	histogram_add(&g->metrics.pairing, job->work_ns);
	if (job->fault.status == ST_OK)
		g->metrics.verified++;
	else
		g->metrics.invalid++;
	tell_waiters(g, &job->digest, &job->fault);
}

enum status
session_pool_new(struct gateway *g, unsigned workers)
{
	const struct config *c = g->config;
	uint32_t queue = (uint32_t)c->limits.queue;
	struct pool_config config = {
	    .workers = workers,
	    /* Who has shown a bad proof waits in a queue of its own, a quarter
	     * as long. */
	    .capacity = {queue, queue / 4 + 1},
	    .job_size = sizeof(struct verify_job),
	    .batch_max = (unsigned)c->limits.batch,
	    /* ... and has at most 2,000 proofs a second: the quicker a bad one
	     * is answered, the sooner the next has to be read, and the many
	     * at once would keep the loop from others for a moment. */
	    .pace = 4,
	    .pace_ms = 2,
	    .state_size = sizeof(struct verify_state),
	    /* A flood of proofs must not take the loop's processor. */
	    .nice = 19,
	    .run = run,
	    .done = done,
	    .clear = clear,
	    .shared = &g->key_maker_at,
	    .arg = g,
	};

	return pool_new(&g->verifiers, g->loop, &config);
}

/* Have S's proof checked, or wait for the same check of another's. */
static void
check(struct session *s)
{
	struct gateway *g = s->gateway;
	struct verify_job job = {
	    .proof = s->ticket.proof, .digest = s->ticket.digest};
	struct semaphore_fault busy = {.status = ST_NO_MEMORY};
	unsigned class;
	bool first;

	s->since_ns = loop_clock_ns();
	if (pending_join(&g->gate.pending, &first, &s->ticket.digest,
		s->self) != ST_OK) {
		session_answer(s, ST_OVERLOADED, NULL, 10);
		return;
	}
	s->state = SESSION_CHECK;
	if (!first) {
		g->metrics.shared++;
		return;
	}
	randombytes_buf(job.random, sizeof(job.random));
	class = s->suspect || circuits_is_suspect(&g->circuits, s->circuit);
	if (pool_submit(
		g->verifiers, NULL, class, s->self, &job, sizeof(job)) != ST_OK)
		tell_waiters(g, &s->ticket.digest, &busy);
}

void
session_screened(
    struct session *s, enum status st, const struct semaphore_fault *fault)
{
	if (st == ST_OK && s->ticket.verdict == VERDICT_ACCEPT) {
		s->gateway->metrics.cached++;
		settle(s);
	} else if (st == ST_OK) {
		check(s);
	} else if (st == ST_NO_MEMORY) {
		session_answer(s, ST_OVERLOADED, NULL, 10);
	} else if (st == ST_CREDENTIAL_BAD) {
		refuse_proof(s, st, fault);
	} else {
		/* A proof that is merely out of date, or for another group or
		 * gateway, is an honest mistake: nothing is held against the
		 * circuit. */
		struct quota_left left = s->left;
		refuse_count(s, st, &left);
	}
}
