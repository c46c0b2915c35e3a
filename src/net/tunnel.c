#include "net/tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "net/pipes.h"

#define PIPE_SIZE (256 * 1024)
#define SCRATCH_SIZE (256 * 1024)
/* A direction that moves so much in one slice is worth a pipe; one that moves
 * less than a quarter of it is not any more. */
#define BULK (64 * 1024)

struct relay {
	struct loop *loop;
	struct chunk_pool *chunks;
	struct pipe_pool pipes;
	struct relay_counts counts;
	size_t scratch_size;
	uint8_t scratch[];
};

/* What came of a step. */
enum step {
	STEP_MOVED, /* go on */
	STEP_STUCK, /* nothing to do until a stream is ready */
	STEP_OVER, /* the tunnel has been closed */
};

enum status
relay_new(struct relay **out, struct loop *l, struct chunk_pool *chunks,
    const struct relay_config *config)
{
	size_t scratch =
	    config->scratch_size != 0 ? config->scratch_size : SCRATCH_SIZE;
	struct relay *r = malloc(sizeof(*r) + scratch);

	*out = r;
	if (r == NULL)
		return ST_NO_MEMORY;
	*r = (struct relay){
	    .loop = l, .chunks = chunks, .scratch_size = scratch};
	pipe_pool_init(&r->pipes,
	    config->pipe_size != 0 ? config->pipe_size : PIPE_SIZE,
	    config->pipes);
	signal(SIGPIPE, SIG_IGN);
	return ST_OK;
}

void
relay_free(struct relay **r)
{
	if (*r == NULL)
		return;
	pipe_pool_clear(&(*r)->pipes);
	free(*r);
	*r = NULL;
}

const struct relay_counts *
relay_counts(struct relay *r)
{
	r->counts.pipes_lent = r->pipes.lent;
	r->counts.pipes_kept = r->pipes.kept;
	return &r->counts;
}

static enum tunnel_side
side_of(const struct tunnel_end *e)
{
	return (enum tunnel_side)(e - e->tunnel->end);
}

uint64_t
tunnel_bytes(const struct tunnel *t, enum tunnel_side from)
{
	return t->end[from].moved;
}

/* --- the end --- */

void
tunnel_close(struct tunnel *t, enum status reason)
{
	struct relay *r = t->relay;
	enum stream_end how =
	    reason == ST_CLOSED ? STREAM_ORDERLY : STREAM_ABORT;

	if (t->reason != ST_OK)
		return;
	t->reason = reason;
	deadline_stop(r->loop, &t->deadline);
	for (int i = 0; i < 2; i++) {
		stream_close(t->end[i].stream, how);
		chunk_give(r->chunks, &t->end[i].early);
		pipe_give(&r->pipes, &t->end[i].pipe);
	}
	r->counts.tunnels--;
	task_defer(r->loop, &t->task);
}

static enum step
over(struct tunnel *t, enum status reason)
{
	tunnel_close(t, reason);
	return STEP_OVER;
}

/* What a failed call on S means. */
static enum step
failed(struct tunnel *t, bool *ready)
{
	if (errno == EINTR)
		return STEP_MOVED;
	if (errno == EAGAIN) {
		*ready = false;
		return STEP_STUCK;
	}
	return over(t, ST_RESET);
}

/* --- moving --- */

/* Count N bytes taken out of E's stream. */
static enum step
count(struct tunnel_end *e, size_t n)
{
	struct tunnel *t = e->tunnel;

	e->moved += n;
	t->last = loop_now(t->relay->loop);
	t->relay->counts.bytes[side_of(e)] += n;
	if (t->ops->moved != NULL)
		t->ops->moved(t, side_of(e), n);
	return t->reason == ST_OK ? STEP_MOVED : STEP_OVER;
}

/* How many bytes E may send now, WANT at most. */
static size_t
allowance(const struct tunnel_end *e, size_t want)
{
	struct tunnel *t = e->tunnel;
	uint64_t left = e->ceiling - e->moved;

	if (left < want)
		want = (size_t)left;
	if (want != 0 && t->ops->allow != NULL) {
		left = t->ops->allow(t, side_of(e));
		if (left < want)
			want = (size_t)left;
	}
	return want;
}

