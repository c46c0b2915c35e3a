/* bn254/kernel_whole_impl.h: the rest of what a kernel does that has nothing but
 * single elements, and its struct. Private to the folder.
 */
#ifndef BN254_KERNEL_WHOLE_IMPL_H
#define BN254_KERNEL_WHOLE_IMPL_H

#include "bn254/kernel_scalar_impl.h"
#include "bn254/miller_affine_impl.h"
#include "bn254/power_impl.h"
#include "bn254/root_impl.h"
#include "bn254/weigh_impl.h"

static void
put_line(void *lines, size_t i, const struct stored_line *l)
{
	((struct stored_line *)lines)[i] = *l;
}

static void
kernel_lines(void *lines, const g2_t *q)
{
	each_line(q, put_line, lines);
}

/* --- one proof -------------------------------------------------------------- */

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
kernel_power(gt_t *r, const gt_t *a, const struct weight_sum *e)
{
	fe12_t t;

	fe12_from_gt(&t, a);
	fe12_power(&t, &t, e);
	fe12_to_gt(r, &t);
}

/* --- batches --------------------------------------------------------------- */

/* Eight proofs share their squarings; more gain little, and a group is what is
 * looked through when it is not good. */
static size_t
kernel_batch_groups(size_t n)
{
	return (n + 7) / 8;
}

static size_t
kernel_batch_scratch(size_t n)
{
	size_t pairs = n * sizeof(struct affine_pair), w = weigh_scratch(2 * n);

	return pairs > w ? pairs : w;
}

/* The struct of a kernel with all these functions. */
#define KERNEL_SCALAR(NAME)                                                   \
	{                                                                     \
		.name = NAME, .supported = core_supported,                    \
		.lines_size = ATE_LINES * sizeof(struct stored_line),         \
		.lines = kernel_lines, .pairing = kernel_pairing,             \
		.check = kernel_check, .in_group = kernel_in_group,           \
		.sum = kernel_sum, .inverse_roots = kernel_inverse_roots,     \
		.batch_min = 2, .batch_groups = kernel_batch_groups,          \
		.batch_scratch = kernel_batch_scratch, .weigh = kernel_weigh, \
		.miller = miller_affine, .finish = kernel_finish,             \
		.power = kernel_power, .multiply = kernel_multiply,           \
		.invert = kernel_invert,                                      \
	}

#endif
