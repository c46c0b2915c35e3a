/* Heads, documents and answers: the HTTP of a session. */
#include <string.h>

#include "base/text.h"
#include "daemon/log.h"
#include "daemon/session_impl.h"
#include "daemon/well_known.h"

/* --- answers --- */

/* What a 407 tells: the strings are in the caller's frame. */
struct challenge_text {
	struct answer_challenge challenge;
	char scope[DECIMAL_MAX], message[DECIMAL_MAX];
};

static void
make_challenge(struct challenge_text *out, const struct gateway *g)
{
	const struct epoch_rules *rules = &g->gate.book.rules;
	uint64_t epoch = epoch_at(rules, gateway_now(g).wall);
	uint8_t scope[32];

	epoch_scope(scope, rules, epoch, 0);
	decimal_encode(out->scope, scope);
	decimal_encode(out->message, g->gate.audience.message);
	out->challenge = (struct answer_challenge){
	    .realm = rules->realm,
	    .scope = out->scope,
	    .message = g->gate.audience.any ? "any" : out->message,
	    .expires = epoch_end(rules, epoch),
	    .slots = rules->slots,
	};
}

static void
add_limit(struct answer_limit *limits, size_t *n, const char *name,
    enum answer_unit unit, uint64_t quota, uint64_t left, uint64_t window,
    uint64_t reset)
{
	if (quota == QUOTA_UNLIMITED || *n == ANSWER_LIMITS_MAX)
		return;
	limits[(*n)++] = (struct answer_limit){
	    .name = name,
	    .unit = unit,
	    .quota = quota,
	    .window = window,
	    .remaining = left,
	    .reset = reset,
	};
}

void
session_limits(const struct session *s,
    struct answer_limit limits[static ANSWER_LIMITS_MAX], size_t *n)
{
	const struct gate *gate = &s->gateway->gate;
	const struct quota_limits *l = &gate->limits[s->ticket.group];
	const struct quota_left *left = &s->left;
	uint64_t window = gate->book.rules.length;

	*n = 0;
	if (!s->left_known)
		return;
	add_limit(limits, n, "requests", ANSWER_REQUESTS, l->requests,
	    left->requests, window, left->reset);
	add_limit(limits, n, "tunnels", ANSWER_TUNNELS, l->tunnels,
	    left->tunnels, 0, 0);
	add_limit(limits, n, "bytes-up", ANSWER_BYTES, l->bytes_up,
	    left->bytes_up, window, left->reset);
	add_limit(limits, n, "bytes-down", ANSWER_BYTES, l->bytes_down,
	    left->bytes_down, window, left->reset);
}

/* The name of the limit that ST says is used up. */
static const char *
violated(const struct session *s, enum status st)
{
	if (st == ST_QUOTA_REQUESTS)
		return "requests";
	if (st == ST_QUOTA_TUNNELS)
		return "tunnels";
	if (st == ST_QUOTA_BYTES)
		return s->left.bytes_up == 0 ? "bytes-up" : "bytes-down";
	return st == ST_QUOTA_RATE ? "rate" : NULL;
}

/* The last answer is written: deliver it and close. */
static void
finish(struct session *s, enum status reason)
{
	s->state = SESSION_LAST;
	s->reason = reason;
	deadline_stop(s->gateway->loop, &s->deadline);
	conn_finish(&s->conn, SESSION_LINGER_MS);
}

void
session_answer(
    struct session *s, enum status st, const char *detail, uint64_t retry)
{
	struct gateway *g = s->gateway;
	struct answer_limit limits[ANSWER_LIMITS_MAX];
	struct challenge_text challenge;
	char text[ANSWER_MAX];
	size_t len;
	struct answer a = {
	    .status = st,
	    .detail = detail,
	    .limits = limits,
	    .violated = violated(s, st),
	    .retry_after = retry > UINT32_MAX ? UINT32_MAX : (uint32_t)retry,
	    .close = !s->keep || s->conn.eof ||
		s->attempts >= g->config->limits.attempts ||
		g->phase != GATEWAY_OPEN,
	    .no_content = s->no_content,
	};
	enum status sent;

	if (status_info(st)->http == 407) {
		make_challenge(&challenge, g);
		a.challenge = &challenge.challenge;
	}
	session_limits(s, limits, &a.n_limits);
	g->metrics.answers[st]++;
	LOG(EV_REQUEST_ANSWERED, log_status(KEY_STATUS, st),
	    log_number(KEY_HTTP, (uint64_t)status_info(st)->http));
	sent = answer_write(text, sizeof(text), &len, &a);
	if (sent == ST_OK)
		sent = conn_write(&s->conn, span_of(text, len));
	if (sent != ST_OK)
		session_close(s, sent == ST_RESET ? ST_RESET : st);
	else if (answer_closes(&a))
		finish(s, st);
	else
		session_await_head(s);
}

