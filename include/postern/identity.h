/* postern/identity.h: a member's Semaphore v4 identity, and the file it is
 * kept in.
 *
 * An identity is a private key: any bytes, 32 random ones by default. All the
 * rest follows, as in the official JavaScript (@semaphore-protocol/identity):
 *
 *	h = BLAKE-512(key), its first 32 bytes, little-endian, pruned as in
 *	    RFC 8032, section 5.1.5
 *	secret scalar s = (h >> 3) mod l, l the order of Baby Jubjub's subgroup
 *	public key = s * Base8
 *	commitment = Poseidon(public key): the leaf in the group's tree
 *
 * The commitment is public to the group's curator and says nothing of the
 * nullifiers. Key and secret scalar are secrets: whoever has one can use up the
 * member's quota and link all that the member ever did (a nullifier is
 * Poseidon(scope, s)). Everything that touches them is constant time in their
 * value, and wiped by identity_clear.
 *
 * Numbers are 32 bytes, big-endian. Threads: any.
 */
#ifndef POSTERN_IDENTITY_H
#define POSTERN_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/status.h"

/* Length of a private key that we make, and the longest that we take. */
#define IDENTITY_KEY_LENGTH 32
#define IDENTITY_KEY_MAX 1024

/* SECRET: key, secret. One owner; identity_clear when done. */
struct identity {
	size_t key_len;
	uint8_t key[IDENTITY_KEY_MAX];
	uint8_t secret[32]; /* the secret scalar, below l */
	uint8_t public_x[32], public_y[32];
	uint8_t commitment[32];
};

/* Derive the identity of the private key KEY (LEN may be 0, as in the official
 * library, though such an identity is everybody's).
 * Returns: ST_OK; ST_BAD_LENGTH when LEN exceeds IDENTITY_KEY_MAX.
 * Time:    depends on LEN alone. */
enum status identity_derive(struct identity *id, const uint8_t *key, size_t len)
    NONNULL_ARGS(1) WARN_UNUSED;

/* Forget ID. */
void identity_clear(struct identity *id) NONNULL;

/* Most characters of an export, with the NUL. */
#define IDENTITY_EXPORT_MAX 1369

/* Write the private key as the official Identity.export() does: base64 with
 * padding. The result is a secret. */
void identity_export(
    char out[static IDENTITY_EXPORT_MAX], const struct identity *id) NONNULL;

/* Read what the official export() wrote and derive the identity.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_ENCODING; ST_NO_SPACE (too long). */
enum status identity_import(
    struct identity *id, const void *text, size_t len) NONNULL WARN_UNUSED;

/* The file: a few lines of text, of one of two kinds.
 *
 *	postern identity 1 plain
 *	key BASE64
 *
 *	postern identity 1 encrypted
 *	argon2id OPERATIONS KIBIBYTES SALT
 *	xchacha20poly1305 NONCE BOX
 *
 * SALT (16 bytes) and NONCE (24) are hex, KEY and BOX base64. BOX holds the
 * key's length (2 bytes, big-endian), the key, and zeros up to a multiple of
 * 64; its associated data are the bytes of the two lines before it. So the
 * file tells nothing without the passphrase, not even the commitment: who
 * finds it does not learn which member its owner is.
 */
enum identity_file_kind {
	IDENTITY_FILE_PLAIN = 1,
	IDENTITY_FILE_ENCRYPTED,
};

/* Most bytes of either kind, with a NUL. */
#define IDENTITY_FILE_MAX 2048

/* What the passphrase costs (Argon2id 1.3, one lane). The values are in the
 * file; a reader takes them within these bounds, so that a file made by
 * somebody else can not exhaust the machine. */
struct identity_cost {
	uint32_t operations; /* 1 to 16 */
	uint32_t kibibytes; /* 8 to 1 MiB (that is, 8 KiB to 1 GiB) */
};

/* 40 MiB sixteen times over, about 0.25 s here: a member's machine may be small.
 * More work than RFC 9106's choice for little memory (64 MiB, three times). */
#define IDENTITY_COST_DEFAULT \
	((struct identity_cost){.operations = 16, .kibibytes = 40960})

#define IDENTITY_SALT_LENGTH 16
#define IDENTITY_NONCE_LENGTH 24

/* Write the plain file of ID: a secret. Out: a string and its length. */
void identity_file_plain(char out[static IDENTITY_FILE_MAX], size_t *len,
    const struct identity *id) NONNULL;

/* Write the encrypted file of ID.
 * In:      salt and nonce, random, never used before.
 * Out:     a string and its length.
 * Returns: ST_OK; ST_BAD_VALUE (cost out of bounds); ST_BAD_LENGTH (an empty
 *          passphrase); ST_NO_MEMORY (for Argon2id). */
enum status
identity_file_encrypt(char out[static IDENTITY_FILE_MAX], size_t *len,
    const struct identity *id, const void *passphrase, size_t passphrase_len,
    struct identity_cost cost, const uint8_t salt[static IDENTITY_SALT_LENGTH],
    const uint8_t nonce[static IDENTITY_NONCE_LENGTH]) NONNULL WARN_UNUSED;

/* Find out what kind of file TEXT is, without its secret.
 * Returns: ST_OK; ST_BAD_VERSION (an identity of another version);
 *          ST_BAD_ENCODING (no identity file). */
enum status identity_file_kind(enum identity_file_kind *kind, const void *text,
    size_t len) NONNULL WARN_UNUSED;

/* Read either kind. PASSPHRASE is not looked at for a plain one.
 * Out:     id; on failure it is cleared. *line (if not NULL): the line that is
 *          wrong, from 1; 0 when none is.
 * Returns: ST_OK; ST_BAD_PASSPHRASE (or the file is damaged: these can not be
 *          told apart); ST_BAD_VERSION; ST_BAD_ENCODING; ST_BAD_VALUE (cost
 *          out of bounds); ST_TRAILING; ST_CORRUPT (it opens, and holds no
 *          key); ST_NO_MEMORY. */
enum status identity_file_read(struct identity *id, const void *text,
    size_t len, const void *passphrase, size_t passphrase_len, unsigned *line)
    NONNULL_ARGS(1, 2) WARN_UNUSED;

#endif
