/* bn254/limbs.h: 256-bit integers as four 64-bit limbs, least significant
 * first: the carries that both fields are made of. Inline, constant time.
 */
#ifndef BN254_LIMBS_H
#define BN254_LIMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

__extension__ typedef unsigned __int128 u128;

/* Hide a value from the optimiser, so that it can not turn arithmetic on a
 * mask into a branch. */
static inline uint64_t
value_barrier(uint64_t v)
{
	__asm__("" : "+r"(v));
	return v;
}

/* All ones if FLAG, else zero. */
static inline uint64_t
mask_of(uint64_t flag)
{
	return value_barrier(0 - flag);
}

/* r = a + b; returns the carry. */
static inline uint64_t
limbs_add(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	u128 t = 0;

	for (int i = 0; i < 4; i++) {
		t += (u128)a[i] + b[i];
		r[i] = (uint64_t)t;
		t >>= 64;
	}
	return (uint64_t)t;
}

/* r = a - b; returns the borrow, 0 or 1. */
static inline uint64_t
limbs_sub(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	uint64_t borrow = 0;

	for (int i = 0; i < 4; i++) {
		u128 t = (u128)a[i] - b[i] - borrow;
		r[i] = (uint64_t)t;
		borrow = (uint64_t)(t >> 64) & 1;
	}
	return borrow;
}

/* r = a where MASK is all ones, else r. */
static inline void
limbs_cmov(uint64_t r[static 4], const uint64_t a[static 4], uint64_t mask)
{
	for (int i = 0; i < 4; i++)
		r[i] ^= mask & (r[i] ^ a[i]);
}

static inline bool
limbs_eq(const uint64_t a[static 4], const uint64_t b[static 4])
{
	return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) |
		   (a[3] ^ b[3])) == 0;
}

static inline bool
limbs_is_zero(const uint64_t a[static 4])
{
	return (a[0] | a[1] | a[2] | a[3]) == 0;
}

static inline void
limbs_from_bytes(uint64_t r[static 4], const uint8_t in[static 32])
{
	for (int i = 0; i < 4; i++)
		r[3 - i] = load_be64(in + 8 * i);
}

static inline void
limbs_to_bytes(uint8_t out[static 32], const uint64_t a[static 4])
{
	for (int i = 0; i < 4; i++)
		store_be64(out + 8 * i, a[3 - i]);
}

#endif
