/* bn254/core_adx_impl.h: the core of the kernel with MULX, ADCX and ADOX.
 * Private to the folder, but for src/hash.
 */
#ifndef BN254_CORE_ADX_IMPL_H
#define BN254_CORE_ADX_IMPL_H

#include "base/cpu.h"
#include "bn254/core_modulus.h"
#include "bn254/mont_adx_impl.h"

static inline void
core_add(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	mont_add_adx(r, a, b, &CORE_MODULUS);
}

static inline void
core_sub(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	mont_sub_adx(r, a, b, &CORE_MODULUS);
}

static inline void
core_reduce_once(uint64_t r[static 4], const uint64_t a[static 4])
{
	mont_reduce_once_adx(r, a, &CORE_MODULUS);
}

static inline void
core_wide_add(uint64_t w[static 8], const uint64_t a[static 8],
    const uint64_t b[static 8])
{
	mont_wide_add_adx(w, a, b, &CORE_MODULUS);
}

static inline void
core_wide_sub(uint64_t w[static 8], const uint64_t a[static 8],
    const uint64_t b[static 8])
{
	mont_wide_sub_adx(w, a, b, &CORE_MODULUS);
}

static inline void
core_wide_sub_two(uint64_t w[static 8], const uint64_t a[static 8],
    const uint64_t b[static 8])
{
	limbs_sub_two_adx(w, a, b);
}

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

static inline bool
core_supported(void)
{
	return cpu_has_adx();
}

#endif
