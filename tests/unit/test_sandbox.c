/* The walls of the sandbox, tried from inside: each case enters it and does
 * what somebody would who had got in. What ends the process is done in a child.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/sandbox.h"
#include "daemon/sandbox_impl.h"
#include "harness.h"

/* A folder for a gateway's files, and one beside it. */
static char top[64];

static const char *
in_top(const char *name)
{
	static char path[16][128];
	static unsigned turn;
	char *out = path[turn++ % 16];

	snprintf(out, sizeof(path[0]), "%s/%s", top, name);
	return out;
}

static void
put(const char *name, const char *text)
{
	FILE *file = fopen(in_top(name), "we");

	CHECK(file != NULL);
	CHECK(fputs(text, file) >= 0);
	CHECK_INT(fclose(file), 0);
}

static struct config *
make_config(const char *sandbox)
{
	static const char *const folders[] = {
	    "", "conf", "members", "state", "sockets", "elsewhere"};
	char text[1024];
	struct findings f = {0};
	struct config *c;

	snprintf(top, sizeof(top), "/tmp/postern-sandbox-XXXXXX");
	CHECK(mkdtemp(top) != NULL);
	for (size_t i = 1; i < sizeof(folders) / sizeof(folders[0]); i++)
		CHECK_INT(mkdir(in_top(folders[i]), 0700), 0);
	put("conf/file", "x");
	put("members/file", "x");
	put("elsewhere/file", "x");
	snprintf(text, sizeof(text),
	    "[gateway]\naudience = 1\nlisten = unix:%s/sockets/gate\n"
	    "[group g]\nmembers = %s/members/list\nrequests = 10\n"
	    "[egress]\nallow = *\n[ledger]\njournal = %s/state/journal\n"
	    "[run]\nsandbox = %s\n",
	    top, top, top, sandbox);
	CHECK_STATUS(config_parse(&c, &f, in_top("conf/postern.conf"), text,
			 strlen(text), NULL, 0),
	    ST_OK);
	CHECK_INT(f.n, 0);
	return c;
}

static void
remove_config(struct config *c)
{
	static const char *const paths[] = {"conf/file", "members/file",
	    "elsewhere/file", "state/new", "state/other", "conf", "members",
	    "state", "sockets", "elsewhere"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		(void)remove(in_top(paths[i]));
	(void)rmdir(top);
	config_unref(&c);
}

/* Run TRY in a child behind the walls (SEAL: the last one too).
 * Returns its wait status. */
static int
inside(bool seal, int (*try)(void))
{
	struct config *c = make_config("on");
	struct findings f = {0};
	struct sandbox s;
	int status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		if (sandbox_enter(&s, c, &f) != ST_OK)
			_exit(100);
		if (seal && sandbox_seal(&s, c, &f) != ST_OK)
			_exit(101);
		_exit(try());
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	remove_config(c);
	return status;
}

/* TRY returns 0 if all is as it should be, else a number that says what is
 * not. */
static void
holds(bool seal, int (*try)(void))
{
	int status = inside(seal, try);

	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
}

/* TRY makes a call that ends the process. */
static void
kills(int (*try)(void))
{
	int status = inside(true, try);

	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGSYS);
}

/* The build has walls at all: else there is nothing to try. */
static bool
walls(void)
{
	if (!SANDBOX_BUILD)
		printf("no walls in this build\n");
	return SANDBOX_BUILD;
}

/* --- processes --- */

static int
try_exec(void)
{
	char name[] = "true";
	char *const argv[] = {name, NULL};

	return execv("/bin/true", argv);
}

static int
try_exec_early(void)
{
	/* Landlock has it too, for what runs before the last wall. */
	return try_exec() == -1 && errno == EACCES ? 0 : 1;
}

static int
try_fork(void)
{
	return (int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0L);
}

static void *
nothing(void *arg)
{
	return arg;
}

static int
try_thread(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, nothing, NULL);
}

