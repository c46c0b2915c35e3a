/* bn254/core_sums_impl.h: sums modulo the field's prime, in portable C. Private to the folder.
 */
#ifndef BN254_CORE_SUMS_IMPL_H
#define BN254_CORE_SUMS_IMPL_H

#include "bn254/core_modulus.h"

static inline void
core_add(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	mont_add(r, a, b, &CORE_MODULUS);
}

static inline void
core_sub(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	mont_sub(r, a, b, &CORE_MODULUS);
}

static inline void
core_reduce_once(uint64_t r[static 4], const uint64_t a[static 4])
{
	mont_reduce_once(r, a, &CORE_MODULUS);
}

#endif
