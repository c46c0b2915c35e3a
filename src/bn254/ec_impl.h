/* bn254/ec_impl.h: the group law of y^2 = x^3 + b, written once for G1 and for
 * the twist.
 *
 * The including file defines EC(NAME) and ECJ(NAME), the names of functions on
 * affine and on Jacobian points, EC_T and ECJ_T, their types, EF(NAME) and
 * EF_T, the field's, and EC_B and EC_B3, b and 3b. The contracts are those of
 * g1.h. Formulas from the Explicit-Formulas Database, hyperelliptic.org/EFD
 * (Bernstein, Lange), short Weierstrass with a = 0; none uses b but for the
 * test of the curve and the complete addition. Private to the folder.
 */
#include "base/wipe.h"
#include "bn254/limbs.h"
#include "bn254/wnaf.h"

bool
EC(is_infinity)(const EC_T *a)
{
	return both(EF(is_zero)(&a->x), EF(is_zero)(&a->y));
}

bool
EC(on_curve)(const EC_T *a)
{
	EF_T l, r;

	EF(sqr)(&l, &a->y);
	EF(sqr)(&r, &a->x);
	EF(mul)(&r, &r, &a->x);
	EF(add)(&r, &r, &EC_B);
	return !both(!EF(eq)(&l, &r), !EC(is_infinity)(a));
}

enum status
EC(set_var)(EC_T *r, const EF_T *x, const EF_T *y)
{
	const EC_T t = {*x, *y};

	*r = EC(infinity);
	if (EC(is_infinity)(&t))
		return ST_INFINITY;
	if (!EC(on_curve)(&t))
		return ST_NOT_ON_CURVE;
	*r = t;
	return ST_OK;
}

bool
EC(eq)(const EC_T *a, const EC_T *b)
{
	return both(EF(eq)(&a->x, &b->x), EF(eq)(&a->y, &b->y));
}

void
EC(neg)(EC_T *r, const EC_T *a)
{
	r->x = a->x;
	EF(neg)(&r->y, &a->y);
}

void
ECJ(set_infinity)(ECJ_T *r)
{
	r->x = r->y = EF(one);
	r->z = EF(zero);
}

void
ECJ(from_affine)(ECJ_T *r, const EC_T *a)
{
	bool infinity = EC(is_infinity)(a);

	r->x = a->x;
	r->y = a->y;
	r->z = EF(one);
	EF(cmov)(&r->x, &EF(one), infinity);
	EF(cmov)(&r->y, &EF(one), infinity);
	EF(cmov)(&r->z, &EF(zero), infinity);
}

bool
ECJ(is_infinity)(const ECJ_T *a)
{
	return EF(is_zero)(&a->z);
}

/* X1 Z2^2 = X2 Z1^2 and Y1 Z2^3 = Y2 Z1^3, or both at infinity. */
bool
ECJ(eq)(const ECJ_T *a, const ECJ_T *b)
{
	EF_T za, zb, s, t, u, v;

	EF(sqr)(&za, &a->z);
	EF(sqr)(&zb, &b->z);
	EF(mul)(&s, &a->x, &zb);
	EF(mul)(&t, &b->x, &za);
	EF(mul)(&za, &za, &a->z);
	EF(mul)(&zb, &zb, &b->z);
	EF(mul)(&u, &a->y, &zb);
	EF(mul)(&v, &b->y, &za);
	/* With one at infinity the products are 0 on one side alone. */
	return both(both(EF(eq)(&s, &t), EF(eq)(&u, &v)),
	    ECJ(is_infinity)(a) == ECJ(is_infinity)(b));
}

void
ECJ(neg)(ECJ_T *r, const ECJ_T *a)
{
	r->x = a->x;
	EF(neg)(&r->y, &a->y);
	r->z = a->z;
}

void
ECJ(cmov)(ECJ_T *r, const ECJ_T *a, bool flag)
{
	EF(cmov)(&r->x, &a->x, flag);
	EF(cmov)(&r->y, &a->y, flag);
	EF(cmov)(&r->z, &a->z, flag);
}

/* With ZI = 1/Z: infinity has ZI = 0 and becomes (0, 0) by itself. */
static void
ECJ(scale)(EC_T *r, const ECJ_T *a, const EF_T *zi)
{
	EF_T zi2;

	EF(sqr)(&zi2, zi);
	EF(mul)(&r->x, &a->x, &zi2);
	EF(mul)(&zi2, &zi2, zi);
	EF(mul)(&r->y, &a->y, &zi2);
}

