/* bn254/cyclotomic_impl.h: more of Fp12, what only the final exponentiation
 * and GT need. Private to the folder.
 */
#ifndef BN254_CYCLOTOMIC_IMPL_H
#define BN254_CYCLOTOMIC_IMPL_H

#include "bn254/tower_impl.h"

/* Scott, "Implementing cryptographic pairings", 2007: the adjugate (A, B, C)
 * over the norm. */
static void
fe6_inv(fe6_t *r, const fe6_t *a)
{
	fe6_t t;
	fe2_t s, n;

	fe2_sqr(&t.c0, &a->c0); /* A = a0^2 - xi a1 a2 */
	fe2_mul(&s, &a->c1, &a->c2);
	fe2_mul_xi(&s, &s);
	fe2_sub(&t.c0, &t.c0, &s);
	fe2_sqr(&t.c1, &a->c2); /* B = xi a2^2 - a0 a1 */
	fe2_mul_xi(&t.c1, &t.c1);
	fe2_mul(&s, &a->c0, &a->c1);
	fe2_sub(&t.c1, &t.c1, &s);
	fe2_sqr(&t.c2, &a->c1); /* C = a1^2 - a0 a2 */
	fe2_mul(&s, &a->c0, &a->c2);
	fe2_sub(&t.c2, &t.c2, &s);
	fe2_mul(&n, &a->c1, &t.c2); /* n = a0 A + xi (a1 C + a2 B) */
	fe2_mul(&s, &a->c2, &t.c1);
	fe2_add(&n, &n, &s);
	fe2_mul_xi(&n, &n);
	fe2_mul(&s, &a->c0, &t.c0);
	fe2_add(&n, &n, &s);
	fe2_inv(&n, &n);
	fe6_mul_fe2(r, &t, &n);
}

static inline void
fe12_conj(fe12_t *r, const fe12_t *a)
{
	r->c0 = a->c0;
	fe6_neg(&r->c1, &a->c1);
}

static void
fe12_mul(fe12_t *r, const fe12_t *a, const fe12_t *b)
{
	fe6_t v0, v1, s, t;

	fe6_mul(&v0, &a->c0, &b->c0);
	fe6_mul(&v1, &a->c1, &b->c1);
	fe6_add(&s, &a->c0, &a->c1);
	fe6_add(&t, &b->c0, &b->c1);
	fe6_mul(&s, &s, &t);
	fe6_sub_two(&r->c1, &s, &v0, &v1);
	fe6_mul_v(&v1, &v1);
	fe6_add(&r->c0, &v0, &v1);
}

/* 1/a = conj(a) / (a0^2 - v a1^2) */
static void
fe12_inv(fe12_t *r, const fe12_t *a)
{
	fe6_t s, t;

	fe6_mul(&s, &a->c0, &a->c0);
	fe6_mul(&t, &a->c1, &a->c1);
	fe6_mul_v(&t, &t);
	fe6_sub(&s, &s, &t);
	fe6_inv(&s, &s);
	fe6_mul(&r->c0, &a->c0, &s);
	fe6_mul(&t, &a->c1, &s);
	fe6_neg(&r->c1, &t);
}

/* r = a^(p^n), n = 1, 2 or 3: (c w^k)^(p^n) is c or its conjugate, times
 * xi^(k (p^n - 1) / 6) w^k. */
static void
fe12_frobenius(fe12_t *r, const fe12_t *a, int n)
{
	*r = *a;
	for (int k = 0; k < 6; k++) {
		fe2_t *c = fe12_coefficient(r, k);
		fe2_t g;
		fe_t s;

		if (n != 2)
			fe2_conj(c, c);
		if (k == 0)
			continue;
		if (n == 2) {
			fe_set(&s, &TOWER(frobenius_2)[k]);
			fe2_mul_fe(c, c, &s);
		} else {
			fe2_set(&g,
			    n == 1 ? &TOWER(frobenius_1)[k]
				   : &TOWER(frobenius_3)[k]);
			fe2_mul(c, c, &g);
		}
	}
}

/* r = 3t - 2a and r = 3t + 2a */
static inline void
fe2_three_minus_two(fe2_t *r, const fe2_t *t, const fe2_t *a)
{
	fe2_t d;

	fe2_sub(&d, t, a);
	fe2_dbl(&d, &d);
	fe2_add(r, &d, t);
}

static inline void
fe2_three_plus_two(fe2_t *r, const fe2_t *t, const fe2_t *a)
{
	fe2_t d;

	fe2_add(&d, t, a);
	fe2_dbl(&d, &d);
	fe2_add(r, &d, t);
}

/* (a + b s)^2 = t0 + t1 s in Fp4 = Fp2[s] / (s^2 - xi) */
static inline void
fe4_sqr(fe2_t *t0, fe2_t *t1, const fe2_t *a, const fe2_t *b)
{
	fe2_t aa, bb, s;

	fe2_sqr(&aa, a);
	fe2_sqr(&bb, b);
	fe2_add(&s, a, b);
	fe2_sqr(&s, &s);
	fe2_sub(&s, &s, &aa);
	fe2_sub(t1, &s, &bb);
	fe2_mul_xi(&bb, &bb);
	fe2_add(t0, &aa, &bb);
}

/* r = a^2 for a in the cyclotomic subgroup, where a^(p^4 - p^2 + 1) = 1:
 * three squarings in Fp4 (Granger, Scott, PKC 2010, section 3.2). With z_k
 * the coefficient of w^k, the pairs are (z0, z3), (z1, z4) and (z2, z5). */
static void
fe12_cyclotomic_sqr(fe12_t *r, const fe12_t *a)
{
	fe2_t t0, t1, u0, u1, x0, x1;

	fe4_sqr(&t0, &t1, &a->c0.c0, &a->c1.c1);
	fe4_sqr(&u0, &u1, &a->c1.c0, &a->c0.c2);
	fe4_sqr(&x0, &x1, &a->c0.c1, &a->c1.c2);
	fe2_three_minus_two(&r->c0.c0, &t0, &a->c0.c0);
	fe2_three_plus_two(&r->c1.c1, &t1, &a->c1.c1);
	fe2_three_minus_two(&r->c0.c1, &u0, &a->c0.c1);
	fe2_three_plus_two(&r->c1.c2, &u1, &a->c1.c2);
	fe2_mul_xi(&x1, &x1);
	fe2_three_plus_two(&r->c1.c0, &x1, &a->c1.c0);
	fe2_three_minus_two(&r->c0.c2, &x0, &a->c0.c2);
}

#endif
