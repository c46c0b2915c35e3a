/* bn254/fe_lanes_impl.h: elements for the tower of fe2_impl.h, eight side by
 * side on AVX-512 IFMA, over lanes_ifma_impl.h.
 *
 * fe_t is tight: a unit is 1.77 p. A product of two factors whose bounds
 * multiply to 4 units^2 is below 4 * 3.14 p * 0.0119 + p = 1.15 p.
 *
 * few_t is a product of ten columns of 2^52, each a signed 64-bit sum whose
 * carries are not done: adding and subtracting is ten instructions, and what
 * is "modulo p 2^256" for the scalar kernels may here be negative or large.
 * Reduction takes what is between -44 and 44 units^2 (138 p^2, which the
 * division by 2^260 makes 1.64 p) to a value between -1.64 p and 2.64 p and
 * takes off the multiple of p that its top bits name.
 *
 * The largest that the tower makes is xi (a1 b2 + a2 b1) + a0 b0: c0 and c1 of
 * the cross product are within 2 and 4 units^2 of 0, so 9 c1 + c0 within 38,
 * and with a0 b0 within 40. Private to the folder.
 */
#ifndef BN254_FE_LANES_IMPL_H
#define BN254_FE_LANES_IMPL_H

#include "base/verify.h"
#include "bn254/fp2.h"
#include "bn254/lane_constants.h"
#include "bn254/lanes_ifma_p.h"

#include "bn254/lanes_ifma_impl.h"

typedef lane_t fe_t;

typedef struct {
	fe_t c0, c1;
} fe2_t;

typedef lane_wide_t few_t;

/* Limbs below 2^52, value below 1.77 p = 3.54 2^252 / ... in every lane. */
static inline bool
fe_tight(const fe_t *a)
{
	/* 1.77 p, its limb of 2^208. */
	const __m512i top = lane_word(1770 * lane_modulus[4] / 1000 + 1);
	__mmask8 over = _mm512_cmpgt_epu64_mask(a->l[4], top);

	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		over |= _mm512_cmpgt_epu64_mask(a->l[i], lane_word(LANE_MASK));
	return over == 0;
}

#define TOWER(NAME) lane_##NAME

/* A call of a product is a tenth of its time; but with the checks of their
 * bounds inlined, frames grow too large. */
#if VERIFY_BUILD
#define FE_MUL_INLINE static inline
#else
#define FE_MUL_INLINE LANE_INLINE
#endif

/* How many lines go into f at a time. */
#define FE_LINES_TOGETHER 2

static inline void
fe_set(fe_t *r, const lane_fp_t *a)
{
	lane_set(r, a->l);
}

static inline void
fe2_set(fe2_t *r, const lane_fp2_t *a)
{
	fe_set(&r->c0, &a->c0);
	fe_set(&r->c1, &a->c1);
}

static inline void
fe_set_one(fe_t *r)
{
	lane_one(r);
}

static inline void
fe_set_zero(fe_t *r)
{
	lane_zero(r);
}

static inline void
fe_load(fe_t *r, const fp_t *const in[static LANES])
{
	const uint8_t *bytes[LANES];

	for (int i = 0; i < LANES; i++)
		bytes[i] = (const uint8_t *)in[i];
	lane_load(r, bytes);
}

static inline void
fe_store(fp_t out[static LANES], const fe_t *a)
{
	uint64_t limbs[LANES][4];

	lane_store(limbs, a);
	memcpy(out, limbs, sizeof(limbs));
}

/* The lanes that have no work; r becomes 1 or 0 in them. */
typedef lane_mask_t fe_idle_t;

static inline void
fe2_idle_zero(fe2_t *r, fe_idle_t idle)
{
	fe_t zero;

	lane_zero(&zero);
	lane_select(&r->c0, &zero, idle);
	lane_select(&r->c1, &zero, idle);
}

static inline void
fe2_idle_one(fe2_t *r, fe_idle_t idle)
{
	fe_t one;

	fe2_idle_zero(r, idle);
	lane_one(&one);
	lane_select(&r->c0, &one, idle);
}

/* r = table[index], lane by lane. */
static inline void
fe_pick(fe_t *r, const fe_t *table, const uint8_t index[static LANES])
{
	*r = table[0];
	for (uint8_t j = 1; j < 8; j++)
		lane_select(r, &table[j], lane_bytes_eq(index, 0xff, j));
}

/* r = t mod p for a raw t between -2.64 p and 2.64 p: below 1.65 p. The top
 * limb, less 2^8 for the carries below it that may be negative, says between
 * which multiples of 2^253 it is. */
LANE_INLINE void
fe_reduce_signed(fe_t *r, const lane_t *t)
{
	const __m512i which = _mm512_srai_epi64(
	    _mm512_sub_epi64(t->l[4], lane_word(1 << 8)), 253 - 208);
	lane_t u;

	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		u.l[i] = _mm512_sub_epi64(t->l[i],
		    _mm512_permutexvar_epi64(
			which, _mm512_load_si512(lane_signed_multiples[i])));
	lane_carry(r, &u);
	VERIFY(fe_tight(r));
}

