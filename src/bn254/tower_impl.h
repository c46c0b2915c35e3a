/* bn254/tower_impl.h: Fp6 and Fp12 over any kernel's elements.
 *
 *   Fp6 = Fp2[v] / (v^3 - xi), xi = 9 + i
 *   Fp12 = Fp6[w] / (w^2 - v), so w^6 = xi
 *
 * The bounds are those of fe2_impl.h. Public data only: variable time. An
 * output may be an input.
 * Private to the folder.
 */
#ifndef BN254_TOWER_IMPL_H
#define BN254_TOWER_IMPL_H

#include "bn254/constants.h"
#include "bn254/fe2_impl.h"

/* A kernel may have its own. */
#ifndef FE2_STEPS
#include "bn254/fe2_steps_impl.h"
#endif

typedef struct {
	fe2_t c0, c1, c2;
} fe6_t;

typedef struct {
	fe6_t c0, c1;
} fe12_t;

/* --- Fp6 ------------------------------------------------------------------ */

static inline void
fe6_add(fe6_t *r, const fe6_t *a, const fe6_t *b)
{
	fe2_add(&r->c0, &a->c0, &b->c0);
	fe2_add(&r->c1, &a->c1, &b->c1);
	fe2_add(&r->c2, &a->c2, &b->c2);
}

static inline void
fe6_sub(fe6_t *r, const fe6_t *a, const fe6_t *b)
{
	fe2_sub(&r->c0, &a->c0, &b->c0);
	fe2_sub(&r->c1, &a->c1, &b->c1);
	fe2_sub(&r->c2, &a->c2, &b->c2);
}

/* r = a - b - c */
static inline void
fe6_sub_two(fe6_t *r, const fe6_t *a, const fe6_t *b, const fe6_t *c)
{
	fe2_sub_two(&r->c0, &a->c0, &b->c0, &c->c0);
	fe2_sub_two(&r->c1, &a->c1, &b->c1, &c->c1);
	fe2_sub_two(&r->c2, &a->c2, &b->c2, &c->c2);
}

static inline void
fe6_neg(fe6_t *r, const fe6_t *a)
{
	fe2_neg(&r->c0, &a->c0);
	fe2_neg(&r->c1, &a->c1);
	fe2_neg(&r->c2, &a->c2);
}

/* r = v a */
static inline void
fe6_mul_v(fe6_t *r, const fe6_t *a)
{
	fe2_t t;

	fe2_mul_xi(&t, &a->c2);
	r->c2 = a->c1;
	r->c1 = a->c0;
	r->c0 = t;
}

/* Karatsuba in three terms, reduced once for each coefficient:
 *   c0 = a0 b0 + xi (a1 b2 + a2 b1)
 *   c1 = a0 b1 + a1 b0 + xi a2 b2
 *   c2 = a0 b2 + a2 b0 + a1 b1 */
static NOINLINE void
fe6_mul(fe6_t *r, const fe6_t *a, const fe6_t *b)
{
	few2_t v0, v1, v2;
	fe2_t c0, c1;

	few2_mul(&v0, &a->c0, &b->c0);
	few2_mul(&v1, &a->c1, &b->c1);
	few2_mul(&v2, &a->c2, &b->c2);
	fe2_xi_cross_add(&c0, &a->c1, &a->c2, &b->c1, &b->c2, &v1, &v2, &v0);
	fe2_cross_add_xi(&c1, &a->c0, &a->c1, &b->c0, &b->c1, &v0, &v1, &v2);
	fe2_cross_add(&r->c2, &a->c0, &a->c2, &b->c0, &b->c2, &v0, &v2, &v1);
	r->c0 = c0;
	r->c1 = c1;
}

/* r = a (b0 + b1 v) */
static NOINLINE void
fe6_mul_by_01(fe6_t *r, const fe6_t *a, const fe2_t *b0, const fe2_t *b1)
{
	few2_t v0, v1;
	fe2_t c0, c1;

	few2_mul(&v0, &a->c0, b0);
	few2_mul(&v1, &a->c1, b1);
	fe2_xi_mul_add(&c0, &a->c2, b1, &v0);
	fe2_cross(&c1, &a->c0, &a->c1, b0, b1, &v0, &v1);
	fe2_mul_add(&r->c2, &a->c2, b0, &v1);
	r->c0 = c0;
	r->c1 = c1;
}

