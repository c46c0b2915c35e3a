#include "client/errand.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/wipe.h"
#include "client/client_impl.h"
#include "client/door.h"
#include "client/peer.h"
#include "client/reply.h"
#include "client/errand_impl.h"
#include "client/socks5.h"

/* For a request to arrive. */
#define HEAD_MS 20000
/* For a last answer to be taken. */
#define LINGER_MS 2000

size_t
errand_size(void)
{
	return sizeof(struct errand);
}

static struct errand *
errand_of(struct conn *conn)
{
	return loop_owner(conn, struct errand, conn);
}

/* --- the end ----------------------------------------------------------------- */

static void
release(struct task *t)
{
	struct errand *s = loop_owner(t, struct errand, release);
	struct client *c = s->client;
	handle_t self = s->self;

	wipe(s, sizeof(*s));
	slab_release(&c->errands, self);
}

static void
over(struct errand *s)
{
	struct client *c = s->client;

	if (s->state == ERRAND_OVER)
		return;
	s->state = ERRAND_OVER;
	deadline_stop(c->loop, &s->deadline);
	hop_close(&s->hop);
	conn_close(&s->conn, STREAM_ORDERLY);
	stream_close(&s->stream, STREAM_ORDERLY);
	task_defer(c->loop, &s->release);
}

void
errand_close(struct errand *s)
{
	if (s->state == ERRAND_TUNNEL)
		tunnel_close(&s->tunnel, ST_CLOSED); /* its end is ours */
	else
		over(s);
}

void
errand_tunnel_over(struct errand *s)
{
	s->client->tunnels--;
	s->state = ERRAND_LAST;
	over(s);
}

/* Send BYTES as the last thing, and close. */
static void
finish_with(struct errand *s, span_t bytes)
{
	s->state = ERRAND_LAST;
	hop_close(&s->hop);
	deadline_stop(s->client->loop, &s->deadline);
	if (conn_write(&s->conn, bytes) != ST_OK)
		over(s);
	else
		conn_finish(&s->conn, LINGER_MS);
}

void
errand_fail(struct errand *s, const struct outcome *o)
{
	uint8_t socks[SOCKS5_REPLY_LENGTH];
	char http[REPLY_MAX];

	s->client->refused++;
	if (s->socks) {
		socks5_write_reply(socks, reply_socks(o));
		finish_with(s, span_of(socks, sizeof(socks)));
	} else {
		finish_with(s, span_of(http, reply_http(http, o)));
	}
	/* A byte or a code is little: the user can see the rest here. */
	if (o->trouble == TROUBLE_ANSWER)
		client_note(s->client, NOTE_PROBLEM, "refused: %s%s%s%s",
		    outcome_text(o), *outcome_cure(o) != '\0' ? " (" : "",
		    outcome_cure(o), *outcome_cure(o) != '\0' ? ")" : "");
}

static void
fail(struct errand *s, enum trouble t, enum status st)
{
	struct outcome o;

	outcome_set(&o, t, st, "");
	errand_fail(s, &o);
}

/* --- who may ------------------------------------------------------------------ */

/* S was let in by what it is, whatever it says. */
static bool
is_known(const struct errand *s)
{
	return s->client->config.same_user ? s->ours : s->unix_socket;
}

/* --- where to ------------------------------------------------------------------ */

/* Take over the destination; false (and answered) when it is none. */
static bool
take_target(struct errand *s, const struct authority *to)
{
	char text[IP_TEXT_MAX];
	struct out out = out_to(s->target, sizeof(s->target));
	span_t host = to->host;
	size_t len;

	if (to->kind == HOST_LITERAL)
		host = span_of(text, ip_format(text, &to->ip));
	memcpy(s->host, host.ptr, host.len);
	s->host_len = host.len;
	if (to->kind == HOST_LITERAL && to->ip.version == 6) {
		out_char(&out, '[');
		out_span(&out, host);
		out_char(&out, ']');
	} else {
		out_span(&out, host);
	}
	out_char(&out, ':');
	out_decimal(&out, to->port);
	out_char(&out, '\0');
	if (out_status(&out, &len) == ST_OK)
		return true;
	fail(s, TROUBLE_ANSWER, ST_HTTP_AUTHORITY);
	return false;
}