static int
try_ptrace(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int
try_kill(void)
{
	return kill(getppid(), 0);
}

static int
try_setuid(void)
{
	return setuid(1);
}

static int
try_mount(void)
{
	return (int)syscall(SYS_mount, NULL, "/", NULL, 0UL, NULL);
}

static int
try_read_memory(void)
{
	return (int)syscall(
	    SYS_process_vm_readv, getppid(), NULL, 0UL, NULL, 0UL, 0UL);
}

static int
try_io_uring(void)
{
	return (int)syscall(SYS_io_uring_setup, 1U, NULL);
}

#ifdef __x86_64__
static int
try_x32(void)
{
	/* getpid by the other table of calls. */
	return (int)syscall(0x40000000 | 39);
}
#endif

static int
try_filter(void)
{
	return (int)syscall(SYS_seccomp, 0U, 0U, NULL);
}

static void
no_process_can_be_made_or_touched(void)
{
	if (!walls())
		return;
	kills(try_exec);
	kills(try_fork);
	kills(try_ptrace);
	kills(try_kill);
	kills(try_read_memory);
	holds(false, try_exec_early);
}

static void
no_privilege_can_be_had(void)
{
	if (!walls())
		return;
	kills(try_setuid);
	kills(try_mount);
	kills(try_io_uring);
	kills(try_filter);
#ifdef __x86_64__
	kills(try_x32);
#endif
}

static int
try_privileges(void)
{
	struct rlimit core;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0UL, 0UL, 0UL, 0UL) != 1)
		return 1;
	if (getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0)
		return 2;
	/* One may lower a limit, and not raise it again. */
	core.rlim_cur = core.rlim_max = RLIM_INFINITY;
	if (geteuid() != 0 && setrlimit(RLIMIT_CORE, &core) == 0)
		return 3;
	return 0;
}

static int
try_dump(void)
{
	if (prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) != 0)
		return 1;
	abort();
}

static void
nothing_is_dumped(void)
{
	int status;

	holds(false, try_privileges);
	if (!walls())
		return;
	status = inside(false, try_dump);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGABRT);
	CHECK(!WCOREDUMP(status));
	/* The last wall lets the process end itself, and nobody else. */
	status = inside(true, (int (*)(void))abort);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGABRT);
}

static void
nobody_attaches(void)
{
	struct config *c = make_config("on");
	struct findings f = {0};
	struct sandbox s;
	int ready[2], go[2], status;
	pid_t child, tracer;
	char byte;

	if (!walls() || geteuid() != 0) {
		/* Only root can become a user who might. */
		printf("not as this user\n");
		remove_config(c);
		return;
	}
	CHECK_INT(pipe(ready), 0);
	CHECK_INT(pipe(go), 0);
	if ((child = fork()) == 0) {
		if (setuid(65534) != 0 || sandbox_enter(&s, c, &f) != ST_OK)
			_exit(100);
		(void)!write(ready[1], "", 1);
		(void)!read(go[0], &byte, 1);
		_exit(0);
	}
	CHECK_INT(read(ready[0], &byte, 1), 1);
	if ((tracer = fork()) == 0) {
		if (setuid(65534) != 0)
			_exit(100);
		if (ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0)
			_exit(1);
		_exit(errno == EPERM ? 0 : 2);
	}
	CHECK_INT(waitpid(tracer, &status, 0), tracer);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
	CHECK_INT(write(go[1], "", 1), 1);
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
	remove_config(c);
}

/* --- memory --- */

