#include "client/fetch.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client_impl.h"

#define REQUEST_MAX 512
/* For the whole of the answer, behind the dial. A list of a million members
 * is 77 MB: some minutes through tor. */
#define ANSWER_MS 600000

struct fetch {
	struct client *client;
	struct hop *hop;
	fetch_fn *fn;
	void *owner;
	struct deadline deadline;
	struct task release;
	struct response_parser parser;
	struct response head;
	bool has_head;
	char request[REQUEST_MAX];
	size_t max;
	char *body; /* head.length bytes and a NUL, once the head is there */
	size_t got;
};

static void
release(struct task *t)
{
	free(loop_owner(t, struct fetch, release));
}

static void
end(struct fetch *f)
{
	hop_close(&f->hop);
	deadline_stop(f->client->loop, &f->deadline);
	free(f->body);
	f->body = NULL;
	task_defer(f->client->loop, &f->release);
}

void
fetch_cancel(struct fetch **f)
{
	if (*f != NULL)
		end(*f);
	*f = NULL;
}

static void
finish(struct fetch *f, enum trouble why, const char *detail)
{
	fetch_fn *fn = f->fn;
	void *owner = f->owner;
	unsigned code = f->head.code;
	size_t len = f->got;
	char *body = NULL;

	if (why == TROUBLE_NONE && code == 200) {
		body = f->body;
		f->body = NULL;
	}
	end(f);
	fn(owner, why, detail, code, body, body != NULL ? len : 0);
}

static void
on_open(struct hop *h)
{
	struct fetch *f = h->owner;

	deadline_start(f->client->loop, &f->deadline, ANSWER_MS);
	if (conn_write(&h->conn, span_str(f->request)) != ST_OK)
		finish(f, TROUBLE_NOT_GATEWAY, "the connection was closed");
}

/* Read the head, if it is whole. False: there is nothing more to do now. */
static bool
read_head(struct fetch *f)
{
	size_t used;
	enum status st = response_parse(
	    &f->parser, &f->head, &used, conn_unread(&f->hop->conn));

	if (st == ST_MORE)
		return false;
	if (st != ST_OK) {
		finish(f, TROUBLE_NOT_GATEWAY, status_text(st));
		return false;
	}
	conn_consume(&f->hop->conn, used);
	f->has_head = true;
	/* Spans into the conn are not kept. */
	f->head.etag = f->head.rate_limit = span_of(NULL, 0);
	if (f->head.code != 200) {
		finish(f, TROUBLE_NONE, "");
		return false;
	}
	if (!f->head.has_length || f->head.length > f->max) {
		finish(f, TROUBLE_NOT_GATEWAY, "a document without end");
		return false;
	}
	f->body = malloc((size_t)f->head.length + 1);
	if (f->body == NULL)
		finish(f, TROUBLE_BUSY, "out of memory");
	return f->body != NULL;
}

static void
on_data(struct hop *h)
{
	struct fetch *f = h->owner;
	span_t in;

	if (!f->has_head && !read_head(f))
		return;
	in = conn_unread(&h->conn);
	if (in.len > f->head.length - f->got)
		in.len = (size_t)f->head.length - f->got;
	if (in.len > 0)
		memcpy(f->body + f->got, in.ptr, in.len);
	f->got += in.len;
	conn_consume(&h->conn, in.len);
	if (f->got == f->head.length) {
		f->body[f->got] = '\0';
		finish(f, TROUBLE_NONE, "");
	}
}

static void
on_gone(struct hop *h, enum trouble why, const char *detail)
{
	struct fetch *f = h->owner;

	f->hop = NULL;
	finish(f, why, detail);
}

static const struct hop_ops hop_ops = {
    .open = on_open,
    .data = on_data,
    .gone = on_gone,
};

static void
on_deadline(struct deadline *d)
{
	finish(loop_owner(d, struct fetch, deadline), TROUBLE_TIMEOUT, "");
}

enum status
fetch_start(struct fetch **out, struct client *c, const char *onion,
    uint16_t port, const char *path, size_t max, fetch_fn *fn, void *owner)
{
	struct fetch *f = calloc(1, sizeof(*f));
	char circuit[SITE_CIRCUIT_MAX];
	uint64_t random;
	enum status st;

	*out = NULL;
	if (f == NULL)
		return ST_NO_MEMORY;
	f->client = c;
	f->fn = fn;
	f->owner = owner;
	f->max = max;
	deadline_init(&f->deadline, on_deadline);
	task_init(&f->release, release);
	response_parser_init(&f->parser);
	snprintf(f->request, sizeof(f->request),
	    "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path,
	    onion);
	randombytes_buf(&random, sizeof(random));
	site_circuit(circuit, random, 0);
	st = hop_start(&f->hop, c, onion, port, circuit, &hop_ops, f);
	if (st != ST_OK) {
		free(f);
		return st;
	}
	*out = f;
	return ST_OK;
}
