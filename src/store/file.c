#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Close FD, or nothing if it is -1, and leave errno as it is. */
static void
close_quietly(int fd)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
}

/* --- reading --- */

static enum status
open_checked(int *fd, const char *path, enum file_access access)
{
	/* A daemon must not stop at a pipe that nobody writes to. */
	int patience = access == FILE_ANYBODY ? 0 : O_NONBLOCK;
	struct stat st;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | patience);
	if (*fd < 0)
		return ST_SYS;
	if (access == FILE_ANYBODY)
		return ST_OK;
	if (fcntl(*fd, F_SETFL, 0) != 0 || fstat(*fd, &st) != 0)
		return ST_SYS;
	errno = EISDIR; /* whatever its modes are */
	if (S_ISDIR(st.st_mode))
		return ST_SYS;
	if (access == FILE_GUARDED)
		return st.st_mode & S_IWOTH ? ST_PERMISSION : ST_OK;
	if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0 ||
	    (st.st_uid != geteuid() && geteuid() != 0))
		return ST_PERMISSION;
	return ST_OK;
}

/* Read FD to its end into BUF.
 * Returns: ST_OK; ST_NO_SPACE when there are CAP bytes or more; ST_SYS. */
static enum status
read_to_end(int fd, char *buf, size_t cap, size_t *len)
{
	while (*len < cap) {
		ssize_t n = read(fd, buf + *len, cap - *len);
		if (n == 0)
			return ST_OK;
		if (n < 0 && errno != EINTR)
			return ST_SYS;
		if (n > 0)
			*len += (size_t)n;
	}
	return ST_NO_SPACE;
}

enum status
file_read(char *buf, size_t cap, size_t *len, const char *path,
    enum file_access access)
{
	int fd;
	enum status st = open_checked(&fd, path, access);

	*len = 0;
	if (st == ST_OK)
		st = read_to_end(fd, buf, cap, len);
	close_quietly(fd);
	if (st != ST_OK)
		*len = 0;
	buf[*len] = '\0';
	return st;
}

enum status
file_load_fd(char **text, size_t *len, int fd, size_t max)
{
	size_t cap = 0;
	enum status st = ST_NO_SPACE;

	*text = NULL;
	*len = 0;
	while (st == ST_NO_SPACE && *len <= max) {
		cap = cap == 0 ? 65536 : 2 * cap;
		char *more = realloc(*text, cap);
		if (more == NULL) {
			st = ST_NO_MEMORY;
			break;
		}
		*text = more;
		st = read_to_end(fd, *text, cap - 1, len);
	}
	if (st == ST_OK && *len > max)
		st = ST_NO_SPACE;
	if (st != ST_OK) {
		free(*text);
		*text = NULL;
		*len = 0;
		return st;
	}
	(*text)[*len] = '\0';
	return ST_OK;
}

enum status
file_load(char **text, size_t *len, const char *path, size_t max,
    enum file_access access)
{
	int fd;
	enum status st = open_checked(&fd, path, access);

	*text = NULL;
	*len = 0;
	if (st == ST_OK)
		st = file_load_fd(text, len, fd, max);
	close_quietly(fd);
	return st;
}

/* --- writing --- */

/* A file beside the one it is to become. */
struct draft {
	char path[PATH_MAX];
	size_t folder; /* length of the folder's part, with its slash */
	int fd;
};

static enum status
write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);
		if (n < 0 && errno != EINTR)
			return ST_SYS;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return ST_OK;
}

/* Make a draft beside PATH, empty and for us alone. */
static enum status
draft_open(struct draft *d, const char *path)
{
	const char *slash = strrchr(path, '/');
	int n;

	d->fd = -1;
	d->folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
	n = snprintf(d->path, sizeof(d->path), "%.*s.%s.XXXXXX", (int)d->folder,
	    path, path + d->folder);
	if (n < 0 || (size_t)n >= sizeof(d->path)) {
		errno = ENAMETOOLONG;
		return ST_SYS;
	}
	d->fd = mkostemp(d->path, O_CLOEXEC);
	return d->fd >= 0 ? ST_OK : ST_SYS;
}

/* The draft is not needed (any more). */
static void
draft_drop(struct draft *d)
{
	int saved = errno;

	if (d->fd >= 0) {
		unlink(d->path);
		close(d->fd);
	}
	d->fd = -1;
	errno = saved;
}

static enum status
draft_fill(struct draft *d, const char *text, size_t len)
{
	if (write_all(d->fd, text, len) != ST_OK || fsync(d->fd) != 0)
		return ST_SYS;
	return ST_OK;
}

