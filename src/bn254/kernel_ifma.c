/* The kernel of x86-64 with AVX-512 IFMA. What is not worth its lanes, keys and
 * single elements, is done as the adx kernel does it. */
#include "bn254/kernels.h"

#ifdef __x86_64__

#include "base/cpu.h"
#include "bn254/constants.h"
#include "bn254/core_adx_impl.h"
#include "bn254/ifma_batch.h"
#include "bn254/ifma_single.h"
#include "bn254/ifma_sum.h"
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

/* From how many terms on lanes are worth joining. */
#define SUM_LANES_MIN 64

/* Whole steps in lanes, the rest as the adx kernel does it. */
static void
sum(g1j_t *r, const struct g1_term *terms, size_t n)
{
	size_t steps = n / IFMA_SUM_STEP * IFMA_SUM_STEP;
	bool plain = n >= SUM_LANES_MIN;
	g1j_t rest;

	for (size_t i = 0; plain && i < steps; i++)
		plain = !g1_is_infinity(terms[i].p);
	if (!plain || !ifma_sum(r, terms, steps)) {
		kernel_sum(r, terms, n);
		return;
	}
	kernel_sum(&rest, terms + steps, n - steps);
	g1j_add_var(r, r, &rest);
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
    .sum = sum,
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
