/* tests/unit/redis_util.h: a real server (Debian's redis-server), started by
 * the test at a socket in a folder of its own, and things to do to it.
 */
#ifndef TESTS_REDIS_UTIL_H
#define TESTS_REDIS_UTIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/shared_place.h"

struct redis {
	char folder[64], socket[96];
	pid_t pid; /* 0: not running */
	uint16_t port; /* 0: the socket only */
};

/* Make R's folder and start the server: every write is on the disk before it
 * is answered. MORE: arguments besides, ended by NULL, or NULL. */
void redis_start(struct redis *r, const char *const *more);

/* Start it again in the same folder. */
void redis_restart(struct redis *r, const char *const *more);

/* kill -9, and wait for it. */
void redis_kill(struct redis *r);

/* End it and remove the folder. */
void redis_stop(struct redis *r);

/* Do a command and return its answer: an integer, or -1 for anything else. */
long long redis_do(const struct redis *r, const char *fmt, ...);

/* The same, and its answer as text into OUT. */
void
redis_ask(char *out, size_t cap, const struct redis *r, const char *fmt, ...);

/* R as a place. */
struct shared_place redis_place(const struct redis *r);

/* A port of 127.0.0.1 that nobody has at this moment. */
uint16_t redis_free_port(void);

#endif
