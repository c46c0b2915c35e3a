/* The loop: the timing wheel against a slow oracle, and rounds of descriptors,
 * deadlines, tasks and signals. */
#include "harness.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "net_util.h"

/* --- the wheel --- */

#define ENTRIES 300

struct oracle {
	struct wheel_entry entry;
	bool running;
	uint64_t time;
};

static struct oracle entries[ENTRIES];

/* The earliest running one, or UINT64_MAX. */
static uint64_t
earliest(void)
{
	uint64_t min = UINT64_MAX;

	for (int i = 0; i < ENTRIES; i++) {
		if (entries[i].running && entries[i].time < min)
			min = entries[i].time;
	}
	return min;
}

static uint64_t
random_delay(void)
{
	/* Every level, and around its borders. */
	unsigned bits = (unsigned)(test_random() % 33);
	uint64_t d = (UINT64_C(1) << bits) + test_random() % 5;

	return test_random() % 2 && d > 2 ? d - 2
					  : d % (test_random() % 100000 + 1);
}

/* Take out what is due at NOW, and compare: all of it, nothing else, in
 * order. */
static void
harvest(struct wheel *w, uint64_t now)
{
	struct wheel_entry *e;
	uint64_t last = 0;

	wheel_advance(w, now);
	while ((e = wheel_next(w)) != NULL) {
		struct oracle *o = loop_owner(e, struct oracle, entry);
		CHECK(o->running);
		CHECK(o->time <= now);
		CHECK(o->time >= last);
		CHECK(!wheel_entry_is_running(e));
		last = o->time;
		o->running = false;
	}
	CHECK(earliest() > now);
}

static void
test_wheel_oracle(void)
{
	static struct wheel w;
	uint64_t now = test_random() >> 20;

	wheel_init(&w, now);
	for (int i = 0; i < ENTRIES; i++)
		wheel_entry_init(&entries[i].entry);
	for (int round = 0; round < 60000; round++) {
		struct oracle *o = &entries[test_random() % ENTRIES];
		switch (test_random() % 4) {
		case 0:
		case 1:
			o->time = now + 1 + random_delay();
			o->running = true;
			wheel_add(&w, &o->entry, o->time);
			break;
		case 2:
			o->running = false;
			wheel_remove(&w, &o->entry);
			break;
		default:
			/* Sleeping as long as the wheel says loses nothing. */
			CHECK(wheel_wait(&w) == UINT64_MAX
				? earliest() == UINT64_MAX
				: now + wheel_wait(&w) <= earliest());
			if (test_random() % 3 == 0 && earliest() != UINT64_MAX)
				now = earliest() - test_random() % 2;
			else if (test_random() % 2 == 0 &&
			    wheel_wait(&w) != UINT64_MAX)
				now += wheel_wait(&w);
			else
				now += random_delay() / 16;
			harvest(&w, now);
		}
		CHECK(wheel_entry_is_running(&o->entry) == o->running);
	}
}

/* Waiting exactly as told must end, and in few steps. */
static void
test_wheel_steps(void)
{
	static struct wheel w;
	struct wheel_entry e;
	uint64_t now = UINT64_C(0xfffffff), due = now + UINT64_C(0x87654321);
	int steps = 0;

	wheel_init(&w, now);
	wheel_entry_init(&e);
	wheel_add(&w, &e, due);
	while (wheel_entry_is_running(&e)) {
		CHECK(++steps <= WHEEL_LEVELS + 1);
		now += wheel_wait(&w);
		CHECK(now <= due);
		wheel_advance(&w, now);
		if (wheel_next(&w) == &e)
			break;
	}
	CHECK_INT(now, due);
	CHECK(wheel_wait(&w) == UINT64_MAX);
	/* Beyond the reach: cut, and not lost. */
	wheel_add(&w, &e, UINT64_MAX);
	CHECK(wheel_wait(&w) != UINT64_MAX);
	wheel_remove(&w, &e);
	CHECK(wheel_wait(&w) == UINT64_MAX);
}

