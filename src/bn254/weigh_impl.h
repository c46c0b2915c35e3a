/* bn254/weigh_impl.h: points of G1 times random weights, over any kernel's
 * elements: LANES points side by side.
 *
 * The including file has defined LANES and, for lanes, fe_load, fe_store,
 * fe_pick and fe_negate_if. For a weight a + b lambda both halves are odd, so
 * each is written in sixteen odd digits of base 16 below a leading 1: every
 * step adds an odd multiple, and lanes go in step (Joye, Tunstall, AFRICACRYPT
 * 2009). lambda costs a product, of x with beta.
 *
 * The special cases of addition do not occur. The accumulator is always
 * (a' + b' lambda) P with a' or b' at least 16 and odd multiples of 16 or sums
 * of one and an odd digit, so never 0; what is added is d P or d lambda P. For
 * them to be equal up to sign (a' +- d) + b' lambda or a' + (b' +- d) lambda
 * would have to be 0 modulo r, with coefficients below 2^67 that are not both
 * 0. There are no such (tests/vectors/make-bn254 computes the shortest).
 *
 * Private to the folder.
 */
#ifndef BN254_WEIGH_IMPL_H
#define BN254_WEIGH_IMPL_H

#include "bn254/constants.h"
#include "bn254/pairing.h"
#include "bn254/point_impl.h"

#define WEIGH_TABLE 8

/* 1, 3, ... 15 times a point, and their x times beta, all over one Z. */
struct weigh_table {
	fe_t x[WEIGH_TABLE], y[WEIGH_TABLE], beta_x[WEIGH_TABLE];
	fe_t z;
};

/* With Z in the place of 1, Jacobian coordinates are affine ones of another
 * curve y^2 = x^3 + b Z^6, and no formula knows b. First 2P = (dx, dy, dz) is
 * made affine that way; then, backwards, all multiples take the last one's Z,
 * the product of the factors H by which each addition has multiplied it. */
static void
weigh_table_init(struct weigh_table *t, const fe_t *x, const fe_t *y)
{
	fe_t h[WEIGH_TABLE], f, ff, beta;
	struct point twice, p;

	fe_set(&beta, &TOWER(frobenius_2)[2]);
	p.x = *x;
	p.y = *y;
	fe_set_one(&p.z);
	point_double(&twice, &p);
	fe_sqr(&ff, &twice.z);
	fe_mul(&p.x, &p.x, &ff);
	fe_mul(&ff, &ff, &twice.z);
	fe_mul(&p.y, &p.y, &ff);
	t->x[0] = p.x;
	t->y[0] = p.y;
	for (int i = 1; i < WEIGH_TABLE; i++) {
		point_add_affine(&p, &h[i], &p, &twice.x, &twice.y);
		t->x[i] = p.x;
		t->y[i] = p.y;
	}
	fe_mul(&t->z, &p.z, &twice.z);
	f = h[WEIGH_TABLE - 1];
	for (int i = WEIGH_TABLE - 2; i >= 0; i--) {
		fe_sqr(&ff, &f);
		fe_mul(&t->x[i], &t->x[i], &ff);
		fe_mul(&ff, &ff, &f);
		fe_mul(&t->y[i], &t->y[i], &ff);
		if (i > 0)
			fe_mul(&f, &f, &h[i]);
	}
	for (int i = 0; i < WEIGH_TABLE; i++)
		fe_mul(&t->beta_x[i], &t->x[i], &beta);
}

/* p += digit I of each lane's HALF times the table's point, or lambda times
 * it. With k = 2 half + 1 the digit is (k >> 4I | 1) mod 32 - 16. */
