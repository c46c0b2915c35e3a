#include "http/authority.h"

#include "base/ascii.h"
#include "base/text.h"

#define LABEL_MAX 63

/* A number to inet_aton and its like: decimal digits, or 0x and hex digits
 * (perhaps none). */
static bool
label_is_number(const uint8_t *label, size_t len)
{
	size_t i = 0;

	if (len >= 2 && label[0] == '0' && ascii_lower(label[1]) == 'x') {
		for (i = 2; i < len; i++) {
			if (ascii_hex(label[i]) < 0)
				return false;
		}
		return true;
	}
	while (i < len && ascii_is_digit(label[i]))
		i++;
	return i == len;
}

bool
host_is_name(span_t text)
{
	size_t start = 0;

	if (text.len == 0 || text.len > HOST_NAME_MAX_LEN)
		return false;
	for (size_t i = 0; i <= text.len; i++) {
		if (i < text.len && text.ptr[i] != '.') {
			if (!ascii_is_alnum(text.ptr[i]) && text.ptr[i] != '-')
				return false;
			continue;
		}
		if (i == start || i - start > LABEL_MAX ||
		    text.ptr[start] == '-' || text.ptr[i - 1] == '-')
			return false;
		if (i == text.len)
			return !label_is_number(text.ptr + start, i - start);
		start = i + 1;
	}
	return false;
}

/* Where the colon before the port is; LEN when there is none. */
static size_t
port_colon(span_t text)
{
	for (size_t i = text.len; i > 0; i--) {
		if (text.ptr[i - 1] == ':')
			return i - 1;
		if (!ascii_is_digit(text.ptr[i - 1]))
			break;
	}
	return text.len;
}

static enum status
read_host(struct authority *a, span_t text)
{
	a->kind = HOST_LITERAL;
	a->host = text;
	if (text.len >= 2 && text.ptr[0] == '[' &&
	    text.ptr[text.len - 1] == ']') {
		a->host = span_of(text.ptr + 1, text.len - 2);
		return ip6_parse(&a->ip, a->host);
	}
	if (ip4_parse(&a->ip, text) == ST_OK)
		return ST_OK;
	a->kind = HOST_NAME;
	if (text.len > 0 && text.ptr[text.len - 1] == '.')
		a->host.len--;
	return host_is_name(a->host) ? ST_OK : ST_BAD_ENCODING;
}

static enum status
read_port(struct authority *a, span_t text)
{
	uint64_t port;

	if (decimal_u64(&port, text, 65535) != ST_OK || port == 0)
		return ST_BAD_VALUE;
	a->port = (uint16_t)port;
	return ST_OK;
}

static enum status
read_authority(struct authority *out, span_t text, bool port_needed)
{
	struct authority a = {0};
	size_t colon = port_colon(text);

	*out = (struct authority){0};
	if (colon < text.len) {
		span_t port =
		    span_of(text.ptr + colon + 1, text.len - colon - 1);
		if (read_port(&a, port) != ST_OK)
			return ST_HTTP_AUTHORITY;
	} else if (port_needed) {
		return ST_HTTP_AUTHORITY;
	}
	if (read_host(&a, span_of(text.ptr, colon)) != ST_OK)
		return ST_HTTP_AUTHORITY;
	*out = a;
	return ST_OK;
}

enum status
authority_parse(struct authority *out, span_t text)
{
	return read_authority(out, text, true);
}

enum status
authority_parse_host(struct authority *out, span_t text)
{
	return read_authority(out, text, false);
}

bool
authority_same_host(const struct authority *a, const struct authority *b)
{
	if (a->kind == HOST_NONE || a->kind != b->kind)
		return false;
	if (a->kind == HOST_LITERAL)
		return ip_equal(&a->ip, &b->ip);
	return span_equal_nocase(a->host, b->host);
}