void
ECJ(to_affine)(EC_T *r, const ECJ_T *a)
{
	EF_T zi;

	EF(inv)(&zi, &a->z);
	ECJ(scale)(r, a, &zi);
}

void
ECJ(to_affine_var)(EC_T *r, const ECJ_T *a)
{
	EF_T zi;

	EF(inv_var)(&zi, &a->z);
	ECJ(scale)(r, a, &zi);
}

/* Montgomery's trick, passing over infinity. */
void
ECJ(to_affine_many)(EC_T *r, EF_T *scratch, const ECJ_T *a, size_t n)
{
	EF_T acc = EF(one), inverse, next;

	for (size_t i = 0; i < n; i++) {
		scratch[i] = acc;
		EF(mul)(&next, &acc, &a[i].z);
		EF(cmov)(&acc, &next, !EF(is_zero)(&a[i].z));
	}
	EF(inv)(&inverse, &acc);
	for (size_t i = n; i-- > 0;) {
		bool infinity = EF(is_zero)(&a[i].z);

		EF(mul)(&next, &inverse, &scratch[i]);
		EF(cmov)(&next, &EF(zero), infinity);
		ECJ(scale)(&r[i], &a[i], &next);
		EF(mul)(&next, &inverse, &a[i].z);
		EF(cmov)(&inverse, &next, !infinity);
	}
}

/* dbl-2009-l: 2M + 5S. Infinity stays so: Z3 = 2 Y1 Z1. */
void
ECJ(dbl)(ECJ_T *r, const ECJ_T *p)
{
	EF_T a, b, c, d, e, t;

	EF(sqr)(&a, &p->x); /* A = X1^2 */
	EF(sqr)(&b, &p->y); /* B = Y1^2 */
	EF(sqr)(&c, &b); /* C = B^2 */
	EF(add)(&d, &p->x, &b); /* D = 2 ((X1 + B)^2 - A - C) */
	EF(sqr)(&d, &d);
	EF(sub)(&d, &d, &a);
	EF(sub)(&d, &d, &c);
	EF(dbl)(&d, &d);
	EF(dbl)(&e, &a); /* E = 3A */
	EF(add)(&e, &e, &a);
	EF(mul)(&t, &p->y, &p->z); /* Z3 = 2 Y1 Z1 */
	EF(dbl)(&r->z, &t);
	EF(sqr)(&t, &e); /* X3 = E^2 - 2D */
	EF(sub)(&t, &t, &d);
	EF(sub)(&r->x, &t, &d);
	EF(sub)(&t, &d, &r->x); /* Y3 = E (D - X3) - 8C */
	EF(mul)(&t, &t, &e);
	EF(dbl)(&c, &c);
	EF(dbl)(&c, &c);
	EF(dbl)(&c, &c);
	EF(sub)(&r->y, &t, &c);
}

/* The common end of the two additions, from U1, S1, H = U2 - U1 and
 * S2 - S1: add-2007-bl. Z3 is left to the caller. */
static void
ECJ(add_rest)(
    ECJ_T *r, const EF_T *u1, const EF_T *s1, const EF_T *h, const EF_T *s)
{
	EF_T i, j, v, rr, t;

	EF(dbl)(&i, h); /* I = (2H)^2 */
	EF(sqr)(&i, &i);
	EF(mul)(&j, h, &i); /* J = H I */
	EF(dbl)(&rr, s); /* r = 2 (S2 - S1) */
	EF(mul)(&v, u1, &i); /* V = U1 I */
	EF(sqr)(&t, &rr); /* X3 = r^2 - J - 2V */
	EF(sub)(&t, &t, &j);
	EF(sub)(&t, &t, &v);
	EF(mul)(&j, s1, &j); /* Y3 = r (V - X3) - 2 S1 J */
	EF(sub)(&r->x, &t, &v);
	EF(sub)(&t, &v, &r->x);
	EF(mul)(&t, &t, &rr);
	EF(sub)(&t, &t, &j);
	EF(sub)(&r->y, &t, &j);
}

