#include "base/span.h"

#include <string.h>

#include "base/ascii.h"

bool
span_equal_nocase(span_t a, span_t b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++) {
		if (ascii_lower(a.ptr[i]) != ascii_lower(b.ptr[i]))
			return false;
	}
	return true;
}

bool
span_ends_nocase(span_t s, span_t suffix)
{
	if (suffix.len > s.len)
		return false;
	return span_equal_nocase(
	    span_of(s.ptr + (s.len - suffix.len), suffix.len), suffix);
}

bool
span_begins(span_t s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && memcmp(s.ptr, prefix, n) == 0;
}

bool
span_take_until(span_t *rest, span_t *out, char end)
{
	const uint8_t *at =
	    rest->len != 0 ? memchr(rest->ptr, end, rest->len) : NULL;

	*out = span_of(NULL, 0);
	if (at == NULL)
		return false;
	*out = span_of(rest->ptr, (size_t)(at - rest->ptr));
	*rest = span_of(at + 1, rest->len - out->len - 1);
	return true;
}

span_t
span_take_line(span_t *rest)
{
	span_t line;

	if (!span_take_until(rest, &line, '\n')) {
		line = *rest;
		*rest = span_of(line.ptr + line.len, 0);
	}
	return line;
}
