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
 * in Aranha et al., EUROCRYPT 2011, eq. 11, times 4):
 *   X3 = 2XY (B - 3E), Y3 = (B + 3E)^2 - 12 E^2, Z3 = 4 B H
 * with B = Y^2, E = 3b' Z^2, H = 2YZ; the line is -H, 3X^2, E - B. */
static NOINLINE void
miller_double(struct miller_pair *t, struct line *l)
{
	fe2_t b, c, e, f, g, h, s;

	fe2_set(&s, &TOWER(twist_b3));
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

static NOINLINE void
miller_use_line(fe12_t *f, const struct miller_pair *m, struct line *l)
{
	fe2_mul_fe(&l->a, &l->a, &m->py);
	fe2_mul_fe(&l->b, &l->b, &m->px);
	fe2_idle_one(&l->a, m->idle);
	fe2_idle_zero(&l->b, m->idle);
	fe2_idle_zero(&l->c, m->idle);
	fe12_mul_by_034(f, &l->a, &l->b, &l->c);
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

/* The lines of the two additions behind the loop, psi(Q) and -psi^2(Q); the
 * latter is (x frobenius_2[2], y), as frobenius_2[3] = -1. */
static NOINLINE void
miller_last_lines(struct miller_pair *m, struct line l[static 2])
{
	fe2_t x, y;
	fe_t s;

	twist_psi(&x, &y, &m->qx, &m->qy);
	miller_add(m, &l[0], &x, &y);
	fe_set(&s, &TOWER(frobenius_2)[2]);
	fe2_mul_fe(&x, &m->qx, &s);
	miller_add(m, &l[1], &x, &m->qy);
}

/* f = the product of the Miller functions of N pairs and of K fixed ones. */
static NOINLINE void
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

#endif
