/* Four elements of Fp2 side by side on AVX-512 IFMA: Fp12 for one proof, against
 * GMP, with factors at the ends of their bounds. */
#include "bn254/pairing.h"
#include "big12.h"
#include "harness.h"

#ifdef __clang__
#pragma clang attribute push(                                        \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512ifma"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512ifma")
#endif

#include "bn254/quad12_impl.h"

#include "lanes_oracle.h"

#define ROUNDS 300

/* All slots, the fourth ones too, which hold nothing of meaning. */
static void
sample12(fe12_t *a)
{
	sample(&a->x, TIGHT);
	sample(&a->y, TIGHT);
}

static void
big_from_quads(struct big12 *r, const fe12_t *a)
{
	mpz_t c[2];

	mpz_inits(c[0], c[1], NULL);
	for (int k = 0; k < 12; k++)
		mpz_set_ui(r->c[k], 0);
	for (int k = 0; k < 6; k++) {
		const fe2x4_t *q = k < 3 ? &a->x : &a->y;
		int l = 2 * (k % 3);

		lane_pair(c, q, l, q, l + 1);
		big_add_coefficient(r, c[0], c[1], k);
	}
	mpz_clears(c[0], c[1], NULL);
}

static void
check12(const char *what, const fe12_t *got, const struct big12 *want)
{
	struct big12 t;

	CHECK(fe_tight(&got->x) && fe_tight(&got->y));
	big_init(&t);
	big_from_quads(&t, got);
	for (int i = 0; i < 12; i++) {
		if (mpz_cmp(t.c[i], want->c[i]) != 0)
			test_fail(__FILE__, __LINE__, "%s is wrong", what);
	}
	big_clear(&t);
}

static void
test_products(void)
{
	struct big12 x, y, t;
	fe12_t a, b, r;

	begin();
	big_init(&x);
	big_init(&y);
	big_init(&t);
	for (int i = 0; i < ROUNDS; i++) {
		sample12(&a);
		sample12(&b);
		big_from_quads(&x, &a);
		big_from_quads(&y, &b);
		big_mul(&t, &x, &y);
		fe12_mul(&r, &a, &b);
		check12("a b", &r, &t);
		r = a;
		fe12_mul(&r, &r, &b);
		check12("a *= b", &r, &t);
		r = b;
		fe12_mul(&r, &a, &r);
		check12("b = a b", &r, &t);
		big_mul(&t, &x, &x);
		fe12_sqr(&r, &a);
		check12("a^2", &r, &t);
		fe12_sqr(&a, &a);
		check12("a *= a", &a, &t);
	}
	big_clear(&x);
	big_clear(&y);
	big_clear(&t);
}

/* L = a + b w + c w^3, its coefficients in the slots that are said. */
static void
big_line(struct big12 *r, const fe2x4_t l[static 3], const int slot[static 3])
{
	static const int power[3] = {0, 1, 3};
	mpz_t c[2];

	mpz_inits(c[0], c[1], NULL);
	for (int k = 0; k < 12; k++)
		mpz_set_ui(r->c[k], 0);
	for (int i = 0; i < 3; i++) {
		lane_pair(c, &l[i], 2 * slot[i], &l[i], 2 * slot[i] + 1);
		big_add_coefficient(r, c[0], c[1], power[i]);
	}
	mpz_clears(c[0], c[1], NULL);
}

static void
test_lines(void)
{
	struct big12 x, y, t;
	fe2x4_t l[3], one;
	fe12_t a, r;

	begin();
	big_init(&x);
	big_init(&y);
	big_init(&t);
	fe12_set_one(&r);
	one = r.x;
	for (int i = 0; i < ROUNDS; i++) {
		int slot[3] = {i % 4, i / 4 % 4, i / 16 % 4};

		sample12(&a);
		for (int k = 0; k < 3; k++)
			sample(&l[k], TIGHT);
		big_from_quads(&x, &a);
		big_line(&y, l, slot);
		big_mul(&t, &x, &y);
		r = a;
		fe12_mul_by_034(&r, l, slot);
		check12("a times a line", &r, &t);
		slot[0] = 0;
		slot[1] = i % 2 * 2;
		slot[2] = slot[1] + 1;
		l[1] = l[0];
		l[2] = l[0];
		l[0] = one;
		big_line(&y, l, slot);
		big_mul(&t, &x, &y);
		r = a;
		fe12_mul_by_34(&r, &l[1], slot[1]);
		check12("a times a stored line", &r, &t);
	}
	big_clear(&x);
	big_clear(&y);
	big_clear(&t);
}