/* add-2007-bl: 12M + 4S. */
void
ECJ(add_var)(ECJ_T *r, const ECJ_T *a, const ECJ_T *b)
{
	EF_T z1z1, z2z2, u1, u2, s1, s2, z;

	if (ECJ(is_infinity)(a)) {
		*r = *b;
		return;
	}
	if (ECJ(is_infinity)(b)) {
		*r = *a;
		return;
	}
	EF(sqr)(&z1z1, &a->z);
	EF(sqr)(&z2z2, &b->z);
	EF(mul)(&u1, &a->x, &z2z2);
	EF(mul)(&u2, &b->x, &z1z1);
	EF(mul)(&s1, &z2z2, &b->z);
	EF(mul)(&s1, &s1, &a->y);
	EF(mul)(&s2, &z1z1, &a->z);
	EF(mul)(&s2, &s2, &b->y);
	EF(sub)(&u2, &u2, &u1);
	EF(sub)(&s2, &s2, &s1);
	if (EF(is_zero)(&u2)) {
		if (EF(is_zero)(&s2))
			ECJ(dbl)(r, a);
		else
			ECJ(set_infinity)(r);
		return;
	}
	EF(mul)(&z, &a->z, &b->z); /* Z3 = 2 Z1 Z2 H */
	EF(mul)(&z, &z, &u2);
	EF(dbl)(&z, &z);
	ECJ(add_rest)(r, &u1, &s1, &u2, &s2);
	r->z = z;
}

/* madd-2007-bl: 8M + 3S. */
void
ECJ(madd_var)(ECJ_T *r, const ECJ_T *a, const EC_T *b)
{
	EF_T z1z1, u2, s2, z;

	if (EC(is_infinity)(b)) {
		*r = *a;
		return;
	}
	if (ECJ(is_infinity)(a)) {
		ECJ(from_affine)(r, b);
		return;
	}
	EF(sqr)(&z1z1, &a->z);
	EF(mul)(&u2, &b->x, &z1z1);
	EF(mul)(&s2, &z1z1, &a->z);
	EF(mul)(&s2, &s2, &b->y);
	EF(sub)(&u2, &u2, &a->x);
	EF(sub)(&s2, &s2, &a->y);
	if (EF(is_zero)(&u2)) {
		if (EF(is_zero)(&s2))
			ECJ(dbl)(r, a);
		else
			ECJ(set_infinity)(r);
		return;
	}
	EF(mul)(&z, &a->z, &u2); /* Z3 = 2 Z1 H */
	EF(dbl)(&z, &z);
	ECJ(add_rest)(r, &a->x, &a->y, &u2, &s2);
	r->z = z;
}

/* r = a + b in homogeneous coordinates (X / Z, Y / Z), for any two points of
 * a curve of odd order: Renes, Costello, Batina, "Complete addition formulas
 * for prime order elliptic curves", EUROCRYPT 2016, algorithm 7. */
static void
ECJ(add_complete)(ECJ_T *r, const ECJ_T *a, const ECJ_T *b)
{
	EF_T t0, t1, t2, t3, t4, t5, s;

	EF(mul)(&t0, &a->x, &b->x);
	EF(mul)(&t1, &a->y, &b->y);
	EF(mul)(&t2, &a->z, &b->z);
	EF(add)(&t3, &a->x, &a->y); /* t3 = X1 Y2 + X2 Y1 */
	EF(add)(&s, &b->x, &b->y);
	EF(mul)(&t3, &t3, &s);
	EF(sub)(&t3, &t3, &t0);
	EF(sub)(&t3, &t3, &t1);
	EF(add)(&t4, &a->y, &a->z); /* t4 = Y1 Z2 + Y2 Z1 */
	EF(add)(&s, &b->y, &b->z);
	EF(mul)(&t4, &t4, &s);
	EF(sub)(&t4, &t4, &t1);
	EF(sub)(&t4, &t4, &t2);
	EF(add)(&t5, &a->x, &a->z); /* t5 = X1 Z2 + X2 Z1 */
	EF(add)(&s, &b->x, &b->z);
	EF(mul)(&t5, &t5, &s);
	EF(sub)(&t5, &t5, &t0);
	EF(sub)(&t5, &t5, &t2);
	EF(dbl)(&s, &t0); /* t0 = 3 X1 X2 */
	EF(add)(&t0, &t0, &s);
	EF(mul)(&t2, &t2, &EC_B3); /* t2 = 3b Z1 Z2 */
	EF(mul)(&t5, &t5, &EC_B3); /* t5 = 3b (X1 Z2 + X2 Z1) */
	EF(add)(&s, &t1, &t2); /* Y1 Y2 + 3b Z1 Z2 */
	EF(sub)(&t1, &t1, &t2); /* Y1 Y2 - 3b Z1 Z2 */
	EF(mul)(&t2, &t3, &t1); /* X3 */
	EF(mul)(&r->x, &t4, &t5);
	EF(sub)(&r->x, &t2, &r->x);
	EF(mul)(&t1, &t1, &s); /* Y3 */
	EF(mul)(&t5, &t5, &t0);
	EF(add)(&r->y, &t1, &t5);
	EF(mul)(&s, &s, &t4); /* Z3 */
	EF(mul)(&t0, &t0, &t3);
	EF(add)(&r->z, &s, &t0);
}

