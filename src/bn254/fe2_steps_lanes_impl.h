/* bn254/fe2_steps_lanes_impl.h: fe2_steps_impl.h, with its words, for eight lanes
 * on AVX-512 IFMA.
 *
 * A product of ten columns stored is twenty cycles of the processor, ten of its
 * products of limbs take as many; so a step goes from its factors to its
 * reduced value without a store. Sums are loose, with one bound for both
 * factors: 4 units times 4, and what is subtracted makes of the product what
 * fe_lanes_impl.h says. Columns stay below 2^62: a product's are below 2^55.4,
 * and no more than 70 of them come together. Private to the folder.
 */
#ifndef BN254_FE2_STEPS_LANES_IMPL_H
#define BN254_FE2_STEPS_LANES_IMPL_H

#define FE2_STEPS

#include "bn254/fe2_impl.h"

/* w = ab; one of the factors may be a sum. */
LANE_INLINE void
wide2_mul(few2_t *w, const fe2_t *a, const fe2_t *b)
{
	few_t v;
	fe_t s, t;

	fe_sum(&s, &a->c0, &a->c1);
	fe_sum(&t, &b->c0, &b->c1);
	lane_wide_mul(&w->c0, &a->c0, &b->c0);
	lane_wide_mul(&v, &a->c1, &b->c1);
	LANE_UNROLL
	for (int i = 0; i < 10; i++) {
		w->c1.c[i] = _mm512_sub_epi64(_mm512_setzero_si512(),
		    _mm512_add_epi64(w->c0.c[i], v.c[i]));
		w->c0.c[i] = _mm512_sub_epi64(w->c0.c[i], v.c[i]);
	}
	lane_wide_mul_add(&w->c1, &s, &t);
}

/* w = ad + bc */
LANE_INLINE void
wide2_cross(few2_t *w, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd)
{
	fe2_t s, t;

	fe2_sum(&s, a, b);
	fe2_sum(&t, c, d);
	wide2_mul(w, &s, &t);
	LANE_UNROLL
	for (int i = 0; i < 10; i++) {
		w->c0.c[i] = _mm512_sub_epi64(
		    w->c0.c[i], _mm512_add_epi64(ac->c0.c[i], bd->c0.c[i]));
		w->c1.c[i] = _mm512_sub_epi64(
		    w->c1.c[i], _mm512_add_epi64(ac->c1.c[i], bd->c1.c[i]));
	}
}

/* w = w + e */
LANE_INLINE void
wide2_add(few2_t *w, const few2_t *e)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++) {
		w->c0.c[i] = _mm512_add_epi64(w->c0.c[i], e->c0.c[i]);
		w->c1.c[i] = _mm512_add_epi64(w->c1.c[i], e->c1.c[i]);
	}
}

/* w = w + (9 + i) e */
LANE_INLINE void
wide2_add_xi(few2_t *w, const few2_t *e)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++) {
		const __m512i e0 = e->c0.c[i], e1 = e->c1.c[i];

		w->c0.c[i] = _mm512_add_epi64(_mm512_add_epi64(w->c0.c[i], e0),
		    _mm512_sub_epi64(_mm512_slli_epi64(e0, 3), e1));
		w->c1.c[i] = _mm512_add_epi64(_mm512_add_epi64(w->c1.c[i], e1),
		    _mm512_add_epi64(_mm512_slli_epi64(e1, 3), e0));
	}
}

/* w = (9 + i) w + e */
LANE_INLINE void
wide2_xi_add(few2_t *w, const few2_t *e)
{
	few2_t t = *e;

	wide2_add_xi(&t, w);
	*w = t;
}

static NOINLINE __attribute__((unused)) void
fe2_cross(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd)
{
	few2_t w;

	wide2_cross(&w, a, b, c, d, ac, bd);
	few2_redc(r, &w);
}

static NOINLINE void
fe2_cross_add(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd, const few2_t *e)
{
	few2_t w;

	wide2_cross(&w, a, b, c, d, ac, bd);
	wide2_add(&w, e);
	few2_redc(r, &w);
}

static NOINLINE void
fe2_cross_add_xi(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd, const few2_t *e)
{
	few2_t w;

	wide2_cross(&w, a, b, c, d, ac, bd);
	wide2_add_xi(&w, e);
	few2_redc(r, &w);
}

static NOINLINE void
fe2_xi_cross_add(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd, const few2_t *e)
{
	few2_t w;

	wide2_cross(&w, a, b, c, d, ac, bd);
	wide2_xi_add(&w, e);
	few2_redc(r, &w);
}

static NOINLINE void
fe2_mul_add(fe2_t *r, const fe2_t *a, const fe2_t *b, const few2_t *e)
{
	few2_t w;

	wide2_mul(&w, a, b);
	wide2_add(&w, e);
	few2_redc(r, &w);
}

static NOINLINE void
fe2_xi_mul_add(fe2_t *r, const fe2_t *a, const fe2_t *b, const few2_t *e)
{
	few2_t w;

	wide2_mul(&w, a, b);
	wide2_xi_add(&w, e);
	few2_redc(r, &w);
}

#endif
