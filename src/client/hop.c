#include "client/hop.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/wipe.h"
#include "client/client_impl.h"
#include "client/socks5.h"

/* Tor builds two circuits and a rendezvous; it gives up after two minutes. */
#define OPEN_MS 120000
/* Of the port itself, which is on this machine or near. */
#define ANSWER_MS 5000

static struct hop *
hop_of(struct conn *conn)
{
	return loop_owner(conn, struct hop, conn);
}

/* --- the end --- */

static void
release(struct task *t)
{
	struct hop *h = loop_owner(t, struct hop, release);
	struct client *c = h->client;
	handle_t self = h->self;

	wipe(h, sizeof(*h));
	slab_release(&c->hops, self);
}

static void
end(struct hop *h)
{
	struct client *c = h->client;

	if (h->state == HOP_OVER)
		return;
	h->state = HOP_OVER;
	deadline_stop(c->loop, &h->deadline);
	dialer_cancel(c->dialer, h->dial);
	conn_close(&h->conn, STREAM_ORDERLY);
	stream_close(&h->stream, STREAM_ORDERLY);
	if (h->dialled)
		dialer_leave(c->dialer, h->tor);
	h->dialled = false;
	task_defer(c->loop, &h->release);
}

static void
fail(struct hop *h, enum trouble why, const char *detail)
{
	const struct hop_ops *ops = h->ops;

	if (h->state == HOP_OVER)
		return;
	end(h);
	ops->gone(h, why, detail);
}

void
hop_close(struct hop **h)
{
	if (*h != NULL)
		end(*h);
	*h = NULL;
}

/* --- the handshake ---------------------------------------------------------- */

/* Send a message of LEN bytes and await the answer in STATE. */
static void
send_step(
    struct hop *h, const uint8_t *message, size_t len, enum hop_state state)
{
	if (conn_write(&h->conn, span_of(message, len)) != ST_OK) {
		fail(h, TROUBLE_NOT_TOR, "it closed the connection");
		return;
	}
	h->state = state;
}

static void
send_login(struct hop *h)
{
	uint8_t message[SOCKS5_MESSAGE_MAX];
	size_t n =
	    socks5_write_login(message, span_str(h->circuit), span_str("x"));

	send_step(h, message, n, HOP_LOGIN);
}

static void
send_connect(struct hop *h)
{
	uint8_t message[SOCKS5_MESSAGE_MAX];
	size_t n = socks5_write_connect(message, span_str(h->onion), h->port);

	deadline_start(h->client->loop, &h->deadline, OPEN_MS);
	send_step(h, message, n, HOP_REPLY);
}

/* What tor's replies mean for an onion service: RFC 1928, section 6, and
 * tor's own (ExtendedErrors, proposal 304). */
static const char *
explain(uint8_t code)
{
	switch (code) {
	case SOCKS5_REFUSED:
		return "it is there and refuses the connection";
	case SOCKS5_EXPIRED:
	case 0xf7:
		return "it does not answer";
	case 0xf0:
		return "no such onion service is known";
	case 0xf1:
	case 0xf6:
		return "its address or descriptor is invalid";
	case 0xf2:
	case 0xf3:
		return "it can not be met (introduction or rendezvous failed)";
	case 0xf4:
	case 0xf5:
		return "it wants client authorisation";
	default:
		return "";
	}
}

/* Read tor's answer to CONNECT. */
static void
read_reply(struct hop *h)
{
	uint8_t code;
	size_t used;
	enum status st = socks5_read_reply(&code, &used, conn_unread(&h->conn));

	if (st == ST_MORE)
		return;
	if (st != ST_OK) {
		fail(h, TROUBLE_NOT_TOR, "");
		return;
	}
	conn_consume(&h->conn, used);
	if (code != SOCKS5_DONE) {
		fail(h, TROUBLE_ONION, explain(code));
		return;
	}
	deadline_stop(h->client->loop, &h->deadline);
	h->state = HOP_OPEN;
	h->ops->open(h);
}

static void
read_choice(struct hop *h)
{
	enum socks5_method method;
	size_t used;
	enum status st =
	    socks5_read_choice(&method, &used, conn_unread(&h->conn));

	if (st == ST_MORE)
		return;
	conn_consume(&h->conn, used);
	if (st != ST_OK || method != SOCKS5_PASSWORD)
		fail(h, TROUBLE_NOT_TOR, "it takes no user and password");
	else
		send_login(h);
}

