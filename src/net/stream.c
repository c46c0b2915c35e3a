#include "net/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

void
stream_init(struct stream *s)
{
	*s = (struct stream){.fd = -1};
}

bool
stream_is_open(const struct stream *s)
{
	return s->fd >= 0;
}

void
stream_prepare(int fd)
{
	int on = 1;

	/* Either fails on a socket that does not know it, and need not. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
}

static void
on_watch(struct watch *w, unsigned what)
{
	struct stream *s = loop_owner(w, struct stream, watch);

	if ((what & WATCH_READ) != 0)
		s->readable = true;
	if ((what & WATCH_WRITE) != 0)
		s->writable = true;
	s->ready(s);
}

enum status
stream_open(struct stream *s, struct loop *l, int fd,
    void (*ready)(struct stream *s), void *owner)
{
	*s = (struct stream){
	    .fd = fd, .writable = true, .ready = ready, .owner = owner};
	watch_init(&s->watch, l, fd, on_watch);
	if (watch_start(&s->watch, WATCH_READ | WATCH_WRITE | WATCH_EDGE) ==
	    ST_OK)
		return ST_OK;
	stream_close(s, STREAM_ORDERLY);
	return ST_SYS;
}

void
stream_handle(struct stream *s, void (*ready)(struct stream *s), void *owner)
{
	s->ready = ready;
	s->owner = owner;
}

int
stream_error(const struct stream *s)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		return 0;
	return error;
}

void
stream_close(struct stream *s, enum stream_end how)
{
	const struct linger now = {.l_onoff = 1, .l_linger = 0};

	if (!stream_is_open(s))
		return;
	watch_stop(&s->watch);
	if (how == STREAM_ABORT)
		(void)setsockopt(
		    s->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(s->fd);
	s->fd = -1;
	s->readable = s->writable = false;
}
