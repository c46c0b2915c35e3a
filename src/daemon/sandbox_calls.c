/* The wall around the system calls: seccomp, an allow-list.
 *
 * The list is what the gateway calls once it is open: the loop, the sockets,
 * the relay, the journal, reading files again, and what libc needs in between.
 * All threads run by now and none may be made: no clone, no fork, no exec; no
 * listening either.
 *
 * Two filters stand one behind the other, and the sterner one wins:
 *
 *	names       a call that is not in the list ends the process (SIGSYS),
 *	            as nothing of ours makes it
 *	arguments   a call that is in the list, with arguments that are not:
 *	            EPERM, as libraries try this and that and go on without
 *
 * No filter sees behind a pointer, so which paths may be opened is Landlock's
 * business.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/sandbox_impl.h"

#define CALL(NAME) SCMP_SYS(NAME)
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* With any arguments. */
static const int plain[] = {
    /* Loop. */
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(epoll_pwait),
    CALL(epoll_pwait2),
    CALL(epoll_wait),
    CALL(eventfd2),
    CALL(poll),
    CALL(ppoll),
    CALL(timerfd_settime),
    CALL(clock_gettime),
    CALL(clock_nanosleep),
    CALL(gettimeofday),
    CALL(nanosleep),
    CALL(time),
    /* Bytes. */
    CALL(read),
    CALL(readv),
    CALL(pread64),
    CALL(preadv),
    CALL(write),
    CALL(writev),
    CALL(pwrite64),
    CALL(pwritev),
    CALL(lseek),
    CALL(close),
    CALL(pipe2),
    CALL(splice),
    /* Sockets; which ones: socket_rules. To bind is not to listen: it is for
     * the address to go out from, and getifaddrs does it too. */
    CALL(accept4),
    CALL(bind),
    CALL(connect),
    CALL(getpeername),
    CALL(getsockname),
    CALL(getsockopt),
    CALL(recvfrom),
    CALL(recvmsg),
    CALL(sendmmsg),
    CALL(sendmsg),
    CALL(sendto),
    CALL(shutdown),
    CALL(socketpair), /* a request from the mixnet to a session */
    /* Files; which ones: Landlock. */
    CALL(open),
    CALL(openat),
    CALL(stat),
    CALL(fstat),
    CALL(lstat),
    CALL(newfstatat),
    CALL(statx),
    CALL(access),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(readlink),
    CALL(readlinkat),
    CALL(flock),
    CALL(inotify_add_watch),
    CALL(inotify_rm_watch),
    CALL(rename),
    CALL(renameat),
    CALL(renameat2),
    CALL(unlink),
    CALL(unlinkat),
    CALL(fsync),
    CALL(fdatasync),
    CALL(ftruncate),
    CALL(fadvise64),
    /* Memory; none that is run: memory_rules. */
    CALL(brk),
    CALL(madvise),
    CALL(mremap),
    CALL(munmap),
    /* Threads, signals, the end. */
    CALL(futex),
    CALL(sched_yield),
    CALL(sched_getaffinity),
    CALL(set_robust_list),
    CALL(setpriority), /* workers give way to the loop */
    CALL(rseq),
    CALL(rt_sigaction),
    CALL(rt_sigpending),
    CALL(rt_sigprocmask),
    CALL(rt_sigreturn),
    CALL(sigaltstack),
    CALL(restart_syscall),
    CALL(gettid),
    CALL(getpid),
    CALL(exit),
    CALL(exit_group),
    /* Questions that give nothing away. */
    CALL(getegid),
    CALL(geteuid),
    CALL(getgid),
    CALL(getrandom),
    CALL(getrusage),
    CALL(getuid),
    CALL(sysinfo),
    CALL(uname),
};

/* With any arguments, in a service (enum sandbox_role). */
static const int of_service[] = {
    CALL(fchmod),
    CALL(fchown),
    CALL(link),
    CALL(linkat),
};

/* With the arguments that the functions below give. */
static const int looked_at[] = {
    CALL(fcntl),
    CALL(ioctl),
    CALL(mmap),
    CALL(mprotect),
    CALL(prctl),
    CALL(prlimit64),
    CALL(setsockopt),
    CALL(socket),
    CALL(tgkill),
};

static const int fcntl_commands[] = {
    F_DUPFD_CLOEXEC,
    F_GETFD,
    F_GETFL,
    F_GETPIPE_SZ,
    F_SETFD,
    F_SETFL,
    F_SETPIPE_SZ,
#ifdef COVER_FOLDER
    F_SETLKW,
#endif
};

static const unsigned long ioctl_requests[] = {FIONBIO, FIONREAD, TCGETS};

static const struct {
	int level, name;
} socket_options[] = {
    {SOL_SOCKET, SO_KEEPALIVE},
    {SOL_SOCKET, SO_LINGER},
    {SOL_SOCKET, SO_OOBINLINE},
    {SOL_SOCKET, SO_RCVBUF},
    {SOL_SOCKET, SO_REUSEADDR},
    {SOL_SOCKET, SO_SNDBUF},
    {IPPROTO_TCP, TCP_KEEPCNT},
    {IPPROTO_TCP, TCP_KEEPIDLE},
    {IPPROTO_TCP, TCP_KEEPINTVL},
    {IPPROTO_TCP, TCP_NODELAY},
    {IPPROTO_TCP, TCP_NOTSENT_LOWAT},
    {IPPROTO_TCP, TCP_USER_TIMEOUT},
    {IPPROTO_IPV6, IPV6_V6ONLY},
};

