#include "mix/service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/slab.h"
#include "base/wipe.h"
#include "net/wire.h"

#define CAPACITY 64
#define TIMEOUT_MS 30000
#define CONNECTIONS 256
#define MESSAGE_MS 30000

static const char echo_prefix[] = "echo: ";

extern char **environ;

/* A request that is being worked on by somebody else: the body goes out by a
 * socket, the reply comes in by it. */
struct exchange {
	struct service *service;
	handle_t self;
	struct wire wire;
	struct deadline late;
	pid_t child; /* 0: none */
	size_t sent, body_len, have, surb_len;
	uint8_t surb[SPHINX_SURB_MAX];
	uint8_t body[SPHINX_MESSAGE_MAX], reply[SPHINX_MESSAGE_MAX];
};

struct service {
	struct outbox *outbox;
	struct service_config config;
	struct service_counts counts;
	struct inbox *inbox;
	struct slab slab;
	struct exchange *memory;
	struct slab_slot *slots;
};

/* The longest reply of the outbox's suite. */
static size_t
reply_max(const struct service *s)
{
	return s->outbox->config.suite == SPHINX_STREAM
	    ? SPHINX_REPLY_MAX_STREAM
	    : SPHINX_REPLY_MAX_WIDE;
}

static void
reply(struct service *s, const uint8_t *surb, size_t surb_len, const void *text,
    size_t len)
{
	enum status st = ST_OK;

	if (surb_len == 0)
		return;
	st = outbox_reply(s->outbox, surb, surb_len, text, len);
	if (st == ST_OK)
		s->counts.replies++;
	else
		s->counts.failed++;
}

/* --- exchanges ------------------------------------------------------------ */

static void
exchange_free(struct exchange *e)
{
	struct service *s = e->service;

	deadline_stop(s->outbox->loop, &e->late);
	wire_close(&e->wire);
	if (e->child > 0) {
		/* Its output is complete or not wanted; it leads a group of
		 * its own, with whatever it started. */
		kill(-e->child, SIGKILL);
		waitpid(e->child, NULL, 0);
	}
	wipe(&e->child, sizeof(*e) - offsetof(struct exchange, child));
	slab_release(&s->slab, e->self);
}

static void
exchange_fail(struct exchange *e)
{
	e->service->counts.failed++;
	exchange_free(e);
}

static void
on_late(struct deadline *d)
{
	exchange_fail(loop_owner(d, struct exchange, late));
}

/* Hand the body over; then say that it is all.
 * Returns: ST_OK; ST_MORE; ST_RESET. */
static enum status
send_body(struct exchange *e)
{
	enum status st = ST_OK;
	size_t n;

	while (e->sent < e->body_len && st == ST_OK) {
		st = wire_write(
		    &e->wire, e->body + e->sent, e->body_len - e->sent, &n);
		e->sent += n;
		if (e->sent == e->body_len)
			shutdown(e->wire.stream.fd, SHUT_WR);
	}
	return st;
}

static void
on_ready(struct wire *w)
{
	struct exchange *e = loop_owner(w, struct exchange, wire);
	size_t max = reply_max(e->service), n;
	uint8_t beyond;
	/* Who does not read the body may still answer.
	 * NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores) */
	enum status st = send_body(e);

	do {
		bool room = e->have < max;
		st = wire_read(w, room ? e->reply + e->have : &beyond,
		    room ? max - e->have : 1, &n);
		if (st == ST_OK && !room)
			st = ST_NO_SPACE;
		else
			e->have += n;
	} while (st == ST_OK);
	if (st == ST_MORE)
		return;
	if (st != ST_CLOSED) {
		exchange_fail(e);
		return;
	}
	reply(e->service, e->surb, e->surb_len, e->reply, e->have);
	exchange_free(e);
}

/* Start the command with one end of a socket pair as its standard input and
 * output. Returns: the other end; -1. */
static int
start_command(pid_t *child, const char *command)
{
	char shell[] = "sh", flag[] = "-c";
	char *argv[] = {shell, flag, NULL, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t pipe;
	int pair[2], failed;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	argv[2] = strdup(command);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO);
	/* A group of its own, and SIGPIPE as programs expect it. */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &pipe);
	posix_spawnattr_setflags(
	    &attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
	failed = argv[2] == NULL || fcntl(pair[0], F_SETFL, O_NONBLOCK) != 0 ||
	    posix_spawn(child, "/bin/sh", &actions, &attr, argv, environ) != 0;
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(argv[2]);
	close(pair[1]);
	if (failed) {
		*child = 0;
		close(pair[0]);
		return -1;
	}
	return pair[0];
}

