/* cmd/cli.h: the command line, the same for every command.
 *
 * A command describes its options in a table; --help and --version come from
 * the table, so that the help can not drift from the parser. Errors go to
 * stderr as "postern verify: what is wrong (what to do)".
 */
#ifndef CMD_CLI_H
#define CMD_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/attr.h"

enum cli_exit {
	CLI_OK = 0, /* done; all is well */
	CLI_NO = 1, /* done; the answer is no (invalid, problems found) */
	CLI_ERROR = 2, /* not done: bad usage, unreadable input, system error */
};

struct cli_command {
	const char *name; /* NULL ends a table */
	int (*main)(int argc, char **argv);
	const char *summary; /* one line, lower case, no full stop; NULL: it is
			      * not for people, and help does not name it */
};

/* Alone behind a command, it prints the command's table for programs: the
 * manual and the completion are made from that (conf/man, conf/completion). */
#define CLI_DESCRIBE "--describe"

struct cli_option {
	const char *name; /* long name, without dashes; NULL ends a table */
	char letter; /* short name; 0: none */
	const char *arg; /* what its argument is called; NULL: it takes none */
	const char *help;
};

/* At most this many options a command. */
#define CLI_OPTIONS_MAX 128

struct cli_spec {
	const char *synopsis; /* what follows the command's name */
	const char *summary; /* a sentence or more */
	const struct cli_option *options;
	const char *notes; /* printed after the options; may be NULL */
	int min_args, max_args; /* how many positional arguments; max -1: any */
};

/* Parse ARGV by SPEC.
 * Out:     values[i] is the argument of options[i] ("" for one that takes
 *          none), or NULL where it is not given; given twice, the last counts.
 *          *args is the first positional argument's index.
 * Returns: -1 to go on; otherwise the exit code: help or version has been
 *          printed (0) or the usage is wrong and has been said so (2). */
int cli_parse(const struct cli_spec *spec, int argc, char **argv,
    const char **values, int *args) NONNULL WARN_UNUSED;

/* The arguments of the option NAME, which may be given several times, in order.
 * ARGV is as cli_parse, which has found no fault with it, left it.
 * Out:     out, at most CAP of them, borrowed from ARGV.
 * Returns: how many there are, which may be above CAP. */
size_t cli_repeated(char **out, size_t cap, const struct cli_spec *spec,
    int argc, char **argv, const char *name) NONNULL WARN_UNUSED;

/* Read TEXT, the argument of the option called OPTION, as a number from MIN to
 * MAX; NULL leaves *out as it is. If it is none, that is said in the name of
 * NAME, and the answer is false. */
bool cli_number(uint64_t *out, const char *name, const char *option,
    const char *text, uint64_t min, uint64_t max)
    NONNULL_ARGS(1, 2, 3) WARN_UNUSED;

/* Find argv[1] in COMMANDS and run it; NAME is what the table belongs to. */
int cli_main(const char *name, const struct cli_command *commands, int argc,
    char **argv) NONNULL;

/* Print "NAME: message" and a newline to stderr. */
void cli_error(const char *name, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Print what somebody else has said, lines and all, and a newline to stderr;
 * what is not printable ASCII becomes '?'. */
void cli_cite(span_t text);

#endif
