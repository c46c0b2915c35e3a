#include "daemon/admin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/slab.h"
#include "daemon/log.h"
#include "http/answer.h"
#include "http/head.h"
#include "net/conn.h"

#define CLIENTS_MAX 32
#define TIMEOUT_MS 10000
#define LINGER_MS 1000
#define HEAD_MAX 4096
#define SOCKET_MODE 0660

struct client {
	struct admin *admin;
	handle_t self;
	struct conn conn;
	struct stream stream;
	struct head_parser parser;
	struct deadline deadline;
	struct task release;
	struct document *document;
	size_t sent;
	bool answered, over;
};

struct admin {
	struct gateway *gateway;
	struct chunk_pool chunks;
	struct listener *listeners[GATEWAY_LISTENERS_MAX];
	size_t listeners_n;
	struct slab slab;
	struct slab_slot slots[CLIENTS_MAX];
	struct client clients[CLIENTS_MAX];
};

static void
client_close(struct client *c)
{
	struct admin *a = c->admin;

	if (c->over)
		return;
	c->over = true;
	deadline_stop(a->gateway->loop, &c->deadline);
	conn_close(&c->conn, STREAM_ORDERLY);
	document_unref(&c->document);
	task_defer(a->gateway->loop, &c->release);
}

static void
release(struct task *t)
{
	struct client *c = loop_owner(t, struct client, release);

	slab_release(&c->admin->slab, c->self);
}

/* --- what is there --- */

static void
write_health(struct buffer *b, const struct gateway *g, int *code)
{
	(void)g;
	*code = 200;
	buffer_text(b, "ok\n");
}

static void
write_readiness(struct buffer *b, const struct gateway *g, int *code)
{
	const char *why;

	*code = gateway_is_ready(g, &why) ? 200 : 503;
	buffer_format(b, "%s\n", *code == 200 ? "ready" : why);
}

static void
write_metrics(struct buffer *b, const struct gateway *g, int *code)
{
	struct gauge_group groups[ROOT_GROUPS_MAX];
	struct gauges gauges;

	*code = 200;
	gateway_gauges(g, &gauges, groups);
	metrics_render(b, &g->metrics, &gauges);
}

static const struct page {
	const char *path, *type;
	void (*write)(struct buffer *b, const struct gateway *g, int *code);
} pages[] = {
    {"/metrics", "text/plain; version=0.0.4", write_metrics},
    {"/healthz", "text/plain", write_health},
    {"/readyz", "text/plain", write_readiness},
};

static const struct page *
find_page(span_t path)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		if (span_equal(path, span_str(pages[i].path)))
			return &pages[i];
	}
	return NULL;
}

/* --- answers --- */

static void
send_document(struct client *c)
{
	enum status st = document_send(&c->conn, c->document, &c->sent);

	if (st == ST_OK)
		conn_finish(&c->conn, LINGER_MS);
	else if (st != ST_MORE)
		client_close(c);
}

/* Say no with status ST. */
static void
refuse(struct client *c, enum status st)
{
	struct answer a = {.status = st, .close = true};
	char text[ANSWER_MAX];
	size_t len;

	if (answer_write(text, sizeof(text), &len, &a) != ST_OK ||
	    conn_write(&c->conn, span_of(text, len)) != ST_OK)
		client_close(c);
	else
		conn_finish(&c->conn, LINGER_MS);
}

static void
serve(struct client *c, const struct page *page, bool head_only)
{
	struct buffer b = {0};
	char text[256];
	int code = 200, n;

	page->write(&b, c->admin->gateway, &code);
	if (document_new(&c->document, &b, page->type, 0) != ST_OK) {
		refuse(c, ST_OVERLOADED);
		return;
	}
	/* Not http/answer.h: a 503 here is a page like any other. */
	n = snprintf(text, sizeof(text),
	    "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
	    "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
	    code, code == 200 ? "OK" : "Service Unavailable", page->type,
	    c->document->len);
	if (head_only)
		c->sent = c->document->len;
	if (conn_write(&c->conn, span_of(text, (size_t)n)) != ST_OK)
		client_close(c);
	else
		send_document(c);
}

static struct client *
client_of(struct conn *conn)
{
	return loop_owner(conn, struct client, conn);
}

