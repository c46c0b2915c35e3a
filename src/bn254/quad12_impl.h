/* bn254/quad12_impl.h: Fp12 for one proof on AVX-512 IFMA.
 *
 * With z_k the coefficient of w^k an element is two quads, x = (z0, z1, z2, .)
 * and y = (z3, z4, z5, .): as s = w^3 has s^2 = xi, it is x + y s over the
 * polynomials in w, and also k0 + k1 w + k2 w^2 over Fp4 = Fp2[s], w^3 = s,
 * with k_j = z_j + z_(j+3) s. The fourth slots hold nothing of meaning. The names
 * are those of tower_impl.h and cyclotomic_impl.h, so that final_impl.h works
 * on these elements. Private to the folder.
 */
#ifndef BN254_QUAD12_IMPL_H
#define BN254_QUAD12_IMPL_H

#include "bn254/quad_impl.h"

typedef struct {
	fe2x4_t x, y;
} fe12_t;

static inline void
fe12_set_one(fe12_t *r)
{
	fe_t one;

	lane_one(&one);
	lane_zero(&r->x);
	lane_zero(&r->y);
	lane_select(&r->x, &one, 1);
}

static inline void
fe12_conj(fe12_t *r, const fe12_t *a)
{
	/* w^6 -> -w: the odd powers change their sign. */
	fe_t n;

	fe_neg(&n, &a->x);
	r->x = a->x;
	lane_select(&r->x, &n, QUAD_SLOT(1));
	fe_neg(&n, &a->y);
	r->y = a->y;
	lane_select(&r->y, &n, QUAD_SLOT(0) | QUAD_SLOT(2));
}

/* k_j as a first factor: (z_j, z_j, z_(j+3), z_(j+3)). */
LANE_INLINE void
fe12_twice(struct twice *t, const fe12_t *a, int j)
{
	__m512i from = _mm512_setr_epi64(2 * j, 2 * j, 2 * j, 2 * j, 8 + 2 * j,
	    8 + 2 * j, 8 + 2 * j, 8 + 2 * j);

	quad_gather(&t->c0, &a->x, &a->y, from);
	quad_gather(&t->c1, &a->x, &a->y, _mm512_add_epi64(from, lane_word(1)));
}

/* k_j as a second factor: (z_j, z_(j+3), xi z_(j+3), z_j). A product of the
 * two, its halves added, is that in Fp4. */
LANE_INLINE void
quad12_form(struct form *f, const fe12_t *b, const fe12_t *xi, int j)
{
	fe2x4_t q;

	quad_gather(&q, &b->x, &b->y, QUAD_FROM(j, 4 + j, j, j));
	quad_merge(&q, &xi->y, QUAD_SLOT(2), QUAD_FROM(j, j, j, j));
	quad_form(f, &q);
}

/* s k_j: (xi z_(j+3), z_j, xi z_j, xi z_(j+3)). */
LANE_INLINE void
quad12_form_s(struct form *f, const fe12_t *b, const fe12_t *xi, int j)
{
	fe2x4_t q;

	quad_gather(&q, &xi->x, &xi->y, QUAD_FROM(4 + j, j, j, 4 + j));
	quad_merge(&q, &b->x, QUAD_SLOT(1), QUAD_FROM(j, j, j, j));
	quad_form(f, &q);
}

/* 2 k_j or 2 s k_j, loose. */
LANE_INLINE void
quad12_form_double(struct form *f)
{
	fe_sum(&f->b, &f->b, &f->b);
	quad_swap(&f->swap, &f->b);
}

/* Add the halves of a sum of products in Fp4; both halves get it. */
LANE_INLINE void
quad12_fold(lane_wide_t *w, const struct quad_sum *s)
{
	quad_close(w, s);
	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		w->c[i] = _mm512_add_epi64(
		    w->c[i], _mm512_shuffle_i64x2(w->c[i], w->c[i], 0x4e));
}

/* r = k0 + k1 w + k2 w^2, two reductions for the three. */
LANE_INLINE void
quad12_join(fe12_t *r, const lane_wide_t k[static 3])
{
	lane_wide_t w;
	fe2x4_t p, q;

	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		w.c[i] = _mm512_mask_mov_epi64(k[0].c[i], 0xf0, k[1].c[i]);
	/* z0 z3 z1 z4 and z2 z5 z2 z5 */
	few_redc_two(&p, &q, &w, &k[2]);
	quad_gather(&r->x, &p, &q, QUAD_FROM(0, 2, 4, 4));
	quad_gather(&r->y, &p, &q, QUAD_FROM(1, 3, 5, 5));
}

