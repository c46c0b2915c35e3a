/* postern client: the member's local proxy. */
#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client.h"
#include "cmd/cli.h"
#include "cmd/client_args.h"
#include "cmd/client_ask.h"
#include "cmd/client_child.h"
#include "cmd/client_state.h"
#include "cmd/commands.h"
#include "cmd/https.h"
#include "cmd/identity_load.h"
#include "cmd/secrets.h"
#include "net/loop.h"
#include "store/file.h"

/* One run of the command. */
struct running {
	const char *name;
	struct client_args *args;
	struct client_state *state;
	const char *token; /* NULL: none is wanted */
	struct identity *id;
	struct mint *mint; /* opened for trees of up to `depth` */
	uint32_t depth;
	char **argv;

	struct loop *loop;
	struct client *client;
	struct trap traps[3]; /* INT, TERM, CHLD */
	bool terminal, on_line; /* stderr; a progress line is on it */
	bool wrote_env;
	pid_t child; /* 0: none */
	int code;
};

/* --- what the client tells -------------------------------------------------- */

static void
end_line(struct running *r)
{
	if (r->on_line)
		fputs("\r\033[K", stderr);
	r->on_line = false;
}

static void
on_note(void *arg, enum client_note kind, const char *text)
{
	struct running *r = arg;

	end_line(r);
	if (kind != NOTE_PROGRESS) {
		cli_error(r->name, "%s", text);
	} else if (r->terminal) {
		fprintf(stderr, "%s: %s", r->name, text);
		fflush(stderr);
		r->on_line = true;
	}
}

static void
stop(struct running *r, int code)
{
	r->code = code;
	loop_stop(r->loop);
}

/* The addresses of the first listener that has a port. */
static bool
find_urls(const struct running *r, char http[static CLIENT_URL_MAX],
    char socks[static CLIENT_URL_MAX])
{
	const struct client_config *c = &r->args->config;

	for (size_t i = 0; i < c->n_listen; i++) {
		uint16_t port = client_port(r->client, i);
		if (port == 0)
			continue;
		client_state_urls(http, socks, c->listen[i], port, r->token);
		return true;
	}
	return false;
}

static void
start_child(struct running *r)
{
	char http[CLIENT_URL_MAX], socks[CLIENT_URL_MAX];
	char *const *argv = r->argv + r->args->first;

	if (!find_urls(r, http, socks)) {
		cli_error(r->name,
		    "--run needs a port to listen at, not a unix socket");
		stop(r, CLI_ERROR);
	} else if (client_child_start(&r->child, argv, http, socks) != ST_OK) {
		cli_error(r->name, "%s: %s", argv[0], strerror(errno));
		r->child = 0;
		stop(r, CLI_ERROR);
	}
}

/* It listens at PLACE; at PORT, where the kernel chose that (0: a path). */
static void
say_ready(const struct running *r, const char *place, uint16_t port)
{
	const char *colon = strrchr(place, ':');

	if (port == 0 || colon == NULL)
		cli_error(
		    r->name, "ready: HTTP CONNECT and SOCKS5 at %s", place);
	else
		cli_error(r->name, "ready: HTTP CONNECT and SOCKS5 at %.*s:%u",
		    (int)(colon - place), place, (unsigned)port);
}

static void
on_ready(void *arg)
{
	struct running *r = arg;
	const struct client_config *c = &r->args->config;

	end_line(r);
	if (r->args->run) {
		start_child(r);
		return;
	}
	for (size_t i = 0; i < c->n_listen; i++)
		say_ready(r, c->listen[i], client_port(r->client, i));
	if (r->wrote_env)
		cli_error(
		    r->name, "for a shell: eval \"$(postern client --env)\"");
}

static void
on_failed(void *arg, const char *text)
{
	struct running *r = arg;

	(void)text; /* it has been noted */
	/* A program is not kept waiting for what may never come. */
	if (r->args->run && r->child == 0)
		stop(r, CLI_ERROR);
}

