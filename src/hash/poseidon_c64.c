/* Poseidon of one pair in portable C. */
#include "bn254/mont_impl.h"
#include "hash/poseidon_kernels.h"

static inline void
core_mul(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	mont_mul(r, a, b, &modulus_r);
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
	mont_redc_wide(r, w, &modulus_r);
}

#define POSEIDON_ONE poseidon_c64_one
#include "hash/poseidon_scalar_impl.h"
