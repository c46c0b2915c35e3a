/* The journal's files: making, finding and judging them. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/wipe.h"
#include "store/journal_impl.h"

uint64_t
journal_mono(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

enum status
journal_write_at(int fd, const uint8_t *bytes, size_t len, uint64_t offset)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, bytes, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ST_SYS;
		if (n == 0) {
			errno = EIO;
			return ST_SYS;
		}
		bytes += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return ST_OK;
}

enum status
journal_say(
    char why[static JOURNAL_WHY_MAX], enum status s, const char *fmt, ...)
{
	int error = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, JOURNAL_WHY_MAX, fmt, ap);
	va_end(ap);
	errno = error;
	return s;
}

enum status
journal_say_errno(
    char why[static JOURNAL_WHY_MAX], const char *path, const char *cure)
{
	return journal_say(
	    why, ST_SYS, "%s: %s (%s)", path, strerror(errno), cure);
}

static enum status
random_bytes(uint8_t *out, size_t len)
{
	ssize_t n;

	do
		n = getrandom(out, len, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? ST_OK : ST_RANDOM;
}

void
journal_file_discard(struct journal_file *f, const struct journal *j)
{
	int error = errno;

	if (f->fd >= 0)
		close(f->fd);
	unlink(j->path_new);
	wipe(f, sizeof(*f));
	f->fd = -1;
	errno = error;
}

enum status
journal_file_create(struct journal_file *f, const struct journal *j,
    uint64_t floor, uint8_t block[static JOURNAL_HEADER])
{
	enum status s;

	*f = (struct journal_file){.fd = -1, .header = j->file.header};
	f->header.floor = floor;
	if ((s = random_bytes(f->header.file_id, JOURNAL_FILE_ID)) != ST_OK)
		return s;
	unlink(j->path_new);
	f->fd = open(j->path_new,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return ST_SYS;
	journal_header_encode(block, &f->header);
	s = journal_write_at(f->fd, block, JOURNAL_HEADER, 0);
	if (s != ST_OK)
		journal_file_discard(f, j);
	return s;
}

enum status
journal_file_install(
    struct journal_file *f, const struct journal *j, bool *renamed)
{
	*renamed = false;
	if (fsync(f->fd) != 0)
		return ST_SYS;
	f->synced = f->records;
	if (rename(j->path_new, j->path) != 0)
		return ST_SYS;
	*renamed = true;
	return fsync(j->folder_fd) == 0 ? ST_OK : ST_SYS;
}

/* --- finding it --- */

/* PATH without its last part; the caller frees. */
static char *
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static enum status
lock(struct journal *j, char why[static JOURNAL_WHY_MAX])
{
	static const char cure[] =
	    "the folder of the journal must exist and belong to the user that "
	    "the gateway runs as";
	char *folder = folder_of(j->path);

	if (folder == NULL)
		return ST_NO_MEMORY;
	j->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->folder_fd < 0)
		journal_say_errno(why, folder, cure);
	free(folder);
	if (j->folder_fd < 0)
		return ST_SYS;
	j->lock_fd =
	    open(j->path_lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (j->lock_fd < 0)
		return journal_say_errno(why, j->path_lock, cure);
	if (flock(j->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return ST_OK;
	if (errno == EWOULDBLOCK)
		return journal_say(why, ST_LOCKED,
		    "%s: another gateway uses this journal (stop it, or give "
		    "each its own)",
		    j->path);
	return journal_say_errno(
	    why, j->path_lock, "the file system must have locks");
}

/* A journal that nobody has written yet, complete before it has its name. */
static enum status
make_first(struct journal *j, char why[static JOURNAL_WHY_MAX])
{
	struct journal_file first = {.fd = -1};
	bool renamed = false;
	enum status s;

	s = random_bytes(j->file.header.member_key, MEMBER_KEY);
	memcpy(j->file.header.identity, j->options.identity, JOURNAL_IDENTITY);
	if (s == ST_OK)
		s = journal_file_create(&first, j, 0, j->block);
	if (s == ST_RANDOM)
		return journal_say(why, s, "the system gave no random bytes");
	if (s == ST_OK)
		s = journal_file_install(&first, j, &renamed);
	if (s != ST_OK) {
		journal_say_errno(why, j->path,
		    "the disk must have room and let the gateway write");
		if (first.fd >= 0 && !renamed)
			journal_file_discard(&first, j);
		else if (first.fd >= 0)
			close(first.fd);
		return s;
	}
	j->file = first;
	return ST_OK;
}

static enum status
judge_owner(const struct journal *j, char why[static JOURNAL_WHY_MAX])
{
	struct stat st;

	if (fstat(j->file.fd, &st) != 0)
		return journal_say_errno(
		    why, j->path, "the disk must be readable");
	if (!S_ISREG(st.st_mode))
		return journal_say(why, ST_PERMISSION,
		    "%s: no plain file (the journal must be one)", j->path);
	if (st.st_uid != geteuid())
		return journal_say(why, ST_PERMISSION,
		    "%s: belongs to another user (chown it to the one that the "
		    "gateway runs as)",
		    j->path);
	if ((st.st_mode & 077) != 0)
		return journal_say(why, ST_PERMISSION,
		    "%s: others may read or write it (chmod 600 it)", j->path);
	return ST_OK;
}

static enum status
judge_header(struct journal *j, char why[static JOURNAL_WHY_MAX])
{
	ssize_t n = pread(j->file.fd, j->block, JOURNAL_HEADER, 0);
	enum status s;

	if (n < 0)
		return journal_say_errno(
		    why, j->path, "the disk must be readable");
	s = n == JOURNAL_HEADER ? journal_header_decode(&j->file.header,
				      j->block, j->options.identity)
				: ST_CORRUPT;
	if (s == ST_OK)
		return s;
	if (s == ST_BAD_VERSION)
		return journal_say(why, s,
		    "%s: a journal of another version (run that "
		    "version, " JOURNAL_CURE_FRESH ")",
		    j->path);
	if (s == ST_FOREIGN)
		return journal_say(why, s,
		    "%s: the journal of another gateway: the audience or onion "
		    "address, the realm or the length of the epoch is not the "
		    "same (set them back, " JOURNAL_CURE_FRESH ")",
		    j->path);
	return journal_say(why, s,
	    "%s: no journal, or damaged at its beginning (restore it from a "
	    "backup, " JOURNAL_CURE_FRESH ")",
	    j->path);
}

static enum status
find(struct journal *j, char why[static JOURNAL_WHY_MAX])
{
	enum status s;

	/* What a crash has left of a compaction; the journal has all of it. */
	unlink(j->path_new);
	j->file.fd = open(j->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (j->file.fd < 0 && errno == ENOENT)
		return make_first(j, why);
	if (j->file.fd < 0 && errno == ELOOP)
		return journal_say(why, ST_PERMISSION,
		    "%s: a symbolic link (name the file it leads to)", j->path);
	if (j->file.fd < 0)
		return journal_say_errno(why, j->path,
		    "the user that the gateway runs as must be able to read "
		    "and write it");
	if ((s = judge_owner(j, why)) != ST_OK)
		return s;
	return judge_header(j, why);
}

enum status
journal_file_open(struct journal *j, char why[static JOURNAL_WHY_MAX])
{
	enum status s = lock(j, why);

	return s == ST_OK ? find(j, why) : s;
}
