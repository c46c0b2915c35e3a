/* postern ctl: ask and steer a running gateway over its control socket. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/daemon_args.h"
#include "cmd/unix_dial.h"
#include "daemon/buffer.h"
#include "daemon/ctl.h"

/* A gateway that does not answer for so long is not well. */
#define PATIENCE_SECONDS 10

enum { OPT_CONFIG, OPT_SOCKET, OPT_JSON };

static const struct cli_option options[] = {
    DAEMON_ARGS_CONFIG,
    {"socket", 'S', "PATH",
	"the gateway's socket, instead of the one that the "
	"configuration names"},
    {"json", 0, NULL, "print the gateway's answer as it is"},
    {NULL, 0, NULL, NULL},
};

/* --- the connection --- */

/* Send TEXT and a newline, read one line; false with errno. */
static bool
exchange(int fd, const char *text, struct buffer *line)
{
	char piece[4096];
	struct buffer out = {0};
	ssize_t n;

	buffer_format(&out, "%s\n", text);
	n = send(fd, out.text, out.len, MSG_NOSIGNAL);
	buffer_clear(&out);
	if (n < 0)
		return false;
	while ((n = recv(fd, piece, sizeof(piece), 0)) > 0) {
		buffer_put(line, piece, (size_t)n);
		if (memchr(piece, '\n', (size_t)n) != NULL)
			return !buffer_failed(line);
	}
	if (n == 0)
		errno = ECONNRESET;
	return false;
}

/* Ask the gateway at PATH; its answer, or NULL with a message on stderr. */
static json_t *
ask(const char *name, const char *path, const char *command,
    const char *argument)
{
	json_t *request =
	    json_pack("{s:i, s:s}", "version", CTL_VERSION, "command", command);
	struct buffer line = {0};
	json_t *answer = NULL;
	char *text;
	int fd = unix_dial(path, PATIENCE_SECONDS);

	if (argument != NULL)
		json_object_set_new(request, "argument", json_string(argument));
	text = json_dumps(request, JSON_COMPACT);
	if (fd < 0 || text == NULL || !exchange(fd, text, &line))
		cli_error(name,
		    "%s: %s (is the gateway running, and are you "
		    "its user or root?)",
		    path, strerror(errno));
	else if ((answer = json_loadb(line.text, line.len, 0, NULL)) == NULL)
		cli_error(name, "%s: not an answer of a gateway", path);
	if (fd >= 0)
		close(fd);
	free(text);
	buffer_clear(&line);
	json_decref(request);
	return answer;
}

/* --- for people --- */

static json_int_t
number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const char *
text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s != NULL ? s : "";
}

static void
print_time(const char *label, json_int_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char out[32] = "";

	if (gmtime_r(&t, &tm) != NULL)
		strftime(out, sizeof(out), "%Y-%m-%d %H:%M:%S UTC", &tm);
	printf("%-11s %s\n", label, out);
}

static void
print_groups(const json_t *groups)
{
	const json_t *g;
	size_t i;

	json_array_foreach(groups, i, g)
	{
		const char *problem = text(g, "problem");
		printf("group       %s: %lld members, depth %lld%s%s\n",
		    text(g, "name"), (long long)number(g, "members"),
		    (long long)number(g, "depth"),
		    *problem != '\0' ? "; its file: " : "", problem);
	}
}

static void
print_answers(json_t *answers)
{
	const char *key;
	json_t *value;

	printf("answers    ");
	json_object_foreach(answers, key, value)
	    printf(" %s %lld", key, (long long)json_integer_value(value));
	printf("\n");
}

static void
print_walls(json_t *walls)
{
	const char *wall;
	json_t *stands;

	printf("%-11s", "walls");
	json_object_foreach(walls, wall, stands)
	    printf(" %s%s", json_is_true(stands) ? "" : "no ", wall);
	putchar('\n');
}

