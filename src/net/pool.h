/* net/pool.h: threads that run pure code for the loop.
 *
 * A job is a block of bytes of a size fixed per pool: inputs are copied into
 * it, the worker writes its result into it, the loop reads it there. It names
 * its owner by a handle (base/slab.h), never by a pointer, so that an answer
 * for a session that is gone finds nobody. One pool does one kind of job: what
 * takes long (building roots) has a pool of its own and delays no proof.
 *
 * The queue is bounded per class and memory for all jobs is there from the
 * start: a full queue is ST_BUSY at once. Classes are the pool's notion of
 * fairness: class 0 is served first, but one batch in POOL_SHARE begins with
 * the lowest class that waits, and a batch never mixes classes. So a flood in
 * class 1 (circuits that have sent bad proofs) costs class 0 little, can not
 * spoil its batches, and is still served, by half of the workers at most and,
 * if it is paced, so much a second.
 *
 * A worker takes its share of what has queued up as one batch: a lone job
 * never waits for company. Results go to the loop through a list and an
 * eventfd that is written only when the list was empty.
 *
 * Threads: everything here belongs to the loop's thread, except `run`, which
 * is called on the workers. The queue's mutex is the only lock.
 */
#ifndef NET_POOL_H
#define NET_POOL_H

#include "base/slab.h"
#include "net/loop.h"

#define POOL_CLASSES 2
/* One batch in so many serves the lowest waiting class first. */
#define POOL_SHARE 8
/* Most jobs a batch can hold. */
#define POOL_BATCH_MAX 64

struct pool;

struct pool_config {
	unsigned workers; /* threads, at least 1 */
	uint32_t capacity[POOL_CLASSES]; /* jobs that may wait, by class */
	size_t job_size; /* bytes of a job */
	unsigned batch_max; /* at most POOL_BATCH_MAX; 1: no batches */
	/* Of classes but the first: at most PACE jobs a batch (0: as the first),
	 * and so long from the start of one to that of the next. */
	unsigned pace, pace_ms;
	int nice; /* how much the workers give way to the loop (setpriority) */
	size_t state_size; /* bytes each worker has to itself (an arena), zero
	                    * at first, aligned to 64 */
	/* Work on JOBS[0] to JOBS[N - 1], all of one class, in place. On a
	 * worker; STATE is that worker's. SHARED is the pool's constant. */
	void (*run)(
	    const void *shared, void *state, void *const *jobs, unsigned n);
	/* A job is finished (not called for cancelled ones). In the loop; JOB is
	 * valid until this returns. */
	void (*done)(void *arg, handle_t owner, void *job);
	/* Release what RUN keeps in a worker's STATE (memory of its own). After
	 * the workers have been joined; NULL: nothing. */
	void (*clear)(void *state);
	const void *shared; /* immutable while the pool lives */
	void *arg; /* of done */
};

/* Start the workers.
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS (no thread, no eventfd);
 *          ST_BAD_VALUE (no worker, batch_max out of range). */
enum status pool_new(struct pool **p, struct loop *l,
    const struct pool_config *config) WARN_UNUSED;

/* Cancel what waits, let the workers finish what they run, join them, wipe
 * and free everything, null *P. done() is not called any more. */
void pool_free(struct pool **p);

/* Queue a copy of INPUT (LEN bytes at most job_size; the rest is zero) for
 * OWNER. *job names it for pool_cancel (may be NULL).
 * Returns: ST_OK; ST_BUSY when CLASS is full; ST_BAD_VALUE. */
enum status pool_submit(struct pool *p, handle_t *job, unsigned class,
    handle_t owner, const void *input, size_t len) WARN_UNUSED;

/* Forget a job: it is taken out if it waits, its result is dropped if it runs;
 * done() will not be called. A stale or empty handle: no effect. */
void pool_cancel(struct pool *p, handle_t job);

struct pool_counts {
	uint32_t waiting[POOL_CLASSES], running;
	uint64_t finished, cancelled, refused, batches;
	uint32_t largest_batch;
};

struct pool_counts pool_counts(struct pool *p);

#endif
