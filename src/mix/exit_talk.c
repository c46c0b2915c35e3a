/* What an exit says to the gate and to the target. */
#include "mix/exit_impl.h"

#include <string.h>

#include "base/out.h"
#include "base/text.h"
#include "base/wipe.h"
#include "net/tls_client.h"

/* --- the gate ------------------------------------------------------------- */

/* Where the head in X->head ends; 0: not yet. */
static size_t
head_end(const struct exchange *x)
{
	const char *end = memmem(x->head, x->head_len, "\r\n\r\n", 4);

	return end != NULL ? (size_t)(end - x->head) + 4 : 0;
}

/* The gate's Content-Length: it always has one, but for 200. */
static size_t
content_length(const struct exchange *x, size_t head)
{
	static const char name[] = "\r\nContent-Length: ";
	const char *at = memmem(x->head, head, name, sizeof(name) - 1);
	uint64_t n = 0;

	if (at == NULL)
		return 0;
	at += sizeof(name) - 1;
	span_t digits = span_of(at, strspn(at, "0123456789"));
	return decimal_u64(&n, digits, GATE_HEAD_MAX) == ST_OK ? (size_t)n : 0;
}

/* The target's host, as TLS wants it: without port and brackets. */
static bool
host_of(char out[static 256], span_t authority)
{
	const uint8_t *colon = memrchr(authority.ptr, ':', authority.len);
	size_t len = colon != NULL ? (size_t)(colon - authority.ptr) : 0;
	const uint8_t *start = authority.ptr;

	if (len >= 2 && start[0] == '[' && start[len - 1] == ']') {
		start++;
		len -= 2;
	}
	if (len == 0 || len > 255)
		return false;
	memcpy(out, start, len);
	out[len] = '\0';
	return true;
}

/* Begin TLS with the target, whose way the gate's HEAD has opened. In TLS the
 * client speaks first, so a target that has said something fails as one that
 * says it later does.
 * Returns: ST_OK; ST_CORRUPT (it has); ST_NO_MEMORY; ST_INTERNAL. */
static enum status
begin_tls(struct exchange *x, size_t head)
{
	char host[256];
	enum status st;

	if (!host_of(host, x->r.authority))
		return ST_INTERNAL;
	st = wire_secure(&x->wire,
	    tls_client_session(x->exit->tls, x->wire.stream.fd, host));
	if (st != ST_OK)
		return st;
	x->state = HANDSHAKE;
	return head == x->head_len ? ST_OK : ST_CORRUPT;
}

/* The gate has said something.
 * Returns: ST_OK (granted: TLS begins); ST_MORE; ST_CLOSED (refused: the
 *          exchange is over); ST_CORRUPT; ST_NO_MEMORY. */
static enum status
read_gate(struct exchange *x)
{
	size_t n, head, all;
	enum status st;

	for (;;) {
		if ((head = head_end(x)) != 0) {
			if (memcmp(x->head, "HTTP/1.1 200", 12) == 0)
				return begin_tls(x, head);
			all = head + content_length(x, head);
			if (all > sizeof(x->head))
				return ST_CORRUPT;
			if (x->head_len >= all) {
				exit_add_answer(x, x->head, all);
				exit_finish(x, ANSWER_REFUSED);
				return ST_CLOSED;
			}
		}
		if (x->head_len + 1 >= sizeof(x->head))
			return ST_CORRUPT;
		st = wire_read(&x->wire, x->head + x->head_len,
		    sizeof(x->head) - 1 - x->head_len, &n);
		if (st != ST_OK)
			return st == ST_MORE ? ST_MORE : ST_CORRUPT;
		x->head_len += n;
		x->head[x->head_len] = '\0';
	}
}

/* Send what is left of LEN bytes. Returns: ST_OK (all); ST_MORE; ST_RESET. */
static enum status
send_rest(struct exchange *x, const void *bytes, size_t len)
{
	size_t n;
	enum status st = ST_OK;

	while (x->sent < len && st == ST_OK) {
		st = wire_write(&x->wire, (const uint8_t *)bytes + x->sent,
		    len - x->sent, &n);
		x->sent += n;
	}
	return st;
}

