/* bn254/fe2_impl.h: Fp2 = Fp[i] / (i^2 + 1) over any kernel's elements.
 *
 * The including file has defined the elements: fe_t with fe_add, fe_sub,
 * fe_neg, fe_sum, what is in fe_sums_impl.h, fe_mul, fe_sqr, fe_nine_add,
 * fe_nine_sub, fe_inv, fe_set_one and fe_set_zero; fe2_t; few_t with few_mul,
 * few_add, few_sub, few_sub_two, few_nine_add, few_nine_sub, few_redc and
 * few_redc_two; and for the constants of constants.h in its form TOWER, fe_set
 * and fe2_set.
 *
 * Bounds. An fe_t is reduced, below one unit (p, or 2p in the lane kernel),
 * but for what fe_sum makes: below 2 units, and only ever a factor. fe2_mul
 * takes one such factor of two. A few_t is a product, or a sum of products,
 * on which reduction is still to be done once for all of them (lazy reduction:
 * Aranha, Karabina, Longa, Gebotys, Lopez, EUROCRYPT 2011, section 3); it may
 * be as large as few_redc allows, 5.29 units^2.
 *
 * An output may be an input unless said. Private to the folder.
 */
#ifndef BN254_FE2_IMPL_H
#define BN254_FE2_IMPL_H

typedef struct {
	few_t c0, c1;
} few2_t;

static inline void
fe2_set_zero(fe2_t *r)
{
	fe_set_zero(&r->c0);
	fe_set_zero(&r->c1);
}

static inline void
fe2_set_one(fe2_t *r)
{
	fe_set_one(&r->c0);
	fe_set_zero(&r->c1);
}

static inline void
fe2_add(fe2_t *r, const fe2_t *a, const fe2_t *b)
{
	fe_add(&r->c0, &a->c0, &b->c0);
	fe_add(&r->c1, &a->c1, &b->c1);
}

static inline void
fe2_sub(fe2_t *r, const fe2_t *a, const fe2_t *b)
{
	fe_sub(&r->c0, &a->c0, &b->c0);
	fe_sub(&r->c1, &a->c1, &b->c1);
}

static inline void
fe2_dbl(fe2_t *r, const fe2_t *a)
{
	fe2_add(r, a, a);
}

static inline void
fe2_neg(fe2_t *r, const fe2_t *a)
{
	fe_neg(&r->c0, &a->c0);
	fe_neg(&r->c1, &a->c1);
}

static inline void
fe2_conj(fe2_t *r, const fe2_t *a)
{
	r->c0 = a->c0;
	fe_neg(&r->c1, &a->c1);
}

static inline void
fe2_triple(fe2_t *r, const fe2_t *a)
{
	fe_triple(&r->c0, &a->c0);
	fe_triple(&r->c1, &a->c1);
}

/* r = a - b - c */
static inline void
fe2_sub_two(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c)
{
	fe_sub_two(&r->c0, &a->c0, &b->c0, &c->c0);
	fe_sub_two(&r->c1, &a->c1, &b->c1, &c->c1);
}

/* r = a + b - c */
static inline void
fe2_add_sub(fe2_t *r, const fe2_t *a, const fe2_t *b, const fe2_t *c)
{
	fe_add_sub(&r->c0, &a->c0, &b->c0, &c->c0);
	fe_add_sub(&r->c1, &a->c1, &b->c1, &c->c1);
}

/* r = 3a - b */
static inline void
fe2_three_sub(fe2_t *r, const fe2_t *a, const fe2_t *b)
{
	fe_three_sub(&r->c0, &a->c0, &b->c0);
	fe_three_sub(&r->c1, &a->c1, &b->c1);
}

/* r = a + 3b */
static inline void
fe2_add_three(fe2_t *r, const fe2_t *a, const fe2_t *b)
{
	fe_add_three(&r->c0, &a->c0, &b->c0);
	fe_add_three(&r->c1, &a->c1, &b->c1);
}

