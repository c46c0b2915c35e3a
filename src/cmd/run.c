/* postern run: the gateway. */
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/version.h"
#include "cmd/commands.h"
#include "cmd/daemon_args.h"
#include "daemon/gateway.h"
#include "daemon/log.h"

static const struct cli_option options[] = {
    DAEMON_ARGS_CONFIG,
    DAEMON_ARGS_SET,
    {NULL, 0, NULL, NULL},
};

/* As many descriptors as the system lets us have: two for each tunnel. */
static void
raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		/* Without more it runs with what there is. */
		(void)!setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* What is not as it should be, and yet no reason not to start. */
static void
log_warnings(const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		LOG(EV_FINDING, log_words(KEY_PLACE, f->items[i].where),
		    log_words(KEY_WHAT, f->items[i].what),
		    log_words(KEY_CURE, f->items[i].cure));
}

/* Block or unblock HUP. While there is nobody to take it, before the gateway
 * runs and after, it has to wait: what it does by itself is to end us. */
static void
mask_reload(int how)
{
	sigset_t hup;

	sigemptyset(&hup);
	sigaddset(&hup, SIGHUP);
	pthread_sigmask(how, &hup, NULL);
}

/* Make, start and run a gateway for CONFIG, whose reference is taken. */
static enum status
run(struct config *config, const struct daemon_args *args, struct findings *f)
{
	struct gateway *g;
	enum status st =
	    gateway_new(&g, config, args->overrides, args->overrides_n, f);

	if (st == ST_OK)
		st = gateway_start(g, f);
	if (st == ST_OK) {
		log_warnings(f);
		mask_reload(SIG_UNBLOCK);
		st = gateway_run(g);
		mask_reload(SIG_BLOCK);
	}
	gateway_free(&g);
	return st;
}

int
cmd_run(int argc, char **argv)
{
	const char *values[sizeof(options) / sizeof(options[0])];
	char *keys = daemon_args_keys();
	struct cli_spec spec = {
	    .synopsis = "[-c FILE] [--set KEY=VALUE...]",
	    .summary = "Run the gateway until it is told to end. TERM drains "
		       "it, a second TERM ends it\nat once, HUP reloads "
		       "configuration and members.",
	    .options = options,
	    .notes = keys,
	    .min_args = 0,
	    .max_args = 0,
	};
	struct daemon_args args;
	struct findings f = {0};
	struct config *config;
	int code = daemon_args_parse(&args, &spec, argc, argv, values);
	enum status st;

	free(keys);
	if (code >= 0)
		return code;
	if (sodium_init() < 0) {
		cli_error(argv[0], "the system gives no randomness");
		return CLI_ERROR;
	}
	mask_reload(SIG_BLOCK);
	/* The seed of jansson's tables comes from a file, which the sandbox
	 * will close to us; else it would be the time. */
	json_object_seed(0);
	st = config_load(&config, &f, args.path,
	    (const char *const *)args.overrides, args.overrides_n);
	if (st == ST_OK) {
		log_configure(
		    config->log.level, config->log.format, config->log.target);
		LOG(EV_STARTING, log_words(KEY_VERSION, POSTERN_VERSION));
		raise_descriptors();
		st = run(config, &args, &f);
	}
	if (st != ST_OK) {
		log_plain(EV_START_FAILED);
		findings_print(&f, stderr);
	}
	findings_clear(&f);
	log_configure(LEVEL_NOTICE, FORMAT_PLAIN, TARGET_STDERR);
	return st == ST_OK ? CLI_OK : CLI_ERROR;
}
