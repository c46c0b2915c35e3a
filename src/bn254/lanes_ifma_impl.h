/* bn254/lanes_ifma_impl.h: eight field elements side by side, on AVX-512 IFMA.
 *
 * VPMADD52LUQ and VPMADD52HUQ multiply the 52-bit numbers in eight 64-bit
 * lanes and add the low or the high half of the product (Gueron, Krasnov,
 * "Accelerating big integer arithmetic using Intel IFMA extensions", ARITH
 * 2016). So an element is five limbs of 52 bits, in Montgomery form to the
 * base 2^260, and a limb is a vector with one lane for each element.
 *
 * The including file has chosen the field: lanes_ifma_p.h or lanes_ifma_r.h.
 * With m the modulus there are two kinds of values, both with limbs below 2^52
 * (the multiplier looks at no more):
 *   tight   below 2m: products, and all that lane_reduce makes
 *   loose   below 8m: sums and differences
 * m / 2^260 is 0.0119, so for factors whose bounds multiply to 64 m^2 or less
 * a product is below 64 * 0.0119 m + m < 1.77 m: tight with no subtraction.
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
#define LANE_UNROLL _Pragma("GCC unroll 10")
#endif

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
	lane_set(r, lane_unit);
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

/* r = t mod m, tight, for a raw t below 5.29 m: take off the multiple of m
 * that the top bits name. The top limb is read before its carry, which is
 * from -4 to 2^6; the offset makes up for a negative one, and no multiple of m
 * is so close to one of 2^253 that 2^8 in that limb (2^216) matters. What is
 * left is below 1.66 m. */
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

/* A product before its reduction: ten columns of 2^52, raw. */
typedef struct {
	__m512i c[10];
} lane_wide_t;

/* w = w + a b */
LANE_INLINE void
lane_wide_mul_add(lane_wide_t *w, const lane_t *a, const lane_t *b)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		LANE_UNROLL
		for (int j = 0; j < 5; j++)
			w->c[i + j] = _mm512_madd52lo_epu64(
			    w->c[i + j], a->l[j], b->l[i]);
		LANE_UNROLL
		for (int j = 0; j < 5; j++)
			w->c[i + j + 1] = _mm512_madd52hi_epu64(
			    w->c[i + j + 1], a->l[j], b->l[i]);
	}
}

LANE_INLINE void
lane_wide_mul(lane_wide_t *w, const lane_t *a, const lane_t *b)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		w->c[i] = _mm512_setzero_si512();
	lane_wide_mul_add(w, a, b);
}

/* w = a^2: each product of two limbs once, doubled, and the squares. */
LANE_INLINE void
lane_wide_sqr(lane_wide_t *w, const lane_t *a)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		w->c[i] = _mm512_setzero_si512();
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		LANE_UNROLL
		for (int j = i + 1; j < 5; j++) {
			w->c[i + j] = _mm512_madd52lo_epu64(
			    w->c[i + j], a->l[j], a->l[i]);
			w->c[i + j + 1] = _mm512_madd52hi_epu64(
			    w->c[i + j + 1], a->l[j], a->l[i]);
		}
	}
	LANE_UNROLL
	for (int i = 1; i < 9; i++)
		w->c[i] = _mm512_add_epi64(w->c[i], w->c[i]);
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		w->c[2 * i] =
		    _mm512_madd52lo_epu64(w->c[2 * i], a->l[i], a->l[i]);
		w->c[2 * i + 1] =
		    _mm512_madd52hi_epu64(w->c[2 * i + 1], a->l[i], a->l[i]);
	}
}

/* One of the five steps of a reduction: the multiple q m that makes the lowest
 * column zero is added, and the column dropped. What it leaves is its quotient
 * by 2^52 rounded up, so the lowest product of q need not be computed. */
LANE_INLINE void
lane_redc_step(__m512i c[static 6])
{
	const __m512i zero = _mm512_setzero_si512();
	const __m512i mask = lane_word(LANE_MASK);
	const __m512i q =
	    _mm512_madd52lo_epu64(zero, c[0], lane_word(LANE_MODULUS_INV));

	c[1] = _mm512_add_epi64(
	    c[1], _mm512_srai_epi64(_mm512_add_epi64(c[0], mask), LANE_BITS));
	LANE_UNROLL
	for (int j = 1; j < 5; j++)
		c[j] =
		    _mm512_madd52lo_epu64(c[j], q, lane_word(lane_modulus[j]));
	LANE_UNROLL
	for (int j = 0; j < 5; j++)
		c[j + 1] = _mm512_madd52hi_epu64(
		    c[j + 1], q, lane_word(lane_modulus[j]));
}

/* t = w / 2^260 mod m, raw. */
LANE_INLINE void
lane_wide_redc(lane_t *t, const lane_wide_t *w)
{
	lane_wide_t u = *w;

	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		lane_redc_step(&u.c[i]);
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t->l[i] = u.c[i + 5];
}

/* The same twice, in step: each step is a chain of products, in whose waiting
 * time the other goes on. */
