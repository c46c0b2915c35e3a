/* http/response.h: the head of an answer of the gateway, as the client reads
 * it (RFC 9112, section 4).
 *
 * As http/head.h: bytes in, slices out, nothing is owned; the caller collects
 * bytes in one buffer and offers the whole of it each time more has come.
 *
 * The peer is one that PROTOCOL.md describes, so what that does not need is
 * refused: another version than HTTP/1.1, a bare CR or LF, a folded line, a
 * chunked or repeated length, an interim answer (1xx). Whatever an answer with
 * a content is, its length is told; a 2xx to CONNECT has neither content nor
 * length, and what follows its head belongs to the tunnel (RFC 9110, 9.3.6).
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/status.h"

#define RESPONSE_BYTES_MAX 8192
#define RESPONSE_FIELDS_MAX 64

/* All spans point into the bytes given to response_parse last. */
struct response {
	unsigned code; /* 200 to 599 */
	bool keep; /* another request may follow on the connection */
	bool has_length;
	uint64_t length; /* of the content; 0 when it is not told */
	uint64_t retry_after; /* seconds; 0: not told */
	span_t etag; /* its value as it stands; else empty */
	span_t rate_limit; /* RateLimit, see response_limit; else empty */
};

struct response_slice {
	uint32_t at, len;
};

/* Where a reader is. Private; set up by response_parser_init. */
struct response_parser {
	struct response found;
	uint32_t line, scanned, fields;
	bool begun;
	struct response_slice etag, rate_limit;
};

void response_parser_init(struct response_parser *p) NONNULL;

/* Read on; IN holds all bytes since the beginning of the head.
 * Out:     on ST_OK: r, and *used, the length of the head. Else both are zero.
 * Returns: ST_OK; ST_MORE; ST_HTTP_SYNTAX; ST_HTTP_VERSION; ST_HTTP_BODY (a
 *          length that is no number, there twice, or a transfer coding);
 *          ST_HTTP_TOO_LARGE. After anything but ST_MORE, begin anew.
 * Time:    variable, linear in the head over all calls. Threads: any. */
enum status response_parse(struct response_parser *p, struct response *r,
    size_t *used, span_t in) NONNULL WARN_UNUSED;

/* Find the limit NAME in the value of a RateLimit field, which is a list such
 * as `"requests";r=57;t=32400, "tunnels";r=7`.
 * Out:     *remaining (r) and *reset (t; 0 when not told).
 * Returns: ST_OK; ST_NOT_FOUND; ST_BAD_ENCODING (not such a list). */
enum status response_limit(uint64_t *remaining, uint64_t *reset, span_t value,
    const char *name) NONNULL WARN_UNUSED;

#endif
