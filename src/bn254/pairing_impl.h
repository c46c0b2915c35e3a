/* bn254/pairing_impl.h: Miller loops and the final exponentiation over any
 * kernel's tower.
 *
 * With the untwisting (x, y) -> (x w^2, y w^3) of D-type, the line through T
 * with slope s (on the twist), at P = (xP, yP) of G1, is
 *
 *	yP - s xP w + (s xT - yT) w^3
 *
 * up to factors in Fp2, which the final exponentiation takes to 1.
 *
 * Membership of G2. The loop computes T = [6u+2]Q + psi(Q) - psi^2(Q), and Q
 * is in G2 exactly if T + psi^3(Q) = O:
 *   - On the twist psi satisfies psi^2 - t psi + p = 0. phi = 6u + 2 + psi -
 *     psi^2 + psi^3, reduced by it to a + b psi, has norm N = a^2 + a b t +
 *     b^2 p and conjugate phi' = a + b t - b psi, with phi' phi = N. So
 *     phi(Q) = O gives N Q = O. The order of the twist is r (2p - r), and
 *     gcd(N, r (2p - r)) = r (tests/vectors/bn254_constants.py computes it),
 *     so r Q = O. As r does not divide 2p - r, the points with r Q = O are
 *     those of G2.
 *   - On G2 psi acts as p, and 6u + 2 + p - p^2 + p^3 = 0 mod r: phi(Q) = O.
 * (Dai, Lin, Zhao, Zhou, "Fast subgroup membership testings for G1, G2 and GT
 * on pairing-friendly curves", ePrint 2022/348, has the general method.)
 *   - The formulas are right unless a step adds T to one of T, -T or O. Each
 *     of those ends with Z = 0: an addition with T = +-Q has lambda = 0, and
 *     Z3 = Z lambda^3; and once Z is 0 it stays 0, as Z3 is a multiple of Z in
 *     both formulas. Doublings have no exception, the order being odd. So at
 *     the end Z is 0 exactly if there was one, and that is a refusal. A Q of
 *     G2 meets none: the multiples of Q on the way, (k, 1) for 1 < k < 6u + 2,
 *     (6u + 2, p) and (6u + 2 + p, -p^2), are distinct modulo r up to sign.
 *
 * Private to the folder.
 */
#ifndef BN254_PAIRING_IMPL_H
#define BN254_PAIRING_IMPL_H

#include "bn254/pairing.h"

/* A line a + b w + c w^3, still to be put at P: a times yP, b times xP. */
struct line {
	fe2_t a, b, c;
};

/* A stored line 1 + b w + c w^3: b times xP / yP, c times 1 / yP. */
struct stored_line {
	fe2_t b, c;
};

/* A pair (P, Q) on its way through the loop: T in homogeneous coordinates
 * (X / Z, Y / Z). */
struct miller_pair {
	fe_t px, py;
	fe2_t qx, qy, neg_qy;
	fe2_t x, y, z;
};

/* ... and one with stored lines. */
struct miller_fixed {
	const struct stored_line *line;
	fe_t x_over_y, inv_y;
};

/* T = 2T and the tangent (Costello, Lange, Naehrig, PKC 2010, section 5, as
 * in Aranha et al., EUROCRYPT 2011, eq. 11, times 4):
 *   X3 = 2XY (B - 3E), Y3 = (B + 3E)^2 - 12 E^2, Z3 = 4 B H
 * with B = Y^2, E = 3b' Z^2, H = 2YZ; the line is -H, 3X^2, E - B. */
static void
miller_double(struct miller_pair *t, struct line *l)
{
	static const fp2_t b3 = {{{0x3baa927cb62e0d6a, 0xd71e7c52d1b664fd,
				     0x03873e63d95d4664, 0x0e75b5b1082ab8f4}},
	    {{0xaab7c6667596fe35, 0x31d21a78bb6a27ba, 0x85dd7297680401ff,
		0x03c52d6adf39a7e9}}};
	fe2_t b, c, e, f, g, h, s;

	fe2_from_fp2(&s, &b3);
	fe2_sqr(&b, &t->y);
	fe2_sqr(&c, &t->z);
	fe2_mul(&e, &c, &s);
	fe2_add(&h, &t->y, &t->z); /* H = (Y + Z)^2 - B - C */
	fe2_sqr(&h, &h);
	fe2_sub(&h, &h, &b);
	fe2_sub(&h, &h, &c);
	fe2_neg(&l->a, &h);
	fe2_sqr(&s, &t->x);
	fe2_dbl(&l->b, &s);
	fe2_add(&l->b, &l->b, &s);
	fe2_sub(&l->c, &e, &b);

	fe2_dbl(&f, &e);
	fe2_add(&f, &f, &e);
	fe2_add(&g, &b, &f);
	fe2_sub(&f, &b, &f);
	fe2_mul(&s, &t->x, &t->y);
	fe2_sum(&s, &s, &s);
	fe2_mul(&t->x, &s, &f);
	fe2_dbl(&e, &e); /* 12 E^2 = 3 (2E)^2 */
	fe2_sqr(&e, &e);
	fe2_dbl(&s, &e);
	fe2_add(&s, &s, &e);
	fe2_sqr(&g, &g);
	fe2_sub(&t->y, &g, &s);
	fe2_dbl(&b, &b);
	fe2_sum(&h, &h, &h);
	fe2_mul(&t->z, &h, &b);
}

/* T = T + Q and the chord, Q = (qx, qy): with theta = Y - qy Z and lambda =
 * X - qx Z the line is lambda, -theta, theta qx - lambda qy. */
static void
miller_add(
    struct miller_pair *t, struct line *l, const fe2_t *qx, const fe2_t *qy)
{
	fe2_t theta, lambda, c, d, e, f, g, h;

