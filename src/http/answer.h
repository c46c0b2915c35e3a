/* http/answer.h: every answer of the gateway, written into a caller's buffer.
 *
 * What a status means on the wire stands in one table (src/base/status.c):
 * code, machine name, text, cure and RFC 9209 error type. Here these become a
 * response; src/http/PROTOCOL.md shows each from the client's side.
 *
 *   200 to CONNECT   no content and no Content-Length (RFC 9110, 9.3.6)
 *   everything else  Proxy-Status (RFC 9209), problem+json (RFC 9457)
 *   407              the challenge, with what a client needs to make a proof
 *   429, 503         Retry-After
 *   405              Allow
 *
 * RateLimit and RateLimit-Policy follow draft-ietf-httpapi-ratelimit-headers.
 *
 * Texts that come from elsewhere are escaped for where they stand: a quoted
 * string takes printable ASCII only (any other byte becomes '?', a quote or
 * backslash is escaped), JSON takes valid UTF-8. No byte of the request is
 * ever repeated. There is no Date field, on purpose: a clock that drifts tells
 * one onion service from another, and names the machine behind it.
 */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/status.h"

/* Room for any answer whose texts are within the limits below. */
#define ANSWER_MAX 6144

/* What a client needs to make a proof. All strings are the gateway's own. */
struct answer_challenge {
	const char *realm; /* at most 255 bytes; NULL or "": none is set */
	const char *scope; /* of slot 0, decimal */
	const char *message; /* decimal; "any" when each is accepted */
	uint64_t expires; /* when this scope ends, Unix seconds */
	uint32_t slots; /* how many slots an epoch has: 1 or more */
};

enum answer_unit {
	ANSWER_REQUESTS, /* the draft's default: not written */
	ANSWER_BYTES, /* qu="content-bytes" */
	ANSWER_TUNNELS, /* qu="concurrent-requests" */
};

/* One quota and what is left of it. Numbers above 10^15 - 1 (the most that a
 * structured field's integer holds) are written as that. */
struct answer_limit {
	const char *name; /* at most 32 bytes; becomes a quoted string */
	enum answer_unit unit;
	uint64_t quota;
	uint64_t window; /* seconds; 0: none (concurrency) */
	uint64_t remaining;
	uint64_t reset; /* seconds until it is whole again; with a window */
};

#define ANSWER_LIMITS_MAX 4
#define ANSWER_DETAIL_MAX 256

struct answer {
	enum status status;
	/* More than the status says, for people: "points[3]: not below the
	 * field modulus"; it is told behind the status's text. NULL: none.
	 * Cut at ANSWER_DETAIL_MAX bytes. */
	const char *detail;
	const struct answer_challenge *challenge; /* for a 407; else ignored */
	const struct answer_limit *limits;
	size_t n_limits; /* at most ANSWER_LIMITS_MAX */
	const char *violated; /* 429: name of the limit that is used up */
	uint32_t retry_after; /* seconds, for 429 and 503; 0 counts as 1 */
	bool close; /* the connection will be closed after it */
	bool no_content; /* the request was HEAD: its length, not its content */
};

/* The connection can not go on after A: the caller asks for it, or the
 * beginning of the next request is not known (408, 431, 500). After a 400 the
 * caller knows (head_parse). */
bool answer_closes(const struct answer *a) NONNULL;

/* Write A. A status that is never an answer counts as ST_INTERNAL.
 * Out:     out[0 .. *len), no NUL; on failure *len is 0.
 * Returns: ST_OK; ST_NO_SPACE. */
enum status answer_write(char *out, size_t cap, size_t *len,
    const struct answer *a) NONNULL WARN_UNUSED;

/* A document served by GET, such as /.well-known/postern. */
struct answer_document {
	const char *type; /* "application/json" */
	uint64_t length;
	const char *etag; /* without its quotes; NULL: none */
	uint32_t max_age; /* seconds that it may be kept; 0: ask each time */
	bool not_modified; /* 304: the client has it (answer_etag_matches) */
	bool close;
};

/* Write the head of D; the caller sends the content behind it, unless the
 * request was HEAD or the document is not modified.
 * Returns: as answer_write. */
enum status answer_document(char *out, size_t cap, size_t *len,
    const struct answer_document *d) NONNULL WARN_UNUSED;

/* The value of If-None-Match names ETAG (weak comparison, RFC 9110, 13.1.2).
 * False for an empty value. */
bool answer_etag_matches(span_t if_none_match, const char *etag);

#endif
