/* bn254/quad_miller_impl.h: the Miller loop of one proof on AVX-512 IFMA: one
 * pair (P, Q) and any number with stored lines.
 *
 * Steps are those of pairing_impl.h with their products arranged in quads.
 * Lines are divided by yP, so that P comes in as x' = xP / yP and y' = 1 / yP.
 * Private to the folder.
 */
#ifndef BN254_QUAD_MILLER_IMPL_H
#define BN254_QUAD_MILLER_IMPL_H

#include "bn254/constants.h"
#include "bn254/ifma_single.h"
#include "bn254/pairing.h"
#include "bn254/quad12_impl.h"

/* Two stored points on their way; the second may have no lines. */
struct quad_fixed {
	const struct quad_line *line[2];
	uint64_t scale[5][4]; /* x', y' of the first, x', y' of the second */
};

/* A point that is added: (y, x, y, x) and (., ., x y', y y'). */
struct quad_point {
	fe2x4_t yx, scaled;
};

/* The pair: T = (X, Y, Z, .) in homogeneous coordinates. */
struct quad_pair {
	fe2x4_t t;
	struct quad_point q, neg_q;
	fe2x4_t tangent; /* (b3, a b3, ., 3x') */
	fe2x4_t px, py; /* (., ., ., x'), (., ., ., y') */
};

/* A line a + b w + c w^3, each coefficient in some slot of a quad. */
struct quad_chord {
	fe2x4_t l[3];
	int slot[3];
};

#define QUAD_PERMUTE(R, A, S0, S1, S2, S3) \
	quad_gather((R), (A), (A), QUAD_FROM(S0, S1, S2, S3))

/* r = 2p - a, or 4p - 2a: loose */
LANE_INLINE void
quad_minus(fe2x4_t *r, const fe2x4_t *a, int times)
{
	lane_t t;

	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		t.l[i] = _mm512_slli_epi64(
		    _mm512_sub_epi64(lane_word(2 * lane_modulus[i]), a->l[i]),
		    (unsigned)times - 1);
	lane_carry(r, &t);
}

/* The factors of the last four products of a doubling, out of B and YZ (slots
 * 0 and 3 of Q1) and E, aE and XY (slots 0, 1 and 2 of Q2):
 *   l = (XY, B + aE, YZ, E - B)           loose
 *   r = (2B - 6E, B + 6E - aE, 8B, .)     through 0 to 15 p */
LANE_INLINE void
quad_double_factors(
    fe2x4_t *l, fe2x4_t *r, const fe2x4_t *q1, const fe2x4_t *q2)
{
	const __m512i shift = _mm512_setr_epi64(1, 1, 0, 0, 3, 3, 0, 0);
	fe2x4_t b, e, ae;
	lane_t t, u;

	quad_gather(&t, q2, q1, QUAD_FROM(2, 4, 7, 0));
	QUAD_PERMUTE(&b, q1, 0, 0, 0, 0);
	QUAD_PERMUTE(&e, q2, 0, 0, 0, 0);
	QUAD_PERMUTE(&ae, q2, 1, 1, 1, 1);
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		const __m512i p = lane_word(lane_modulus[i]);
		__m512i two_p = _mm512_add_epi64(p, p);
		__m512i six_e = _mm512_slli_epi64(
		    _mm512_add_epi64(_mm512_add_epi64(e.l[i], e.l[i]), e.l[i]),
		    1);
		__m512i ten_p =
		    _mm512_add_epi64(_mm512_slli_epi64(two_p, 2), two_p);
		__m512i v = _mm512_sllv_epi64(b.l[i], shift);

		t.l[i] = _mm512_mask_add_epi64(
		    t.l[i], QUAD_SLOT(1), t.l[i], ae.l[i]);
		t.l[i] = _mm512_mask_sub_epi64(t.l[i], QUAD_SLOT(3),
		    _mm512_add_epi64(t.l[i], two_p), b.l[i]);
		v = _mm512_mask_sub_epi64(
		    v, QUAD_SLOT(0), _mm512_add_epi64(v, ten_p), six_e);
		u.l[i] = _mm512_mask_sub_epi64(v, QUAD_SLOT(1),
		    _mm512_add_epi64(_mm512_add_epi64(v, two_p), six_e),
		    ae.l[i]);
	}
	lane_carry(l, &t);
	fe_reduce_large(r, &u);
}

