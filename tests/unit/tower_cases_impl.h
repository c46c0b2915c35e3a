/* tests/unit/tower_cases_impl.h: one kernel's tower against GMP, see big12.h.
 * The including file has included a core.
 */
#include "bn254/fe_scalar_impl.h"
#include "bn254/cyclotomic_impl.h"
#include "bn254/final_impl.h"
#include "bn254/power_impl.h"
#include "big12.h"
#include "harness.h"

#define ROUNDS 400

static void
big_from_fe(mpz_t r, const fe_t *a)
{
	uint8_t bytes[32];

	fp_to_bytes(bytes, a);
	mpz_import(r, 32, 1, 1, 1, 0, bytes);
}

/* r += a w^k */
static void
big_add_fe2(struct big12 *r, const fe2_t *a, int k)
{
	mpz_t c0, c1;

	mpz_inits(c0, c1, NULL);
	big_from_fe(c0, &a->c0);
	big_from_fe(c1, &a->c1);
	big_add_coefficient(r, c0, c1, k);
	mpz_clears(c0, c1, NULL);
}

static void
big_from_fe12(struct big12 *r, fe12_t *a)
{
	for (int k = 0; k < 12; k++)
		mpz_set_ui(r->c[k], 0);
	for (int k = 0; k < 6; k++)
		big_add_fe2(r, fe12_coefficient(a, k), k);
}

static void
check12(const char *what, fe12_t *got, const struct big12 *want)
{
	struct big12 t;

	big_init(&t);
	big_from_fe12(&t, got);
	for (int i = 0; i < 12; i++) {
		if (mpz_cmp(t.c[i], want->c[i]) != 0)
			test_fail(__FILE__, __LINE__, "%s is wrong", what);
	}
	big_clear(&t);
}

/* Random, or close to 0 or to p, where bounds would break. */
static void
sample(fe_t *r)
{
	uint8_t bytes[32];
	fp_t t, d;

	do {
		test_random_bytes(bytes, sizeof(bytes));
		bytes[0] &= 0x3f;
	} while (fp_from_bytes_strict(&t, bytes) != ST_OK);
	if (test_random() % 4 == 0) {
		/* The limbs themselves: small, or p - small. */
		uint64_t l[4] = {test_random() % 4, 0, 0, 0};

		CHECK_STATUS(fp_from_mont_limbs_strict(&t, l), ST_OK);
		if (test_random() % 2) {
			l[0] = 1;
			CHECK_STATUS(fp_from_mont_limbs_strict(&d, l), ST_OK);
			fp_sub(&t, &fp_zero, &t);
			fp_sub(&t, &t, &d);
		}
	}
	*r = t;
}

static void
sample2(fe2_t *r)
{
	sample(&r->c0);
	sample(&r->c1);
}

static void
sample12(fe12_t *r)
{
	for (int k = 0; k < 6; k++)
		sample2(fe12_coefficient(r, k));
}

static bool
begin(void)
{
	big_begin();
	if (!core_supported())
		printf("    not on this processor\n");
	return core_supported();
}

/* Fp2 inside Fp12, where it is a subfield. */
static void
test_fe2(void)
{
	struct big12 x, y, t;
	fe12_t r;
	fe2_t a, b, s;

	if (!begin())
		return;
	big_init(&x);
	big_init(&y);
	big_init(&t);
	for (int i = 0; i < 10 * ROUNDS; i++) {
		memset(&r, 0, sizeof(r));
		sample2(&a);
		sample2(&b);
		r.c0.c0 = a;
		big_from_fe12(&x, &r);
		r.c0.c0 = b;
		big_from_fe12(&y, &r);
		big_mul(&t, &x, &y);
		fe2_mul(&r.c0.c0, &a, &b);
		check12("a * b", &r, &t);
		r.c0.c0 = b;
		fe2_mul(&r.c0.c0, &a, &r.c0.c0);
		check12("b = a * b", &r, &t);
		/* 2a, not reduced, as a factor. */
		fe2_sum(&s, &a, &a);
		fe2_mul(&r.c0.c0, &s, &b);
		for (int k = 0; k < 12; k++) {
			mpz_mul_ui(t.c[k], t.c[k], 2);
			mpz_mod(t.c[k], t.c[k], prime);
		}
		check12("(a + a) * b", &r, &t);
		big_mul(&t, &x, &x);
		fe2_sqr(&r.c0.c0, &a);
		check12("a^2", &r, &t);
		for (int k = 0; k < 12; k++)
			mpz_set_ui(y.c[k], k == 6); /* xi = w^6 */
		big_mul(&t, &x, &y);
		fe2_mul_xi(&r.c0.c0, &a);
		check12("xi a", &r, &t);
		fe2_inv(&s, &a);
		fe2_mul(&s, &s, &a);
		CHECK(fp2_eq(&s, &fp2_one) ||
		    (mpz_sgn(x.c[0]) == 0 && mpz_sgn(x.c[6]) == 0));
	}
	big_clear(&x);
	big_clear(&y);
	big_clear(&t);
}

