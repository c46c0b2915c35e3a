#include "net/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "base/wipe.h"

#define CACHE_LINE 64

enum job_state {
	JOB_WAITING,
	JOB_RUNNING,
	JOB_FINISHED, /* in the list of results */
	JOB_CANCELLED, /* runs or ran; the loop only takes it back */
};

/* In a slab slot, followed by job_size bytes. The loop owns WAITING and
 * FINISHED ones under the mutex; the bytes of a RUNNING one are its worker's
 * alone. */
struct job {
	struct list_node node;
	handle_t self, owner;
	enum job_state state;
	unsigned class;
};

struct pool {
	struct pool_config config;
	struct loop *loop;
	struct watch watch; /* of the eventfd */
	int alert;
	size_t stride; /* of a slab slot */
	struct slab jobs; /* the loop's alone */
	void *job_memory;
	struct slab_slot *job_slots;
	uint64_t finished, cancelled, refused; /* the loop's alone */

	pthread_mutex_t mutex; /* of all that follows */
	pthread_cond_t work; /* there is some, or the end has come */
	struct list_node waiting[POOL_CLASSES], results;
	uint32_t queued[POOL_CLASSES];
	unsigned idle, started;
	unsigned turn; /* counts batches, for POOL_SHARE */
	unsigned busy[POOL_CLASSES]; /* workers, by what they work on */
	uint64_t rest_end[POOL_CLASSES]; /* no batch of it before, ns */
	bool quit;
	struct pool_counts counts;

	pthread_t *threads;
	uint8_t *states; /* config.workers * state_stride bytes */
	size_t state_stride;
};

struct worker {
	struct pool *pool;
	void *state;
};

static void *
bytes_of(struct job *j)
{
	return (uint8_t *)j + CACHE_LINE;
}

/* --- workers --- */

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Every worker is for the first class; half of them, rounded up, for others. */
static bool
has_worker_for(const struct pool *p, unsigned class)
{
	return class == 0 || p->busy[class] < (p->config.workers + 1) / 2;
}

static bool
rests(const struct pool *p, unsigned class)
{
	return p->rest_end[class] != 0 && now_ns() < p->rest_end[class];
}

/* The class that the next batch serves, one that has jobs waiting. */
static unsigned
choose_class(struct pool *p)
{
	bool reverse = ++p->turn % POOL_SHARE == 0;

	for (unsigned i = 0; i < POOL_CLASSES; i++) {
		unsigned class = reverse ? POOL_CLASSES - 1 - i : i;
		if (p->queued[class] != 0 && has_worker_for(p, class) &&
		    !rests(p, class))
			return class;
	}
	return POOL_CLASSES;
}

static bool
is_paced(const struct pool *p, unsigned class)
{
	return class != 0 && p->config.pace != 0;
}

/* This worker's share of what waits: all of it, divided by those who are free
 * to work on it; of what is paced, so many. */
static uint32_t
share_of(const struct pool *p, unsigned class)
{
	uint32_t share = (p->queued[class] + p->idle) / (p->idle + 1);

	if (is_paced(p, class))
		share = p->queued[class] < p->config.pace ? p->queued[class]
							  : p->config.pace;
	return share < p->config.batch_max ? share : p->config.batch_max;
}

static unsigned
take_batch(struct pool *p, struct job *batch[static POOL_BATCH_MAX])
{
	unsigned class = choose_class(p);
	unsigned n = 0;

	if (class == POOL_CLASSES)
		return 0;
	uint32_t share = share_of(p, class);
	if (is_paced(p, class))
		p->rest_end[class] =
		    now_ns() + p->config.pace_ms * UINT64_C(1000000);
	while (n < share) {
		struct job *j =
		    list_entry(p->waiting[class].next, struct job, node);
		list_remove(&j->node);
		j->state = JOB_RUNNING;
		batch[n++] = j;
	}
	p->queued[class] -= n;
	p->busy[class]++;
	p->counts.running += n;
	p->counts.batches++;
	if (n > p->counts.largest_batch)
		p->counts.largest_batch = n;
	return n;
}

/* Put N results where the loop finds them. */
static void
give_results(struct pool *p, struct job **batch, unsigned n)
{
	bool first = list_empty(&p->results);

	p->busy[batch[0]->class]--;
	for (unsigned i = 0; i < n; i++) {
		if (batch[i]->state == JOB_RUNNING)
			batch[i]->state = JOB_FINISHED;
		list_append(&p->results, &batch[i]->node);
	}
	p->counts.running -= n;
	if (first)
		(void)eventfd_write(p->alert, 1);
}

