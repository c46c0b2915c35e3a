/* postern mix node: a mix node. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <sodium.h>

#include "base/version.h"
#include "base/wipe.h"
#include "cmd/mix.h"
#include "cmd/mix_metrics.h"
#include "daemon/log.h"
#include "daemon/sandbox.h"
#include "mix/key_file.h"
#include "store/file.h"

#define DELIVER_MAX 32
#define CHECK_MS 5000 /* of the registry's file */
#define DRAIN_MS 30000
#define DRAIN_TURN_MS 100
#define DEFAULT_CAPACITY 4000000

enum option {
	KEY,
	REGISTRY,
	LISTEN,
	SUITE,
	TLS,
	DELIVER,
	STATE,
	EPOCH,
	GRACE,
	ANNOUNCE,
	ADDRESS,
	STAKE,
	MAX_DELAY,
	HOLD,
	TAGS,
	LOOPS,
	LOOP_MEAN,
	INBOX,
	INBOX_ADDRESS,
	METRICS,
	NO_SANDBOX,
	OPTIONS
};

static const struct cli_option options[OPTIONS + 1] = {
    [KEY] = {"key", 'k', "FILE", "the node's key"},
    [REGISTRY] = {"registry", 'r', "FILE",
	"the network; read again when it changes"},
    [LISTEN] = {"listen", 'l', "ADDR", "where packets come in"},
    [SUITE] = MIX_SUITE_OPTION,
    [TLS] = {"tls", 0, NULL,
	"take TLS links only (the registry must have the node's `link`)"},
    [DELIVER] = {"deliver", 'd', "LIST",
	"deliver there too, not only to public addresses: networks and "
	"addresses with a port, with commas between"},
    [STATE] = {"state", 's', "DIR",
	"remember there what was seen, so that a restart replays nothing; and "
	"keys"},
    [EPOCH] = {"epoch", 0, "SECONDS",
	"a new key so often (default: 0, never; needs --state)"},
    [GRACE] = {"grace", 0, "SECONDS",
	"how long the old key is still taken (default: 3600)"},
    [ANNOUNCE] = {"announce", 0, "FILE",
	"keep the node's registry entry there, with its next key"},
    [ADDRESS] = {"address", 'a', "ADDR",
	"... with this address (default: that of --listen)"},
    [STAKE] = {"stake", 0, "N", "... and this stake (default: 0)"},
    [MAX_DELAY] = {"max-delay", 0, "MS",
	"hold no packet longer (default: 3600000)"},
    [HOLD] = {"hold", 0, "N",
	"packets in memory, 32 KiB each; beyond, the oldest goes (default: "
	"2048)"},
    [TAGS] = {"tags", 0, "N",
	"packets a key can open, 13 bytes each (default: 4000000)"},
    [LOOPS] = {"loops", 0, "RATE",
	"send so many loops a second, as cover and to watch the others "
	"(default: 0)"},
    [LOOP_MEAN] = {"loop-mean", 0, "MS",
	"... with this mean delay at each hop (default: 50)"},
    [INBOX] = {"inbox", 0, "ADDR",
	"... which end here (default: the host of --listen, a free port)"},
    [INBOX_ADDRESS] = {"inbox-address", 0, "ADDR",
	"... as nodes reach it, if that is another address"},
    [METRICS] = {"metrics", 0, "ADDR", "serve /metrics and /healthz there"},
    [NO_SANDBOX] = {"no-sandbox", 0, NULL,
	"run without walls around it (as `postern run` has them)"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--key FILE --registry FILE --listen ADDR [OPTION...]",
    .summary = "Run a mix node. TERM lets what it holds go and ends, a second "
	       "TERM ends at once,\nHUP reads the registry again.",
    .options = options,
};

/* Everything that runs. */
struct runner {
	const char *name;
	const char *const *values;
	struct loop *loop;
	struct mix_node *node;
	struct mix_metrics *metrics;
	struct deadline check, drain;
	uint64_t drain_until; /* ms; 0: not draining */
	struct trap term, interrupt, hangup;
	struct sandbox sandbox;
	struct timespec changed; /* of the registry that is in force */
	enum sphinx_suite suite;
	endpoint_t address;
	double stake;
};

/* --- registry ------------------------------------------------------------- */

static void
take_registry(struct runner *r, struct registry *registry)
{
	struct stat st;

	if (stat(r->values[REGISTRY], &st) == 0)
		r->changed = st.st_mtim;
	LOG(EV_MIX_REGISTRY, log_number(KEY_NODES, registry->n));
	mix_node_set_registry(r->node, registry);
}

static void
load_registry(struct runner *r)
{
	const char *path = r->values[REGISTRY];
	struct registry_fault f;
	struct registry *registry;
	struct stat st;
	char place[512];

	if (registry_load(&registry, &f, path, r->suite) == ST_OK) {
		take_registry(r, registry);
		return;
	}
	/* Told once, until it changes again. */
	if (stat(path, &st) == 0)
		r->changed = st.st_mtim;
	snprintf(place, sizeof(place), "%s:%u %s", path, f.line, f.member);
	LOG(EV_MIX_REGISTRY_BROKEN, log_words(KEY_PLACE, place),
	    log_words(KEY_WHAT, f.what));
}

static void
on_check(struct deadline *d)
{
	struct runner *r = loop_owner(d, struct runner, check);
	struct stat st;

	if (stat(r->values[REGISTRY], &st) == 0 &&
	    (st.st_mtim.tv_sec != r->changed.tv_sec ||
		st.st_mtim.tv_nsec != r->changed.tv_nsec))
		load_registry(r);
	deadline_start(r->loop, d, CHECK_MS);
}

static void
announce(struct runner *r)
{
	const char *path = r->values[ANNOUNCE];
	char *text;

	if (path == NULL)
		return;
	text = mix_node_announcement(r->node, &r->address, (uint64_t)r->stake);
	if (text == NULL ||
	    file_replace(path, text, strlen(text), 0644) != ST_OK)
		LOG(EV_FINDING, log_words(KEY_PLACE, path),
		    log_words(KEY_WHAT, "it can not be written"));
	free(text);
}

static void
on_event(void *arg, enum mix_event e, enum status st, const char *problem)
{
	struct runner *r = arg;

	switch (e) {
	case MIX_KEY_TURNED:
		announce(
		    r); /* before it is told: whoever reads of it may look */
		log_plain(EV_MIX_KEY_TURNED);
		break;
	case MIX_KEY_FAILED:
		LOG(EV_MIX_KEY_FAILED, log_status(KEY_CAUSE, st),
		    log_words(KEY_FILE, problem));
		break;
	case MIX_JOURNAL_FAILED:
		LOG(EV_MIX_JOURNAL_FAILED, log_status(KEY_CAUSE, st));
		break;
	case MIX_JOURNAL_BACK:
		log_plain(EV_MIX_JOURNAL_BACK);
		break;
	case MIX_FILTER_FULL:
		log_plain(EV_MIX_FILTER_FULL);
		break;
	}
}

/* --- signals -------------------------------------------------------------- */

static void
on_hangup(struct trap *t, int signo)
{
	(void)signo;
	load_registry(loop_owner(t, struct runner, hangup));
}

static void
on_drain(struct deadline *d)
{
	struct runner *r = loop_owner(d, struct runner, drain);

	if (mix_node_state(r->node).parcels == 0 ||
	    loop_now(r->loop) >= r->drain_until)
		loop_stop(r->loop);
	else
		deadline_start(r->loop, d, DRAIN_TURN_MS);
}

static void
end(struct runner *r)
{
	if (r->drain_until != 0) {
		loop_stop(r->loop);
		return;
	}
	log_plain(EV_MIX_DRAINING);
	mix_node_drain(r->node);
	r->drain_until = loop_now(r->loop) + DRAIN_MS;
	deadline_start(r->loop, &r->drain, 0);
}

static void
on_term(struct trap *t, int signo)
{
	(void)signo;
	end(loop_owner(t, struct runner, term));
}

static void
on_interrupt(struct trap *t, int signo)
{
	(void)signo;
	end(loop_owner(t, struct runner, interrupt));
}

/* --- options -------------------------------------------------------------- */

/* Where deliveries may go besides public addresses. */
struct destinations {
	struct address_policy policy;
	ip_net_t nets[DELIVER_MAX];
	endpoint_t endpoints[DELIVER_MAX];
};

static bool
read_destinations(struct destinations *d, const char *name, const char *list)
{
	while (list != NULL && *list != '\0') {
		size_t len = strcspn(list, ",");
		span_t word = span_of(list, len);
		if (d->policy.n_allow == DELIVER_MAX ||
		    d->policy.n_except == DELIVER_MAX) {
			cli_error(
			    name, "--deliver: at most %d places", DELIVER_MAX);
			return false;
		}
		if (endpoint_parse(&d->endpoints[d->policy.n_except], word) ==
		    ST_OK) {
			d->policy.n_except++;
		} else if (ip_net_parse(&d->nets[d->policy.n_allow], word) ==
		    ST_OK) {
			d->policy.n_allow++;
		} else {
			cli_error(name,
			    "--deliver %.*s: a network like 10.0.0.0/8, or an "
			    "address like 127.0.0.1:9100",
			    (int)len, list);
			return false;
		}
		list += len + (list[len] == ',');
	}
	d->policy.allow = d->nets;
	d->policy.except = d->endpoints;
	return true;
}

/* The numbers, with their ranges. */
static bool
read_numbers(struct mix_node_config *c, struct runner *r)
{
	const char *name = r->name, *const *v = r->values;
	double epoch = 0, grace = 3600, max_delay = 0, hold = 0;
	double tags = DEFAULT_CAPACITY;

	c->loop_mean_ms = 50;
	if (!mix_number(&epoch, name, "--epoch", v[EPOCH], 0, 1e9) ||
	    !mix_number(&grace, name, "--grace", v[GRACE], 0, 1e9) ||
	    !mix_number(&r->stake, name, "--stake", v[STAKE], 0, 1e15) ||
	    !mix_number(
		&max_delay, name, "--max-delay", v[MAX_DELAY], 1, 8.64e7) ||
	    !mix_number(&hold, name, "--hold", v[HOLD], 1024, 1e6) ||
	    !mix_number(&tags, name, "--tags", v[TAGS], 1000, 1e9) ||
	    !mix_number(&c->loop_rate, name, "--loops", v[LOOPS], 0, 1000) ||
	    !mix_number(
		&c->loop_mean_ms, name, "--loop-mean", v[LOOP_MEAN], 0, 3.6e6))
		return false;
	if (epoch > 0 && v[STATE] == NULL) {
		cli_error(
		    name, "--epoch: where shall the keys go? (--state DIR)");
		return false;
	}
	if (epoch > 0 && grace > epoch) {
		cli_error(name, "--grace: not longer than --epoch");
		return false;
	}
	c->keys.epoch = (int64_t)epoch;
	c->keys.grace = (int64_t)grace;
	c->keys.capacity = (uint64_t)tags;
	c->max_delay_ms = (uint32_t)max_delay;
	c->outbox.parcels = (size_t)hold;
	return true;
}

static bool
read_addresses(struct mix_node_config *c, struct runner *r)
{
	const char *name = r->name, *const *v = r->values;

	if (v[LISTEN] == NULL) {
		cli_error(name, "--listen ADDR is missing");
		return false;
	}
	if (!mix_endpoint(&c->listen, name, "--listen", v[LISTEN], true))
		return false;
	r->address = c->listen;
	c->inbox.listen = c->listen;
	c->inbox.listen.port = 0;
	if (!mix_endpoint(&r->address, name, "--address", v[ADDRESS], false) ||
	    !mix_endpoint(&c->inbox.listen, name, "--inbox", v[INBOX], true))
		return false;
	c->inbox.address = c->inbox.listen;
	return mix_endpoint(&c->inbox.address, name, "--inbox-address",
	    v[INBOX_ADDRESS], false);
}

static bool
read_config(struct mix_node_config *c, struct destinations *d, struct runner *r)
{
	const char *const *v = r->values;
	enum status st;

	if (v[KEY] == NULL || v[REGISTRY] == NULL) {
		cli_error(r->name, "%s is missing",
		    v[KEY] == NULL ? "--key FILE" : "--registry FILE");
		return false;
	}
	if (!mix_suite(&r->suite, r->name, v[SUITE]) ||
	    !read_destinations(d, r->name, v[DELIVER]) || !read_numbers(c, r) ||
	    !read_addresses(c, r))
		return false;
	st = key_file_load(&c->keys.identity, v[KEY], FILE_OWNER);
	if (st != ST_OK) {
		mix_key_error(r->name, v[KEY], st);
		return false;
	}
	c->outbox.suite = r->suite;
	c->keys.dir = v[STATE];
	c->tls = v[TLS] != NULL;
	c->deliver = &d->policy;
	c->event = on_event;
	c->arg = r;
	return true;
}

/* --- running -------------------------------------------------------------- */

/* --- walls ---------------------------------------------------------------- */

static bool
wall_failed(const struct runner *r, enum wall wall)
{
	cli_error(r->name,
	    "the wall \"%s\" can not be raised: %s (--no-sandbox goes on "
	    "without walls)",
	    wall_name(wall), strerror(errno));
	return false;
}

/* Before the first thread: they take with them what their maker has. */
static bool
enter_walls(struct runner *r)
{
	const struct sandbox_service what = {.read = r->values[REGISTRY],
	    .write = r->values[ANNOUNCE],
	    .folder = r->values[STATE]};
	enum wall wall;

	if (r->values[NO_SANDBOX] != NULL)
		return true;
	return sandbox_enter_service(&r->sandbox, &wall, &what) == ST_OK ||
	    wall_failed(r, wall);
}

/* When all threads run and all sockets listen. */
static bool
seal_walls(struct runner *r)
{
	char list[SANDBOX_LIST_MAX];
	enum wall wall;

	if (r->values[NO_SANDBOX] != NULL)
		return true;
	if (sandbox_seal_service(&r->sandbox, &wall) != ST_OK)
		return wall_failed(r, wall);
	sandbox_list(list, &r->sandbox);
	LOG(EV_WALLS, log_words(KEY_WHAT, list));
	return true;
}

static bool
start(struct runner *r, const struct mix_node_config *c)
{
	char problem[256] = "";
	struct registry *registry;
	endpoint_t at;
	enum status st = loop_new(&r->loop);

	if (st == ST_OK)
		st = mix_node_new(&r->node, problem, r->loop, c);
	if (st != ST_OK) {
		cli_error(r->name, "%s%s%s", problem,
		    problem[0] != '\0' ? ": " : "",
		    st == ST_SYS ? strerror(errno) : status_text(st));
		return false;
	}
	/* One that is wrong later is not taken; one that is wrong now is told
	 * to whoever starts the node. */
	if (mix_registry(&registry, r->name, r->values[REGISTRY], r->suite) !=
	    ST_OK)
		return false;
	if (registry_find(registry, c->keys.identity.id) == NULL)
		cli_error(r->name,
		    "warning: %s does not have this node: nobody will send it "
		    "packets",
		    r->values[REGISTRY]);
	take_registry(r, registry);
	if (r->values[METRICS] == NULL)
		return true;
	if (!mix_endpoint(&at, r->name, "--metrics", r->values[METRICS], true))
		return false;
	if (mix_metrics_new(&r->metrics, r->loop, &at, r->node) == ST_OK)
		return true;
	cli_error(
	    r->name, "--metrics %s: %s", r->values[METRICS], strerror(errno));
	return false;
}

static int
run(struct runner *r)
{
	char text[ENDPOINT_TEXT_MAX];

	if (r->address.port == 0)
		r->address.port = mix_node_port(r->node);
	endpoint_format(text, &r->address);
	deadline_init(&r->check, on_check);
	deadline_init(&r->drain, on_drain);
	if (trap_start(&r->term, r->loop, SIGTERM, on_term) != ST_OK ||
	    trap_start(&r->interrupt, r->loop, SIGINT, on_interrupt) != ST_OK ||
	    trap_start(&r->hangup, r->loop, SIGHUP, on_hangup) != ST_OK) {
		cli_error(r->name, "%s", strerror(errno));
		return CLI_ERROR;
	}
	if (!seal_walls(r))
		return CLI_ERROR;
	announce(r);
	deadline_start(r->loop, &r->check, CHECK_MS);
	LOG(EV_MIX_READY, log_words(KEY_VERSION, POSTERN_VERSION));
	/* For scripts: where it listens. */
	printf("%s\n", text);
	fflush(stdout);
	enum status st = loop_run(r->loop);
	trap_end(&r->term);
	trap_end(&r->interrupt);
	trap_end(&r->hangup);
	deadline_stop(r->loop, &r->check);
	deadline_stop(r->loop, &r->drain);
	log_plain(EV_MIX_STOPPED);
	return st == ST_OK ? CLI_OK : CLI_ERROR;
}

int
cmd_mix_node(int argc, char **argv)
{
	const char *values[OPTIONS];
	struct runner r = {.name = argv[0], .values = values};
	struct mix_node_config c = {.loop_rate = 0};
	struct destinations d = {.policy = {.n_allow = 0}};
	struct rlimit limit;
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	if (sodium_init() < 0) {
		cli_error(r.name, "%s", status_text(ST_RANDOM));
		return CLI_ERROR;
	}
	code = CLI_ERROR;
	signal(SIGPIPE, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)!setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (read_config(&c, &d, &r) && enter_walls(&r) && start(&r, &c))
		code = run(&r);
	wipe(&c.keys.identity, sizeof(c.keys.identity));
	mix_metrics_free(&r.metrics);
	mix_node_free(&r.node);
	if (r.loop != NULL)
		loop_settle(r.loop);
	loop_free(&r.loop);
	return code;
}