/* --- documents --- */

void
session_send_document(struct session *s)
{
	enum status st = document_send(&s->conn, s->document, &s->sent);

	if (st == ST_MORE) {
		deadline_start(s->gateway->loop, &s->deadline,
		    s->gateway->config->limits.head_timeout_ms);
		return;
	}
	document_unref(&s->document);
	if (st != ST_OK)
		session_close(s, ST_RESET);
	else if (s->keep)
		session_await_head(s);
	else
		finish(s, ST_CLOSED);
}

/* Answer with document D, whose reference is taken over. */
static void
serve(struct session *s, struct document *d, bool not_modified)
{
	struct gateway *g = s->gateway;
	char text[ANSWER_MAX];
	size_t len;
	struct answer_document head = {
	    .type = d->type,
	    .length = d->len,
	    .etag = d->etag,
	    .max_age = d->max_age,
	    .not_modified = not_modified,
	};
	enum status st;

	s->keep = s->keep && !s->conn.eof && g->phase == GATEWAY_OPEN &&
	    s->attempts < g->config->limits.attempts;
	head.close = !s->keep;
	g->metrics.documents++;
	s->document = d;
	s->sent = not_modified || s->no_content ? d->len : 0;
	s->state = SESSION_DOCUMENT;
	st = answer_document(text, sizeof(text), &len, &head);
	if (st == ST_OK)
		st = conn_write(&s->conn, span_of(text, len));
	if (st != ST_OK)
		session_close(s, ST_RESET);
	else
		session_send_document(s);
}

/* --- heads --- */

/* A GET or HEAD. */
static void
read_get(struct session *s, const struct head *head, size_t used)
{
	struct document *d = NULL;
	enum status st = well_known_find(s->gateway, &d, head->path);
	bool known =
	    st == ST_OK && answer_etag_matches(head->if_none_match, d->etag);

	conn_consume(&s->conn, used);
	if (st == ST_OK)
		serve(s, d, known);
	else
		session_answer(s, st, NULL, 10);
}

static void
keep_target(struct session *s, const struct authority *to)
{
	s->target.to = *to;
	if (to->host.len > HOST_NAME_MAX_LEN)
		s->target.to.host.len = 0; /* the parser saw to it */
	memcpy(s->target.name, to->host.ptr, s->target.to.host.len);
	s->target.name[s->target.to.host.len] = '\0';
	s->target.to.host.ptr = s->target.name;
}

/* A CONNECT: screen it while its bytes are there, then act. */
static void
read_connect(struct session *s, const struct head *head, size_t used)
{
	struct gateway *g = s->gateway;
	struct semaphore_fault fault = {0};
	enum status st;

	keep_target(s, &head->target);
	st = gate_screen(&g->gate, &s->ticket, &fault, &s->left,
	    head->credential, head->token, gateway_now(g));
	conn_consume(&s->conn, used);
	session_screened(s, st, &fault);
}

/* A whole head; REFUSED says what is wrong with its meaning. */
static void
handle_head(struct session *s, const struct head *head, size_t used,
    enum status refused)
{
	struct gateway *g = s->gateway;
	uint64_t retry = 0;
	enum status st;

	conn_pause(&s->conn);
	deadline_stop(g->loop, &s->deadline);
	s->attempts++;
	s->keep = head->keep;
	s->no_content = head->method == HTTP_HEAD;
	st = circuits_request(&g->circuits, s->circuit, &retry, gateway_now(g));
	if (st == ST_OK && g->phase != GATEWAY_OPEN)
		st = ST_DRAINING;
	if (st == ST_OK)
		st = refused;
	if (st == ST_OK && head->method == HTTP_OTHER)
		st = ST_HTTP_METHOD;
	if (st != ST_OK) {
		conn_consume(&s->conn, used);
		session_answer(s, st, NULL, retry);
	} else if (head->method == HTTP_CONNECT) {
		read_connect(s, head, used);
	} else {
		read_get(s, head, used);
	}
}

void
session_read_head(struct session *s)
{
	struct head head;
	size_t used;
	enum status st =
	    head_parse(&s->parser, &head, &used, conn_unread(&s->conn));

	if (st == ST_MORE)
		return;
	if (st == ST_OK || used != 0) {
		handle_head(s, &head, used, st);
		return;
	}
	conn_pause(&s->conn);
	s->attempts++;
	s->keep = false;
	session_answer(s, st, NULL, 0);
}