static void
run_batch(struct pool *p, void *state, struct job **batch, unsigned n)
{
	void *jobs[POOL_BATCH_MAX];

	for (unsigned i = 0; i < n; i++)
		jobs[i] = bytes_of(batch[i]);
	p->config.run(p->config.shared, state, jobs, n);
}

/* Until there may be a batch to take: work comes, a worker of its class is
 * free, or its class has rested. */
static void
wait_for_work(struct pool *p)
{
	uint64_t end = 0;

	for (unsigned class = 1; class < POOL_CLASSES; class ++) {
		if (p->queued[class] != 0 && has_worker_for(p, class) &&
		    (end == 0 || p->rest_end[class] < end))
			end = p->rest_end[class];
	}
	p->idle++;
	if (end == 0) {
		pthread_cond_wait(&p->work, &p->mutex);
	} else {
		struct timespec at = {.tv_sec = (time_t)(end / 1000000000),
		    .tv_nsec = (long)(end % 1000000000)};
		(void)pthread_cond_timedwait(&p->work, &p->mutex, &at);
	}
	p->idle--;
}

static void *
work(void *arg)
{
	struct pool *p = arg;
	struct job *batch[POOL_BATCH_MAX];
	unsigned n;

	/* Of this thread alone (Linux). If it may not be, all are equal. */
	if (p->config.nice != 0)
		(void)setpriority(PRIO_PROCESS, 0, p->config.nice);
	pthread_mutex_lock(&p->mutex);
	void *state = p->states + p->started++ * p->state_stride;
	while (!p->quit) {
		if ((n = take_batch(p, batch)) == 0) {
			wait_for_work(p);
			continue;
		}
		pthread_mutex_unlock(&p->mutex);
		run_batch(p, state, batch, n);
		pthread_mutex_lock(&p->mutex);
		give_results(p, batch, n);
	}
	pthread_mutex_unlock(&p->mutex);
	return NULL;
}

/* --- the loop's side --- */

static void
release(struct pool *p, struct job *j)
{
	handle_t self = j->self;

	wipe(bytes_of(j), p->config.job_size);
	slab_release(&p->jobs, self);
}

static void
on_alert(struct watch *w, unsigned what)
{
	struct pool *p = loop_owner(w, struct pool, watch);
	struct list_node results;
	eventfd_t value;

	(void)what;
	list_init(&results);
	/* Read before taking: a result after the taking writes again. */
	(void)eventfd_read(p->alert, &value);
	pthread_mutex_lock(&p->mutex);
	list_splice(&results, &p->results);
	pthread_mutex_unlock(&p->mutex);
	/* No worker knows these any more; done() may cancel one further on. */
	while (!list_empty(&results)) {
		struct job *j = list_entry(results.next, struct job, node);
		list_remove(&j->node);
		if (j->state == JOB_FINISHED) {
			p->finished++;
			p->config.done(p->config.arg, j->owner, bytes_of(j));
		}
		release(p, j);
	}
}

static size_t
round_up(size_t n)
{
	return (n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Room for what waits, and for what runs or has run. */
static uint32_t
job_count(const struct pool_config *c)
{
	uint32_t n = c->workers * c->batch_max * 2;

	for (unsigned class = 0; class < POOL_CLASSES; class ++)
		n += c->capacity[class];
	return n;
}

static enum status
allocate(struct pool *p)
{
	const struct pool_config *c = &p->config;
	uint32_t n = job_count(c);

	p->stride = CACHE_LINE + round_up(c->job_size);
	p->state_stride = round_up(c->state_size);
	p->job_memory = aligned_alloc(CACHE_LINE, n * p->stride);
	p->job_slots = calloc(n, sizeof(*p->job_slots));
	p->threads = calloc(c->workers, sizeof(*p->threads));
	p->states = aligned_alloc(
	    CACHE_LINE, c->workers * p->state_stride + CACHE_LINE);
	if (p->job_memory == NULL || p->job_slots == NULL ||
	    p->threads == NULL || p->states == NULL)
		return ST_NO_MEMORY;
	memset(p->states, 0, c->workers * p->state_stride);
	slab_init(&p->jobs, p->job_memory, p->job_slots, p->stride, n);
	return ST_OK;
}

/* Start the threads, deaf to signals: those are for the loop. */
static enum status
start_workers(struct pool *p, unsigned *running)
{
	sigset_t all, before;
	enum status s = ST_OK;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (s == ST_OK && *running < p->config.workers) {
		if (pthread_create(&p->threads[*running], NULL, work, p) != 0)
			s = ST_SYS;
		else
			++*running;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return s;
}

static void
stop_workers(struct pool *p, unsigned running)
{
	pthread_mutex_lock(&p->mutex);
	p->quit = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->mutex);
	for (unsigned i = 0; i < running; i++)
		pthread_join(p->threads[i], NULL);
}

static void
destroy(struct pool *p)
{
	const struct pool_config *c = &p->config;

	if (p->alert >= 0)
		close(p->alert);
	if (p->job_memory != NULL)
		wipe(p->job_memory, job_count(c) * p->stride);
	if (p->states != NULL)
		wipe(p->states, c->workers * p->state_stride);
	free(p->job_memory);
	free(p->job_slots);
	free(p->threads);
	free(p->states);
	pthread_mutex_destroy(&p->mutex);
	pthread_cond_destroy(&p->work);
	free(p);
}

static void
init_locks(struct pool *p)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&p->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->work, &attr);
	pthread_condattr_destroy(&attr);
}

