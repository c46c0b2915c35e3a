/* base/span.h: a view of bytes that somebody else owns.
 *
 * A span is valid as long as the memory it was made from; functions that
 * return spans say which memory that is.
 */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
	const uint8_t *ptr;
	size_t len;
} span_t;

static inline span_t
span_of(const void *ptr, size_t len)
{
	return (span_t){ptr, len};
}

/* The characters of a C string, without its terminator. */
static inline span_t
span_str(const char *s)
{
	return (span_t){(const uint8_t *)s, strlen(s)};
}

static inline bool
span_equal(span_t a, span_t b)
{
	return a.len == b.len &&
	    (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Equal but for the case of ASCII letters (RFC 9110 field and host names). */
bool span_equal_nocase(span_t a, span_t b);

/* SUFFIX ends S, but for the case of ASCII letters. */
bool span_ends_nocase(span_t s, span_t suffix);

/* S begins with the characters of PREFIX. */
bool span_begins(span_t s, const char *prefix);

/* Take what is before the first END off the front of REST, and END with it;
 * false when there is none, with REST as it was. */
bool span_take_until(span_t *rest, span_t *out, char end);

/* Take a line, without its newline, off the front of REST; the last may have
 * none, and REST is then empty, at the text's end. */
span_t span_take_line(span_t *rest);

#endif
