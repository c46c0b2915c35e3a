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

#include <stdint.h>

#include "base/out.h"
#include "base/span.h"
#include "postern/attr.h"
#include "postern/status.h"

#define ONION_KEY_SIZE 64
#define ONION_KEY_FILE_SIZE 96
#define ONION_KEY_SEED 32
/* Longest command of onion_key_add. */
#define ONION_KEY_COMMAND_MAX 512

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

/* Write the command that asks for K's service: PORT there leads to TARGET
 * (address:port or unix:/path); a circuit may have STREAMS streams and is
 * closed when it asks for more. A secret. */
void onion_key_add(struct out *o, const struct onion_key *k, uint16_t port,
    const char *target, unsigned streams) NONNULL;

#endif
