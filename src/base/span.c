#include "base/span.h"

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

span_t
span_take_line(span_t *rest)
{
	const uint8_t *end =
	    rest->len != 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;
	size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
	size_t used = len + (end != NULL);
	span_t line = span_of(rest->ptr, len);

	*rest = span_of(rest->ptr + used, rest->len - used);
	return line;
}
