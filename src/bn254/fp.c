#include "bn254/fp.h"

#include "bn254/mont_impl.h"

const uint64_t fp_inverse_root_exponent[4] = {0x4f082305b61f3f51,
    0x65e05aa45a1c72a3, 0x6e14116da0605617, 0x0c19139cb84c680a};

/* (p - 1) / 2 */
static const uint64_t half[4] = {0x9e10460b6c3e7ea3, 0xcbc0b548b438e546,
    0xdc2822db40c0ac2e, 0x183227397098d014};

const fp_t fp_one = {{0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d,
    0x666ea36f7879462c, 0x0e0a77c19a07df2f}};

#define F(NAME) fp_##NAME
#define F_T fp_t
#define MODULUS modulus_p
#include "bn254/field_impl.h"

void
fp_inverse_root(fp_t *r, const fp_t *a)
{
	fp_pow(r, a, fp_inverse_root_exponent, 4);
}

bool
fp_sqrt_var(fp_t *r, const fp_t *a)
{
	fp_t inverse;

	fp_inverse_root(&inverse, a);
	return fp_sqrt_end_var(r, a, &inverse);
}

bool
fp_sqrt_end_var(fp_t *r, const fp_t *a, const fp_t *inverse_root)
{
	fp_t root, square;

	fp_mul(&root, a, inverse_root);
	fp_sqr(&square, &root);
	if (!fp_eq(&square, a)) {
		*r = fp_zero;
		return false;
	}
	*r = root;
	return true;
}

bool
fp_is_larger(const fp_t *a)
{
	uint64_t t[4], d[4];

	fp_to_limbs(t, a);
	return limbs_sub(d, half, t) != 0;
}
