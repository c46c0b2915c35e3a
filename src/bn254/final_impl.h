/* bn254/final_impl.h: the final exponentiation over any kernel's Fp12.
 *
 * The including file has defined fe12_t, fe12_set_one, fe12_mul, fe12_inv,
 * fe12_conj, fe12_frobenius and fe12_cyclotomic_sqr: cyclotomic_impl.h is
 * where they say what they do. Private to the folder.
 */
#ifndef BN254_FINAL_IMPL_H
#define BN254_FINAL_IMPL_H

#include "bn254/constants.h"
#include "bn254/pairing.h"

/* r = a^u for a in the cyclotomic subgroup, where 1/a is the conjugate; r is
 * not a. The digits are 1, 3 and 5. */
static void
fe12_pow_u(fe12_t *r, const fe12_t *a)
{
	fe12_t power[3], t;

	fe12_cyclotomic_sqr(&t, a);
	power[0] = *a;
	fe12_mul(&power[1], &power[0], &t);
	fe12_mul(&power[2], &power[1], &t);
	*r = *a;
	for (int i = BN_U_DIGITS - 2; i >= 0; i--) {
		int d = bn_u_digits[i];

		fe12_cyclotomic_sqr(r, r);
		if (d > 0) {
			fe12_mul(r, r, &power[d / 2]);
		} else if (d < 0) {
			fe12_conj(&t, &power[-d / 2]);
			fe12_mul(r, r, &t);
		}
	}
}

/* f^((p^12 - 1) / r c), c = 2u (6u^2 + 3u + 1). The easy part is the power
 * (p^6 - 1)(p^2 + 1). The hard part is (Fuentes-Castaneda, Knapp,
 * Rodriguez-Henriquez, SAC 2011, section 5)
 *
 *	a = f^(12u^3 + 6u^2 + 6u), b = a f^-2u,
 *	f^(6u^2 + 1) a  *  b^p  *  a^(p^2)  *  (b f^-1)^(p^3) */
static void
final_exponentiation(fe12_t *r, const fe12_t *f)
{
	fe12_t g, s, t, a, b;

	fe12_inv(&t, f);
	fe12_conj(&g, f);
	fe12_mul(&g, &g, &t);
	fe12_frobenius(&t, &g, 2);
	fe12_mul(&g, &g, &t);

	fe12_pow_u(&t, &g);
	fe12_cyclotomic_sqr(&t, &t); /* t = g^2u */
	fe12_cyclotomic_sqr(&s, &t);
	fe12_mul(&a, &s, &t); /* a = g^6u */
	fe12_pow_u(&s, &a); /* s = g^(6u^2) */
	fe12_mul(&a, &a, &s);
	fe12_mul(r, &s, &g);
	fe12_cyclotomic_sqr(&s, &s);
	fe12_pow_u(&b, &s); /* g^(12u^3) */
	fe12_mul(&a, &a, &b);
	fe12_conj(&t, &t);
	fe12_mul(&b, &a, &t);

	fe12_mul(r, r, &a);
	fe12_frobenius(&s, &b, 1);
	fe12_mul(r, r, &s);
	fe12_frobenius(&s, &a, 2);
	fe12_mul(r, r, &s);
	fe12_conj(&g, &g);
	fe12_mul(&s, &b, &g);
	fe12_frobenius(&s, &s, 3);
	fe12_mul(r, r, &s);
}

#endif
