/* bn254/core_c64_impl.h: the core of the portable kernel, in C. Private to the
 * folder, but for src/hash.
 */
#ifndef BN254_CORE_C64_IMPL_H
#define BN254_CORE_C64_IMPL_H

#include "bn254/mont_impl.h"
#include "bn254/core_sums_impl.h"
#include "bn254/core_wide_impl.h"

static inline void
core_mul(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	mont_mul(r, a, b, &CORE_MODULUS);
}

static inline void
core_wide(uint64_t w[static 8], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	limbs_mul(w, a, b);
}

static inline void
core_redc(uint64_t r[static 4], const uint64_t w[static 8])
{
	mont_redc_wide(r, w, &CORE_MODULUS);
}

static inline bool
core_supported(void)
{
	return true;
}

#endif
