/* http/authority.h: the host:port that a CONNECT names (RFC 9110, 9.3.6).
 *
 * A host is one of three things and can be read as no other:
 *   a name      letters, digits and inner hyphens in labels of 1 to 63, at
 *               most 253 in all; one trailing dot is accepted and dropped. The
 *               last label may not be a number ("7", "0x7f"): resolvers would
 *               read such a name as an IPv4 address (WHATWG URL, 3.5).
 *   IPv4        four canonical decimals
 *   IPv6        in brackets, without a zone (RFC 3986, 3.2.2)
 * The port is there, 1 to 65535, without leading zeros.
 *
 * Whether that place may be reached is not decided here: see gate/target.h.
 */
#ifndef HTTP_AUTHORITY_H
#define HTTP_AUTHORITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ip.h"
#include "base/span.h"
#include "postern/status.h"

enum host_kind {
	HOST_NONE = 0,
	HOST_NAME,
	HOST_LITERAL, /* an address: .ip holds it */
};

/* A host's name is as long as this at most; add one for a NUL. */
#define HOST_NAME_MAX_LEN 253

/* A valid host and port. */
struct authority {
	enum host_kind kind;
	span_t host; /* as it was spelt, without brackets and trailing dot */
	ip_t ip; /* of a literal; otherwise none */
	uint16_t port;
};

/* Read TEXT.
 * Out:     out, whose host points into TEXT.
 * Returns: ST_OK; ST_HTTP_AUTHORITY, and then out->kind is HOST_NONE.
 * Time:    variable, linear. Threads: any. */
enum status authority_parse(struct authority *out, span_t text) WARN_UNUSED;

/* Read what a Host field holds: as above, but the port may be left out; it is
 * 0 then.
 * Returns: as authority_parse. */
enum status
authority_parse_host(struct authority *out, span_t text) WARN_UNUSED;

/* A and B name the same host: a name in any case, an address in any spelling.
 * False when either names none. The ports are not compared. */
bool authority_same_host(const struct authority *a, const struct authority *b);

/* TEXT is a DNS name as above, without a trailing dot. */
bool host_is_name(span_t text);

#endif
