/* mix/tls.h: TLS 1.3 for links, pinned to the node's key.
 *
 * A node's certificate is self-signed with an Ed25519 key that follows from its
 * long-lived secret; the registry's `link` is the public half. The sender
 * accepts that key and looks at nothing else of the certificate: no name, no
 * date, no authority. Senders do not identify themselves, as anybody may send.
 * No tickets and no resumption, so that no two connections can be joined.
 *
 * What a wire-tap sees is TLS records with every packet as 32,768 bytes in
 * them; it can still count packets, but can not compare the bytes of one link
 * with those of the next.
 */
#ifndef MIX_TLS_H
#define MIX_TLS_H

#include <stdint.h>

#include <openssl/types.h>

#include "postern/attr.h"
#include "postern/sphinx.h"

#define TLS_PIN_SIZE 32

struct tls;

/* The public half of the link key of a node with this SECRET. */
enum status tls_pin_of(uint8_t pin[static TLS_PIN_SIZE],
    const uint8_t secret[static SPHINX_KEY_SIZE]) NONNULL WARN_UNUSED;

/* Make both ends: connecting and, when SECRET is not NULL, accepting.
 * Returns: ST_OK; ST_NO_MEMORY; ST_INTERNAL (the library refuses). *t is NULL
 *          on failure. */
enum status
tls_new(struct tls **t, const uint8_t *secret) NONNULL_ARGS(1) WARN_UNUSED;

/* Free *T and null it. */
void tls_free(struct tls **t) NONNULL;

/* A session over FD, which stays the caller's: one that connects to the holder
 * of PIN's key, and one that accepts. NULL when there is no memory. */
SSL *tls_connect(const struct tls *t, int fd,
    const uint8_t pin[static TLS_PIN_SIZE]) NONNULL;
SSL *tls_accept(const struct tls *t, int fd) NONNULL;

#endif
