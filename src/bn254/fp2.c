#include "bn254/fp2.h"

#include "bn254/core_c64_impl.h"
#include "bn254/fe_scalar_impl.h"
#include "bn254/fe2_impl.h"

const fp2_t fp2_zero;
const fp2_t fp2_one = {{{0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d,
			   0x666ea36f7879462c, 0x0e0a77c19a07df2f}},
    {{0}}};

/* 1/2 */
static const fp_t half = {{0x87bee7d24f060572, 0xd0fd2add2f1c6ae5,
    0x8f5f7492fcfd4f44, 0x1f37631a3d9cbfac}};

void
fp2_add(fp2_t *r, const fp2_t *a, const fp2_t *b)
{
	fe2_add(r, a, b);
}

void
fp2_sub(fp2_t *r, const fp2_t *a, const fp2_t *b)
{
	fe2_sub(r, a, b);
}

void
fp2_dbl(fp2_t *r, const fp2_t *a)
{
	fe2_add(r, a, a);
}

void
fp2_neg(fp2_t *r, const fp2_t *a)
{
	fe2_neg(r, a);
}

void
fp2_mul(fp2_t *r, const fp2_t *a, const fp2_t *b)
{
	fe2_mul(r, a, b);
}

void
fp2_sqr(fp2_t *r, const fp2_t *a)
{
	fe2_sqr(r, a);
}

void
fp2_mul_fp(fp2_t *r, const fp2_t *a, const fp_t *s)
{
	const fp_t t = *s; /* may be a part of r */

	fe2_mul_fe(r, a, &t);
}

void
fp2_conj(fp2_t *r, const fp2_t *a)
{
	fe2_conj(r, a);
}

/* conj(a) / n, n the inverse of the norm. */
static void
conj_over_norm(fp2_t *r, const fp2_t *a, const fp_t *n)
{
	fp_mul(&r->c0, &a->c0, n);
	fp_mul(&r->c1, &a->c1, n);
	fp_neg(&r->c1, &r->c1);
}

static void
norm(fp_t *n, const fp2_t *a)
{
	fp_t t;

	fp_sqr(n, &a->c0);
	fp_sqr(&t, &a->c1);
	fp_add(n, n, &t);
}

void
fp2_inv(fp2_t *r, const fp2_t *a)
{
	fp_t n;

	norm(&n, a);
	fp_inv(&n, &n);
	conj_over_norm(r, a, &n);
}

void
fp2_inv_var(fp2_t *r, const fp2_t *a)
{
	fe2_inv(r, a);
}

/* The complex method: for a = c0 + c1 i with n^2 its norm, (c0 + n) / 2 or
 * (c0 - n) / 2 is the square of the root's real part x, and the other part is
 * c1 / 2x. Of the two candidates exactly one is a square unless x is 0, as
 * their product -c1^2 / 4 is not one (p = 3 mod 4). */
bool
fp2_sqrt_var(fp2_t *r, const fp2_t *a)
{
	fp2_t root, check;
	fp_t n, t, x;

	norm(&n, a);
	if (!fp_sqrt_var(&n, &n)) {
		*r = fp2_zero;
		return false;
	}
	fp_add(&t, &a->c0, &n);
	fp_mul(&t, &t, &half);
	if (!fp_sqrt_var(&x, &t)) {
		fp_sub(&t, &a->c0, &n);
		fp_mul(&t, &t, &half);
		if (!fp_sqrt_var(&x, &t))
			x = fp_zero;
	}
	if (fp_is_zero(&x)) {
		/* c1 = 0, and c0 is 0 or minus a square: the root is imaginary. */
		fp_neg(&t, &a->c0);
		root.c0 = fp_zero;
		if (!fp_sqrt_var(&root.c1, &t))
			root.c1 = fp_zero;
	} else {
		fp_dbl(&t, &x);
		fp_inv_var(&t, &t);
		root.c0 = x;
		fp_mul(&root.c1, &a->c1, &t);
	}
	fp2_sqr(&check, &root);
	if (!fp2_eq(&check, a)) {
		*r = fp2_zero;
		return false;
	}
	*r = root;
	return true;
}

bool
fp2_eq(const fp2_t *a, const fp2_t *b)
{
	return both(fp_eq(&a->c0, &b->c0), fp_eq(&a->c1, &b->c1));
}

bool
fp2_is_zero(const fp2_t *a)
{
	return both(fp_is_zero(&a->c0), fp_is_zero(&a->c1));
}

bool
fp2_is_larger(const fp2_t *a)
{
	return fp_is_zero(&a->c1) ? fp_is_larger(&a->c0) : fp_is_larger(&a->c1);
}

void
fp2_cmov(fp2_t *r, const fp2_t *a, bool flag)
{
	fp_cmov(&r->c0, &a->c0, flag);
	fp_cmov(&r->c1, &a->c1, flag);
}
