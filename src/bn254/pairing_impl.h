/* bn254/pairing_impl.h: Miller loops over any kernel's tower.
 *
 * With the untwisting (x, y) -> (x w^2, y w^3) of D-type, the line through T
 * with slope s (on the twist), at P = (xP, yP) of G1, is
 *
 *	yP - s xP w + (s xT - yT) w^3
 *
 * up to factors in Fp2, which the final exponentiation takes to 1.
 *
 * Where the loop ends, membership.h can tell whether Q is in G2.
 *
 * Private to the folder.
 */
#ifndef BN254_PAIRING_IMPL_H
#define BN254_PAIRING_IMPL_H

#include "bn254/pairing.h"
#include "bn254/tower_impl.h"

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
	fe_idle_t idle;
};

/* ... and one with stored lines. */
struct miller_fixed {
	const struct stored_line *line;
	fe_t x_over_y, inv_y;
};

/* T = 2T and the tangent (Costello, Lange, Naehrig, PKC 2010, section 5, as
 * in Aranha et al., EUROCRYPT 2011, eq. 11, times -4):
 *   X3 = 2XY (3E - B), Y3 = 12 E^2 - (B + 3E)^2, Z3 = -4 B H
 * with B = Y^2, E = 3b' Z^2, H = 2YZ; the line is -H, 3X^2, E - B. */
static NOINLINE void
miller_double(struct miller_pair *t, struct line *l)
{
	fe2_t b, c, e, f, g, h, s;

	fe2_set(&s, &TOWER(twist_b3));
	fe2_sqr(&b, &t->y);
	fe2_sqr(&c, &t->z);
	fe2_mul(&e, &c, &s);
	fe2_add(&h, &t->y, &t->z); /* -H = B + C - (Y + Z)^2 */
	fe2_sqr(&h, &h);
	fe2_add_sub(&l->a, &b, &c, &h);
	fe2_sqr(&s, &t->x);
	fe2_triple(&l->b, &s);
	fe2_sub(&l->c, &e, &b);

	fe2_add_three(&g, &b, &e);
	fe2_three_sub(&f, &e, &b);
	fe2_mul(&s, &t->x, &t->y);
	fe2_sum(&s, &s, &s);
	fe2_mul(&t->x, &s, &f);
	fe2_dbl(&e, &e); /* 12 E^2 = 3 (2E)^2 */
	fe2_sqr(&e, &e);
	fe2_sqr(&g, &g);
	fe2_three_sub(&t->y, &e, &g);
	fe2_dbl(&b, &b);
	fe2_sum(&h, &l->a, &l->a);
	fe2_mul(&t->z, &h, &b);
}

/* T = T + Q and the chord, Q = (qx, qy): with theta = Y - qy Z and lambda =
 * X - qx Z the line is lambda, -theta, theta qx - lambda qy. */
static NOINLINE void
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
	fe2_sub_two(&h, &h, &g, &g);
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

/* (x, y) = psi(Q) */
static void
twist_psi(fe2_t *x, fe2_t *y, const fe2_t *qx, const fe2_t *qy)
{
	fe2_t g;

	fe2_conj(x, qx);
	fe2_set(&g, &TOWER(frobenius_1)[2]);
	fe2_mul(x, x, &g);
	fe2_conj(y, qy);
	fe2_set(&g, &TOWER(frobenius_1)[3]);
	fe2_mul(y, y, &g);
}

/* Set T = Q; the rest of the pair is there. */
static void
miller_pair_start(struct miller_pair *m)
{
	fe2_neg(&m->neg_qy, &m->qy);
	m->x = m->qx;
	m->y = m->qy;
	fe2_set_one(&m->z);
}

/* Put a line at the pair's P; it becomes 1 in idle lanes. */
static NOINLINE void
miller_line_at(struct line *l, const struct miller_pair *m)
{
	fe2_mul_fe(&l->a, &l->a, &m->py);
	fe2_mul_fe(&l->b, &l->b, &m->px);
	fe2_idle_one(&l->a, m->idle);
	fe2_idle_zero(&l->b, m->idle);
	fe2_idle_zero(&l->c, m->idle);
}

