#include "base/ip.h"

#include <string.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/text.h"

/* Take a canonical decimal of at most MAX off the front of *S. */
static bool
take_decimal(unsigned *out, span_t *s, unsigned max)
{
	unsigned v = 0;
	size_t n = 0;

	while (n < s->len && ascii_is_digit(s->ptr[n])) {
		if (n > 0 && v == 0)
			return false;
		v = 10 * v + (unsigned)(s->ptr[n] - '0');
		if (v > max)
			return false;
		n++;
	}
	*s = span_of(s->ptr + n, s->len - n);
	*out = v;
	return n > 0;
}

static bool
take_char(span_t *s, char c)
{
	if (s->len == 0 || s->ptr[0] != (uint8_t)c)
		return false;
	*s = span_of(s->ptr + 1, s->len - 1);
	return true;
}

/* The whole of S as four decimals with dots between them. */
static bool
read_dotted(uint8_t out[static 4], span_t s)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned v;
		if ((i > 0 && !take_char(&s, '.')) ||
		    !take_decimal(&v, &s, 255))
			return false;
		out[i] = (uint8_t)v;
	}
	return s.len == 0;
}

enum status
ip4_parse(ip_t *out, span_t text)
{
	ip_t ip = {.version = 4};

	*out = (ip_t){0};
	if (!read_dotted(ip.bytes, text))
		return ST_BAD_ENCODING;
	*out = ip;
	return ST_OK;
}

/* Take a group of one to four hex digits off the front of *S. */
static bool
take_group(uint8_t out[static 2], span_t *s)
{
	unsigned v = 0;
	size_t n = 0;

	for (; n < s->len && ascii_hex(s->ptr[n]) >= 0; n++) {
		if (n == 4)
			return false;
		v = v << 4 | (unsigned)ascii_hex(s->ptr[n]);
	}
	*s = span_of(s->ptr + n, s->len - n);
	store_be16(out, (uint16_t)v);
	return n > 0;
}

/* Groups from *N on, colons between them, the last two perhaps dotted, until
 * the end of *S or "::", which is left there. */
static bool
read_groups(uint8_t out[static 16], size_t *n, span_t *s)
{
	for (;;) {
		span_t rest = *s;
		if (*n > 7)
			return false;
		if (*n <= 6 && read_dotted(out + 2 * *n, *s)) {
			*n += 2;
			*s = span_of(s->ptr + s->len, 0);
			return true;
		}
		if (!take_group(out + 2 * *n, &rest))
			return false;
		++*n;
		*s = rest;
		if (rest.len == 0)
			return true;
		if (rest.len >= 2 && rest.ptr[0] == ':' && rest.ptr[1] == ':')
			return true;
		if (!take_char(s, ':'))
			return false;
	}
}

enum status
ip6_parse(ip_t *out, span_t text)
{
	uint8_t head[16] = {0}, tail[16] = {0};
	size_t n = 0, m = 0;
	span_t s = text;
	bool gap;

	*out = (ip_t){0};
	if (s.len < 2)
		return ST_BAD_ENCODING;
	gap = s.ptr[0] == ':' && s.ptr[1] == ':';
	if (!gap) {
		if (!read_groups(head, &n, &s))
			return ST_BAD_ENCODING;
		gap = s.len != 0;
	}
	if (gap) {
		/* "::" stands for one group or more (RFC 4291, 2.2). */
		s = span_of(s.ptr + 2, s.len - 2);
		if (s.len > 0 && (!read_groups(tail, &m, &s) || s.len != 0))
			return ST_BAD_ENCODING;
		if (n + m > 7)
			return ST_BAD_ENCODING;
	} else if (n != 8) {
		return ST_BAD_ENCODING;
	}
	out->version = 6;
	memcpy(out->bytes, head, 2 * n);
	memcpy(out->bytes + 16 - 2 * m, tail, 2 * m);
	return ST_OK;
}

enum status
ip_parse(ip_t *out, span_t text)
{
	if (text.len != 0 && memchr(text.ptr, ':', text.len) != NULL)
		return ip6_parse(out, text);
	return ip4_parse(out, text);
}

