/* daemon/sandbox_impl.h: the two walls that have files of their own.
 *
 * sandbox_files.c   Landlock: which folders
 * sandbox_calls.c   seccomp: which system calls
 */
#ifndef DAEMON_SANDBOX_IMPL_H
#define DAEMON_SANDBOX_IMPL_H

#include "daemon/sandbox.h"

/* Whether this build and kernel can have the wall. */
bool sandbox_files_possible(void);
bool sandbox_calls_possible(void);

/* Let this thread, and those that it makes, reach only C's files.
 * Returns: ST_OK; ST_SYS, with errno. */
enum status sandbox_files_restrict(const struct config *c) WARN_UNUSED NONNULL;

/* ... only WHAT's files. */
enum status sandbox_files_restrict_service(
    const struct sandbox_service *what) WARN_UNUSED NONNULL;

/* Whose calls: a service makes new keys, with the modes and names of files
 * that the gateway never changes. */
enum sandbox_role {
	SANDBOX_GATEWAY,
	SANDBOX_SERVICE,
};

/* Let all threads make only the calls that ROLE makes.
 * Returns: ST_OK; ST_SYS, with errno. */
enum status sandbox_calls_restrict(enum sandbox_role role) WARN_UNUSED;

#endif
