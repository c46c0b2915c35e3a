/* postern describe: the tables of the configuration and of the log, for the
 * programs that make the manual (conf/man/fill). */
#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/commands.h"
#include "daemon/log.h"
#include "daemon/option.h"

static void
describe_keys(void)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *o = &option_table[i];
		printf("key\t%s\t%s\t%s\t%s\t%s\t%s\n", o->section, o->key,
		    o->arg, o->help,
		    o->fallback != NULL		     ? o->fallback
			: o->flags & OPTION_REQUIRED ? "required"
						     : "not set",
		    o->flags & OPTION_RELOADS ? "reload" : "restart");
	}
}

static void
describe_events(void)
{
	for (enum log_event e = 0; e < EV_COUNT; e++) {
		const struct log_event_info *info = log_event_info(e);
		printf("event\t%s\t%s\t%s\n", info->name,
		    log_level_name(info->level), info->text);
	}
}

int
cmd_describe(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "keys") == 0)
		describe_keys();
	else if (argc == 2 && strcmp(argv[1], "events") == 0)
		describe_events();
	else {
		cli_error(argv[0], "what is wanted: keys or events");
		return CLI_ERROR;
	}
	return CLI_OK;
}
