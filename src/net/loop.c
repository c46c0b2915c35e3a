#include "net/loop.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct loop {
	struct event_base *base;
	struct event tick; /* ends a wait when the wheel has something to do */
	struct wheel wheel;
	struct list_node tasks;
	/* Read when first asked for in a round. */
	uint64_t now;
	int64_t wall;
	bool now_known, wall_known;
	bool stop;
};

/* --- time --- */

uint64_t
loop_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t
loop_now(struct loop *l)
{
	if (!l->now_known) {
		l->now = loop_clock_ns() / 1000000;
		l->now_known = true;
	}
	return l->now;
}

int64_t
loop_wall(struct loop *l)
{
	struct timespec t;

	if (!l->wall_known) {
		clock_gettime(CLOCK_REALTIME, &t);
		l->wall = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
		l->wall_known = true;
	}
	return l->wall;
}

/* --- life --- */

/* The tick has nothing to do: that it ended the wait is its use. */
static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

enum status
loop_new(struct loop **out)
{
	struct event_config *config = event_config_new();
	struct loop *l = calloc(1, sizeof(*l));

	*out = NULL;
	if (config == NULL || l == NULL)
		goto fail;
	/* One thread, no environment variable that chooses another backend,
	 * edge-triggering, which is epoll, and a clock whose milliseconds are
	 * none of a jiffy: the coarse one made each hold of a mix up to 4 ms
	 * longer. */
	if (event_config_set_flag(config,
		EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV |
		    EVENT_BASE_FLAG_PRECISE_TIMER) != 0 ||
	    event_config_require_features(config, EV_FEATURE_ET) != 0 ||
	    (l->base = event_base_new_with_config(config)) == NULL)
		goto fail;
	evtimer_assign(&l->tick, l->base, on_tick, NULL);
	/* libevent keeps the place of a timer: now, or it might find no memory
	 * for it in the middle of the work. */
	if (event_add(&l->tick, &(struct timeval){.tv_sec = 1}) != 0)
		goto fail;
	event_del(&l->tick);
	event_config_free(config);

	list_init(&l->tasks);
	wheel_init(&l->wheel, loop_now(l));
	l->now_known = false;
	*out = l;
	return ST_OK;
fail:
	if (config != NULL)
		event_config_free(config);
	if (l != NULL && l->base != NULL)
		event_base_free(l->base);
	free(l);
	return ST_NO_MEMORY;
}

void
loop_free(struct loop **l)
{
	if (*l == NULL)
		return;
	event_del(&(*l)->tick);
	event_base_free((*l)->base);
	free(*l);
	*l = NULL;
}

/* --- turning --- */

static void
run_due(struct loop *l)
{
	struct wheel_entry *e;

	wheel_advance(&l->wheel, loop_now(l));
	while ((e = wheel_next(&l->wheel)) != NULL) {
		struct deadline *d = loop_owner(e, struct deadline, entry);
		d->due(d);
	}
}

static void
run_tasks(struct loop *l)
{
	struct list_node now;

	/* Only those that are here already: what they defer is for later. */
	list_init(&now);
	list_splice(&now, &l->tasks);
	while (!list_empty(&now)) {
		struct task *t = list_entry(now.next, struct task, node);
		list_remove(&t->node);
		t->run(t);
	}
}

/* How long nothing has to be done, MAX at most. */
static uint64_t
wait_ms(struct loop *l, uint64_t max)
{
	uint64_t wait = wheel_wait(&l->wheel);

	if (wait != UINT64_MAX) {
		/* The wheel counts from its own now. */
		l->now_known = false;
		uint64_t elapsed = loop_now(l) - l->wheel.now;
		wait = wait > elapsed ? wait - elapsed : 0;
	}
	return wait < max ? wait : max;
}

enum status
loop_turn(struct loop *l, uint64_t max_wait_ms)
{
	int flags = EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY;
	uint64_t wait = wait_ms(l, max_wait_ms);

	if (wait == 0 || !list_empty(&l->tasks)) {
		flags |= EVLOOP_NONBLOCK;
	} else if (wait != UINT64_MAX) {
		struct timeval tv = {.tv_sec = (time_t)(wait / 1000),
		    .tv_usec = (suseconds_t)(wait % 1000) * 1000};
		if (event_add(&l->tick, &tv) != 0)
			return ST_SYS;
	}
	l->now_known = l->wall_known = false;
	if (event_base_loop(l->base, flags) < 0)
		return ST_SYS;
	event_del(&l->tick);
	run_due(l);
	run_tasks(l);
	/* Whoever works between rounds (at start-up) is told the truth. */
	l->now_known = l->wall_known = false;
	return ST_OK;
}

