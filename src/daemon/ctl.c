#include "daemon/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/callers.h"
#include "daemon/log.h"

#define CALLERS 8
#define LINE_MAX_BYTES 4096
/* A shell of an operator's may stay a while; a dead one must not. */
#define TIMEOUT_MS 60000
#define SOCKET_MODE 0600

struct ctl {
	struct gateway *gateway;
	struct listener *listener;
	struct callers callers;
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
on_data(struct caller *c)
{
	const struct ctl *ctl = c->owner;
	span_t in = conn_unread(&c->conn);
	const uint8_t *end = memchr(in.ptr, '\n', in.len);
	struct buffer b = {0};
	struct document *d = NULL;
	char *json;

	if (end == NULL)
		return;
	json = ctl_answer(
	    ctl->gateway, (const char *)in.ptr, (size_t)(end - in.ptr));
	conn_consume(&c->conn, (size_t)(end - in.ptr) + 1);
	caller_wait_anew(c);
	if (json != NULL)
		buffer_format(&b, "%s\n", json);
	free(json);
	if (b.len == 0 || document_new(&d, &b, "application/json", 0) != ST_OK)
		d = NULL;
	caller_send(c, d);
}

static void
on_sent(struct caller *c)
{
	(void)c; /* another request may follow */
}

/* The peer is the gateway's own user, or root. */
static bool
may_command(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	    (peer.uid == 0 || peer.uid == geteuid()))
		return true;
	log_plain(EV_CONTROL_REFUSED);
	return false;
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
	    .accepted = callers_accepted,
	};
	const struct caller_rules rules = {
	    .max = CALLERS,
	    .patience_ms = TIMEOUT_MS,
	    .request_max = LINE_MAX_BYTES,
	    .admit = may_command,
	    .data = on_data,
	    .sent = on_sent,
	};
	struct ctl *c;
	enum status st;

	*out = NULL;
	if (path == NULL)
		return ST_OK;
	if ((c = calloc(1, sizeof(*c))) == NULL)
		return ST_NO_MEMORY;
	c->gateway = g;
	lc.arg = &c->callers;
	callers_init(&c->callers, g->loop, &rules, c);
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
	callers_clear(&c->callers);
	free(c);
}
