/* bn254/fe2_steps_impl.h: the steps of a product in Fp6, each reduced once, over
 * any kernel's elements: fe2_impl.h has the bounds. A cross product is
 * ad + bc where ac and bd are known (Karatsuba). The including file has defined FE_CROSS_INLINE, whether a cross
 * product is inlined. Private to the folder.
 */
#ifndef BN254_FE2_STEPS_IMPL_H
#define BN254_FE2_STEPS_IMPL_H

#include "bn254/fe2_impl.h"

/* w = (a + b)(c + d) - ac - bd = ad + bc */
static FE_CROSS_INLINE void
few2_cross(few2_t *w, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd)
{
	fe2_t s, t;

	fe2_sum(&s, a, b);
	fe2_add(&t, c, d);
	few2_mul(w, &s, &t);
	few2_sub(w, w, ac);
	few2_sub(w, w, bd);
}

/* r = ad + bc */
static inline void
fe2_cross(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd)
{
	few2_t w;

	few2_cross(&w, a, b, c, d, ac, bd);
	few2_redc(r, &w);
}

/* r = ad + bc + e */
static inline void
fe2_cross_add(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd, const few2_t *e)
{
	few2_t w;

	few2_cross(&w, a, b, c, d, ac, bd);
	few2_add(&w, &w, e);
	few2_redc(r, &w);
}

/* r = ad + bc + xi e */
static inline void
fe2_cross_add_xi(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd, const few2_t *e)
{
	few2_t w;

	few2_cross(&w, a, b, c, d, ac, bd);
	few2_xi_add(&w, e, &w);
	few2_redc(r, &w);
}

/* r = xi (ad + bc) + e */
static inline void
fe2_xi_cross_add(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c,
    const fe2_t *d, const few2_t *ac, const few2_t *bd, const few2_t *e)
{
	few2_t v, w;

	few2_cross(&v, a, b, c, d, ac, bd);
	few2_xi_add(&w, &v, e);
	few2_redc(r, &w);
}

/* r = ab + e */
static inline void
fe2_mul_add(fe2_t *r, const fe2_t *a, const fe2_t *b, const few2_t *e)
{
	few2_t w;

	few2_mul(&w, a, b);
	few2_add(&w, &w, e);
	few2_redc(r, &w);
}

/* r = xi ab + e */
static inline void
fe2_xi_mul_add(fe2_t *r, const fe2_t *a, const fe2_t *b, const few2_t *e)
{
	few2_t v, w;

	few2_mul(&v, a, b);
	few2_xi_add(&w, &v, e);
	few2_redc(r, &w);
}

#endif
