/* cmd/setup_parts.h: the parts of `postern setup` (setup.c), in files of their
 * own: questions (setup_ask.c), what would change (setup_diff.c), starting
 * (setup_start.c). Texts of the files: setup_text.h; the onion: setup_probe.h.
 *
 * Everything here is for a command: it blocks, and errors are said at once in
 * the name of the command.
 */
#ifndef CMD_SETUP_PARTS_H
#define CMD_SETUP_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/buffer.h"
#include "daemon/config.h"
#include "postern/attr.h"

enum setup_value {
	SETUP_TORRC,
	SETUP_ONION_DIR,
	SETUP_LISTEN,
	SETUP_MEMBERS,
	SETUP_JOURNAL,
	SETUP_CONTROL,
	SETUP_SOCKS,
	SETUP_TOR,
	SETUP_VALUES
};

#define SETUP_TEXT_MAX 4096

/* What is to be set up, and how far it is. */
struct setup {
	const char *name; /* of the command */
	const char *config; /* the file */
	char value[SETUP_VALUES][SETUP_TEXT_MAX]; /* "": not known yet */
	bool fixed[SETUP_VALUES]; /* by a flag, or by the configuration */
	bool dry, start, questions;
	bool asks_tor; /* tor.onion_key: no lines in torrc */
	bool follows; /* the group's file is somebody else's to write */
	bool systemd; /* its units run tor and the gateway */
	bool torrc_changed, config_changed;
	uint64_t wait_seconds;
};

/* Ask at the terminal for what is not fixed, a line each, with what is there as
 * the answer of whoever answers nothing.
 * Returns: ST_OK; ST_CLOSED (the input has ended). */
enum status setup_ask(struct setup *s) NONNULL WARN_UNUSED;

/* Ask whether to do it. Returns: yes, which is what no answer means. */
bool setup_agree(void) WARN_UNUSED;

/* Print what turns OLD into NEW, which is OLD with lines put in, as a unified
 * diff of PATH; OLD NULL: there is no file yet. */
void setup_diff(FILE *out, const char *path, const char *old, const char *new)
    NONNULL_ARGS(1, 2, 4);

/* Run the program of ARGV and wait for its end; its output goes to OUT, or to
 * ours where OUT is NULL.
 * Returns: it ended with 0. */
bool setup_run(struct buffer *out, const char *const *argv)
    NONNULL_ARGS(2) WARN_UNUSED;

/* Make tor read torrc again, and wait until it has made the hostname file.
 * Returns: ST_OK; else it has been said. */
enum status
setup_tell_tor(const struct setup *s, const char *hostname) NONNULL WARN_UNUSED;

/* Look at all of it as `postern check` does, and print what is found but for
 * notes. Returns: ST_OK; ST_BAD_VALUE: the gateway would not run. */
enum status setup_check(const struct setup *s) NONNULL WARN_UNUSED;

/* Start the gateway, or again when its configuration has changed.
 * Returns: ST_OK; else it has been said. */
enum status setup_start(const struct setup *s) NONNULL WARN_UNUSED;

#endif
