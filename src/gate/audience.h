/* gate/audience.h: the message that a proof must carry.
 *
 * A proof signs a message. We take it as the audience: by default the 32-byte
 * ed25519 key inside the gateway's own v3 onion address, as a big-endian
 * integer, so that a proof shown to one gateway is worthless at another. An
 * operator may fix another number, or take any message for clients that fix
 * theirs; then proofs can be replayed between gateways of one realm.
 *
 * The address is public: variable time. Threads: any.
 */
#ifndef GATE_AUDIENCE_H
#define GATE_AUDIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/attr.h"
#include "postern/status.h"

/* Characters of a v3 onion address with ".onion", without a NUL. */
#define ONION_LENGTH 62

struct audience {
	uint8_t message[32]; /* what we ask clients for, and what the compact
			      * token stands for; big-endian */
	bool any; /* take every other message too */
};

/* Read a v3 onion address, "<56 characters>.onion", letters of either case:
 * base32 of key, checksum and version, where the checksum is the first two
 * bytes of SHA3-256(".onion checksum" || key || version) (Tor rend-spec-v3,
 * section 6).
 * Out:     the key. Whether it is a point of the curve is tor's business.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_ENCODING (no such character, or not
 *          ".onion"); ST_BAD_VERSION (not 3); ST_CORRUPT (the checksum: a
 *          typing mistake). */
enum status onion_decode(uint8_t key[static 32], span_t name) WARN_UNUSED;

/* Write the address of KEY and a NUL. */
void
onion_encode(char out[static ONION_LENGTH + 1], const uint8_t key[static 32]);

/* Read the `audience` of a configuration: a decimal below 2^256, "any", or
 * "" for the key of the onion address NAME ("" when there is none).
 * Out:     *a; with "any", the message is NAME's key, and 0 without a NAME.
 * Returns: ST_OK; ST_MISSING (both are empty); what decimal_decode or
 *          onion_decode found. */
enum status
audience_parse(struct audience *a, span_t text, span_t name) WARN_UNUSED;

/* A takes a proof with this message. */
bool
audience_accepts(const struct audience *a, const uint8_t message[static 32]);

#endif
