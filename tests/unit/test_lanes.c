/* Eight lanes of AVX-512 IFMA, lane by lane: the field against GMP on the limbs
 * themselves, at the ends of the bounds that fe_lanes_impl.h states; the tower
 * against GMP; the steps on the curves against the group law of one point at a
 * time. Each lane has another value. */
#include <gmp.h>

#include "bn254/g1.h"
#include "bn254/g2.h"
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

#include "bn254/fe_lanes_impl.h"

#include "bn254/fe2_steps_lanes_impl.h"

#include "bn254/cyclotomic_impl.h"
#include "bn254/pairing_impl.h"
#include "bn254/point_impl.h"
#include "bn254/root_impl.h"

#include "lanes_oracle.h"

#define ROUNDS 300

/* Lane L of GOT is WANT modulo p, and not above its bound. */
static void
check_lane(
    const char *what, const fe_t *got, int l, const mpz_t want, unsigned most)
{
	mpz_t v, top;

	mpz_inits(v, top, NULL);
	lane_get(v, got, l);
	bound(top, most);
	if (mpz_cmp(v, top) > 0)
		test_fail(
		    __FILE__, __LINE__, "%s is too large in lane %d", what, l);
	if (!mpz_congruent_p(v, want, prime))
		test_fail(
		    __FILE__, __LINE__, "%s is wrong in lane %d", what, l);
	mpz_clears(v, top, NULL);
}

/* --- sums ------------------------------------------------------------------ */

/* r = x a + y b + z c */
struct linear {
	const char *name;
	void (*run)(fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c);
	int x, y, z;
	unsigned most;
};

#define LINEAR3(NAME)                                             \
	static void run_##NAME(                                   \
	    fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c) \
	{                                                         \
		fe_##NAME(r, a, b, c);                            \
	}
#define LINEAR2(NAME)                                             \
	static void run_##NAME(                                   \
	    fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c) \
	{                                                         \
		(void)c;                                          \
		fe_##NAME(r, a, b);                               \
	}
#define LINEAR1(NAME)                                             \
	static void run_##NAME(                                   \
	    fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c) \
	{                                                         \
		(void)b;                                          \
		(void)c;                                          \
		fe_##NAME(r, a);                                  \
	}

LINEAR2(add)
LINEAR2(sub)
LINEAR1(neg)
LINEAR2(sum)
LINEAR1(triple)
LINEAR1(quadruple)
LINEAR3(sub_two)
LINEAR2(sub_twice)
LINEAR2(sub_eight)
LINEAR3(add_sub)
LINEAR2(three_sub)
LINEAR2(add_three)
LINEAR2(nine_add)
LINEAR2(nine_sub)

static const struct linear linears[] = {
    {"a + b", run_add, 1, 1, 0, TIGHT},
    {"a - b", run_sub, 1, -1, 0, TIGHT},
    {"-a", run_neg, -1, 0, 0, TIGHT},
    {"a + b, not reduced", run_sum, 1, 1, 0, 2 * TIGHT},
    {"3a", run_triple, 3, 0, 0, TIGHT},
    {"4a", run_quadruple, 4, 0, 0, TIGHT},
    {"a - b - c", run_sub_two, 1, -1, -1, TIGHT},
    {"a - 2b", run_sub_twice, 1, -2, 0, TIGHT},
    {"a - 8b", run_sub_eight, 1, -8, 0, TIGHT},
    {"a + b - c", run_add_sub, 1, 1, -1, TIGHT},
    {"3a - b", run_three_sub, 3, -1, 0, TIGHT},
    {"a + 3b", run_add_three, 1, 3, 0, TIGHT},
    {"9a + b", run_nine_add, 9, 1, 0, TIGHT},
    {"9a - b", run_nine_sub, 9, -1, 0, TIGHT},
};

