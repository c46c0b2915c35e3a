/* bn254/limbs.h: 256-bit integers as four 64-bit limbs, least significant
 * first: the carries that both fields are made of. Inline, constant time.
 */
#ifndef BN254_LIMBS_H
#define BN254_LIMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* The memory sanitizer sees neither through assembly nor through intrinsics
 * with a carry. */
#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#define LIMBS_PLAIN
#endif
#endif

#if defined(__x86_64__) && !defined(LIMBS_PLAIN)
#define LIMBS_CARRY_FLAG
#include <immintrin.h>
#endif

__extension__ typedef unsigned __int128 u128;

/* The code of the pairing has to fit the first-level cache, and its frames, in
 * lanes, the stack. */
#define NOINLINE __attribute__((noinline))

/* Hide a value from the optimiser, so that it can not turn arithmetic on a
 * mask into a branch. */
static inline uint64_t
value_barrier(uint64_t v)
{
#ifndef LIMBS_PLAIN
	__asm__("" : "+r"(v));
#endif
	return v;
}

/* All ones if FLAG, else zero. */
static inline uint64_t
mask_of(uint64_t flag)
{
	return value_barrier(0 - flag);
}

/* a && b without a branch. */
static inline bool
both(bool a, bool b)
{
	return ((unsigned)a & (unsigned)b) != 0;
}

/* a + b + *carry, and a - b - *borrow; the 0 or 1 becomes the one out. gcc
 * keeps a carry in its flag through these intrinsics alone. */
#ifdef LIMBS_CARRY_FLAG
typedef unsigned char carry_t;

static inline uint64_t
add_carry(uint64_t a, uint64_t b, carry_t *carry)
{
	unsigned long long t;

	*carry = _addcarry_u64(*carry, a, b, &t);
	return t;
}

static inline uint64_t
sub_borrow(uint64_t a, uint64_t b, carry_t *borrow)
{
	unsigned long long t;

	*borrow = _subborrow_u64(*borrow, a, b, &t);
	return t;
}
#else
typedef uint64_t carry_t;

static inline uint64_t
add_carry(uint64_t a, uint64_t b, carry_t *carry)
{
	u128 t = (u128)a + b + *carry;

	*carry = (uint64_t)(t >> 64);
	return (uint64_t)t;
}

static inline uint64_t
sub_borrow(uint64_t a, uint64_t b, carry_t *borrow)
{
	u128 t = (u128)a - b - *borrow;

	*borrow = (uint64_t)(t >> 64) & 1;
	return (uint64_t)t;
}
#endif

/* r = a + b + carry; returns the carry. Here and below four steps are written
 * out: gcc does not unroll loops at -O2. */
static inline carry_t
limbs_addc(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], carry_t carry)
{
	r[0] = add_carry(a[0], b[0], &carry);
	r[1] = add_carry(a[1], b[1], &carry);
	r[2] = add_carry(a[2], b[2], &carry);
	r[3] = add_carry(a[3], b[3], &carry);
	return carry;
}

/* r = a - b - borrow; returns the borrow. */
static inline carry_t
limbs_subb(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], carry_t borrow)
{
	r[0] = sub_borrow(a[0], b[0], &borrow);
	r[1] = sub_borrow(a[1], b[1], &borrow);
	r[2] = sub_borrow(a[2], b[2], &borrow);
	r[3] = sub_borrow(a[3], b[3], &borrow);
	return borrow;
}

/* r = a + b, r = a - b; they return the carry or borrow, 0 or 1. */
static inline uint64_t
limbs_add(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	return limbs_addc(r, a, b, 0);
}

static inline uint64_t
limbs_sub(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	return limbs_subb(r, a, b, 0);
}

/* r = a where MASK is all ones, else b. */
static inline void
limbs_select(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], uint64_t mask)
{
	r[0] = (a[0] & mask) | (b[0] & ~mask);
	r[1] = (a[1] & mask) | (b[1] & ~mask);
	r[2] = (a[2] & mask) | (b[2] & ~mask);
	r[3] = (a[3] & mask) | (b[3] & ~mask);
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
