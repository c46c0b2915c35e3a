/* sphinx/cipher.h: the symmetric primitives of both suites.
 *
 * OpenSSL's, because they are the fastest on every machine that Debian runs
 * on, and constant in time on all that have AES instructions or SSSE3. The
 * contexts are made once by ciphers_init and only take new keys afterwards,
 * so no call allocates.
 *
 * A primitive fails only when the library is broken. It says so all the same
 * (ST_INTERNAL): an unchecked failure would send plaintext.
 */
#ifndef SPHINX_CIPHER_H
#define SPHINX_CIPHER_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/types.h>

#include "postern/attr.h"
#include "postern/status.h"

#define CIPHER_KEY_SIZE 32
#define POLY1305_SIZE 16
#define AES_BLOCK_SIZE 16

struct ciphers {
	EVP_CIPHER_CTX *chacha, *seal, *open, *block, *unblock;
	EVP_MAC_CTX *poly1305;
};

/* Returns: ST_OK; ST_NO_MEMORY; ST_NOT_FOUND (a cipher is not available).
 * On failure C is clear. */
enum status ciphers_init(struct ciphers *c) NONNULL WARN_UNUSED;
void ciphers_clear(struct ciphers *c) NONNULL;

/* SHA-256 of A followed by B. */
void sha256_two(uint8_t out[static 32], const void *a, size_t a_len,
    const void *b, size_t b_len) NONNULL;

/* HMAC-SHA-256 with a key of 32 bytes, the first 16 bytes of it. */
void hmac_sha256_16(uint8_t out[static 16],
    const uint8_t key[static CIPHER_KEY_SIZE], const void *data,
    size_t len) NONNULL;

/* XOR DATA with ChaCha20 (RFC 8439) from block 0 on. NONCE is 12 bytes, NULL
 * for zeros. */
enum status chacha20_xor(const struct ciphers *c,
    const uint8_t key[static CIPHER_KEY_SIZE], const uint8_t *nonce,
    uint8_t *data, size_t len) NONNULL_ARGS(1, 2, 4) WARN_UNUSED;

/* XOR DATA with XChaCha20: a nonce of 24 bytes. */
enum status xchacha20_xor(const struct ciphers *c,
    const uint8_t key[static CIPHER_KEY_SIZE], const uint8_t nonce[static 24],
    uint8_t *data, size_t len) NONNULL WARN_UNUSED;

/* ChaCha20-Poly1305 (RFC 8439), zero nonce, no associated data, in place: LEN
 * bytes of DATA, then 16 of tag. The key is used for one message only.
 * Returns: ST_OK; ST_CORRUPT (open: the tag is wrong, DATA is garbage). */
enum status
aead_seal(const struct ciphers *c, const uint8_t key[static CIPHER_KEY_SIZE],
    uint8_t *data, size_t len) NONNULL WARN_UNUSED;
enum status
aead_open(const struct ciphers *c, const uint8_t key[static CIPHER_KEY_SIZE],
    uint8_t *data, size_t len) NONNULL WARN_UNUSED;

/* Poly1305 with r and s of KEY. */
enum status poly1305(const struct ciphers *c, uint8_t out[static POLY1305_SIZE],
    const uint8_t key[static CIPHER_KEY_SIZE], const void *data,
    size_t len) NONNULL WARN_UNUSED;

/* AES-256 of one block, in place, and its inverse. */
enum status
aes256_block(const struct ciphers *c, const uint8_t key[static CIPHER_KEY_SIZE],
    uint8_t block[static AES_BLOCK_SIZE]) NONNULL WARN_UNUSED;
enum status aes256_unblock(const struct ciphers *c,
    const uint8_t key[static CIPHER_KEY_SIZE],
    uint8_t block[static AES_BLOCK_SIZE]) NONNULL WARN_UNUSED;

#endif
