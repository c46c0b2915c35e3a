/* postern ctl: ask and steer a running gateway over its control socket. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/commands.h"
#include "cmd/ctl_parts.h"
#include "cmd/daemon_args.h"
#include "daemon/buffer.h"
#include "daemon/ctl.h"

enum { OPT_CONFIG, OPT_SOCKET, OPT_JSON, OPT_ONCE };

static const struct cli_option options[] = {
    DAEMON_ARGS_CONFIG,
    {"socket", 'S', "PATH",
	"the gateway's socket, instead of the one that the "
	"configuration names"},
    {"json", 0, NULL, "print the gateway's answer as it is"},
    {"once", 0, NULL, "top: print one view and end"},
    {NULL, 0, NULL, NULL},
};

/* --- answers --- */

static void
print_findings(const char *name, const json_t *findings)
{
	const json_t *f;
	size_t i;

	json_array_foreach(findings, i, f) cli_error(name, "%s: %s: %s (%s)",
	    ask_text(f, "where"), ask_text(f, "severity"), ask_text(f, "what"),
	    ask_text(f, "cure"));
}

static int
show(const char *name, const json_t *answer, const char *command, bool as_json)
{
	bool ok = json_is_true(json_object_get(answer, "ok"));
	const json_t *result = json_object_get(answer, "result");

	if (as_json) {
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
		return ok ? CLI_OK : CLI_NO;
	}
	print_findings(name, json_object_get(answer, "findings"));
	if (!ok) {
		cli_error(name, "%s", ask_text(answer, "error"));
		return CLI_NO;
	}
	if (strcmp(command, "status") == 0)
		ctl_print_status(result);
	else if (strcmp(command, "epoch") == 0)
		ctl_print_epoch(result);
	else if (strcmp(command, "journal") == 0)
		ctl_print_journal(result);
	else
		printf("done\n");
	return CLI_OK;
}

/* Whether the command in the N words at WORDS is one, with what it wants. */
static bool
is_command(const char *name, const char *path, char **words, int n)
{
	const struct ctl_command *c = ctl_commands;
	struct buffer known = {0};

	while (c->name != NULL && strcmp(c->name, words[0]) != 0) {
		buffer_format(&known, "%s, ", c->name);
		c++;
	}
	if (c->name == NULL)
		cli_error(name,
		    "%s: there is no such command (there are %stop and "
		    "members)",
		    words[0], known.text);
	else if (c->arg != NULL && n < 2)
		cli_error(name, "%s %s: give what is to be in its place (%s)",
		    c->name, c->arg, c->help);
	buffer_clear(&known);
	if (c->name == NULL || (c->arg != NULL && n < 2))
		return false;
	if (c->arg == NULL || strcmp(c->arg, CTL_GROUP) != 0)
		return true;
	json_t *group = ctl_find_group(name, path, words[1]);
	json_decref(group);
	return group != NULL;
}

/* Send the command in the N words at WORDS. */
static int
steer(const char *name, const char *path, char **words, int n, bool as_json)
{
	const char *command = words[0], *argument = n > 1 ? words[1] : NULL;
	json_t *answer;
	int code;

	if (!is_command(name, path, words, n))
		return CLI_ERROR;
	/* Both `log debug` and `log level debug`. */
	if (n == 3 && strcmp(command, "log") == 0 &&
	    strcmp(argument, "level") == 0)
		argument = words[2];
	else if (n > 2) {
		cli_error(name, "%s: too many words", command);
		return CLI_ERROR;
	}
	answer = ask_gateway(name, path, command, argument);
	if (answer == NULL)
		return CLI_ERROR;
	code = show(name, answer, command, as_json);
	if (code == CLI_OK && strcmp(command, "journal") == 0 &&
	    argument != NULL && strcmp(argument, "check") == 0)
		code = ctl_read_journal(name,
		    ask_text(json_object_get(answer, "result"), "file"),
		    as_json);
	json_decref(answer);
	return code;
}

/* --- the command --- */

static char *
list_commands(void)
{
	struct buffer b = {0};

	buffer_text(&b, "commands:\n");
	for (const struct ctl_command *c = ctl_commands; c->name != NULL; c++)
		buffer_format(&b, "  %-8s %-13s %s\n", c->name,
		    c->arg != NULL ? c->arg : "", c->help);
	buffer_text(&b,
	    "  top                    a live view; q ends it\n"
	    "  members  add|remove|list GROUP [COMMITMENT...]\n"
	    "                         edit the group's member file, and wait "
	    "until "
	    "the gateway\n                         has taken it over\n"
	    "The protocol of the socket: CONTROL.md (/usr/share/doc/postern, "
	    "or\n"
	    "src/daemon in the source).");
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
	const char *config = CONFIG_DEFAULT_PATH;
	struct cli_spec spec = {
	    .synopsis =
		"[-c FILE | --socket PATH] [--json] COMMAND [ARGUMENT...]",
	    .summary = "Ask and steer a running gateway.",
	    .options = options,
	    .notes = commands,
	    .min_args = 1,
	    .max_args = -1,
	};
	int args, code = cli_parse(&spec, argc, argv, values, &args);

	free(commands);
	if (code >= 0)
		return code;
	if (values[OPT_CONFIG] != NULL)
		config = values[OPT_CONFIG];
	path = values[OPT_SOCKET] != NULL ? strdup(values[OPT_SOCKET])
					  : find_socket(argv[0], config);
	if (path == NULL)
		return CLI_ERROR;
	if (strcmp(argv[args], "top") == 0)
		code = ctl_top(argv[0], path, values[OPT_ONCE] != NULL);
	else if (strcmp(argv[args], "members") == 0)
		code = ctl_members(
		    argv[0], path, argc - args - 1, argv + args + 1);
	else
		code = steer(argv[0], path, argv + args, argc - args,
		    values[OPT_JSON] != NULL);
	free(path);
	return code;
}