/* --- rules: 0, or a negative errno, as libseccomp has it --- */

static int
list_rules(scmp_filter_ctx x, const int *calls, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, calls[i], 0);
	return rc;
}

/* Argument number N is VALUE. Not SCMP_A1 and so on: clang sees that they leave
 * a field out. */
static struct scmp_arg_cmp
argument_is(unsigned n, scmp_datum_t value)
{
	return (struct scmp_arg_cmp){
	    .arg = n, .op = SCMP_CMP_EQ, .datum_a = value};
}

static int
descriptor_rules(scmp_filter_ctx x)
{
	int rc = 0;

	for (size_t i = 0; i < LENGTH(fcntl_commands) && rc == 0; i++)
		rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(fcntl), 1,
		    argument_is(1, (scmp_datum_t)fcntl_commands[i]));
	for (size_t i = 0; i < LENGTH(ioctl_requests) && rc == 0; i++)
		rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(ioctl), 1,
		    argument_is(1, ioctl_requests[i]));
	return rc;
}

/* Streams to targets, datagrams to name servers and to the log. */
static int
socket_rules(scmp_filter_ctx x)
{
	static const int families[] = {AF_INET, AF_INET6, AF_UNIX};
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM};
	const scmp_datum_t kind = ~(scmp_datum_t)(SOCK_NONBLOCK | SOCK_CLOEXEC);
	int rc = 0;

	for (size_t i = 0; i < LENGTH(families); i++) {
		for (size_t j = 0; j < LENGTH(types) && rc == 0; j++)
			rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(socket),
			    2, argument_is(0, (scmp_datum_t)families[i]),
			    SCMP_A1(SCMP_CMP_MASKED_EQ, kind,
				(scmp_datum_t)types[j]));
	}
	/* getifaddrs: which addresses are this machine's own. */
	if (rc == 0)
		rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(socket), 3,
		    argument_is(0, AF_NETLINK),
		    SCMP_A1(SCMP_CMP_MASKED_EQ, kind, SOCK_RAW),
		    argument_is(2, NETLINK_ROUTE));
	for (size_t i = 0; i < LENGTH(socket_options) && rc == 0; i++)
		rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(setsockopt), 2,
		    argument_is(1, (scmp_datum_t)socket_options[i].level),
		    argument_is(2, (scmp_datum_t)socket_options[i].name));
	return rc;
}

static int
memory_rules(scmp_filter_ctx x)
{
	int rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(mmap), 1,
	    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));

	if (rc == 0)
		rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(mprotect), 1,
		    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return rc;
}

static int
process_rules(scmp_filter_ctx x)
{
	/* abort(), to itself alone. */
	int rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(tgkill), 1,
	    argument_is(0, (scmp_datum_t)getpid()));

	/* Limits are read, not set. */
	if (rc == 0)
		rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(prlimit64), 2,
		    argument_is(0, 0), argument_is(2, 0));
	if (rc == 0)
		rc = seccomp_rule_add(x, SCMP_ACT_ALLOW, CALL(prctl), 1,
		    argument_is(0, PR_SET_NAME));
	return rc;
}

/* --- the two filters --- */

static int
common_rules(scmp_filter_ctx x, enum sandbox_role role)
{
	int rc =
	    seccomp_attr_set(x, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	/* sandbox_enter has done it; here it would be one more call. */
	if (rc == 0)
		rc = seccomp_attr_set(x, SCMP_FLTATR_CTL_NNP, 0);
	if (rc == 0)
		rc = seccomp_attr_set(x, SCMP_FLTATR_CTL_TSYNC, 1);
	if (rc == 0)
		rc = seccomp_attr_set(x, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (rc == 0)
		rc = list_rules(x, plain, LENGTH(plain));
	if (rc == 0 && role == SANDBOX_SERVICE)
		rc = list_rules(x, of_service, LENGTH(of_service));
	return rc;
}

static int
argument_rules(scmp_filter_ctx x, enum sandbox_role role)
{
	/* For the other filter, which is put up behind this one and has no
	 * such rule. */
	static const int next[] = {CALL(seccomp)};
	int rc = common_rules(x, role);

	if (rc == 0)
		rc = list_rules(x, next, LENGTH(next));
	if (rc == 0)
		rc = descriptor_rules(x);
	if (rc == 0)
		rc = socket_rules(x);
	if (rc == 0)
		rc = memory_rules(x);
	if (rc == 0)
		rc = process_rules(x);
	return rc;
}

static int
name_rules(scmp_filter_ctx x, enum sandbox_role role)
{
	int rc = common_rules(x, role);

	return rc == 0 ? list_rules(x, looked_at, LENGTH(looked_at)) : rc;
}

bool
sandbox_calls_possible(void)
{
	/* 3: it ends the process and not only the thread. */
	return seccomp_api_get() >= 3;
}

enum status
sandbox_calls_restrict(enum sandbox_role role)
{
	scmp_filter_ctx names = seccomp_init(SCMP_ACT_KILL_PROCESS);
	scmp_filter_ctx arguments = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc = names == NULL || arguments == NULL ? -ENOMEM : 0;

	if (rc == 0)
		rc = name_rules(names, role);
	if (rc == 0)
		rc = argument_rules(arguments, role);
	if (rc == 0)
		rc = seccomp_load(arguments);
	if (rc == 0)
		rc = seccomp_load(names);
	if (names != NULL)
		seccomp_release(names);
	if (arguments != NULL)
		seccomp_release(arguments);
	errno = -rc;
	return rc == 0 ? ST_OK : ST_SYS;
}