/* Memory that is written, then made to be run. */
static bool
can_run_written(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED || mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool
can_run_mapped(int prot, int flags, int fd)
{
	return mmap(NULL, 4096, prot | PROT_EXEC, flags, fd, 0) != MAP_FAILED;
}

static int
try_memory(void)
{
	int fd = open(in_top("members/file"), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 1;
	if (can_run_written())
		return 2;
	if (can_run_mapped(
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1))
		return 3;
	/* Not from a file either: all libraries are loaded. */
	if (can_run_mapped(PROT_READ, MAP_PRIVATE, fd))
		return 4;
	return 0;
}

static int
try_memory_early(void)
{
	return can_run_written() ||
	    can_run_mapped(
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static int
memory_wall(void)
{
	return prctl(65 /* PR_SET_MDWE */, 0UL, 0UL, 0UL, 0UL) == 0 ||
	    errno != EINVAL;
}

static void
written_memory_is_not_run(void)
{
	if (!walls())
		return;
	holds(true, try_memory);
	if (memory_wall())
		holds(false, try_memory_early);
}

/* --- sockets --- */

static bool
refused(int domain, int type, int protocol)
{
	int fd = socket(domain, type, protocol);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EPERM;
}

static int
try_sockets(void)
{
	static const int good[][2] = {{AF_INET, SOCK_STREAM},
	    {AF_INET6, SOCK_STREAM}, {AF_INET, SOCK_DGRAM},
	    {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}};
	int fd;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		fd = socket(good[i][0], good[i][1], 0);
		if (fd < 0 && errno != EAFNOSUPPORT)
			return 10 + (int)i;
		close(fd);
	}
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return 1;
	close(fd);
	if (!refused(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER) ||
	    !refused(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT))
		return 2;
	if (!refused(AF_PACKET, SOCK_RAW, 0) ||
	    !refused(AF_INET, SOCK_RAW, IPPROTO_ICMP) ||
	    !refused(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6))
		return 3;
	if (!refused(AF_VSOCK, SOCK_STREAM, 0) || !refused(AF_ALG, 5, 0))
		return 4;
	return 0;
}

static int
try_listen(void)
{
	return listen(socket(AF_INET, SOCK_STREAM, 0), 1);
}

static int
try_socket_option(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) != 0)
		return 1;
	/* A program of one's own in the kernel. */
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &on, sizeof(on)) ==
		0 ||
	    errno != EPERM)
		return 2;
	return 0;
}

static void
only_the_gateways_sockets(void)
{
	if (!walls())
		return;
	holds(true, try_sockets);
	holds(true, try_socket_option);
	kills(try_listen);
}

/* --- files --- */

static bool
opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int
try_reading(void)
{
	if (!opens(in_top("conf/file"), O_RDONLY) ||
	    !opens(in_top("members/file"), O_RDONLY) ||
	    !opens("/dev/urandom", O_RDONLY))
		return 1;
	if (opens(in_top("conf/file"), O_WRONLY) ||
	    opens(in_top("members/file"), O_RDWR) ||
	    opens(in_top("members/new"), O_WRONLY | O_CREAT))
		return 2;
	if (opens(in_top("elsewhere/file"), O_RDONLY) ||
	    opens("/etc/shadow", O_RDONLY) || opens("/etc/passwd", O_RDONLY) ||
	    opens("/proc/self/mem", O_RDWR) ||
	    opens("/proc/self/maps", O_RDONLY) || opens("/", O_RDONLY))
		return 3;
	/* By another way. */
	if (opens(in_top("members/../elsewhere/file"), O_RDONLY) ||
	    opens("/proc/self/root/etc/passwd", O_RDONLY))
		return 4;
	return 0;
}

