/* bn254/core_wide_impl.h: sums of products not yet reduced, for cores without
 * better ones; over core_reduce_once. Private to the folder.
 */
#ifndef BN254_CORE_WIDE_IMPL_H
#define BN254_CORE_WIDE_IMPL_H

#include "bn254/core_modulus.h"

/* w = a + b and w = a - b modulo p 2^256: the upper half modulo p. */
static inline void
core_wide_add(uint64_t w[static 8], const uint64_t a[static 8],
    const uint64_t b[static 8])
{
	uint64_t hi[4];
	carry_t carry = limbs_addc(w, a, b, 0);

	limbs_addc(hi, a + 4, b + 4, carry);
	core_reduce_once(w + 4, hi);
}

static inline void
core_wide_sub(uint64_t w[static 8], const uint64_t a[static 8],
    const uint64_t b[static 8])
{
	static const uint64_t zero[4];
	uint64_t hi[4], t[4];
	carry_t borrow = limbs_subb(w, a, b, 0);

	borrow = limbs_subb(hi, a + 4, b + 4, borrow);
	limbs_select(t, CORE_MODULUS.m, zero, mask_of(borrow));
	limbs_add(w + 4, hi, t);
}

/* w -= a + b where that is not negative. */
static inline void
core_wide_sub_two(uint64_t w[static 8], const uint64_t a[static 8],
    const uint64_t b[static 8])
{
	carry_t borrow = limbs_subb(w, w, a, 0);

	limbs_subb(w + 4, w + 4, a + 4, borrow);
	borrow = limbs_subb(w, w, b, 0);
	limbs_subb(w + 4, w + 4, b + 4, borrow);
}

#endif
