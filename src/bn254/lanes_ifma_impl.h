/* bn254/lanes_ifma_impl.h: eight elements of Fp side by side, on AVX-512 IFMA.
 *
 * VPMADD52LUQ and VPMADD52HUQ multiply the 52-bit numbers in eight 64-bit
 * lanes and add the low or the high half of the product (Gueron, Krasnov,
 * "Accelerating big integer arithmetic using Intel IFMA extensions", ARITH
 * 2016). So an element is five limbs of 52 bits, in Montgomery form to the
 * base 2^260, and a limb is a vector with one lane for each element.
 *
 * Two kinds of values, both with limbs below 2^52 (the multiplier looks at no
 * more):
 *   tight   below 2p: products, and all that lane_reduce makes
 *   loose   below 8p: sums and differences
 * p / 2^260 is 0.0119, so for factors whose bounds multiply to 64 p^2 or less
 * a product is below 64 * 0.0119 p + p < 1.77 p: tight with no subtraction.
 * Values whose name ends in "raw" have their carries not done: limbs of some
 * 58 bits, perhaps negative; they go on to lane_carry or lane_reduce.
 *
 * Constant time. Only files compiled for IFMA may include this. Private to the
 * folder.
 */
#ifndef BN254_LANES_IFMA_IMPL_H
#define BN254_LANES_IFMA_IMPL_H

#include <immintrin.h>
#include <stdint.h>

#include "base/bytes.h"
#include "bn254/fp.h"
#include "bn254/limbs.h"

#define LANES 8

typedef struct {
	__m512i l[5];
} lane_t;

typedef __mmask8 lane_mask_t;

#define LANE_BITS 52
#define LANE_MASK ((UINT64_C(1) << LANE_BITS) - 1)
#define LANE_INLINE static inline __attribute__((always_inline))

/* Loops over limbs are written out by the compiler: only then do limbs stay in
 * registers. At -O2 gcc has to be told. */
#ifdef __clang__
#define LANE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define LANE_UNROLL _Pragma("GCC unroll 8")
#endif

static const uint64_t lane_p[5] = {0x08c16d87cfd47, 0x916871ca8d3c2,
    0x181585d97816a, 0xa029b85045b68, 0x030644e72e131};
#define LANE_P_INV UINT64_C(0x20782e4866389) /* -1/p mod 2^52 */

/* 2^260, and the factors that lead from Montgomery form to the base 2^256
 * into ours and back: 2^264 and 2^256. */
static const uint64_t lane_r[5] = {0x20880f6fce4b4, 0x49baa989a8455,
    0x18f014a498908, 0x724f85a9201d8, 0x01f16424e1bb7};
static const uint64_t lane_in[5] = {0xb0f2afaec667a, 0xed9626b0fffbd,
    0x9e2a0fcad825a, 0xe357276f48b70, 0x00d791464ef86};
static const uint64_t lane_out[5] = {0xd438dc58f0d9d, 0x28f5c70b3dd35,
    0x879462c0a78eb, 0xdf2f666ea36f7, 0x00e0a77c19a07};

LANE_INLINE __m512i
lane_word(uint64_t v)
{
	return _mm512_set1_epi64((long long)v);
}

/* All lanes the same. */
LANE_INLINE void
lane_set(lane_t *r, const uint64_t v[static 5])
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		r->l[i] = lane_word(v[i]);
}

LANE_INLINE void
lane_zero(lane_t *r)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		r->l[i] = _mm512_setzero_si512();
}

LANE_INLINE void
lane_one(lane_t *r)
{
	lane_set(r, lane_r);
}

/* Do the carries of a raw value, which is not negative. */
LANE_INLINE void
lane_carry(lane_t *r, const lane_t *t)
{
	const __m512i mask = lane_word(LANE_MASK);
	__m512i carry = _mm512_setzero_si512();

	LANE_UNROLL
	for (int i = 0; i < 4; i++) {
		__m512i v = _mm512_add_epi64(t->l[i], carry);
		carry = _mm512_srai_epi64(v, LANE_BITS);
		r->l[i] = _mm512_and_si512(v, mask);
	}
	r->l[4] = _mm512_add_epi64(t->l[4], carry);
}

/* Multiples of p, limb by limb: in place j the largest that is not above
 * j 2^253 = 0.661 j p. */