/* f *= k l, the product of the lines first: 23 products for twice 13, and half
 * as many of the sums around them. */
static NOINLINE __attribute__((unused)) void
miller_use_two(fe12_t *f, const struct line *k, const struct line *l)
{
	few2_t aa, bb, cc;
	fe2_t s[5];

	few2_mul(&aa, &k->a, &l->a);
	few2_mul(&bb, &k->b, &l->b);
	few2_mul(&cc, &k->c, &l->c);
	fe2_cross(&s[1], &k->a, &k->b, &l->a, &l->b, &aa, &bb);
	fe2_cross(&s[3], &k->a, &k->c, &l->a, &l->c, &aa, &cc);
	fe2_cross(&s[4], &k->b, &k->c, &l->b, &l->c, &bb, &cc);
	few2_redc(&s[2], &bb);
	few2_xi_add(&bb, &cc, &aa);
	few2_redc(&s[0], &bb);
	fe12_mul_by_01234(f, s);
}

static NOINLINE void
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

/* One step of the loop: a doubling, the addition of Q or of -Q, and behind it
 * those of psi(Q) and of -psi^2(Q), which is (x frobenius_2[2], y), as
 * frobenius_2[3] = -1. */
enum miller_step {
	MILLER_DOUBLE,
	MILLER_ADD,
	MILLER_SUBTRACT,
	MILLER_ADD_PSI,
	MILLER_SUBTRACT_PSI2,
};

static NOINLINE void
miller_line(struct miller_pair *m, struct line *l, enum miller_step step)
{
	fe2_t x, y;
	fe_t s;

	switch (step) {
	case MILLER_DOUBLE:
		miller_double(m, l);
		break;
	case MILLER_ADD:
		miller_add(m, l, &m->qx, &m->qy);
		break;
	case MILLER_SUBTRACT:
		miller_add(m, l, &m->qx, &m->neg_qy);
		break;
	case MILLER_ADD_PSI:
		twist_psi(&x, &y, &m->qx, &m->qy);
		miller_add(m, l, &x, &y);
		break;
	case MILLER_SUBTRACT_PSI2:
		fe_set(&s, &TOWER(frobenius_2)[2]);
		fe2_mul_fe(&x, &m->qx, &s);
		miller_add(m, l, &x, &m->qy);
		break;
	}
}

/* f *= the lines of N pairs at one step, and the next ones of K fixed ones. */
static NOINLINE void
miller_use_lines(fe12_t *f, struct miller_pair *m, size_t n,
    struct miller_fixed *fixed, size_t k, enum miller_step step)
{
	struct line l[2];
	size_t i = 0;

	for (; FE_LINES_TOGETHER == 2 && i + 1 < n; i += 2) {
		for (size_t j = 0; j < 2; j++) {
			miller_line(&m[i + j], &l[j], step);
			miller_line_at(&l[j], &m[i + j]);
		}
		miller_use_two(f, &l[0], &l[1]);
	}
	for (; i < n; i++) {
		miller_line(&m[i], l, step);
		miller_line_at(l, &m[i]);
		fe12_mul_by_034(f, &l->a, &l->b, &l->c);
	}
	miller_use_fixed(f, fixed, k);
}

/* f = the product of the Miller functions of N pairs and of K fixed ones. */
static NOINLINE void
miller_loop(fe12_t *f, struct miller_pair *m, size_t n,
    struct miller_fixed *fixed, size_t k)
{
	fe12_set_one(f);
	for (int i = ATE_DIGITS - 2; i >= 0; i--) {
		if (i != ATE_DIGITS - 2)
			fe12_sqr(f, f);
		miller_use_lines(f, m, n, fixed, k, MILLER_DOUBLE);
		if (ate_digits[i] != 0)
			miller_use_lines(f, m, n, fixed, k,
			    ate_digits[i] > 0 ? MILLER_ADD : MILLER_SUBTRACT);
	}
	miller_use_lines(f, m, n, fixed, k, MILLER_ADD_PSI);
	miller_use_lines(f, m, n, fixed, k, MILLER_SUBTRACT_PSI2);
}

#endif