enum status
loop_run(struct loop *l)
{
	enum status s = ST_OK;

	l->stop = false;
	while (!l->stop && s == ST_OK)
		s = loop_turn(l, UINT64_MAX);
	return s;
}

void
loop_stop(struct loop *l)
{
	l->stop = true;
}

void
loop_settle(struct loop *l)
{
	while (!list_empty(&l->tasks))
		run_tasks(l);
}

/* --- descriptors --- */

static void
on_ready(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;

	(void)fd;
	w->ready(w,
	    ((what & EV_READ) != 0 ? WATCH_READ : 0u) |
		((what & EV_WRITE) != 0 ? WATCH_WRITE : 0u));
}

void
watch_init(struct watch *w, struct loop *l, int fd,
    void (*ready)(struct watch *w, unsigned what))
{
	w->ready = ready;
	event_assign(&w->event, l->base, fd, EV_PERSIST, on_ready, w);
}

enum status
watch_start(struct watch *w, unsigned what)
{
	struct event_base *base = event_get_base(&w->event);
	int fd = event_get_fd(&w->event);
	short flags = EV_PERSIST;

	event_del(&w->event);
	if (what == 0)
		return ST_OK;
	if ((what & WATCH_READ) != 0)
		flags |= EV_READ;
	if ((what & WATCH_WRITE) != 0)
		flags |= EV_WRITE;
	if ((what & WATCH_EDGE) != 0)
		flags |= EV_ET;
	if (event_assign(&w->event, base, fd, flags, on_ready, w) != 0 ||
	    event_add(&w->event, NULL) != 0)
		return ST_SYS;
	return ST_OK;
}

void
watch_stop(struct watch *w)
{
	event_del(&w->event);
}

/* --- moments --- */

void
deadline_init(struct deadline *d, void (*due)(struct deadline *d))
{
	wheel_entry_init(&d->entry);
	d->due = due;
}

void
deadline_start(struct loop *l, struct deadline *d, uint64_t after_ms)
{
	uint64_t now = loop_now(l);

	/* Not in this round, or one that starts itself again would keep the
	 * loop to itself. */
	if (after_ms == 0)
		after_ms = 1;
	wheel_add(&l->wheel, &d->entry,
	    after_ms > UINT64_MAX - now ? UINT64_MAX : now + after_ms);
}

void
deadline_stop(struct loop *l, struct deadline *d)
{
	wheel_remove(&l->wheel, &d->entry);
}

bool
deadline_is_running(const struct deadline *d)
{
	return wheel_entry_is_running(&d->entry);
}

/* --- the end of the round --- */

void
task_init(struct task *t, void (*run)(struct task *t))
{
	list_init(&t->node);
	t->run = run;
}

void
task_defer(struct loop *l, struct task *t)
{
	if (list_empty(&t->node))
		list_append(&l->tasks, &t->node);
}

void
task_drop(struct task *t)
{
	list_remove(&t->node);
}

/* --- signals --- */

static void
on_signal(evutil_socket_t signo, short what, void *arg)
{
	struct trap *t = arg;

	(void)what;
	t->caught(t, (int)signo);
}

enum status
trap_start(struct trap *t, struct loop *l, int signo,
    void (*caught)(struct trap *t, int signo))
{
	t->caught = caught;
	if (evsignal_assign(&t->event, l->base, signo, on_signal, t) != 0 ||
	    evsignal_add(&t->event, NULL) != 0)
		return ST_SYS;
	return ST_OK;
}

void
trap_stop(struct trap *t)
{
	evsignal_del(&t->event);
}

void
trap_end(struct trap *t)
{
	sigset_t own;

	sigemptyset(&own);
	sigaddset(&own, event_get_signal(&t->event));
	pthread_sigmask(SIG_BLOCK, &own, NULL);
	trap_stop(t);
}