static void
fe6_mul_fe2(fe6_t *r, const fe6_t *a, const fe2_t *s)
{
	fe2_mul(&r->c0, &a->c0, s);
	fe2_mul(&r->c1, &a->c1, s);
	fe2_mul(&r->c2, &a->c2, s);
}

/* --- Fp12 ----------------------------------------------------------------- */

static void
fe12_set_one(fe12_t *r)
{
	fe2_set_one(&r->c0.c0);
	fe2_set_zero(&r->c0.c1);
	r->c0.c2 = r->c0.c1;
	r->c1.c0 = r->c1.c1 = r->c1.c2 = r->c0.c1;
}

/* c0 = (a0 + a1)(a0 + v a1) - a0 a1 - v a0 a1, c1 = 2 a0 a1 */
static NOINLINE void
fe12_sqr(fe12_t *r, const fe12_t *a)
{
	fe6_t m, s, t;

	fe6_add(&s, &a->c0, &a->c1);
	fe6_mul_v(&t, &a->c1);
	fe6_add(&t, &t, &a->c0);
	fe6_mul(&m, &a->c0, &a->c1);
	fe6_mul(&s, &s, &t);
	fe6_mul_v(&t, &m);
	fe6_sub_two(&r->c0, &s, &m, &t);
	fe6_add(&r->c1, &m, &m);
}

/* r *= a + b w + c w^3: a line. */
static NOINLINE void
fe12_mul_by_034(fe12_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c)
{
	fe6_t v0, v1, s;
	fe2_t t;

	fe6_mul_fe2(&v0, &r->c0, a);
	fe6_mul_by_01(&v1, &r->c1, b, c);
	fe6_add(&s, &r->c0, &r->c1);
	fe2_add(&t, a, b);
	fe6_mul_by_01(&s, &s, &t, c);
	fe6_sub_two(&r->c1, &s, &v0, &v1);
	fe6_mul_v(&v1, &v1);
	fe6_add(&r->c0, &v0, &v1);
}

/* r *= 1 + b w + c w^3: a line divided by its constant term. */
static NOINLINE void
fe12_mul_by_34(fe12_t *r, const fe2_t *b, const fe2_t *c)
{
	fe6_t s, t;

	fe6_mul_by_01(&s, &r->c0, b, c);
	fe6_mul_by_01(&t, &r->c1, b, c);
	fe6_mul_v(&t, &t);
	fe6_add(&r->c0, &r->c0, &t);
	fe6_add(&r->c1, &r->c1, &s);
}

/* r *= a0 + a1 w + a2 w^2 + a3 w^3 + a4 w^4: two lines multiplied. */
static NOINLINE __attribute__((unused)) void
fe12_mul_by_01234(fe12_t *r, const fe2_t a[static 5])
{
	fe6_t even, odd, v0, v1, s;

	even.c0 = a[0];
	even.c1 = a[2];
	even.c2 = a[4];
	fe2_add(&odd.c0, &a[0], &a[1]);
	fe2_add(&odd.c1, &a[2], &a[3]);
	odd.c2 = a[4];
	fe6_mul(&v0, &r->c0, &even);
	fe6_mul_by_01(&v1, &r->c1, &a[1], &a[3]);
	fe6_add(&s, &r->c0, &r->c1);
	fe6_mul(&s, &s, &odd);
	fe6_sub_two(&r->c1, &s, &v0, &v1);
	fe6_mul_v(&v1, &v1);
	fe6_add(&r->c0, &v0, &v1);
}

/* The coefficient of w^k, k = 0 to 5. */
static inline fe2_t *
fe12_coefficient(fe12_t *a, int k)
{
	fe6_t *h = k % 2 == 0 ? &a->c0 : &a->c1;

	return k < 2 ? &h->c0 : k < 4 ? &h->c1 : &h->c2;
}

#endif