/* (X, Y, Z) = (x / z^2, y / z^3) as (X Z, Y, Z^3); infinity is (0, 1, 0), for
 * any a with z = 0. */
static void
ECJ(to_homogeneous)(ECJ_T *r, const ECJ_T *a)
{
	const bool infinity = ECJ(is_infinity)(a);
	EF_T z;

	EF(sqr)(&z, &a->z);
	EF(mul)(&r->x, &a->x, &a->z);
	r->y = a->y;
	EF(mul)(&r->z, &z, &a->z);
	EF(cmov)(&r->y, &EF(one), infinity);
}

/* And back: (X Z, Y Z^2, Z). */
static void
ECJ(from_homogeneous)(ECJ_T *r, const ECJ_T *a)
{
	const bool infinity = ECJ(is_infinity)(a);
	EF_T z = a->z, zz;
	ECJ_T t;

	EF(sqr)(&zz, &z);
	EF(mul)(&r->x, &a->x, &z);
	EF(mul)(&r->y, &a->y, &zz);
	r->z = z;
	ECJ(set_infinity)(&t);
	ECJ(cmov)(r, &t, infinity);
}

void
ECJ(add)(ECJ_T *r, const ECJ_T *a, const ECJ_T *b)
{
	ECJ_T p, q;

	ECJ(to_homogeneous)(&p, a);
	ECJ(to_homogeneous)(&q, b);
	ECJ(add_complete)(&p, &p, &q);
	ECJ(from_homogeneous)(r, &p);
	wipe(&p, sizeof(p));
	wipe(&q, sizeof(q));
}

/* Four bits at a time, each a complete addition of a table entry that is
 * picked by reading all of them. */
void
ECJ(mul)(ECJ_T *r, const ECJ_T *a, const uint64_t k[static 4])
{
	ECJ_T table[16], acc, t;

	table[0].x = table[0].z = EF(zero);
	table[0].y = EF(one);
	ECJ(to_homogeneous)(&table[1], a);
	for (int i = 2; i < 16; i++)
		ECJ(add_complete)(&table[i], &table[i - 1], &table[1]);
	acc = table[0];
	for (int i = 63; i >= 0; i--) {
		uint64_t digit = k[i / 16] >> (i % 16 * 4) & 15;

		for (int j = 0; j < 4; j++)
			ECJ(add_complete)(&acc, &acc, &acc);
		t = table[0];
		for (uint64_t j = 1; j < 16; j++)
			ECJ(cmov)(&t, &table[j], value_barrier(j ^ digit) == 0);
		ECJ(add_complete)(&acc, &acc, &t);
	}
	ECJ(from_homogeneous)(r, &acc);
	wipe(table, sizeof(table));
	wipe(&t, sizeof(t));
	wipe(&acc, sizeof(acc));
}

/* The odd multiples a, 3a, ... of a window of W bits: 2^(W-2) of them. */
static void
ECJ(odd_multiples)(ECJ_T *table, const ECJ_T *a, int w)
{
	ECJ_T twice;

	ECJ(dbl)(&twice, a);
	table[0] = *a;
	for (int i = 1; i < 1 << (w - 2); i++)
		ECJ(add_var)(&table[i], &table[i - 1], &twice);
}

/* r += digit * a, from a table of odd multiples. */
static void
ECJ(add_digit_var)(ECJ_T *r, const ECJ_T *table, int digit)
{
	ECJ_T t;

	if (digit > 0) {
		ECJ(add_var)(r, r, &table[digit / 2]);
	} else if (digit < 0) {
		ECJ(neg)(&t, &table[-digit / 2]);
		ECJ(add_var)(r, r, &t);
	}
}

void
ECJ(mul_var)(ECJ_T *r, const ECJ_T *a, const uint64_t k[static 4])
{
	signed char digits[WNAF_MAX];
	ECJ_T table[8];
	size_t n = wnaf_var(digits, k, 5);

	ECJ(odd_multiples)(table, a, 5);
	ECJ(set_infinity)(r);
	while (n-- > 0) {
		ECJ(dbl)(r, r);
		ECJ(add_digit_var)(r, table, digits[n]);
	}
}
