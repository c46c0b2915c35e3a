#include "daemon/session.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/wipe.h"
#include "daemon/log.h"
#include "daemon/session_impl.h"
#include "http/proxy_line.h"

/* How often the log says that connections are refused. */
#define OVERLOADED_LOG_MS 60000

size_t
session_size(void)
{
	return sizeof(struct session);
}

static struct session *
session_of(struct conn *c)
{
	return loop_owner(c, struct session, conn);
}

/* --- the end --- */

static void
release(struct task *t)
{
	struct session *s = loop_owner(t, struct session, release);
	struct gateway *g = s->gateway;
	handle_t self = s->self;

	/* Names of targets and proofs must not outlive their session. */
	wipe(s, sizeof(*s));
	slab_release(&g->sessions, self);
}

/* Let go of everything S holds but its slot. */
static void
let_go(struct session *s)
{
	struct gateway *g = s->gateway;
	/* What was answered is to arrive, even if a slow reader is closed for
	 * being idle; what a tunnel cuts off, it has reset itself. */
	enum stream_end how =
	    s->reason == ST_RESET ? STREAM_ABORT : STREAM_ORDERLY;

	deadline_stop(g->loop, &s->deadline);
	if (s->state == SESSION_CHECK)
		pending_leave(&g->gate.pending, s->self);
	resolver_cancel(g->resolver, s->query);
	dialer_cancel(g->dialer, s->dial);
	if (s->dialled)
		dialer_leave(g->dialer, s->pinned);
	s->dialled = false;
	ledger_store_close(g->store, &s->account);
	circuits_close(&g->circuits, &s->circuit);
	document_unref(&s->document);
	conn_close(&s->conn, how);
	stream_close(&s->client, how);
	stream_close(&s->target_stream, how);
}

static void
session_over(struct session *s, enum status reason)
{
	struct gateway *g = s->gateway;

	if (s->reason == ST_OK)
		s->reason = reason == ST_OK ? ST_CLOSED : reason;
	let_go(s);
	s->state = SESSION_OVER;
	g->metrics.ends[s->reason]++;
	LOG(EV_SESSION_ENDED, log_status(KEY_STATUS, s->reason));
	task_defer(g->loop, &s->release);
}

void
session_close(struct session *s, enum status reason)
{
	if (s->state == SESSION_OVER)
		return;
	if (s->state == SESSION_TUNNEL)
		tunnel_close(&s->tunnel, reason); /* its end is ours */
	else
		session_over(s, reason);
}

void
session_tunnel_over(struct session *s, enum status reason)
{
	s->gateway->tunnels--;
	session_over(s, reason);
}

/* --- the PROXY line --- */

/* The connection is on circuit ID. False: it was refused. */
static bool
join_circuit(struct session *s, uint32_t id)
{
	enum status st = circuits_open(&s->gateway->circuits, &s->circuit, id);

	s->circuit_id = id;
	s->has_circuit = true;
	if (st == ST_OK)
		return true;
	s->keep = false;
	session_answer(s, st, NULL, 60);
	return false;
}

/* Read the PROXY line. True: there may be a head behind it. */
static bool
read_line(struct session *s)
{
	struct proxy_line line;
	size_t used;
	enum status st = proxy_line_parse(&line, &used, conn_unread(&s->conn));

	if (st == ST_MORE)
		return false;
	if (st != ST_OK) {
		/* Not HTTP's business: whoever is there is not our tor, and
		 * no answer would be understood. */
		session_close(s, st);
		return false;
	}
	conn_consume(&s->conn, used);
	if (!join_circuit(s, circuit_number(line.circuit)))
		return false;
	session_await_head(s);
	return true;
}

/* --- what the connection tells --- */

static void
on_data(struct conn *c)
{
	struct session *s = session_of(c);

	if (s->state == SESSION_LINE && !read_line(s))
		return;
	if (s->state == SESSION_HEAD)
		session_read_head(s);
}

static void
on_full(struct conn *c)
{
	struct session *s = session_of(c);

	if (s->state == SESSION_HEAD)
		session_answer(s, ST_HTTP_TOO_LARGE, NULL, 0);
}

static void
on_eof(struct conn *c)
{
	struct session *s = session_of(c);

	/* Whoever ends before the request is whole wants nothing. Later it is
	 * a half-close: the tunnel, or the answer, goes on. */
	if (s->state == SESSION_LINE || s->state == SESSION_HEAD)
		session_close(s, ST_CLOSED);
}

static void
on_drained(struct conn *c)
{
	struct session *s = session_of(c);

	if (s->state == SESSION_GRANT)
		session_start_tunnel(s);
	else if (s->state == SESSION_DOCUMENT)
		session_send_document(s);
}

