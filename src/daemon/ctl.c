#include "daemon/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/slab.h"
#include "daemon/buffer.h"
#include "daemon/document.h"
#include "daemon/log.h"
#include "net/conn.h"

#define CLIENTS_MAX 8
#define LINE_MAX_BYTES 4096
/* A shell of an operator's may stay a while; a dead one must not. */
#define TIMEOUT_MS 60000
#define SOCKET_MODE 0600

struct client {
	struct ctl *ctl;
	handle_t self;
	struct conn conn;
	struct stream stream;
	struct deadline deadline;
	struct task release;
	struct document *answer; /* on its way */
	size_t sent;
	bool over;
};

struct ctl {
	struct gateway *gateway;
	struct chunk_pool chunks;
	struct listener *listener;
	struct slab slab;
	struct slab_slot slots[CLIENTS_MAX];
	struct client clients[CLIENTS_MAX];
};

/* --- requests --- */

static json_t *
findings_json(const struct findings *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->n; i++) {
		const struct finding *item = &f->items[i];
		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:s, s:s}", "severity",
			severity_name(item->severity), "where", item->where,
			"what", item->what, "cure", item->cure));
	}
	return list;
}

static const struct ctl_command *
find_command(const char *name)
{
	const struct ctl_command *c = ctl_commands;

	while (c->name != NULL && strcmp(c->name, name) != 0)
		c++;
	return c->name != NULL ? c : NULL;
}

/* Do what REQUEST asks; the result, or NULL with *error. */
static json_t *
obey(struct gateway *g, json_t *request, const char **error, struct findings *f)
{
	const json_t *version = json_object_get(request, "version");
	const char *name =
	    json_string_value(json_object_get(request, "command"));
	const char *argument =
	    json_string_value(json_object_get(request, "argument"));
	const struct ctl_command *c;

	*error = NULL;
	if (!json_is_integer(version) ||
	    json_integer_value(version) != CTL_VERSION) {
		*error = "this gateway speaks version 1 of the control "
			 "protocol";
		return NULL;
	}
	c = name != NULL ? find_command(name) : NULL;
	if (c == NULL) {
		*error = "there is no such command";
		return NULL;
	}
	if (c->arg != NULL && argument == NULL) {
		*error = "the command wants an argument";
		return NULL;
	}
	if (strcmp(name, "status") != 0)
		LOG(EV_CONTROL_COMMAND, log_words(KEY_COMMAND, c->name));
	return c->run(g, argument, error, f);
}

char *
ctl_answer(struct gateway *g, const char *request, size_t len)
{
	const char *error = NULL;
	struct findings f = {0};
	json_t *in = json_loadb(request, len, JSON_REJECT_DUPLICATES, NULL);
	json_t *out = json_object(), *result = NULL;
	char *text;

	if (!json_is_object(in))
		error = "a request is one JSON object on a line";
	else
		result = obey(g, in, &error, &f);
	json_object_set_new(out, "version", json_integer(CTL_VERSION));
	json_object_set_new(out, "ok", json_boolean(result != NULL));
	if (result != NULL)
		json_object_set_new(out, "result", result);
	else
		json_object_set_new(
		    out, "error", json_string(error ? error : "failed"));
	if (f.n > 0)
		json_object_set_new(out, "findings", findings_json(&f));
	text = json_dumps(out, JSON_COMPACT);
	json_decref(out);
	json_decref(in);
	findings_clear(&f);
	return text;
}

/* --- connections --- */

static void
client_close(struct client *c)
{
	struct ctl *ctl = c->ctl;

	if (c->over)
		return;
	c->over = true;
	deadline_stop(ctl->gateway->loop, &c->deadline);
	conn_close(&c->conn, STREAM_ORDERLY);
	document_unref(&c->answer);
	task_defer(ctl->gateway->loop, &c->release);
}

static void
release(struct task *t)
{
	struct client *c = loop_owner(t, struct client, release);

	slab_release(&c->ctl->slab, c->self);
}

static void
send_answer(struct client *c)
{
	enum status st = document_send(&c->conn, c->answer, &c->sent);

	if (st == ST_MORE)
		return;
	document_unref(&c->answer);
	if (st == ST_OK)
		conn_resume(&c->conn); /* another request may follow */
	else
		client_close(c);
}

