#include "net/conn.h"

#include <errno.h>
#include <sys/socket.h>

/* What a peer may still send after its answer before we hang up. */
#define DISCARD_MAX 65536

static bool
is_live(const struct conn *c)
{
	return c->stream != NULL;
}

static void
fail(struct conn *c, enum status why)
{
	conn_close(c, STREAM_ORDERLY);
	c->ops->over(c, why);
}

/* --- reading --- */

/* Read what is there and fits. False when the conn ended. */
static bool
read_ahead(struct conn *c)
{
	struct stream *s = c->stream;

	while (s->readable && !c->eof) {
		enum status st = ST_OK;
		if (c->in == NULL &&
		    (st = chunk_take(c->chunks, &c->in)) != ST_OK) {
			fail(c, st);
			return false;
		}
		size_t room = chunk_room(c->in);
		if (room == 0)
			break;
		ssize_t n = recv(s->fd, c->in->data + c->in->end, room, 0);
		if (n > 0) {
			chunk_grow(c->in, (size_t)n);
		} else if (n == 0) {
			/* Left readable: whoever takes over sees it, too. */
			c->eof = true;
		} else if (errno == EAGAIN) {
			s->readable = false;
		} else if (errno != EINTR) {
			fail(c, ST_RESET);
			return false;
		}
	}
	if (chunk_bytes(c->in).len == 0)
		chunk_give(c->chunks, &c->in);
	return true;
}

/* Tell the owner what has come. */
static void
report(struct conn *c)
{
	size_t unread = chunk_bytes(c->in).len;

	if (!c->paused && unread > c->seen) {
		c->seen = (uint32_t)unread;
		c->ops->data(c);
		if (is_live(c) && !c->paused && !c->finishing &&
		    c->in != NULL && chunk_room(c->in) == 0)
			c->ops->full(c);
	}
	if (is_live(c) && !c->finishing && c->eof && !c->eof_told) {
		c->eof_told = true;
		c->ops->eof(c);
	}
}

/* --- writing --- */

/* Send what waits. False when the conn ended. */
static bool
write_out(struct conn *c)
{
	struct stream *s = c->stream;

	if (c->out == NULL)
		return true;
	while (s->writable && chunk_bytes(c->out).len != 0) {
		span_t b = chunk_bytes(c->out);
		ssize_t n = send(s->fd, b.ptr, b.len, MSG_NOSIGNAL);
		if (n >= 0) {
			chunk_consume(c->out, (size_t)n);
		} else if (errno == EAGAIN) {
			s->writable = false;
		} else if (errno != EINTR) {
			fail(c, ST_RESET);
			return false;
		}
	}
	if (chunk_bytes(c->out).len != 0)
		return true;
	chunk_give(c->chunks, &c->out);
	if (!c->finishing && c->ops->drained != NULL)
		c->ops->drained(c);
	return is_live(c);
}

/* Send FIN once all has left, then wait for the peer's. */
static void
finish(struct conn *c)
{
	struct stream *s = c->stream;
	uint8_t sink[4096];
	ssize_t n;

	if (c->out != NULL)
		return;
	if (!c->fin_sent) {
		c->fin_sent = true;
		if (shutdown(s->fd, SHUT_WR) != 0) {
			fail(c, ST_RESET);
			return;
		}
	}
	while (s->readable) {
		n = recv(s->fd, sink, sizeof(sink), 0);
		if (n > 0 && (c->discarded += (uint32_t)n) < DISCARD_MAX)
			continue;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			s->readable = false;
			return;
		}
		/* Its end, its reset, or its will to talk on: the answer has
		 * had its chance. */
		fail(c, ST_CLOSED);
		return;
	}
}

/* --- the loop --- */

static void
turn(struct conn *c)
{
	if (!write_out(c))
		return;
	if (c->finishing) {
		finish(c);
		return;
	}
	if (read_ahead(c))
		report(c);
}

