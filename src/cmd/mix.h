/* cmd/mix.h: the commands of `postern mix`, and what they share.
 */
#ifndef CMD_MIX_H
#define CMD_MIX_H

#include <jansson.h>

#include "cmd/cli.h"
#include "mix/registry.h"

int cmd_mix_keygen(int argc, char **argv);
int cmd_mix_layers(int argc, char **argv);
int cmd_mix_peel(int argc, char **argv);

/* The option that names a suite. */
#define MIX_SUITE_OPTION                                              \
	{                                                             \
		"suite", 0, "NAME",                                   \
		    "wide (default), or stream: the Erebus network's" \
	}

/* Read a suite's name; NULL is the default. Says what is wrong.
 * Returns: false when there is no such suite. */
bool mix_suite(enum sphinx_suite *out, const char *name, const char *text);

/* Load the registry at PATH for the command NAME; says what is wrong, with
 * file, line and member. *r is NULL on failure. */
enum status mix_registry(struct registry **r, const char *name,
    const char *path, enum sphinx_suite suite) WARN_UNUSED;

/* Say, for the command NAME, why the key file at PATH can not be used. */
void mix_key_error(const char *name, const char *path, enum status st);

/* Set MEMBER of OBJECT to LEN bytes as hex. */
void
mix_json_hex(json_t *object, const char *member, const void *bytes, size_t len);

/* Print and drop OBJECT: a line. Returns: false when standard output fails. */
bool mix_json_print(json_t *object);

#endif