/* On the client's worker. */
static enum status
mint(void *self, struct semaphore_proof *p, const struct group_proof *path,
    uint32_t depth, const uint8_t scope[static 32],
    const uint8_t message[static 32])
{
	struct running *r = self;
	struct prove_statement statement = {
	    .secret = r->id->secret, .path = path};
	struct mint_options how = r->args->mint;
	enum status st = ST_OK;

	how.least = depth > 0 ? depth : 1;
	if (r->mint == NULL || r->depth < how.least) {
		mint_close(r->mint);
		st = mint_open(&r->mint, r->name, &how);
		r->depth = how.least;
	}
	if (st != ST_OK)
		return st;
	memcpy(statement.message, message, 32);
	memcpy(statement.scope, scope, 32);
	return mint_proof(r->mint, p, &statement);
}

static enum status
load_url(char **text, size_t *len, size_t max, char why[static CLIENT_WHY_MAX],
    const struct client_args *args, const char *proxy)
{
	struct https_request request = {
	    .url = args->members,
	    .proxy = proxy,
	    .ca_file = args->cacert,
	};
	char error[HTTPS_ERROR_MAX];
	enum status st = https_load(text, len, max, &request, error);

	if (st != ST_OK)
		snprintf(why, CLIENT_WHY_MAX, "%s", error);
	return st;
}

/* The member list that --members names; on the client's worker. */
static enum status
load(void *self, char **text, size_t *len, size_t max,
    char why[static CLIENT_WHY_MAX], const char *proxy)
{
	const struct client_args *args = ((struct running *)self)->args;
	enum status st;

	*text = NULL;
	*len = 0;
	if (https_is_url(args->members))
		return load_url(text, len, max, why, args, proxy);
	st = file_load(text, len, args->members, max, FILE_GUARDED);
	if (st != ST_OK)
		snprintf(why, CLIENT_WHY_MAX, "%s: %s%s", args->members,
		    st == ST_SYS ? strerror(errno) : status_text(st),
		    st == ST_PERMISSION ? " (everybody may write to it)" : "");
	return st;
}

/* --- signals ------------------------------------------------------------------ */

static void
on_end_signal(struct trap *t, int signo)
{
	struct running *r =
	    loop_owner(t, struct running, traps[signo == SIGINT ? 0 : 1]);

	/* From a terminal the program has had its INT too; its end is ours. */
	if (r->child == 0)
		stop(r, CLI_OK);
	else if (signo == SIGTERM)
		kill(r->child, SIGTERM);
}

