/* tor/onion_clients.h: who may find an onion service that we ask tor for.
 *
 * Client authorization (rend-spec-v3, 2.5.1 and appendix G): the service's
 * descriptor is encrypted for the x25519 keys of those who may read it, so that
 * nobody else's tor finds the service, or learns whether it is there. The file
 * has the lines of tor's authorized_clients/NAME.auth, one for each:
 *
 *	# any comment
 *	descriptor:x25519:<52 characters of base32>
 *
 * A file without a key is refused: it must not mean that anybody may. Pure.
 */
#ifndef TOR_ONION_CLIENTS_H
#define TOR_ONION_CLIENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/attr.h"
#include "postern/status.h"

/* A descriptor has room for some three hundred. */
#define ONION_CLIENTS_MAX 128
#define ONION_CLIENT_KEY 32
/* The characters of a key. */
#define ONION_CLIENT_TEXT 52

struct onion_clients {
	size_t n;
	uint8_t key[ONION_CLIENTS_MAX][ONION_CLIENT_KEY];
};

/* Read the file TEXT.
 * Out:     *c; *line, where it is wrong, 0 if nowhere in particular; c->n is 0
 *          on failure.
 * Returns: ST_OK; ST_MISSING (no key); ST_NO_SPACE (more than
 *          ONION_CLIENTS_MAX); ST_BAD_ENCODING (no such line, or no key);
 *          ST_WEAK_KEY (a point of small order); ST_DUPLICATE. */
enum status onion_clients_parse(struct onion_clients *c, unsigned *line,
    span_t text) NONNULL_ARGS(1, 2) WARN_UNUSED;

#endif