static void
quad12_mul_xi(fe12_t *r, const fe12_t *a)
{
	quad_mul_xi(&r->x, &a->x);
	quad_mul_xi(&r->y, &a->y);
}

/* One product in Fp4 added to a sum. */
LANE_INLINE void
fe12_term(struct quad_sum *s, const struct twice *a, const struct form *b)
{
	quad_mul_add(s, a, b);
}

/* Nine products in Fp4, three a coefficient. */
static NOINLINE void
fe12_mul(fe12_t *r, const fe12_t *a, const fe12_t *b)
{
	struct twice k[3];
	struct form f[3], fs[3];
	struct quad_sum s;
	lane_wide_t w[3];
	fe12_t xi;

	quad12_mul_xi(&xi, b);
	for (int j = 0; j < 3; j++) {
		fe12_twice(&k[j], a, j);
		quad12_form(&f[j], b, &xi, j);
		quad12_form_s(&fs[j], b, &xi, j);
	}
	quad_sum_zero(&s);
	fe12_term(&s, &k[0], &f[0]);
	fe12_term(&s, &k[1], &fs[2]);
	fe12_term(&s, &k[2], &fs[1]);
	quad12_fold(&w[0], &s);
	quad_sum_zero(&s);
	fe12_term(&s, &k[0], &f[1]);
	fe12_term(&s, &k[1], &f[0]);
	fe12_term(&s, &k[2], &fs[2]);
	quad12_fold(&w[1], &s);
	quad_sum_zero(&s);
	fe12_term(&s, &k[0], &f[2]);
	fe12_term(&s, &k[1], &f[1]);
	fe12_term(&s, &k[2], &f[0]);
	quad12_fold(&w[2], &s);
	quad12_join(r, w);
}

/* k0^2 + 2 s k1 k2, s k2^2 + 2 k0 k1, k1^2 + 2 k0 k2 */
static NOINLINE void
fe12_sqr(fe12_t *r, const fe12_t *a)
{
	struct twice k[3];
	struct form f[3], f2s, fd;
	struct quad_sum s;
	lane_wide_t w[3];
	fe12_t xi;

	quad12_mul_xi(&xi, a);
	for (int j = 0; j < 3; j++) {
		fe12_twice(&k[j], a, j);
		quad12_form(&f[j], a, &xi, j);
	}
	quad12_form_s(&f2s, a, &xi, 2);
	quad_sum_zero(&s);
	fe12_term(&s, &k[2], &f2s);
	fd = f[1];
	quad12_form_double(&fd);
	fe12_term(&s, &k[0], &fd);
	quad12_fold(&w[1], &s);
	quad_sum_zero(&s);
	fe12_term(&s, &k[0], &f[0]);
	quad12_form_double(&f2s);
	fe12_term(&s, &k[1], &f2s);
	quad12_fold(&w[0], &s);
	quad_sum_zero(&s);
	fe12_term(&s, &k[1], &f[1]);
	fd = f[2];
	quad12_form_double(&fd);
	fe12_term(&s, &k[0], &fd);
	quad12_fold(&w[2], &s);
	quad12_join(r, w);
}

/* w a: (xi z5, z0, z1) and (z2, z3, z4), as second factors. */
LANE_INLINE void
fe12_times_w(
    struct form *x, struct form *y, const fe12_t *a, const fe2x4_t *xi_y)
{
	fe2x4_t q;

	quad_gather(&q, &a->x, xi_y, QUAD_FROM(6, 0, 1, 1));
	quad_form(x, &q);
	quad_gather(&q, &a->x, &a->y, QUAD_FROM(2, 4, 5, 5));
	quad_form(y, &q);
}

/* r *= a + b w + c w^3, each in a slot of a quad: L[i] of the I-th. */
static NOINLINE void
fe12_mul_by_034(fe12_t *r, const fe2x4_t l[static 3], const int slot[3])
{
	struct form x, y, xw, yw, xs;
	struct quad_sum s;
	struct twice t;
	fe2x4_t xi_y;

	quad_mul_xi(&xi_y, &r->y);
	quad_form(&x, &r->x);
	quad_form(&y, &r->y);
	quad_form(&xs, &xi_y);
	fe12_times_w(&xw, &yw, r, &xi_y);
	quad_sum_zero(&s);
	quad_broadcast(&t, &l[0], slot[0]);
	quad_mul_add(&s, &t, &x);
	quad_broadcast(&t, &l[1], slot[1]);
	quad_mul_add(&s, &t, &xw);
	quad_broadcast(&t, &l[2], slot[2]);
	quad_mul_add(&s, &t, &xs);
	quad_finish(&r->x, &s);
	quad_sum_zero(&s);
	quad_broadcast(&t, &l[0], slot[0]);
	quad_mul_add(&s, &t, &y);
	quad_broadcast(&t, &l[1], slot[1]);
	quad_mul_add(&s, &t, &yw);
	quad_broadcast(&t, &l[2], slot[2]);
	quad_mul_add(&s, &t, &x);
	quad_finish(&r->y, &s);
}

