#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Nothing fails before the plan is mapped. */
static struct fault_plan *plan;

static const int error_of[FAULT_KINDS] = {
    [FAULT_ALLOC] = ENOMEM,
    [FAULT_OPEN] = EMFILE,
    [FAULT_READ] = EIO,
    [FAULT_WRITE] = ENOSPC,
    [FAULT_SYNC] = EIO,
    [FAULT_SOCKET] = EMFILE,
    [FAULT_CONNECT] = ENETUNREACH,
    [FAULT_BIND] = EADDRINUSE,
    [FAULT_ACCEPT] = EMFILE,
    [FAULT_RECV] = ECONNRESET,
    [FAULT_SEND] = ECONNRESET,
    [FAULT_EPOLL] = ENOMEM,
    [FAULT_PIPE] = EMFILE,
    [FAULT_SPLICE] = EIO,
    [FAULT_OPTION] = ENOBUFS,
    [FAULT_MAP] = ENOMEM,
    [FAULT_THREAD] = EAGAIN,
    [FAULT_STAT] = EACCES,
};

__attribute__((constructor)) static void
map_plan(void)
{
	const char *path = getenv("FAULT_FILE");
	void *p;
	int fd;

	if (path == NULL)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	p = (void *)syscall(SYS_mmap, NULL, sizeof(*plan),
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (p != MAP_FAILED)
		plan = p;
}

/*
 * Whether a call of KIND by CALLER does not fail:
 * - an allocation of libseccomp. Version 2.5 does not survive that: it loads a
 *   filter without some of its rules and tells no error, or frees memory twice.
 *   It allocates at the start alone, before the first client, and what comes of
 *   it is a process that ends.
 * - bytes that libevent sends to itself to wake its loop; that fails only when
 *   the pipe is full and the loop awake anyway, and libevent ends the process.
 */
static bool
exempt(enum fault_kind kind, const void *caller)
{
	Dl_info info;
	bool bytes = kind == FAULT_READ || kind == FAULT_WRITE ||
	    kind == FAULT_RECV || kind == FAULT_SEND;

	if (kind != FAULT_ALLOC && !bytes)
		return false;
	if (dladdr(caller, &info) == 0 || info.dli_fname == NULL)
		return false;
	return (kind == FAULT_ALLOC &&
		   strstr(info.dli_fname, "/libseccomp") != NULL) ||
	    (bytes && strstr(info.dli_fname, "/libevent") != NULL);
}

/* Whether this call of KIND by CALLER is one that fails; sets errno then. */
static bool
fails(enum fault_kind kind, const void *caller)
{
	uint32_t left;

	if (plan == NULL || exempt(kind, caller))
		return false;
	atomic_fetch_add(&plan->count[kind], 1);
	if (atomic_load(&plan->kind) != kind)
		return false;
	left = atomic_load(&plan->skip);
	while (left > 0)
		if (atomic_compare_exchange_weak(&plan->skip, &left, left - 1))
			return false;
	left = atomic_load(&plan->times);
	while (left > 0)
		if (atomic_compare_exchange_weak(
			&plan->times, &left, left - 1)) {
			atomic_fetch_add(&plan->fired, 1);
			errno = error_of[kind];
			return true;
		}
	return false;
}

/* The next definition of NAME, found on the first call. A function pointer
 * from dlsym is POSIX's one exception to the rule that C has against it. */
static void *
next_of(void *_Atomic *known, const char *name)
{
	void *f = atomic_load(known);

	if (f == NULL) {
		f = dlsym(RTLD_NEXT, name);
		if (f == NULL)
			abort();
		atomic_store(known, f);
	}
	return f;
}

/* Define NAME: it fails by returning BAD, or does what it always did. */
#define FAULTY(kind, bad, type, name, params, args)           \
	type name params                                      \
	{                                                     \
		static void *_Atomic known;                   \
		type(*next) params;                           \
		void *f;                                      \
                                                              \
		if (fails(kind, __builtin_return_address(0))) \
			return bad;                           \
		f = next_of(&known, #name);                   \
		memcpy(&next, &f, sizeof(next));              \
		return next args;                             \
	}

/* --- memory ------------------------------------------------------------- */

FAULTY(FAULT_ALLOC, NULL, void *, malloc, (size_t n), (n))
FAULTY(FAULT_ALLOC, NULL, void *, realloc, (void *p, size_t n), (p, n))
FAULTY(FAULT_ALLOC, NULL, void *, aligned_alloc, (size_t a, size_t n), (a, n))
FAULTY(FAULT_ALLOC, ENOMEM, int, posix_memalign, (void **p, size_t a, size_t n),
    (p, a, n))
FAULTY(FAULT_MAP, MAP_FAILED, void *, mmap,
    (void *p, size_t n, int prot, int flags, int fd, off_t at),
    (p, n, prot, flags, fd, at))

/* dlsym itself may need a little zeroed memory the first time: glibc's
 * allocator has another name besides. */
void *__libc_calloc(size_t n, size_t size);

void *
calloc(size_t n, size_t size)
{
	static void *_Atomic known;
	static __thread bool inside;
	void *(*next)(size_t, size_t);
	void *f;

	if (inside)
		return __libc_calloc(n, size);
	if (fails(FAULT_ALLOC, __builtin_return_address(0)))
		return NULL;
	inside = true;
	f = next_of(&known, "calloc");
	inside = false;
	memcpy(&next, &f, sizeof(next));
	return next(n, size);
}

/* --- files -------------------------------------------------------------- */

int
open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if ((flags & (O_CREAT | O_TMPFILE)) != 0)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (fails(FAULT_OPEN, __builtin_return_address(0)))
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int __open_2(const char *path, int flags);
ssize_t __pread_chk(int fd, void *p, size_t n, off_t at, size_t room);
ssize_t __read_chk(int fd, void *p, size_t n, size_t room);
ssize_t __recv_chk(int fd, void *p, size_t n, size_t room, int flags);

FAULTY(
    FAULT_OPEN, -1, int, __open_2, (const char *path, int flags), (path, flags))
FAULTY(FAULT_READ, -1, ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
FAULTY(FAULT_READ, -1, ssize_t, __read_chk,
    (int fd, void *p, size_t n, size_t room), (fd, p, n, room))
FAULTY(FAULT_READ, -1, ssize_t, pread, (int fd, void *p, size_t n, off_t at),
    (fd, p, n, at))
FAULTY(FAULT_READ, -1, ssize_t, __pread_chk,
    (int fd, void *p, size_t n, off_t at, size_t room), (fd, p, n, at, room))
FAULTY(FAULT_WRITE, -1, ssize_t, write, (int fd, const void *p, size_t n),
    (fd, p, n))
FAULTY(FAULT_WRITE, -1, ssize_t, pwrite,
    (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
FAULTY(FAULT_WRITE, -1, int, ftruncate, (int fd, off_t n), (fd, n))
FAULTY(FAULT_WRITE, -1, int, rename, (const char *a, const char *b), (a, b))
FAULTY(FAULT_SYNC, -1, int, fsync, (int fd), (fd))
FAULTY(FAULT_SYNC, -1, int, fdatasync, (int fd), (fd))
FAULTY(FAULT_STAT, -1, int, fstat, (int fd, struct stat *s), (fd, s))
FAULTY(FAULT_STAT, -1, int, stat, (const char *path, struct stat *s), (path, s))
FAULTY(
    FAULT_STAT, -1, int, lstat, (const char *path, struct stat *s), (path, s))
FAULTY(FAULT_STAT, -1, int, flock, (int fd, int how), (fd, how))

/* --- sockets and what waits for them ------------------------------------ */

FAULTY(FAULT_SOCKET, -1, int, socket, (int d, int type, int proto),
    (d, type, proto))
FAULTY(FAULT_SOCKET, -1, int, socketpair,
    (int d, int type, int proto, int fds[2]), (d, type, proto, fds))
FAULTY(FAULT_CONNECT, -1, int, connect,
    (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
FAULTY(FAULT_BIND, -1, int, bind,
    (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
FAULTY(FAULT_BIND, -1, int, listen, (int fd, int n), (fd, n))
FAULTY(FAULT_ACCEPT, -1, int, accept4,
    (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags))
FAULTY(FAULT_RECV, -1, ssize_t, recv, (int fd, void *p, size_t n, int flags),
    (fd, p, n, flags))
FAULTY(FAULT_RECV, -1, ssize_t, __recv_chk,
    (int fd, void *p, size_t n, size_t room, int flags),
    (fd, p, n, room, flags))
FAULTY(FAULT_SEND, -1, ssize_t, send,
    (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))
FAULTY(FAULT_SEND, -1, ssize_t, sendto,
    (int fd, const void *p, size_t n, int flags, const struct sockaddr *a,
	socklen_t an),
    (fd, p, n, flags, a, an))
FAULTY(FAULT_EPOLL, -1, int, epoll_create1, (int flags), (flags))
FAULTY(FAULT_EPOLL, -1, int, epoll_ctl,
    (int fd, int op, int which, struct epoll_event *e), (fd, op, which, e))
FAULTY(FAULT_PIPE, -1, int, pipe2, (int fds[2], int flags), (fds, flags))
FAULTY(FAULT_PIPE, -1, int, eventfd, (unsigned n, int flags), (n, flags))
FAULTY(FAULT_SPLICE, -1, ssize_t, splice,
    (int in, off_t *in_at, int out, off_t *out_at, size_t n, unsigned flags),
    (in, in_at, out, out_at, n, flags))
FAULTY(FAULT_OPTION, -1, int, setsockopt,
    (int fd, int level, int name, const void *p, socklen_t n),
    (fd, level, name, p, n))
FAULTY(FAULT_OPTION, -1, int, getsockopt,
    (int fd, int level, int name, void *restrict p, socklen_t *restrict n),
    (fd, level, name, p, n))

FAULTY(FAULT_THREAD, EAGAIN, int, pthread_create,
    (pthread_t * t, const pthread_attr_t *a, void *(*run)(void *), void *arg),
    (t, a, run, arg))
