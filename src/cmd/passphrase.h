/* cmd/passphrase.h: where a passphrase comes from.
 *
 * In this order: a file descriptor (--passphrase-fd), so that a script can
 * hand it over without leaving a trace; the environment (POSTERN_PASSPHRASE),
 * which is taken out of ours at once, so that no child sees it; the terminal,
 * without echo. Never the command line, which every user of the machine can
 * read. It lives in memory that is locked, guarded and wiped when released.
 */
#ifndef CMD_PASSPHRASE_H
#define CMD_PASSPHRASE_H

#include <stdbool.h>
#include <stddef.h>

#include "postern/attr.h"
#include "postern/status.h"

#define PASSPHRASE_ENV "POSTERN_PASSPHRASE"

/* The option of every command that may need one, for its table; its value goes
 * to passphrase_get. */
#define PASSPHRASE_OPTION                                          \
	{                                                          \
		"passphrase-fd", 0, "N",                           \
		    "read the passphrase from file descriptor N "  \
		    "(else " PASSPHRASE_ENV ", else the terminal)" \
	}

/* Longest passphrase, in bytes. */
#define PASSPHRASE_MAX 1024

/* One owner; passphrase_clear when done. */
struct passphrase {
	char *text; /* not a string: len bytes */
	size_t len;
};

/* Get a passphrase; from a file descriptor or the terminal, its first line
 * without the line's end. On failure it has been said on stderr why, in the
 * name of NAME.
 * In:      fd, the option's value or NULL. path, the file that it is for.
 *          twice, ask a second time on a terminal: for one that is new.
 * Out:     p.
 * Returns: ST_OK; ST_BAD_VALUE (empty, too long, a bad descriptor, two that
 *          differ); ST_MISSING (nowhere to get one); ST_SYS; ST_NO_MEMORY. */
enum status
passphrase_get(struct passphrase *p, const char *name, const char *fd,
    const char *path, bool twice) NONNULL_ARGS(1, 2, 4) WARN_UNUSED;

/* Wipe and release what P holds; also one that is all zero. */
void passphrase_clear(struct passphrase *p) NONNULL;

#endif
