/* bn254/kernel_scalar_impl.h: what every kernel does with single elements, over
 * its core_* functions. Private to the folder.
 */
#ifndef BN254_KERNEL_SCALAR_IMPL_H
#define BN254_KERNEL_SCALAR_IMPL_H

#include "bn254/fe_scalar_impl.h"
#include "bn254/cyclotomic_impl.h"
#include "bn254/final_impl.h"
#include "bn254/pairing_impl.h"
#include "bn254/point_impl.h"
#include "bn254/membership.h"

static void
miller_pair_init(struct miller_pair *m, const g1_t *p, const twist_t *q)
{
	m->px = p->x;
	m->py = p->y;
	m->qx = q->x;
	m->qy = q->y;
	memset(&m->idle, 0, sizeof(m->idle));
	miller_pair_start(m);
}

static void
fe12_to_gt(gt_t *r, fe12_t *a)
{
	for (int k = 0; k < 6; k++)
		r->c[k] = *fe12_coefficient(a, k);
}

/* A line over its first coefficient, which is not 0 for Q in G2. */
static void
store_line(struct stored_line *out, const struct line *l)
{
	fe2_t inverse;

	fe2_inv(&inverse, &l->a);
	fe2_mul(&out->b, &l->b, &inverse);
	fe2_mul(&out->c, &l->c, &inverse);
}

/* Give the lines of Q's loop to PUT, one after the other. */
static void
each_line(const g2_t *q,
    void (*put)(void *, size_t, const struct stored_line *), void *ctx)
{
	struct stored_line out;
	struct miller_pair m;
	struct line l[2];
	size_t n = 0;

	miller_pair_init(&m, &g1_generator, &q->point);
	for (int i = ATE_DIGITS - 2; i >= 0; i--) {
		miller_double(&m, l);
		store_line(&out, l);
		put(ctx, n++, &out);
		if (ate_digits[i] == 0)
			continue;
		miller_add(&m, l, &m.qx, ate_digits[i] > 0 ? &m.qy : &m.neg_qy);
		store_line(&out, l);
		put(ctx, n++, &out);
	}
	miller_last_lines(&m, l);
	for (int i = 0; i < 2; i++) {
		store_line(&out, &l[i]);
		put(ctx, n++, &out);
	}
	VERIFY(n == ATE_LINES);
}

static void
kernel_pairing(gt_t *r, const g1_t *p, const g2_t *q)
{
	struct miller_pair m;
	fe12_t f;

	fe12_set_one(&f);
	if (!g1_is_infinity(p)) {
		miller_pair_init(&m, p, &q->point);
		miller_loop(&f, &m, 1, NULL, 0);
	}
	final_exponentiation(&f, &f);
	fe12_to_gt(r, &f);
}

static bool
pair_in_group(const struct miller_pair *m, const twist_t *q)
{
	return membership_var(q, &m->x, &m->y, &m->z);
}

/* The loop of the pairing without its function. */
static bool
kernel_in_group(const twist_t *q)
{
	struct miller_pair m;
	struct line l[2];

	miller_pair_init(&m, &g1_generator, q);
	for (int i = ATE_DIGITS - 2; i >= 0; i--) {
		miller_double(&m, l);
		if (ate_digits[i] != 0)
			miller_add(&m, l, &m.qx,
			    ate_digits[i] > 0 ? &m.qy : &m.neg_qy);
	}
	miller_last_lines(&m, l);
	return pair_in_group(&m, q);
}

/* The sum by plain addition, for when it meets a special case. */
static void
sum_slowly(g1j_t *r, const struct g1_term *terms, size_t n)
{
	g1_t p;

	g1j_set_infinity(r);
	for (size_t i = 0; i < n; i++) {
		p = *terms[i].p;
		if (terms[i].negative)
			g1_neg(&p, &p);
		g1j_madd_var(r, r, &p);
	}
}

static void
kernel_sum(g1j_t *r, const struct g1_term *terms, size_t n)
{
	struct point p;
	fe_t y, h;

	if (n == 0 || g1_is_infinity(terms[0].p)) {
		sum_slowly(r, terms, n);
		return;
	}
	p.x = terms[0].p->x;
	p.y = terms[0].p->y;
	if (terms[0].negative)
		fe_neg(&p.y, &p.y);
	fe_set_one(&p.z);
	for (size_t i = 1; i < n; i++) {
		y = terms[i].p->y;
		if (terms[i].negative)
			fe_neg(&y, &y);
		if (g1_is_infinity(terms[i].p))
			continue;
		point_add_affine(&p, &h, &p, &terms[i].p->x, &y);
	}
	if (fe_is_zero(&p.z)) {
		sum_slowly(r, terms, n);
		return;
	}
	r->x = p.x;
	r->y = p.y;
	r->z = p.z;
}

static void
fe12_from_gt(fe12_t *r, const gt_t *a)
{
	for (int k = 0; k < 6; k++)
		*fe12_coefficient(r, k) = a->c[k];
}

static void
kernel_multiply(gt_t *r, const gt_t *a, const gt_t *b)
{
	fe12_t s, t;

	fe12_from_gt(&s, a);
	fe12_from_gt(&t, b);
	fe12_mul(&s, &s, &t);
	fe12_to_gt(r, &s);
}

static void
kernel_invert(gt_t *r, const gt_t *a)
{
	fe12_t t;

	fe12_from_gt(&t, a);
	fe12_inv(&t, &t);
	fe12_to_gt(r, &t);
}

#endif
