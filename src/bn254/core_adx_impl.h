/* bn254/core_adx_impl.h: the core of the kernel with MULX, ADCX and ADOX.
 * Private to the folder, but for src/hash.
 */
#ifndef BN254_CORE_ADX_IMPL_H
#define BN254_CORE_ADX_IMPL_H

#include <cpuid.h>

#include "bn254/mont_adx_impl.h"
#include "bn254/core_sums_impl.h"

static inline void
core_mul(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	mont_mul_adx(r, a, b, &CORE_MODULUS);
}

static inline void
core_wide(uint64_t w[static 8], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	limbs_mul_adx(w, a, b);
}

static inline void
core_redc(uint64_t r[static 4], const uint64_t w[static 8])
{
	mont_redc_wide_adx(r, w, &CORE_MODULUS);
}

/* BMI2 (MULX) is bit 8, ADX bit 19 of EBX of leaf 7. */
static inline bool
core_supported(void)
{
	unsigned a, b = 0, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
	    (b & 1u << 8) != 0 && (b & 1u << 19) != 0;
}

#endif
