#include "cmd/mix_metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "daemon/callers.h"

#define CALLERS 16
#define REQUEST_MAX 32768
#define TIMEOUT_MS 10000

struct mix_metrics {
	const struct mix_node *node;
	struct listener *listener;
	struct callers callers;
};

/* --- the text ------------------------------------------------------------- */

static void
head(struct buffer *b, const char *name, const char *type, const char *help)
{
	buffer_format(b, "# HELP postern_mix_%s %s\n# TYPE postern_mix_%s %s\n",
	    name, help, name, type);
}

static void
metric(struct buffer *b, const char *name, const char *type, const char *help,
    uint64_t value)
{
	head(b, name, type, help);
	buffer_format(b, "postern_mix_%s %" PRIu64 "\n", name, value);
}

static void
render_counts(struct buffer *b, const struct mix_counts *c)
{
	metric(b, "packets_received_total", "counter",
	    "Whole frames that came in.", c->received);
	metric(b, "packets_forwarded_total", "counter",
	    "Packets written to a next hop.", c->forwarded);
	metric(b, "packets_delivered_total", "counter",
	    "Messages written to a service.", c->delivered);
	head(b, "packets_dropped_total", "counter",
	    "Packets that went no further.");
	for (int i = 0; i < DROP_COUNT; i++)
		buffer_format(b,
		    "postern_mix_packets_dropped_total{reason=\"%s\"} %" PRIu64
		    "\n",
		    mix_drop_label((enum mix_drop)i), c->dropped[i]);
	metric(b, "packets_clamped_total", "counter",
	    "Packets that asked to be held longer than allowed.", c->clamped);
	metric(b, "frames_truncated_total", "counter",
	    "Connections that ended within a frame.", c->truncated);
	metric(b, "frames_stalled_total", "counter",
	    "Connections that did not complete a frame in time.", c->stalled);
	metric(b, "connections_refused_total", "counter",
	    "Connections that made room for others, or found none.",
	    c->refused);
	metric(b, "link_dials_total", "counter", "Links that were tried.",
	    c->dials);
	metric(b, "link_failures_total", "counter",
	    "Links that could not be made or broke.", c->dial_failures);
	head(b, "late_seconds_total", "counter",
	    "Time packets were held beyond their delay.");
	buffer_format(b, "postern_mix_late_seconds_total %.3f\n",
	    (double)c->late_ms / 1e3);
}

static void
render_gauges(struct buffer *b, const struct mix_node_state *s)
{
	metric(b, "packets_held", "gauge", "Packets in memory.", s->parcels);
	metric(b, "packets_held_max", "gauge", "Packets that fit in memory.",
	    s->parcels_max);
	metric(b, "packets_queued", "gauge",
	    "Packets whose delay is over and whose link is slow.",
	    s->links.queued);
	metric(b, "links", "gauge", "Ways out.", s->links.links);
	metric(b, "links_connected", "gauge", "Ways out that are connected.",
	    s->links.connected);
	metric(
	    b, "inlets", "gauge", "Connections that bring packets.", s->inlets);
	metric(b, "replay_tags", "gauge",
	    "Packets in the replay filter of the current key.", s->seen);
	metric(b, "replay_tags_max", "gauge",
	    "Packets that fit in the replay filter.", s->seen_max);
	metric(b, "nodes", "gauge", "Nodes in the registry.",
	    s->registry != NULL ? s->registry->n : 0);
	metric(b, "next_key_seconds", "gauge",
	    "When the next key's turn is, Unix time; 0: never.",
	    (uint64_t)s->next_key);
}

/* One of the figures of loops. */
struct loop_metric {
	const char *name, *help;
	uint64_t (*value)(const struct loop_figures *f);
};

static uint64_t
sent(const struct loop_figures *f)
{
	return f->sent;
}

static uint64_t
returned(const struct loop_figures *f)
{
	return f->returned;
}

static uint64_t
lost(const struct loop_figures *f)
{
	return f->lost;
}

static uint64_t
early(const struct loop_figures *f)
{
	return f->early;
}

static uint64_t
late_ms(const struct loop_figures *f)
{
	return f->late_ms;
}

static const struct loop_metric loop_metrics[] = {
    {"loop_ways_sent_total", "Ways of our loops that were begun.", sent},
    {"loop_ways_returned_total", "Ways that were gone to their end.", returned},
    {"loop_ways_lost_total", "Ways that were not.", lost},
    {"loop_ways_early_total",
	"Ways that were quicker than their delays: a node did not hold.",
	early},
    {"loop_ways_late_milliseconds_total", "Time ways took beyond their delays.",
	late_ms},
};

