/* cmd/ask.h: asking a program of ours that runs, and reading its JSON: what
 * ctl and client --status have in common.
 */
#ifndef CMD_ASK_H
#define CMD_ASK_H

#include <jansson.h>

#include "postern/attr.h"

/* The number at KEY of O; 0 if there is none. */
json_int_t ask_number(const json_t *o, const char *key);

/* The text at KEY of O; "" if there is none. Borrowed. */
const char *ask_text(const json_t *o, const char *key);

/* SECONDS of Unix time for people, in OUT (32 bytes). */
void ask_time(char out[static 32], json_int_t seconds);

/* Ask the gateway whose control socket is PATH to do COMMAND (ARGUMENT may be
 * NULL). Returns: its whole answer, the caller's; NULL, and it has been said
 * why in the name of NAME. */
json_t *ask_gateway(const char *name, const char *path, const char *command,
    const char *argument) NONNULL_ARGS(1, 2, 3) WARN_UNUSED;

#endif