static int
connect_socket(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(a.sun_path))
		return -1;
	memcpy(a.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A local socket connects at once or, its backlog full, not at all. */
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void
exchange_begin(struct service *s, const sphinx_message_t *m)
{
	struct exchange *e;
	handle_t self;
	void *object;
	int fd;

	if (slab_take(&s->slab, &self, &object) != ST_OK) {
		s->counts.refused++;
		return;
	}
	e = object;
	e->service = s;
	e->self = self;
	wire_init(&e->wire);
	deadline_init(&e->late, on_late);
	e->body_len = m->body_len;
	e->surb_len = m->surb_len;
	memcpy(e->body, m->body, m->body_len);
	if (m->surb_len > 0)
		memcpy(e->surb, m->surb, m->surb_len);
	fd = s->config.kind == SERVICE_COMMAND
	    ? start_command(&e->child, s->config.target)
	    : connect_socket(s->config.target);
	if (fd < 0 ||
	    wire_open(&e->wire, s->outbox->loop, fd, on_ready) != ST_OK) {
		exchange_fail(e);
		return;
	}
	deadline_start(s->outbox->loop, &e->late, s->config.timeout_ms);
	if (e->body_len == 0)
		shutdown(fd, SHUT_WR);
	/* The rest when the socket is ready, which it is: it says so. */
}

/* --- requests ------------------------------------------------------------- */

static void
echo(struct service *s, const sphinx_message_t *m)
{
	size_t prefix = sizeof(echo_prefix) - 1, len = prefix + m->body_len;
	uint8_t *text = malloc(len);

	if (text == NULL) {
		s->counts.failed++;
		return;
	}
	memcpy(text, echo_prefix, prefix);
	memcpy(text + prefix, m->body, m->body_len);
	if (len > reply_max(s))
		len = reply_max(s);
	reply(s, m->surb, m->surb_len, text, len);
	wipe(text, prefix + m->body_len);
	free(text);
}

static void
on_message(void *arg, uint8_t *bytes, size_t len)
{
	struct service *s = arg;
	sphinx_message_t m;

	if (sphinx_message_decode(&m, bytes, len) != ST_OK ||
	    m.kind != SPHINX_REQUEST || m.surb_len > SPHINX_SURB_MAX ||
	    m.body_len > SPHINX_MESSAGE_MAX) {
		s->counts.bad++;
		return;
	}
	if ((m.flags & SPHINX_FLAG_COVER) != 0) {
		s->counts.cover++;
		return;
	}
	s->counts.requests++;
	if (s->config.kind == SERVICE_ECHO)
		echo(s, &m);
	else
		exchange_begin(s, &m);
}

/* --- life ----------------------------------------------------------------- */

enum status
service_new(
    struct service **out, struct outbox *o, const struct service_config *config)
{
	struct service *s = calloc(1, sizeof(*s));
	struct inbox_config inbox = {CONNECTIONS, MESSAGE_MS, on_message, s};
	uint32_t capacity = config->capacity != 0 ? config->capacity : CAPACITY;
	enum status st = ST_NO_MEMORY;

	*out = s;
	if (s == NULL)
		return ST_NO_MEMORY;
	s->outbox = o;
	s->config = *config;
	if (s->config.timeout_ms == 0)
		s->config.timeout_ms = TIMEOUT_MS;
	s->memory = calloc(capacity, sizeof(*s->memory));
	s->slots = calloc(capacity, sizeof(*s->slots));
	if (s->memory != NULL && s->slots != NULL) {
		slab_init(&s->slab, s->memory, s->slots, sizeof(*s->memory),
		    capacity);
		st = inbox_new(&s->inbox, o->loop, &config->listen, &inbox);
	}
	if (st != ST_OK)
		service_free(out);
	return st;
}

void
service_free(struct service **out)
{
	struct service *s = *out;

	if (s == NULL)
		return;
	inbox_free(&s->inbox);
	for (uint32_t i = 0; i < s->slab.capacity; i++) {
		handle_t h;
		struct exchange *e = slab_nth(&s->slab, i, &h);
		if (e != NULL)
			exchange_free(e);
	}
	free(s->memory);
	free(s->slots);
	free(s);
	*out = NULL;
}

uint16_t
service_port(const struct service *s)
{
	return inbox_port(s->inbox);
}

struct service_counts
service_counts(const struct service *s)
{
	return s->counts;
}