/* Take N bytes, which have been looked at, out of S. */
static bool
discard(struct relay *r, struct stream *s, size_t n)
{
	while (n != 0) {
		/* TCP drops them where they are; AF_UNIX copies them onto the
		 * scratch buffer, whose bytes have been sent. */
		ssize_t took = recv(s->fd, r->scratch, n, MSG_TRUNC);
		if (took > 0)
			n -= (size_t)took; /* less at an urgent mark */
		else if (took == 0 || errno != EINTR)
			return false;
	}
	return true;
}

/* Look at what E has, send what the peer takes, remove that. */
static enum step
move_looking(struct tunnel_end *e, size_t want)
{
	struct tunnel *t = e->tunnel;
	struct relay *r = t->relay;
	struct stream *from = e->stream, *to = e->peer->stream;
	size_t allowed =
	    allowance(e, want < r->scratch_size ? want : r->scratch_size);

	/* With nothing allowed, one byte tells an end from an excess. */
	ssize_t n =
	    recv(from->fd, r->scratch, allowed != 0 ? allowed : 1, MSG_PEEK);
	if (n < 0)
		return failed(t, &from->readable);
	if (n == 0) {
		e->eof = true;
		return STEP_MOVED;
	}
	if (allowed == 0)
		return over(t, ST_QUOTA_BYTES);

	ssize_t sent = send(to->fd, r->scratch, (size_t)n, MSG_NOSIGNAL);
	if (sent < 0)
		return failed(t, &to->writable);
	if (sent < n)
		to->writable = false;
	if (!discard(r, from, (size_t)sent))
		return over(t, ST_SYS);
	return count(e, (size_t)sent);
}

/* Send what was read before the tunnel was. */
static enum step
move_early(struct tunnel_end *e)
{
	struct tunnel *t = e->tunnel;
	struct stream *to = e->peer->stream;
	span_t b = chunk_bytes(e->early);
	size_t allowed = allowance(e, b.len);

	if (allowed == 0)
		return over(t, ST_QUOTA_BYTES);
	ssize_t sent = send(to->fd, b.ptr, allowed, MSG_NOSIGNAL);
	if (sent < 0)
		return failed(t, &to->writable);
	chunk_consume(e->early, (size_t)sent);
	if (chunk_bytes(e->early).len == 0)
		chunk_give(t->relay->chunks, &e->early);
	return count(e, (size_t)sent);
}