static void
read_login(struct hop *h)
{
	size_t used;
	enum status st = socks5_read_login_reply(&used, conn_unread(&h->conn));

	if (st == ST_MORE)
		return;
	conn_consume(&h->conn, used);
	if (st != ST_OK)
		fail(h, TROUBLE_NOT_TOR, "it refuses the user name");
	else
		send_connect(h);
}

/* --- what the connection tells --- */

static void
on_data(struct conn *conn)
{
	struct hop *h = hop_of(conn);

	if (h->state == HOP_CHOICE)
		read_choice(h);
	else if (h->state == HOP_LOGIN)
		read_login(h);
	else if (h->state == HOP_REPLY)
		read_reply(h);
	else if (h->state == HOP_OPEN)
		h->ops->data(h);
}

static void
on_end(struct conn *conn)
{
	struct hop *h = hop_of(conn);
	enum trouble why = h->state == HOP_OPEN ? TROUBLE_NOT_GATEWAY
	    : h->state == HOP_REPLY		? TROUBLE_ONION
						: TROUBLE_NOT_TOR;

	fail(h, why, "the connection was closed");
}

static void
on_over(struct conn *conn, enum status why)
{
	(void)why;
	on_end(conn);
}

static void
on_drained(struct conn *conn)
{
	struct hop *h = hop_of(conn);

	if (h->state == HOP_OPEN && h->ops->drained != NULL)
		h->ops->drained(h);
}

static const struct conn_ops conn_ops = {
    .data = on_data,
    .full = on_end,
    .eof = on_end,
    .drained = on_drained,
    .over = on_over,
};

static void
on_deadline(struct deadline *d)
{
	struct hop *h = loop_owner(d, struct hop, deadline);

	if (h->state == HOP_REPLY)
		fail(h, TROUBLE_TIMEOUT, "");
	else
		fail(h, TROUBLE_NOT_TOR, "it does not answer");
}

/* --- the beginning --- */

void
hop_dialled(void *arg, handle_t owner, enum status st, int fd, ip_t ip)
{
	struct client *c = arg;
	struct hop *h = slab_at(&c->hops, owner);
	uint8_t offer[SOCKS5_MESSAGE_MAX];

	if (h == NULL || h->state != HOP_DIAL) {
		if (fd >= 0) {
			close(fd);
			dialer_leave(c->dialer, ip);
		}
		return;
	}
	if (st != ST_OK) {
		fail(h, TROUBLE_NO_TOR,
		    st == ST_CONNECT_REFUSED ? "nobody listens there" : "");
		return;
	}
	h->dialled = true;
	h->tor = ip;
	if (conn_open(&h->conn, c->loop, &c->chunks, &h->stream, fd,
		&conn_ops) != ST_OK) {
		fail(h, TROUBLE_BUSY, "");
		return;
	}
	deadline_start(c->loop, &h->deadline, ANSWER_MS);
	conn_resume(&h->conn);
	send_step(h, offer, socks5_write_offer(offer), HOP_CHOICE);
}

enum status
hop_start(struct hop **out, struct client *c, const char *onion, uint16_t port,
    const char *circuit, const struct hop_ops *ops, void *owner)
{
	struct hop *h;
	handle_t self;
	void *object;
	enum status st = slab_take(&c->hops, &self, &object);

	*out = NULL;
	if (st != ST_OK)
		return ST_BUSY;
	h = object;
	h->client = c;
	h->self = self;
	h->state = HOP_DIAL;
	h->ops = ops;
	h->owner = owner;
	h->port = port;
	snprintf(h->circuit, sizeof(h->circuit), "%s", circuit);
	snprintf(h->onion, sizeof(h->onion), "%s", onion);
	stream_init(&h->stream);
	deadline_init(&h->deadline, on_deadline);
	task_init(&h->release, release);
	if (dialer_dial(c->dialer, &h->dial, self, &c->config.tor.ip, 1,
		c->config.tor.port) != ST_OK) {
		slab_release(&c->hops, self);
		return ST_BUSY;
	}
	*out = h;
	return ST_OK;
}
