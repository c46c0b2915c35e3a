/* Listeners: each kind of socket, their texts, and running out of
 * descriptors. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/listener.h"
#include "net/sockaddr.h"
#include "net_util.h"

#define MANY 200

struct fixture {
	struct loop *loop;
	struct listener *listener;
	int fds[MANY];
	unsigned n;
	bool pause; /* call listener_pause in accepted() */
};

static void
accepted(struct listener *ls, int fd, void *arg)
{
	struct fixture *f = arg;

	CHECK(f->n < MANY);
	f->fds[f->n++] = fd;
	if (f->pause)
		listener_pause(ls);
}

static struct listener_config
at_loopback(struct fixture *f, int version)
{
	struct listener_config c = {
	    .kind = LISTEN_IP, .accepted = accepted, .arg = f};
	const char *text = version == 4 ? "127.0.0.1" : "::1";

	CHECK_STATUS(ip_parse(&c.at.ip, span_str(text)), ST_OK);
	return c;
}

static void
setup(struct fixture *f, struct listener_config *c)
{
	*f = (struct fixture){.loop = test_loop()};
	CHECK_STATUS(listener_new(&f->listener, f->loop, c), ST_OK);
}

static void
close_accepted(struct fixture *f)
{
	while (f->n != 0)
		close(f->fds[--f->n]);
}

static void
teardown(struct fixture *f)
{
	close_accepted(f);
	listener_free(&f->listener);
	CHECK(f->listener == NULL);
	loop_free(&f->loop);
}

