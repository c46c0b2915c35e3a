/* The worker pool: order, batches, bounds, classes, cancelling, the end. */
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "net/pool.h"
#include "net_util.h"

struct sum {
	uint32_t a, b;
	uint64_t result;
	unsigned batch; /* size of the batch it was in */
	unsigned worker; /* whose state it was */
	uint8_t class;
};

/* Workers stop at the gate while it is shut. */
struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t change;
	bool shut;
	unsigned inside; /* workers waiting at it */
	atomic_uint mixed; /* batches with jobs of two classes */
	atomic_uint signals_open; /* workers that do not block SIGTERM */
};

struct fixture {
	struct loop *loop;
	struct pool *pool;
	struct gate gate;
	struct sum got[4096];
	handle_t owners[4096];
	unsigned n;
	handle_t cancel; /* in the first done() */
};

struct state {
	unsigned number; /* 0 until its worker's first batch */
	unsigned batches;
};

static atomic_uint workers_seen;

static void
run(const void *shared, void *state, void *const *jobs, unsigned n)
{
	struct gate *g = (struct gate *)(uintptr_t)shared;
	struct state *st = state;
	sigset_t set;

	pthread_mutex_lock(&g->mutex);
	g->inside++;
	pthread_cond_broadcast(&g->change);
	while (g->shut)
		pthread_cond_wait(&g->change, &g->mutex);
	g->inside--;
	pthread_mutex_unlock(&g->mutex);

	if (st->number == 0)
		st->number = ++workers_seen;
	st->batches++;
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	if (!sigismember(&set, SIGTERM))
		g->signals_open++;
	for (unsigned i = 0; i < n; i++) {
		struct sum *s = jobs[i];
		s->result = (uint64_t)s->a + s->b;
		s->batch = n;
		s->worker = st->number;
		if (s->class != ((struct sum *)jobs[0])->class)
			g->mixed++;
	}
}

static void
done(void *arg, handle_t owner, void *job)
{
	struct fixture *f = arg;

	CHECK(f->n < 4096);
	f->owners[f->n] = owner;
	f->got[f->n++] = *(struct sum *)job;
	pool_cancel(f->pool, f->cancel);
	f->cancel = (handle_t){0};
}

static void
set_gate(struct gate *g, bool shut)
{
	pthread_mutex_lock(&g->mutex);
	g->shut = shut;
	pthread_cond_broadcast(&g->change);
	pthread_mutex_unlock(&g->mutex);
}

/* Wait until N workers stand at the gate. */
static void
wait_inside(struct gate *g, unsigned n)
{
	pthread_mutex_lock(&g->mutex);
	while (g->inside != n)
		pthread_cond_wait(&g->change, &g->mutex);
	pthread_mutex_unlock(&g->mutex);
}

static struct fixture *
setup_paced(unsigned workers, uint32_t capacity, unsigned batch_max,
    unsigned pace, unsigned pace_ms)
{
	static struct fixture f;
	struct pool_config c = {
	    .workers = workers,
	    .capacity = {capacity, capacity},
	    .job_size = sizeof(struct sum),
	    .batch_max = batch_max,
	    .pace = pace,
	    .pace_ms = pace_ms,
	    .state_size = sizeof(struct state),
	    .run = run,
	    .done = done,
	    .shared = &f.gate,
	    .arg = &f,
	};

	pthread_mutex_init(&f.gate.mutex, NULL);
	pthread_cond_init(&f.gate.change, NULL);
	f.loop = test_loop();
	CHECK_STATUS(pool_new(&f.pool, f.loop, &c), ST_OK);
	return &f;
}

static struct fixture *
setup(unsigned workers, uint32_t capacity, unsigned batch_max)
{
	return setup_paced(workers, capacity, batch_max, 0, 0);
}

static void
teardown(struct fixture *f)
{
	CHECK_INT(f->gate.mixed, 0);
	CHECK_INT(f->gate.signals_open, 0);
	pool_free(&f->pool);
	CHECK(f->pool == NULL);
	loop_free(&f->loop);
}

static enum status
submit(struct fixture *f, handle_t *job, uint32_t id, uint8_t class)
{
	struct sum s = {.a = id, .b = 1000, .class = class};

	return pool_submit(
	    f->pool, job, class, (handle_t){id, 7}, &s, sizeof(s));
}

/* --- cases --- */

static void
test_results(void)
{
	struct fixture *f = setup(3, 4096, 16);
	bool seen[3000] = {0};

	for (uint32_t i = 0; i < 3000; i++)
		CHECK_STATUS(submit(f, NULL, i, i % 2), ST_OK);
	SPIN(f->loop, f->n == 3000);
	for (unsigned i = 0; i < 3000; i++) {
		struct sum *s = &f->got[i];
		CHECK_INT(s->result, s->a + 1000);
		CHECK_INT(f->owners[i].slot, s->a);
		CHECK_INT(f->owners[i].generation, 7);
		CHECK(!seen[s->a]);
		seen[s->a] = true;
		CHECK(s->batch >= 1 && s->batch <= 16);
		CHECK(s->worker >= 1 && s->worker <= 3);
	}
	struct pool_counts c = pool_counts(f->pool);
	CHECK_INT(c.finished, 3000);
	CHECK_INT(c.running + c.waiting[0] + c.waiting[1], 0);
	teardown(f);
}

