/* cmd/identity_load.h: an identity out of its file, for every command that
 * needs one (show, prove, client).
 */
#ifndef CMD_IDENTITY_LOAD_H
#define CMD_IDENTITY_LOAD_H

#include "postern/attr.h"
#include "postern/identity.h"

/* Read the identity file at PATH, asking for its passphrase as
 * cmd/passphrase.h says if it is encrypted. On failure it has been said on
 * stderr why and what to do, in the name of NAME.
 * In:      passphrase_fd, the option's value or NULL.
 * Out:     *id, in locked memory, for identity_release; NULL on failure.
 * Returns: ST_OK; what went wrong. */
enum status
identity_load(struct identity **id, const char *name, const char *path,
    const char *passphrase_fd) NONNULL_ARGS(1, 2, 3) WARN_UNUSED;

/* Wipe and release ID; NULL is nothing. */
void identity_release(struct identity *id);

#endif
