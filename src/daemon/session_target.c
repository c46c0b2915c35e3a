/* From a count to a tunnel. */
#include <string.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/session_impl.h"

/* The target can not be had: the request stays counted, the tunnel that was
 * counted open with it is closed. */
static void
refuse_target(struct session *s, enum status st)
{
	struct gateway *g = s->gateway;

	ledger_store_close(g->store, &s->account);
	if (s->dialled)
		dialer_leave(g->dialer, s->pinned);
	s->dialled = false;
	if (s->left_known && s->left.tunnels != QUOTA_UNLIMITED)
		s->left.tunnels++;
	session_answer(s, st, NULL, 10);
}

/* Judge IPS and connect to the first that answers. */
static void
dial(struct session *s, const ip_t *ips, size_t n)
{
	struct gateway *g = s->gateway;
	const struct policy *p = gateway_policy(g, s->ticket.group);
	uint16_t port = s->target.to.port;
	ip_t order[RESOLVER_ADDRESSES];
	enum status st = ST_ROOT_UNKNOWN; /* the group is gone */

	if (n > RESOLVER_ADDRESSES)
		n = RESOLVER_ADDRESSES;
	/* Judged and dialled is one array: nobody resolves the name again. */
	memcpy(order, ips, n * sizeof(*order));
	if (p != NULL)
		st = policy_check_addresses(p, &g->own, order, n, port);
	if (st == ST_OK) {
		n = address_order(order, n, own_addresses_reach(&g->own));
		s->state = SESSION_CONNECT;
		s->since_ns = loop_clock_ns();
		st = dialer_dial(g->dialer, &s->dial, s->self, order, n, port);
	}
	if (st != ST_OK)
		refuse_target(s, st == ST_BUSY ? ST_OVERLOADED : st);
}

static void
resolve(struct session *s)
{
	struct gateway *g = s->gateway;
	enum status st;

	s->state = SESSION_RESOLVE;
	s->since_ns = loop_clock_ns();
	st = resolver_query(g->resolver, &s->query, s->self, s->target.to.host);
	if (st == ST_BUSY || st == ST_NO_MEMORY)
		st = ST_OVERLOADED;
	else if (st != ST_OK)
		st = ST_DNS_FAILED;
	if (st != ST_OK)
		refuse_target(s, st);
}

void
session_counted(struct session *s)
{
	const struct policy *p = gateway_policy(s->gateway, s->ticket.group);
	enum status st = p != NULL ? target_check(p->target, &s->target.to)
				   : ST_ROOT_UNKNOWN;

	if (st != ST_OK)
		refuse_target(s, st);
	else if (s->target.to.kind == HOST_LITERAL)
		dial(s, &s->target.to.ip, 1);
	else
		resolve(s);
}

void
session_resolved(
    void *gateway, handle_t who, enum status status, const ip_t *ips, size_t n)
{
	struct gateway *g = gateway;
	struct session *s = slab_at(&g->sessions, who);

	if (s == NULL || s->state != SESSION_RESOLVE)
		return;
	s->query = (handle_t){0};
	histogram_add(&g->metrics.dns, loop_clock_ns() - s->since_ns);
	if (status != ST_OK)
		refuse_target(s, status);
	else
		dial(s, ips, n);
}

/* --- the tunnel --- */

static struct session *
session_of(struct tunnel *t)
{
	return loop_owner(t, struct session, tunnel);
}

static uint64_t
left_of(uint64_t limit, uint64_t used)
{
	if (limit == QUOTA_UNLIMITED)
		return UINT64_MAX;
	return used < limit ? limit - used : 0;
}

/* How many bytes S's member may still move. */
static uint64_t
on_allow(struct tunnel *t, enum tunnel_side from)
{
	struct session *s = session_of(t);
	const struct gate *gate = &s->gateway->gate;
	const struct quota_limits *l = &gate->limits[s->account.group];
	usage_t used;

	if (l->bytes_up == QUOTA_UNLIMITED && l->bytes_down == QUOTA_UNLIMITED)
		return UINT64_MAX;
	if (ledger_look(&used, &gate->ledger, &s->account.member) != ST_OK)
		return UINT64_MAX; /* the epoch is over, and its quota too */
	return from == TUNNEL_CLIENT ? left_of(l->bytes_up, used.bytes_up)
				     : left_of(l->bytes_down, used.bytes_down);
}