LANE_INLINE void
lane_wide_redc_two(
    lane_t *s, lane_t *t, const lane_wide_t *v, const lane_wide_t *w)
{
	lane_wide_t a = *v, b = *w;

	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		lane_redc_step(&a.c[i]);
		lane_redc_step(&b.c[i]);
	}
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		s->l[i] = a.c[i + 5];
		t->l[i] = b.c[i + 5];
	}
}

LANE_INLINE void
lane_mul_raw(lane_t *t, const lane_t *a, const lane_t *b)
{
	lane_wide_t w;

	lane_wide_mul(&w, a, b);
	lane_wide_redc(t, &w);
}

LANE_INLINE void
lane_sqr_raw(lane_t *t, const lane_t *a)
{
	lane_wide_t w;

	lane_wide_sqr(&w, a);
	lane_wide_redc(t, &w);
}

/* t = t + c, raw. */
LANE_INLINE void
lane_add_raw(lane_t *t, const lane_t *c)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t->l[i] = _mm512_add_epi64(t->l[i], c->l[i]);
}

/* t = t - c + 2m, raw; c tight. */
LANE_INLINE void
lane_sub_raw(lane_t *t, const lane_t *c)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t->l[i] = _mm512_add_epi64(t->l[i],
		    _mm512_sub_epi64(lane_word(2 * lane_modulus[i]), c->l[i]));
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

/* Two rows of four words in one vector. */
LANE_INLINE __m512i
lane_rows(const void *low, const void *high)
{
	return _mm512_inserti64x4(
	    _mm512_castsi256_si512(_mm256_loadu_si256(low)),
	    _mm256_loadu_si256(high), 1);
}

/* w[j] = word J of each of the eight rows of four at IN. */
LANE_INLINE void
lane_transpose(__m512i w[static 4], const void *const in[static LANES])
{
	/* Two rows of every four are in each half: rows 0 and 1, then 2 and 3,
	 * come out side by side. */
	const __m512i a = lane_rows(in[0], in[2]), b = lane_rows(in[1], in[3]);
	const __m512i c = lane_rows(in[4], in[6]), d = lane_rows(in[5], in[7]);
	const __m512i even = _mm512_unpacklo_epi64(a, b);
	const __m512i odd = _mm512_unpackhi_epi64(a, b);
	const __m512i even4 = _mm512_unpacklo_epi64(c, d);
	const __m512i odd4 = _mm512_unpackhi_epi64(c, d);

	w[0] = _mm512_shuffle_i64x2(even, even4, 0x88);
	w[1] = _mm512_shuffle_i64x2(odd, odd4, 0x88);
	w[2] = _mm512_shuffle_i64x2(even, even4, 0xdd);
	w[3] = _mm512_shuffle_i64x2(odd, odd4, 0xdd);
}

/* r = 2^SHIFT w, from four words of 64 bits, 2^(256 - SHIFT) not reached. */
LANE_INLINE void
lane_split(lane_t *r, const __m512i w[static 4], unsigned shift)
{
	const __m512i mask = lane_word(LANE_MASK);

	r->l[0] = _mm512_and_si512(_mm512_slli_epi64(w[0], shift), mask);
	LANE_UNROLL
	for (unsigned i = 1; i < 4; i++) {
		__m512i low = _mm512_srli_epi64(w[i - 1], 64 - 12 * i - shift);
		__m512i high = _mm512_slli_epi64(w[i], 12 * i + shift);

		r->l[i] = _mm512_and_si512(_mm512_or_si512(low, high), mask);
	}
	r->l[4] = _mm512_srli_epi64(w[3], 16 - shift);
}

/* Load lane i from the 32 bytes at IN[i]: Montgomery limbs to the base 2^256,
 * little-endian, below m, as in proving keys. */
LANE_INLINE void
lane_load(lane_t *r, const uint8_t *const in[static LANES])
{
	const void *row[LANES];
	__m512i w[4];
	lane_t t, k;

	for (int i = 0; i < LANES; i++)
		row[i] = in[i];
	lane_transpose(w, row);
	lane_split(&t, w, 0);
	lane_set(&k, lane_in);
	lane_mul_raw(&t, &t, &k);
	lane_carry(r, &t);
}

/* Store all lanes as ordinary elements. */
static inline void
lane_store(uint64_t out[static LANES][4], const lane_t *a)
{
	uint64_t limbs[5][LANES] __attribute__((aligned(64)));
	lane_t t, k;

	lane_set(&k, lane_out);
	lane_mul_raw(&t, a, &k);
	lane_carry(&t, &t);
	for (int j = 0; j < 5; j++)
		_mm512_store_si512(limbs[j], t.l[j]);
	for (int i = 0; i < LANES; i++) {
		const uint64_t v[4] = {limbs[0][i] | limbs[1][i] << 52,
		    limbs[1][i] >> 12 | limbs[2][i] << 40,
		    limbs[2][i] >> 24 | limbs[3][i] << 28,
		    limbs[3][i] >> 36 | limbs[4][i] << 16};
		/* Below 2m: one subtraction makes it canonical. */
		uint64_t below = limbs_sub(out[i], v, lane_modulus64);
		limbs_select(out[i], v, out[i], mask_of(below));
	}
}

#endif
