/* base/ascii.h: classes of ASCII characters, whatever the locale.
 */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include <stdbool.h>
#include <stdint.h>

static inline uint8_t
ascii_lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static inline bool
ascii_is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static inline bool
ascii_is_alnum(uint8_t c)
{
	uint8_t l = ascii_lower(c);

	return ascii_is_digit(c) || (l >= 'a' && l <= 'z');
}

/* The value of a hex digit of either case; -1: it is none. */
static inline int
ascii_hex(uint8_t c)
{
	uint8_t l = ascii_lower(c);

	if (ascii_is_digit(c))
		return c - '0';
	return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

#endif