/* A and B agree in their first BITS bits. */
static bool
same_prefix(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

enum status
ip_net_parse(ip_net_t *out, span_t text)
{
	const uint8_t *slash =
	    text.len != 0 ? memchr(text.ptr, '/', text.len) : NULL;
	span_t address = text;
	ip_net_t net = {0};
	uint64_t bits, most;

	*out = (ip_net_t){0};
	if (slash != NULL)
		address = span_of(text.ptr, (size_t)(slash - text.ptr));
	if (ip_parse(&net.ip, address) != ST_OK)
		return ST_BAD_ENCODING;
	most = net.ip.version == 4 ? 32 : 128;
	bits = most;
	if (slash != NULL &&
	    decimal_u64(&bits, span_of(slash + 1, text.len - address.len - 1),
		most) != ST_OK)
		return ST_BAD_ENCODING;
	net.bits = (uint8_t)bits;
	for (unsigned i = net.bits; i < most; i++) {
		if (net.ip.bytes[i / 8] & (0x80u >> i % 8))
			return ST_BAD_VALUE;
	}
	*out = net;
	return ST_OK;
}

enum status
endpoint_parse(endpoint_t *out, span_t text)
{
	endpoint_t e = {0};
	span_t address, port;
	uint64_t number;
	size_t i = text.len;
	bool bracket = text.len != 0 && text.ptr[0] == '[';

	*out = (endpoint_t){0};
	while (i > 0 && text.ptr[i - 1] != ':')
		i--;
	if (i == 0)
		return ST_BAD_ENCODING;
	address = span_of(text.ptr, i - 1);
	port = span_of(text.ptr + i, text.len - i);
	if (bracket) {
		if (address.len < 2 || address.ptr[address.len - 1] != ']')
			return ST_BAD_ENCODING;
		address = span_of(address.ptr + 1, address.len - 2);
	}
	if ((bracket ? ip6_parse(&e.ip, address) : ip4_parse(&e.ip, address)) !=
	    ST_OK)
		return ST_BAD_ENCODING;
	if (decimal_u64(&number, port, 65535) != ST_OK || number == 0)
		return ST_BAD_ENCODING;
	e.port = (uint16_t)number;
	*out = e;
	return ST_OK;
}

static size_t
put_decimal(char *out, unsigned v)
{
	size_t n = 0;

	for (unsigned scale = 10000; scale > 0; scale /= 10) {
		if (v >= scale || scale == 1 || n > 0)
			out[n++] = (char)('0' + v / scale % 10);
	}
	return n;
}

static size_t
put_dotted(char *out, const uint8_t b[static 4])
{
	size_t n = 0;

	for (unsigned i = 0; i < 4; i++) {
		if (i > 0)
			out[n++] = '.';
		n += put_decimal(out + n, b[i]);
	}
	return n;
}

/* The first of the longest runs of zero groups, if longer than one (RFC 5952,
 * 4.2). */
static void
longest_gap(unsigned *at, unsigned *len, const uint8_t b[static 16])
{
	*at = 8;
	*len = 1;
	for (unsigned i = 0; i < 8; i++) {
		unsigned n = 0;
		while (i + n < 8 && load_be16(b + 2 * (i + n)) == 0)
			n++;
		if (n > *len) {
			*at = i;
			*len = n;
		}
	}
}

static size_t
put_groups(char *out, const uint8_t b[static 16])
{
	static const char digits[] = "0123456789abcdef";
	unsigned gap_at, gap_len;
	size_t n = 0;

	longest_gap(&gap_at, &gap_len, b);
	for (unsigned i = 0; i < 8; i++) {
		if (i == gap_at) {
			out[n++] = ':';
			if (i + gap_len == 8)
				out[n++] = ':';
			i += gap_len - 1;
			continue;
		}
		if (i > 0)
			out[n++] = ':';
		unsigned v = load_be16(b + 2 * i);
		for (int shift = 12; shift >= 0; shift -= 4) {
			if (v >> shift != 0 || shift == 0)
				out[n++] = digits[v >> shift & 15u];
		}
	}
	return n;
}

size_t
ip_format(char out[static IP_TEXT_MAX], const ip_t *ip)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	size_t n = 0;

	if (ip->version == 4) {
		n = put_dotted(out, ip->bytes);
	} else if (ip->version == 6 && memcmp(ip->bytes, mapped, 12) == 0) {
		memcpy(out, "::ffff:", 7); /* RFC 5952, section 5 */
		n = 7 + put_dotted(out + 7, ip->bytes + 12);
	} else if (ip->version == 6) {
		n = put_groups(out, ip->bytes);
	} else {
		out[n++] = '-';
	}
	out[n] = '\0';
	return n;
}

size_t
endpoint_format(char out[static ENDPOINT_TEXT_MAX], const endpoint_t *e)
{
	bool bracket = e->ip.version == 6;
	size_t n = 0;

	if (bracket)
		out[n++] = '[';
	char text[IP_TEXT_MAX];
	size_t len = ip_format(text, &e->ip);
	memcpy(out + n, text, len);
	n += len;
	if (bracket)
		out[n++] = ']';
	out[n++] = ':';
	n += put_decimal(out + n, e->port);
	out[n] = '\0';
	return n;
}

bool
ip_equal(const ip_t *a, const ip_t *b)
{
	return a->version == b->version && memcmp(a->bytes, b->bytes, 16) == 0;
}

bool
endpoints_have(const endpoint_t *list, size_t n, const ip_t *ip, uint16_t port)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].port == port && ip_equal(&list[i].ip, ip))
			return true;
	}
	return false;
}

bool
ip_net_has(const ip_net_t *net, const ip_t *ip)
{
	return ip->version != 0 && ip->version == net->ip.version &&
	    same_prefix(net->ip.bytes, ip->bytes, net->bits);
}
