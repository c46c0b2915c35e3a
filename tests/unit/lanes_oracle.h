/* tests/unit/lanes_oracle.h: lanes of AVX-512 IFMA as GMP's numbers, limb by
 * limb, and values at the ends of the bounds that fe_lanes_impl.h states. The
 * including file is compiled for IFMA and has included fe_lanes_impl.h and
 * big12.h.
 */
#ifndef TESTS_LANES_ORACLE_H
#define TESTS_LANES_ORACLE_H

#include "base/cpu.h"
#include "harness.h"

static mpz_t rr; /* 2^260 modulo p */

static void
begin(void)
{
	if (!cpu_has_ifma())
		test_skip("no AVX-512 IFMA here");
	big_begin();
	mpz_init(rr);
	mpz_ui_pow_ui(rr, 2, 260);
	mpz_mod(rr, rr, prime);
}

/* --- lanes in and out, limb by limb ---------------------------------------- */

static void
lane_get(mpz_t v, const fe_t *a, int l)
{
	uint64_t limb[LANES];

	mpz_set_ui(v, 0);
	for (int i = 4; i >= 0; i--) {
		_mm512_storeu_si512(limb, a->l[i]);
		CHECK(limb[l] <= LANE_MASK);
		mpz_mul_2exp(v, v, LANE_BITS);
		mpz_add_ui(v, v, limb[l]);
	}
}

static void
lane_put(fe_t *a, const mpz_t v, int l)
{
	uint64_t limb[LANES];
	mpz_t t;

	mpz_init_set(t, v);
	for (int i = 0; i < 5; i++) {
		_mm512_storeu_si512(limb, a->l[i]);
		limb[l] = mpz_get_ui(t) & LANE_MASK;
		a->l[i] = _mm512_loadu_si512(limb);
		mpz_tdiv_q_2exp(t, t, LANE_BITS);
	}
	CHECK(mpz_sgn(t) == 0);
	mpz_clear(t);
}

/* PERMILLE thousandths of p. */
static void
bound(mpz_t b, unsigned permille)
{
	mpz_mul_ui(b, prime, permille);
	mpz_tdiv_q_ui(b, b, 1000);
}

#define TIGHT 1770

/* A value from 0 to PERMILLE / 1000 p: random, or at an end, or around a
 * multiple of p or a power of 2. */
static void
value(mpz_t v, unsigned permille)
{
	uint64_t random[5];
	mpz_t top;

	mpz_init(top);
	bound(top, permille);
	switch (test_random() % 8) {
	case 0:
		mpz_set_ui(v, test_random() % 3);
		break;
	case 1:
		mpz_sub_ui(v, top, test_random() % 3);
		break;
	case 2:
		mpz_mul_ui(v, prime, test_random() % (permille / 1000 + 1));
		mpz_add_ui(v, v, test_random() % 3);
		if (mpz_sgn(v) > 0 && test_random() % 2)
			mpz_sub_ui(v, v, 1);
		break;
	case 3:
		mpz_ui_pow_ui(v, 2, test_random() % 254);
		mpz_sub_ui(v, v, test_random() % 2);
		break;
	default:
		test_random_bytes(random, sizeof(random));
		mpz_import(v, 5, 1, 8, 0, 0, random);
		mpz_add_ui(top, top, 1);
		mpz_mod(v, v, top);
	}
	mpz_clear(top);
}

static void
sample(fe_t *a, unsigned permille)
{
	mpz_t v;

	mpz_init(v);
	lane_zero(a);
	for (int l = 0; l < LANES; l++) {
		value(v, permille);
		lane_put(a, v, l);
	}
	mpz_clear(v);
}

/* c = (c0, c1) out of lanes L and M of A and B, without the factor 2^260. */
static void
lane_pair(mpz_t c[static 2], const fe_t *a, int l, const fe_t *b, int m)
{
	mpz_t inverse;

	mpz_init(inverse);
	mpz_invert(inverse, rr, prime);
	lane_get(c[0], a, l);
	lane_get(c[1], b, m);
	for (int i = 0; i < 2; i++) {
		mpz_mul(c[i], c[i], inverse);
		mpz_mod(c[i], c[i], prime);
	}
	mpz_clear(inverse);
}

#endif
