/* bn254/batch_scalar_impl.h: what a kernel of single elements does for
 * batches, behind kernel_scalar_impl.h. Private to the folder.
 */
#ifndef BN254_BATCH_SCALAR_IMPL_H
#define BN254_BATCH_SCALAR_IMPL_H

#include "bn254/kernel_scalar_impl.h"
#include "bn254/weigh_impl.h"

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
	size_t pairs = n * sizeof(struct miller_pair), w = weigh_scratch(2 * n);

	return pairs > w ? pairs : w;
}

static void
kernel_miller(gt_t *f, bool *inside, const g1_t *p, const twist_t *q, size_t n,
    size_t groups, void *scratch)
{
	struct miller_pair *m = scratch;
	size_t block = (n + groups - 1) / groups;
	fe12_t t;

	for (size_t g = 0; g < groups; g++) {
		size_t first = g * block < n ? g * block : n;
		size_t k = n - first < block ? n - first : block;

		for (size_t i = 0; i < k; i++)
			miller_pair_init(&m[i], &p[first + i], &q[first + i]);
		miller_loop(&t, m, k, NULL, 0);
		for (size_t i = 0; i < k; i++)
			inside[first + i] = pair_in_group(&m[i], &q[first + i]);
		fe12_to_gt(&f[g], &t);
	}
}

/* The struct of a kernel with all these functions. */
#define KERNEL_SCALAR(NAME)                                                    \
	{                                                                      \
		KERNEL_SCALAR_SINGLE,                                          \
		    .name = NAME, .supported = core_supported, .batch_min = 2, \
		    .batch_groups = kernel_batch_groups,                       \
		    .batch_scratch = kernel_batch_scratch,                     \
		    .weigh = kernel_weigh, .miller = kernel_miller,            \
	}

#endif