static void
add_times(mpz_t sum, const fe_t *a, int l, int times)
{
	mpz_t v;

	mpz_init(v);
	lane_get(v, a, l);
	mpz_mul_si(v, v, times);
	mpz_add(sum, sum, v);
	mpz_clear(v);
}

static void
test_sums(void)
{
	fe_t a, b, c, r;
	mpz_t want;

	begin();
	mpz_init(want);
	for (int round = 0; round < 4 * ROUNDS; round++) {
		sample(&a, TIGHT);
		sample(&b, TIGHT);
		sample(&c, TIGHT);
		for (size_t i = 0; i < sizeof(linears) / sizeof(*linears);
		     i++) {
			const struct linear *s = &linears[i];

			s->run(&r, &a, &b, &c);
			for (int l = 0; l < LANES; l++) {
				mpz_set_ui(want, 0);
				add_times(want, &a, l, s->x);
				add_times(want, &b, l, s->y);
				add_times(want, &c, l, s->z);
				check_lane(s->name, &r, l, want, s->most);
			}
		}
	}
	mpz_clear(want);
}

/* --- products -------------------------------------------------------------- */

/* want = TIMES a b / 2^260 */
static void
product(mpz_t want, const fe_t *a, const fe_t *b, int l, int times)
{
	mpz_t x, inverse;

	mpz_inits(x, inverse, NULL);
	lane_get(want, a, l);
	lane_get(x, b, l);
	mpz_mul(want, want, x);
	mpz_mul_si(want, want, times);
	mpz_invert(inverse, rr, prime);
	mpz_mul(want, want, inverse);
	mpz_mod(want, want, prime);
	mpz_clears(x, inverse, NULL);
}

/* The factors' bounds multiply to 64 p^2 at most; sums of products are within
 * 44 units^2 of 0. */
static void
test_products(void)
{
	static const unsigned bounds[][2] = {{TIGHT, TIGHT},
	    {2 * TIGHT, 2 * TIGHT}, {8000, 8000}, {16000, 4000}};
	static const int counts[] = {1, -1, 2, 13, -13, 44, -44};
	fe_t a, b, r;
	few_t w, sum;
	mpz_t want;

	begin();
	mpz_init(want);
	for (int round = 0; round < 4 * ROUNDS; round++) {
		const unsigned *most = bounds[round % 4];
		int n = counts[round % 7];

		sample(&a, most[0]);
		sample(&b, most[1]);
		fe_mul(&r, &a, &b);
		for (int l = 0; l < LANES; l++) {
			product(want, &a, &b, l, 1);
			check_lane("a b", &r, l, want, TIGHT);
		}
		sample(&a, TIGHT);
		sample(&b, TIGHT);
		fe_sqr(&r, &a);
		for (int l = 0; l < LANES; l++) {
			product(want, &a, &a, l, 1);
			check_lane("a^2", &r, l, want, TIGHT);
		}
		few_mul(&w, &a, &b);
		memset(&sum, 0, sizeof(sum));
		for (int i = 0; i < (n < 0 ? -n : n); i++)
			(n < 0 ? few_sub : few_add)(&sum, &sum, &w);
		few_redc(&r, &sum);
		for (int l = 0; l < LANES; l++) {
			product(want, &a, &b, l, n);
			check_lane("a sum of products", &r, l, want, TIGHT);
		}
	}
	mpz_clear(want);
}

static void
test_inverses(void)
{
	fe_t a, r, t;
	mpz_t v;

	begin();
	mpz_init(v);
	for (int round = 0; round < ROUNDS; round++) {
		sample(&a, TIGHT);
		fe_inv(&r, &a);
		fe_mul(&t, &r, &a);
		for (int l = 0; l < LANES; l++) {
			lane_get(v, &a, l);
			if (mpz_divisible_p(v, prime))
				mpz_set_ui(v, 0);
			else
				mpz_set(v, rr);
			check_lane("a / a", &t, l, v, TIGHT);
		}
	}
	mpz_clear(v);
}

/* a^((p-3)/4) for any number of elements, and what that is good for: it makes
 * a square's root. */
