/* cmd/client_args.h: the command line of `postern client`.
 */
#ifndef CMD_CLIENT_ARGS_H
#define CMD_CLIENT_ARGS_H

#include "client/client.h"
#include "cmd/mint.h"

struct client_args {
	struct client_config
	    config; /* listen, tor, gateways, own_list, same_user,
				      * isolation, audience, capacity */
	const char *identity, *passphrase_fd;
	const char *members, *cacert; /* a file or URL, and what to trust */
	const char *state; /* a folder; NULL: the user's */
	struct mint_options mint; /* zkey, vkey, threads */
	bool run; /* --run: argv[first] is a program */
	bool ask, env, json; /* --status, --env, --json */
	int first;
};

/* Read ARGV.
 * Returns: as cli_parse. */
int client_args_parse(
    struct client_args *out, int argc, char **argv) NONNULL WARN_UNUSED;

/* Read "ONION", "ONION:PORT", each perhaps with "*WEIGHT" behind it.
 * Returns: ST_OK; as onion_decode; ST_BAD_VALUE (port or weight). */
enum status client_args_gateway(
    struct client_gateway *out, const char *text) NONNULL WARN_UNUSED;

#endif