static void
render_loops(struct buffer *b, const struct mix_node_state *s)
{
	for (size_t i = 0; i < sizeof(loop_metrics) / sizeof(*loop_metrics);
	     i++) {
		const struct loop_metric *m = &loop_metrics[i];
		head(b, m->name, "counter", m->help);
		for (unsigned layer = 0; layer < MIX_LAYERS; layer++) {
			struct loop_figures f = loops_layer(s->loops, layer);
			buffer_format(b,
			    "postern_mix_%s{layer=\"%u\"} %" PRIu64 "\n",
			    m->name, layer, m->value(&f));
		}
	}
	for (size_t i = 0; i < sizeof(loop_metrics) / sizeof(*loop_metrics);
	     i++) {
		const struct loop_metric *m = &loop_metrics[i];
		char name[64], id[2 * SPHINX_KEY_SIZE + 1];
		snprintf(name, sizeof(name), "node_%s", m->name);
		head(b, name, "counter", m->help);
		for (size_t n = 0; s->registry != NULL && n < s->registry->n;
		     n++) {
			struct loop_figures f = loops_node(s->loops, n);
			hex_encode(id, span_of(s->registry->nodes[n].id, 32));
			buffer_format(b,
			    "postern_mix_%s{node=\"%s\",layer=\"%u\"} %" PRIu64
			    "\n",
			    name, id, s->registry->nodes[n].layer,
			    m->value(&f));
		}
	}
}

void
mix_metrics_render(struct buffer *out, const struct mix_node *n)
{
	struct mix_node_state s = mix_node_state(n);

	render_counts(out, s.counts);
	render_gauges(out, &s);
	if (s.loops != NULL)
		render_loops(out, &s);
}

/* --- the connections ------------------------------------------------------ */

/* Answer with CODE and what BODY holds. */
static void
answer(struct caller *c, const char *code, const struct buffer *body)
{
	struct buffer text = {0};
	struct document *d;

	buffer_format(&text,
	    "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; "
	    "charset=utf-8\r\nContent-Length: %zu\r\nConnection: "
	    "close\r\n\r\n",
	    code, buffer_span(body).len);
	buffer_put(&text, buffer_span(body).ptr, buffer_span(body).len);
	text.failed |= buffer_failed(body);
	if (document_new(&d, &text, "text/plain", 0) != ST_OK)
		caller_close(c);
	else
		caller_send(c, d);
}

static bool
begins(span_t text, const char *with)
{
	return text.len >= strlen(with) &&
	    memcmp(text.ptr, with, strlen(with)) == 0;
}

static void
on_data(struct caller *c)
{
	const struct mix_metrics *m = c->owner;
	span_t head_text = conn_unread(&c->conn);
	struct buffer b = {0};
	const char *code = "200 OK";

	if (memmem(head_text.ptr, head_text.len, "\r\n\r\n", 4) == NULL)
		return;
	if (begins(head_text, "GET /metrics ")) {
		mix_metrics_render(&b, m->node);
	} else if (begins(head_text, "GET /healthz ")) {
		buffer_text(&b, "ok\n");
	} else {
		code = "404 Not Found";
		buffer_text(&b, "there are /metrics and /healthz\n");
	}
	conn_consume(&c->conn, head_text.len);
	answer(c, code, &b);
	buffer_clear(&b);
}

enum status
mix_metrics_new(struct mix_metrics **out, struct loop *l, const endpoint_t *at,
    const struct mix_node *n)
{
	const struct caller_rules rules = {
	    .max = CALLERS,
	    .patience_ms = TIMEOUT_MS,
	    .request_max = REQUEST_MAX,
	    .data = on_data,
	};
	struct mix_metrics *m = calloc(1, sizeof(*m));
	struct listener_config listen = {
	    .kind = LISTEN_IP, .at = *at, .accepted = callers_accepted};
	enum status st;

	*out = m;
	if (m == NULL)
		return ST_NO_MEMORY;
	m->node = n;
	callers_init(&m->callers, l, &rules, m);
	listen.arg = &m->callers;
	st = listener_new(&m->listener, l, &listen);
	if (st != ST_OK)
		mix_metrics_free(out);
	return st;
}

void
mix_metrics_free(struct mix_metrics **out)
{
	struct mix_metrics *m = *out;

	if (m == NULL)
		return;
	listener_free(&m->listener);
	callers_clear(&m->callers);
	free(m);
	*out = NULL;
}

uint16_t
mix_metrics_port(const struct mix_metrics *m)
{
	return listener_port(m->listener);
}
