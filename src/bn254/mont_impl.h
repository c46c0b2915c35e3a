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
};

static const struct modulus modulus_p = {
    .m = {0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d,
	0x30644e72e131a029},
    .inv = 0x87d20782e4866389,
    .one = {0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d, 0x666ea36f7879462c,
	0x0e0a77c19a07df2f},
    .r2 = {0xf32cfc5b538afa89, 0xb5e71911d44501fb, 0x47ab1eff0a417ff6,
	0x06d89f71cab8351f},
};

static const struct modulus modulus_r = {
    .m = {0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d,
	0x30644e72e131a029},
    .inv = 0xc2e1f593efffffff,
    .one = {0xac96341c4ffffffb, 0x36fc76959f60cd29, 0x666ea36f7879462e,
	0x0e0a77c19a07df2f},
    .r2 = {0x1bb8e645ae216da7, 0x53fe3ab1e35c59e3, 0x8c49833d53bb8085,
	0x0216d0b17f4e44a5},
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

/* t[0..3] = a * b, or += a * b; *hi = the limb above. */
static inline void
limbs_mul_1(
    uint64_t t[static 4], uint64_t *hi, const uint64_t a[static 4], uint64_t b)
{
	uint64_t c;

	t[0] = mul_add(&c, 0, a[0], b, 0);
	t[1] = mul_add(&c, 0, a[1], b, c);
	t[2] = mul_add(&c, 0, a[2], b, c);
	t[3] = mul_add(hi, 0, a[3], b, c);
}

static inline void
limbs_addmul_1(
    uint64_t t[static 4], uint64_t *hi, const uint64_t a[static 4], uint64_t b)
{
	uint64_t c;

	t[0] = mul_add(&c, t[0], a[0], b, 0);
	t[1] = mul_add(&c, t[1], a[1], b, c);
	t[2] = mul_add(&c, t[2], a[2], b, c);
	t[3] = mul_add(hi, t[3], a[3], b, c);
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

/* w = a * b, eight limbs. */
static inline void
limbs_mul(uint64_t w[static 8], const uint64_t a[static 4],
    const uint64_t b[static 4])
{
	uint64_t t[8];

	limbs_mul_1(t, &t[4], a, b[0]);
	limbs_addmul_1(t + 1, &t[5], a, b[1]);
	limbs_addmul_1(t + 2, &t[6], a, b[2]);
	limbs_addmul_1(t + 3, &t[7], a, b[3]);
	memcpy(w, t, sizeof(t));
}

/* t = (t + q * m) / 2^64 with the q that makes it a whole number, four limbs:
 * below m if t is below 2^64 m. */
static inline void
mont_reduce_row(uint64_t t[static 4], const struct modulus *m)
{
	uint64_t q = t[0] * m->inv, d;

	mul_add(&d, t[0], q, m->m[0], 0);
	t[0] = mul_add(&d, t[1], q, m->m[1], d);
	t[1] = mul_add(&d, t[2], q, m->m[2], d);
	t[2] = mul_add(&d, t[3], q, m->m[3], d);
	t[3] = d;
}

/* r = w / 2^256 mod m for w below m 2^256: the lower half is reduced to a
 * number of at most m, and joins the upper. */
static inline void
mont_redc_wide(
    uint64_t r[static 4], const uint64_t w[static 8], const struct modulus *m)
{
	uint64_t t[4];

	memcpy(t, w, sizeof(t));
	mont_reduce_row(t, m);
	mont_reduce_row(t, m);
	mont_reduce_row(t, m);
	mont_reduce_row(t, m);
	limbs_add(t, t, w + 4);
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
