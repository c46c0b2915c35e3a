/* bn254/field_impl.h: the functions of fp.h and fr.h, written once.
 *
 * The including file defines F(NAME), the function's full name, F_T, the
 * element's type, and MODULUS, a constant struct modulus. Private to the
 * folder.
 */
#include <gmp.h>

#include "base/ctime.h"
#include "bn254/divsteps.h"

const F_T F(zero) = {{0, 0, 0, 0}};

enum status
F(from_mont_limbs_strict)(F_T *r, const uint64_t in[static 4])
{
	uint64_t t[4];
	uint64_t below = limbs_sub(t, in, MODULUS.m);

	limbs_select(r->l, in, F(zero).l, mask_of(below));
	return below ? ST_OK : ST_NOT_CANONICAL;
}

enum status
F(check_bytes)(const uint8_t in[static 32])
{
	uint64_t t[4];

	limbs_from_bytes(t, in);
	return limbs_sub(t, t, MODULUS.m) ? ST_OK : ST_NOT_CANONICAL;
}

enum status
F(from_bytes_strict)(F_T *r, const uint8_t in[static 32])
{
	uint64_t t[4];
	enum status s;

	limbs_from_bytes(t, in);
	s = F(from_mont_limbs_strict)(r, t);
	mont_mul(r->l, r->l, MODULUS.r2, &MODULUS);
	return s;
}

void
F(to_limbs)(uint64_t out[static 4], const F_T *a)
{
	mont_redc(out, a->l, &MODULUS);
}

void
F(to_bytes)(uint8_t out[static 32], const F_T *a)
{
	uint64_t t[4];

	F(to_limbs)(t, a);
	limbs_to_bytes(out, t);
}

void
F(from_u64)(F_T *r, uint64_t v)
{
	const uint64_t t[4] = {v, 0, 0, 0};

	mont_mul(r->l, t, MODULUS.r2, &MODULUS);
}

void
F(add)(F_T *r, const F_T *a, const F_T *b)
{
	mont_add(r->l, a->l, b->l, &MODULUS);
}

void
F(sub)(F_T *r, const F_T *a, const F_T *b)
{
	mont_sub(r->l, a->l, b->l, &MODULUS);
}

void
F(dbl)(F_T *r, const F_T *a)
{
	mont_add(r->l, a->l, a->l, &MODULUS);
}

void
F(neg)(F_T *r, const F_T *a)
{
	mont_sub(r->l, F(zero).l, a->l, &MODULUS);
}

void
F(mul)(F_T *r, const F_T *a, const F_T *b)
{
	mont_mul(r->l, a->l, b->l, &MODULUS);
}

void
F(sqr)(F_T *r, const F_T *a)
{
	mont_mul(r->l, a->l, a->l, &MODULUS);
}

/* From the top, four bits of e at a time. */
void
F(pow)(F_T *r, const F_T *a, const uint64_t *e, size_t n)
{
	F_T power[16];
	F_T acc = F(one);

	power[0] = F(one);
	for (int i = 1; i < 16; i++)
		F(mul)(&power[i], &power[i - 1], a);
	for (size_t i = n; i-- > 0;) {
		for (int shift = 60; shift >= 0; shift -= 4) {
			for (int j = 0; j < 4; j++)
				F(sqr)(&acc, &acc);
			F(mul)(&acc, &acc, &power[e[i] >> shift & 15]);
		}
	}
	*r = acc;
}

void
F(inv)(F_T *r, const F_T *a)
{
	divsteps_inverse(r->l, a->l, MODULUS.m);
	/* That is 1 / (a 2^256): twice 2^512 bring the form back. */
	mont_mul(r->l, r->l, MODULUS.r2, &MODULUS);
	mont_mul(r->l, r->l, MODULUS.r2, &MODULUS);
}

void
F(inv_var)(F_T *r, const F_T *a)
{
	/* GMP's limbs are ours only where they are 64 bits wide. */
	_Static_assert(sizeof(mp_limb_t) == sizeof(uint64_t), "64-bit limbs");
	mp_limb_t g[5], s[5], u[5], v[5];
	mp_size_t sn;
	uint64_t t[4] = {0};

	if (F(is_zero)(a)) {
		*r = F(zero);
		return;
	}
	for (int i = 0; i < 4; i++) {
		u[i] = a->l[i];
		v[i] = MODULUS.m[i];
	}
	/* mpn_gcdext wants the second operand's top limb to be set and the first
	 * not shorter; s * a = 1 mod m. */
	mpn_gcdext(g, s, &sn, u, 4, v, 4);
	declassify(&sn, sizeof(sn)); /* GMP's writes, which a sanitizer */
	declassify(s, sizeof(s)); /* has not seen */
	for (mp_size_t i = 0; i < (sn < 0 ? -sn : sn); i++)
		t[i] = s[i];
	if (sn < 0)
		limbs_sub(t, MODULUS.m, t);
	/* t = 1 / (a 2^256): two products by 2^512 bring the form back. */
	mont_mul(t, t, MODULUS.r2, &MODULUS);
	mont_mul(r->l, t, MODULUS.r2, &MODULUS);
}

static void
F(inv_many_with)(
    F_T *r, const F_T *a, size_t n, void (*inv)(F_T *, const F_T *))
{
	F_T acc = F(one), inverse, next;

	/* r[i] = the product of the a[j] before i that are not 0. */
	for (size_t i = 0; i < n; i++) {
		r[i] = acc;
		F(mul)(&next, &acc, &a[i]);
		F(cmov)(&acc, &next, !F(is_zero)(&a[i]));
	}
	inv(&inverse, &acc);
	for (size_t i = n; i-- > 0;) {
		bool zero = F(is_zero)(&a[i]);

		F(mul)(&r[i], &r[i], &inverse);
		F(cmov)(&r[i], &F(zero), zero);
		F(mul)(&next, &inverse, &a[i]);
		F(cmov)(&inverse, &next, !zero);
	}
}

void
F(inv_many)(F_T *r, const F_T *a, size_t n)
{
	F(inv_many_with)(r, a, n, F(inv));
}

void
F(inv_many_var)(F_T *r, const F_T *a, size_t n)
{
	F(inv_many_with)(r, a, n, F(inv_var));
}

bool
F(eq)(const F_T *a, const F_T *b)
{
	return limbs_eq(a->l, b->l);
}

bool
F(is_zero)(const F_T *a)
{
	return limbs_is_zero(a->l);
}

void
F(cmov)(F_T *r, const F_T *a, bool flag)
{
	limbs_select(r->l, a->l, r->l, mask_of(flag));
}