static void
weigh_add_digit(struct point *p, const struct weigh_table *t,
    const struct weight z[static LANES], int half, int i)
{
	uint8_t index[LANES], negative[LANES];
	fe_t x, y, h;

	for (int l = 0; l < LANES; l++) {
		uint64_t v = z[l].half[half];
		int digit;

		v = i == 0 ? v << 1 : v >> (4 * i - 1);
		digit = (int)((v & 31) | 1) - 16;
		negative[l] = digit < 0;
		index[l] = (uint8_t)((digit < 0 ? -digit : digit) / 2);
	}
	fe_pick(&x, half == 0 ? t->x : t->beta_x, index);
	fe_pick(&y, t->y, index);
	fe_negate_if(&y, negative);
	point_add_affine(p, &h, p, &x, &y);
}

/* r = z (x, y). The leading digits make (1 + lambda) P = -lambda^2 P. */
static void
weigh_point(struct point *r, const fe_t *x, const fe_t *y,
    const struct weight z[static LANES])
{
	struct weigh_table t;
	struct point p;
	fe_t beta;

	weigh_table_init(&t, x, y);
	fe_set(&beta, &TOWER(frobenius_2)[2]);
	fe_mul(&p.x, &t.beta_x[0], &beta);
	fe_neg(&p.y, &t.y[0]);
	fe_set_one(&p.z);
	for (int i = 15; i >= 0; i--) {
		for (int j = 0; j < 4; j++)
			point_double(&p, &p);
		weigh_add_digit(&p, &t, z, 0, i);
		weigh_add_digit(&p, &t, z, 1, i);
	}
	r->x = p.x;
	r->y = p.y;
	fe_mul(&r->z, &p.z, &t.z);
}

/* p / Z for N bundles of points, none infinity, with one inversion: acc[i] is
 * the product of the Z before i. */
static void
weigh_to_affine(struct point *p, fe_t *acc, size_t n)
{
	fe_t inverse, zi, zz;

	fe_set_one(&acc[0]);
	for (size_t i = 1; i < n; i++)
		fe_mul(&acc[i], &acc[i - 1], &p[i - 1].z);
	fe_mul(&inverse, &acc[n - 1], &p[n - 1].z);
	fe_inv(&inverse, &inverse);
	for (size_t i = n; i-- > 0;) {
		fe_mul(&zi, &inverse, &acc[i]);
		fe_mul(&inverse, &inverse, &p[i].z);
		fe_sqr(&zz, &zi);
		fe_mul(&p[i].x, &p[i].x, &zz);
		fe_mul(&zz, &zz, &zi);
		fe_mul(&p[i].y, &p[i].y, &zz);
	}
}

/* Bytes of scratch memory for N points. */
static inline size_t
weigh_scratch(size_t n)
{
	return (n + LANES - 1) / LANES * (sizeof(struct point) + sizeof(fe_t));
}

/* Lanes behind the last point repeat it. */
static void
kernel_weigh(
    g1_t *r, const g1_t *p, const struct weight *z, size_t n, void *scratch)
{
	size_t bundles = (n + LANES - 1) / LANES;
	struct point *points = scratch;
	fe_t *acc = (void *)(points + bundles);
	fp_t out_x[LANES], out_y[LANES];

	for (size_t i = 0; i < bundles; i++) {
		const fp_t *in_x[LANES], *in_y[LANES];
		struct weight w[LANES];
		fe_t x, y;

		for (size_t l = 0; l < LANES; l++) {
			size_t k = i * LANES + l < n ? i * LANES + l : n - 1;

			in_x[l] = &p[k].x;
			in_y[l] = &p[k].y;
			w[l] = z[k];
		}
		fe_load(&x, in_x);
		fe_load(&y, in_y);
		weigh_point(&points[i], &x, &y, w);
	}
	weigh_to_affine(points, acc, bundles);
	for (size_t i = 0; i < bundles; i++) {
		fe_store(out_x, &points[i].x);
		fe_store(out_y, &points[i].y);
		for (size_t l = 0; l < LANES && i * LANES + l < n; l++) {
			r[i * LANES + l].x = out_x[l];
			r[i * LANES + l].y = out_y[l];
		}
	}
}

#endif