/* Splice what the pipe holds to the peer. */
static enum step
move_out(struct tunnel_end *e)
{
	struct stream *to = e->peer->stream;
	ssize_t n = splice(e->pipe->out, NULL, to->fd, NULL, e->pipe->held,
	    SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

	if (n < 0)
		return failed(e->tunnel, &to->writable);
	e->pipe->held -= (uint32_t)n;
	return STEP_MOVED;
}

/* Splice what E has into its pipe, which is empty. */
static enum step
move_in(struct tunnel_end *e, size_t want)
{
	size_t allowed =
	    allowance(e, want < e->pipe->size ? want : e->pipe->size);

	if (allowed == 0)
		return move_looking(e, want);
	ssize_t n = splice(e->stream->fd, NULL, e->pipe->in, NULL, allowed,
	    SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	if (n < 0 && errno != EAGAIN)
		return failed(e->tunnel, &e->stream->readable);
	/* Silence looks the same as the mark of urgent data, at which splice
	 * stops for good: a look tells them apart. */
	if (n <= 0)
		return move_looking(e, want);
	e->pipe->held += (uint32_t)n;
	return count(e, (size_t)n);
}

/* E has sent all it will, and its peer has all of it. */
static enum step
forward_end(struct tunnel_end *e)
{
	if (e->shut)
		return STEP_STUCK;
	e->shut = true;
	if (e->peer->shut) /* closing says it as well */
		return over(e->tunnel, ST_CLOSED);
	if (shutdown(e->peer->stream->fd, SHUT_WR) != 0)
		return over(e->tunnel, ST_RESET);
	return STEP_STUCK;
}

/* One step from E to its peer, WANT bytes at most. */
static enum step
step(struct tunnel_end *e, size_t want)
{
	bool held = e->pipe != NULL && e->pipe->held != 0;

	if (e->eof && e->early == NULL && !held)
		return forward_end(e);
	if (!e->peer->stream->writable)
		return STEP_STUCK;
	if (e->early != NULL)
		return move_early(e);
	if (held)
		return move_out(e);
	if (!e->stream->readable)
		return STEP_STUCK;
	if (e->bulk && e->pipe == NULL)
		e->pipe = pipe_take(&e->tunnel->relay->pipes);
	return e->pipe != NULL ? move_in(e, want) : move_looking(e, want);
}

/* Move from E to its peer, up to a slice. */
static enum step
move(struct tunnel_end *e)
{
	uint64_t before = e->moved;
	enum step result = STEP_MOVED;

	while (result == STEP_MOVED && e->moved - before < TUNNEL_SLICE)
		result = step(e, (size_t)(TUNNEL_SLICE - (e->moved - before)));
	if (result == STEP_OVER)
		return result;
	if (e->moved - before >= BULK)
		e->bulk = true;
	else if (e->moved != before && e->moved - before < BULK / 4)
		e->bulk = false;
	if (e->pipe != NULL && e->pipe->held == 0)
		pipe_give(&e->tunnel->relay->pipes, &e->pipe);
	return result;
}

/* An end that has finished sending, or whose peer takes no more, is not read:
 * its reset would pass unseen, as the kernel tells of it only once. */
static bool
is_reset_unseen(const struct tunnel_end *e)
{
	return (e->eof || !e->peer->stream->writable) &&
	    stream_error(e->stream) != 0;
}

static void
turn(struct tunnel *t)
{
	enum step a, b;

	if ((a = move(&t->end[0])) == STEP_OVER ||
	    (b = move(&t->end[1])) == STEP_OVER)
		return;
	if (is_reset_unseen(&t->end[0]) || is_reset_unseen(&t->end[1])) {
		tunnel_close(t, ST_RESET);
		return;
	}
	if (a == STEP_MOVED || b == STEP_MOVED)
		task_defer(t->relay->loop, &t->task);
}

/* --- the loop --- */

static void
on_stream(struct stream *s)
{
	struct tunnel_end *e = s->owner;

	turn(e->tunnel);
}

static void
on_task(struct task *task)
{
	struct tunnel *t = loop_owner(task, struct tunnel, task);

	if (t->reason != ST_OK)
		t->ops->over(t, t->reason);
	else
		turn(t);
}

/* Milliseconds of LIMIT (0: none) that are left since SINCE. */
static uint64_t
left(uint64_t limit, uint64_t since, uint64_t now)
{
	if (limit == 0)
		return UINT64_MAX;
	return now - since < limit ? limit - (now - since) : 0;
}

/* A byte does not move the deadline: when it comes, it is seen how long the
 * silence has been, and the deadline put to where it belongs. */
static void
on_deadline(struct deadline *d)
{
	struct tunnel *t = loop_owner(d, struct tunnel, deadline);
	uint64_t now = loop_now(t->relay->loop);
	uint64_t idle = left(t->idle_ms, t->last, now);
	uint64_t life = left(t->lifetime_ms, t->born, now);

	if (life == 0)
		tunnel_close(t, ST_LIFETIME);
	else if (idle == 0)
		tunnel_close(t, ST_IDLE);
	else if (life != UINT64_MAX || idle != UINT64_MAX)
		deadline_start(t->relay->loop, d, idle < life ? idle : life);
}

void
tunnel_start(struct tunnel *t, struct relay *r, struct stream *client,
    struct stream *target, struct chunk *early,
    const struct tunnel_limits *limits, const struct tunnel_ops *ops)
{
	struct stream *streams[2] = {client, target};
	uint64_t ceilings[2] = {limits->up_max, limits->down_max};

	*t = (struct tunnel){
	    .relay = r,
	    .ops = ops,
	    .born = loop_now(r->loop),
	    .last = loop_now(r->loop),
	    .idle_ms = limits->idle_ms,
	    .lifetime_ms = limits->lifetime_ms,
	};
	for (int i = 0; i < 2; i++) {
		t->end[i] = (struct tunnel_end){
		    .peer = &t->end[1 - i],
		    .tunnel = t,
		    .stream = streams[i],
		    .ceiling = ceilings[i] != 0 ? ceilings[i] : UINT64_MAX,
		};
		stream_handle(streams[i], on_stream, &t->end[i]);
	}
	t->end[TUNNEL_CLIENT].early = early;
	deadline_init(&t->deadline, on_deadline);
	on_deadline(&t->deadline);
	task_init(&t->task, on_task);
	task_defer(r->loop, &t->task);
	r->counts.tunnels++;
}
