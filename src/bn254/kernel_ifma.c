/* The kernel of x86-64 with AVX-512 IFMA. What is not worth its lanes, keys and
 * single elements, is done as the adx kernel does it. */
#include "bn254/kernels.h"

#ifdef __x86_64__

#include "base/cpu.h"
#include "bn254/constants.h"
#include "bn254/core_adx_impl.h"
#include "bn254/ifma_batch.h"
#include "bn254/ifma_single.h"
#include "bn254/kernel_scalar_impl.h"

static bool
supported(void)
{
	return cpu_has_ifma() && core_supported();
}

static void
put(void *lines, size_t i, const struct stored_line *l)
{
	ifma_put_line(lines, i, &l->b, &l->c);
}

static void
lines(void *lines, const g2_t *q)
{
	each_line(q, put, lines);
}

/* A lane each, until more would share squarings. */
static size_t
groups(size_t n)
{
	return n < 8 ? n : 8;
}

const struct bn254_kernel bn254_kernel_ifma = {
    .name = "ifma",
    .supported = supported,
    .lines_size = IFMA_LINES_SIZE,
    .lines = lines,
    .pairing = kernel_pairing,
    .check = ifma_check,
    .in_group = kernel_in_group,
    .sum = kernel_sum,
    .inverse_roots = ifma_inverse_roots,
    .batch_min = 4,
    .batch_groups = groups,
    .batch_scratch = ifma_batch_scratch,
    .weigh = ifma_weigh,
    .miller = ifma_miller,
    .finish = ifma_finish,
    .power = ifma_power,
    .multiply = kernel_multiply,
    .invert = kernel_invert,
};

#endif
