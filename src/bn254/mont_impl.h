/* bn254/mont_impl.h: Montgomery arithmetic in portable C for a modulus whose
 * two top bits are zero, as p and r are.
 *
 * Everything is static inline and takes the modulus by pointer: with a
 * constant one the compiler folds it in. Values are below m before and after.
 * Private to the folder.
 */
#ifndef BN254_MONT_IMPL_H
#define BN254_MONT_IMPL_H

#include "bn254/limbs.h"

struct modulus {
	uint64_t m[4];
	uint64_t inv; /* -1/m mod 2^64 */
	uint64_t one[4]; /* 2^256 mod m */
	uint64_t r2[4]; /* 2^512 mod m */
	uint64_t minus2[4]; /* m - 2 */
};

/* r = a mod m for a below 2m. */
static inline void
mont_reduce_once(
    uint64_t r[static 4], const uint64_t a[static 4], const struct modulus *m)
{
	uint64_t t[4];
	uint64_t borrow = limbs_sub(t, a, m->m);

	for (int i = 0; i < 4; i++)
		r[i] = a[i];
	limbs_cmov(r, t, mask_of(1 - borrow));
}

static inline void
mont_add(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], const struct modulus *m)
{
	uint64_t t[4];

	limbs_add(t, a, b); /* 2m < 2^256: no carry */
	mont_reduce_once(r, t, m);
}

static inline void
mont_sub(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], const struct modulus *m)
{
	uint64_t t[4];
	uint64_t mask = mask_of(limbs_sub(t, a, b));

	for (int i = 0; i < 4; i++)
		r[i] = m->m[i] & mask;
	limbs_add(r, t, r);
}

/* t + a * b + c as two limbs: can not overflow. */
static inline uint64_t
mul_add(uint64_t *hi, uint64_t t, uint64_t a, uint64_t b, uint64_t c)
{
	u128 v = (u128)a * b + t + c;

	*hi = (uint64_t)(v >> 64);
	return (uint64_t)v;
}

/* r = a * b / 2^256 mod m (Montgomery, Math. Comp. 44, 1985), multiplying and
 * reducing limb by limb. As m < 2^254, the running sum of a row stays below
 * 2m * 2^64 < 2^319, so its two carries add up without a carry of their own
 * (Botrel, Housni, "Faster Montgomery multiplication and multi-scalar
 * multiplication for SNARKs", TCHES 2023, section 2.3). */
static inline void
mont_mul(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], const struct modulus *m)
{
	uint64_t t[4] = {0};

	for (int i = 0; i < 4; i++) {
		uint64_t c, d, q;

		t[0] = mul_add(&c, t[0], a[0], b[i], 0);
		q = t[0] * m->inv;
		mul_add(&d, t[0], q, m->m[0], 0); /* the low limb is 0 */
		for (int j = 1; j < 4; j++) {
			t[j] = mul_add(&c, t[j], a[j], b[i], c);
			t[j - 1] = mul_add(&d, t[j], q, m->m[j], d);
		}
		t[3] = c + d;
	}
	mont_reduce_once(r, t, m);
}

/* r = a / 2^256 mod m, a any 256-bit integer. */
static inline void
mont_redc(
    uint64_t r[static 4], const uint64_t a[static 4], const struct modulus *m)
{
	static const uint64_t one[4] = {1, 0, 0, 0};

	mont_mul(r, one, a, m);
}

#endif
