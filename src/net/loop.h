/* net/loop.h: the one thread that owns every socket.
 *
 * The loop turns in rounds: wait for readiness (libevent), run the callbacks
 * of what is ready and of what is due, then run the deferred tasks. Objects
 * are released in tasks and never inside a callback, so that no callback can
 * pull the ground from under another one further up the stack.
 *
 * Four things can be registered. Each is a struct inside its owner's memory,
 * so that registering allocates nothing that an owner would have to free; a
 * callback finds its owner with `loop_owner`.
 *
 *   struct watch      readiness of a descriptor
 *   struct deadline   a moment; thousands of them cost O(1) each (net/wheel.h)
 *   struct task       something to do at the end of this round
 *   struct trap       a signal
 *
 * All of them are idempotent: starting twice moves, stopping twice is nothing.
 * Time is read once a round, so that what happens together is dated together;
 * deadlines run on the monotonic clock and do not notice when the wall clock
 * jumps.
 *
 * Threads: the loop's own only. Others reach it through a descriptor, as the
 * worker pool does (net/pool.h).
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "net/wheel.h"
#include "postern/status.h"

struct loop;

/* The object of TYPE whose MEMBER is at P. */
#define loop_owner(P, TYPE, MEMBER) \
	((TYPE *)loop_owner_((P), offsetof(TYPE, MEMBER)))

static inline void *
loop_owner_(void *p, size_t offset)
{
	return (char *)p - offset;
}

/* Make a loop.
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS. On failure *l is NULL. */
enum status loop_new(struct loop **l) WARN_UNUSED;

/* Free *L and null it. Everything registered has been stopped before. */
void loop_free(struct loop **l);

/* Turn until loop_stop. Returns: ST_OK; ST_SYS when waiting failed. */
enum status loop_run(struct loop *l) WARN_UNUSED;

/* Turn once, waiting MAX_WAIT_MS at most (0: not at all). */
enum status loop_turn(struct loop *l, uint64_t max_wait_ms) WARN_UNUSED;

/* Let loop_run return after this round. */
void loop_stop(struct loop *l);

/* Run deferred tasks, and those that they defer, until there are none: the
 * last thing before the owners of what is registered are freed. */
void loop_settle(struct loop *l);

/* Milliseconds of the monotonic clock, read once a round. */
uint64_t loop_now(struct loop *l);

/* Milliseconds of Unix time, read once a round. */
int64_t loop_wall(struct loop *l);

/* Nanoseconds of the monotonic clock, read now: to time things. */
uint64_t loop_clock_ns(void);

/* --- descriptors --- */

enum {
	WATCH_READ = 1,
	WATCH_WRITE = 2,
	/* Tell of changes only, once each (EPOLLET): the owner then reads or
	 * writes until EAGAIN. One registration serves the descriptor's whole
	 * life, with no system call for each change of mind. */
	WATCH_EDGE = 4,
};

struct watch {
	struct event event;
	/* WHAT is WATCH_READ, WATCH_WRITE or both; errors and hang-ups come as
	 * both, and the next read or write tells which. */
	void (*ready)(struct watch *w, unsigned what);
};

/* Set W up for FD, not started. Whoever opened FD closes it, after
 * watch_stop. */
void watch_init(struct watch *w, struct loop *l, int fd,
    void (*ready)(struct watch *w, unsigned what));

/* Watch for WHAT (WATCH_ flags) and nothing else; 0 stops.
 * Returns: ST_OK; ST_SYS (then it is stopped). */
enum status watch_start(struct watch *w, unsigned what) WARN_UNUSED;

void watch_stop(struct watch *w);

/* --- moments --- */

struct deadline {
	struct wheel_entry entry;
	void (*due)(struct deadline *d);
};

void deadline_init(struct deadline *d, void (*due)(struct deadline *d));

/* Let D be due AFTER_MS after loop_now, never early (0 counts as 1). A running
 * one is moved. */
void deadline_start(struct loop *l, struct deadline *d, uint64_t after_ms);

void deadline_stop(struct loop *l, struct deadline *d);

bool deadline_is_running(const struct deadline *d);

/* --- the end of the round --- */

struct task {
	struct list_node node;
	void (*run)(struct task *t);
};

void task_init(struct task *t, void (*run)(struct task *t));

/* Run T once after this round's callbacks. What is deferred by a task runs in
 * the next round, which does not wait: a task that defers itself again gives
 * everyone else a turn between. */
void task_defer(struct loop *l, struct task *t);

/* Do not run T. */
void task_drop(struct task *t);

/* --- signals --- */

struct trap {
	struct event event;
	void (*caught)(struct trap *t, int signo);
};

/* Call CAUGHT in the loop whenever SIGNO arrives. Worker threads block all
 * signals. One loop a process may trap signals.
 * Returns: ST_OK; ST_SYS. */
enum status trap_start(struct trap *t, struct loop *l, int signo,
    void (*caught)(struct trap *t, int signo)) WARN_UNUSED;

void trap_stop(struct trap *t);

/* Stop T for good: its signal stays blocked, so that one more of it does not
 * cut short what this process still has to write before it ends. */
void trap_end(struct trap *t);

#endif
