/* postern mix send: a message to a service. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/mix.h"
#include "mix/client.h"
#include "store/file.h"

enum option {
	REGISTRY,
	TO,
	SUITE,
	MEAN,
	LISTEN,
	ADDRESS,
	TIMEOUT,
	NO_REPLY,
	OPTIONS
};

static const struct cli_option options[OPTIONS + 1] = {
    [REGISTRY] = MIX_REGISTRY_OPTION,
    [TO] = {"to", 0, "ADDR", "the service"},
    [SUITE] = MIX_SUITE_OPTION,
    [MEAN] = MIX_MEAN_OPTION,
    [LISTEN] = MIX_LISTEN_OPTION("the reply arrives"),
    [ADDRESS] = MIX_ADDRESS_OPTION,
    [TIMEOUT] = {"timeout", 't', "SECONDS",
	"how long to wait for the reply (default: 60)"},
    [NO_REPLY] = {"no-reply", 0, NULL, "send no reply block"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--registry FILE --to ADDR [MESSAGE]",
    .summary = "Send MESSAGE (default: standard input) to a service through "
	       "three nodes and print\nits reply, which comes back through "
	       "three others.",
    .options = options,
    .notes = "Exit status: 0 when the reply is here (or the message is on its "
	     "way, without one),\n1 when none came, 2 when it could not be "
	     "sent.",
    .max_args = 1,
};

struct answer {
	struct loop *loop;
	bool over;
	enum status status;
};

static void
on_reply(void *arg, enum status st, const uint8_t *reply, size_t len)
{
	struct answer *a = arg;

	a->over = true;
	a->status = st;
	if (st == ST_OK &&
	    (fwrite(reply, 1, len, stdout) != len || fflush(stdout) != 0))
		a->status = ST_SYS;
	loop_stop(a->loop);
}

/* The message, to be freed. */
static char *
read_message(const char *name, const char *arg, size_t *len)
{
	char *text;
	enum status st;

	if (arg != NULL) {
		*len = strlen(arg);
		return strdup(arg);
	}
	st = file_load_fd(&text, len, STDIN_FILENO, SPHINX_MESSAGE_MAX);
	if (st != ST_OK)
		cli_error(name, "standard input: %s",
		    st == ST_SYS ? strerror(errno) : "longer than a packet");
	return text;
}

/* Send, and let the loop turn until the packet has left. */
static enum status
send_only(struct loop *l, struct mix_client *c, struct outbox *o,
    const endpoint_t *to, const sphinx_message_t *m, double timeout)
{
	uint64_t end = loop_now(l) + (uint64_t)(timeout * 1000);
	uint8_t tag[SPHINX_KEY_SIZE];
	struct mix_way way;
	enum status st;

	if ((st = tag_make(tag, to)) != ST_OK ||
	    (st = mix_client_way(c, &way, NULL, tag)) != ST_OK ||
	    (st = mix_client_send(c, &way, m)) != ST_OK)
		return st;
	while (o->counts.forwarded == 0 && st == ST_OK && loop_now(l) < end)
		st = loop_turn(l, 100);
	return st == ST_OK && o->counts.forwarded == 0 ? ST_IDLE : st;
}

static enum status
ask(struct loop *l, struct mix_client *c, const endpoint_t *to,
    const sphinx_message_t *m, double timeout)
{
	struct answer a = {.loop = l};
	enum status st = mix_client_ask(c, to, m->body, m->body_len,
	    (uint64_t)(timeout * 1000), on_reply, &a);

	if (st == ST_OK && !a.over)
		st = loop_run(l);
	return st == ST_OK ? a.status : st;
}

static int
result(const char *name, enum status st)
{
	switch ((int)st) {
	case ST_OK:
		return CLI_OK;
	case ST_IDLE:
		cli_error(name,
		    "no answer in time (is the service there? Can nodes reach "
		    "the address of --listen?)");
		return CLI_NO;
	case ST_CORRUPT:
		cli_error(name, "the reply was changed on its way");
		return CLI_NO;
	case ST_NO_SPACE:
		cli_error(name, "the message is longer than a packet");
		return CLI_ERROR;
	default:
		cli_error(name, "%s", status_text(st));
		return CLI_ERROR;
	}
}

int
cmd_mix_send(int argc, char **argv)
{
	const char *name = argv[0], *values[OPTIONS];
	struct mix_client_config config;
	sphinx_message_t m = {.kind = SPHINX_REQUEST};
	struct mix_client *c;
	enum sphinx_suite suite;
	endpoint_t to = {.port = 0};
	struct outbox o;
	struct loop *l;
	double timeout = 60;
	enum status st;
	char *text;
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	if (values[TO] == NULL) {
		cli_error(name, "--to ADDR is missing (to which service?)");
		return CLI_ERROR;
	}
	if (!mix_suite(&suite, name, values[SUITE]) ||
	    !mix_endpoint(&to, name, "--to", values[TO], false) ||
	    !mix_client_options(
		&config, name, values[LISTEN], values[ADDRESS], values[MEAN]) ||
	    !mix_number(
		&timeout, name, "--timeout", values[TIMEOUT], 0.1, 86400))
		return CLI_ERROR;
	text = read_message(name, args < argc ? argv[args] : NULL, &m.body_len);
	if (text == NULL)
		return CLI_ERROR;
	if (!mix_open(&l, &o, name, values[REGISTRY], suite)) {
		free(text);
		return CLI_ERROR;
	}
	m.body = (const uint8_t *)text;
	st = mix_client_new(&c, &o, &config);
	if (st == ST_OK && values[NO_REPLY] != NULL)
		st = send_only(l, c, &o, &to, &m, timeout);
	else if (st == ST_OK)
		st = ask(l, c, &to, &m, timeout);
	if (st == ST_SYS)
		cli_error(name, "--listen: %s", strerror(errno));
	code = st == ST_SYS ? CLI_ERROR : result(name, st);
	mix_client_free(&c);
	mix_close(&l, &o);
	free(text);
	return code;
}
