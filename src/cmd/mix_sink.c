/* postern mix sink: a destination service. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/mix.h"
#include "mix/service.h"

enum option { REGISTRY, LISTEN, SUITE, COMMAND, SOCKET, TIMEOUT, OPTIONS };

static const struct cli_option options[OPTIONS + 1] = {
    [REGISTRY] = {"registry", 'r', "FILE",
	"the network: replies go through it"},
    [LISTEN] = {"listen", 'l', "ADDR",
	"where nodes deliver (default: 127.0.0.1:0, a free port)"},
    [SUITE] = MIX_SUITE_OPTION,
    [COMMAND] = {"command", 'c', "COMMAND",
	"answer with what COMMAND writes, the message its standard input"},
    [SOCKET] = {"socket", 0, "PATH",
	"answer with what the AF_UNIX socket at PATH writes"},
    [TIMEOUT] = {"timeout", 't', "SECONDS",
	"how long an answer may take (default: 30)"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--registry FILE [--listen ADDR] [--command C | --socket PATH]",
    .summary = "Take messages from the mixnet and answer along their reply "
	       "blocks; without\n--command and --socket with an echo. Prints "
	       "its address.",
    .options = options,
};

static struct loop *running;

static void
on_signal(struct trap *t, int signo)
{
	(void)t;
	(void)signo;
	loop_stop(running);
}

/* Print the address, then serve until told to end. */
static int
serve(const char *name, struct loop *l, struct service *s, endpoint_t at)
{
	char text[ENDPOINT_TEXT_MAX];
	struct trap term, interrupt;

	at.port = service_port(s);
	endpoint_format(text, &at);
	printf("%s\n", text);
	fflush(stdout);
	running = l;
	if (trap_start(&term, l, SIGTERM, on_signal) != ST_OK ||
	    trap_start(&interrupt, l, SIGINT, on_signal) != ST_OK ||
	    loop_run(l) != ST_OK) {
		cli_error(name, "%s", strerror(errno));
		return CLI_ERROR;
	}
	trap_stop(&term);
	trap_stop(&interrupt);
	return CLI_OK;
}

int
cmd_mix_sink(int argc, char **argv)
{
	const char *name = argv[0], *values[OPTIONS];
	struct service_config config = {.listen = {{4, {127, 0, 0, 1}}, 0}};
	enum sphinx_suite suite;
	struct service *s;
	struct outbox o;
	struct loop *l;
	double timeout = 30;
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	if (!mix_suite(&suite, name, values[SUITE]) ||
	    !mix_endpoint(
		&config.listen, name, "--listen", values[LISTEN], true) ||
	    !mix_number(
		&timeout, name, "--timeout", values[TIMEOUT], 0.1, 86400))
		return CLI_ERROR;
	if (values[COMMAND] != NULL && values[SOCKET] != NULL) {
		cli_error(name, "--command and --socket: one of them");
		return CLI_ERROR;
	}
	config.timeout_ms = (uint64_t)(timeout * 1000);
	if (values[COMMAND] != NULL) {
		config.kind = SERVICE_COMMAND;
		config.target = values[COMMAND];
	} else if (values[SOCKET] != NULL) {
		config.kind = SERVICE_SOCKET;
		config.target = values[SOCKET];
	}
	if (!mix_open(&l, &o, name, values[REGISTRY], suite))
		return CLI_ERROR;
	if (service_new(&s, &o, &config) == ST_OK) {
		code = serve(name, l, s, config.listen);
		service_free(&s);
	} else {
		cli_error(name, "--listen %s: %s",
		    values[LISTEN] != NULL ? values[LISTEN] : "127.0.0.1:0",
		    strerror(errno));
		code = CLI_ERROR;
	}
	mix_close(&l, &o);
	return code;
}
