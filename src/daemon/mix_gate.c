#include "daemon/mix_gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/wipe.h"
#include "daemon/files.h"
#include "daemon/log.h"
#include "daemon/session.h"
#include "mix/key_file.h"

#define PARCELS 1024 /* 32 MiB */
#define LINKS 128

_Static_assert(MIX_EXIT_ID == GATE_ONCE_ID, "one id for both");

struct mix_gate {
	struct gateway *gateway;
	struct outbox outbox;
	struct mix_exit *exit;
};

/* A session for a request with this ID: the client's end. */
static int
connect_inside(void *arg, const uint8_t id[static MIX_EXIT_ID])
{
	struct mix_gate *m = arg;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		pair) != 0)
		return -1;
	session_accept_inside(m->gateway, pair[1], id);
	return pair[0];
}

static enum sphinx_suite
suite_of(const struct config *c)
{
	return (enum sphinx_suite)c->mix.suite;
}

static enum status
load_registry(struct mix_gate *m, struct findings *f)
{
	const struct config *c = m->gateway->config;
	struct registry_fault fault;
	struct registry *r;
	enum status st =
	    registry_load(&r, &fault, c->mix.registry, suite_of(c));

	if (st == ST_OK) {
		LOG(EV_MIX_REGISTRY, log_number(KEY_NODES, r->n));
		outbox_set_registry(&m->outbox, r);
		return ST_OK;
	}
	findings_add(f, FINDING_ERROR,
	    (struct place){c->mix.registry, (int)fault.line},
	    "see `postern mix layers`", "%s%s%s", fault.member,
	    fault.member[0] != '\0' ? ": " : "",
	    st == ST_SYS ? strerror(errno) : fault.what);
	return st;
}

static enum status
load_key(sphinx_key_t *key, const struct config *c, struct findings *f)
{
	enum status st = key_file_load(key, c->mix.key, FILE_OWNER);

	if (st != ST_OK)
		findings_add(f, FINDING_ERROR,
		    config_place(c, NULL, "mix", "key"),
		    st == ST_BAD_ENCODING || st == ST_NO_SPACE
			? "make one with `postern mix keygen`"
			: file_cure(st, FILE_OWNER),
		    "%s: %s", c->mix.key,
		    st == ST_BAD_ENCODING || st == ST_NO_SPACE
			? "not a mix key"
			: file_problem(st, FILE_OWNER));
	return st;
}

static enum status
make(struct mix_gate *m, struct findings *f)
{
	const struct config *c = m->gateway->config;
	struct outbox_config outbox = {
	    .suite = suite_of(c), .parcels = PARCELS, .links = LINKS};
	sphinx_key_t key;
	struct mix_exit_config exit = {
	    .key = &key,
	    .exchanges = (uint32_t)c->mix.exchanges,
	    .timeout_ms = c->mix.timeout_ms,
	    .ca_file = c->mix.ca_file,
	    .connect = connect_inside,
	    .arg = m,
	};
	enum status st = endpoint_parse(&exit.listen, span_str(c->mix.listen));

	if (st == ST_OK)
		st = outbox_init(&m->outbox, m->gateway->loop, &outbox, NULL);
	if (st == ST_OK)
		st = load_registry(m, f);
	if (st == ST_OK)
		st = load_key(&key, c, f);
	if (st == ST_OK) {
		st = mix_exit_new(&m->exit, &m->outbox, &exit);
		wipe(&key, sizeof(key));
	}
	if (st == ST_OK) {
		LOG(EV_LISTENING, log_words(KEY_PLACE, c->mix.listen));
		return ST_OK;
	}
	if (f->errors == 0)
		findings_add(f, FINDING_ERROR,
		    config_place(c, NULL, "mix",
			st == ST_NOT_FOUND ? "ca_file" : "listen"),
		    st == ST_NOT_FOUND
			? "name a file of certificates (apt install "
			  "ca-certificates)"
			: "",
		    "%s: %s",
		    st == ST_NOT_FOUND ? c->mix.ca_file : c->mix.listen,
		    st == ST_SYS ? strerror(errno) : status_text(st));
	return st;
}

enum status
mix_gate_new(struct mix_gate **out, struct gateway *g, struct findings *f)
{
	struct mix_gate *m;
	enum status st;

	*out = NULL;
	if (g->config->mix.listen == NULL)
		return ST_OK;
	m = calloc(1, sizeof(*m));
	if (m == NULL)
		return ST_NO_MEMORY;
	m->gateway = g;
	st = make(m, f);
	*out = m;
	if (st != ST_OK)
		mix_gate_free(out);
	return st;
}

void
mix_gate_free(struct mix_gate **out)
{
	struct mix_gate *m = *out;

	if (m == NULL)
		return;
	mix_exit_free(&m->exit);
	outbox_clear(&m->outbox);
	free(m);
	*out = NULL;
}

void
mix_gate_reload(struct mix_gate *m)
{
	struct findings f = {0};

	if (m != NULL && load_registry(m, &f) != ST_OK)
		LOG(EV_MIX_REGISTRY_BROKEN,
		    log_words(KEY_PLACE, f.items[0].where),
		    log_words(KEY_WHAT, f.items[0].what));
	findings_clear(&f);
}

struct mix_exit_counts
mix_gate_counts(const struct mix_gate *m)
{
	return m != NULL ? mix_exit_counts(m->exit)
			 : (struct mix_exit_counts){0};
}
