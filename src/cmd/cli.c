#include "cmd/cli.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/version.h"

/* getopt values of the options that every command has. */
enum { OPT_HELP = 1, OPT_VERSION = 2, OPT_FIRST = 256 };

void
cli_error(const char *name, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void
cli_cite(span_t text)
{
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.ptr[i];
		if (c == '\n' || (c >= ' ' && c <= '~'))
			fputc(c, stderr);
		else if (c != '\r')
			fputc('?', stderr);
	}
	fputc('\n', stderr);
}

static void
print_option(const struct cli_option *o)
{
	char left[48];

	if (o->letter != 0)
		snprintf(left, sizeof(left), "  -%c, --%s%s%s", o->letter,
		    o->name, o->arg ? " " : "", o->arg ? o->arg : "");
	else
		snprintf(left, sizeof(left), "      --%s%s%s", o->name,
		    o->arg ? " " : "", o->arg ? o->arg : "");
	printf("%-30s  %s\n", left, o->help);
}

static void
print_help(const char *name, const struct cli_spec *spec)
{
	static const struct cli_option common[] = {
	    {"help", 'h', NULL, "show this and exit"},
	    {"version", 0, NULL, "show the version and exit"},
	};

	printf("usage: %s %s\n\n%s\n\noptions:\n", name, spec->synopsis,
	    spec->summary);
	for (const struct cli_option *o = spec->options; o->name != NULL; o++)
		print_option(o);
	print_option(&common[0]);
	print_option(&common[1]);
	if (spec->notes != NULL)
		printf("\n%s\n", spec->notes);
}

/* The options of SPEC for programs that make manuals and completion: a line
 * each, its fields between tabs. */
static void
describe_options(const struct cli_spec *spec)
{
	printf("synopsis\t%s\n", spec->synopsis);
	for (const struct cli_option *o = spec->options; o->name != NULL; o++)
		printf("option\t%s\t%.1s\t%s\t%s\n", o->name,
		    o->letter != 0 ? &o->letter : "-",
		    o->arg != NULL ? o->arg : "-", o->help);
	for (const char *n = spec->notes; n != NULL && *n != '\0';) {
		int len = (int)strcspn(n, "\n");
		printf("note\t%.*s\n", len, n);
		n += len + (n[len] == '\n');
	}
}

static void
print_version(void)
{
	printf("postern %s\n", POSTERN_VERSION);
}

/* The getopt tables for OPTIONS; returns how many options there are. */
static int
make_tables(
    const struct cli_option *options, struct option *longs, char *shorts)
{
	int n = 0;
	char *s = shorts;

	*s++ = ':';
	for (; n < CLI_OPTIONS_MAX && options[n].name != NULL; n++) {
		const struct cli_option *o = &options[n];
		longs[n] = (struct option){o->name,
		    o->arg ? required_argument : no_argument, NULL,
		    OPT_FIRST + n};
		if (o->letter != 0) {
			*s++ = o->letter;
			if (o->arg != NULL)
				*s++ = ':';
		}
	}
	longs[n] = (struct option){"help", no_argument, NULL, OPT_HELP};
	longs[n + 1] =
	    (struct option){"version", no_argument, NULL, OPT_VERSION};
	*s++ = 'h';
	*s = '\0';
	return n;
}

static int
option_index(const struct cli_option *options, int got)
{
	if (got >= OPT_FIRST)
		return got - OPT_FIRST;
	for (int i = 0; options[i].name != NULL; i++) {
		if (options[i].letter == got)
			return i;
	}
	return -1;
}

static int
usage_error(const char *name, const char *what, const char *which)
{
	cli_error(name, "%s%s (see: %s --help)", what, which, name);
	return CLI_ERROR;
}

int
cli_parse(const struct cli_spec *spec, int argc, char **argv,
    const char **values, int *args)
{
	struct option longs[CLI_OPTIONS_MAX + 3] = {{0}};
	char shorts[2 * CLI_OPTIONS_MAX + 3];
	int n = make_tables(spec->options, longs, shorts), got;

	for (int i = 0; i < n; i++)
		values[i] = NULL;
	*args = argc;
	if (argc == 2 && strcmp(argv[1], CLI_DESCRIBE) == 0) {
		describe_options(spec);
		return CLI_OK;
	}
	optind = 0; /* GNU: start afresh */
	opterr = 0;
	while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (got == 'h' || got == OPT_HELP) {
			print_help(argv[0], spec);
			return CLI_OK;
		}
		if (got == OPT_VERSION) {
			print_version();
			return CLI_OK;
		}
		if (got == ':')
			return usage_error(argv[0], "an argument must follow ",
			    argv[optind - 1]);
		int i = option_index(spec->options, got);
		if (i < 0)
			return usage_error(
			    argv[0], "unknown option ", argv[optind - 1]);
		values[i] = optarg != NULL ? optarg : "";
	}
	*args = optind;
	if (argc - optind < spec->min_args)
		return usage_error(argv[0], "an argument is missing", "");
	if (spec->max_args >= 0 && argc - optind > spec->max_args)
		return usage_error(argv[0],
		    "one argument too many: ", argv[optind + spec->max_args]);
	return -1;
}

size_t
cli_repeated(char **out, size_t cap, const struct cli_spec *spec, int argc,
    char **argv, const char *name)
{
	struct option longs[CLI_OPTIONS_MAX + 3] = {{0}};
	char shorts[2 * CLI_OPTIONS_MAX + 3];
	size_t n = 0;
	int got;

	make_tables(spec->options, longs, shorts);
	optind = 0;
	opterr = 0;
	while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		int i = option_index(spec->options, got);
		if (i < 0 || strcmp(spec->options[i].name, name) != 0)
			continue;
		if (n < cap)
			out[n] = optarg;
		n++;
	}
	return n;
}

static void
print_commands(FILE *out, const char *name, const struct cli_command *c)
{
	fprintf(out, "usage: %s COMMAND [OPTION...]\n\ncommands:\n", name);
	for (; c->name != NULL; c++) {
		if (c->summary != NULL)
			fprintf(out, "  %-10s  %s\n", c->name, c->summary);
	}
	fprintf(out, "\n%s COMMAND --help tells more.\n", name);
}

static void
describe_commands(const struct cli_command *c)
{
	for (; c->name != NULL; c++) {
		if (c->summary != NULL)
			printf("command\t%s\t%s\n", c->name, c->summary);
	}
}

bool
cli_number(uint64_t *out, const char *name, const char *option,
    const char *text, uint64_t min, uint64_t max)
{
	if (text == NULL ||
	    (decimal_u64(out, span_str(text), max) == ST_OK && *out >= min))
		return true;
	cli_error(name, "--%s: not a number from %llu to %llu", option,
	    (unsigned long long)min, (unsigned long long)max);
	return false;
}

int
cli_main(
    const char *name, const struct cli_command *commands, int argc, char **argv)
{
	char full[64];

	if (argc < 2) {
		print_commands(stderr, name, commands);
		return CLI_ERROR;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_commands(stdout, name, commands);
		return CLI_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		print_version();
		return CLI_OK;
	}
	if (strcmp(argv[1], CLI_DESCRIBE) == 0) {
		describe_commands(commands);
		return CLI_OK;
	}
	for (const struct cli_command *c = commands; c->name != NULL; c++) {
		if (strcmp(argv[1], c->name) != 0)
			continue;
		snprintf(full, sizeof(full), "%s %s", name, c->name);
		argv[1] = full;
		return c->main(argc - 1, argv + 1);
	}
	return usage_error(name, "no such command: ", argv[1]);
}