/* What the journal does with its folder. */
static int
try_writing(void)
{
	const char *new = in_top("state/new"), *other = in_top("state/other");
	int fd = open(new, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return 1;
	if (pwrite(fd, "abc", 3, 0) != 3 || ftruncate(fd, 1) != 0 ||
	    fdatasync(fd) != 0 || fsync(fd) != 0)
		return 2;
	if (rename(new, other) != 0)
		return 3;
	if (rename(other, in_top("members/new")) == 0 ||
	    rename(other, in_top("elsewhere/new")) == 0)
		return 4;
	if (unlink(in_top("members/file")) == 0 ||
	    unlink(in_top("elsewhere/file")) == 0)
		return 5;
	return unlink(other) == 0 ? 0 : 6;
}

static int
try_links(void)
{
	return symlink("/etc/passwd", in_top("state/new"));
}

static int
try_mode(void)
{
	return chmod(in_top("members/file"), 0777);
}

/* The folder of a unix socket: made before the last wall, removed after. */
static int
try_unix_socket(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/sockets/gate", top);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		return 1;
	if (unlink(at.sun_path) != 0)
		return 2;
	return opens(in_top("sockets/file"), O_WRONLY | O_CREAT) ? 3 : 0;
}

static void
only_the_gateways_files(void)
{
	if (!walls())
		return;
	kills(try_links);
	kills(try_mode);
	if (!sandbox_files_possible()) {
		printf("no Landlock in this kernel\n");
		return;
	}
	holds(false, try_reading);
	holds(true, try_reading);
	holds(true, try_writing);
	holds(true, try_unix_socket);
}

/* --- threads --- */

struct other {
	int go[2], failed;
};

static void *
run_other(void *arg)
{
	struct other *o = arg;
	char byte;

	(void)!read(o->go[0], &byte, 1);
	o->failed = can_run_written()	      ? 1
	    : refused(AF_PACKET, SOCK_RAW, 0) ? 0
					      : 2;
	return NULL;
}

/* A thread that was there before is behind the last wall as well; a new one
 * can not be made. */
static void
all_threads_are_inside(void)
{
	struct config *c = make_config("on");
	struct findings f = {0};
	struct sandbox s;
	int status;
	pid_t child;

	if (!walls()) {
		remove_config(c);
		return;
	}
	if ((child = fork()) == 0) {
		struct other o;
		pthread_t t;
		if (sandbox_enter(&s, c, &f) != ST_OK || pipe(o.go) != 0 ||
		    pthread_create(&t, NULL, run_other, &o) != 0 ||
		    sandbox_seal(&s, c, &f) != ST_OK)
			_exit(100);
		(void)!write(o.go[1], "", 1);
		pthread_join(t, NULL);
		_exit(o.failed);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
	remove_config(c);
	kills(try_thread);
}

/* --- limits and telling --- */

static int
try_limits(void)
{
	struct rlimit r;
	void *p;

	if (getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
		return 1;
	p = mmap(NULL, (size_t)r.rlim_cur, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p != MAP_FAILED)
		return 2;
	r.rlim_cur = r.rlim_max = RLIM_INFINITY;
	return setrlimit(RLIMIT_AS, &r) == 0 ? 3 : 0;
}

static void
limits_hold(void)
{
	if (walls())
		holds(true, try_limits);
}

static void
the_status_tells(void)
{
	struct config *c = make_config("on");
	struct findings f = {0};
	struct sandbox s;
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (sandbox_enter(&s, c, &f) != ST_OK || s.stands[WALL_CALLS] ||
		    s.stands[WALL_FILES] !=
			(SANDBOX_BUILD && sandbox_files_possible()) ||
		    sandbox_seal(&s, c, &f) != ST_OK)
			_exit(1);
		if (!s.stands[WALL_PRIVILEGES] || !s.stands[WALL_DUMPS] ||
		    s.stands[WALL_TRACING] != SANDBOX_BUILD ||
		    s.stands[WALL_MEMORY] != SANDBOX_BUILD ||
		    s.stands[WALL_CALLS] != SANDBOX_BUILD)
			_exit(2);
		_exit((s.descriptors != 0) == SANDBOX_BUILD ? 0 : 3);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
	remove_config(c);
	for (unsigned i = 0; i < WALL_COUNT; i++)
		CHECK(wall_name((enum wall)i)[0] != '\0');
}

/* Without walls only what costs nothing stands, and check says so. */
static void
it_can_be_left_out(void)
{
	struct config *c = make_config("off");
	struct findings f = {0};
	struct sandbox s;
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (sandbox_enter(&s, c, &f) != ST_OK ||
		    sandbox_seal(&s, c, &f) != ST_OK)
			_exit(1);
		if (!s.stands[WALL_PRIVILEGES] || !s.stands[WALL_DUMPS] ||
		    s.stands[WALL_TRACING] || s.stands[WALL_MEMORY] ||
		    s.stands[WALL_FILES] || s.stands[WALL_CALLS])
			_exit(2);
		_exit(opens("/etc/passwd", O_RDONLY) ? 0 : 3);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
	sandbox_check(c, &f);
	CHECK_INT(f.n, 1);
	CHECK_INT(f.items[0].severity, FINDING_WARNING);
	findings_clear(&f);
	remove_config(c);
}

TESTS({"no process can be made or touched", no_process_can_be_made_or_touched},
    {"no privilege can be had", no_privilege_can_be_had},
    {"nothing is dumped", nothing_is_dumped},
    {"nobody attaches", nobody_attaches},
    {"written memory is not run", written_memory_is_not_run},
    {"only the gateway's sockets", only_the_gateways_sockets},
    {"only the gateway's files", only_the_gateways_files},
    {"all threads are inside", all_threads_are_inside},
    {"limits hold", limits_hold}, {"the status tells", the_status_tells},
    {"it can be left out", it_can_be_left_out})
