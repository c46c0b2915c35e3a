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

	limbs_select(r, a, t, mask_of(borrow));
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
	static const uint64_t zero[4];
	uint64_t t[4], u[4];
	uint64_t borrow = limbs_sub(t, a, b);

	limbs_select(u, m->m, zero, mask_of(borrow));
	limbs_add(r, t, u);
}

/* t + a * b + c as two limbs: can not overflow. */
static inline uint64_t
mul_add(uint64_t *hi, uint64_t t, uint64_t a, uint64_t b, uint64_t c)
{
	u128 v = (u128)a * b + t + c;

	*hi = (uint64_t)(v >> 64);
	return (uint64_t)v;
}

/* t = (t + a * b + q * m) / 2^64 with the q that makes it a whole number. For
 * t and a below 2m that is below 2m + 2m / 2^64 < 2^256, so the two carries
 * add up without a carry of their own (El Housni, Botrel, "Faster Montgomery
 * multiplication and multi-scalar-multiplication for SNARKs", TCHES 2023,
 * section 2.3). Written out because gcc does not unroll at -O2. */
static inline void
mont_row(uint64_t t[static 4], const uint64_t a[static 4], uint64_t b,
    const struct modulus *m)
{
	uint64_t c, d, q;

	t[0] = mul_add(&c, t[0], a[0], b, 0);
	q = t[0] * m->inv;
	mul_add(&d, t[0], q, m->m[0], 0); /* the low limb is 0 */
	t[1] = mul_add(&c, t[1], a[1], b, c);
	t[0] = mul_add(&d, t[1], q, m->m[1], d);
	t[2] = mul_add(&c, t[2], a[2], b, c);
	t[1] = mul_add(&d, t[2], q, m->m[2], d);
	t[3] = mul_add(&c, t[3], a[3], b, c);
	t[2] = mul_add(&d, t[3], q, m->m[3], d);
	t[3] = c + d;
}

/* r = a * b / 2^256 mod m (Montgomery, Math. Comp. 44, 1985), multiplying and
 * reducing limb by limb. b may be any 256-bit integer. */
static inline void
mont_mul(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t b[static 4], const struct modulus *m)
{
	uint64_t t[4] = {0};

	mont_row(t, a, b[0], m);
	mont_row(t, a, b[1], m);
	mont_row(t, a, b[2], m);
	mont_row(t, a, b[3], m);
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
