/* base/bytes.h: integers in a fixed byte order, whatever the machine's.
 *
 * gcc and clang turn each of these into one load or store.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t
load_be16(const uint8_t in[static 2])
{
	return (uint16_t)((unsigned)in[0] << 8 | in[1]);
}

static inline uint32_t
load_be32(const uint8_t in[static 4])
{
	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 |
	    (uint32_t)in[2] << 8 | in[3];
}

static inline uint64_t
load_be64(const uint8_t in[static 8])
{
	return (uint64_t)load_be32(in) << 32 | load_be32(in + 4);
}

static inline void
store_be16(uint8_t out[static 2], uint16_t v)
{
	out[0] = (uint8_t)(v >> 8);
	out[1] = (uint8_t)v;
}

static inline void
store_be32(uint8_t out[static 4], uint32_t v)
{
	out[0] = (uint8_t)(v >> 24);
	out[1] = (uint8_t)(v >> 16);
	out[2] = (uint8_t)(v >> 8);
	out[3] = (uint8_t)v;
}

static inline void
store_be64(uint8_t out[static 8], uint64_t v)
{
	store_be32(out, (uint32_t)(v >> 32));
	store_be32(out + 4, (uint32_t)v);
}

static inline uint32_t
load_le32(const uint8_t in[static 4])
{
	return (uint32_t)in[3] << 24 | (uint32_t)in[2] << 16 |
	    (uint32_t)in[1] << 8 | in[0];
}

static inline uint64_t
load_le64(const uint8_t in[static 8])
{
	return (uint64_t)load_le32(in + 4) << 32 | load_le32(in);
}

static inline void
store_le32(uint8_t out[static 4], uint32_t v)
{
	out[0] = (uint8_t)v;
	out[1] = (uint8_t)(v >> 8);
	out[2] = (uint8_t)(v >> 16);
	out[3] = (uint8_t)(v >> 24);
}

static inline void
store_le64(uint8_t out[static 8], uint64_t v)
{
	store_le32(out, (uint32_t)v);
	store_le32(out + 4, (uint32_t)(v >> 32));
}

#endif
