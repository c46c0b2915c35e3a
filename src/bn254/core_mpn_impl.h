/* bn254/core_mpn_impl.h: the core of the portable kernel over GMP's mpn functions, which have
 * assembly for many processors.
 * Private to the folder.
 */
#ifndef BN254_CORE_MPN_IMPL_H
#define BN254_CORE_MPN_IMPL_H

#include <gmp.h>

#include "bn254/mont_impl.h"

/* GMP's limbs must be ours: all functions below pass them on as they are. */
_Static_assert(sizeof(mp_limb_t) == sizeof(uint64_t) && GMP_NAIL_BITS == 0,
    "GMP with 64-bit limbs");

static inline void
core_reduce_once(uint64_t r[static 4], const uint64_t a[static 4])
{
	uint64_t t[4];
	mp_limb_t borrow = mpn_sub_n(t, a, modulus_p.m, 4);

	limbs_select(r, a, t, mask_of(borrow));
}

static inline void
core_wide(uint64_t w[static 8], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	mpn_mul_n(w, a, b, 4);
}

/* Four times w += q p 2^(64 i) with the q that clears limb i, the carries kept
 * aside; together with the upper half they are below 2p. */
static inline void
core_redc(uint64_t r[static 4], const uint64_t w[static 8])
{
	uint64_t t[8], carry[4];

	memcpy(t, w, sizeof(t));
	for (int i = 0; i < 4; i++)
		carry[i] =
		    mpn_addmul_1(t + i, modulus_p.m, 4, t[i] * modulus_p.inv);
	mpn_add_n(t, t + 4, carry, 4);
	core_reduce_once(r, t);
}

static inline void
core_mul(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	uint64_t w[8];

	core_wide(w, a, b);
	core_redc(r, w);
}

static inline void
core_add(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	uint64_t t[4];

	mpn_add_n(t, a, b, 4);
	core_reduce_once(r, t);
}

static inline void
core_sub(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	static const uint64_t zero[4];
	uint64_t t[4], u[4];
	mp_limb_t borrow = mpn_sub_n(t, a, b, 4);

	limbs_select(u, modulus_p.m, zero, mask_of(borrow));
	mpn_add_n(r, t, u, 4);
}

/* GMP has nothing for these. */
#include "bn254/core_wide_impl.h"

static inline bool
core_supported(void)
{
	return true;
}

#endif