/* Connect to the listener at CONFIG's address; non-blocking. */
static int
dial(const struct fixture *f, const struct listener_config *c)
{
	endpoint_t at = {.ip = c->at.ip, .port = listener_port(f->listener)};
	union sockaddr_any a;
	socklen_t len = sockaddr_of_ip(&a, &at);
	int fd = socket(
	    a.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK(connect(fd, &a.sa, len) == 0 || errno == EINPROGRESS);
	return fd;
}

static int
flag(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	CHECK_INT(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

static void
check_accepts(int version)
{
	struct fixture f;
	struct listener_config c = at_loopback(&f, version);

	setup(&f, &c);
	CHECK(listener_port(f.listener) != 0);
	int fd = dial(&f, &c);
	SPIN(f.loop, f.n == 1);
	CHECK((fcntl(f.fds[0], F_GETFL) & O_NONBLOCK) != 0);
	CHECK((fcntl(f.fds[0], F_GETFD) & FD_CLOEXEC) != 0);
	/* Inherited from the listener, at no price. */
	CHECK(flag(f.fds[0], IPPROTO_TCP, TCP_NODELAY) != 0);
	CHECK(flag(f.fds[0], SOL_SOCKET, SO_OOBINLINE) != 0);
	CHECK_INT(listener_counts(f.listener).accepted, 1);
	close(fd);
	teardown(&f);
}

static void
test_ip4(void)
{
	check_accepts(4);
}

static void
test_ip6(void)
{
	endpoint_t at;
	int fd;

	if (!listen_at(&fd, &at, 6, 1)) {
		printf("    no ::1 here\n");
		return;
	}
	close(fd);
	check_accepts(6);
}

static void
test_port_taken(void)
{
	struct fixture f;
	struct listener_config c = at_loopback(&f, 4);
	struct listener *second;

	setup(&f, &c);
	c.at.port = listener_port(f.listener);
	CHECK_STATUS(listener_new(&second, f.loop, &c), ST_SYS);
	CHECK_INT(errno, EADDRINUSE);
	CHECK(second == NULL);
	c.at.ip.version = 0;
	CHECK_STATUS(listener_new(&second, f.loop, &c), ST_BAD_VALUE);
	teardown(&f);
}

/* --- AF_UNIX --- */

static char folder[] = "/tmp/postern-listener-XXXXXX";
static char path[64];

static void
make_folder(void)
{
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/socket", folder);
}

static void
remove_folder(void)
{
	unlink(path);
	CHECK_INT(rmdir(folder), 0);
}

static int
dial_path(void)
{
	union sockaddr_any a;
	socklen_t len;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	CHECK_STATUS(sockaddr_of_path(&a, &len, path), ST_OK);
	CHECK_INT(connect(fd, &a.sa, len), 0);
	return fd;
}

static void
test_unix(void)
{
	struct fixture f;
	struct listener_config c = {.kind = LISTEN_UNIX,
	    .path = path,
	    .mode = 0660,
	    .accepted = accepted,
	    .arg = &f};
	struct listener *second;
	struct stat st;

	make_folder();
	umask(077); /* the mode is what was asked for all the same */
	setup(&f, &c);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0660);
	CHECK_INT(listener_port(f.listener), 0);
	int fd = dial_path();
	SPIN(f.loop, f.n == 1);
	/* Not inherited: each is prepared by itself. */
	CHECK(flag(f.fds[0], SOL_SOCKET, SO_OOBINLINE) != 0);
	close(fd);

	/* It is in use: nobody takes it away. */
	CHECK_STATUS(listener_new(&second, f.loop, &c), ST_SYS);
	CHECK_INT(errno, EADDRINUSE);
	CHECK_INT(stat(path, &st), 0);
	teardown(&f);
	CHECK_INT(stat(path, &st), -1); /* removed at the end */
	remove_folder();
}

static void
test_unix_stale(void)
{
	struct fixture f;
	struct listener_config c = {.kind = LISTEN_UNIX,
	    .path = path,
	    .mode = 0600,
	    .accepted = accepted,
	    .arg = &f};
	union sockaddr_any a;
	socklen_t len;
	struct stat st;

	make_folder();
	/* Left behind by a server that was killed. */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_STATUS(sockaddr_of_path(&a, &len, path), ST_OK);
	CHECK_INT(bind(fd, &a.sa, len), 0);
	CHECK_INT(listen(fd, 1), 0);
	close(fd);
	setup(&f, &c);
	close(dial_path());
	SPIN(f.loop, f.n == 1);

	/* Somebody put another socket there: it is not ours to remove. */
	CHECK_INT(unlink(path), 0);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_INT(bind(fd, &a.sa, len), 0);
	teardown(&f);
	CHECK_INT(stat(path, &st), 0);
	close(fd);
	remove_folder();
}

static void
test_unix_not_a_socket(void)
{
	struct loop *l = test_loop();
	struct listener_config c = {.kind = LISTEN_UNIX,
	    .path = path,
	    .mode = 0600,
	    .accepted = accepted};
	struct listener *ls;
	struct stat st;

	make_folder();
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	close(fd);
	CHECK_STATUS(listener_new(&ls, l, &c), ST_SYS);
	CHECK_INT(errno, EADDRINUSE);
	CHECK_INT(stat(path, &st), 0);
	CHECK(S_ISREG(st.st_mode));
	remove_folder();
	loop_free(&l);
}

/* --- a descriptor of somebody else --- */

static void
test_adopt(void)
{
	struct fixture f;
	struct listener_config c = {
	    .kind = LISTEN_FD, .accepted = accepted, .arg = &f};
	struct listener *second;
	endpoint_t at;
	int pair[2];

	CHECK(listen_at(&c.fd, &at, 4, 8));
	fcntl(c.fd, F_SETFL, 0); /* as a supervisor may leave it */
	setup(&f, &c);
	CHECK_INT(listener_port(f.listener), at.port);
	c.at.ip = at.ip;
	int fd = dial(&f, &c);
	SPIN(f.loop, f.n == 1);
	close(fd);

	tcp_pair(pair);
	c.fd = pair[0]; /* connected */
	CHECK_STATUS(listener_new(&second, f.loop, &c), ST_BAD_VALUE);
	c.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK_STATUS(listener_new(&second, f.loop, &c), ST_BAD_VALUE);
	close(c.fd);
	c.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK_STATUS(listener_new(&second, f.loop, &c), ST_BAD_VALUE);
	close(c.fd); /* refused ones stay the caller's */
	close(pair[0]);
	close(pair[1]);
	teardown(&f);
}

static void
test_parse(void)
{
	static const struct {
		const char *text;
		enum status status;
		enum listener_kind kind;
		unsigned value; /* port or descriptor */
	} cases[] = {
	    {"127.0.0.1:8080", ST_OK, LISTEN_IP, 8080},
	    {"127.0.0.1:0", ST_OK, LISTEN_IP, 0},
	    {"[::1]:65535", ST_OK, LISTEN_IP, 65535},
	    {"[::1]:0", ST_OK, LISTEN_IP, 0},
	    {"127.0.0.1:10", ST_OK, LISTEN_IP, 10},
	    {"127.0.0.1:00", ST_BAD_ENCODING, LISTEN_IP, 0},
	    {"127.0.0.1:65536", ST_BAD_ENCODING, LISTEN_IP, 0},
	    {"127.0.0.1", ST_BAD_ENCODING, LISTEN_IP, 0},
	    {"localhost:80", ST_BAD_ENCODING, LISTEN_IP, 0},
	    {"::1:80", ST_BAD_ENCODING, LISTEN_IP, 0},
	    {"", ST_BAD_ENCODING, LISTEN_IP, 0},
	    {":0", ST_BAD_ENCODING, LISTEN_IP, 0},
	    {"unix:/run/x", ST_OK, LISTEN_UNIX, 0},
	    {"unix:x", ST_BAD_ENCODING, LISTEN_UNIX, 0},
	    {"unix:", ST_BAD_ENCODING, LISTEN_UNIX, 0},
	    {"fd:3", ST_OK, LISTEN_FD, 3},
	    {"fd:", ST_BAD_LENGTH, LISTEN_FD, 0},
	    {"fd:03", ST_BAD_ENCODING, LISTEN_FD, 0},
	    {"fd:-1", ST_BAD_ENCODING, LISTEN_FD, 0},
	    {"fd:99999999999", ST_BAD_VALUE, LISTEN_FD, 0},
	};
	struct listener_config c = {0};
	char buffer[LISTENER_PATH_MAX], long_path[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_STATUS(
		    listener_parse(&c, buffer, span_str(cases[i].text)),
		    cases[i].status);
		if (cases[i].status != ST_OK)
			continue;
		CHECK_INT(c.kind, cases[i].kind);
		if (c.kind == LISTEN_IP)
			CHECK_INT(c.at.port, cases[i].value);
		else if (c.kind == LISTEN_FD)
			CHECK_INT(c.fd, cases[i].value);
		else
			CHECK_STR(c.path, "/run/x");
	}
	memset(long_path, 'x', sizeof(long_path));
	memcpy(long_path, "unix:/", 6);
	CHECK_STATUS(listener_parse(
			 &c, buffer, span_of(long_path, 5 + LISTENER_PATH_MAX)),
	    ST_BAD_LENGTH);
	CHECK_STATUS(listener_parse(
			 &c, buffer, span_of(long_path, 4 + LISTENER_PATH_MAX)),
	    ST_OK);
	CHECK_STATUS(listener_parse(&c, buffer, span_of("unix:/a\0b", 9)),
	    ST_BAD_ENCODING);
}

/* --- pausing --- */

static void
test_pause(void)
{
	struct fixture f;
	struct listener_config c = at_loopback(&f, 4);
	int fd[3];

	setup(&f, &c);
	f.pause = true;
	for (int i = 0; i < 3; i++)
		fd[i] = dial(&f, &c);
	SPIN(f.loop, f.n == 1);
	spin_for(f.loop, 30);
	CHECK_INT(f.n, 1); /* the others wait outside */
	f.pause = false;
	listener_resume(f.listener);
	SPIN(f.loop, f.n == 3);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	teardown(&f);
}

/* No round accepts more than a batch. */
static void
test_batch(void)
{
	struct fixture f;
	struct listener_config c = at_loopback(&f, 4);
	int fd[LISTENER_BATCH + 20];

	setup(&f, &c);
	for (int i = 0; i < LISTENER_BATCH + 20; i++)
		fd[i] = dial(&f, &c);
	CHECK_STATUS(loop_turn(f.loop, 1000), ST_OK);
	CHECK_INT(f.n, LISTENER_BATCH);
	SPIN(f.loop, f.n == LISTENER_BATCH + 20);
	for (int i = 0; i < LISTENER_BATCH + 20; i++)
		close(fd[i]);
	teardown(&f);
}

static void
set_limit(rlim_t n)
{
	struct rlimit r;

	CHECK_INT(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = n;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &r), 0);
}

/* Clients wait in the backlog while descriptors are short, and the reserve
 * stays for those inside. */
static void
test_reserve(void)
{
	struct fixture f;
	struct listener_config c = at_loopback(&f, 4);
	int fd[40];

	setup(&f, &c);
	/* The clients are here, too: they come first. */
	for (int i = 0; i < 40; i++)
		fd[i] = dial(&f, &c);
	int next = dup(0);
	close(next);
	/* Room for 10 accepted ones below the reserve of 32. */
	set_limit((rlim_t)next + 10 + 32);
	SPIN(f.loop, listener_counts(f.listener).paused);
	CHECK_INT(f.n, 11); /* the eleventh told */
	spin_for(f.loop, LISTENER_RETRY_MS + 100);
	CHECK_INT(f.n, 11);
	CHECK(listener_counts(f.listener).paused);
	CHECK_INT(listener_counts(f.listener).pauses, 1);
	/* Those inside can still open something. */
	int mine[31];
	for (int i = 0; i < 31; i++)
		CHECK((mine[i] = dup(0)) >= 0);
	CHECK_INT(dup(0), -1);
	for (int i = 0; i < 31; i++)
		close(mine[i]);

	/* One leaves, and the owner says so: the next is let in. */
	close(f.fds[--f.n]);
	close(f.fds[--f.n]);
	listener_resume(f.listener);
	CHECK(!listener_counts(f.listener).paused);
	SPIN(f.loop, f.n == 11);
	CHECK(listener_counts(f.listener).paused);

	/* Nobody says anything: the listener finds out by itself. */
	close_accepted(&f);
	SPIN(f.loop, f.n == 11);
	close_accepted(&f);
	SPIN(f.loop, f.n == 11);
	close_accepted(&f);
	SPIN(f.loop, listener_counts(f.listener).accepted == 40);
	for (int i = 0; i < 40; i++)
		close(fd[i]);
	teardown(&f);
}

/* EMFILE itself, with the reserve eaten up by others. */
static void
test_emfile(void)
{
	struct fixture f;
	struct listener_config c = at_loopback(&f, 4);

	setup(&f, &c);
	int fd = dial(&f, &c);
	int next = dup(0);
	close(next);
	set_limit((rlim_t)next);
	SPIN(f.loop, listener_counts(f.listener).paused);
	CHECK_INT(f.n, 0);
	uint64_t cpu = loop_clock_ns();
	int turns = 0;
	while (loop_clock_ns() - cpu < 100000000) {
		CHECK_STATUS(loop_turn(f.loop, 50), ST_OK);
		turns++;
	}
	CHECK(turns < 6); /* it does not spin */
	set_limit((rlim_t)next + 100);
	SPIN(f.loop, f.n == 1);
	close(fd);
	teardown(&f);
}

TESTS({"IPv4", test_ip4}, {"IPv6", test_ip6},
    {"a port that is taken", test_port_taken},
    {"AF_UNIX: mode, in use, removed", test_unix},
    {"AF_UNIX: a stale socket is replaced", test_unix_stale},
    {"AF_UNIX: another file is not", test_unix_not_a_socket},
    {"a socket of a supervisor", test_adopt}, {"texts", test_parse},
    {"paused and resumed", test_pause}, {"a bounded batch", test_batch},
    {"descriptors in reserve", test_reserve}, {"EMFILE", test_emfile})