static const uint64_t lane_multiples[5][8] __attribute__((aligned(64))) = {
    {0, 0, 0x08c16d87cfd47, 0x08c16d87cfd47, 0x1182db0f9fa8e, 0x1a4448976f7d5,
	0x1a4448976f7d5, 0x2305b61f3f51c},
    {0, 0, 0x916871ca8d3c2, 0x916871ca8d3c2, 0x22d0e3951a784, 0xb439555fa7b46,
	0xb439555fa7b46, 0x45a1c72a34f08},
    {0, 0, 0x181585d97816a, 0x181585d97816a, 0x302b0bb2f02d5, 0x4840918c6843f,
	0x4840918c6843f, 0x60561765e05aa},
    {0, 0, 0xa029b85045b68, 0xa029b85045b68, 0x405370a08b6d0, 0xe07d28f0d1238,
	0xe07d28f0d1238, 0x80a6e14116da0},
    {0, 0, 0x030644e72e131, 0x030644e72e131, 0x060c89ce5c263, 0x0912ceb58a394,
	0x0912ceb58a394, 0x0c19139cb84c6},
};

/* r = t mod p, tight, for a raw t below 5.29 p: take off the multiple of p
 * that the top bits name. The top limb is read before its carry, which is
 * from -4 to 2^6; the offset makes up for a negative one, and no multiple of p
 * is so close to one of 2^253 that 2^8 in that limb (2^216) matters. What is
 * left is below 1.66 p. */
LANE_INLINE void
lane_reduce(lane_t *r, const lane_t *t)
{
	const __m512i offset = lane_word(UINT64_C(1) << 7);
	lane_t u;
	__m512i which =
	    _mm512_srli_epi64(_mm512_add_epi64(t->l[4], offset), 253 - 208);

	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		u.l[i] = _mm512_sub_epi64(t->l[i],
		    _mm512_permutexvar_epi64(
			which, _mm512_load_si512(lane_multiples[i])));
	lane_carry(r, &u);
}

/* t += a b, the high halves to HI. */
LANE_INLINE void
lane_mul_row(
    __m512i t[static 5], __m512i hi[static 5], const lane_t *a, __m512i b)
{
	LANE_UNROLL
	for (int j = 0; j < 5; j++)
		t[j] = _mm512_madd52lo_epu64(t[j], a->l[j], b);
	LANE_UNROLL
	for (int j = 0; j < 5; j++)
		hi[j] = _mm512_madd52hi_epu64(hi[j], a->l[j], b);
}

/* t = (t + q p) / 2^52 + HI, with the q that makes the low limb zero. */
LANE_INLINE void
lane_redc_row(__m512i t[static 5], const __m512i hi[static 5])
{
	const __m512i zero = _mm512_setzero_si512();
	__m512i q = _mm512_madd52lo_epu64(zero, t[0], lane_word(LANE_P_INV));

	LANE_UNROLL
	for (int j = 0; j < 5; j++)
		t[j] = _mm512_madd52lo_epu64(t[j], q, lane_word(lane_p[j]));
	t[1] = _mm512_add_epi64(t[1], _mm512_srli_epi64(t[0], LANE_BITS));
	LANE_UNROLL
	for (int j = 0; j < 4; j++)
		t[j] = _mm512_add_epi64(t[j + 1], hi[j]);
	t[4] = hi[4];
	LANE_UNROLL
	for (int j = 0; j < 5; j++)
		t[j] = _mm512_madd52hi_epu64(t[j], q, lane_word(lane_p[j]));
}

/* t = a b / 2^260 mod p, raw. */
LANE_INLINE void
lane_mul_raw(lane_t *t, const lane_t *a, const lane_t *b)
{
	__m512i v[5], hi[5];

	LANE_UNROLL
	for (int j = 0; j < 5; j++)
		v[j] = _mm512_setzero_si512();
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		LANE_UNROLL
		for (int j = 0; j < 5; j++)
			hi[j] = _mm512_setzero_si512();
		lane_mul_row(v, hi, a, b->l[i]);
		lane_redc_row(v, hi);
	}
	LANE_UNROLL
	for (int j = 0; j < 5; j++)
		t->l[j] = v[j];
}

/* t = (a b + c d) / 2^260 mod p, raw: one reduction for both products. */
LANE_INLINE void
lane_mul2_raw(lane_t *t, const lane_t *a, const lane_t *b, const lane_t *c,
    const lane_t *d)
{
	__m512i v[5], hi[5];

	LANE_UNROLL
	for (int j = 0; j < 5; j++)
		v[j] = _mm512_setzero_si512();
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		LANE_UNROLL
		for (int j = 0; j < 5; j++)
			hi[j] = _mm512_setzero_si512();
		lane_mul_row(v, hi, a, b->l[i]);
		lane_mul_row(v, hi, c, d->l[i]);
		lane_redc_row(v, hi);
	}
	LANE_UNROLL
	for (int j = 0; j < 5; j++)
		t->l[j] = v[j];
}

