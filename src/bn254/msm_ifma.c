/* Sums of points on AVX-512 IFMA: eight lanes. Compiled for it on any x86-64,
 * run only where msm.c has seen it. */
#include "bn254/msm_kernel.h"

#include "base/cpu.h"

#ifdef __x86_64__

#ifdef __clang__
#pragma clang attribute push(                                        \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512ifma"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512ifma")
#endif

#include "bn254/lanes_ifma_p.h"

#include "bn254/lanes_ifma_impl.h"

static bool
kernel_supported(void)
{
	return cpu_has_ifma();
}

#define KERNEL msm_kernel_ifma
#define KERNEL_NAME "ifma"
#define BLOCK_G1 64
#define BLOCK_G2 32
#define CHOICES_G1 4
#define CHOICES_G2 2
#include "bn254/msm_kernel_impl.h"

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