/* Put (c0, c1) w^k into A. */
static void
put_coefficient(fe12_t *a, const mpz_t c0, const mpz_t c1, int k)
{
	fe2x4_t *q = k < 3 ? &a->x : &a->y;
	mpz_t t;

	mpz_init(t);
	mpz_mul(t, c0, rr);
	mpz_mod(t, t, prime);
	lane_put(q, t, 2 * (k % 3));
	mpz_mul(t, c1, rr);
	mpz_mod(t, t, prime);
	lane_put(q, t, 2 * (k % 3) + 1);
	mpz_clear(t);
}

/* A = X, c1 being the coefficient of w^(k + 6) and c0 that of w^k plus 9 c1. */
static void
quads_from_big(fe12_t *a, const struct big12 *x)
{
	mpz_t c0;

	mpz_init(c0);
	sample12(a);
	for (int k = 0; k < 6; k++) {
		mpz_set(c0, x->c[k]);
		mpz_addmul_ui(c0, x->c[k + 6], 9);
		put_coefficient(a, c0, x->c[k + 6], k);
	}
	mpz_clear(c0);
}

/* Powers of p; and squares where a^(p^4 - p^2 + 1) = 1, for what GMP made by the
 * power (p^12 - 1) / (p^4 - p^2 + 1). */
static void
test_powers(void)
{
	struct big12 x, t;
	mpz_t d, e;
	fe12_t a, r;

	begin();
	big_init(&x);
	big_init(&t);
	mpz_inits(d, e, NULL);
	for (int i = 0; i < 3; i++) {
		sample12(&a);
		big_from_quads(&x, &a);
		for (int n = 1; n <= 6; n++) {
			big_frobenius(&x, &x);
			if (n <= 3) {
				fe12_frobenius(&r, &a, n);
				check12("a^(p^n)", &r, &x);
			}
		}
		fe12_conj(&r, &a);
		check12("a^(p^6)", &r, &x);
	}
	mpz_pow_ui(e, prime, 4); /* p^12 - 1 is divisible by p^4 - p^2 + 1 */
	mpz_mul(d, prime, prime);
	mpz_sub(d, e, d);
	mpz_add_ui(d, d, 1);
	mpz_pow_ui(e, prime, 12);
	mpz_sub_ui(e, e, 1);
	CHECK(mpz_divisible_p(e, d));
	mpz_divexact(e, e, d);
	sample12(&a);
	big_from_quads(&t, &a);
	mpz_set_ui(x.c[0], 1);
	for (int k = 1; k < 12; k++)
		mpz_set_ui(x.c[k], 0);
	for (size_t i = mpz_sizeinbase(e, 2); i-- > 0;) {
		big_mul(&x, &x, &x);
		if (mpz_tstbit(e, i))
			big_mul(&x, &x, &t);
	}
	quads_from_big(&a, &x);
	for (int i = 0; i < 20; i++) {
		big_mul(&x, &x, &x);
		fe12_cyclotomic_sqr(&r, &a);
		check12("a^2 in the subgroup", &r, &x);
		fe12_cyclotomic_sqr(&a, &a);
		check12("a *= a in the subgroup", &a, &x);
	}
	big_clear(&x);
	big_clear(&t);
	mpz_clears(d, e, NULL);
}

TESTS({"products in Fp12 equal GMP's", test_products},
    {"products with lines equal GMP's", test_lines},
    {"powers of p, squares in the cyclotomic subgroup", test_powers})

#ifdef __clang__
#pragma clang attribute pop
#endif
