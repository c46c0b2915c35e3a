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
