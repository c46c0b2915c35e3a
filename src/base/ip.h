/* base/ip.h: IP addresses, networks and endpoints as plain values.
 *
 * An address is a version and its bytes in network order. The text of an
 * address is read strictly, so that no two programs on the way can read two
 * addresses from it: IPv4 is four canonical decimals (no octal, no hex, no
 * short forms), IPv6 is RFC 4291, section 2.2, with any legal spelling of its
 * groups and without a zone. It is written as RFC 5952 has it.
 *
 * Addresses are somebody's destination: none of these texts may reach a log.
 */
#ifndef BASE_IP_H
#define BASE_IP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/status.h"

/* An address; the zero value is none. */
typedef struct {
	uint8_t version; /* 4, 6, or 0: none */
	uint8_t
	    bytes[16]; /* network order; of IPv4 the first four, then zeros */
} ip_t;

/* All addresses whose first BITS bits are those of IP; the others are zero. */
typedef struct {
	ip_t ip;
	uint8_t bits; /* at most 32 or 128 */
} ip_net_t;

typedef struct {
	ip_t ip;
	uint16_t port;
} endpoint_t;

/* Room for any address or endpoint as text, with its NUL. */
#define IP_TEXT_MAX 46
#define ENDPOINT_TEXT_MAX (IP_TEXT_MAX + 8)

/* Read an address, "192.0.2.1" or "2001:db8::1"; no brackets.
 * Returns: ST_OK; ST_BAD_ENCODING, and then *out is none. */
enum status ip_parse(ip_t *out, span_t text) WARN_UNUSED;

/* Read one version only; otherwise as ip_parse. */
enum status ip4_parse(ip_t *out, span_t text) WARN_UNUSED;
enum status ip6_parse(ip_t *out, span_t text) WARN_UNUSED;

/* Read "10.0.0.0/8" or "2001:db8::/32"; a bare address is a network of one.
 * Returns: ST_OK; ST_BAD_ENCODING; ST_BAD_VALUE (a bit beyond the prefix is
 *          set). On failure *out is a network that holds nothing. */
enum status ip_net_parse(ip_net_t *out, span_t text) WARN_UNUSED;

/* Read "192.0.2.1:443" or "[2001:db8::1]:443"; the port is 1 to 65535.
 * Returns: ST_OK; ST_BAD_ENCODING, and then *out is none. */
enum status endpoint_parse(endpoint_t *out, span_t text) WARN_UNUSED;

/* Write IP (none: "-") and a NUL; returns the length. */
size_t ip_format(char out[static IP_TEXT_MAX], const ip_t *ip);

/* Write E, an IPv6 address in brackets, and a NUL; returns the length. */
size_t endpoint_format(char out[static ENDPOINT_TEXT_MAX], const endpoint_t *e);

bool ip_equal(const ip_t *a, const ip_t *b);

/* NET holds IP. False for an IP or a NET that is none. */
bool ip_net_has(const ip_net_t *net, const ip_t *ip);

/* IP with PORT is one of list[0 .. n). */
bool
endpoints_have(const endpoint_t *list, size_t n, const ip_t *ip, uint16_t port);

#endif