static void
test_roots(void)
{
	fp_t in[40], out[40];
	mpz_t a, e, want;
	uint8_t bytes[32];

	begin();
	mpz_inits(a, e, want, NULL);
	mpz_sub_ui(e, prime, 3);
	mpz_tdiv_q_2exp(e, e, 2);
	for (size_t n = 1; n <= 40; n++) {
		for (size_t i = 0; i < n; i++) {
			do {
				test_random_bytes(bytes, sizeof(bytes));
				bytes[0] &= 0x3f;
			} while (fp_from_bytes_strict(&in[i], bytes) != ST_OK);
			if (i % 5 == 4)
				in[i] = i % 2 ? fp_zero : fp_one;
		}
		kernel_inverse_roots(out, in, n);
		for (size_t i = 0; i < n; i++) {
			fp_to_bytes(bytes, &in[i]);
			mpz_import(a, 32, 1, 1, 1, 0, bytes);
			mpz_powm(want, a, e, prime);
			fp_to_bytes(bytes, &out[i]);
			mpz_import(a, 32, 1, 1, 1, 0, bytes);
			CHECK(mpz_cmp(a, want) == 0);
		}
	}
	mpz_clears(a, e, want, NULL);
}

/* --- in and out, choices ------------------------------------------------------ */

static void
sample_fp(fp_t *a)
{
	mpz_t v;
	uint8_t bytes[32] = {0};
	size_t n;

	mpz_init(v);
	value(v, 1000);
	mpz_mod(v, v, prime);
	n = (mpz_sizeinbase(v, 2) + 7) / 8;
	mpz_export(bytes + 32 - n, NULL, 1, 1, 1, 0, v);
	CHECK_STATUS(fp_from_bytes_strict(a, bytes), ST_OK);
	mpz_clear(v);
}

static void
test_in_and_out(void)
{
	fp_t in[LANES], out[LANES];
	const fp_t *at[LANES];
	fe_t a, b, table[8];
	uint8_t index[LANES];
	mpz_t want;
	uint8_t bytes[32];

	begin();
	mpz_init(want);
	for (int round = 0; round < ROUNDS; round++) {
		for (int l = 0; l < LANES; l++) {
			sample_fp(&in[l]);
			at[l] = &in[l];
		}
		fe_load(&a, at);
		for (int l = 0; l < LANES; l++) {
			fp_to_bytes(bytes, &in[l]);
			mpz_import(want, 32, 1, 1, 1, 0, bytes);
			mpz_mul(want, want, rr);
			check_lane("what was loaded", &a, l, want, TIGHT);
		}
		fe_store(out, &a);
		CHECK_MEM(out, in, sizeof(in));
		/* Any value of a class is stored the same. */
		sample(&a, TIGHT);
		fe_store(out, &a);
		for (int l = 0; l < LANES; l++)
			at[l] = &out[l];
		fe_load(&b, at);
		for (int l = 0; l < LANES; l++) {
			lane_get(want, &a, l);
			check_lane("what was stored", &b, l, want, TIGHT);
			index[l] = (uint8_t)(test_random() % 8);
		}
		for (int i = 0; i < 8; i++)
			sample(&table[i], TIGHT);
		fe_pick(&a, table, index);
		for (int l = 0; l < LANES; l++) {
			lane_get(want, &table[index[l]], l);
			check_lane("the one picked", &a, l, want, TIGHT);
			index[l] %= 2;
		}
		b = a;
		fe_negate_if(&b, index);
		for (int l = 0; l < LANES; l++) {
			lane_get(want, &a, l);
			if (index[l])
				mpz_neg(want, want);
			check_lane("negated or not", &b, l, want, TIGHT);
		}
	}
	mpz_clear(want);
}

/* --- the tower -------------------------------------------------------------- */

static void
sample2(fe2_t *a)
{
	sample(&a->c0, TIGHT);
	sample(&a->c1, TIGHT);
}

