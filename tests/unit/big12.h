/* tests/unit/big12.h: Fp12 in GMP, the oracle of the towers' tests.
 *
 * Polynomials in w over the integers modulo w^12 - 18 w^6 + 82, twelve mpz each,
 * and i as w^6 - 9: neither Karatsuba nor a tower nor Montgomery.
 */
#ifndef TESTS_BIG12_H
#define TESTS_BIG12_H

#include <gmp.h>

struct big12 {
	mpz_t c[12];
};

static mpz_t prime;

/* Set the prime. */
static void
big_begin(void)
{
	mpz_init_set_str(prime,
	    "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47",
	    16);
}

static void
big_init(struct big12 *a)
{
	for (int i = 0; i < 12; i++)
		mpz_init(a->c[i]);
}

static void
big_clear(struct big12 *a)
{
	for (int i = 0; i < 12; i++)
		mpz_clear(a->c[i]);
}

static void
big_mul(struct big12 *r, const struct big12 *a, const struct big12 *b)
{
	mpz_t t[23];

	for (int i = 0; i < 23; i++)
		mpz_init(t[i]);
	for (int i = 0; i < 12; i++) {
		for (int j = 0; j < 12; j++)
			mpz_addmul(t[i + j], a->c[i], b->c[j]);
	}
	for (int i = 22; i >= 12; i--) {
		mpz_addmul_ui(t[i - 6], t[i], 18);
		mpz_submul_ui(t[i - 12], t[i], 82);
	}
	for (int i = 0; i < 12; i++)
		mpz_mod(r->c[i], t[i], prime);
	for (int i = 0; i < 23; i++)
		mpz_clear(t[i]);
}

/* r = a^p, as a power. */
static void
big_frobenius(struct big12 *r, const struct big12 *a)
{
	struct big12 t;

	big_init(&t);
	mpz_set_ui(t.c[0], 1);
	for (size_t i = mpz_sizeinbase(prime, 2); i-- > 0;) {
		big_mul(&t, &t, &t);
		if (mpz_tstbit(prime, i))
			big_mul(&t, &t, a);
	}
	for (int i = 0; i < 12; i++)
		mpz_set(r->c[i], t.c[i]);
	big_clear(&t);
}

/* r += (c0 + c1 i) w^k */
static void
big_add_coefficient(struct big12 *r, const mpz_t c0, const mpz_t c1, int k)
{
	mpz_add(r->c[k], r->c[k], c0);
	mpz_add(r->c[k + 6], r->c[k + 6], c1);
	mpz_submul_ui(r->c[k], c1, 9);
	mpz_mod(r->c[k], r->c[k], prime);
	mpz_mod(r->c[k + 6], r->c[k + 6], prime);
}

#endif
