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
enum status sandbox_files_restrict(const struct config *c) WARN_UNUSED;

/* Let all threads make only the calls that the gateway makes.
 * Returns: ST_OK; ST_SYS, with errno. */
enum status sandbox_calls_restrict(void) WARN_UNUSED;

#endif