/* r = t mod p for a raw t, not negative and below 21 p, as lane_reduce does it
 * for 5.29 p: 32 multiples, in two pairs of vectors. */
LANE_INLINE void
fe_reduce_large(fe_t *r, const lane_t *t)
{
	__m512i which = _mm512_srli_epi64(
	    _mm512_add_epi64(t->l[4], lane_word(1 << 7)), 253 - 208);
	lane_mask_t upper = _mm512_test_epi64_mask(which, lane_word(16));
	lane_t u;

	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		const uint64_t *m = lane_large_multiples[i];
		__m512i low = _mm512_permutex2var_epi64(
		    _mm512_load_si512(m), which, _mm512_load_si512(m + 8));
		__m512i high =
		    _mm512_permutex2var_epi64(_mm512_load_si512(m + 16), which,
			_mm512_load_si512(m + 24));
		u.l[i] = _mm512_sub_epi64(
		    t->l[i], _mm512_mask_mov_epi64(low, upper, high));
	}
	lane_carry(r, &u);
	VERIFY(fe_tight(r));
}

/* The same for t below 10.5 p, or 16 multiples. */
LANE_INLINE void
fe_reduce_middle(fe_t *r, const lane_t *t)
{
	__m512i which = _mm512_srli_epi64(
	    _mm512_add_epi64(t->l[4], lane_word(1 << 7)), 253 - 208);
	lane_t u;

	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		const uint64_t *m = lane_large_multiples[i];

		u.l[i] = _mm512_sub_epi64(t->l[i],
		    _mm512_permutex2var_epi64(
			_mm512_load_si512(m), which, _mm512_load_si512(m + 8)));
	}
	lane_carry(r, &u);
	VERIFY(fe_tight(r));
}

LANE_INLINE __m512i
lane_three(__m512i v)
{
	return _mm512_add_epi64(v, _mm512_add_epi64(v, v));
}

static inline void
fe_add(fe_t *r, const fe_t *a, const fe_t *b)
{
	lane_t t = *a;

	VERIFY(fe_tight(a) && fe_tight(b));
	lane_add_raw(&t, b);
	lane_reduce(r, &t);
	VERIFY(fe_tight(r));
}

static inline void
fe_sub(fe_t *r, const fe_t *a, const fe_t *b)
{
	lane_t t;

	VERIFY(fe_tight(a) && fe_tight(b));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_sub_epi64(a->l[i], b->l[i]);
	fe_reduce_signed(r, &t);
}

static inline void
fe_neg(fe_t *r, const fe_t *a)
{
	lane_t t;

	VERIFY(fe_tight(a));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_sub_epi64(_mm512_setzero_si512(), a->l[i]);
	fe_reduce_signed(r, &t);
}

static inline void
fe_negate_if(fe_t *r, const uint8_t flag[static LANES])
{
	fe_t t;

	fe_neg(&t, r);
	lane_select(r, &t, lane_bytes_eq(flag, 1, 1));
}

static inline void
fe_sum(fe_t *r, const fe_t *a, const fe_t *b)
{
	lane_t t = *a;

	lane_add_raw(&t, b);
	lane_carry(r, &t);
}

/* --- sums of more than two --------------------------------------------------- */

/* r = 3a */
LANE_INLINE void
fe_triple(fe_t *r, const fe_t *a)
{
	lane_t t;

	VERIFY(fe_tight(a));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = lane_three(a->l[i]);
	fe_reduce_middle(r, &t);
}

/* r = a - b - c: between 0 and 5.8 p with 4p. */
LANE_INLINE void
fe_sub_two(fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c)
{
	lane_t t;

	VERIFY(fe_tight(a) && fe_tight(b) && fe_tight(c));
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		__m512i plus =
		    _mm512_add_epi64(a->l[i], lane_word(4 * lane_modulus[i]));
		t.l[i] =
		    _mm512_sub_epi64(plus, _mm512_add_epi64(b->l[i], c->l[i]));
	}
	fe_reduce_middle(r, &t);
}

/* r = a + b - c: with 2p below 5.6 p. */
LANE_INLINE void
fe_add_sub(fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c)
{
	lane_t t;

	VERIFY(fe_tight(a) && fe_tight(b) && fe_tight(c));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_add_epi64(_mm512_add_epi64(a->l[i], b->l[i]),
		    _mm512_sub_epi64(lane_word(2 * lane_modulus[i]), c->l[i]));
	fe_reduce_middle(r, &t);
}

/* r = a - 2b */
LANE_INLINE void
fe_sub_twice(fe_t *r, const fe_t *a, const fe_t *b)
{
	fe_sub_two(r, a, b, b);
}

/* r = 4a: below 7.1 p. */
LANE_INLINE void
fe_quadruple(fe_t *r, const fe_t *a)
{
	lane_t t;

	VERIFY(fe_tight(a));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_slli_epi64(a->l[i], 2);
	fe_reduce_middle(r, &t);
}