static void
on_over(struct conn *c, enum status why)
{
	struct session *s = session_of(c);

	session_close(s, s->reason != ST_OK ? s->reason : why);
}

static const struct conn_ops conn_ops = {
    .data = on_data,
    .full = on_full,
    .eof = on_eof,
    .drained = on_drained,
    .over = on_over,
};

static void
on_deadline(struct deadline *d)
{
	struct session *s = loop_owner(d, struct session, deadline);
	bool began = conn_unread(&s->conn).len > 0;

	/* A client that has had its answer and asks no more is told nothing:
	 * the 408 could meet its next request on the way. */
	if (s->state == SESSION_HEAD && (began || s->attempts == 0))
		session_answer(s, ST_HTTP_TIMEOUT, NULL, 0);
	else
		session_close(s, ST_IDLE);
}

/* --- the beginning --- */

/* No session is free: say so as far as that needs no waiting. */
static void
refuse(struct gateway *g, int fd)
{
	char text[ANSWER_MAX];
	size_t len;
	struct answer a = {
	    .status = ST_OVERLOADED, .retry_after = 10, .close = true};
	uint64_t now = loop_now(g->loop);

	g->metrics.refused++;
	g->metrics.answers[ST_OVERLOADED]++;
	if (g->overloaded_at == 0 ||
	    now - g->overloaded_at > OVERLOADED_LOG_MS) {
		g->overloaded_at = now;
		LOG(EV_OVERLOADED,
		    log_number(KEY_SESSIONS, g->sessions.capacity));
	}
	if (answer_write(text, sizeof(text), &len, &a) == ST_OK &&
	    send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
		/* Unread bytes would make close() send RST, and that could
		 * overtake the answer. */
		shutdown(fd, SHUT_WR);
		while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0)
			continue;
	}
	close(fd);
}

/* A session over FD; NULL if there is none, and FD is closed. */
static struct session *
session_new(struct gateway *g, int fd)
{
	struct session *s;
	handle_t self;
	void *object;

	g->metrics.connections++;
	if (slab_take(&g->sessions, &self, &object) != ST_OK) {
		refuse(g, fd);
		return NULL;
	}
	s = object;
	s->gateway = g;
	s->self = self;
	stream_init(&s->client);
	stream_init(&s->target_stream);
	deadline_init(&s->deadline, on_deadline);
	task_init(&s->release, release);
	if (conn_open(&s->conn, g->loop, &g->chunks, &s->client, fd,
		&conn_ops) != ST_OK) {
		slab_release(&g->sessions, self);
		return NULL;
	}
	s->state = SESSION_HEAD;
	session_await_head(s);
	return s;
}

void
session_accept(struct listener *ls, int fd, void *gateway)
{
	struct gateway *g = gateway;
	struct session *s = session_new(g, fd);

	(void)ls;
	if (s != NULL && g->config->gateway.proxy_line == PROXY_LINE_REQUIRED)
		s->state = SESSION_LINE;
}

void
session_accept_inside(
    struct gateway *g, int fd, const uint8_t id[static GATE_ONCE_ID])
{
	struct session *s = session_new(g, fd);

	if (s == NULL)
		return;
	s->once = true;
	memcpy(s->once_id, id, GATE_ONCE_ID);
}

void
session_await_head(struct session *s)
{
	const struct config *c = s->gateway->config;
	struct head_limits limits = {
	    .bytes = (uint32_t)c->limits.head_bytes,
	    .fields = HEAD_FIELDS_DEFAULT,
	};

	s->state = SESSION_HEAD;
	s->keep = true;
	s->no_content = false;
	s->left_known = false;
	head_parser_init(&s->parser, &limits);
	deadline_start(
	    s->gateway->loop, &s->deadline, c->limits.head_timeout_ms);
	conn_resume(&s->conn);
}

/* --- all of them --- */

void
sessions_drain(struct gateway *g)
{
	for (uint32_t i = 0; i < g->sessions.capacity; i++) {
		handle_t h;
		struct session *s = slab_nth(&g->sessions, i, &h);
		if (s == NULL)
			continue;
		if (s->state == SESSION_LINE ||
		    (s->state == SESSION_HEAD &&
			conn_unread(&s->conn).len == 0))
			session_close(s, ST_DRAINING);
	}
}

void
sessions_close(struct gateway *g, enum status reason)
{
	for (uint32_t i = 0; i < g->sessions.capacity; i++) {
		handle_t h;
		struct session *s = slab_nth(&g->sessions, i, &h);
		if (s != NULL)
			session_close(s, reason);
	}
}
