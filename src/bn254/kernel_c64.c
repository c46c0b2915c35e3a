/* The portable kernel in C, for any machine with 64-bit words. */
#include "bn254/kernels.h"

#include "bn254/core_c64_impl.h"
#include "bn254/kernel_whole_impl.h"

const struct bn254_kernel bn254_kernel_c64 = KERNEL_SCALAR("c64");
