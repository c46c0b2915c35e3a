#include "net_util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sockaddr.h"

void
spin_for(struct loop *l, unsigned ms)
{
	uint64_t end = loop_clock_ns() / 1000000 + ms;

	while (loop_clock_ns() / 1000000 < end)
		CHECK_STATUS(loop_turn(l, 5), ST_OK);
}

struct loop *
test_loop(void)
{
	struct loop *l;

	CHECK_STATUS(loop_new(&l), ST_OK);
	return l;
}

static void
nonblocking(int fd)
{
	CHECK_INT(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

bool
listen_at(int *fd, endpoint_t *at, int version, int backlog)
{
	const char *text = version == 4 ? "127.0.0.1" : "::1";
	union sockaddr_any a;
	socklen_t len;

	at->port = 0;
	CHECK_STATUS(ip_parse(&at->ip, span_str(text)), ST_OK);
	len = sockaddr_of_ip(&a, at);
	*fd = socket(a.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return false;
	if (bind(*fd, &a.sa, len) != 0) {
		close(*fd);
		return false;
	}
	CHECK_INT(listen(*fd, backlog), 0);
	CHECK_INT(getsockname(*fd, &a.sa, &len), 0);
	at->port = sockaddr_port(&a);
	nonblocking(*fd);
	return true;
}

void
tcp_pair(int fd[2])
{
	union sockaddr_any a;
	endpoint_t at;
	int listener;

	CHECK(listen_at(&listener, &at, 4, 1));
	fd[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(fd[1] >= 0);
	socklen_t len = sockaddr_of_ip(&a, &at);
	CHECK_INT(connect(fd[1], &a.sa, len), 0);
	fd[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	CHECK(fd[0] >= 0);
	close(listener);
	nonblocking(fd[0]);
	nonblocking(fd[1]);
}

void
unix_pair(int fd[2])
{
	CHECK_INT(socketpair(AF_UNIX,
		      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd),
	    0);
}

void
send_all(struct loop *l, int fd, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	while (len != 0) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
		CHECK(n > 0 || errno == EAGAIN);
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (l != NULL) {
			CHECK_STATUS(loop_turn(l, 5), ST_OK);
		}
	}
}

void
recv_all(struct loop *l, int fd, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len != 0) {
		ssize_t n;
		SPIN(l, (n = recv(fd, p, len, 0)) >= 0 || errno != EAGAIN);
		CHECK(n > 0);
		p += n;
		len -= (size_t)n;
	}
}

int
recv_end(struct loop *l, int fd)
{
	uint8_t buf[4096];
	ssize_t n;

	SPIN(l, (n = recv(fd, buf, sizeof(buf), 0)) >= 0 || errno != EAGAIN);
	return n >= 0 ? (int)n : -errno;
}

unsigned
count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	CHECK(d != NULL);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}