static void
print_status(const json_t *r)
{
	const json_t *journal = json_object_get(r, "journal");
	const json_t *tor = json_object_get(r, "tor");
	const char *why = text(r, "not_ready");

	printf("%-11s %s%s%s\n", "state", text(r, "phase"),
	    *why != '\0' ? ", not ready: " : "", why);
	printf("%-11s %s\n", "version", text(r, "version"));
	if (*text(r, "onion") != '\0')
		printf("%-11s %s\n", "onion", text(r, "onion"));
	print_time("started", number(r, "started"));
	print_time("epoch ends", number(r, "epoch_end"));
	printf("%-11s %lld of %lld connections, %lld tunnels, %lld proofs "
	       "waiting\n",
	    "load", (long long)number(r, "sessions"),
	    (long long)number(r, "sessions_max"),
	    (long long)number(r, "tunnels"), (long long)number(r, "queue"));
	print_groups(json_object_get(r, "groups"));
	print_answers(json_object_get(r, "answers"));
	printf("%-11s %lld up, %lld down\n", "bytes",
	    (long long)number(r, "bytes_up"),
	    (long long)number(r, "bytes_down"));
	printf("%-11s %lld nullifiers\n", "ledger",
	    (long long)number(r, "ledger_entries"));
	if (json_is_object(journal))
		printf("%-11s %s, %lld records, %lld not synced yet\n",
		    "journal",
		    json_is_true(json_object_get(journal, "healthy"))
			? "well"
			: "can not be written",
		    (long long)number(journal, "records"),
		    (long long)number(journal, "unsynced"));
	if (json_is_object(tor))
		printf("%-11s %s %s\n", "tor",
		    json_is_true(json_object_get(tor, "up")) ? "up"
							     : "not reached",
		    text(tor, "version"));
	print_walls(json_object_get(r, "walls"));
}

static void
print_findings(const char *name, const json_t *findings)
{
	const json_t *f;
	size_t i;

	json_array_foreach(findings, i, f)
	    cli_error(name, "%s: %s: %s (%s)", text(f, "where"),
		text(f, "severity"), text(f, "what"), text(f, "cure"));
}

static int
show(const char *name, const json_t *answer, const char *command, bool as_json)
{
	bool ok = json_is_true(json_object_get(answer, "ok"));
	json_t *result = json_object_get(answer, "result");

	if (as_json) {
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
		return ok ? CLI_OK : CLI_NO;
	}
	print_findings(name, json_object_get(answer, "findings"));
	if (!ok) {
		cli_error(name, "%s", text(answer, "error"));
		return CLI_NO;
	}
	if (strcmp(command, "status") == 0)
		print_status(result);
	else
		printf("done\n");
	return CLI_OK;
}

/* --- the command --- */

static char *
list_commands(void)
{
	struct buffer b = {0};

	buffer_text(&b, "commands:\n");
	for (const struct ctl_command *c = ctl_commands; c->name != NULL; c++)
		buffer_format(&b, "  %-8s %-8s %s\n", c->name,
		    c->arg != NULL ? c->arg : "", c->help);
	return b.text;
}

/* The socket that the configuration at PATH names, to be freed; NULL with a
 * message. */
static char *
find_socket(const char *name, const char *path)
{
	struct findings f = {0};
	struct config *c;
	char *socket_path = NULL;

	/* What else may be wrong with it is not our business here. */
	if (config_load(&c, &f, path, NULL, 0) != ST_OK)
		findings_print(&f, stderr);
	else if (c->control.socket == NULL)
		cli_error(name,
		    "%s: control.socket is not set (set it, or "
		    "give --socket)",
		    path);
	else
		socket_path = strdup(c->control.socket);
	if (c != NULL)
		config_unref(&c);
	findings_clear(&f);
	return socket_path;
}

int
cmd_ctl(int argc, char **argv)
{
	const char *values[sizeof(options) / sizeof(options[0])];
	char *commands = list_commands(), *path;
	struct cli_spec spec = {
	    .synopsis = "[-c FILE | --socket PATH] [--json] COMMAND [ARGUMENT]",
	    .summary = "Ask and steer a running gateway.",
	    .options = options,
	    .notes = commands,
	    .min_args = 1,
	    .max_args = 2,
	};
	int args, code = cli_parse(&spec, argc, argv, values, &args);
	json_t *answer;

	free(commands);
	if (code >= 0)
		return code;
	if (values[OPT_SOCKET] != NULL)
		path = strdup(values[OPT_SOCKET]);
	else
		path = find_socket(argv[0],
		    values[OPT_CONFIG] != NULL ? values[OPT_CONFIG]
					       : CONFIG_DEFAULT_PATH);
	if (path == NULL)
		return CLI_ERROR;
	answer = ask(
	    argv[0], path, argv[args], args + 1 < argc ? argv[args + 1] : NULL);
	free(path);
	if (answer == NULL)
		return CLI_ERROR;
	code = show(argv[0], answer, argv[args], values[OPT_JSON] != NULL);
	json_decref(answer);
	return code;
}