/* The program has said all: go for it. */
static void
go(struct errand *s)
{
	deadline_stop(s->client->loop, &s->deadline);
	conn_pause(&s->conn);
	s->client->requests++;
	errand_begin(s);
}

/* --- HTTP ----------------------------------------------------------------------- */

static void
read_head(struct errand *s)
{
	const char *token = s->client->config.token;
	struct head head;
	size_t used;
	enum status st =
	    head_parse(&s->parser, &head, &used, conn_unread(&s->conn));

	if (st == ST_MORE)
		return;
	if (st == ST_OK && !is_known(s) &&
	    !reply_authorized(head.authorization, token)) {
		fail(s, TROUBLE_TOKEN, ST_OK);
		return;
	}
	if (st == ST_OK && head.method != HTTP_CONNECT)
		st = head.method == HTTP_OTHER ? ST_HTTP_METHOD : ST_HTTP_PATH;
	if (st != ST_OK) {
		fail(s, TROUBLE_ANSWER, st);
		return;
	}
	if (!take_target(s, &head.target))
		return;
	conn_consume(&s->conn, used);
	go(s);
}

/* --- SOCKS ---------------------------------------------------------------------- */

static bool
send_bytes(struct errand *s, const uint8_t *bytes, size_t len)
{
	if (conn_write(&s->conn, span_of(bytes, len)) == ST_OK)
		return true;
	over(s);
	return false;
}

/* True: there may be more to read. */
static bool
read_offer(struct errand *s)
{
	struct socks5_offer offer;
	enum socks5_method method = SOCKS5_NO_METHOD;
	uint8_t choice[SOCKS5_CHOICE_LENGTH];
	size_t used;
	enum status st =
	    socks5_read_offer(&offer, &used, conn_unread(&s->conn));

	if (st == ST_MORE)
		return false;
	if (st != ST_OK) {
		over(s);
		return false;
	}
	conn_consume(&s->conn, used);
	if (offer.open && is_known(s))
		method = SOCKS5_OPEN;
	else if (offer.password)
		method = SOCKS5_PASSWORD;
	socks5_write_choice(choice, method);
	if (method == SOCKS5_NO_METHOD) {
		finish_with(s, span_of(choice, sizeof(choice)));
		return false;
	}
	s->state = method == SOCKS5_OPEN ? ERRAND_REQUEST : ERRAND_LOGIN;
	return send_bytes(s, choice, sizeof(choice));
}

static bool
read_login(struct errand *s)
{
	uint8_t reply[SOCKS5_LOGIN_REPLY_LENGTH];
	span_t user, password;
	size_t used;
	bool welcome;
	enum status st =
	    socks5_read_login(&user, &password, &used, conn_unread(&s->conn));

	if (st == ST_MORE)
		return false;
	if (st != ST_OK) {
		over(s);
		return false;
	}
	welcome =
	    is_known(s) || reply_password(password, s->client->config.token);
	conn_consume(&s->conn, used);
	socks5_write_login_reply(reply, welcome);
	if (!welcome) {
		s->client->refused++;
		finish_with(s, span_of(reply, sizeof(reply)));
		return false;
	}
	s->state = ERRAND_REQUEST;
	return send_bytes(s, reply, sizeof(reply));
}

static void
read_request(struct errand *s)
{
	uint8_t reply[SOCKS5_REPLY_LENGTH];
	enum socks5_reply code = SOCKS5_FAILED;
	struct authority to;
	size_t used;
	enum status st = socks5_read_request(&to, &used, conn_unread(&s->conn));

	if (st == ST_MORE)
		return;
	if (st == ST_OK) {
		if (!take_target(s, &to))
			return;
		conn_consume(&s->conn, used);
		go(s);
		return;
	}
	if (st == ST_HTTP_METHOD)
		code = SOCKS5_COMMAND;
	else if (st == ST_WRONG_TYPE)
		code = SOCKS5_ADDRESS;
	s->client->refused++;
	socks5_write_reply(reply, code);
	finish_with(s, span_of(reply, sizeof(reply)));
}