static void
on_data(struct conn *conn)
{
	struct client *c = client_of(conn);
	const struct page *page;
	struct head head;
	size_t used;
	enum status st;

	if (c->answered)
		return;
	st = head_parse(&c->parser, &head, &used, conn_unread(conn));
	if (st == ST_MORE)
		return;
	c->answered = true;
	page = st == ST_OK ? find_page(head.path) : NULL;
	if (st == ST_OK && head.method != HTTP_GET && head.method != HTTP_HEAD)
		st = ST_HTTP_METHOD;
	else if (st == ST_OK && page == NULL)
		st = ST_HTTP_PATH;
	bool head_only = head.method == HTTP_HEAD;
	conn_consume(conn, used);
	if (st != ST_OK)
		refuse(c, st);
	else
		serve(c, page, head_only);
}

static void
on_full(struct conn *conn)
{
	struct client *c = client_of(conn);

	if (!c->answered)
		client_close(c);
}

static void
on_eof(struct conn *conn)
{
	struct client *c = client_of(conn);

	if (!c->answered)
		client_close(c);
}

static void
on_drained(struct conn *conn)
{
	struct client *c = client_of(conn);

	if (c->document != NULL && c->sent < c->document->len)
		send_document(c);
}

static void
on_over(struct conn *conn, enum status why)
{
	(void)why;
	client_close(client_of(conn));
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
	client_close(loop_owner(d, struct client, deadline));
}

static void
accepted(struct listener *ls, int fd, void *arg)
{
	const struct head_limits limits = {
	    .bytes = HEAD_MAX, .fields = HEAD_FIELDS_DEFAULT};
	struct admin *a = arg;
	struct client *c;
	handle_t self;
	void *object;

	(void)ls;
	if (slab_take(&a->slab, &self, &object) != ST_OK) {
		close(fd);
		return;
	}
	c = object;
	c->admin = a;
	c->self = self;
	stream_init(&c->stream);
	deadline_init(&c->deadline, on_deadline);
	task_init(&c->release, release);
	head_parser_init(&c->parser, &limits);
	if (conn_open(&c->conn, a->gateway->loop, &a->chunks, &c->stream, fd,
		&conn_ops) != ST_OK) {
		slab_release(&a->slab, self);
		return;
	}
	deadline_start(a->gateway->loop, &c->deadline, TIMEOUT_MS);
	conn_resume(&c->conn);
}

/* --- life --- */

static enum status
add_listener(struct admin *a, const struct text_item *item, struct findings *f)
{
	struct gateway *g = a->gateway;
	struct listener_config lc = {
	    .mode = SOCKET_MODE,
	    .reserve = (unsigned)g->config->limits.reserve / 2,
	    .accepted = accepted,
	    .arg = a,
	};
	char path[108];
	enum status st = listener_parse(&lc, path, span_str(item->text));

	if (st == ST_OK)
		st = listener_new(&a->listeners[a->listeners_n], g->loop, &lc);
	if (st == ST_OK)
		a->listeners_n++;
	else
		findings_add(f, FINDING_ERROR,
		    (struct place){g->config->path, item->line},
		    "give metrics.listen another address",
		    "can not listen at %s: %s", item->text,
		    st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}

enum status
admin_new(struct admin **admin, struct gateway *g, struct findings *f)
{
	const struct text_list *listen = &g->config->metrics.listen;
	struct admin *a;
	enum status st = ST_OK;

	*admin = NULL;
	if (listen->n == 0)
		return ST_OK;
	if ((a = calloc(1, sizeof(*a))) == NULL)
		return ST_NO_MEMORY;
	a->gateway = g;
	chunk_pool_init(&a->chunks, 2 * HEAD_MAX, 2 * CLIENTS_MAX, 2);
	slab_init(
	    &a->slab, a->clients, a->slots, sizeof(a->clients[0]), CLIENTS_MAX);
	for (size_t i = 0;
	     i < listen->n && i < GATEWAY_LISTENERS_MAX && st == ST_OK; i++)
		st = add_listener(a, &listen->items[i], f);
	*admin = a;
	if (st != ST_OK)
		admin_free(admin);
	return st;
}

void
admin_free(struct admin **admin)
{
	struct admin *a = *admin;

	*admin = NULL;
	if (a == NULL)
		return;
	for (size_t i = 0; i < a->listeners_n; i++)
		listener_free(&a->listeners[i]);
	for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
		handle_t h;
		struct client *c = slab_nth(&a->slab, i, &h);
		if (c != NULL)
			client_close(c);
	}
	loop_settle(a->gateway->loop);
	chunk_pool_clear(&a->chunks);
	free(a);
}
