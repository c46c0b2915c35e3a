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

void
fp2_norm(fp_t *n, const fp2_t *a)
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

	fp2_norm(&n, a);
	fp_inv(&n, &n);
	conj_over_norm(r, a, &n);
}

void
fp2_inv_var(fp2_t *r, const fp2_t *a)
{
	fe2_inv(r, a);
}

/* The complex method: for a = c0 + c1 i with n^2 its norm, one of (c0 + n) / 2
 * and (c0 - n) / 2 is the square of the root's real part, as their product
 * -c1^2 / 4 is no square (p = 3 mod 4). With t one of them, not 0 unless a is,
 * and v = t^((p-3)/4), either
 *   (tv)^2 = t, and tv + c1 v / 2 i is the root, or
 *   (tv)^2 = -t, so that -c1 v / 2 is a root of the other one, and
 *   -c1 v / 2 + tv i is the root, as 1 / tv = -v. */
bool
fp2_sqrt_part_var(
    fp_t *t, const fp2_t *a, const fp_t *norm, const fp_t *inverse_root)
{
	fp_t n;

	*t = fp_zero;
	if (!fp_sqrt_end_var(&n, norm, inverse_root))
		return false;
	fp_add(t, &a->c0, &n);
	if (fp_is_zero(t))
		fp_sub(t, &a->c0, &n);
	fp_mul(t, t, &half);
	return true;
}

bool
fp2_sqrt_end_var(
    fp2_t *r, const fp2_t *a, const fp_t *t, const fp_t *inverse_root)
{
	fp2_t root, check;
	fp_t s;

	fp_mul(&root.c0, t, inverse_root);
	fp_mul(&root.c1, &a->c1, inverse_root);
	fp_mul(&root.c1, &root.c1, &half);
	fp_sqr(&s, &root.c0);
	if (!fp_eq(&s, t)) {
		s = root.c0;
		fp_neg(&root.c0, &root.c1);
		root.c1 = s;
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
fp2_sqrt_var(fp2_t *r, const fp2_t *a)
{
	fp_t n, t, v;

	fp2_norm(&n, a);
	fp_inverse_root(&v, &n);
	if (!fp2_sqrt_part_var(&t, a, &n, &v)) {
		*r = fp2_zero;
		return false;
	}
	fp_inverse_root(&v, &t);
	return fp2_sqrt_end_var(r, a, &t, &v);
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
