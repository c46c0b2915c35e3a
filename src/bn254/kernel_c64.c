/* The portable kernel in C, for any machine with 64-bit words. */
#include "bn254/kernels.h"

#include "bn254/core_c64_impl.h"
#include "bn254/kernel_scalar_impl.h"

static bool
kernel_supported(void)
{
	return true;
}

const struct bn254_kernel bn254_kernel_c64 = {
    .name = "c64",
    .supported = kernel_supported,
    .lines_size = ATE_LINES * sizeof(struct stored_line),
    .lines = kernel_lines,
    .pairing = kernel_pairing,
    .check = kernel_check,
    .in_group = kernel_in_group,
};
