/* bn254/kernel_scalar_impl.h: what a kernel of single elements does for one
 * proof, over its own core_* functions. Private to the folder.
 */
#ifndef BN254_KERNEL_SCALAR_IMPL_H
#define BN254_KERNEL_SCALAR_IMPL_H

#include "bn254/fe_scalar_impl.h"
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

static void
kernel_lines(void *lines, const g2_t *q)
{
	struct stored_line *out = lines;
	struct miller_pair m;
	struct line l[2];

	miller_pair_init(&m, &g1_generator, &q->point);
	for (int i = ATE_DIGITS - 2; i >= 0; i--) {
		miller_double(&m, l);
		store_line(out++, l);
		if (ate_digits[i] != 0) {
			miller_add(&m, l, &m.qx,
			    ate_digits[i] > 0 ? &m.qy : &m.neg_qy);
			store_line(out++, l);
		}
	}
	miller_last_lines(&m, l);
	store_line(out++, &l[0]);
	store_line(out++, &l[1]);
	VERIFY(out == (struct stored_line *)lines + ATE_LINES);
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

/* Take those of N pairs that are not at infinity; returns how many. With
 * Jacobian coordinates x / y = X Z / Y and 1 / y = Z^3 / Y. */
static size_t
miller_fixed_init(struct miller_fixed out[static PAIRING_FIXED_MAX],
    const struct pairing_fixed *fixed, size_t n)
{
	fp_t y[PAIRING_FIXED_MAX] = {0}, inverse[PAIRING_FIXED_MAX], t;
	size_t k = 0;

	VERIFY(n <= PAIRING_FIXED_MAX);
	for (size_t i = 0; i < n; i++)
		y[i] = fixed[i].p.y;
	fp_inv_many_var(inverse, y, n);
	for (size_t i = 0; i < n; i++) {
		const g1j_t *p = &fixed[i].p;

		if (g1j_is_infinity(p))
			continue;
		out[k].line = fixed[i].lines;
		fp_mul(&t, &p->z, &inverse[i]);
		fp_mul(&out[k].x_over_y, &p->x, &t);
		fp_mul(&t, &t, &p->z);
		fp_mul(&out[k].inv_y, &t, &p->z);
		k++;
	}
	return k;
}

static bool
pair_in_group(const struct miller_pair *m, const twist_t *q)
{
	return membership_var(q, &m->x, &m->y, &m->z);
}

static enum status
kernel_check(const g1_t *a, const twist_t *b, const struct pairing_fixed *fixed,
    size_t n, const gt_t *target)
{
	struct miller_fixed mf[PAIRING_FIXED_MAX];
	struct miller_pair m;
	fe12_t f;
	gt_t g;

	if (g1_is_infinity(a) || twist_is_infinity(b))
		return ST_INFINITY;
	n = miller_fixed_init(mf, fixed, n);
	miller_pair_init(&m, a, b);
	miller_loop(&f, &m, 1, mf, n);
	if (!pair_in_group(&m, b))
		return ST_NOT_IN_GROUP;
	final_exponentiation(&f, &f);
	fe12_to_gt(&g, &f);
	return gt_eq(&g, target) ? ST_OK : ST_PROOF_INVALID;
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

static bool
kernel_finish(const gt_t *const *f, size_t nf,
    const struct pairing_fixed *fixed, size_t n, const gt_t *target)
{
	struct miller_fixed mf[PAIRING_FIXED_MAX];
	fe12_t acc, t;
	gt_t g;

	n = miller_fixed_init(mf, fixed, n);
	miller_loop(&acc, NULL, 0, mf, n);
	for (size_t i = 0; i < nf; i++) {
		fe12_from_gt(&t, f[i]);
		fe12_mul(&acc, &acc, &t);
	}
	final_exponentiation(&acc, &acc);
	fe12_to_gt(&g, &acc);
	return gt_eq(&g, target);
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
kernel_power(gt_t *r, const gt_t *a, const struct weight_sum *e)
{
	fe12_t t;

	fe12_from_gt(&t, a);
	fe12_power(&t, &t, e);
	fe12_to_gt(r, &t);
}

/* These functions in the struct of a kernel. */
#define KERNEL_SCALAR_SINGLE                                                   \
	.lines_size = ATE_LINES * sizeof(struct stored_line),                  \
	.lines = kernel_lines, .pairing = kernel_pairing,                      \
	.check = kernel_check, .in_group = kernel_in_group, .sum = kernel_sum, \
	.finish = kernel_finish, .power = kernel_power,                        \
	.multiply = kernel_multiply

#endif