static void
sample12(fe12_t *a)
{
	for (int k = 0; k < 6; k++)
		sample2(fe12_coefficient(a, k));
}

/* Lane L, out of its Montgomery form. */
static void
big_from_lane(struct big12 *r, fe12_t *a, int l)
{
	mpz_t c[2];

	mpz_inits(c[0], c[1], NULL);
	for (int k = 0; k < 12; k++)
		mpz_set_ui(r->c[k], 0);
	for (int k = 0; k < 6; k++) {
		const fe2_t *x = fe12_coefficient(a, k);

		lane_pair(c, &x->c0, l, &x->c1, l);
		big_add_coefficient(r, c[0], c[1], k);
	}
	mpz_clears(c[0], c[1], NULL);
}

/* Every coefficient is tight and every lane the product of A's and B's. */
static void
check_product(const char *what, fe12_t *got, fe12_t *a, fe12_t *b)
{
	struct big12 x, y;

	big_init(&x);
	big_init(&y);
	for (int k = 0; k < 6; k++) {
		CHECK(fe_tight(&fe12_coefficient(got, k)->c0));
		CHECK(fe_tight(&fe12_coefficient(got, k)->c1));
	}
	for (int l = 0; l < LANES; l++) {
		big_from_lane(&x, a, l);
		big_from_lane(&y, b, l);
		big_mul(&x, &x, &y);
		big_from_lane(&y, got, l);
		for (int i = 0; i < 12; i++) {
			if (mpz_cmp(x.c[i], y.c[i]) != 0)
				test_fail(__FILE__, __LINE__,
				    "%s is wrong in lane %d", what, l);
		}
	}
	big_clear(&x);
	big_clear(&y);
}

static void
test_fe2(void)
{
	static fe12_t a, b, r, w6;
	fe2_t s;

	begin();
	for (int round = 0; round < ROUNDS; round++) {
		memset(&a, 0, sizeof(a));
		memset(&b, 0, sizeof(b));
		memset(&r, 0, sizeof(r));
		memset(&w6, 0, sizeof(w6));
		sample2(&a.c0.c0);
		sample2(&b.c0.c0);
		fe2_mul(&r.c0.c0, &a.c0.c0, &b.c0.c0);
		check_product("a b", &r, &a, &b);
		fe2_sqr(&r.c0.c0, &a.c0.c0);
		check_product("a^2", &r, &a, &a);
		fe2_sum(&s, &a.c0.c0, &a.c0.c0);
		fe2_mul(&r.c0.c0, &s, &b.c0.c0);
		fe2_dbl(&b.c0.c0, &b.c0.c0);
		check_product("(a + a) b", &r, &a, &b);
		fe2_mul_xi(&r.c0.c0, &a.c0.c0);
		fe2_set_one(&s);
		fe_add(&w6.c0.c0.c0, &s.c0, &s.c0); /* 9 + i */
		fe_quadruple(&w6.c0.c0.c0, &w6.c0.c0.c0);
		fe_add(&w6.c0.c0.c0, &w6.c0.c0.c0, &s.c0);
		w6.c0.c0.c1 = s.c0;
		check_product("xi a", &r, &a, &w6);
		fe2_set_zero(&b.c0.c0);
		sample(&b.c0.c0.c0, TIGHT);
		fe2_mul_fe(&r.c0.c0, &a.c0.c0, &b.c0.c0.c0);
		check_product("a, halves times b", &r, &a, &b);
	}
}

