/* cmd/client_ask.h: `postern client --status` and `--env`.
 */
#ifndef CMD_CLIENT_ASK_H
#define CMD_CLIENT_ASK_H

#include <stdbool.h>

#include "cmd/client_state.h"

/* Print what the client that runs with S says of itself. Returns: the exit
 * code. */
int client_ask_status(
    const struct client_state *s, const char *name, bool as_json) NONNULL;

/* Print the lines that lead a shell to it. Returns: the exit code. */
int client_ask_env(const struct client_state *s, const char *name) NONNULL;

#endif