/* Make a name that the draft got durable. */
static enum status
sync_folder(const struct draft *d)
{
	char folder[PATH_MAX];
	int fd, rc;

	snprintf(folder, sizeof(folder), "%.*s", (int)d->folder, d->path);
	fd = open(folder[0] != '\0' ? folder : ".",
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ST_SYS;
	rc = fsync(fd);
	close_quietly(fd);
	/* Some file systems know no such thing, and need none. */
	return rc == 0 || errno == EINVAL || errno == EROFS ? ST_OK : ST_SYS;
}

static bool
same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* The change time is the kernel's own: what copies a file with its time
 * (rsync, cp -p) or sets it can not make the new one look like the old. */
bool
file_unchanged(const struct stat *before, const struct stat *after)
{
	return before->st_ino == after->st_ino &&
	    before->st_dev == after->st_dev &&
	    before->st_size == after->st_size &&
	    before->st_mode == after->st_mode &&
	    same_time(&before->st_mtim, &after->st_mtim) &&
	    same_time(&before->st_ctim, &after->st_ctim);
}

enum status
file_create(const char *path, const void *text, size_t len, mode_t mode)
{
	struct draft d;
	enum status st = draft_open(&d, path);

	if (st == ST_OK)
		st = draft_fill(&d, text, len);
	if (st == ST_OK && fchmod(d.fd, mode) != 0)
		st = ST_SYS;
	/* Unlike rename, link never takes a name that is taken. */
	if (st == ST_OK && link(d.path, path) != 0)
		st = errno == EEXIST ? ST_DUPLICATE : ST_SYS;
	if (st == ST_OK)
		st = sync_folder(&d);
	draft_drop(&d);
	return st;
}

/* Give FD the permissions and owner of the file at PATH, or MODE if there is
 * none. */
static enum status
copy_mode(int fd, const char *path, mode_t mode)
{
	struct stat st;
	bool there = lstat(path, &st) == 0;

	if (!there && errno != ENOENT)
		return ST_SYS;
	if (!there || !S_ISREG(st.st_mode))
		return fchmod(fd, mode) == 0 ? ST_OK : ST_SYS;
	/* Only root may give a file away; a group of ours we may always set. */
	if ((st.st_uid != geteuid() || st.st_gid != getegid()) &&
	    fchown(fd, st.st_uid, st.st_gid) != 0 &&
	    fchown(fd, (uid_t)-1, st.st_gid) != 0 && errno != EPERM)
		return ST_SYS;
	return fchmod(fd, st.st_mode & 0777) == 0 ? ST_OK : ST_SYS;
}

enum status
file_resolve(char real[static PATH_MAX], const char *path)
{
	if (realpath(path, real) != NULL)
		return ST_OK;
	if (errno != ENOENT)
		return ST_SYS;
	if ((size_t)snprintf(real, PATH_MAX, "%s", path) < PATH_MAX)
		return ST_OK;
	errno = ENAMETOOLONG;
	return ST_SYS;
}

enum status
file_replace(const char *path, const void *text, size_t len, mode_t mode)
{
	char real[PATH_MAX];
	enum status st = file_resolve(real, path);

	return st == ST_OK ? file_put(real, text, len, mode) : st;
}

enum status
file_put(const char *real, const void *text, size_t len, mode_t mode)
{
	struct draft d;
	enum status st = draft_open(&d, real);

	if (st == ST_OK)
		st = draft_fill(&d, text, len);
	if (st == ST_OK)
		st = copy_mode(d.fd, real, mode);
	if (st == ST_OK && rename(d.path, real) != 0)
		st = ST_SYS;
	if (st != ST_OK) {
		draft_drop(&d);
		return st;
	}
	close(d.fd);
	return sync_folder(&d);
}

/* --- locking --- */

/* FD is still what PATH names: nobody has replaced it while we waited. */
static bool
is_current(int fd, const char *path)
{
	struct stat ours, theirs;

	return fstat(fd, &ours) == 0 && lstat(path, &theirs) == 0 &&
	    ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

enum status
file_lock(int *fd, const char *path, unsigned seconds, bool create, mode_t mode)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	unsigned tries = seconds * 50 + 1;

	for (*fd = -1;;) {
		*fd = open(path,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0),
		    mode);
		if (*fd < 0)
			return ST_SYS;
		if (flock(*fd, LOCK_EX | LOCK_NB) == 0) {
			if (is_current(*fd, path))
				return ST_OK;
		} else if (errno != EWOULDBLOCK && errno != EINTR) {
			close_quietly(*fd);
			*fd = -1;
			return ST_SYS;
		}
		close(*fd);
		*fd = -1;
		if (--tries == 0)
			return ST_LOCKED;
		nanosleep(&pause, NULL);
	}
}

void
file_unlock(int fd)
{
	if (fd >= 0)
		close(fd);
}