static void
test_tower(void)
{
	static fe12_t a, b, r, one;
	static fe2_t l[5];

	begin();
	fe12_set_one(&one);
	for (int round = 0; round < ROUNDS / 6; round++) {
		sample12(&a);
		sample12(&b);
		fe12_mul(&r, &a, &b);
		check_product("a b", &r, &a, &b);
		r = a;
		fe12_mul(&r, &r, &b);
		check_product("a *= b", &r, &a, &b);
		fe12_sqr(&r, &a);
		check_product("a^2", &r, &a, &a);
		fe12_inv(&r, &a);
		check_product("a / a", &one, &r, &a);
		for (int k = 0; k < 5; k++)
			sample2(&l[k]);
		memset(&b, 0, sizeof(b));
		for (int k = 0; k < 5; k++)
			*fe12_coefficient(&b, k) = l[k];
		r = a;
		fe12_mul_by_01234(&r, l);
		check_product("a times two lines", &r, &a, &b);
		memset(&b, 0, sizeof(b));
		b.c0.c0 = l[0];
		b.c1.c0 = l[1];
		b.c1.c1 = l[3];
		r = a;
		fe12_mul_by_034(&r, &l[0], &l[1], &l[3]);
		check_product("a times a line", &r, &a, &b);
		fe2_set_one(&b.c0.c0);
		r = a;
		fe12_mul_by_34(&r, &l[1], &l[3]);
		check_product("a times a stored line", &r, &a, &b);
	}
}

static void
test_frobenius(void)
{
	struct big12 x, y;
	static fe12_t a, r;

	begin();
	big_init(&x);
	big_init(&y);
	for (int round = 0; round < 2; round++) {
		sample12(&a);
		for (int n = 1; n <= 3; n++) {
			fe12_frobenius(&r, &a, n);
			for (int l = 0; l < LANES; l++) {
				big_from_lane(&x, &a, l);
				for (int i = 0; i < n; i++)
					big_frobenius(&x, &x);
				big_from_lane(&y, &r, l);
				for (int i = 0; i < 12; i++)
					CHECK(mpz_cmp(x.c[i], y.c[i]) == 0);
			}
		}
	}
	big_clear(&x);
	big_clear(&y);
}

static void
test_cyclotomic(void)
{
	static fe12_t a, b, r;

	begin();
	for (int round = 0; round < 4; round++) {
		/* Into the subgroup: ^(p^6 - 1)(p^2 + 1). */
		sample12(&a);
		fe12_inv(&b, &a);
		fe12_conj(&a, &a);
		fe12_mul(&a, &a, &b);
		fe12_frobenius(&b, &a, 2);
		fe12_mul(&a, &a, &b);
		for (int i = 0; i < 8; i++) {
			fe12_cyclotomic_sqr(&r, &a);
			check_product("a^2 in the subgroup", &r, &a, &a);
			a = r;
		}
	}
}

/* Two lines, one of them 1 in some lanes, as miller_use_lines multiplies them. */
static void
test_two_lines(void)
{
	static struct miller_pair m;
	static struct line k, l;
	static fe12_t a, b, r;

	begin();
	for (int round = 0; round < ROUNDS / 6; round++) {
		sample12(&a);
		sample(&m.px, TIGHT);
		sample(&m.py, TIGHT);
		m.idle = (fe_idle_t)test_random();
		sample2(&k.a);
		sample2(&k.b);
		sample2(&k.c);
		l = k;
		miller_line_at(&k, &m);
		m.idle = (fe_idle_t)test_random();
		miller_line_at(&l, &m);
		r = a;
		miller_use_two(&r, &k, &l);
		fe12_mul_by_034(&a, &k.a, &k.b, &k.c);
		memset(&b, 0, sizeof(b));
		b.c0.c0 = l.a;
		b.c1.c0 = l.b;
		b.c1.c1 = l.c;
		check_product("a times both", &r, &a, &b);
	}
}

/* --- points ------------------------------------------------------------------ */

/* Random points, their coordinates in lanes. */
static void
sample_points(g1_t p[static LANES], fe_t *x, fe_t *y)
{
	const fp_t *in_x[LANES], *in_y[LANES];
	g1j_t j, g;

	g1j_from_affine(&g, &g1_generator);
	for (int l = 0; l < LANES; l++) {
		uint64_t k[4] = {test_random(), test_random(), 0, 0};

		g1j_mul_var(&j, &g, k);
		g1j_to_affine(&p[l], &j);
		in_x[l] = &p[l].x;
		in_y[l] = &p[l].y;
	}
	fe_load(x, in_x);
	fe_load(y, in_y);
}