/* r = a + b, only ever a factor. */
static inline void
fe2_sum(fe2_t *r, const fe2_t *a, const fe2_t *b)
{
	fe_sum(&r->c0, &a->c0, &b->c0);
	fe_sum(&r->c1, &a->c1, &b->c1);
}

/* r = (9 + i) a */
static inline void
fe2_mul_xi(fe2_t *r, const fe2_t *a)
{
	fe_t t;

	fe_nine_sub(&t, &a->c0, &a->c1);
	fe_nine_add(&r->c1, &a->c1, &a->c0);
	r->c0 = t;
}

static inline void
fe2_mul_fe(fe2_t *r, const fe2_t *a, const fe_t *s)
{
	fe_mul(&r->c0, &a->c0, s);
	fe_mul(&r->c1, &a->c1, s);
}

/* Karatsuba: c1 = (a0 + a1)(b0 + b1) - a0 b0 - a1 b1. One factor may be a sum,
 * so the first product is below 4 * 2 units^2 and c1 = a0 b1 + a1 b0 below 4;
 * c0 = a0 b0 - a1 b1 is between -2 and 2. */
static inline void
few2_mul(few2_t *w, const fe2_t *a, const fe2_t *b)
{
	few_t v0, v1;
	fe_t s, t;

	fe_sum(&s, &a->c0, &a->c1);
	fe_sum(&t, &b->c0, &b->c1);
	few_mul(&v0, &a->c0, &b->c0);
	few_mul(&v1, &a->c1, &b->c1);
	few_mul(&w->c1, &s, &t);
	few_sub_two(&w->c1, &v0, &v1);
	few_sub(&w->c0, &v0, &v1);
}

static inline void
few2_add(few2_t *w, const few2_t *a, const few2_t *b)
{
	few_add(&w->c0, &a->c0, &b->c0);
	few_add(&w->c1, &a->c1, &b->c1);
}

static inline void
few2_sub(few2_t *w, const few2_t *a, const few2_t *b)
{
	few_sub(&w->c0, &a->c0, &b->c0);
	few_sub(&w->c1, &a->c1, &b->c1);
}

/* w = (9 + i) a + c; w is not a, but may be c. */
static inline void
few2_xi_add(few2_t *w, const few2_t *a, const few2_t *c)
{
	few_nine_sub(&w->c0, &a->c0, &a->c1, &c->c0);
	few_nine_add(&w->c1, &a->c1, &a->c0, &c->c1);
}

static inline void
few2_redc(fe2_t *r, const few2_t *w)
{
	few_redc_two(&r->c0, &r->c1, &w->c0, &w->c1);
}

static NOINLINE __attribute__((unused)) void
fe2_mul(fe2_t *r, const fe2_t *a, const fe2_t *b)
{
	few2_t w;

	few2_mul(&w, a, b);
	few2_redc(r, &w);
}

/* (a0 + a1)(a0 - a1) + 2 a0 a1 i */
static NOINLINE __attribute__((unused)) void
fe2_sqr(fe2_t *r, const fe2_t *a)
{
	fe_t s, d, t;

	fe_sum(&s, &a->c0, &a->c1);
	fe_sub(&d, &a->c0, &a->c1);
	fe_sum(&t, &a->c0, &a->c0);
	fe_mul(&r->c1, &t, &a->c1);
	fe_mul(&r->c0, &s, &d);
}

/* 1/a = conj(a) / (a0^2 + a1^2) */
static __attribute__((unused)) void
fe2_inv(fe2_t *r, const fe2_t *a)
{
	fe_t n, t;

	fe_sqr(&n, &a->c0);
	fe_sqr(&t, &a->c1);
	fe_add(&n, &n, &t);
	fe_inv(&n, &n);
	fe_mul(&r->c0, &a->c0, &n);
	fe_mul(&t, &a->c1, &n);
	fe_neg(&r->c1, &t);
}

#endif
