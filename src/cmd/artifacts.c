/* postern artifacts: the proving keys, which are not in the binary. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/artifact_check.h"
#include "cmd/artifact_fetch.h"
#include "cmd/artifact_find.h"
#include "cmd/cli.h"
#include "cmd/commands.h"
#include "cmd/https.h"
#include "semaphore/artifacts.h"

/* Read TEXT, depths and ranges of them with commas between ("3,10-16"), as a
 * set of SEMAPHORE_DEPTH_BITs; NULL: all. */
static enum status
read_depths(uint32_t *set, const char *name, const char *text)
{
	uint64_t from, to;

	*set = text == NULL ? SEMAPHORE_ALL_DEPTHS : 0;
	while (text != NULL) {
		size_t len = strcspn(text, ","), one = strcspn(text, ",-");
		span_t first = span_of(text, one);
		span_t last =
		    one == len ? first : span_of(text + one + 1, len - one - 1);
		if (decimal_u64(&from, first, SEMAPHORE_DEPTH_MAX) != ST_OK ||
		    decimal_u64(&to, last, SEMAPHORE_DEPTH_MAX) != ST_OK ||
		    from < SEMAPHORE_DEPTH_MIN || to < from) {
			cli_error(name,
			    "--depth: not depths from 1 to 32 (like 3 or "
			    "3,10-16)");
			return ST_BAD_VALUE;
		}
		for (uint64_t d = from; d <= to; d++)
			*set |= SEMAPHORE_DEPTH_BIT(d);
		text = text[len] == ',' ? text + len + 1 : NULL;
	}
	return ST_OK;
}

static bool
has_depth(uint32_t set, uint32_t depth)
{
	return (set & SEMAPHORE_DEPTH_BIT(depth)) != 0;
}

/* --- list, verify --- */

enum look_option { LOOK_DEPTH, LOOK_JSON, LOOK_OPTIONS };

static const struct cli_option look_options[LOOK_OPTIONS + 1] = {
    [LOOK_DEPTH] = {"depth", 0, "LIST", "only these, like 3,10-16"},
    [LOOK_JSON] = {"json", 0, NULL, "print a JSON array"},
    [LOOK_OPTIONS] = {NULL, 0, NULL, NULL},
};

/* What is known of one key. */
static const char *
verdict(enum status st, bool hashed)
{
	if (st == ST_OK)
		return hashed ? "good" : "there";
	if (st == ST_NOT_FOUND)
		return "missing";
	if (st == ST_BAD_LENGTH)
		return "bad: its length is not the official key's";
	if (st == ST_CORRUPT)
		return "bad: its SHA-256 is not the official key's";
	return "bad: it can not be read";
}

static void
print_json_string(const char *s)
{
	putchar('"');
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20)
			printf("\\u%04x", (unsigned)c);
		else
			putchar(c);
	}
	putchar('"');
}

static void
print_key(uint32_t depth, const char *path, enum status st, bool hashed,
    bool json, bool first)
{
	const struct artifact *pin = artifact_of_depth(depth);
	const char *what = verdict(st, hashed);

	if (!json) {
		printf("%2u  %-8s %s%s\n", (unsigned)depth,
		    st == ST_OK || st == ST_NOT_FOUND ? what : "bad",
		    st == ST_NOT_FOUND ? "" : path,
		    st == ST_OK || st == ST_NOT_FOUND ? "" : what + 3);
		return;
	}
	printf("%s{\"depth\":%u,\"size\":%lu,\"sha256\":\"%s\",\"state\":",
	    first ? "[" : ",\n ", (unsigned)depth, (unsigned long)pin->size,
	    pin->sha256);
	print_json_string(what);
	if (st != ST_NOT_FOUND) {
		printf(",\"path\":");
		print_json_string(path);
	}
	putchar('}');
}

/* Look at the keys for the depths asked for; HASH: read them whole. */
static int
look(const struct cli_spec *spec, int argc, char **argv, bool hash)
{
	const char *values[LOOK_OPTIONS], *dir;
	char path[PATH_MAX];
	uint32_t set;
	unsigned good = 0, bad = 0, missing = 0, shown = 0;
	bool json;
	int args, code = cli_parse(spec, argc, argv, values, &args);

	if (code >= 0)
		return code;
	json = values[LOOK_JSON] != NULL;
	if (read_depths(&set, argv[0], values[LOOK_DEPTH]) != ST_OK)
		return CLI_ERROR;
	dir = args < argc ? argv[args] : NULL;
	for (uint32_t d = SEMAPHORE_DEPTH_MIN; d <= SEMAPHORE_DEPTH_MAX; d++) {
		if (!has_depth(set, d))
			continue;
		enum status st = artifact_find(path, dir, d);
		if (st == ST_OK && hash)
			st = artifact_check(path, d);
		good += st == ST_OK;
		missing += st == ST_NOT_FOUND;
		bad += st != ST_OK && st != ST_NOT_FOUND;
		print_key(d, path, st, hash, json, shown++ == 0);
	}
	if (json)
		puts("]");
	/* Of keys named one by one, none may be missing. */
	if (bad > 0 || (values[LOOK_DEPTH] != NULL && missing > 0) ||
	    (hash && good == 0))
		return CLI_NO;
	return CLI_OK;
}

static int
artifacts_list(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "[--depth LIST] [--json] [DIR]",
	    .summary = "Show where the proving key for each depth is: in DIR, "
		       "or in the places that\npostern prove looks at.",
	    .options = look_options,
	    .max_args = 1,
	};

	return look(&spec, argc, argv, false);
}

