#include "http/lines.h"

#include <string.h>

#include "base/ascii.h"

bool
lines_one_of(uint8_t c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

bool
lines_token(span_t s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (!ascii_is_alnum(s.ptr[i]) &&
		    !lines_one_of(s.ptr[i], "!#$%&'*+-.^_`|~"))
			return false;
	}
	return s.len > 0;
}

span_t
lines_trim(span_t s)
{
	while (s.len > 0 && lines_one_of(s.ptr[0], " \t"))
		s = span_of(s.ptr + 1, s.len - 1);
	while (s.len > 0 && lines_one_of(s.ptr[s.len - 1], " \t"))
		s.len--;
	return s;
}

span_t
lines_cut(span_t *rest, span_t s, char c)
{
	const uint8_t *at = s.len > 0 ? memchr(s.ptr, c, s.len) : NULL;

	if (at == NULL) {
		*rest = (span_t){NULL, 0};
		return s;
	}
	size_t n = (size_t)(at - s.ptr);
	*rest = span_of(at + 1, s.len - n - 1);
	return span_of(s.ptr, n);
}

enum status
lines_scan(uint32_t *scanned, uint32_t *eol, span_t in, uint32_t end)
{
	uint32_t i = *scanned;

	for (; i < end; i++) {
		uint8_t c = in.ptr[i];
		if (c == '\r') {
			if (i + 1 == end)
				break;
			*eol = i;
			return in.ptr[i + 1] == '\n' ? ST_OK : ST_HTTP_SYNTAX;
		}
		if ((c < ' ' && c != '\t') || c == 0x7f)
			return ST_HTTP_SYNTAX;
	}
	*scanned = i;
	return ST_MORE;
}
