/* net/tls_client.h: TLS to somebody whom a certificate authority vouches for.
 *
 * TLS 1.2 or later; the certificate must come from one of the authorities in a
 * file and name the host that we mean. No session is kept, so that two
 * connections can not be joined by what was resumed.
 */
#ifndef NET_TLS_CLIENT_H
#define NET_TLS_CLIENT_H

#include <openssl/types.h>

#include "postern/attr.h"
#include "postern/status.h"

/* Make the context of such sessions; SSL_CTX_free frees it.
 * In:      ca_file, certificates of authorities, PEM.
 * Out:     *ctx, NULL on failure.
 * Returns: ST_OK; ST_NO_MEMORY; ST_NOT_FOUND (no certificate in that file). */
enum status
tls_client_new(SSL_CTX **ctx, const char *ca_file) NONNULL WARN_UNUSED;

/* A session over FD, which stays the caller's, with HOST: a name, which is
 * sent as SNI, or an address without brackets. NULL when there is no memory or
 * HOST is neither. */
SSL *tls_client_session(SSL_CTX *ctx, int fd, const char *host) NONNULL;

/* Why the handshake of SSL failed: what is wrong with the certificate, or NULL
 * when it was something else. Static. */
const char *tls_client_problem(const SSL *ssl) NONNULL;

#endif