/* A lone job does not wait; what queues up meanwhile is one batch. */
static void
test_batches(void)
{
	struct fixture *f = setup(1, 100, 32);

	set_gate(&f->gate, true);
	CHECK_STATUS(submit(f, NULL, 0, 0), ST_OK);
	wait_inside(&f->gate, 1);
	for (uint32_t i = 1; i <= 40; i++)
		CHECK_STATUS(submit(f, NULL, i, 0), ST_OK);
	CHECK_INT(pool_counts(f->pool).waiting[0], 40);
	CHECK_INT(pool_counts(f->pool).running, 1);
	set_gate(&f->gate, false);
	SPIN(f->loop, f->n == 41);
	for (uint32_t i = 0; i < 41; i++) {
		CHECK_INT(f->got[i].a, i); /* first in, first out */
		CHECK_INT(f->got[i].batch, i == 0 ? 1 : i <= 32 ? 32 : 8);
	}
	CHECK_INT(pool_counts(f->pool).largest_batch, 32);
	CHECK_INT(pool_counts(f->pool).batches, 3);
	teardown(f);
}

/* A full queue refuses at once, and only its own class. */
static void
test_full(void)
{
	struct fixture *f = setup(1, 5, 1);
	handle_t h;

	set_gate(&f->gate, true);
	CHECK_STATUS(submit(f, NULL, 0, 0), ST_OK);
	wait_inside(&f->gate, 1);
	for (uint32_t i = 1; i <= 5; i++)
		CHECK_STATUS(submit(f, NULL, i, 0), ST_OK);
	CHECK_STATUS(submit(f, &h, 6, 0), ST_BUSY);
	CHECK_INT(h.slot, 0);
	CHECK_STATUS(submit(f, NULL, 7, 1), ST_OK);
	CHECK_INT(pool_counts(f->pool).refused, 1);
	set_gate(&f->gate, false);
	SPIN(f->loop, f->n == 7);
	CHECK_STATUS(submit(f, NULL, 8, 0), ST_OK);
	SPIN(f->loop, f->n == 8);

	struct sum big[2] = {0};
	CHECK_STATUS(
	    pool_submit(f->pool, NULL, 0, (handle_t){0}, big, sizeof(big)),
	    ST_BAD_VALUE);
	CHECK_STATUS(pool_submit(f->pool, NULL, POOL_CLASSES, (handle_t){0},
			 big, sizeof(big[0])),
	    ST_BAD_VALUE);
	teardown(f);
}

/* Class 0 goes first; class 1 gets one batch in POOL_SHARE. */
static void
test_classes(void)
{
	struct fixture *f = setup(1, 200, 1);
	unsigned ones = 0;

	set_gate(&f->gate, true);
	CHECK_STATUS(submit(f, NULL, 0, 0), ST_OK);
	wait_inside(&f->gate, 1);
	for (uint32_t i = 0; i < 100; i++)
		CHECK_STATUS(submit(f, NULL, i, 1), ST_OK);
	for (uint32_t i = 0; i < 100; i++)
		CHECK_STATUS(submit(f, NULL, i, 0), ST_OK);
	set_gate(&f->gate, false);
	SPIN(f->loop, f->n == 201);
	for (unsigned i = 1; i < 101; i++)
		ones += f->got[i].class;
	CHECK(ones >= 100 / POOL_SHARE - 1);
	CHECK(ones <= 100 / POOL_SHARE + 1);
	teardown(f);
}

/* The second class has half of the workers, rounded up, and no more. */
static void
test_half(void)
{
	struct fixture *f = setup(4, 200, 1);

	set_gate(&f->gate, true);
	for (uint32_t i = 0; i < 20; i++)
		CHECK_STATUS(submit(f, NULL, i, 1), ST_OK);
	wait_inside(&f->gate, 2);
	spin_for(f->loop, 50);
	wait_inside(&f->gate, 2);
	/* The others are free for the first class. */
	CHECK_STATUS(submit(f, NULL, 100, 0), ST_OK);
	CHECK_STATUS(submit(f, NULL, 101, 0), ST_OK);
	wait_inside(&f->gate, 4);
	CHECK_INT(pool_counts(f->pool).waiting[1], 18);
	set_gate(&f->gate, false);
	SPIN(f->loop, f->n == 22);
	teardown(f);
}

/* The second class has so many at a time, and so long from one to the next; the
 * first does not wait. */
