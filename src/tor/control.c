#include "tor/control.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wipe.h"
#include "net/conn.h"
#include "net/connecting.h"
#include "tor/onion_key.h"
#include "tor/reply.h"
#include "tor/safecookie.h"

#define RETRY_MS 1000
#define RETRY_MAX_MS 60000
/* For tor to accept, and to answer. */
#define ANSWER_MS 15000
#define PATH_MAX_LEN 1024
#define PASSWORD_MAX 256
#define ONION_LEN 56
/* Requests that may wait for their answers. */
#define QUEUE_MAX 64
/* The longest line either way; tor's answers to what we ask are far shorter. */
#define LINE_MAX_LEN 16384
_Static_assert(ONION_KEY_COMMAND_MAX <= LINE_MAX_LEN, "a chunk takes it");
/* Two measures of when tor began differ by so much, at most. */
#define START_SLACK_MS 3000

enum request {
	ASK_PROTOCOL,
	ASK_CHALLENGE,
	ASK_ENTRY,
	ASK_INFO,
	ASK_EVENTS,
	ASK_CLOSE,
	ASK_ADD,
};

/* Which tor process we spoke to. */
struct process {
	uint32_t pid;
	int64_t began; /* on the loop's clock, in milliseconds */
	bool known;
};

struct control {
	struct loop *loop;
	const struct control_ops *ops;
	void *arg;
	union sockaddr_any address;
	socklen_t address_len;
	char cookie_path[PATH_MAX_LEN]; /* as configured, or empty */
	char password[PASSWORD_MAX];
	char onion[ONION_LEN + 1];
	char add[ONION_KEY_COMMAND_MAX]; /* or empty */
	unsigned retry_ms, backoff_ms;

	struct control_info info;
	struct process process;
	struct chunk_pool chunks;
	struct stream stream;
	struct conn conn;
	struct connecting connecting;
	struct deadline clock; /* the next try, or the end of patience */
	struct reply_reader reader;
	uint8_t queue[QUEUE_MAX]; /* of enum request, a ring */
	unsigned first, waiting;

	/* Of this connection. */
	bool has_null, has_safecookie, has_password;
	char offered_path[PATH_MAX_LEN];
	struct safecookie secret;
	int64_t uptime_ms; /* -1: not told */
};

/* --- the connection's end --- */

static void
drop(struct control *c)
{
	conn_close(&c->conn, STREAM_ORDERLY);
	connecting_stop(&c->connecting);
	deadline_stop(c->loop, &c->clock);
	wipe(&c->secret, sizeof(c->secret));
	c->waiting = 0;
}

static void
down(struct control *c, enum status why)
{
	drop(c);
	c->info.state = CONTROL_DOWN;
	c->info.why_down = why;
	c->info.circuit_established = false;
	c->info.bootstrap = -1;
	if (c->add[0] != '\0')
		c->info.onion_added = c->info.onion_published = false;
	deadline_start(c->loop, &c->clock, c->backoff_ms);
	c->backoff_ms *= 2;
	if (c->backoff_ms > RETRY_MAX_MS)
		c->backoff_ms = RETRY_MAX_MS;
	c->ops->changed(c->arg);
}

/* --- asking --- */

/* Send TEXT, a whole command line.
 * Returns: ST_OK; else why it could not be sent. */
static enum status
ask(struct control *c, enum request request, const char *text)
{
	enum status s;

	if (c->waiting == QUEUE_MAX)
		return ST_BUSY;
	if ((s = conn_write(&c->conn, span_str(text))) != ST_OK)
		return s;
	c->queue[(c->first + c->waiting++) % QUEUE_MAX] = (uint8_t)request;
	if (!deadline_is_running(&c->clock))
		deadline_start(c->loop, &c->clock, ANSWER_MS);
	return ST_OK;
}

static void
ask_or_fall(struct control *c, enum request request, const char *text)
{
	enum status s = ask(c, request, text);

	if (s != ST_OK)
		down(c, s);
}

/* --- authentication --- */

/* Read the cookie: a file of exactly 32 bytes, whatever else an impostor may
 * have named. */
