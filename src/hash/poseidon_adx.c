/* Poseidon of one pair with MULX, ADCX and ADOX. */
#include "hash/poseidon_kernels.h"

#ifdef __x86_64__

#include "bn254/mont_adx_impl.h"

static inline void
core_mul(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	mont_mul_adx(r, a, b, &modulus_r);
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
	mont_redc_wide_adx(r, w, &modulus_r);
}

#define POSEIDON_ONE poseidon_adx_one
#include "hash/poseidon_scalar_impl.h"

#endif