/* t = t + c, raw. */
LANE_INLINE void
lane_add_raw(lane_t *t, const lane_t *c)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t->l[i] = _mm512_add_epi64(t->l[i], c->l[i]);
}

/* t = t - c + 2p, raw; c tight. */
LANE_INLINE void
lane_sub_raw(lane_t *t, const lane_t *c)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t->l[i] = _mm512_add_epi64(t->l[i],
		    _mm512_sub_epi64(lane_word(2 * lane_p[i]), c->l[i]));
}

/* The lanes in which byte I of the eight at IN, of its bits those in MASK, is
 * VALUE. */
LANE_INLINE lane_mask_t
lane_bytes_eq(const uint8_t in[static LANES], uint8_t mask, uint8_t value)
{
	__m512i v = _mm512_cvtepu8_epi64(
	    _mm_loadl_epi64((const __m128i *)(const void *)in));

	return _mm512_cmpeq_epi64_mask(
	    _mm512_and_si512(v, lane_word(mask)), lane_word(value));
}

/* r = a in the lanes of MASK. */
LANE_INLINE void
lane_select(lane_t *r, const lane_t *a, lane_mask_t mask)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		r->l[i] = _mm512_mask_mov_epi64(r->l[i], mask, a->l[i]);
}

/* r = a, lane i from lane i XOR DISTANCE (1, 2 or 4). */
LANE_INLINE void
lane_exchange(lane_t *r, const lane_t *a, int distance)
{
	const __m512i at =
	    _mm512_xor_si512(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
		lane_word((uint64_t)distance));

	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		r->l[i] = _mm512_permutexvar_epi64(at, a->l[i]);
}

/* Load lane i from the 32 bytes at IN[i]: Montgomery limbs to the base 2^256,
 * little-endian, below p, as in proving keys. */
static inline void
lane_load(lane_t *r, const uint8_t *const in[static LANES])
{
	uint64_t limbs[5][LANES] __attribute__((aligned(64)));
	lane_t t, k;

	for (int i = 0; i < LANES; i++) {
		uint64_t w[4];
		for (int j = 0; j < 4; j++)
			w[j] = load_le64(in[i] + 8 * j);
		limbs[0][i] = w[0] & LANE_MASK;
		limbs[1][i] = (w[0] >> 52 | w[1] << 12) & LANE_MASK;
		limbs[2][i] = (w[1] >> 40 | w[2] << 24) & LANE_MASK;
		limbs[3][i] = (w[2] >> 28 | w[3] << 36) & LANE_MASK;
		limbs[4][i] = w[3] >> 16;
	}
	for (int j = 0; j < 5; j++)
		t.l[j] = _mm512_load_si512(limbs[j]);
	lane_set(&k, lane_in);
	lane_mul_raw(&t, &t, &k);
	lane_carry(r, &t);
}

/* Store all lanes as ordinary elements. */
static inline void
lane_store(fp_t out[static LANES], const lane_t *a)
{
	uint64_t limbs[5][LANES] __attribute__((aligned(64)));
	static const uint64_t p[4] = {0x3c208c16d87cfd47, 0x97816a916871ca8d,
	    0xb85045b68181585d, 0x30644e72e131a029};
	lane_t t, k;

	lane_set(&k, lane_out);
	lane_mul_raw(&t, a, &k);
	lane_carry(&t, &t);
	for (int j = 0; j < 5; j++)
		_mm512_store_si512(limbs[j], t.l[j]);
	for (int i = 0; i < LANES; i++) {
		uint64_t v[4] = {limbs[0][i] | limbs[1][i] << 52,
		    limbs[1][i] >> 12 | limbs[2][i] << 40,
		    limbs[2][i] >> 24 | limbs[3][i] << 28,
		    limbs[3][i] >> 36 | limbs[4][i] << 16};
		/* Below 2p: one subtraction makes it canonical. */
		uint64_t below = limbs_sub(out[i].l, v, p);
		for (int j = 0; j < 4; j++)
			out[i].l[j] ^= (out[i].l[j] ^ v[j]) & mask_of(below);
	}
}

#endif
