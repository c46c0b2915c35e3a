/* tor/onion_key.h: the key of an onion service that we ask tor for.
 *
 * With ADD_ONION (control-spec, 3.27) the service's secret key is ours and not
 * in tor's folder; the service lives as long as the control connection. The
 * file has the format of tor's own hs_ed25519_secret_key, so that a key can
 * move between the two: 32 bytes that begin "== ed25519v1-secret: type0 ==",
 * then the expanded key (a clamped scalar and the nonce's prefix; RFC 8032,
 * 5.1.5). The address follows from the public half.
 *
 * A secret: never logged; wiped by whoever holds it. Pure but for randomness,
 * which the caller brings.
 */
#ifndef TOR_ONION_KEY_H
#define TOR_ONION_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "postern/attr.h"
#include "postern/status.h"
#include "tor/onion_clients.h"

#define ONION_KEY_SIZE 64
#define ONION_KEY_FILE_SIZE 96
#define ONION_KEY_SEED 32
/* Longest command of onion_key_add; " ClientAuthV3=" is 14. */
#define ONION_KEY_COMMAND_MAX \
	(640 + ONION_CLIENTS_MAX * (14 + ONION_CLIENT_TEXT))

struct onion_key {
	uint8_t expanded[ONION_KEY_SIZE];
	uint8_t public_key[32];
};

/* Make the key of SEED. */
void onion_key_make(
    struct onion_key *k, const uint8_t seed[static ONION_KEY_SEED]) NONNULL;

/* Read a key file.
 * Out:     k, zero on failure.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_VERSION (no such file); ST_WEAK_KEY
 *          (its scalar is zero or not clamped). */
enum status onion_key_parse(
    struct onion_key *k, const void *file, size_t len) NONNULL WARN_UNUSED;

/* Write K as a key file. */
void onion_key_write(uint8_t file[static ONION_KEY_FILE_SIZE],
    const struct onion_key *k) NONNULL;

/* What is asked of tor besides. */
struct onion_service {
	const char *target; /* address:port or unix:/path */
	const struct onion_clients
	    *clients; /* who may find it; NULL: anybody */
	uint16_t port; /* of the service, which leads to target */
	unsigned streams; /* of a circuit; one that asks for more is closed */
	bool pow; /* clients work for their place when there is a rush
	           * (proposal 327); tor 0.4.9.2 or later */
	uint32_t pow_rate, pow_burst; /* introductions a second; at once */
};

/* Write the command that asks for S with the key K. A secret. */
void onion_key_add(struct out *o, const struct onion_key *k,
    const struct onion_service *s) NONNULL;

#endif
