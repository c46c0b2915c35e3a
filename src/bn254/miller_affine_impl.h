/* bn254/miller_affine_impl.h: Miller loops of a batch, in affine coordinates.
 *
 * One after the other, a slope costs an inversion, and projective coordinates
 * are better. A batch goes in step, so that one inversion serves a whole row of
 * slopes (Montgomery's trick: three products each), and then affine formulas
 * have the fewest products; what they give is the slope, so that the line comes
 * divided by its constant term,
 *
 *	1 - s xP/yP w + (s xT - yT)/yP w^3,
 *
 * which spares the product with f three of thirteen (Lauter, Montgomery,
 * Naehrig, "An analysis of affine coordinates for pairing computation",
 * Pairing 2010).
 *
 * A slope that does not exist, T being Q or -Q, is never met by a Q of G2 (see
 * membership.h): that pair is marked as outside and goes on with 1 for the
 * denominator. Doublings have no exception, the order being odd, until then.
 *
 * For kernels of single elements. Public data, variable time. Private to the
 * folder.
 */
#ifndef BN254_MILLER_AFFINE_IMPL_H
#define BN254_MILLER_AFFINE_IMPL_H

#include "bn254/kernel_scalar_impl.h"

/* A pair (P, Q) on its way: T = (x, y), and what will be added to it. */
struct affine_pair {
	fe_t neg_x_over_y, inv_y; /* of P */
	fe2_t qx, qy, x, y;
	fe2_t d,
	    before; /* the slope's denominator; the product of those before */
	bool outside;
};

/* N pairs in blocks, each with a function. */
struct affine_batch {
	struct affine_pair *pair;
	gt_t *f;
	size_t n, block;
};

/* 1 / yP for all with one inversion, the products on the way in INV_Y. */
static void
affine_start(struct affine_batch *b, const g1_t *p, const twist_t *q)
{
	struct affine_pair *m = b->pair;
	fe_t inverse, t;

	fe_set_one(&inverse);
	for (size_t i = 0; i < b->n; i++) {
		m[i].inv_y = inverse;
		fe_mul(&inverse, &inverse, &p[i].y);
		m[i].qx = m[i].x = q[i].x;
		m[i].qy = m[i].y = q[i].y;
		m[i].outside = false;
	}
	fe_inv(&inverse, &inverse);
	for (size_t i = b->n; i-- > 0;) {
		fe_mul(&m[i].inv_y, &m[i].inv_y, &inverse);
		fe_mul(&inverse, &inverse, &p[i].y);
		fe_mul(&t, &p[i].x, &m[i].inv_y);
		fe_neg(&m[i].neg_x_over_y, &t);
	}
}

/* The denominators: xT - xQ, or 2 yT where T is doubled. Returns the inverse
 * of their product. */
static fe2_t
affine_denominators(struct affine_pair *m, size_t n, bool doubling)
{
	fe2_t product;

	fe2_set_one(&product);
	for (size_t i = 0; i < n; i++) {
		if (doubling)
			fe2_dbl(&m[i].d, &m[i].y);
		else
			fe2_sub(&m[i].d, &m[i].x, &m[i].qx);
		if (fp2_is_zero(&m[i].d)) {
			m[i].outside = true;
			fe2_set_one(&m[i].d);
		}
		m[i].before = product;
		fe2_mul(&product, &product, &m[i].d);
	}
	fe2_inv(&product, &product);
	return product;
}

/* T = 2T for DIGIT 0, else T + Q or T - Q, and f times the line. INVERSE is of
 * the product of the denominators to this pair's own, and then to the one
 * before. With m = s xT - yT: x3 = s^2 - xT - x', y3 = m - s x3. */
static void
affine_step(struct affine_pair *t, fe12_t *f, fe2_t *inverse, int digit)
{
	fe2_t s, m, x, b, c;

	fe2_mul(&s, inverse, &t->before);
	fe2_mul(inverse, inverse, &t->d);
	if (digit == 0) {
		fe2_sqr(&m, &t->x);
		fe2_dbl(&x, &m);
		fe2_add(&m, &m, &x);
		fe2_dbl(&x, &t->x);
	} else {
		if (digit > 0)
			fe2_sub(&m, &t->y, &t->qy);
		else
			fe2_add(&m, &t->y, &t->qy);
		fe2_add(&x, &t->x, &t->qx);
	}
	fe2_mul(&s, &s, &m);
	fe2_mul(&m, &s, &t->x);
	fe2_sub(&m, &m, &t->y);
	fe2_sqr(&c, &s);
	fe2_sub(&t->x, &c, &x);
	fe2_mul(&x, &s, &t->x);
	fe2_sub(&t->y, &m, &x);

	fe2_mul_fe(&b, &s, &t->neg_x_over_y);
	fe2_mul_fe(&c, &m, &t->inv_y);
	fe12_mul_by_34(f, &b, &c);
}

/* All pairs' steps; before a doubling SQUARE says whether f is squared. */
static void
affine_row(struct affine_batch *b, int digit, bool square)
{
	fe2_t inverse = affine_denominators(b->pair, b->n, digit == 0);
	size_t end = b->n;
	fe12_t f;

	while (end > 0) {
		size_t g = (end - 1) / b->block;

		fe12_from_gt(&f, &b->f[g]);
		if (square)
			fe12_sqr(&f, &f);
		for (; end > g * b->block; end--)
			affine_step(&b->pair[end - 1], &f, &inverse, digit);
		fe12_to_gt(&b->f[g], &f);
	}
}

/* T + psi(Q), then - psi^2(Q), which is (x frobenius_2[2], y) negated. */
static void
affine_end(struct affine_batch *b, const twist_t *q)
{
	fe_t s;

	for (size_t i = 0; i < b->n; i++)
		twist_psi(&b->pair[i].qx, &b->pair[i].qy, &q[i].x, &q[i].y);
	affine_row(b, 1, false);
	fe_set(&s, &TOWER(frobenius_2)[2]);
	for (size_t i = 0; i < b->n; i++) {
		fe2_mul_fe(&b->pair[i].qx, &q[i].x, &s);
		b->pair[i].qy = q[i].y;
	}
	affine_row(b, 1, false);
}

/* f[g] = the product of the Miller functions of block g; inside[i] = whether
 * q[i] is in G2. Scratch memory for N pairs. */
static void
miller_affine(gt_t *f, bool *inside, const g1_t *p, const twist_t *q, size_t n,
    size_t groups, void *scratch)
{
	struct affine_batch b = {
	    .pair = scratch,
	    .f = f,
	    .n = n,
	    .block = (n + groups - 1) / groups,
	};
	fe12_t one;

	fe12_set_one(&one);
	for (size_t g = 0; g < groups; g++)
		fe12_to_gt(&f[g], &one);
	affine_start(&b, p, q);
	for (int i = ATE_DIGITS - 2; i >= 0; i--) {
		affine_row(&b, 0, i != ATE_DIGITS - 2);
		if (ate_digits[i] != 0)
			affine_row(&b, ate_digits[i], false);
	}
	affine_end(&b, q);
	for (size_t i = 0; i < n; i++)
		inside[i] = !b.pair[i].outside &&
		    membership_var(&q[i], &b.pair[i].x, &b.pair[i].y, &fp2_one);
}

#endif