static void
test_fe12(void)
{
	struct big12 x, y, t;
	fe12_t a, b, r, one;

	if (!begin())
		return;
	big_init(&x);
	big_init(&y);
	big_init(&t);
	fe12_set_one(&one);
	for (int i = 0; i < ROUNDS; i++) {
		sample12(&a);
		sample12(&b);
		big_from_fe12(&x, &a);
		big_from_fe12(&y, &b);
		big_mul(&t, &x, &y);
		fe12_mul(&r, &a, &b);
		check12("a * b", &r, &t);
		r = a;
		fe12_mul(&r, &r, &b);
		check12("a *= b", &r, &t);
		r = b;
		fe12_mul(&r, &a, &r);
		check12("b = a * b", &r, &t);
		big_mul(&t, &x, &x);
		fe12_sqr(&r, &a);
		check12("a^2", &r, &t);
		r = a;
		fe12_sqr(&r, &r);
		check12("a *= a", &r, &t);
		fe12_inv(&r, &a);
		big_from_fe12(&y, &r);
		big_mul(&t, &x, &y);
		check12("a / a", &one, &t);
		/* a^(p^6) is the conjugate; its square root is tested below. */
		fe12_conj(&r, &a);
		fe12_conj(&r, &r);
		check12("a, twice conjugate", &r, &x);
	}
	big_clear(&x);
	big_clear(&y);
	big_clear(&t);
}

/* Products with lines, whose other coefficients are 0. */
static void
test_lines(void)
{
	struct big12 x, y, t;
	fe2_t l[3];
	fe12_t a, r;

	if (!begin())
		return;
	big_init(&x);
	big_init(&y);
	big_init(&t);
	for (int i = 0; i < ROUNDS; i++) {
		sample12(&a);
		for (int k = 0; k < 3; k++)
			sample2(&l[k]);
		big_from_fe12(&x, &a);
		memset(&r, 0, sizeof(r));
		r.c0.c0 = l[0];
		r.c1.c0 = l[1];
		r.c1.c1 = l[2];
		big_from_fe12(&y, &r);
		big_mul(&t, &x, &y);
		r = a;
		fe12_mul_by_034(&r, &l[0], &l[1], &l[2]);
		check12("a (l0 + l1 w + l3 w^3)", &r, &t);
		fe12_set_one(&r);
		r.c1.c0 = l[1];
		r.c1.c1 = l[2];
		big_from_fe12(&y, &r);
		big_mul(&t, &x, &y);
		r = a;
		fe12_mul_by_34(&r, &l[1], &l[2]);
		check12("a (1 + l1 w + l3 w^3)", &r, &t);
	}
	big_clear(&x);
	big_clear(&y);
	big_clear(&t);
}

/* Powers of p, and squares where a^(p^4 - p^2 + 1) = 1. */
static void
test_cyclotomic(void)
{
	struct big12 x, y, t;
	fe12_t a, b, r;

	if (!begin())
		return;
	big_init(&x);
	big_init(&y);
	big_init(&t);
	for (int i = 0; i < ROUNDS / 20; i++) {
		sample12(&a);
		big_from_fe12(&x, &a);
		for (int n = 1; n <= 6; n++) {
			big_frobenius(&x, &x);
			if (n <= 3) {
				fe12_frobenius(&r, &a, n);
				check12("a^(p^n)", &r, &x);
			}
		}
		fe12_conj(&r, &a);
		check12("a^(p^6)", &r, &x);
		/* Into the subgroup: ^(p^6 - 1)(p^2 + 1). */
		fe12_inv(&b, &a);
		fe12_mul(&a, &r, &b);
		fe12_frobenius(&r, &a, 2);
		fe12_mul(&a, &a, &r);
		for (int n = 0; n < 8; n++) {
			big_from_fe12(&x, &a);
			big_mul(&t, &x, &x);
			fe12_cyclotomic_sqr(&r, &a);
			check12("a^2 in the subgroup", &r, &t);
			fe12_cyclotomic_sqr(&a, &a);
			check12("a *= a in the subgroup", &a, &t);
		}
	}
	big_clear(&x);
	big_clear(&y);
	big_clear(&t);
}