static int
artifacts_verify(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "[--depth LIST] [--json] [DIR]",
	    .summary = "Compare proving keys with the sizes and SHA-256 sums "
		       "in this binary. Exits with 1 if\none is not the "
		       "official key, or none is there.",
	    .options = look_options,
	    .max_args = 1,
	};

	return look(&spec, argc, argv, true);
}

/* --- fetch --- */

enum fetch_option {
	FETCH_DEPTH,
	FETCH_FROM,
	FETCH_PROXY,
	FETCH_CACERT,
	FETCH_QUIET,
	FETCH_OPTIONS
};

static const struct cli_option fetch_options[FETCH_OPTIONS + 1] = {
    [FETCH_DEPTH] = {"depth", 0, "LIST",
	"which keys, like 3,10-16, or 1-32 for all (105 MB)"},
    [FETCH_FROM] = {"from", 0, "URL|DIR",
	"where semaphore-N.zkey is already: the https:// address of a folder, "
	"or a folder here (else npm's package, if it is here)"},
    [FETCH_PROXY] = {"proxy", 0, "URL",
	"for https, like socks5h://127.0.0.1:9050 for tor"},
    [FETCH_CACERT] = {"cacert", 0, "FILE",
	"certificates to trust in the place of the system's"},
    [FETCH_QUIET] = {"quiet", 'q', NULL, "no progress bar"},
    [FETCH_OPTIONS] = {NULL, 0, NULL, NULL},
};

/* Make DIR and the folders above it. */
static enum status
make_folder(const char *dir)
{
	char path[PATH_MAX];
	size_t len = strlen(dir);

	if (len >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return ST_SYS;
	}
	memcpy(path, dir, len + 1);
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		char end = path[i];
		path[i] = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			return ST_SYS;
		path[i] = end;
	}
	return ST_OK;
}

/* Get one key, unless it is there. */
static enum status
fetch_one(const char *name, const char *dir, uint32_t depth,
    const struct artifact_source *source)
{
	char path[PATH_MAX], found[PATH_MAX];
	struct artifact_source here = *source;
	enum status st = artifact_path(path, dir, depth);

	if (st != ST_OK) {
		cli_error(name, "%s: the name is too long", dir);
		return st;
	}
	if (artifact_check(path, depth) == ST_OK) {
		printf("%2u  there    %s\n", (unsigned)depth, path);
		return ST_OK;
	}
	if (here.from == NULL) {
		if (artifact_find_other(found, path, depth) != ST_OK) {
			cli_error(name,
			    "depth %u: not on this machine (give --from URL, "
			    "or npm install @zk-kit/semaphore-artifacts@4.13)",
			    (unsigned)depth);
			return ST_NOT_FOUND;
		}
		here.from = found;
	}
	st = artifact_fetch(path, depth, &here, name);
	if (st == ST_OK)
		printf("%2u  fetched  %s\n", (unsigned)depth, path);
	return st;
}

static bool
source_is_usable(const char *name, const struct artifact_source *source)
{
	const char *from = source->from;

	if (from != NULL && strstr(from, "://") != NULL &&
	    !https_is_url(from)) {
		cli_error(name, "--from: only https:// or a folder");
		return false;
	}
	return true;
}

static int
artifacts_fetch(int argc, char **argv)
{
	static const struct cli_spec spec = {
	    .synopsis = "--depth LIST [--from URL|DIR] [TO]",
	    .summary = "Get proving keys into the folder TO (else "
		       "$XDG_DATA_HOME/postern, "
		       "or ~/.local/share/postern).\nWhat was broken off goes "
		       "on where it stopped; a file that is not the official "
		       "key\nnever takes its name.",
	    .options = fetch_options,
	    .notes = "Only members need them, and each only the one for its "
		     "group's depth.",
	    .max_args = 1,
	};
	const char *values[FETCH_OPTIONS], *name = argv[0];
	char home[PATH_MAX];
	const char *dir = home;
	uint32_t set;
	int args, code = cli_parse(&spec, argc, argv, values, &args);
	struct artifact_source source;

	if (code >= 0)
		return code;
	source = (struct artifact_source){.from = values[FETCH_FROM],
	    .proxy = values[FETCH_PROXY],
	    .ca_file = values[FETCH_CACERT],
	    .progress = values[FETCH_QUIET] == NULL && isatty(STDERR_FILENO)};
	if (values[FETCH_DEPTH] == NULL) {
		cli_error(name,
		    "which keys? (give --depth; postern group root "
		    "says a group's)");
		return CLI_ERROR;
	}
	if (read_depths(&set, name, values[FETCH_DEPTH]) != ST_OK ||
	    !source_is_usable(name, &source))
		return CLI_ERROR;
	if (args < argc) {
		dir = argv[args];
	} else if (artifact_home(home) != ST_OK) {
		cli_error(name, "where to? (HOME is not set: give a folder)");
		return CLI_ERROR;
	}
	if (make_folder(dir) != ST_OK) {
		cli_error(name, "%s: %s", dir, strerror(errno));
		return CLI_ERROR;
	}
	code = CLI_OK;
	for (uint32_t d = SEMAPHORE_DEPTH_MIN; d <= SEMAPHORE_DEPTH_MAX; d++) {
		if (has_depth(set, d) &&
		    fetch_one(name, dir, d, &source) != ST_OK)
			code = CLI_ERROR;
	}
	return code;
}

int
cmd_artifacts(int argc, char **argv)
{
	static const struct cli_command commands[] = {
	    {"list", artifacts_list, "show where the proving keys are"},
	    {"verify", artifacts_verify, "compare them with the official ones"},
	    {"fetch", artifacts_fetch, "get them from npm's package or a URL"},
	    {NULL, NULL, NULL},
	};

	return cli_main(argv[0], commands, argc, argv);
}
