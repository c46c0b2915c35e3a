/* cmd/setup_text.h: what `postern setup` writes, as texts: tor's lines of an
 * onion service and the gateway's keys, put into files that may be there.
 *
 * Nothing that an operator wrote is changed or taken out. A key that is set
 * stays as it is; a service that is there stays whole. So a second call with
 * what the first gave adds nothing.
 */
#ifndef CMD_SETUP_TEXT_H
#define CMD_SETUP_TEXT_H

#include <stddef.h>

#include "daemon/buffer.h"
#include "postern/attr.h"

/* Where the onion service is, and where it leads. */
struct setup_service {
	const char *dir; /* HiddenServiceDir */
	const char *listen; /* gateway.listen */
	const char *options; /* the names of this tor's options, a line each */
};

/* Write TORRC with the service's lines, those that this tor knows, at its end;
 * as it is when it has the service.
 * Out: out, text of the caller's, to be cleared. Returns: how many lines were
 * added. */
size_t setup_torrc(struct buffer *out, const char *torrc,
    const struct setup_service *service) NONNULL;

struct setup_key {
	const char *section, *key, *value; /* section NULL ends a list */
};

/* Write CONF with those of KEYS that it does not set, each below the first
 * header of its section, or at the end below a new one.
 * Out: out, as above. Returns: how many keys were added. */
size_t setup_conf(
    struct buffer *out, const char *conf, const struct setup_key *keys) NONNULL;

#endif
