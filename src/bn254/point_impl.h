/* bn254/point_impl.h: points of G1 over any kernel's elements, in Jacobian
 * coordinates, without the special cases of the group law.
 *
 * Whoever uses these shows that they do not occur, or looks for them: an
 * addition of equal or opposite points or of infinity yields Z = 0, and then Z
 * stays 0. Formulas as in ec_impl.h. Private to the folder.
 */
#ifndef BN254_POINT_IMPL_H
#define BN254_POINT_IMPL_H

struct point {
	fe_t x, y, z;
};

/* dbl-2009-l: 2M + 5S. */
static inline void
point_double(struct point *r, const struct point *p)
{
	fe_t a, b, c, d, e, t;

	fe_sqr(&a, &p->x); /* A = X1^2 */
	fe_sqr(&b, &p->y); /* B = Y1^2 */
	fe_sqr(&c, &b); /* C = B^2 */
	fe_mul(&d, &p->x, &b); /* D = 4 X1 B */
	fe_quadruple(&d, &d);
	fe_triple(&e, &a); /* E = 3A */
	fe_mul(&t, &p->y, &p->z); /* Z3 = 2 Y1 Z1 */
	fe_add(&r->z, &t, &t);
	fe_sqr(&t, &e); /* X3 = E^2 - 2D */
	fe_sub_twice(&r->x, &t, &d);
	fe_sub(&t, &d, &r->x); /* Y3 = E (D - X3) - 8C */
	fe_mul(&t, &t, &e);
	fe_sub_eight(&r->y, &t, &c);
}

/* r = p + (x, y): 8M + 3S, as madd-2007-bl without its factors of 2. H, what Z
 * is multiplied by, is given back. */
static inline void
point_add_affine(struct point *r, fe_t *h, const struct point *p, const fe_t *x,
    const fe_t *y)
{
	fe_t zz, hh, hhh, v, s, t;

	fe_sqr(&zz, &p->z);
	fe_mul(&t, x, &zz); /* H = x Z1^2 - X1 */
	fe_sub(h, &t, &p->x);
	fe_mul(&t, &zz, &p->z); /* S = y Z1^3 - Y1 */
	fe_mul(&t, y, &t);
	fe_sub(&s, &t, &p->y);
	fe_mul(&r->z, &p->z, h);
	fe_sqr(&hh, h);
	fe_mul(&hhh, &hh, h);
	fe_mul(&v, &p->x, &hh); /* V = X1 H^2 */
	fe_sqr(&t, &s); /* X3 = S^2 - H^3 - 2V */
	fe_sub(&t, &t, &hhh);
	fe_sub_twice(&t, &t, &v);
	fe_mul(&hhh, &hhh, &p->y); /* Y3 = S (V - X3) - Y1 H^3 */
	r->x = t;
	fe_sub(&t, &v, &t);
	fe_mul(&t, &t, &s);
	fe_sub(&r->y, &t, &hhh);
}

/* p += q: add-2007-bl without its factors of 2, 12M + 4S. */
static inline __attribute__((unused)) void
point_add(struct point *p, const struct point *q)
{
	fe_t pp, qq, u, s, h, hh, v, t;

	fe_sqr(&pp, &p->z);
	fe_sqr(&qq, &q->z);
	fe_mul(&u, &p->x, &qq); /* U = X1 Z2^2 */
	fe_mul(&t, &q->x, &pp); /* H = X2 Z1^2 - U */
	fe_sub(&h, &t, &u);
	fe_mul(&qq, &qq, &q->z); /* S = Y1 Z2^3 */
	fe_mul(&s, &p->y, &qq);
	fe_mul(&pp, &pp, &p->z); /* R = Y2 Z1^3 - S */
	fe_mul(&t, &q->y, &pp);
	fe_sub(&t, &t, &s);
	fe_mul(&p->z, &p->z, &q->z);
	fe_mul(&p->z, &p->z, &h);
	fe_sqr(&hh, &h);
	fe_mul(&h, &hh, &h);
	fe_mul(&v, &u, &hh); /* V = U H^2 */
	fe_sqr(&hh, &t); /* X3 = R^2 - H^3 - 2V */
	fe_sub(&hh, &hh, &h);
	fe_sub_twice(&p->x, &hh, &v);
	fe_sub(&v, &v, &p->x); /* Y3 = R (V - X3) - S H^3 */
	fe_mul(&v, &v, &t);
	fe_mul(&s, &s, &h);
	fe_sub(&p->y, &v, &s);
}

#endif