/* T = 2T and the tangent, twelve products in three quads:
 *   B = Y^2, C = Z^2, X^2, YZ
 *   E = b3 C, aE = (a b3) C, XY, b = 3x' X^2
 *   X3 = XY (2B - 6E), Y3 = (B + aE)(B + 6E - aE), Z3 = 8B YZ, c = (E - B) y'
 * and a = -2YZ. As (B + 3E)^2 - 12 E^2 = B^2 + 6BE - 3E^2, Y3 is a product for
 * a = 3 + sqrt 12, which is in Fp2. */
static NOINLINE void
quad_double(struct quad_pair *m, struct quad_chord *c)
{
	fe2x4_t f, g, q1, q2;

	QUAD_PERMUTE(&f, &m->t, 1, 2, 0, 1);
	QUAD_PERMUTE(&g, &m->t, 1, 2, 0, 2);
	quad_mul(&q1, &f, &g);
	quad_gather(&f, &q1, &m->t, QUAD_FROM(1, 1, 4, 2));
	g = m->tangent;
	quad_merge(&g, &m->t, QUAD_SLOT(2), QUAD_FROM(1, 1, 1, 1));
	quad_mul(&q2, &f, &g);
	quad_double_factors(&f, &g, &q1, &q2);
	lane_select(&g, &m->py, QUAD_SLOT(3));
	quad_mul(&m->t, &f, &g);
	quad_minus(&c->l[0], &q1, 2);
	c->l[1] = q2;
	c->l[2] = m->t;
	c->slot[0] = c->slot[1] = c->slot[2] = 3;
}

/* The factors (H, G - H, ., .) of an addition, H = E + F - 2G, of (E, F, G, .):
 * with 4p between 0 and 10 p. */
LANE_INLINE void
quad_add_factors(fe2x4_t *r, const fe2x4_t *q3)
{
	fe2x4_t e, f, g;
	lane_t u;

	QUAD_PERMUTE(&e, q3, 0, 0, 0, 0);
	QUAD_PERMUTE(&f, q3, 1, 1, 1, 1);
	QUAD_PERMUTE(&g, q3, 2, 2, 2, 2);
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		__m512i four_p = lane_word(4 * lane_modulus[i]);
		__m512i ef = _mm512_add_epi64(e.l[i], f.l[i]);
		__m512i two_g = _mm512_add_epi64(g.l[i], g.l[i]);
		__m512i h =
		    _mm512_sub_epi64(_mm512_add_epi64(ef, four_p), two_g);

		u.l[i] = _mm512_mask_sub_epi64(h, QUAD_SLOT(1),
		    _mm512_add_epi64(_mm512_add_epi64(two_g, g.l[i]), four_p),
		    ef);
	}
	fe_reduce_large(r, &u);
}

/* T = T + Q and the chord, fourteen products in four quads: theta = Y - yQ Z
 * and lambda = X - xQ Z, then
 *   C = theta^2, D = lambda^2, theta xQ y', lambda yQ y'
 *   E = lambda D, F = Z C, G = X D, theta x'
 *   lambda H, theta (G - H), E Y, Z E                                     */
