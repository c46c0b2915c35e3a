/* store/file.h: whole files, read with care and replaced at once.
 *
 * A file that others read while we write it (a member list that a gateway
 * reloads, an identity that a crash must not halve) is never written in place:
 * the new content goes into a file of its own beside it, is synced, and takes
 * the name by rename or link; then the folder is synced. A reader sees the old
 * content or the new, nothing between.
 *
 * With FILE_GUARDED and FILE_OWNER a pipe that nobody writes to is empty; with
 * FILE_ANYBODY its reader waits.
 *
 * On ST_SYS errno says what the system call said. Blocking calls: not for the
 * loop thread. Threads: any.
 */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "postern/attr.h"
#include "postern/status.h"

enum file_access {
	FILE_ANYBODY, /* modes do not matter */
	FILE_GUARDED, /* not everybody may write to it: for what decides who
		       * may do what */
	FILE_OWNER, /* no permission for group or others, and ours (or we are
		     * root): for secrets */
};

/* Read the file at PATH into BUF, at most CAP - 1 bytes; a NUL follows.
 * Out:     *len; 0 on failure.
 * Returns: ST_OK; ST_NO_SPACE (longer); ST_PERMISSION (ACCESS is not met);
 *          ST_SYS. */
enum status file_read(char *buf, size_t cap, size_t *len, const char *path,
    enum file_access access) NONNULL WARN_UNUSED;

/* The same into memory of its own, at most MAX bytes.
 * Out:     *text, to be freed; NULL on failure.
 * Returns: as file_read; ST_NO_MEMORY. */
enum status file_load(char **text, size_t *len, const char *path, size_t max,
    enum file_access access) NONNULL WARN_UNUSED;

/* The same from a descriptor that is open (standard input), to its end. */
enum status
file_load_fd(char **text, size_t *len, int fd, size_t max) NONNULL WARN_UNUSED;

/* Whether what stat told of a file before and after is of the same content, as
 * far as that can be told without reading it. */
bool file_unchanged(
    const struct stat *before, const struct stat *after) NONNULL WARN_UNUSED;

/* Make a file at PATH, where there must be none, with MODE and these LEN bytes.
 * Returns: ST_OK; ST_DUPLICATE (there is one: it stays); ST_SYS. */
enum status file_create(const char *path, const void *text, size_t len,
    mode_t mode) NONNULL WARN_UNUSED;

/* Put a file with these LEN bytes in the place of the one at PATH, whose
 * permissions and owner it takes; MODE is for where there is none. A symbolic link stays
 * one: what it points to is replaced.
 * Returns: ST_OK; ST_SYS: then the old one is as it was. */
enum status file_replace(const char *path, const void *text, size_t len,
    mode_t mode) NONNULL WARN_UNUSED;

/* Follow the links of PATH once, for an editor who is to lock, read and put one
 * and the same file while others may turn the links: each of these follows none
 * at the end of REAL. (Who may rename folders on the way there is trusted.)
 * Returns: ST_OK, also when there is no file yet; ST_SYS. */
enum status
file_resolve(char real[static PATH_MAX], const char *path) NONNULL WARN_UNUSED;

/* As file_replace, but a symbolic link at REAL is replaced itself. */
enum status file_put(const char *real, const void *text, size_t len,
    mode_t mode) NONNULL WARN_UNUSED;

/* Keep other editors of the file at PATH, no symbolic link, out until
 * file_unlock, waiting at most SECONDS for one who is at it. Editors read FD and
 * put the file under the lock; readers need none.
 * In:      create, make an empty file with MODE where there is none.
 * Out:     *fd, for file_unlock; -1 on failure.
 * Returns: ST_OK; ST_LOCKED; ST_SYS. */
enum status file_lock(int *fd, const char *path, unsigned seconds, bool create,
    mode_t mode) NONNULL WARN_UNUSED;

/* Let go of what file_lock took; -1: nothing. */
void file_unlock(int fd);

#endif