static void
check_points(const struct point *got, const g1j_t want[static LANES])
{
	fp_t x[LANES], y[LANES], z[LANES];

	CHECK(fe_tight(&got->x) && fe_tight(&got->y) && fe_tight(&got->z));
	fe_store(x, &got->x);
	fe_store(y, &got->y);
	fe_store(z, &got->z);
	for (int l = 0; l < LANES; l++) {
		g1j_t t = {x[l], y[l], z[l]};

		CHECK(g1j_eq(&t, &want[l]));
	}
}

static void
test_points(void)
{
	g1_t p[LANES], q[LANES];
	g1j_t want[LANES];
	struct point r;
	fe_t x, y, h;

	begin();
	for (int round = 0; round < ROUNDS / 6; round++) {
		sample_points(p, &r.x, &r.y);
		fe_set_one(&r.z);
		for (int l = 0; l < LANES; l++)
			g1j_from_affine(&want[l], &p[l]);
		for (int i = 0; i < 4; i++) {
			point_double(&r, &r);
			for (int l = 0; l < LANES; l++)
				g1j_dbl(&want[l], &want[l]);
			check_points(&r, want);
			sample_points(q, &x, &y);
			point_add_affine(&r, &h, &r, &x, &y);
			for (int l = 0; l < LANES; l++)
				g1j_madd_var(&want[l], &want[l], &q[l]);
			check_points(&r, want);
		}
		/* The special case that its users look for. */
		fe_load(&x,
		    (const fp_t *[LANES]){&p[0].x, &p[1].x, &p[2].x, &p[3].x,
			&p[4].x, &p[5].x, &p[6].x, &p[7].x});
		r.x = x;
		fe_set_one(&r.z);
		point_add_affine(&r, &h, &r, &x, &r.y);
		for (int l = 0; l < LANES; l++) {
			mpz_t zero;

			mpz_init(zero);
			check_lane(
			    "Z of an addition of equals", &r.z, l, zero, TIGHT);
			mpz_clear(zero);
		}
	}
}

/* A line is 0 at (x, y) of the twist: a y + b x + c = 0. */
static bool
meets(const fp2_t l[static 3], const twist_t *p)
{
	fp2_t s, t;

	fp2_mul(&s, &l[0], &p->y);
	fp2_mul(&t, &l[1], &p->x);
	fp2_add(&s, &s, &t);
	fp2_add(&s, &s, &l[2]);
	return fp2_is_zero(&s);
}

static void
fe2_lane(fp2_t *r, const fe2_t *a, int l)
{
	fp_t t[LANES];

	fe_store(t, &a->c0);
	r->c0 = t[l];
	fe_store(t, &a->c1);
	r->c1 = t[l];
}

/* T of each lane is WANT, and the line goes through A, B and -WANT. */
static void
check_step(const struct miller_pair *m, const struct line *line,
    const twist_t *a, const twist_t *b, const twistj_t *want, int l)
{
	fp2_t x, y, z, c[3];
	twist_t t, minus;

	fe2_lane(&x, &m->x, l);
	fe2_lane(&y, &m->y, l);
	fe2_lane(&z, &m->z, l);
	CHECK(!fp2_is_zero(&z));
	fp2_inv(&z, &z);
	fp2_mul(&x, &x, &z);
	fp2_mul(&y, &y, &z);
	twistj_to_affine(&t, want);
	CHECK(fp2_eq(&x, &t.x) && fp2_eq(&y, &t.y));
	fe2_lane(&c[0], &line->a, l);
	fe2_lane(&c[1], &line->b, l);
	fe2_lane(&c[2], &line->c, l);
	CHECK(!fp2_is_zero(&c[0]));
	twist_neg(&minus, &t);
	CHECK(meets(c, a) && meets(c, b) && meets(c, &minus));
}

