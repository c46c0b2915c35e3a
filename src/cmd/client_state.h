/* cmd/client_state.h: the folder where `postern client` keeps what it has to
 * find again: the token, the proofs, its status socket, and the variables that
 * lead programs to it.
 *
 *	DIR          0700; $XDG_STATE_HOME/postern, else ~/.local/state/postern
 *	DIR/token    0600, made once
 *	DIR/proofs   0600, client/purse.h
 *	DIR/env      0600, while a client runs: lines for a shell
 *	DIR/status   a unix socket, while a client runs
 */
#ifndef CMD_CLIENT_STATE_H
#define CMD_CLIENT_STATE_H

#include <limits.h>
#include <stddef.h>

#include "client/client.h"
#include "postern/attr.h"
#include "postern/status.h"

#define CLIENT_STATE_PATH 1024

struct client_state {
	char dir[CLIENT_STATE_PATH - 16];
	char token_path[CLIENT_STATE_PATH], purse[CLIENT_STATE_PATH],
	    env[CLIENT_STATE_PATH], status[CLIENT_STATE_PATH];
	char token[CLIENT_TOKEN_MAX + 1];
};

/* Find the folder, DIR or the user's, and fill in the paths. What is wrong has
 * been said in the name of NAME. */
enum status client_state_find(struct client_state *s, const char *name,
    const char *dir) NONNULL_ARGS(1, 2) WARN_UNUSED;

/* Make the folder if it is not there, and see that it is ours alone. Read the
 * token, or make one. What is wrong has been said. */
enum status
client_state_open(struct client_state *s, const char *name) NONNULL WARN_UNUSED;

/* A token for one run. */
void client_state_make_token(char out[static CLIENT_TOKEN_MAX + 1]);

/* Where programs find the proxy at HOST:PORT: the value of http_proxy and that
 * of all_proxy. TOKEN may be NULL: none is wanted. */
#define CLIENT_URL_MAX 256
void client_state_urls(char http[static CLIENT_URL_MAX],
    char socks[static CLIENT_URL_MAX], const char *place, uint16_t port,
    const char *token);

/* The variables that lead programs to a proxy; those of the first list get the
 * http address, the second socks, the third are emptied: what they name would
 * go round the proxy. Each list ends with NULL. */
extern const char *const client_http_variables[],
    *const client_socks_variables[], *const client_no_variables[];

#endif
