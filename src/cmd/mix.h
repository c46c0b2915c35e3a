/* cmd/mix.h: the commands of `postern mix`, and what they share.
 */
#ifndef CMD_MIX_H
#define CMD_MIX_H

#include <jansson.h>

#include "cmd/cli.h"
#include "mix/client.h"

int cmd_mix_fetch(int argc, char **argv);
int cmd_mix_keygen(int argc, char **argv);
int cmd_mix_layers(int argc, char **argv);
int cmd_mix_node(int argc, char **argv);
int cmd_mix_peel(int argc, char **argv);
int cmd_mix_probe(int argc, char **argv);
int cmd_mix_registry(int argc, char **argv);
int cmd_mix_send(int argc, char **argv);
int cmd_mix_sink(int argc, char **argv);

/* The option that names a suite. */
#define MIX_SUITE_OPTION                                              \
	{                                                             \
		"suite", 0, "NAME",                                   \
		    "wide (default), or stream: the Erebus network's" \
	}

/* Options that the clients have in common; WHAT arrives. */
#define MIX_REGISTRY_OPTION                            \
	{                                              \
		"registry", 'r', "FILE", "the network" \
	}
#define MIX_MEAN_OPTION                                                   \
	{                                                                 \
		"mean", 'm', "MS", "mean delay at each hop (default: 50)" \
	}
#define MIX_LISTEN_OPTION(WHAT)                                          \
	{                                                                \
		"listen", 'l', "ADDR",                                   \
		    "where " WHAT " (default: 127.0.0.1:0, a free port)" \
	}
#define MIX_ADDRESS_OPTION                                              \
	{                                                               \
		"address", 'a', "ADDR",                                 \
		    "... as nodes reach it, if that is another address" \
	}

/* The readers below say, for the command NAME, what is wrong and what would be
 * right, and return false then. TEXT may be NULL: *out is the default. */

bool mix_suite(enum sphinx_suite *out, const char *name, const char *text);

/* "192.0.2.1:9000"; port 0 is good where ANY is. The default is *out. */
bool mix_endpoint(endpoint_t *out, const char *name, const char *option,
    const char *text, bool any);

/* A decimal with or without a point, from MIN to MAX. The default is *out. */
bool mix_number(double *out, const char *name, const char *option,
    const char *text, double min, double max);

/* What these options say, and the defaults of what is not given. */
bool mix_client_options(struct mix_client_config *out, const char *name,
    const char *listen, const char *address, const char *mean);

/* Load the registry at PATH, with file, line and member of what is wrong.
 * *r is NULL on failure. */
enum status mix_registry(struct registry **r, const char *name,
    const char *path, enum sphinx_suite suite) WARN_UNUSED;

/* Say why the key file at PATH can not be used. */
void mix_key_error(const char *name, const char *path, enum status st);

/* What every command that talks over the network has: the loop, and the
 * outbox with the registry at PATH. Says what is wrong.
 * Returns: false; then there is nothing to close. */
bool mix_open(struct loop **l, struct outbox *o, const char *name,
    const char *path, enum sphinx_suite suite);
void mix_close(struct loop **l, struct outbox *o);

/* Set MEMBER of OBJECT to LEN bytes as hex. */
void
mix_json_hex(json_t *object, const char *member, const void *bytes, size_t len);

/* Print and drop OBJECT: a line. Returns: false when standard output fails. */
bool mix_json_print(json_t *object);

#endif
