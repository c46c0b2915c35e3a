/* postern mix: the mixnet's commands, and what they share. */
#include "cmd/mix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/commands.h"

static const struct cli_command commands[] = {
    {"keygen", cmd_mix_keygen, "make a node's key"},
    {"layers", cmd_mix_layers,
	"show which layer each node of a registry is in"},
    {"peel", cmd_mix_peel, "show what a hop would do with a packet"},
    {NULL, NULL, NULL},
};

int
cmd_mix(int argc, char **argv)
{
	return cli_main("postern mix", commands, argc, argv);
}

bool
mix_suite(enum sphinx_suite *out, const char *name, const char *text)
{
	if (text == NULL) {
		*out = SPHINX_WIDE;
		return true;
	}
	if (sphinx_suite_parse(out, text) == ST_OK)
		return true;
	cli_error(name, "--suite %s: there are wide and stream", text);
	return false;
}

enum status
mix_registry(struct registry **r, const char *name, const char *path,
    enum sphinx_suite suite)
{
	struct registry_fault f;
	enum status st = registry_load(r, &f, path, suite);

	if (st == ST_SYS)
		cli_error(name, "%s: %s", path, strerror(errno));
	else if (st != ST_OK && f.line != 0)
		cli_error(name, "%s:%u: %s%s%s", path, f.line, f.member,
		    f.member[0] != '\0' ? ": " : "", f.what);
	else if (st != ST_OK)
		cli_error(name, "%s: %s", path, f.what);
	return st;
}

void
mix_key_error(const char *name, const char *path, enum status st)
{
	if (st == ST_SYS)
		cli_error(name, "%s: %s", path, strerror(errno));
	else if (st == ST_PERMISSION)
		cli_error(name,
		    "%s: others can read this key (chmod 600 it, and make sure "
		    "that it is yours)",
		    path);
	else
		cli_error(name,
		    "%s: not a mix key: 64 hex digits, as `postern mix keygen` "
		    "writes them",
		    path);
}

void
mix_json_hex(json_t *object, const char *member, const void *bytes, size_t len)
{
	char *text = malloc(2 * len + 1);

	if (text == NULL)
		return;
	hex_encode(text, span_of(bytes, len));
	json_object_set_new(object, member, json_string(text));
	free(text);
}

bool
mix_json_print(json_t *object)
{
	bool good = object != NULL && json_dumpf(object, stdout, 0) == 0 &&
	    fputc('\n', stdout) != EOF && fflush(stdout) == 0;

	json_decref(object);
	return good;
}
