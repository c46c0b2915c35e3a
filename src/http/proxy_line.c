#include "http/proxy_line.h"

#include <string.h>

#include "base/bytes.h"
#include "base/ip.h"
#include "base/text.h"

static const char opening[] = "PROXY TCP6 ";

/* fc00:dead:beef:4dad::/96, in which tor writes the circuit's number. */
static const ip_net_t circuits = {
    {6, {0xfc, 0x00, 0xde, 0xad, 0xbe, 0xef, 0x4d, 0xad}}, 96};

/* What may stand between the opening and the CR. */
static bool
belongs(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	    (c >= 'A' && c <= 'F') || c == ':' || c == '.' || c == ' ';
}

/* The length of the line with its CRLF, once that is there. */
static enum status
measure(size_t *len, span_t in)
{
	size_t end = in.len < PROXY_LINE_MAX ? in.len : PROXY_LINE_MAX;

	*len = 0;
	for (size_t i = 0; i < end; i++) {
		uint8_t c = in.ptr[i];
		if (i < sizeof(opening) - 1) {
			if (c != (uint8_t)opening[i])
				return ST_PROXY_LINE;
		} else if (c == '\r') {
			if (i + 1 == end)
				break;
			*len = i + 2;
			return in.ptr[i + 1] == '\n' ? ST_OK : ST_PROXY_LINE;
		} else if (!belongs(c)) {
			return ST_PROXY_LINE;
		}
	}
	return end < PROXY_LINE_MAX ? ST_MORE : ST_PROXY_LINE;
}

/* Take what is before the next space off the front of *S. */
static span_t
take_word(span_t *s)
{
	size_t n = 0;

	while (n < s->len && s->ptr[n] != ' ')
		n++;
	span_t word = span_of(s->ptr, n);
	size_t skip = n < s->len ? n + 1 : n;
	*s = span_of(s->ptr + skip, s->len - skip);
	return word;
}

enum status
proxy_line_parse(struct proxy_line *out, size_t *used, span_t in)
{
	ip_t source, destination;
	uint64_t port, onion_port;
	size_t len;
	enum status st = measure(&len, in);

	*out = (struct proxy_line){0};
	*used = 0;
	if (st != ST_OK)
		return st;
	span_t rest = span_of(
	    in.ptr + sizeof(opening) - 1, len - 2 - (sizeof(opening) - 1));
	if (ip6_parse(&source, take_word(&rest)) != ST_OK ||
	    !ip_net_has(&circuits, &source) ||
	    ip6_parse(&destination, take_word(&rest)) != ST_OK ||
	    decimal_u64(&port, take_word(&rest), UINT16_MAX) != ST_OK ||
	    decimal_u64(&onion_port, rest, UINT16_MAX) != ST_OK)
		return ST_PROXY_LINE;
	out->circuit = (circuit_t){load_be32(source.bytes + 12)};
	out->onion_port = (uint16_t)onion_port;
	*used = len;
	return ST_OK;
}
