/* tor/safecookie.h: SAFECOOKIE authentication, control-spec 3.24.
 *
 * Both sides know a cookie of 32 bytes. Each shows HMAC-SHA-256 over the cookie
 * and two fresh nonces, under a key that names its direction, so that neither
 * proof can be shown again or sent back, and the cookie is never shown.
 *
 * Pure.
 */
#ifndef TOR_SAFECOOKIE_H
#define TOR_SAFECOOKIE_H

#include <stdint.h>

#define SAFECOOKIE_SIZE 32

struct safecookie {
	uint8_t cookie[SAFECOOKIE_SIZE]; /* secret */
	uint8_t client_nonce[SAFECOOKIE_SIZE], server_nonce[SAFECOOKIE_SIZE];
};

/* What tor has to show. Compare with equal_ct. */
void safecookie_server_hash(
    uint8_t out[static SAFECOOKIE_SIZE], const struct safecookie *s);

/* What we show then. */
void safecookie_client_hash(
    uint8_t out[static SAFECOOKIE_SIZE], const struct safecookie *s);

#endif
