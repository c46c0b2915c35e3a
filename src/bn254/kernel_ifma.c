/* The kernel of x86-64 with AVX-512 IFMA: batches in eight lanes, single proofs
 * as the adx kernel does them. */
#include "bn254/kernels.h"

#ifdef __x86_64__

#include "base/cpu.h"
#include "bn254/core_adx_impl.h"
#include "bn254/ifma_batch.h"
#include "bn254/kernel_scalar_impl.h"

static bool
supported(void)
{
	return cpu_has_ifma() && core_supported();
}

/* A lane each, until more would share squarings. */
static size_t
groups(size_t n)
{
	return n < 8 ? n : 8;
}

const struct bn254_kernel bn254_kernel_ifma = {
    KERNEL_SCALAR_SINGLE,
    .name = "ifma",
    .supported = supported,
    .batch_min = 4,
    .batch_groups = groups,
    .batch_scratch = ifma_batch_scratch,
    .weigh = ifma_weigh,
    .miller = ifma_miller,
};

#endif