static NOINLINE void
quad_add(struct quad_pair *m, struct quad_chord *c, const struct quad_point *q)
{
	fe2x4_t f, g, v, q2, q3, q4;

	QUAD_PERMUTE(&f, &m->t, 2, 2, 2, 2);
	quad_mul(&g, &f, &q->yx);
	QUAD_PERMUTE(&f, &m->t, 1, 0, 1, 0);
	fe_sub(&v, &f, &g); /* theta, lambda, theta, lambda */
	g = q->scaled;
	lane_select(&g, &v, QUAD_SLOT(0) | QUAD_SLOT(1));
	quad_mul(&q2, &v, &g);
	quad_gather(&f, &v, &m->t, QUAD_FROM(1, 6, 4, 0));
	QUAD_PERMUTE(&g, &q2, 1, 0, 1, 1);
	lane_select(&g, &m->px, QUAD_SLOT(3));
	quad_mul(&q3, &f, &g);
	quad_add_factors(&g, &q3);
	quad_merge(&g, &m->t, QUAD_SLOT(2), QUAD_FROM(1, 1, 1, 1));
	quad_merge(&g, &q3, QUAD_SLOT(3), QUAD_FROM(0, 0, 0, 0));
	quad_gather(&f, &v, &q3, QUAD_FROM(1, 0, 4, 4));
	quad_merge(&f, &m->t, QUAD_SLOT(3), QUAD_FROM(2, 2, 2, 2));
	quad_mul(&q4, &f, &g);
	QUAD_PERMUTE(&f, &q4, 2, 2, 2, 2);
	fe_sub(&g, &q4, &f);
	quad_gather(&m->t, &q4, &g, QUAD_FROM(0, 5, 3, 3));

	c->l[0] = v;
	c->slot[0] = 1;
	quad_minus(&c->l[1], &q3, 1);
	c->slot[1] = 3;
	QUAD_PERMUTE(&f, &q2, 3, 3, 3, 3);
	fe_sub(&c->l[2], &q2, &f);
	c->slot[2] = 2;
}

static void
quad_use_chord(fe12_t *f, const struct quad_chord *c)
{
	fe12_mul_by_034(f, c->l, c->slot);
}

LANE_INLINE __m256i
quad_load4(const uint64_t in[static 4])
{
	return _mm256_loadu_si256((const void *)in);
}

/* Multiply by the next stored lines. */
static void
quad_use_fixed(fe12_t *f, struct quad_fixed *fixed, size_t n)
{
	const __m512i twice = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);

	for (size_t i = 0; i < n; i++) {
		struct quad_fixed *q = &fixed[i];
		bool two = q->line[1] != NULL;
		const struct quad_line *second = q->line[two];
		lane_t l, scale;

		for (int j = 0; j < 5; j++) {
			l.l[j] = _mm512_inserti64x4(
			    _mm512_castsi256_si512(
				quad_load4(q->line[0]->l[j])),
			    quad_load4(second->l[j]), 1);
			scale.l[j] = _mm512_permutexvar_epi64(twice,
			    _mm512_castsi256_si512(quad_load4(q->scale[j])));
		}
		fe_mul(&l, &l, &scale);
		fe12_mul_by_34(f, &l, 0);
		q->line[0]++;
		if (two) {
			fe12_mul_by_34(f, &l, 2);
			q->line[1]++;
		}
	}
}

/* f = the product of the Miller functions of M, if not NULL, and of N bundles
 * of fixed ones. LAST are psi(Q) and -psi^2(Q). */
static NOINLINE void
quad_miller_loop(fe12_t *f, struct quad_pair *m, const struct quad_point *last,
    struct quad_fixed *fixed, size_t n)
{
	struct quad_chord c;

	fe12_set_one(f);
	for (int i = ATE_DIGITS - 2; i >= 0; i--) {
		if (i != ATE_DIGITS - 2)
			fe12_sqr(f, f);
		if (m != NULL) {
			quad_double(m, &c);
			quad_use_chord(f, &c);
		}
		quad_use_fixed(f, fixed, n);
		if (ate_digits[i] == 0)
			continue;
		if (m != NULL) {
			quad_add(m, &c, ate_digits[i] > 0 ? &m->q : &m->neg_q);
			quad_use_chord(f, &c);
		}
		quad_use_fixed(f, fixed, n);
	}
	for (int i = 0; i < 2; i++) {
		if (m != NULL) {
			quad_add(m, &c, &last[i]);
			quad_use_chord(f, &c);
		}
		quad_use_fixed(f, fixed, n);
	}
}

#endif
