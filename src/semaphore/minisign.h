/* semaphore/minisign.h: signatures of a member list, in the format of minisign
 * and signify, which curators have at hand (`minisign -S -m members`).
 *
 *	public key   base64 of "Ed", key id (8), Ed25519 key (32)
 *	signature    untrusted comment: anything
 *	             base64 of "ED" or "Ed", key id (8), signature (64)
 *	             trusted comment: TEXT
 *	             base64 of a signature (64) of the signature and TEXT
 *
 * "ED" signs BLAKE2b-512 of the file, "Ed" (minisign -l, and signify) the file
 * itself. signify's signatures have no trusted comment; here there must be
 * one, as it bears the time that keeps an old list from being served again.
 *
 * Sources: the manual of minisign (Denis), "Signature format"; Ed25519 by
 * libsodium. Pure. Time: variable; nothing here is secret.
 */
#ifndef SEMAPHORE_MINISIGN_H
#define SEMAPHORE_MINISIGN_H

#include <stdint.h>

#include "base/span.h"
#include "postern/attr.h"
#include "postern/status.h"

/* Longest signature file that is read. */
#define MINISIGN_MAX 4096

typedef struct {
	uint8_t id[8], key[32];
} minisign_key_t;

/* Read a public key: its base64 line, or a whole .pub file.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_ENCODING; ST_BAD_VERSION (not
 *          Ed25519). */
enum status minisign_key_parse(minisign_key_t *key, span_t text) WARN_UNUSED;

/* Check the file SIGNATURE of TEXT.
 * Out:     *time, what the trusted comment has behind "timestamp:"; 0 if it
 *          has none, and on failure.
 * Returns: ST_OK; ST_BAD_ENCODING (no signature file); ST_FOREIGN (by
 *          another key); ST_BAD_VERSION; ST_BAD_MAC (it does not hold). */
enum status minisign_verify(uint64_t *time, const minisign_key_t *key,
    span_t text, span_t signature) WARN_UNUSED;

#endif