static void
on_child_signal(struct trap *t, int signo)
{
	struct running *r = loop_owner(t, struct running, traps[2]);
	int status;

	(void)signo;
	if (r->child == 0 || waitpid(r->child, &status, WNOHANG) != r->child)
		return;
	r->child = 0;
	/* As a shell says it. */
	stop(r,
	    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static enum status
trap_all(struct running *r)
{
	enum status st =
	    trap_start(&r->traps[0], r->loop, SIGINT, on_end_signal);

	if (st == ST_OK)
		st = trap_start(&r->traps[1], r->loop, SIGTERM, on_end_signal);
	if (st == ST_OK)
		st =
		    trap_start(&r->traps[2], r->loop, SIGCHLD, on_child_signal);
	return st;
}

/* --- the run -------------------------------------------------------------------- */

/* Leave the variables for `postern client --env`. */
static void
write_env(struct running *r)
{
	const char *const *lists[] = {
	    client_http_variables, client_socks_variables, client_no_variables};
	char http[CLIENT_URL_MAX], socks[CLIENT_URL_MAX];
	const char *values[] = {http, socks, ""};
	char text[4096];
	int n = 0;

	if (r->args->run || !find_urls(r, http, socks))
		return;
	for (size_t i = 0; i < 3; i++) {
		for (const char *const *v = lists[i]; *v != NULL; v++)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
			    "export %s='%s'\n", *v, values[i]);
	}
	r->wrote_env =
	    file_replace(r->state->env, text, (size_t)n, 0600) == ST_OK;
	if (!r->wrote_env)
		cli_error(r->name, "%s: %s", r->state->env, strerror(errno));
	sodium_memzero(text, sizeof(text));
}

static void
say_start(const struct running *r, enum status st, const char *what)
{
	if (st == ST_SYS && errno == EADDRINUSE)
		cli_error(r->name,
		    "%s: something listens there already (another client? "
		    "choose with --listen)",
		    what);
	else if (st == ST_PERMISSION)
		cli_error(r->name,
		    "%s: open to others than its owner (chmod "
		    "600 %s)",
		    what, what);
	else
		cli_error(r->name, "%s%s%s", what, *what != '\0' ? ": " : "",
		    st == ST_SYS ? strerror(errno) : status_text(st));
}

static void
configure(struct running *r, char token[static CLIENT_TOKEN_MAX + 1])
{
	struct client_config *c = &r->args->config;

	if (!c->same_user) {
		/* What is for one program ends with it. */
		if (r->args->run)
			client_state_make_token(token);
		r->token = r->args->run ? token : r->state->token;
	}
	c->token = r->token;
	c->purse = r->state->purse;
	c->status = r->args->run ? NULL : r->state->status;
	memcpy(c->commitment, r->id->commitment, 32);
	c->hands = (struct client_hands){r, mint, load};
	c->arg = r;
	c->note = on_note;
	c->ready = on_ready;
	c->failed = on_failed;
}

static int
run(struct running *r)
{
	char token[CLIENT_TOKEN_MAX + 1];
	const char *what = "";
	enum status st = loop_new(&r->loop);

	configure(r, token);
	if (st == ST_OK)
		st = trap_all(r);
	if (st == ST_OK)
		st = client_new(&r->client, r->loop, &r->args->config, &what);
	if (st == ST_OK) {
		write_env(r);
		st = loop_run(r->loop);
		what = "";
	}
	end_line(r);
	if (st != ST_OK) {
		say_start(r, st, what);
		r->code = CLI_ERROR;
	}
	if (r->child != 0)
		kill(r->child, SIGTERM);
	if (r->wrote_env)
		unlink(r->state->env);
	client_free(&r->client);
	for (size_t i = 0; i < sizeof(r->traps) / sizeof(r->traps[0]); i++)
		trap_end(&r->traps[i]);
	loop_free(&r->loop);
	mint_close(r->mint);
	sodium_memzero(token, sizeof(token));
	return r->code;
}

/* As many descriptors as the system lets us have. */
static void
raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)!setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int
cmd_client(int argc, char **argv)
{
	struct client_args args;
	struct client_state state;
	struct running r = {
	    .name = argv[0], .args = &args, .state = &state, .argv = argv};
	int code = client_args_parse(&args, argc, argv);

	if (code >= 0)
		return code;
	if (client_state_find(&state, argv[0], args.state) != ST_OK)
		return CLI_ERROR;
	if (args.env)
		return client_ask_env(&state, argv[0]);
	if (args.ask)
		return client_ask_status(&state, argv[0], args.json);
	secrets_guard();
	raise_descriptors();
	r.terminal = isatty(STDERR_FILENO) != 0;
	if (sodium_init() < 0) {
		cli_error(argv[0], "the system gives no randomness");
		return CLI_ERROR;
	}
	if (client_state_open(&state, argv[0]) != ST_OK)
		return CLI_ERROR;
	if (identity_load(&r.id, argv[0], args.identity, args.passphrase_fd) !=
	    ST_OK)
		return CLI_ERROR;
	code = run(&r);
	identity_release(r.id);
	sodium_memzero(&state, sizeof(state));
	return code;
}