enum status
pool_new(struct pool **out, struct loop *l, const struct pool_config *config)
{
	enum status s;
	unsigned running = 0;
	struct pool *p;

	*out = NULL;
	if (config->workers == 0 || config->batch_max == 0 ||
	    config->batch_max > POOL_BATCH_MAX || config->job_size == 0)
		return ST_BAD_VALUE;
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return ST_NO_MEMORY;
	p->config = *config;
	p->loop = l;
	list_init(&p->results);
	for (unsigned class = 0; class < POOL_CLASSES; class ++)
		list_init(&p->waiting[class]);
	init_locks(p);
	p->alert = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (p->alert < 0) {
		destroy(p);
		return ST_SYS;
	}
	watch_init(&p->watch, l, p->alert, on_alert);
	if ((s = allocate(p)) == ST_OK &&
	    (s = watch_start(&p->watch, WATCH_READ)) == ST_OK &&
	    (s = start_workers(p, &running)) == ST_OK) {
		*out = p;
		return ST_OK;
	}
	stop_workers(p, running);
	watch_stop(&p->watch);
	destroy(p);
	return s;
}

void
pool_free(struct pool **p)
{
	if (*p == NULL)
		return;
	stop_workers(*p, (*p)->config.workers);
	for (unsigned i = 0; i < (*p)->config.workers; i++) {
		if ((*p)->config.clear != NULL)
			(*p)->config.clear(
			    (*p)->states + i * (*p)->state_stride);
	}
	watch_stop(&(*p)->watch);
	destroy(*p);
	*p = NULL;
}

enum status
pool_submit(struct pool *p, handle_t *job, unsigned class, handle_t owner,
    const void *input, size_t len)
{
	handle_t self = {0};
	void *slot;

	if (job != NULL)
		*job = self;
	if (class >= POOL_CLASSES || len > p->config.job_size)
		return ST_BAD_VALUE;

	pthread_mutex_lock(&p->mutex);
	bool full = p->queued[class] == p->config.capacity[class];
	pthread_mutex_unlock(&p->mutex);
	/* Only this thread adds, so that what is not full now stays so. */
	if (full || slab_take(&p->jobs, &self, &slot) != ST_OK) {
		p->refused++;
		return ST_BUSY;
	}

	struct job *j = slot;
	*j = (struct job){.self = self, .owner = owner, .class = class};
	memcpy(bytes_of(j), input, len);
	if (job != NULL)
		*job = self;
	pthread_mutex_lock(&p->mutex);
	list_append(&p->waiting[class], &j->node);
	p->queued[class]++;
	bool wake = p->idle != 0;
	pthread_mutex_unlock(&p->mutex);
	if (wake)
		pthread_cond_signal(&p->work);
	return ST_OK;
}

void
pool_cancel(struct pool *p, handle_t job)
{
	struct job *j = slab_at(&p->jobs, job);

	if (j == NULL)
		return;
	pthread_mutex_lock(&p->mutex);
	bool waits = j->state == JOB_WAITING;
	if (waits) {
		list_remove(&j->node);
		p->queued[j->class]--;
	}
	if (j->state != JOB_CANCELLED)
		p->cancelled++;
	j->state = JOB_CANCELLED;
	pthread_mutex_unlock(&p->mutex);
	/* Otherwise a worker has it, or it is among the results. */
	if (waits)
		release(p, j);
}

struct pool_counts
pool_counts(struct pool *p)
{
	struct pool_counts counts;

	pthread_mutex_lock(&p->mutex);
	counts = p->counts;
	for (unsigned class = 0; class < POOL_CLASSES; class ++)
		counts.waiting[class] = p->queued[class];
	pthread_mutex_unlock(&p->mutex);
	counts.finished = p->finished;
	counts.cancelled = p->cancelled;
	counts.refused = p->refused;
	return counts;
}
