/* cmd/secrets.h: a process that handles a member's secret.
 *
 * No core dump, no debugger, memory that does not reach the swap and that is
 * wiped: for the commands that hold an identity (new, show, prove, client).
 */
#ifndef CMD_SECRETS_H
#define CMD_SECRETS_H

#include <stddef.h>

#include "postern/attr.h"
#include "postern/status.h"

/* Make this process fit to hold a secret: no core dumps, not traceable by
 * others of the same user, as much lockable memory as the hard limit has. */
void secrets_guard(void);

/* SIZE bytes (rounded up to 64) between guard pages, locked, aligned to 64,
 * for secrets_free.
 * Returns: ST_OK; ST_NO_MEMORY; ST_PERMISSION: the limit on locked memory is
 *          too low (and there is a swap that it could reach). On failure *p is
 *          NULL. */
enum status secrets_alloc(void **p, size_t size) NONNULL WARN_UNUSED;

/* Say what ST, from secrets_alloc or secrets_run, means and what to do, in the
 * name of NAME. Returns ST. */
enum status secrets_say(const char *name, enum status st) NONNULL;

/* Wipe and release; NULL is nothing. */
void secrets_free(void *p);

/* Run FN(ARG, i) for i = 0 to N - 1 at the same time, each in a thread whose
 * stack is locked memory and is wiped after, so that what registers left there
 * is gone. What can not have a thread of its own runs in this one, but for the
 * first.
 * Returns: ST_OK when all have run; as secrets_alloc, ST_SYS: none has. */
enum status secrets_run(void (*fn)(void *arg, size_t i), void *arg, size_t n)
    NONNULL_ARGS(1) WARN_UNUSED;

#endif