/* r = 3a - b: with 2p below 7.4 p. */
LANE_INLINE void
fe_three_sub(fe_t *r, const fe_t *a, const fe_t *b)
{
	lane_t t;

	VERIFY(fe_tight(a) && fe_tight(b));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_add_epi64(lane_three(a->l[i]),
		    _mm512_sub_epi64(lane_word(2 * lane_modulus[i]), b->l[i]));
	fe_reduce_middle(r, &t);
}

/* r = a - 8b: with 15p, between 0 and 16.8 p. */
LANE_INLINE void
fe_sub_eight(fe_t *r, const fe_t *a, const fe_t *b)
{
	lane_t t;

	VERIFY(fe_tight(a) && fe_tight(b));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_sub_epi64(
		    _mm512_add_epi64(a->l[i], lane_word(15 * lane_modulus[i])),
		    _mm512_slli_epi64(b->l[i], 3));
	fe_reduce_large(r, &t);
}

/* r = a + 3b */
LANE_INLINE void
fe_add_three(fe_t *r, const fe_t *a, const fe_t *b)
{
	lane_t t;

	VERIFY(fe_tight(a) && fe_tight(b));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_add_epi64(a->l[i], lane_three(b->l[i]));
	fe_reduce_middle(r, &t);
}

/* r = 9a + b: below 17.7 p. */
LANE_INLINE void
fe_nine_add(fe_t *r, const fe_t *a, const fe_t *b)
{
	lane_t t;

	VERIFY(fe_tight(a) && fe_tight(b));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_add_epi64(b->l[i],
		    _mm512_add_epi64(a->l[i], _mm512_slli_epi64(a->l[i], 3)));
	fe_reduce_large(r, &t);
}

/* r = 9a - b: with 2p below 18 p. */
LANE_INLINE void
fe_nine_sub(fe_t *r, const fe_t *a, const fe_t *b)
{
	lane_t t;

	VERIFY(fe_tight(a) && fe_tight(b));
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_sub_epi64(
		    _mm512_add_epi64(a->l[i], lane_word(2 * lane_modulus[i])),
		    _mm512_sub_epi64(b->l[i], _mm512_slli_epi64(a->l[i], 3)));
	fe_reduce_large(r, &t);
}

/* --- products ----------------------------------------------------------------- */

static inline void
few_mul(few_t *w, const fe_t *a, const fe_t *b)
{
	lane_wide_t t;

	lane_wide_mul(&t, a, b);
	*w = t;
}

static inline void
few_add(few_t *w, const few_t *a, const few_t *b)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		w->c[i] = _mm512_add_epi64(a->c[i], b->c[i]);
}

static inline void
few_sub(few_t *w, const few_t *a, const few_t *b)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		w->c[i] = _mm512_sub_epi64(a->c[i], b->c[i]);
}

static inline void
few_sub_two(few_t *w, const few_t *a, const few_t *b)
{
	few_sub(w, w, a);
	few_sub(w, w, b);
}

static inline void
few_nine_add(few_t *w, const few_t *a, const few_t *b, const few_t *c)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		w->c[i] = _mm512_add_epi64(c->c[i],
		    _mm512_add_epi64(_mm512_add_epi64(a->c[i],
					 _mm512_slli_epi64(a->c[i], 3)),
			b->c[i]));
}

static inline void
few_nine_sub(few_t *w, const few_t *a, const few_t *b, const few_t *c)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		w->c[i] = _mm512_add_epi64(c->c[i],
		    _mm512_sub_epi64(_mm512_add_epi64(a->c[i],
					 _mm512_slli_epi64(a->c[i], 3)),
			b->c[i]));
}

LANE_INLINE void
few_redc(fe_t *r, const few_t *w)
{
	lane_t t;

	lane_wide_redc(&t, w);
	fe_reduce_signed(r, &t);
}

LANE_INLINE void
few_redc_two(fe_t *r, fe_t *s, const few_t *v, const few_t *w)
{
	lane_t t, u;

	lane_wide_redc_two(&t, &u, v, w);
	fe_reduce_signed(r, &t);
	fe_reduce_signed(s, &u);
}

FE_MUL_INLINE void
fe_mul(fe_t *r, const fe_t *a, const fe_t *b)
{
	lane_t t;

	lane_mul_raw(&t, a, b);
	lane_carry(r, &t);
	VERIFY(fe_tight(r));
}

FE_MUL_INLINE void
fe_sqr(fe_t *r, const fe_t *a)
{
	lane_t t;

	VERIFY(fe_tight(a));
	lane_sqr_raw(&t, a);
	lane_carry(r, &t);
	VERIFY(fe_tight(r));
}

/* Eight inverses for the price of one. */
static inline void
fe_inv(fe_t *r, const fe_t *a)
{
	fp_t x[LANES], y[LANES];
	const fp_t *in[LANES];

	fe_store(x, a);
	fp_inv_many_var(y, x, LANES);
	for (int i = 0; i < LANES; i++)
		in[i] = &y[i];
	fe_load(r, in);
}

#endif
