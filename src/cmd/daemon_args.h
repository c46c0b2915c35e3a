/* cmd/daemon_args.h: what `postern run`, `check` and `ctl` have in common: the
 * configuration's name, and overrides of its keys.
 */
#ifndef CMD_DAEMON_ARGS_H
#define CMD_DAEMON_ARGS_H

#include "cmd/cli.h"
#include "daemon/config.h"

/* How many --set one command line may have. */
#define OVERRIDES_MAX 256

struct daemon_args {
	const char *path; /* of the configuration */
	char *overrides[OVERRIDES_MAX]; /* borrowed from argv */
	size_t overrides_n;
};

/* The options for a command's table. */
#define DAEMON_ARGS_CONFIG                                                  \
	{                                                                   \
		"config", 'c', "FILE",                                      \
		    "the configuration (default: " CONFIG_DEFAULT_PATH ")", \
	}
#define DAEMON_ARGS_SET                                                    \
	{                                                                  \
		"set", 's', "KEY=VALUE",                                   \
		    "instead of what the file says; may be given several " \
		    "times",                                               \
	}

/* Read them from ARGV by SPEC, as cli_parse does; VALUES are its.
 * Returns: as cli_parse. */
int daemon_args_parse(struct daemon_args *out, const struct cli_spec *spec,
    int argc, char **argv, const char **values) WARN_UNUSED;

/* Every key with its default and what it does, for the notes of --help: a
 * string that the caller frees. */
char *daemon_args_keys(void);

#endif
