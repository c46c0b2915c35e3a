/* semaphore/sealed.h: a secret under a passphrase, as text.
 *
 *	FIRST                                        what it is: the caller's line
 *	argon2id OPERATIONS KIBIBYTES SALT
 *	xchacha20poly1305 NONCE BOX
 *
 * The form of encrypted identity files (postern/identity.h) and of the onion
 * service's key. BOX holds the secret's length (2 bytes, big-endian), the
 * secret, and zeros up to a multiple of 64; its associated data are the bytes of
 * the two lines before it. Pure: salt and nonce are arguments.
 */
#ifndef SEMAPHORE_SEALED_H
#define SEMAPHORE_SEALED_H

#include "base/span.h"
#include "postern/identity.h"

/* Longest secret; longest text, with a NUL. */
#define SEALED_SECRET_MAX 1086
#define SEALED_TEXT_MAX IDENTITY_FILE_MAX

/* Seal SECRET.
 * In:      first, at most 64 bytes that end with a newline; salt and nonce,
 *          random, never used before.
 * Out:     a string and its length.
 * Returns: ST_OK; ST_BAD_VALUE (cost out of bounds); ST_BAD_LENGTH (an empty
 *          passphrase, or a secret that is too long); ST_NO_MEMORY. */
enum status sealed_write(char out[static SEALED_TEXT_MAX], size_t *len,
    const char *first, span_t secret, span_t passphrase,
    struct identity_cost cost, const uint8_t salt[static IDENTITY_SALT_LENGTH],
    const uint8_t nonce[static IDENTITY_NONCE_LENGTH]) NONNULL WARN_UNUSED;

/* Open TEXT, which begins with FIRST.
 * Out:     the secret, to be wiped, and its length; *line: the line that is
 *          wrong, from 1; 0 when none is.
 * Returns: ST_OK; ST_BAD_PASSPHRASE (or it is damaged: these can not be told
 *          apart); ST_BAD_ENCODING; ST_BAD_VALUE (cost out of bounds);
 *          ST_TRAILING; ST_CORRUPT (it opens, and holds no secret);
 *          ST_NO_MEMORY. */
enum status sealed_read(uint8_t out[static SEALED_SECRET_MAX], size_t *len,
    const char *first, span_t text, span_t passphrase,
    unsigned *line) NONNULL WARN_UNUSED;

#endif