/* A random point of G2 in each lane of a pair's Q. */
static void
sample_pair(struct miller_pair *m, twist_t q[static LANES])
{
	const fp_t *in[4][LANES];
	twistj_t g, j;

	twistj_from_affine(&g, &g2_generator.point);
	for (int l = 0; l < LANES; l++) {
		uint64_t k[4] = {test_random(), test_random(), 0, 0};

		twistj_mul_var(&j, &g, k);
		twistj_to_affine(&q[l], &j);
		in[0][l] = &q[l].x.c0;
		in[1][l] = &q[l].x.c1;
		in[2][l] = &q[l].y.c0;
		in[3][l] = &q[l].y.c1;
	}
	fe_load(&m->qx.c0, in[0]);
	fe_load(&m->qx.c1, in[1]);
	fe_load(&m->qy.c0, in[2]);
	fe_load(&m->qy.c1, in[3]);
	m->idle = 0;
	miller_pair_start(m);
}

static void
test_miller_steps(void)
{
	static struct miller_pair m;
	twist_t q[LANES], t[LANES];
	twistj_t want[LANES];
	struct line line;

	begin();
	for (int round = 0; round < ROUNDS / 20; round++) {
		sample_pair(&m, q);
		for (int l = 0; l < LANES; l++)
			twistj_from_affine(&want[l], &q[l]);
		for (int i = 0; i < 4; i++) {
			bool add = i % 2 == 1;

			miller_line(
			    &m, &line, add ? MILLER_SUBTRACT : MILLER_DOUBLE);
			for (int l = 0; l < LANES; l++) {
				twist_t other;

				twistj_to_affine(&t[l], &want[l]);
				twist_neg(&other, &q[l]);
				if (add) {
					twistj_madd_var(
					    &want[l], &want[l], &other);
				} else {
					other = t[l];
					twistj_dbl(&want[l], &want[l]);
				}
				check_step(
				    &m, &line, &t[l], &other, &want[l], l);
			}
		}
	}
}

/* The loop over three pairs is the product of three loops. */
static void
test_miller_loop(void)
{
	static struct miller_pair m[3], one;
	static fe12_t all, f, product, r;
	twist_t q[LANES];
	g1_t p[LANES];

	begin();
	for (size_t i = 0; i < 3; i++) {
		sample_points(p, &m[i].px, &m[i].py);
		sample_pair(&m[i], q);
	}
	m[1].idle = 0x81;
	fe12_set_one(&product);
	for (size_t i = 0; i < 3; i++) {
		one = m[i];
		miller_loop(&f, &one, 1, NULL, 0);
		if (i < 2)
			fe12_mul(&product, &product, &f);
	}
	miller_loop(&all, m, 3, NULL, 0);
	check_product("the loop over three pairs", &all, &product, &f);
	fe12_set_one(&r);
	one.idle = 0xff;
	miller_pair_start(&one);
	miller_loop(&f, &one, 1, NULL, 0);
	check_product("a loop without work", &f, &r, &r);
}

TESTS({"sums equal GMP's, within their bounds", test_sums},
    {"products equal GMP's, within their bounds", test_products},
    {"inverses, and that of 0", test_inverses},
    {"inverse roots equal GMP's powers", test_roots},
    {"in and out, choices and signs", test_in_and_out},
    {"Fp2 equals GMP's", test_fe2}, {"Fp12 equals GMP's", test_tower},
    {"powers of p equal GMP's", test_frobenius},
    {"squares in the cyclotomic subgroup", test_cyclotomic},
    {"two lines at a time", test_two_lines},
    {"points of G1 equal those of one at a time", test_points},
    {"steps of the Miller loop: points, and lines through them",
	test_miller_steps},
    {"the Miller loop over some pairs", test_miller_loop})

#ifdef __clang__
#pragma clang attribute pop
#endif