/* The CONNECT that asks for what the request wants. */
static enum status
write_connect(struct exchange *x)
{
	struct out o = out_to(x->head, sizeof(x->head));

	out_str(&o, "CONNECT ");
	out_span(&o, x->r.authority);
	out_str(&o, " HTTP/1.1\r\nHost: ");
	out_span(&o, x->r.authority);
	out_str(&o, "\r\nProxy-Authorization: Semaphore ");
	out_span(&o, x->r.token);
	out_str(&o, "\r\n\r\n");
	return out_status(&o, &x->head_len);
}

/* --- the target ----------------------------------------------------------- */

/* Returns: ST_OK; ST_MORE; ST_RESET. */
static enum status
shake_hands(struct exchange *x)
{
	enum status st = wire_handshake(&x->wire);

	if (st != ST_OK)
		return st;
	x->sent = 0;
	x->state = SPEAK;
	return ST_OK;
}

/* Returns: ST_MORE; ST_CLOSED (it has ended, or there is no room for more). */
static enum status
listen_to(struct exchange *x)
{
	uint8_t bytes[4096];
	bool room = true;
	size_t n;
	enum status st = ST_OK;

	while (room &&
	    (st = wire_read(&x->wire, bytes, sizeof(bytes), &n)) == ST_OK)
		room = exit_add_answer(x, bytes, n);
	wipe(bytes, sizeof(bytes));
	if (!room)
		return ST_CLOSED;
	if (st == ST_MORE)
		return ST_MORE;
	if (st == ST_RESET)
		x->flags |= ANSWER_UNCLEAN;
	return ST_CLOSED;
}

/* --- the course of an exchange -------------------------------------------- */

/* One step in the present state.
 * Returns: ST_OK: there is another; ST_MORE: wait; ST_CLOSED: the exchange is
 *          over and gone; anything else: it has failed. */
static enum status
step(struct exchange *x)
{
	enum status st = ST_MORE;

	switch (x->state) {
	case CALL:
		st = send_rest(x, x->head, x->head_len);
		if (st == ST_OK) {
			/* From here on it is the gate's head. */
			wipe(x->head, x->head_len);
			x->head_len = 0;
			x->state = ASK;
		}
		break;
	case ASK:
		st = read_gate(x);
		break;
	case HANDSHAKE:
		st = shake_hands(x);
		break;
	case SPEAK:
		st = send_rest(x, x->r.bytes.ptr, x->r.bytes.len);
		if (st == ST_OK)
			x->state = LISTEN;
		break;
	case LISTEN:
		st = listen_to(x);
		if (st == ST_CLOSED)
			exit_finish(x, ANSWER_RELAYED);
		break;
	case GATHER:
		break;
	}
	return st;
}

/* What to say when a step has failed. */
static const char *
problem(const struct exchange *x)
{
	const char *why;

	switch (x->state) {
	case HANDSHAKE:
		why = tls_client_problem(x->wire.ssl);
		return why != NULL ? why : "the target does not speak TLS";
	case SPEAK:
	case LISTEN:
		return "the target closed the connection";
	case GATHER:
	case CALL:
	case ASK:
		break;
	}
	return "the gate does not answer";
}

static void
advance(struct exchange *x)
{
	enum status st;

	do
		st = step(x);
	while (st == ST_OK);
	if (st != ST_MORE && st != ST_CLOSED)
		exit_fail(x, problem(x));
}

static void
on_ready(struct wire *w)
{
	advance(loop_owner(w, struct exchange, wire));
}

void
exit_talk(struct exchange *x)
{
	struct mix_exit *e = x->exit;
	int fd;

	if (mix_request_decode(&x->r, span_of(x->request, x->request_len)) !=
		ST_OK ||
	    write_connect(x) != ST_OK) {
		exit_fail(x, "the request is malformed");
		return;
	}
	x->state = CALL;
	fd = e->config.connect(e->config.arg, x->id);
	if (fd < 0 ||
	    wire_open(&x->wire, e->outbox->loop, fd, on_ready) != ST_OK)
		exit_fail(x, "the gateway is overloaded");
}
