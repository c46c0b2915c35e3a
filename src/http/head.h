/* http/head.h: the head of a request, RFC 9112, as strictly as it can be read.
 *
 * Bytes in, slices out: the parser owns no memory, copies nothing and calls
 * nobody. The caller collects bytes in one buffer and offers the whole of it
 * each time more has come; the parser remembers how far it has read, so that
 * a head that drips in costs time linear in its length, however it is cut.
 * Feeding byte by byte gives exactly the result of feeding at once.
 *
 * Accepted is only what has one reading:
 *   - lines end in CRLF; a bare LF or CR, a NUL or another control character,
 *     a folded line, an empty line before the request line are refused
 *   - HTTP/1.1; single spaces in the request line
 *   - CONNECT with host:port (http/authority.h), GET and HEAD with a path;
 *     other methods are read so that they can be answered, not served
 *   - field names are tokens, followed by the colon at once; values are
 *     visible characters, spaces, tabs and bytes from 0x80 (RFC 9110, 5.5)
 *   - Host is there once; on CONNECT it names the same host, in any case, and
 *     the same port (clients leave out 443 and 80: so may this one)
 *   - no body: Content-Length (even 0) and Transfer-Encoding are refused
 *   - Proxy-Authorization at most once
 *
 * What is wrong with the meaning of a head (ST_HTTP_FORM, _AUTHORITY, _HOST,
 * ST_CREDENTIAL_TWICE) is told when its end is there: the next request may
 * follow on the same connection. What is wrong with its syntax is told at once,
 * and then nobody knows where a next request would begin.
 *
 * The token is a credential: neither it nor the target may reach a log.
 */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "http/authority.h"
#include "postern/status.h"

enum http_method {
	HTTP_NONE = 0,
	HTTP_CONNECT,
	HTTP_GET,
	HTTP_HEAD, /* as GET; its answer has no content */
	HTTP_OTHER, /* a valid token that means nothing here: 405 */
};

struct head_limits {
	uint32_t bytes; /* of the head, its last CRLF included */
	uint32_t fields;
	bool old; /* take HTTP/1.0 too, where Host may be missing: programs
	           * that ask a proxy of their own machine still send it */
};

/* A proof as base64url of its JSON is about 2.2 KiB. */
#define HEAD_BYTES_DEFAULT 8192
#define HEAD_FIELDS_DEFAULT 64

/* A request. All spans point into the bytes given to head_parse last. */
struct head {
	enum http_method method;
	struct authority target; /* CONNECT */
	span_t path; /* GET and HEAD: begins with a slash, no query */
	span_t query; /* what followed a question mark; else empty */
	/* ST_OK: token holds what followed the scheme Semaphore, a token68.
	 * ST_CREDENTIAL_MISSING: no Proxy-Authorization, or another scheme.
	 * ST_CREDENTIAL_BAD: the scheme is there and no token68 follows. */
	enum status credential;
	span_t token;
	span_t authorization; /* the whole of Proxy-Authorization; else empty */
	span_t if_none_match; /* its value; else empty */
	bool keep; /* the connection may carry another request */
};

/* A part of the head, as offsets: the caller's memory may move. */
struct head_slice {
	uint32_t at, len;
};

/* Where a reader is. Private; set up by head_parser_init. */
struct head_parser {
	struct head_limits limits;
	enum http_method method;
	uint32_t line; /* start of the line that is being read */
	uint32_t scanned; /* what is before has been looked at */
	uint32_t fields;
	uint32_t seen; /* a bit for each known field */
	enum status refused; /* by its meaning; ST_OK: not so far */
	struct head_slice target, host, credential, if_none_match;
	bool close, old;
};

/* Begin a head. LIMITS may be NULL: the defaults. */
void head_parser_init(struct head_parser *p, const struct head_limits *limits)
    NONNULL_ARGS(1);

/* Read on. IN holds all bytes since the beginning of the head: those of the
 * last call, unchanged but perhaps elsewhere in memory, and what came since.
 * Out:     on ST_OK: head, and *used, the length of the head: what follows in
 *          IN belongs to the tunnel or to the next request. When the head is
 *          refused with its end known: *used likewise, and of head method and
 *          keep.
 *          Otherwise both are zero: close the connection.
 * Returns: ST_OK; ST_MORE; or why the request is refused, each with its own
 *          answer (http/answer.h): ST_HTTP_SYNTAX, ST_HTTP_VERSION,
 *          ST_HTTP_FORM, ST_HTTP_AUTHORITY, ST_HTTP_HOST, ST_HTTP_BODY,
 *          ST_HTTP_TOO_LARGE, ST_CREDENTIAL_TWICE.
 *          After anything but ST_MORE, begin anew with head_parser_init.
 * Time:    variable, linear in the head over all calls. Threads: any. */
enum status head_parse(struct head_parser *p, struct head *head, size_t *used,
    span_t in) NONNULL WARN_UNUSED;

#endif
