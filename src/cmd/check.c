/* postern check: everything that would stop `postern run`, and its cure. */
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/commands.h"
#include "cmd/daemon_args.h"
#include "daemon/checkup.h"

enum { OPT_CONFIG, OPT_SET, OPT_TORRC, OPT_USER, OPT_JSON, OPT_STRICT };

/* Not of enum cli_exit: only --strict asks for it. */
#define EXIT_WARNINGS 3

static const struct cli_option options[] = {
    DAEMON_ARGS_CONFIG,
    DAEMON_ARGS_SET,
    {"torrc", 0, "FILE", "tor's configuration (default: " CHECKUP_TORRC ")"},
    {"user", 0, "NAME",
	"judge permissions as this user's (default: run.user, or the unit's "
	"user for the unit's configuration)"},
    {"json", 0, NULL, "print a JSON object"},
    {"strict", 0, NULL, "exit with 3 when the worst is a warning"},
    {NULL, 0, NULL, NULL},
};

static void
print_json(const struct findings *f)
{
	json_t *list = json_array(), *o;

	for (size_t i = 0; i < f->n; i++)
		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:s, s:s}", "severity",
			severity_name(f->items[i].severity), "where",
			f->items[i].where, "what", f->items[i].what, "cure",
			f->items[i].cure));
	o = json_pack("{s:b, s:i, s:i, s:o}", "ok", f->errors == 0, "errors",
	    (int)f->errors, "warnings", (int)f->warnings, "findings", list);
	json_dumpf(o, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(o);
}

static void
print_text(const struct findings *f)
{
	findings_print(f, stdout);
	if (f->errors != 0)
		printf("the gateway would not run: %zu error%s, %zu "
		       "warning%s\n",
		    f->errors, f->errors == 1 ? "" : "s", f->warnings,
		    f->warnings == 1 ? "" : "s");
	else
		printf("the gateway would run: %zu warning%s\n", f->warnings,
		    f->warnings == 1 ? "" : "s");
}

int
cmd_check(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "[-c FILE] [--set KEY=VALUE...] [--user NAME] [--json] "
			"[--strict]",
	    .summary = "Say everything that would stop `postern run`, or that "
		       "is not as it should be,\neach with its place and its "
		       "cure. Exit status 0: it would run; 1: it would not; "
		       "2: bad usage;\n3: it would, with warnings (only "
		       "with --strict).",
	    .options = options,
	    .notes = NULL,
	    .min_args = 0,
	    .max_args = 0,
	};
	const char *values[sizeof(options) / sizeof(options[0])];
	struct daemon_args args;
	struct findings f = {0};
	struct config *config;
	int code = daemon_args_parse(&args, &spec, argc, argv, values);

	if (code >= 0)
		return code;
	if (sodium_init() < 0) {
		cli_error(argv[0], "the system gives no randomness");
		return CLI_ERROR;
	}
	config_examine(&config, &f, args.path,
	    (const char *const *)args.overrides, args.overrides_n);
	if (config != NULL)
		checkup(config, &f,
		    values[OPT_TORRC] != NULL ? values[OPT_TORRC]
					      : CHECKUP_TORRC,
		    values[OPT_USER] != NULL ? values[OPT_USER]
					     : checkup_user(config));
	if (values[OPT_JSON] != NULL)
		print_json(&f);
	else
		print_text(&f);
	code = f.errors != 0				    ? CLI_NO
	    : values[OPT_STRICT] != NULL && f.warnings != 0 ? EXIT_WARNINGS
							    : CLI_OK;
	config_unref(&config);
	findings_clear(&f);
	return code;
}
