/* The two prime fields against GMP. */
#include <gmp.h>

#include "base/bytes.h"
#include "bn254/fp.h"
#include "bn254/fr.h"
#include "harness.h"

#define ROUNDS 20000

#define P_DECIMAL                                  \
	"2188824287183927522224640574525727508869" \
	"6311157297823662689037894645226208583"
#define R_DECIMAL                                  \
	"2188824287183927522224640574525727508854" \
	"8364400416034343698204186575808495617"

static void
big_to_bytes(uint8_t out[static 32], const mpz_t v)
{
	uint8_t bytes[32];
	size_t n;

	CHECK(mpz_sgn(v) >= 0 && mpz_sizeinbase(v, 256) <= 32);
	memset(out, 0, 32);
	mpz_export(bytes, &n, 1, 1, 1, 0, v);
	memcpy(out + 32 - n, bytes, n);
}

#define F(NAME) fp_##NAME
#define F_T fp_t
#define MODULUS P_DECIMAL
#include "field_cases_impl.h"
#undef F
#undef F_T
#undef MODULUS

#define F(NAME) fr_##NAME
#define F_T fr_t
#define MODULUS R_DECIMAL
#include "field_cases_impl.h"

static void
fp_test_sqrt(void)
{
	mpz_t p, x, t;
	fp_t a, r, s;
	int squares = 0;

	mpz_inits(x, t, NULL);
	mpz_init_set_str(p, P_DECIMAL, 10);
	for (int i = 0; i < ROUNDS / 50; i++) {
		bool square;

		fp_sample(x);
		fp_of(&a, x);
		square = mpz_legendre(x, p) >= 0;
		CHECK(fp_sqrt_var(&r, &a) == square);
		squares += square;
		if (square) {
			fp_sqr(&s, &r);
			CHECK(fp_eq(&s, &a));
		} else {
			CHECK(fp_is_zero(&r));
		}
		/* larger: twice the value is above p */
		mpz_mul_2exp(t, x, 1);
		CHECK(fp_is_larger(&a) == (mpz_cmp(t, p) > 0));
	}
	CHECK(squares > 0 && squares < ROUNDS / 50);
	mpz_clears(p, x, t, NULL);
}

static void
fr_test_reduce(void)
{
	uint8_t bytes[32];
	mpz_t x;
	fr_t a;

	mpz_init(x);
	for (int i = 0; i < ROUNDS; i++) {
		if (i == 0)
			memset(bytes, 0xff, sizeof(bytes));
		else
			test_random_bytes(bytes, sizeof(bytes));
		mpz_import(x, 32, 1, 1, 1, 0, bytes);
		fr_from_bytes_mod(&a, bytes);
		fr_check("bytes mod r", &a, x);
	}
	mpz_clear(x);
}

TESTS({"fp: ring operations equal GMP's", fp_test_ring},
    {"fp: powers and inverses equal GMP's", fp_test_power},
    {"fp: many inverses at once", fp_test_inv_many},
    {"fp: encodings, canonical and not", fp_test_encoding},
    {"fp: square roots", fp_test_sqrt},
    {"fr: ring operations equal GMP's", fr_test_ring},
    {"fr: powers and inverses equal GMP's", fr_test_power},
    {"fr: many inverses at once", fr_test_inv_many},
    {"fr: encodings, canonical and not", fr_test_encoding},
    {"fr: reduction of any 32 bytes", fr_test_reduce})
