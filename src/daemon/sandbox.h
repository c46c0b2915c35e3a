/* daemon/sandbox.h: the walls around a running gateway.
 *
 * Whoever finds a hole in the gateway should find himself in a cell: no other
 * program to start, no file to read but those that the gateway reads, no
 * memory to run code from that he has written, no way to hold on to another
 * process, nothing left behind in a core dump.
 *
 * The walls go up in two steps, because threads take with them what their
 * maker has:
 *
 *	sandbox_enter   before the first thread and the first socket: privileges,
 *	                dumps, tracing, executable memory, files, limits
 *	sandbox_seal    when all threads run and all sockets listen: the system
 *	                calls (seccomp, for all threads at once); no thread, no
 *	                process and no listener can be made any more
 *
 * A wall that the kernel does not have is left out with a word; a wall that it
 * has and that can not be raised stops the start (run.sandbox = off goes on
 * without). Nothing takes a wall down again.
 *
 * Files are walled off by folder, as a file that is replaced is another one:
 * the folders of the configuration, of each member file and of each key are
 * read, the journal's is written, and the folders of unix sockets may have a
 * socket made and removed. What a reload names outside of them needs a restart.
 *
 * Builds with a sanitizer have only the first two walls: their run-time
 * libraries do what the others forbid. A build that counts lines (COVER=1) has
 * them all, and may write into its own folder.
 *
 * Sources: seccomp(2), landlock(7), prctl(2), and Linux's
 * Documentation/userspace-api/landlock.rst.
 */
#ifndef DAEMON_SANDBOX_H
#define DAEMON_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/config.h"
#include "daemon/finding.h"

enum wall {
	WALL_PRIVILEGES, /* exec gives none: no_new_privs */
	WALL_DUMPS, /* no core dumps */
	WALL_TRACING, /* no other process of this user may look in */
	WALL_MEMORY, /* no memory that was written can be run */
	WALL_FILES, /* Landlock */
	WALL_CALLS, /* seccomp */
	WALL_COUNT,
};

/* "privileges", "dumps", ...: for the status and as a metric's label. */
const char *wall_name(enum wall wall);

/* What stands. A plain value; all zero: nothing does. */
struct sandbox {
	bool stands[WALL_COUNT];
	uint64_t descriptors; /* that may be open; 0: no limit was set */
	uint64_t address_space; /* bytes; 0: no limit was set */
};

/* Raise all walls but the last. Privileges have been dropped before.
 * Out:     *s; findings: what the kernel lacks (a warning), what failed.
 * Returns: ST_OK; ST_PERMISSION: a wall can not be raised. */
enum status sandbox_enter(
    struct sandbox *s, const struct config *c, struct findings *f) WARN_UNUSED;

/* Raise the last wall around all threads.
 * Returns: as sandbox_enter. */
enum status sandbox_seal(
    struct sandbox *s, const struct config *c, struct findings *f) WARN_UNUSED;

/* What a service other than the gateway uses once it is up: names of files,
 * NULL for none. */
struct sandbox_service {
	const char *read; /* a file that is read again */
	const char *write; /* ... that is written anew */
	const char *folder; /* in which files come and go */
};

/* As sandbox_enter and sandbox_seal, for a service with these files (and no
 * limits). A wall that the kernel lacks is left out.
 * Out:     *s, what stands; *wall, the one that failed.
 * Returns: ST_OK; ST_PERMISSION (errno): *wall can not be raised. */
enum status sandbox_enter_service(struct sandbox *s, enum wall *wall,
    const struct sandbox_service *what) WARN_UNUSED;
enum status
sandbox_seal_service(struct sandbox *s, enum wall *wall) WARN_UNUSED;

/* "privileges dumps ...": what stands, into OUT. */
#define SANDBOX_LIST_MAX 64
void sandbox_list(char out[static SANDBOX_LIST_MAX], const struct sandbox *s);

/* Add findings of which walls a gateway with C would lack on this machine. */
void sandbox_check(const struct config *c, struct findings *f);

#endif