/* --- deadlines, tasks --- */

struct alarm_clock {
	struct deadline deadline;
	struct loop *loop;
	uint64_t set, rang;
	int times;
	uint64_t again; /* start again after so long; 0: do not */
};

static void
ring(struct deadline *d)
{
	struct alarm_clock *a = loop_owner(d, struct alarm_clock, deadline);

	a->rang = loop_clock_ns() / 1000000;
	a->times++;
	if (a->again != 0)
		deadline_start(a->loop, d, a->again - 1);
}

static void
test_deadlines(void)
{
	struct loop *l = test_loop();
	struct alarm_clock a[20];

	for (unsigned i = 0; i < 20; i++) {
		a[i] = (struct alarm_clock){.loop = l};
		deadline_init(&a[i].deadline, ring);
		a[i].set = loop_clock_ns() / 1000000;
		deadline_start(l, &a[i].deadline, 1 + 7 * i);
	}
	deadline_stop(l, &a[3].deadline);
	deadline_start(l, &a[5].deadline, 200); /* moved */
	CHECK(!deadline_is_running(&a[3].deadline));
	SPIN(l, a[5].times != 0);
	for (unsigned i = 0; i < 20; i++) {
		CHECK_INT(a[i].times, i != 3);
		if (i != 3 && i != 5)
			CHECK(a[i].rang >= a[i].set + 1 + 7 * i);
	}
	CHECK(a[5].rang >= a[5].set + 200);
	loop_free(&l);
	CHECK(l == NULL);
}

/* One that starts itself again with 0 gets one turn a round. */
static void
test_deadline_zero(void)
{
	struct loop *l = test_loop();
	struct alarm_clock a = {.loop = l, .again = 1};

	deadline_init(&a.deadline, ring);
	deadline_start(l, &a.deadline, 0);
	CHECK_STATUS(loop_turn(l, 0), ST_OK);
	CHECK(a.times <= 1);
	SPIN(l, a.times == 3);
	deadline_stop(l, &a.deadline);
	loop_free(&l);
}

/* A loop with nothing to do sleeps: it does not turn for nothing. */
static void
test_sleep(void)
{
	struct loop *l = test_loop();
	struct alarm_clock a = {.loop = l};

	deadline_init(&a.deadline, ring);
	deadline_start(l, &a.deadline, 5000); /* two levels up */
	uint64_t before = loop_clock_ns();
	int turns = 0;
	while (loop_clock_ns() - before < 150000000) {
		CHECK_STATUS(loop_turn(l, 150), ST_OK);
		turns++;
	}
	CHECK(turns <= 4);
	CHECK_INT(a.times, 0);
	deadline_stop(l, &a.deadline);
	loop_free(&l);
}

struct chain {
	struct task task;
	struct loop *loop;
	int times, limit;
};

static void
run_chain(struct task *t)
{
	struct chain *c = loop_owner(t, struct chain, task);

	if (++c->times < c->limit)
		task_defer(c->loop, t);
}

static void
test_tasks(void)
{
	struct loop *l = test_loop();
	struct chain a = {.loop = l, .limit = 3};
	struct chain b = {.loop = l, .limit = 1};

	task_init(&a.task, run_chain);
	task_init(&b.task, run_chain);
	task_defer(l, &a.task);
	task_defer(l, &a.task); /* once is enough */
	task_defer(l, &b.task);
	task_drop(&b.task);
	task_drop(&b.task);
	CHECK_STATUS(loop_turn(l, 1000), ST_OK); /* does not wait */
	CHECK_INT(a.times, 1);
	CHECK_INT(b.times, 0);
	CHECK_STATUS(loop_turn(l, 1000), ST_OK);
	CHECK_INT(a.times, 2);
	task_defer(l, &b.task);
	loop_settle(l);
	CHECK_INT(a.times, 3);
	CHECK_INT(b.times, 1);
	loop_free(&l);
}

/* --- descriptors --- */

struct reader {
	struct watch watch;
	int fd, calls;
	unsigned what;
};

