#include "redis_util.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "harness.h"

#define ARGS_MAX 40

static redisContext *
dial(const struct redis *r)
{
	const struct timeval patience = {.tv_sec = 20};

	return redisConnectUnixWithTimeout(r->socket, patience);
}

/* It is there when it answers. */
static void
await(const struct redis *r)
{
	for (int i = 0; i < 2000; i++) {
		redisContext *c = dial(r);
		redisReply *reply = NULL;
		bool good = false;
		if (c != NULL && c->err == 0)
			reply = redisCommand(c, "PING");
		/* One that wants a password is there too. */
		good = reply != NULL &&
		    (reply->type != REDIS_REPLY_ERROR ||
			strncmp(reply->str, "NOAUTH", 6) == 0);
		if (reply != NULL)
			freeReplyObject(reply);
		if (c != NULL)
			redisFree(c);
		if (good)
			return;
		usleep(10000);
	}
	test_fail(__FILE__, __LINE__, "redis-server does not start");
}

void
redis_restart(struct redis *r, const char *const *more)
{
	const char *args[ARGS_MAX] = {"redis-server", "--dir", r->folder,
	    "--unixsocket", r->socket, "--save", "", "--appendonly", "yes",
	    "--appendfsync", "always", "--daemonize", "no", "--bind",
	    "127.0.0.1", "--port"};
	char port[8];
	size_t n = 16;

	snprintf(port, sizeof(port), "%u", (unsigned)r->port);
	args[n++] = port;
	for (; more != NULL && *more != NULL; more++) {
		CHECK(n < ARGS_MAX - 1);
		args[n++] = *more;
	}
	unlink(r->socket);
	r->pid = fork();
	CHECK(r->pid >= 0);
	if (r->pid == 0) {
		int null = open("/dev/null", O_RDWR);
		/* Also when the case fails. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(args[0], (char *const *)(uintptr_t)args);
		_exit(127);
	}
	await(r);
}

void
redis_start(struct redis *r, const char *const *more)
{
	snprintf(r->folder, sizeof(r->folder), "%s/postern-redis-XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(r->folder) != NULL);
	snprintf(r->socket, sizeof(r->socket), "%s/socket", r->folder);
	redis_restart(r, more);
}

void
redis_kill(struct redis *r)
{
	if (r->pid == 0)
		return;
	kill(r->pid, SIGKILL);
	CHECK(waitpid(r->pid, NULL, 0) == r->pid);
	r->pid = 0;
}

void
redis_stop(struct redis *r)
{
	char command[128];

	redis_kill(r);
	snprintf(command, sizeof(command), "rm -rf '%s'", r->folder);
	CHECK(system(command) == 0);
}

static redisReply *
run(const struct redis *r, redisContext **c, const char *fmt, va_list args)
{
	redisReply *reply;

	*c = dial(r);
	CHECK(*c != NULL && (*c)->err == 0);
	reply = redisvCommand(*c, fmt, args);
	CHECK(reply != NULL);
	return reply;
}

long long
redis_do(const struct redis *r, const char *fmt, ...)
{
	redisContext *c;
	redisReply *reply;
	long long n;
	va_list args;

	va_start(args, fmt);
	reply = run(r, &c, fmt, args);
	va_end(args);
	n = reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
	freeReplyObject(reply);
	redisFree(c);
	return n;
}

void
redis_ask(char *out, size_t cap, const struct redis *r, const char *fmt, ...)
{
	redisContext *c;
	redisReply *reply;
	va_list args;

	va_start(args, fmt);
	reply = run(r, &c, fmt, args);
	va_end(args);
	snprintf(out, cap, "%s", reply->str != NULL ? reply->str : "");
	freeReplyObject(reply);
	redisFree(c);
}

struct shared_place
redis_place(const struct redis *r)
{
	struct shared_place p = {.port = r->port};

	if (r->port != 0)
		snprintf(p.host, sizeof(p.host), "127.0.0.1");
	else
		snprintf(p.path, sizeof(p.path), "%s", r->socket);
	return p;
}

uint16_t
redis_free_port(void)
{
	struct sockaddr_in at = {
	    .sin_family = AF_INET,
	    .sin_addr = {htonl(INADDR_LOOPBACK)},
	};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, len) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&at, &len) == 0);
	close(fd);
	return ntohs(at.sin_port);
}
