/* The portable kernel over GMP's mpn functions, which have assembly for many
 * processors. */
#include "bn254/kernels.h"

#include "bn254/core_mpn_impl.h"
#include "bn254/kernel_whole_impl.h"

const struct bn254_kernel bn254_kernel_mpn = KERNEL_SCALAR("mpn");
