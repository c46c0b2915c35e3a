/* sphinx/suite.h: what the two suites have in common, and where they differ.
 *
 * A hop and the sender share a secret (X25519). From it comes the root of the
 * hop's keys, and from the root each key by SHA-256(label || root):
 *
 *	rho	ChaCha20 over the header
 *	mu	HMAC over the header
 *	pi	the payload's layer
 *	aead	the payload's seal at the exit (`stream` only)
 *
 * `stream` has root = shared secret. `wide` binds the element and the node's
 * id too, root = SHA-256("postern/hop" || shared || element || id), so that
 * one secret reached through two elements makes two sets of keys.
 */
#ifndef SPHINX_SUITE_H
#define SPHINX_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/sphinx.h"
#include "sphinx/cipher.h"
#include "sphinx/x25519.h"

/* The keys of one hop. */
struct hop_keys {
	uint8_t rho[CIPHER_KEY_SIZE], mu[CIPHER_KEY_SIZE], pi[CIPHER_KEY_SIZE],
	    aead[CIPHER_KEY_SIZE];
	uint8_t replay_tag[32], once[32]; /* sphinx_step_t */
};

struct suite {
	const char *name;
	const char *rho, *mu, *pi, *aead, *replay; /* labels */
	bool bind; /* the root binds element and id */

	/* Add a hop's layer to a payload, or remove it, in place. */
	enum status (*add)(const struct ciphers *c,
	    uint8_t payload[static SPHINX_PAYLOAD_SIZE],
	    const uint8_t pi[static CIPHER_KEY_SIZE]);
	enum status (*remove)(const struct ciphers *c,
	    uint8_t payload[static SPHINX_PAYLOAD_SIZE],
	    const uint8_t pi[static CIPHER_KEY_SIZE]);

	/* Put a message (of at most SPHINX_MESSAGE_MAX) into a payload so that
	 * the exit can tell whether it arrived whole; MESSAGE may be anywhere
	 * in it. KEY is the exit's aead key. */
	enum status (*seal)(const struct ciphers *c,
	    uint8_t payload[static SPHINX_PAYLOAD_SIZE],
	    const uint8_t key[static CIPHER_KEY_SIZE], const void *message,
	    size_t len);
	/* Take it out again: *message points into PAYLOAD.
	 * Returns: ST_OK; ST_CORRUPT. */
	enum status (*open)(const struct ciphers *c, const uint8_t **message,
	    size_t *len, uint8_t payload[static SPHINX_PAYLOAD_SIZE],
	    const uint8_t key[static CIPHER_KEY_SIZE]);
};

extern const struct suite suite_wide, suite_stream;

struct sphinx {
	enum sphinx_suite name;
	const struct suite *suite;
	const struct x25519_kernel *kernel;
	struct ciphers ciphers;
};

/* Derive a hop's keys and tags. Time: constant. */
void hop_keys_derive(struct hop_keys *out, const struct suite *suite,
    const uint8_t shared[static X25519_SIZE],
    const uint8_t element[static X25519_SIZE],
    const uint8_t id[static SPHINX_KEY_SIZE]) NONNULL;

#endif
