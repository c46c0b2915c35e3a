#include "daemon/admin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/callers.h"
#include "daemon/status_page.h"
#include "http/answer.h"
#include "http/head.h"

#define CALLERS 32
#define TIMEOUT_MS 10000
#define HEAD_MAX 4096
#define SOCKET_MODE 0660

struct admin {
	struct gateway *gateway;
	struct listener *listeners[GATEWAY_LISTENERS_MAX];
	size_t listeners_n;
	struct callers callers;
	char page_fields[STATUS_PAGE_FIELDS];
};

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

static void
write_status(struct buffer *b, const struct gateway *g, int *code)
{
	struct gauge_group groups[ROOT_GROUPS_MAX];
	struct gauges gauges;
	struct status_page page = {
	    .metrics = &g->metrics,
	    .history = &g->history,
	    .gauges = &gauges,
	    .starting = g->phase == GATEWAY_STARTING,
	    .wall = gateway_now(g).wall,
	};

	*code = 200;
	gateway_gauges(g, &gauges, groups);
	(void)gateway_is_ready(g, &page.why);
	status_page_render(b, &page);
}

static const struct page {
	const char *path, *type;
	bool confined; /* a page for a browser */
	void (*write)(struct buffer *b, const struct gateway *g, int *code);
} pages[] = {
    {"/", "text/html; charset=utf-8", true, write_status},
    {"/metrics", "text/plain; version=0.0.4", false, write_metrics},
    {"/healthz", "text/plain", false, write_health},
    {"/readyz", "text/plain", false, write_readiness},
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

/* Say no with status ST. */
static void
refuse(struct caller *c, enum status st)
{
	struct answer a = {.status = st, .close = true};
	char text[ANSWER_MAX];
	size_t len;

	if (answer_write(text, sizeof(text), &len, &a) != ST_OK ||
	    conn_write(&c->conn, span_of(text, len)) != ST_OK)
		caller_close(c);
	else
		caller_finish(c);
}

static void
serve(struct caller *c, const struct page *page, bool head_only)
{
	const struct admin *a = c->owner;
	struct document *d;
	struct buffer b = {0};
	char text[1024];
	int code = 200, n;

	page->write(&b, a->gateway, &code);
	if (document_new(&d, &b, page->type, 0) != ST_OK) {
		refuse(c, ST_OVERLOADED);
		return;
	}
	/* Not http/answer.h: a 503 here is a page like any other. */
	n = snprintf(text, sizeof(text),
	    "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
	    "Cache-Control: no-store\r\nConnection: close\r\n%s\r\n",
	    code, code == 200 ? "OK" : "Service Unavailable", page->type,
	    d->len, page->confined ? a->page_fields : "");
	if (conn_write(&c->conn, span_of(text, (size_t)n)) != ST_OK)
		caller_close(c);
	else if (head_only)
		caller_finish(c);
	else {
		caller_send(c, d);
		return;
	}
	document_unref(&d);
}

static void
on_data(struct caller *c)
{
	const struct head_limits limits = {
	    .bytes = HEAD_MAX, .fields = HEAD_FIELDS_DEFAULT};
	struct head_parser parser; /* a head is short: read it anew each time */
	const struct page *page;
	struct head head;
	size_t used;
	enum status st;

	head_parser_init(&parser, &limits);
	st = head_parse(&parser, &head, &used, conn_unread(&c->conn));
	if (st == ST_MORE)
		return;
	page = st == ST_OK ? find_page(head.path) : NULL;
	if (st == ST_OK && head.method != HTTP_GET && head.method != HTTP_HEAD)
		st = ST_HTTP_METHOD;
	else if (st == ST_OK && page == NULL)
		st = ST_HTTP_PATH;
	bool head_only = head.method == HTTP_HEAD;
	conn_consume(&c->conn, used);
	if (st != ST_OK)
		refuse(c, st);
	else
		serve(c, page, head_only);
}

/* --- life --- */

static enum status
add_listener(struct admin *a, const struct text_item *item, struct findings *f)
{
	struct gateway *g = a->gateway;
	struct listener_config lc = {
	    .mode = SOCKET_MODE,
	    .reserve = (unsigned)g->config->limits.reserve / 2,
	    .accepted = callers_accepted,
	    .arg = &a->callers,
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
	const struct caller_rules rules = {
	    .max = CALLERS,
	    .patience_ms = TIMEOUT_MS,
	    .request_max = 2 * HEAD_MAX,
	    .data = on_data,
	};

	*admin = NULL;
	if (listen->n == 0)
		return ST_OK;
	if ((a = calloc(1, sizeof(*a))) == NULL)
		return ST_NO_MEMORY;
	a->gateway = g;
	status_page_fields(a->page_fields);
	callers_init(&a->callers, g->loop, &rules, a);
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
	callers_clear(&a->callers);
	free(a);
}
