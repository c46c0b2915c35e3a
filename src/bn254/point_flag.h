/* bn254/point_flag.h: the two bits above a compressed x. Private to the folder.
 */
#ifndef BN254_POINT_FLAG_H
#define BN254_POINT_FLAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "postern/status.h"

enum point_flag {
	POINT_RAW = 0x00, /* not compressed */
	POINT_INFINITY = 0x40,
	POINT_SMALLER = 0x80, /* of the two y */
	POINT_LARGER = 0xc0,
};

/* Copy LEN bytes and take their flag off. */
static inline enum point_flag
point_flag_take(uint8_t *out, const uint8_t *in, size_t len)
{
	memcpy(out, in, len);
	out[0] &= 0x3f;
	return (enum point_flag)(in[0] & 0xc0);
}

/* What FLAG above BYTES, which follow it, means for a decoder. */
static inline enum status
point_flag_status(enum point_flag flag, const uint8_t *bytes, size_t len)
{
	unsigned any = 0;

	if (flag == POINT_RAW)
		return ST_BAD_ENCODING;
	if (flag != POINT_INFINITY)
		return ST_OK;
	for (size_t i = 0; i < len; i++)
		any |= bytes[i];
	return any == 0 ? ST_INFINITY : ST_BAD_ENCODING;
}

static inline uint8_t
point_flag_of(bool infinity, bool larger)
{
	return infinity ? POINT_INFINITY
	    : larger	? POINT_LARGER
			: POINT_SMALLER;
}

#endif