static void
on_moved(struct tunnel *t, enum tunnel_side from, uint64_t bytes)
{
	struct session *s = session_of(t);
	struct gateway *g = s->gateway;
	bool up = from == TUNNEL_CLIENT;

	*(up ? &g->metrics.bytes_up : &g->metrics.bytes_down) += bytes;
	if (ledger_store_add(
		g->store, &s->account, up ? bytes : 0, up ? 0 : bytes) != ST_OK)
		tunnel_close(t, ST_QUOTA_BYTES);
}

static void
on_over(struct tunnel *t, enum status reason)
{
	session_tunnel_over(session_of(t), reason);
}

static const struct tunnel_ops tunnel_ops = {
    .allow = on_allow,
    .moved = on_moved,
    .over = on_over,
};

void
session_start_tunnel(struct session *s)
{
	struct gateway *g = s->gateway;
	const struct config *c = g->config;
	struct chunk *early;
	struct tunnel_limits limits = {
	    .idle_ms = c->egress.idle_timeout_ms,
	    .lifetime_ms = c->egress.lifetime_ms,
	};

	if (c->egress.tunnel_bytes != OPTION_UNLIMITED)
		limits.up_max = limits.down_max = c->egress.tunnel_bytes;
	if (conn_detach(&s->conn, &early) != ST_OK) {
		session_close(s, ST_INTERNAL);
		return;
	}
	deadline_stop(g->loop, &s->deadline);
	s->state = SESSION_TUNNEL;
	g->tunnels++;
	log_plain(EV_TUNNEL_OPENED);
	tunnel_start(&s->tunnel, g->relay, &s->client, &s->target_stream, early,
	    &limits, &tunnel_ops);
}

/* Until the tunnel takes over, what the target does can wait. */
static void
target_ready(struct stream *stream)
{
	(void)stream;
}

/* Tell the client that it is connected. */
static void
grant(struct session *s)
{
	struct gateway *g = s->gateway;
	struct answer_limit limits[ANSWER_LIMITS_MAX];
	struct answer a = {.status = ST_OK, .limits = limits};
	char text[ANSWER_MAX];
	size_t len;
	enum status st;

	session_limits(s, limits, &a.n_limits);
	g->metrics.answers[ST_OK]++;
	LOG(EV_REQUEST_ANSWERED, log_status(KEY_STATUS, ST_OK),
	    log_number(KEY_HTTP, 200));
	s->state = SESSION_GRANT;
	st = answer_write(text, sizeof(text), &len, &a);
	if (st == ST_OK)
		st = conn_write(&s->conn, span_of(text, len));
	if (st != ST_OK) {
		session_close(s, ST_RESET);
		return;
	}
	if (conn_waiting(&s->conn) == 0)
		session_start_tunnel(s);
	else
		deadline_start(
		    g->loop, &s->deadline, g->config->limits.head_timeout_ms);
}

void
session_dialed(void *gateway, handle_t who, enum status status, int fd, ip_t ip)
{
	struct gateway *g = gateway;
	struct session *s = slab_at(&g->sessions, who);

	if (s == NULL || s->state != SESSION_CONNECT) {
		/* A dial that was cancelled is not told of. */
		LOG(EV_INTERNAL, log_words(KEY_WHAT, "a dial for nobody"));
		if (status == ST_OK) {
			close(fd);
			dialer_leave(g->dialer, ip);
		}
		return;
	}
	s->dial = (handle_t){0};
	histogram_add(&g->metrics.connect, loop_clock_ns() - s->since_ns);
	if (status != ST_OK) {
		refuse_target(s, status);
		return;
	}
	s->pinned = ip;
	s->dialled = true;
	if (stream_open(&s->target_stream, g->loop, fd, target_ready, s) !=
	    ST_OK)
		refuse_target(s, ST_CONNECT_FAILED);
	else
		grant(s);
}