/* Answer the request in the LEN bytes at TEXT. */
static void
answer(struct client *c, const char *text, size_t len)
{
	char *json = ctl_answer(c->ctl->gateway, text, len);
	struct buffer b = {0};

	if (json != NULL)
		buffer_format(&b, "%s\n", json);
	free(json);
	c->sent = 0;
	if (document_new(&c->answer, &b, "application/json", 0) != ST_OK) {
		client_close(c);
		return;
	}
	conn_pause(&c->conn);
	send_answer(c);
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
	span_t in = conn_unread(conn);
	const uint8_t *end = memchr(in.ptr, '\n', in.len);
	char line[LINE_MAX_BYTES];
	size_t len;

	if (end == NULL || c->answer != NULL)
		return;
	len = (size_t)(end - in.ptr);
	if (len > sizeof(line)) {
		client_close(c);
		return;
	}
	memcpy(line, in.ptr, len);
	conn_consume(conn, len + 1);
	deadline_start(c->ctl->gateway->loop, &c->deadline, TIMEOUT_MS);
	answer(c, line, len);
}

static void
on_close(struct conn *conn)
{
	client_close(client_of(conn));
}

static void
on_drained(struct conn *conn)
{
	struct client *c = client_of(conn);

	if (c->answer != NULL)
		send_answer(c);
}

static void
on_over(struct conn *conn, enum status why)
{
	(void)why;
	client_close(client_of(conn));
}

static const struct conn_ops conn_ops = {
    .data = on_data,
    .full = on_close,
    .eof = on_close,
    .drained = on_drained,
    .over = on_over,
};

static void
on_deadline(struct deadline *d)
{
	client_close(loop_owner(d, struct client, deadline));
}

/* The peer is the gateway's own user, or root. */
static bool
may_command(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	    (peer.uid == 0 || peer.uid == geteuid());
}

static void
accepted(struct listener *ls, int fd, void *arg)
{
	struct ctl *ctl = arg;
	struct client *c;
	handle_t self;
	void *object;

	(void)ls;
	if (!may_command(fd)) {
		log_plain(EV_CONTROL_REFUSED);
		close(fd);
		return;
	}
	if (slab_take(&ctl->slab, &self, &object) != ST_OK) {
		close(fd);
		return;
	}
	c = object;
	c->ctl = ctl;
	c->self = self;
	stream_init(&c->stream);
	deadline_init(&c->deadline, on_deadline);
	task_init(&c->release, release);
	if (conn_open(&c->conn, ctl->gateway->loop, &ctl->chunks, &c->stream,
		fd, &conn_ops) != ST_OK) {
		slab_release(&ctl->slab, self);
		return;
	}
	deadline_start(ctl->gateway->loop, &c->deadline, TIMEOUT_MS);
	conn_resume(&c->conn);
}

/* --- life --- */

enum status
ctl_new(struct ctl **out, struct gateway *g, struct findings *f)
{
	const char *path = g->config->control.socket;
	struct listener_config lc = {
	    .kind = LISTEN_UNIX,
	    .path = path,
	    .mode = SOCKET_MODE,
	    .reserve = (unsigned)g->config->limits.reserve / 2,
	    .accepted = accepted,
	};
	struct ctl *c;
	enum status st;

	*out = NULL;
	if (path == NULL)
		return ST_OK;
	if ((c = calloc(1, sizeof(*c))) == NULL)
		return ST_NO_MEMORY;
	c->gateway = g;
	lc.arg = c;
	chunk_pool_init(&c->chunks, LINE_MAX_BYTES, 2 * CLIENTS_MAX, 2);
	slab_init(
	    &c->slab, c->clients, c->slots, sizeof(c->clients[0]), CLIENTS_MAX);
	st = listener_new(&c->listener, g->loop, &lc);
	*out = c;
	if (st == ST_OK)
		return ST_OK;
	findings_add(f, FINDING_ERROR,
	    config_place(g->config, NULL, "control", "socket"),
	    st == ST_SYS && errno == EADDRINUSE
		? "is another gateway running?"
		: "its folder must exist and belong to the gateway's user",
	    "can not listen at %s: %s", path,
	    st == ST_SYS ? strerror(errno) : status_text(st));
	ctl_free(out);
	return st;
}

void
ctl_free(struct ctl **ctl)
{
	struct ctl *c = *ctl;

	*ctl = NULL;
	if (c == NULL)
		return;
	listener_free(&c->listener);
	for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
		handle_t h;
		struct client *client = slab_nth(&c->slab, i, &h);
		if (client != NULL)
			client_close(client);
	}
	loop_settle(c->gateway->loop);
	chunk_pool_clear(&c->chunks);
	free(c);
}
