/* postern mix probe: loops, timed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/mix.h"
#include "mix/loops.h"

enum option {
	REGISTRY,
	COUNT,
	RATE,
	SUITE,
	MEAN,
	LISTEN,
	ADDRESS,
	TIMEOUT,
	JSON,
	OPTIONS
};

static const struct cli_option options[OPTIONS + 1] = {
    [REGISTRY] = MIX_REGISTRY_OPTION,
    [COUNT] = {"count", 'n', "N", "how many loops (default: 1; 0: no end)"},
    [RATE] = {"rate", 0, "R",
	"loops a second, as a Poisson process (default: each after the "
	"other)"},
    [SUITE] = MIX_SUITE_OPTION,
    [MEAN] = MIX_MEAN_OPTION,
    [LISTEN] = MIX_LISTEN_OPTION("loops end"),
    [ADDRESS] = MIX_ADDRESS_OPTION,
    [TIMEOUT] = {"timeout", 't', "SECONDS",
	"a loop is lost so long after its delays (default: 30)"},
    [JSON] = {"json", 0, NULL, "print JSON, a line a loop"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--registry FILE [--count N] [--rate R]",
    .summary = "Send loops, three hops out and three back, and show how long "
	       "they take. With\n--rate they are cover traffic.",
    .options = options,
    .notes = "Exit status: 0 when all loops came back, 1 when one was lost.",
};

struct probe {
	struct loop *loop;
	struct loops *loops;
	uint64_t sent, count; /* 0: no end */
	uint64_t over, lost;
	bool json, poisson;
	enum status failed;
};

static void
print(const struct probe *p, enum status st, uint64_t took, uint64_t asked)
{
	if (p->json)
		printf("{\"status\": \"%s\", \"ms\": %" PRIu64
		       ", \"asked_ms\": %" PRIu64 "}\n",
		    st == ST_OK ? "ok" : "lost", took, asked);
	else if (st == ST_OK)
		printf("probe returned in %" PRIu64 " ms (its delays: %" PRIu64
		       " ms)\n",
		    took, asked);
	else
		printf("probe lost (its delays: %" PRIu64 " ms)\n", asked);
	fflush(stdout);
}

static void
on_done(void *arg, enum status st, uint64_t took_ms, uint64_t asked_ms)
{
	struct probe *p = arg;

	print(p, st, took_ms, asked_ms);
	p->over++;
	p->lost += st != ST_OK;
	if (p->over == p->count) {
		loop_stop(p->loop);
	} else if (!p->poisson) {
		p->failed = loops_send(p->loops);
		if (p->failed != ST_OK)
			loop_stop(p->loop);
	}
}

static void
on_message(void *arg, const sphinx_message_t *m)
{
	struct probe *p = arg;

	(void)loops_message(p->loops, m);
}

static enum status
run(struct probe *p, struct outbox *o, struct mix_client_config *client,
    double rate, double timeout)
{
	struct loops_config config = {.rate = rate,
	    .grace_ms = (uint64_t)(timeout * 1000),
	    .done = on_done,
	    .arg = p};
	struct mix_client *c;
	enum status st;

	client->message = on_message;
	client->arg = p;
	st = mix_client_new(&c, o, client);
	if (st != ST_OK)
		return st;
	st = loops_new(&p->loops, o, c, &config);
	if (st == ST_OK && !p->poisson)
		st = loops_send(p->loops);
	if (st == ST_OK)
		st = loop_run(p->loop);
	loops_free(&p->loops);
	mix_client_free(&c);
	return st == ST_OK ? p->failed : st;
}

int
cmd_mix_probe(int argc, char **argv)
{
	const char *name = argv[0], *values[OPTIONS];
	struct mix_client_config config;
	struct probe p = {.failed = ST_OK};
	enum sphinx_suite suite;
	struct outbox o;
	double count = 1, rate = 0, timeout = 30;
	enum status st;
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	if (!mix_suite(&suite, name, values[SUITE]) ||
	    !mix_number(&count, name, "--count", values[COUNT], 0, 1e9) ||
	    !mix_number(&rate, name, "--rate", values[RATE], 1e-4, 1e3) ||
	    !mix_client_options(
		&config, name, values[LISTEN], values[ADDRESS], values[MEAN]) ||
	    !mix_number(
		&timeout, name, "--timeout", values[TIMEOUT], 0.1, 86400))
		return CLI_ERROR;
	p.count = (uint64_t)count;
	p.json = values[JSON] != NULL;
	p.poisson = rate > 0;
	if (!mix_open(&p.loop, &o, name, values[REGISTRY], suite))
		return CLI_ERROR;
	st = run(&p, &o, &config, rate, timeout);
	mix_close(&p.loop, &o);
	if (st != ST_OK) {
		cli_error(name, "%s",
		    st == ST_SYS ? strerror(errno) : status_text(st));
		return CLI_ERROR;
	}
	return p.lost == 0 ? CLI_OK : CLI_NO;
}