static void
test_pace(void)
{
	struct fixture *f = setup_paced(2, 200, 64, 30, 600);

	CHECK_STATUS(submit(f, NULL, 0, 1), ST_OK);
	SPIN(f->loop, f->n == 1);
	uint64_t start = loop_now(f->loop);
	for (uint32_t i = 0; i < 50; i++)
		CHECK_STATUS(submit(f, NULL, i, 1), ST_OK);
	for (uint32_t i = 0; i < 20; i++) {
		CHECK_STATUS(submit(f, NULL, i, 0), ST_OK);
		SPIN(f->loop, f->n == i + 2);
		CHECK_INT(f->got[i + 1].class, 0);
	}
	CHECK_INT(pool_counts(f->pool).waiting[1], 50);
	SPIN(f->loop, f->n == 51);
	CHECK(loop_now(f->loop) - start >= 500);
	CHECK_INT(pool_counts(f->pool).waiting[1], 20);
	SPIN(f->loop, f->n == 71);
	CHECK(loop_now(f->loop) - start >= 1100);
	teardown(f);
}

static void
test_cancel(void)
{
	struct fixture *f = setup(1, 10, 2);
	handle_t h[6];

	set_gate(&f->gate, true);
	CHECK_STATUS(submit(f, &h[0], 0, 0), ST_OK);
	wait_inside(&f->gate, 1);
	for (uint32_t i = 1; i < 6; i++)
		CHECK_STATUS(submit(f, &h[i], i, 0), ST_OK);
	pool_cancel(f->pool, h[0]); /* it runs */
	pool_cancel(f->pool, h[0]);
	pool_cancel(f->pool, h[2]); /* it waits */
	pool_cancel(f->pool, h[2]);
	pool_cancel(f->pool, (handle_t){0});
	pool_cancel(f->pool, (handle_t){9999, 1});
	CHECK_INT(pool_counts(f->pool).waiting[0], 4);
	f->cancel = h[3]; /* in the done() of 1: in the same batch, finished */
	set_gate(&f->gate, false);
	SPIN(f->loop, pool_counts(f->pool).finished >= 3);
	spin_for(f->loop, 20);
	CHECK_INT(f->n, 3);
	CHECK_INT(f->got[0].a, 1);
	CHECK_INT(f->got[1].a, 4);
	CHECK_INT(f->got[2].a, 5);
	CHECK_INT(pool_counts(f->pool).cancelled, 3);
	/* The slots are used again, and old handles do not reach them. */
	for (uint32_t i = 10; i < 20; i++)
		CHECK_STATUS(submit(f, NULL, i, 0), ST_OK);
	for (int i = 0; i < 6; i++)
		pool_cancel(f->pool, h[i]);
	SPIN(f->loop, f->n == 13);
	teardown(f);
}

/* Freed with jobs running, waiting and finished: nobody is called. */
static void
test_free_busy(void)
{
	struct fixture *f = setup(2, 100, 4);

	for (uint32_t i = 0; i < 50; i++)
		CHECK_STATUS(submit(f, NULL, i, 0), ST_OK);
	teardown(f);
	CHECK_INT(f->n, 0);
}

/* Workers share what waits instead of one taking all. */
static void
test_share(void)
{
	struct fixture *f = setup(2, 100, 64);

	set_gate(&f->gate, true);
	CHECK_STATUS(submit(f, NULL, 0, 0), ST_OK);
	wait_inside(&f->gate, 1);
	/* The other worker is idle, and takes what there is: one. */
	CHECK_STATUS(submit(f, NULL, 1, 0), ST_OK);
	wait_inside(&f->gate, 2);
	set_gate(&f->gate, false);
	SPIN(f->loop, f->n == 2);
	CHECK(f->got[0].worker != f->got[1].worker);
	teardown(f);
}

/* Submitting from done(), over and over, with the queue as small as can be. */
static void
test_churn(void)
{
	struct fixture *f = setup(4, 1, 3);
	uint32_t id = 0;

	while (f->n < 4000) {
		if (id < 4000 && submit(f, NULL, id, id % 2) == ST_OK)
			id++;
		else
			CHECK_STATUS(loop_turn(f->loop, 10), ST_OK);
	}
	CHECK_INT(id, 4000);
	teardown(f);
}

static void
test_bad_config(void)
{
	struct loop *l = test_loop();
	struct pool_config c = {
	    .workers = 0, .job_size = 8, .batch_max = 1, .run = run};
	struct pool *p;

	CHECK_STATUS(pool_new(&p, l, &c), ST_BAD_VALUE);
	CHECK(p == NULL);
	c.workers = 1;
	c.batch_max = POOL_BATCH_MAX + 1;
	CHECK_STATUS(pool_new(&p, l, &c), ST_BAD_VALUE);
	pool_free(&p);
	loop_free(&l);
}

TESTS({"every job is answered once, by its owner's handle", test_results},
    {"what queues up is one batch", test_batches},
    {"a full queue refuses at once", test_full},
    {"classes: the first goes first, the second gets its share", test_classes},
    {"classes: the second has half of the workers", test_half},
    {"classes: the second is paced", test_pace},
    {"cancelled: waiting, running, finished, stale", test_cancel},
    {"freed while busy", test_free_busy}, {"workers share", test_share},
    {"churn", test_churn}, {"bad configurations", test_bad_config})
