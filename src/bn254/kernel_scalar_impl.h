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

/* The steps of the loop, one after the other. */
static void
miller_steps(enum miller_step step[static ATE_LINES])
{
	size_t n = 0;

	for (int i = ATE_DIGITS - 2; i >= 0; i--) {
		step[n++] = MILLER_DOUBLE;
		if (ate_digits[i] != 0)
			step[n++] =
			    ate_digits[i] > 0 ? MILLER_ADD : MILLER_SUBTRACT;
	}
	step[n++] = MILLER_ADD_PSI;
	step[n++] = MILLER_SUBTRACT_PSI2;
	VERIFY(n == ATE_LINES);
}

/* Lines that are divided by their first coefficients with one inversion. */
#define LINES_CHUNK 29

/* Divide N lines by a, which is not 0 for Q in G2: b / a and c / a. */
static void
divide_lines(struct stored_line *out, const struct line *l, size_t n)
{
	fp_t norm[LINES_CHUNK], inverse_norm[LINES_CHUNK];
	fe2_t inverse;
	fe_t t;

	for (size_t i = 0; i < n; i++) {
		fe_sqr(&norm[i], &l[i].a.c0);
		fe_sqr(&t, &l[i].a.c1);
		fe_add(&norm[i], &norm[i], &t);
	}
	fp_inv_many_var(inverse_norm, norm, n);
	for (size_t i = 0; i < n; i++) {
		fe2_conj(&inverse, &l[i].a);
		fe2_mul_fe(&inverse, &inverse, &inverse_norm[i]);
		fe2_mul(&out[i].b, &l[i].b, &inverse);
		fe2_mul(&out[i].c, &l[i].c, &inverse);
	}
}

/* Give the lines of Q's loop to PUT, one after the other. */
static void
each_line(const g2_t *q,
    void (*put)(void *, size_t, const struct stored_line *), void *ctx)
{
	enum miller_step step[ATE_LINES];
	struct stored_line out[LINES_CHUNK];
	struct line l[LINES_CHUNK];
	struct miller_pair m;

	miller_pair_init(&m, &g1_generator, &q->point);
	miller_steps(step);
	for (size_t first = 0; first < ATE_LINES; first += LINES_CHUNK) {
		size_t n = ATE_LINES - first < LINES_CHUNK ? ATE_LINES - first
							   : LINES_CHUNK;

		for (size_t i = 0; i < n; i++)
			miller_line(&m, &l[i], step[first + i]);
		divide_lines(out, l, n);
		for (size_t i = 0; i < n; i++)
			put(ctx, first + i, &out[i]);
	}
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
	enum miller_step step[ATE_LINES];
	struct miller_pair m;
	struct line l;

	miller_pair_init(&m, &g1_generator, q);
	miller_steps(step);
	for (size_t i = 0; i < ATE_LINES; i++)
		miller_line(&m, &l, step[i]);
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
