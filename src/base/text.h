/* base/text.h: bytes as hex, base64 and decimal, and back.
 *
 * One spelling each: a decoder accepts exactly what the encoder writes (hex
 * and base64 letters aside where noted), so that a value has one name. All
 * are variable time unless they say otherwise.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/status.h"

/* Write IN as 2 * in.len lower-case hex digits and a NUL. Time: constant in
 * the value. */
void hex_encode(char *out, span_t in);

/* Read exactly 2 * LEN hex digits, either case.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_ENCODING. */
enum status hex_decode(uint8_t *out, size_t len, span_t in) WARN_UNUSED;

/* Length of the base32 of LEN bytes, without its NUL: RFC 4648, section 6, not
 * padded. */
size_t base32_length(size_t len);

/* Write IN as base32_length() lower-case characters and a NUL. */
void base32_encode(char *out, span_t in);

/* Read LEN bytes, letters of either case; the spare bits of the last character
 * must be zero.
 * Returns: ST_OK; ST_BAD_LENGTH; ST_BAD_ENCODING. */
enum status base32_decode(uint8_t *out, size_t len, span_t in) WARN_UNUSED;

enum base64_alphabet {
	BASE64_STANDARD, /* RFC 4648, section 4: + and /, padded with = */
	BASE64_URL, /* RFC 4648, section 5: - and _, not padded */
};

/* Length of the encoding of LEN bytes, without its NUL. */
size_t base64_length(size_t len, enum base64_alphabet alphabet);

/* Write IN as base64_length() characters and a NUL. */
void base64_encode(char *out, span_t in, enum base64_alphabet alphabet);

/* Read IN; the spare bits of the last character must be zero.
 * Out:     out, at most CAP bytes, and *len.
 * Returns: ST_OK; ST_BAD_LENGTH (no encoding has this length);
 *          ST_BAD_ENCODING; ST_NO_SPACE. */
enum status base64_decode(uint8_t *out, size_t cap, size_t *len, span_t in,
    enum base64_alphabet alphabet) WARN_UNUSED;

/* Most characters of a 256-bit decimal, with its NUL. */
#define DECIMAL_MAX 79

/* Read an unsigned decimal without sign, space or leading zero ("0" is zero)
 * as 32 bytes, big-endian.
 * Returns: ST_OK; ST_BAD_LENGTH (empty); ST_BAD_ENCODING; ST_BAD_VALUE (2^256
 *          or more). */
enum status decimal_decode(uint8_t out[static 32], span_t in) WARN_UNUSED;

/* Write 32 big-endian bytes as a decimal and a NUL; returns its length. */
size_t
decimal_encode(char out[static DECIMAL_MAX], const uint8_t in[static 32]);

/* Read an unsigned decimal, spelt as above, of at most MAX.
 * Returns: as decimal_decode. */
enum status decimal_u64(uint64_t *out, span_t in, uint64_t max) WARN_UNUSED;

/* Copy IN, cut to CAP - 1 bytes, for people to read: what is not printable
 * ASCII becomes '?', so that whoever said it steers no terminal and begins no
 * line in a log. */
void text_printable(char *out, size_t cap, span_t in);

#endif
