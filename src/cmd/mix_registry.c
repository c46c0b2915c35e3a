/* postern mix registry: nodes' entries become a registry. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/mix.h"
#include "store/file.h"

#define ENTRY_MAX 65536

enum option { SEED, OUTPUT, OPTIONS };

static const struct cli_option options[OPTIONS + 1] = {
    [SEED] = {"seed", 's', "TEXT",
	"the epoch's seed: something that nobody could know when the nodes "
	"made their keys"},
    [OUTPUT] = {"output", 'o', "FILE", "replace FILE (default: print it)"},
    [OPTIONS] = {NULL, 0, NULL, NULL},
};

static const struct cli_spec spec = {
    .synopsis = "--seed TEXT [-o FILE] ENTRY...",
    .summary = "Make a registry of nodes' entries, files that `postern mix "
	       "keygen --address` or\n`postern mix node --announce` wrote, "
	       "and check it.",
    .options = options,
    .min_args = 1,
    .max_args = -1,
};

/* Add the entry in the file at PATH. */
static bool
add_entry(json_t *nodes, const char *name, const char *path)
{
	json_error_t error;
	json_t *entry;
	char *text;
	size_t len;
	enum status st = file_load(&text, &len, path, ENTRY_MAX, FILE_ANYBODY);

	if (st != ST_OK) {
		cli_error(name, "%s: %s", path,
		    st == ST_SYS ? strerror(errno) : status_text(st));
		return false;
	}
	entry = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (!json_is_object(entry)) {
		cli_error(name, "%s:%d: not a JSON object", path,
		    entry == NULL ? error.line : 1);
		json_decref(entry);
		return false;
	}
	json_array_append_new(nodes, entry);
	return true;
}

/* The registry as text, checked; NULL when it is wrong, which has been said.
 * Faults are told by entry, for the text is nowhere yet. */
static char *
make(const char *name, const char *seed, char **paths, int n)
{
	json_t *root = json_object(), *nodes = json_array();
	struct registry_fault f;
	struct registry *r;
	char *text = NULL;
	bool good = true;
	unsigned long index;

	json_object_set_new(root, "epoch_seed", json_string(seed));
	json_object_set_new(root, "nodes", nodes);
	for (int i = 0; i < n && good; i++)
		good = add_entry(nodes, name, paths[i]);
	if (good)
		text = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	if (text == NULL)
		return NULL;
	if (registry_parse(&r, &f, text, strlen(text), SPHINX_WIDE) == ST_OK) {
		registry_free(&r);
		return text;
	}
	/* The reader's own word. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(f.member, "nodes[%9lu]", &index) == 1 &&
	    index < (unsigned long)n)
		cli_error(name, "%s: %s: %s", paths[index],
		    strchr(f.member, ']') + 1, f.what);
	else
		cli_error(name, "%s: %s", f.member, f.what);
	free(text);
	return NULL;
}

int
cmd_mix_registry(int argc, char **argv)
{
	const char *name = argv[0], *values[OPTIONS];
	int args, code = cli_parse(&spec, argc, argv, values, &args);
	char *text;

	if (code >= 0)
		return code;
	if (values[SEED] == NULL) {
		cli_error(name, "--seed TEXT is missing");
		return CLI_ERROR;
	}
	text = make(name, values[SEED], argv + args, argc - args);
	if (text == NULL)
		return CLI_ERROR;
	code = CLI_OK;
	if (values[OUTPUT] == NULL) {
		if (puts(text) < 0 || fflush(stdout) != 0)
			code = CLI_ERROR;
	} else if (file_replace(values[OUTPUT], text, strlen(text), 0644) !=
	    ST_OK) {
		cli_error(name, "%s: %s", values[OUTPUT], strerror(errno));
		code = CLI_ERROR;
	}
	free(text);
	return code;
}
