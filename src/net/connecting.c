#include "net/connecting.h"

#include <errno.h>
#include <unistd.h>

#include "net/stream.h"

void
connecting_init(struct connecting *c,
    void (*done)(struct connecting *c, enum status status, int fd))
{
	*c = (struct connecting){.fd = -1, .done = done};
}

void
connecting_stop(struct connecting *c)
{
	if (c->fd < 0)
		return;
	watch_stop(&c->watch);
	close(c->fd);
	c->fd = -1;
}

static void
on_ready(struct watch *w, unsigned what)
{
	struct connecting *c = loop_owner(w, struct connecting, watch);
	int fd = c->fd, error = 0;
	socklen_t len = sizeof(error);

	(void)what;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error != 0) {
		connecting_stop(c);
		errno = error;
		c->done(c, ST_CONNECT_REFUSED, -1);
		return;
	}
	watch_stop(&c->watch);
	c->fd = -1;
	c->done(c, ST_OK, fd);
}

enum status
connecting_start(struct connecting *c, struct loop *l,
    const union sockaddr_any *a, socklen_t len)
{
	enum status st = ST_OK;
	int error;

	connecting_stop(c);
	c->fd = socket(
	    a->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		return ST_SYS;
	stream_prepare(c->fd);
	watch_init(&c->watch, l, c->fd, on_ready);
	/* One that is connected at once is writable at the next turn. */
	if (connect(c->fd, &a->sa, len) != 0 && errno != EINPROGRESS)
		st = errno == EACCES || errno == EPERM ? ST_PERMISSION
						       : ST_CONNECT_REFUSED;
	else
		st = watch_start(&c->watch, WATCH_WRITE);
	if (st == ST_OK)
		return ST_OK;
	error = errno;
	connecting_stop(c);
	errno = error;
	return st;
}