/* r *= 1 + b w + c w^3, b and c in slots B and B + 1 of L. */
static NOINLINE void
fe12_mul_by_34(fe12_t *r, const fe2x4_t *l, int b)
{
	struct form x, xw, yw, xs;
	struct quad_sum s;
	struct twice t;
	fe2x4_t xi_y, p;

	quad_mul_xi(&xi_y, &r->y);
	quad_form(&x, &r->x);
	quad_form(&xs, &xi_y);
	fe12_times_w(&xw, &yw, r, &xi_y);
	quad_sum_zero(&s);
	quad_broadcast(&t, l, b);
	quad_mul_add(&s, &t, &xw);
	quad_broadcast(&t, l, b + 1);
	quad_mul_add(&s, &t, &xs);
	quad_finish(&p, &s);
	fe_add(&r->x, &r->x, &p);
	quad_sum_zero(&s);
	quad_broadcast(&t, l, b);
	quad_mul_add(&s, &t, &yw);
	quad_broadcast(&t, l, b + 1);
	quad_mul_add(&s, &t, &x);
	quad_finish(&p, &s);
	fe_add(&r->y, &r->y, &p);
}

/* r = 3t + 2a in the lanes of PLUS, 3t - 2a in the others: t and a tight, so
 * with 4p between 0 and 13 p. */
LANE_INLINE void
quad_three_two(fe2x4_t *r, const fe2x4_t *t, const fe2x4_t *a, lane_mask_t plus)
{
	lane_t u;

	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		__m512i two = _mm512_add_epi64(a->l[i], a->l[i]);
		__m512i three = _mm512_add_epi64(
		    _mm512_add_epi64(t->l[i], t->l[i]), t->l[i]);

		three = _mm512_add_epi64(three, lane_word(4 * lane_modulus[i]));
		u.l[i] = _mm512_mask_add_epi64(
		    _mm512_sub_epi64(three, two), plus, three, two);
	}
	fe_reduce_large(r, &u);
}

/* r = a^2 in the cyclotomic subgroup: fe12_cyclotomic_sqr's three squarings in
 * Fp4, of (z0, z3), (z1, z4) and (z2, z5), are one of (x, y):
 *   t0 = x^2 + xi y^2, t1 = (x + y)^2 - x^2 - y^2
 * and (z0, z1, z2) = 3 (t0[0], xi t1[2], t0[1]) + 2 (-z0, z1, -z2),
 *     (z3, z4, z5) = 3 (t1[0], t0[2], t1[1]) + 2 (z3, -z4, z5). */
static NOINLINE void
fe12_cyclotomic_sqr(fe12_t *r, const fe12_t *a)
{
	lane_wide_t xx, yy, ss;
	fe2x4_t t0, t1, xi_t1, s;

	fe_add(&s, &a->x, &a->y);
	quad_sqr_wide(&xx, &a->x);
	quad_sqr_wide(&yy, &a->y);
	quad_sqr_wide(&ss, &s);
	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		ss.c[i] = _mm512_sub_epi64(
		    _mm512_sub_epi64(ss.c[i], xx.c[i]), yy.c[i]);
	quad_wide_add_xi(&xx, &xx, &yy);
	few_redc_two(&t1, &t0, &ss, &xx);
	quad_mul_xi(&xi_t1, &t1);
	quad_gather(&s, &t0, &xi_t1, QUAD_FROM(0, 6, 1, 1));
	quad_three_two(&r->x, &s, &a->x, QUAD_SLOT(1));
	quad_gather(&s, &t0, &t1, QUAD_FROM(4, 2, 5, 5));
	quad_three_two(
	    &r->y, &s, &a->y, (lane_mask_t)(QUAD_SLOT(0) | QUAD_SLOT(2)));
}

/* r = a^(p^n), n = 1, 2 or 3. */
static NOINLINE void
fe12_frobenius(fe12_t *r, const fe12_t *a, int n)
{
	const uint64_t(*c)[5][LANES] = lane_quad_frobenius[n - 1];
	fe2x4_t g, x = a->x, y = a->y;

	if (n != 2) {
		quad_conj(&x, &x);
		quad_conj(&y, &y);
	}
	quad_load(&g, c[0]);
	quad_mul(&r->x, &x, &g);
	quad_load(&g, c[1]);
	quad_mul(&r->y, &y, &g);
}

#endif