/* a^u by the signed digits against square and multiply. */
static void
test_pow_u(void)
{
	const uint64_t u = UINT64_C(4965661367192848881);
	fe12_t a, b, r, want;

	if (!begin())
		return;
	for (int i = 0; i < 10; i++) {
		sample12(&a);
		fe12_inv(&b, &a);
		fe12_conj(&a, &a);
		fe12_mul(&a, &a, &b);
		fe12_frobenius(&b, &a, 2);
		fe12_mul(&a, &a, &b);
		fe12_set_one(&want);
		for (int bit = 63; bit >= 0; bit--) {
			fe12_sqr(&want, &want);
			if (u >> bit & 1)
				fe12_mul(&want, &want, &a);
		}
		fe12_pow_u(&r, &a);
		CHECK(memcmp(&r, &want, sizeof(r)) == 0);
	}
}

/* r = a^e by squaring and multiplying. */
static void
power128(fe12_t *r, const fe12_t *a, const uint64_t e[static 2])
{
	fe12_set_one(r);
	for (int bit = 127; bit >= 0; bit--) {
		fe12_sqr(r, r);
		if (e[bit / 64] >> bit % 64 & 1)
			fe12_mul(r, r, a);
	}
}

/* Powers in GT, lambda = p^4. */
static void
test_power(void)
{
	fe12_t a, b, want, r;
	struct weight_sum e;

	if (!begin())
		return;
	sample12(&a);
	final_exponentiation(&a, &a);
	fe12_frobenius(&b, &a, 1);
	fe12_frobenius(&b, &b, 3);
	for (int i = 0; i < 12; i++) {
		for (int j = 0; j < 4; j++) {
			e.half[j / 2][j % 2] =
			    test_random() >> test_random() % 64;
			if (i % 8 == j)
				e.half[j / 2][j % 2] = 0;
		}
		power128(&r, &a, e.half[0]);
		power128(&want, &b, e.half[1]);
		fe12_mul(&want, &want, &r);
		fe12_power(&r, &a, &e);
		CHECK(memcmp(&r, &want, sizeof(r)) == 0);
	}
	memset(&e, 0, sizeof(e));
	fe12_set_one(&want);
	fe12_power(&r, &a, &e);
	CHECK(memcmp(&r, &want, sizeof(r)) == 0);
}

/* The definition: a^((p^12 - 1) / r * 2u (6u^2 + 3u + 1)), by squaring and
 * multiplying from the top. */
static void
test_final(void)
{
	mpz_t e, r, u, t;
	struct big12 x, y;
	fe12_t a;

	if (!begin())
		return;
	mpz_inits(e, t, NULL);
	mpz_init_set_str(u, "4965661367192848881", 10);
	mpz_init_set_str(r,
	    "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001",
	    16);
	mpz_pow_ui(e, prime, 12);
	mpz_sub_ui(e, e, 1);
	CHECK(mpz_divisible_p(e, r));
	mpz_divexact(e, e, r);
	mpz_mul_ui(t, u, 6);
	mpz_add_ui(t, t, 3);
	mpz_mul(t, t, u);
	mpz_add_ui(t, t, 1);
	mpz_mul(e, e, t);
	mpz_mul(e, e, u);
	mpz_mul_ui(e, e, 2);
	big_init(&x);
	big_init(&y);
	for (int i = 0; i < 2; i++) {
		sample12(&a);
		big_from_fe12(&x, &a);
		for (int k = 0; k < 12; k++)
			mpz_set_ui(y.c[k], k == 0);
		for (size_t bit = mpz_sizeinbase(e, 2); bit-- > 0;) {
			big_mul(&y, &y, &y);
			if (mpz_tstbit(e, bit))
				big_mul(&y, &y, &x);
		}
		final_exponentiation(&a, &a);
		check12("a^((p^12 - 1) c / r)", &a, &y);
	}
	big_clear(&x);
	big_clear(&y);
	mpz_clears(e, r, u, t, NULL);
}

TESTS({"Fp2 equals GMP's", test_fe2}, {"Fp12 equals GMP's", test_fe12},
    {"products with lines", test_lines},
    {"powers of p, squares in the cyclotomic subgroup", test_cyclotomic},
    {"powers of u", test_pow_u}, {"powers of sums of weights", test_power},
    {"the final exponentiation is the power it says", test_final})