static enum status
read_cookie(struct control *c)
{
	const char *path =
	    c->cookie_path[0] != '\0' ? c->cookie_path : c->offered_path;
	uint8_t bytes[SAFECOOKIE_SIZE + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? ST_PERMISSION
							 : ST_NOT_FOUND;
	ssize_t n = read(fd, bytes, sizeof(bytes));
	close(fd);
	if (n == SAFECOOKIE_SIZE)
		memcpy(c->secret.cookie, bytes, SAFECOOKIE_SIZE);
	wipe(bytes, sizeof(bytes));
	return n == SAFECOOKIE_SIZE ? ST_OK : ST_BAD_LENGTH;
}

static void
send_challenge(struct control *c)
{
	char text[128], hex[2 * SAFECOOKIE_SIZE + 1];
	enum status s = read_cookie(c);

	if (s != ST_OK) {
		down(c, s);
		return;
	}
	randombytes_buf(c->secret.client_nonce, SAFECOOKIE_SIZE);
	hex_encode(hex, span_of(c->secret.client_nonce, SAFECOOKIE_SIZE));
	snprintf(text, sizeof(text), "AUTHCHALLENGE SAFECOOKIE %s\r\n", hex);
	ask_or_fall(c, ASK_CHALLENGE, text);
}

/* Authenticate with SECRET, whose hex form is what tor wants. */
static void
send_entry(struct control *c, span_t secret)
{
	char text[2 * PASSWORD_MAX + 32], hex[2 * PASSWORD_MAX + 1];

	hex_encode(hex, secret);
	snprintf(text, sizeof(text), "AUTHENTICATE %s\r\n", hex);
	ask_or_fall(c, ASK_ENTRY, text);
	wipe(hex, sizeof(hex));
	wipe(text, sizeof(text));
}

/* What is configured is what has to be: whoever listens there while tor is
 * away must not choose a way that proves less, or that shows the password. */
static void
authenticate(struct control *c)
{
	bool by_cookie = c->cookie_path[0] != '\0';
	bool by_password = !by_cookie && c->password[0] != '\0';

	if (by_password && c->has_password)
		send_entry(c, span_str(c->password));
	else if (!by_cookie && !by_password && c->has_null)
		ask_or_fall(c, ASK_ENTRY, "AUTHENTICATE\r\n");
	else if (!by_password && c->has_safecookie &&
	    (by_cookie || c->offered_path[0] == '/'))
		send_challenge(c);
	else
		down(c, ST_PERMISSION);
}

/* tor has to know the cookie before we show that we do. */
static void
check_challenge(struct control *c, span_t text)
{
	char hash_hex[80], nonce_hex[80];
	uint8_t theirs[SAFECOOKIE_SIZE], ours[SAFECOOKIE_SIZE];

	if (reply_value(hash_hex, sizeof(hash_hex), text, "SERVERHASH") !=
		ST_OK ||
	    reply_value(nonce_hex, sizeof(nonce_hex), text, "SERVERNONCE") !=
		ST_OK ||
	    hex_decode(theirs, sizeof(theirs), span_str(hash_hex)) != ST_OK ||
	    hex_decode(c->secret.server_nonce, SAFECOOKIE_SIZE,
		span_str(nonce_hex)) != ST_OK) {
		down(c, ST_BAD_ENCODING);
		return;
	}
	safecookie_server_hash(ours, &c->secret);
	if (!equal_ct(ours, theirs, sizeof(ours))) {
		down(c, ST_FOREIGN);
		return;
	}
	safecookie_client_hash(ours, &c->secret);
	send_entry(c, span_of(ours, sizeof(ours)));
}

/* METHOD is one of the comma separated METHODS. */
static bool
offers(const char *methods, const char *method)
{
	size_t n = strlen(method);

	for (;;) {
		if (strncmp(methods, method, n) == 0 &&
		    (methods[n] == ',' || methods[n] == '\0'))
			return true;
		if ((methods = strchr(methods, ',')) == NULL)
			return false;
		methods++;
	}
}

static void
read_protocol(struct control *c, span_t text)
{
	char methods[256];

	if (!span_equal(reply_word(text, 0), span_str("AUTH")) ||
	    reply_value(methods, sizeof(methods), text, "METHODS") != ST_OK)
		return;
	c->has_null = offers(methods, "NULL");
	c->has_safecookie = offers(methods, "SAFECOOKIE");
	c->has_password = offers(methods, "HASHEDPASSWORD");
	if (reply_value(c->offered_path, sizeof(c->offered_path), text,
		"COOKIEFILE") != ST_OK)
		c->offered_path[0] = '\0';
}

/* --- what tor says about itself --- */

static void
read_bootstrap(struct control *c, span_t text)
{
	char percent[8];
	uint64_t n;

	if (reply_value(percent, sizeof(percent), text, "PROGRESS") == ST_OK &&
	    decimal_u64(&n, span_str(percent), 100) == ST_OK)
		c->info.bootstrap = (int)n;
}

static void
read_info(struct control *c, span_t text)
{
	span_t v;
	uint64_t n;

	if (reply_info(&v, text, "version") == ST_OK) {
		text_printable(c->info.version, sizeof(c->info.version), v);
	} else if (reply_info(&v, text, "process/pid") == ST_OK) {
		if (decimal_u64(&n, v, UINT32_MAX) == ST_OK)
			c->info.pid = (uint32_t)n;
	} else if (reply_info(&v, text, "uptime") == ST_OK) {
		if (decimal_u64(&n, v, UINT32_MAX) == ST_OK)
			c->uptime_ms = (int64_t)n * 1000;
	} else if (reply_info(&v, text, "status/circuit-established") ==
	    ST_OK) {
		c->info.circuit_established = span_equal(v, span_str("1"));
	} else if (reply_info(&v, text, "status/bootstrap-phase") == ST_OK) {
		read_bootstrap(c, v);
	}
}

/* Was it this process before? What can not be told counts as no. */
static bool
is_same(const struct process *a, const struct process *b)
{
	int64_t apart =
	    a->began > b->began ? a->began - b->began : b->began - a->began;

	return a->pid != 0 && a->pid == b->pid && apart <= START_SLACK_MS;
}

static void
come_up(struct control *c)
{
	struct process now = {
	    .pid = c->uptime_ms >= 0 ? c->info.pid : 0,
	    .began = (int64_t)loop_now(c->loop) - c->uptime_ms,
	    .known = true,
	};
	bool restarted = c->process.known && !is_same(&c->process, &now);

	c->process = now;
	c->info.state = CONTROL_UP;
	c->info.why_down = ST_OK;
	c->info.connects++;
	c->backoff_ms = c->retry_ms;
	if (restarted) {
		c->info.onion_published = false;
		c->ops->restarted(c->arg);
	}
	c->ops->changed(c->arg);
	if (c->add[0] != '\0')
		ask_or_fall(c, ASK_ADD, c->add);
}

static void
ask_about_tor(struct control *c)
{
	c->info.pid = 0;
	c->uptime_ms = -1;
	/* Events first: nothing may happen unseen between the two. */
	ask_or_fall(c, ASK_EVENTS,
	    c->ops->circuit_gone != NULL
		? "SETEVENTS STATUS_CLIENT HS_DESC CIRC\r\n"
		: "SETEVENTS STATUS_CLIENT HS_DESC\r\n");
	if (c->info.state == CONTROL_DOWN)
		return;
	ask_or_fall(c, ASK_INFO,
	    "GETINFO version process/pid uptime status/circuit-established "
	    "status/bootstrap-phase\r\n");
}

/* --- events --- */

static bool
says(span_t text, unsigned n, const char *word)
{
	return span_equal(reply_word(text, n), span_str(word));
}

static void
on_event(struct control *c, span_t text)
{
	uint64_t id;

	if (says(text, 0, "STATUS_CLIENT")) {
		if (says(text, 2, "CIRCUIT_ESTABLISHED"))
			c->info.circuit_established = true;
		else if (says(text, 2, "CIRCUIT_NOT_ESTABLISHED"))
			c->info.circuit_established = false;
		else if (says(text, 2, "BOOTSTRAP"))
			read_bootstrap(c, text);
		else
			return;
	} else if (says(text, 0, "HS_DESC")) {
		if (!says(text, 1, "UPLOADED") ||
		    (c->onion[0] != '\0' && !says(text, 2, c->onion)))
			return;
		c->info.onion_published = true;
	} else {
		if (says(text, 0, "CIRC") && says(text, 2, "CLOSED") &&
		    c->ops->circuit_gone != NULL &&
		    decimal_u64(&id, reply_word(text, 1), UINT32_MAX) == ST_OK)
			c->ops->circuit_gone(c->arg, (uint32_t)id);
		return;
	}
	if (c->info.state == CONTROL_UP)
		c->ops->changed(c->arg);
}

/* --- replies --- */

static void
on_last(struct control *c, enum request request, const struct reply_line *line)
{
	bool ok = line->code == 250;

	switch (request) {
	case ASK_PROTOCOL:
		if (ok)
			authenticate(c);
		else
			down(c, ST_BAD_ENCODING);
		break;
	case ASK_CHALLENGE:
		if (ok)
			check_challenge(c, line->text);
		else
			down(c, ST_PERMISSION);
		break;
	case ASK_ENTRY:
		wipe(&c->secret, sizeof(c->secret));
		if (ok)
			ask_about_tor(c);
		else
			down(c, ST_PERMISSION);
		break;
	case ASK_INFO: /* what an old tor does not know stays unknown */
		come_up(c);
		break;
	case ASK_EVENTS:
		break;
	case ASK_CLOSE:
		c->info.circuits_closed += ok;
		break;
	case ASK_ADD:
		c->info.onion_added = ok;
		c->info.onion_refused = !ok;
		c->ops->changed(c->arg);
		break;
	}
}

static void
on_line(struct control *c, const struct reply_line *line)
{
	bool is_data = line->kind == REPLY_DATA || line->kind == REPLY_DATA_END;

	if (line->code >= 600) {
		if (!is_data)
			on_event(c, line->text);
		return;
	}
	if (c->waiting == 0) { /* nobody asked */
		down(c, ST_BAD_ENCODING);
		return;
	}
	enum request request = c->queue[c->first];
	if (line->kind == REPLY_LAST) {
		c->first = (c->first + 1) % QUEUE_MAX;
		c->waiting--;
		deadline_stop(c->loop, &c->clock);
		if (c->waiting != 0)
			deadline_start(c->loop, &c->clock, ANSWER_MS);
		on_last(c, request, line);
	} else if (line->kind == REPLY_MIDDLE && request == ASK_PROTOCOL) {
		read_protocol(c, line->text);
	} else if (line->kind == REPLY_MIDDLE && request == ASK_INFO) {
		read_info(c, line->text);
	}
}

static void
on_data(struct conn *conn)
{
	struct control *c = loop_owner(conn, struct control, conn);
	struct reply_line line;
	size_t used;
	enum status s = ST_OK;

	while (s == ST_OK && c->info.state != CONTROL_DOWN) {
		s = reply_read(&c->reader, &line, &used, conn_unread(conn));
		if (s != ST_OK)
			break;
		on_line(c, &line);
		if (c->info.state != CONTROL_DOWN)
			conn_consume(conn, used);
	}
	if (s == ST_BAD_ENCODING)
		down(c, s);
}

static void
on_full(struct conn *conn)
{
	down(loop_owner(conn, struct control, conn), ST_BAD_LENGTH);
}

static void
on_eof(struct conn *conn)
{
	down(loop_owner(conn, struct control, conn), ST_CLOSED);
}

static void
on_over(struct conn *conn, enum status why)
{
	down(loop_owner(conn, struct control, conn), why);
}

static const struct conn_ops conn_ops = {
    .data = on_data,
    .full = on_full,
    .eof = on_eof,
    .over = on_over,
};

/* --- connecting --- */

static void
on_connected(struct connecting *connecting, enum status s, int fd)
{
	struct control *c = loop_owner(connecting, struct control, connecting);

	deadline_stop(c->loop, &c->clock);
	if (s == ST_OK)
		s = conn_open(
		    &c->conn, c->loop, &c->chunks, &c->stream, fd, &conn_ops);
	if (s != ST_OK) {
		down(c, s);
		return;
	}
	c->reader = (struct reply_reader){0};
	c->first = c->waiting = 0;
	c->has_null = c->has_safecookie = c->has_password = false;
	c->offered_path[0] = '\0';
	c->info.state = CONTROL_GREETING;
	conn_resume(&c->conn);
	ask_or_fall(c, ASK_PROTOCOL, "PROTOCOLINFO 1\r\n");
}

static void
begin(struct control *c)
{
	enum status s = connecting_start(
	    &c->connecting, c->loop, &c->address, c->address_len);

	if (s == ST_OK)
		deadline_start(c->loop, &c->clock, ANSWER_MS);
	else
		down(c, s);
}

static void
on_clock(struct deadline *d)
{
	struct control *c = loop_owner(d, struct control, clock);

	if (c->info.state == CONTROL_DOWN && c->connecting.fd < 0)
		begin(c);
	else
		down(c, ST_CONNECT_TIMEOUT);
}

/* --- life --- */

static enum status
copy_text(char *out, size_t cap, const char *in)
{
	size_t n = in != NULL ? strlen(in) : 0;

	if (n >= cap)
		return ST_BAD_LENGTH;
	memcpy(out, in != NULL ? in : "", n + 1);
	return ST_OK;
}

static enum status
configure(struct control *c, const struct control_config *config)
{
	enum status s = ST_OK;

	/* Any program may listen at a port, and only a cookie that we know
	 * tells tor from it; a socket's folder belongs to who made it. */
	if (config->add != NULL && config->add[0] != '\0' &&
	    config->path == NULL && config->cookie_path == NULL)
		return ST_PERMISSION;
	if (config->path != NULL)
		s = sockaddr_of_path(
		    &c->address, &c->address_len, config->path);
	else if ((c->address_len = sockaddr_of_ip(&c->address, &config->at)) ==
	    0)
		s = ST_BAD_VALUE;
	if (s == ST_OK)
		s = copy_text(c->cookie_path, sizeof(c->cookie_path),
		    config->cookie_path);
	if (s == ST_OK)
		s = copy_text(
		    c->password, sizeof(c->password), config->password);
	if (s == ST_OK)
		s = copy_text(c->onion, sizeof(c->onion), config->onion);
	if (s == ST_OK)
		s = copy_text(c->add, sizeof(c->add), config->add);
	return s;
}

enum status
control_new(
    struct control **out, struct loop *l, const struct control_config *config)
{
	struct control *c;
	enum status s;

	*out = NULL;
	if (sodium_init() < 0)
		return ST_RANDOM;
	if ((c = calloc(1, sizeof(*c))) == NULL)
		return ST_NO_MEMORY;
	if ((s = configure(c, config)) != ST_OK) {
		free(c);
		return s;
	}
	c->loop = l;
	c->ops = config->ops;
	c->arg = config->arg;
	c->retry_ms = config->retry_ms != 0 ? config->retry_ms : RETRY_MS;
	c->backoff_ms = c->retry_ms;
	connecting_init(&c->connecting, on_connected);
	c->info.bootstrap = -1;
	stream_init(&c->stream);
	chunk_pool_init(&c->chunks, LINE_MAX_LEN, 2, 2);
	deadline_init(&c->clock, on_clock);
	deadline_start(l, &c->clock, 0);
	*out = c;
	return ST_OK;
}

void
control_free(struct control **out)
{
	struct control *c = *out;

	if (c == NULL)
		return;
	*out = NULL;
	drop(c);
	chunk_pool_clear(&c->chunks);
	wipe(c, sizeof(*c));
	free(c);
}

const struct control_info *
control_info(const struct control *c)
{
	return &c->info;
}

enum status
control_close_circuit(struct control *c, uint32_t id)
{
	char text[64];
	enum status s;

	if (c->info.state != CONTROL_UP)
		return ST_BUSY;
	snprintf(text, sizeof(text), "CLOSECIRCUIT %u\r\n", id);
	s = ask(c, ASK_CLOSE, text);
	return s == ST_OK ? ST_OK : ST_BUSY;
}