static void
on_pipe(struct watch *w, unsigned what)
{
	struct reader *r = loop_owner(w, struct reader, watch);

	r->calls++;
	r->what |= what;
}

static void
test_watch(void)
{
	struct loop *l = test_loop();
	struct reader r = {0};
	int fd[2];
	char c;

	CHECK_INT(pipe(fd), 0);
	watch_init(&r.watch, l, fd[0], on_pipe);
	CHECK_STATUS(watch_start(&r.watch, WATCH_READ), ST_OK);
	CHECK_STATUS(loop_turn(l, 5), ST_OK);
	CHECK_INT(r.calls, 0);
	CHECK_INT(write(fd[1], "ab", 2), 2);
	for (int i = 1; i <= 3; i++) { /* level: as long as there is some */
		CHECK_STATUS(loop_turn(l, 5), ST_OK);
		CHECK_INT(r.calls, i);
	}
	CHECK_INT(r.what, WATCH_READ);
	CHECK_STATUS(watch_start(&r.watch, WATCH_READ | WATCH_EDGE), ST_OK);
	for (int i = 0; i < 3; i++) /* edge: once */
		CHECK_STATUS(loop_turn(l, 5), ST_OK);
	CHECK_INT(r.calls, 4);
	CHECK_INT(write(fd[1], "c", 1), 1);
	CHECK_STATUS(loop_turn(l, 5), ST_OK);
	CHECK_INT(r.calls, 5);
	CHECK_STATUS(watch_start(&r.watch, 0), ST_OK);
	watch_stop(&r.watch);
	CHECK_INT(write(fd[1], "d", 1), 1);
	CHECK_STATUS(loop_turn(l, 5), ST_OK);
	CHECK_INT(r.calls, 5);
	CHECK_INT(read(fd[0], &c, 1), 1);
	CHECK_STATUS(watch_start(&r.watch, WATCH_READ), ST_OK);
	CHECK_STATUS(loop_turn(l, 5), ST_OK);
	CHECK_INT(r.calls, 6);
	watch_stop(&r.watch);
	close(fd[0]);
	close(fd[1]);
	loop_free(&l);
}

/* --- signals, running --- */

struct catcher {
	struct trap trap;
	struct loop *loop;
	int signo;
};

static void
caught(struct trap *t, int signo)
{
	struct catcher *c = loop_owner(t, struct catcher, trap);

	c->signo = signo;
	loop_stop(c->loop);
}

static void
test_signal(void)
{
	struct loop *l = test_loop();
	struct catcher c = {.loop = l};

	CHECK_STATUS(trap_start(&c.trap, l, SIGUSR1, caught), ST_OK);
	CHECK_INT(raise(SIGUSR1), 0);
	CHECK_STATUS(loop_run(l), ST_OK);
	CHECK_INT(c.signo, SIGUSR1);
	trap_stop(&c.trap);
	loop_free(&l);
}

static void
test_clocks(void)
{
	struct loop *l = test_loop();
	uint64_t now = loop_now(l);
	int64_t wall = loop_wall(l);

	usleep(5000);
	CHECK_INT(loop_now(l), now); /* one round, one moment */
	CHECK_INT(loop_wall(l), wall);
	CHECK_STATUS(loop_turn(l, 0), ST_OK);
	CHECK(loop_now(l) >= now + 5);
	CHECK(loop_wall(l) / 1000 <= (int64_t)time(NULL));
	CHECK(loop_wall(l) / 1000 >= (int64_t)time(NULL) - 5);
	loop_free(&l);
}

TESTS({"wheel: the same as the oracle", test_wheel_oracle},
    {"wheel: few steps to a far moment", test_wheel_steps},
    {"deadlines are never early", test_deadlines},
    {"a deadline of zero leaves the loop a turn", test_deadline_zero},
    {"an idle loop sleeps", test_sleep},
    {"tasks run once, after the round", test_tasks},
    {"descriptors: level, edge, stop", test_watch},
    {"signals, loop_run, loop_stop", test_signal},
    {"one moment a round", test_clocks})