/* --- what the connection tells -------------------------------------------------- */

static void
on_data(struct conn *conn)
{
	struct errand *s = errand_of(conn);

	if (s->state == ERRAND_FIRST) {
		s->socks = conn_unread(conn).ptr[0] == SOCKS5_VERSION;
		s->state = s->socks ? ERRAND_OFFER : ERRAND_HEAD;
	}
	if (s->state == ERRAND_OFFER && !read_offer(s))
		return;
	if (s->state == ERRAND_LOGIN && !read_login(s))
		return;
	if (s->state == ERRAND_REQUEST)
		read_request(s);
	else if (s->state == ERRAND_HEAD)
		read_head(s);
}

static void
on_full(struct conn *conn)
{
	struct errand *s = errand_of(conn);

	if (s->state == ERRAND_HEAD)
		fail(s, TROUBLE_ANSWER, ST_HTTP_TOO_LARGE);
	else if (s->state < ERRAND_PROOF)
		over(s);
}

static void
on_eof(struct conn *conn)
{
	struct errand *s = errand_of(conn);

	/* Whoever ends before it has an answer has given up. */
	if (s->state != ERRAND_GRANT && s->state != ERRAND_LAST)
		errand_close(s);
}

static void
on_drained(struct conn *conn)
{
	struct errand *s = errand_of(conn);

	if (s->state == ERRAND_GRANT)
		errand_pass_on(s);
}

static void
on_over(struct conn *conn, enum status why)
{
	(void)why;
	over(errand_of(conn));
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
	struct errand *s = loop_owner(d, struct errand, deadline);

	if (s->state >= ERRAND_PROOF && s->state <= ERRAND_ASKED)
		fail(s, TROUBLE_TIMEOUT, ST_OK);
	else
		errand_close(s);
}

/* --- the beginning ----------------------------------------------------------------- */

void
errand_accept(struct listener *ls, int fd, void *client)
{
	const struct head_limits limits = {
	    .bytes = HEAD_BYTES_DEFAULT,
	    .fields = HEAD_FIELDS_DEFAULT,
	    .old = true,
	};
	struct client *c = client;
	struct errand *s;
	handle_t self;
	void *object;

	if (slab_take(&c->errands, &self, &object) != ST_OK) {
		close(fd); /* it can try again */
		return;
	}
	s = object;
	s->client = c;
	s->self = self;
	s->state = ERRAND_FIRST;
	s->unix_socket = listener_port(ls) == 0;
	s->ours = s->unix_socket || (c->config.same_user && peer_is_us(fd));
	stream_init(&s->stream);
	deadline_init(&s->deadline, on_deadline);
	task_init(&s->release, release);
	head_parser_init(&s->parser, &limits);
	if (conn_open(&s->conn, c->loop, &c->chunks, &s->stream, fd,
		&conn_ops) != ST_OK) {
		slab_release(&c->errands, self);
		return;
	}
	deadline_start(c->loop, &s->deadline, HEAD_MS);
	conn_resume(&s->conn);
}

/* --- all of them --------------------------------------------------------------------- */

void
errands_wake(struct client *c)
{
	for (uint32_t i = 0; i < c->errands.capacity; i++) {
		handle_t h;
		struct errand *s = slab_nth(&c->errands, i, &h);
		if (s != NULL && s->state == ERRAND_PROOF)
			errand_want_proof(s);
	}
}

void
errands_close(struct client *c)
{
	for (uint32_t i = 0; i < c->errands.capacity; i++) {
		handle_t h;
		struct errand *s = slab_nth(&c->errands, i, &h);
		if (s != NULL)
			errand_close(s);
	}
}