	fe2_mul(&theta, qy, &t->z);
	fe2_sub(&theta, &t->y, &theta);
	fe2_mul(&lambda, qx, &t->z);
	fe2_sub(&lambda, &t->x, &lambda);
	fe2_sqr(&c, &theta);
	fe2_sqr(&d, &lambda);
	fe2_mul(&e, &lambda, &d); /* E = lambda^3 */
	fe2_mul(&f, &t->z, &c); /* F = Z theta^2 */
	fe2_mul(&g, &t->x, &d); /* G = X lambda^2 */
	fe2_add(&h, &e, &f); /* H = E + F - 2G */
	fe2_sub(&h, &h, &g);
	fe2_sub(&h, &h, &g);
	fe2_mul(&t->x, &lambda, &h);
	fe2_sub(&g, &g, &h);
	fe2_mul(&g, &g, &theta);
	fe2_mul(&h, &e, &t->y);
	fe2_sub(&t->y, &g, &h);
	fe2_mul(&t->z, &t->z, &e);

	l->a = lambda;
	fe2_neg(&l->b, &theta);
	fe2_mul(&c, &theta, qx);
	fe2_mul(&d, &lambda, qy);
	fe2_sub(&l->c, &c, &d);
}

/* (x, y) = psi^n (Q), n = 1, 2 or 3. */
static void
twist_psi(fe2_t *x, fe2_t *y, const fe2_t *qx, const fe2_t *qy, int n)
{
	fe2_t g;
	fe_t s;

	*x = *qx;
	*y = *qy;
	if (n == 2) {
		fe_from_fp(&s, &frobenius_2[2]);
		fe2_mul_fe(x, x, &s);
		fe2_neg(y, y); /* frobenius_2[3] = -1 */
		return;
	}
	fe2_conj(x, x);
	fe2_conj(y, y);
	fe2_from_fp2(&g, n == 1 ? &frobenius_1[2] : &frobenius_3[2]);
	fe2_mul(x, x, &g);
	fe2_from_fp2(&g, n == 1 ? &frobenius_1[3] : &frobenius_3[3]);
	fe2_mul(y, y, &g);
}

static void
miller_pair_init(struct miller_pair *m, const g1_t *p, const twist_t *q)
{
	static const fp2_t one = {{{0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d,
				      0x666ea36f7879462c, 0x0e0a77c19a07df2f}},
	    {{0}}};

	fe_from_fp(&m->px, &p->x);
	fe_from_fp(&m->py, &p->y);
	fe2_from_fp2(&m->qx, &q->x);
	fe2_from_fp2(&m->qy, &q->y);
	fe2_neg(&m->neg_qy, &m->qy);
	m->x = m->qx;
	m->y = m->qy;
	fe2_from_fp2(&m->z, &one);
}

/* T, at the end of the loop, is -psi^3(Q); see the top. */
static bool
miller_pair_in_group(const struct miller_pair *m)
{
	fe2_t x, y;

	if (fe2_is_zero(&m->z))
		return false;
	twist_psi(&x, &y, &m->qx, &m->neg_qy, 3);
	fe2_mul(&x, &x, &m->z);
	fe2_mul(&y, &y, &m->z);
	return fe2_eq(&x, &m->x) && fe2_eq(&y, &m->y);
}

static void
miller_use_line(fe12_t *f, const struct miller_pair *m, struct line *l)
{
	fe2_mul_fe(&l->a, &l->a, &m->py);
	fe2_mul_fe(&l->b, &l->b, &m->px);
	fe12_mul_by_034(f, &l->a, &l->b, &l->c);
}

static void
miller_use_fixed(fe12_t *f, struct miller_fixed *fixed, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fe2_t b, c;

		fe2_mul_fe(&b, &fixed[i].line->b, &fixed[i].x_over_y);
		fe2_mul_fe(&c, &fixed[i].line->c, &fixed[i].inv_y);
		fe12_mul_by_34(f, &b, &c);
		fixed[i].line++;
	}
}

/* The lines of the two additions behind the loop, psi(Q) and -psi^2(Q). */
static void
miller_last_lines(struct miller_pair *m, struct line l[static 2])
{
	fe2_t x, y;

	twist_psi(&x, &y, &m->qx, &m->qy, 1);
	miller_add(m, &l[0], &x, &y);
	twist_psi(&x, &y, &m->qx, &m->neg_qy, 2);
	miller_add(m, &l[1], &x, &y);
}

/* f = the product of the Miller functions of N pairs and of K fixed ones. */
static void
miller_loop(fe12_t *f, struct miller_pair *m, size_t n,
    struct miller_fixed *fixed, size_t k)
{
	struct line l, last[2];

	fe12_set_one(f);
	for (int i = ATE_DIGITS - 2; i >= 0; i--) {
		if (i != ATE_DIGITS - 2)
			fe12_sqr(f, f);
		for (size_t j = 0; j < n; j++) {
			miller_double(&m[j], &l);
			miller_use_line(f, &m[j], &l);
		}
		miller_use_fixed(f, fixed, k);
		if (ate_digits[i] == 0)
			continue;
		for (size_t j = 0; j < n; j++) {
			miller_add(&m[j], &l, &m[j].qx,
			    ate_digits[i] > 0 ? &m[j].qy : &m[j].neg_qy);
			miller_use_line(f, &m[j], &l);
		}
		miller_use_fixed(f, fixed, k);
	}
	for (size_t j = 0; j < n; j++) {
		miller_last_lines(&m[j], last);
		miller_use_line(f, &m[j], &last[0]);
		miller_use_line(f, &m[j], &last[1]);
	}
	miller_use_fixed(f, fixed, k);
	miller_use_fixed(f, fixed, k);
}

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
