#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_uint watched;
static atomic_int count, fail_first, fail_last, fail_error, kill_nth;

void
disk_watch(unsigned calls)
{
	atomic_store(&watched, calls);
	atomic_store(&count, 0);
}

int
disk_count(void)
{
	return atomic_load(&count);
}

void
disk_fail(int first, int last, int error)
{
	atomic_store(&fail_error, error);
	atomic_store(&fail_first, first);
	atomic_store(&fail_last, last);
}

void
disk_kill(int nth)
{
	atomic_store(&kill_nth, nth);
}

enum fate { WORKS, FAILS, DIES };

static enum fate
next(enum disk_call call)
{
	int n;

	if ((atomic_load(&watched) & call) == 0)
		return WORKS;
	n = atomic_fetch_add(&count, 1) + 1;
	if (n == atomic_load(&kill_nth))
		return DIES;
	if (n >= atomic_load(&fail_first) && n <= atomic_load(&fail_last)) {
		errno = atomic_load(&fail_error);
		return FAILS;
	}
	return WORKS;
}

/* What a call that is to fail or to kill does instead of its work. */
static int
meet(enum fate fate)
{
	if (fate == DIES)
		raise(SIGKILL);
	return -1;
}

int
open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;
	enum fate fate =
	    (flags & O_ACCMODE) != O_RDONLY ? next(DISK_OPEN) : WORKS;

	va_start(ap, flags);
	if ((flags & O_CREAT) != 0)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (fate != WORKS)
		return meet(fate);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t
pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
	enum fate fate = next(DISK_PWRITE);
	int error = errno;

	if (fate == WORKS)
		return syscall(SYS_pwrite64, fd, bytes, len, offset);
	(void)!syscall(SYS_pwrite64, fd, bytes, len / 2, offset);
	errno = error;
	return meet(fate);
}

int
ftruncate(int fd, off_t len)
{
	enum fate fate = next(DISK_FTRUNCATE);

	return fate != WORKS ? meet(fate)
			     : (int)syscall(SYS_ftruncate, fd, len);
}

int
fdatasync(int fd)
{
	enum fate fate = next(DISK_FDATASYNC);

	return fate != WORKS ? meet(fate) : (int)syscall(SYS_fdatasync, fd);
}

int
fsync(int fd)
{
	enum fate fate = next(DISK_FSYNC);

	return fate != WORKS ? meet(fate) : (int)syscall(SYS_fsync, fd);
}

int
rename(const char *from, const char *to)
{
	enum fate fate = next(DISK_RENAME);

	return fate != WORKS
	    ? meet(fate)
	    : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
unlink(const char *path)
{
	enum fate fate = next(DISK_UNLINK);

	return fate != WORKS ? meet(fate)
			     : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