static void
on_stream(struct stream *s)
{
	struct conn *c = s->owner;
	/* With a full chunk nothing would be read, and a reset not seen. */
	bool blind = c->eof || (c->in != NULL && chunk_room(c->in) == 0);

	if (blind && stream_error(s) != 0) {
		fail(c, ST_RESET);
		return;
	}
	turn(c);
}

static void
on_again(struct task *t)
{
	turn(loop_owner(t, struct conn, again));
}

static void
on_linger(struct deadline *d)
{
	fail(loop_owner(d, struct conn, linger), ST_CLOSED);
}

enum status
conn_open(struct conn *c, struct loop *l, struct chunk_pool *chunks,
    struct stream *s, int fd, const struct conn_ops *ops)
{
	*c = (struct conn){
	    .ops = ops,
	    .loop = l,
	    .chunks = chunks,
	    .paused = true,
	};
	deadline_init(&c->linger, on_linger);
	task_init(&c->again, on_again);
	enum status st = stream_open(s, l, fd, on_stream, c);
	if (st == ST_OK)
		c->stream = s;
	return st;
}

span_t
conn_unread(const struct conn *c)
{
	return chunk_bytes(c->in);
}

void
conn_consume(struct conn *c, size_t n)
{
	if (c->in == NULL)
		return;
	chunk_consume(c->in, n);
	/* There was no room for it before. */
	if (is_live(c) && c->stream->readable)
		task_defer(c->loop, &c->again);
	c->seen = (uint32_t)chunk_bytes(c->in).len;
	if (c->seen == 0)
		chunk_give(c->chunks, &c->in);
}

void
conn_pause(struct conn *c)
{
	c->paused = true;
}

void
conn_resume(struct conn *c)
{
	if (!is_live(c))
		return;
	c->paused = false;
	c->seen = 0;
	task_defer(c->loop, &c->again);
}

size_t
conn_waiting(const struct conn *c)
{
	return chunk_bytes(c->out).len;
}

enum status
conn_write(struct conn *c, span_t bytes)
{
	enum status st;

	if (!is_live(c) || c->finishing)
		return ST_RESET;
	if (c->out != NULL)
		return chunk_append(c->out, bytes);
	if (bytes.len > c->chunks->size)
		return ST_NO_SPACE;
	while (bytes.len != 0) {
		ssize_t n =
		    send(c->stream->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
		if (n >= 0) {
			bytes = span_of(bytes.ptr + n, bytes.len - (size_t)n);
		} else if (errno == EAGAIN) {
			c->stream->writable = false;
			break;
		} else if (errno != EINTR) {
			return ST_RESET;
		}
	}
	if (bytes.len == 0)
		return ST_OK;
	if ((st = chunk_take(c->chunks, &c->out)) != ST_OK)
		return st;
	return chunk_append(c->out, bytes);
}

void
conn_finish(struct conn *c, uint64_t linger_ms)
{
	if (!is_live(c) || c->finishing)
		return;
	c->finishing = true;
	chunk_give(c->chunks, &c->in);
	deadline_start(c->loop, &c->linger, linger_ms);
	task_defer(c->loop, &c->again);
}

/* Take what belongs to the conn away from it, but for the stream. */
static void
release(struct conn *c)
{
	c->stream = NULL;
	deadline_stop(c->loop, &c->linger);
	task_drop(&c->again);
	chunk_give(c->chunks, &c->out);
}

void
conn_close(struct conn *c, enum stream_end how)
{
	if (!is_live(c))
		return;
	stream_close(c->stream, how);
	chunk_give(c->chunks, &c->in);
	release(c);
}

enum status
conn_detach(struct conn *c, struct chunk **early)
{
	*early = NULL;
	if (!is_live(c) || c->out != NULL)
		return ST_BUSY;
	*early = c->in;
	c->in = NULL;
	release(c);
	return ST_OK;
}
