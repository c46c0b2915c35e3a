#include "semaphore/babyjub.h"

#include "base/bytes.h"
#include "base/wipe.h"

/* EIP-2494: the generator G times the cofactor 8. Montgomery form. */
const babyjub_t babyjub_base8 = {.x = {{0x0a8fc7bc1a89fa86, 0xa7d9d786e9e48627,
				     0xee6158b465bea369, 0x14a0ff6d2f874519}},
    .y = {{0xb83342d20d0201aa, 0x2ffef2f7cdcfeac7, 0xbfa79a9425a6e625,
	0x0dfb859dc3a44b70}}};

const uint8_t babyjub_order[32] = {0x06, 0x0c, 0x89, 0xce, 0x5c, 0x26, 0x34,
    0x05, 0x37, 0x0a, 0x08, 0xb6, 0xd0, 0x30, 0x2b, 0x0b, 0xab, 0x3e, 0xed,
    0xb8, 0x39, 0x20, 0xee, 0x0a, 0x67, 0x72, 0x97, 0xdc, 0x39, 0x21, 0x26,
    0xf1};

static const fr_t coefficient_a = {{0x95accf61fff261e0, 0x24780d659df7d378,
    0xe0ac11b07e906ae8, 0x0f35db2216d3def3}};
static const fr_t coefficient_d = {{0x2735f484aff261f5, 0x70ba1b579a2e0f63,
    0xff41c9a91e2caa8c, 0x07704a8e8fe6025f}};

/* Bernstein, Birkner, Joye, Lange, Peters, "Twisted Edwards curves" (ePrint
 * 2008/013), section 6: add-2008-bbjlp. */
void
babyjubp_add(babyjubp_t *r, const babyjubp_t *p, const babyjubp_t *q)
{
	fr_t a, b, c, d, e, f, g, s, t;

	fr_mul(&a, &p->z, &q->z); /* A = Z1 Z2 */
	fr_sqr(&b, &a); /* B = A^2 */
	fr_mul(&c, &p->x, &q->x); /* C = X1 X2 */
	fr_mul(&d, &p->y, &q->y); /* D = Y1 Y2 */
	fr_mul(&e, &c, &d);
	fr_mul(&e, &e, &coefficient_d); /* E = d C D */
	fr_sub(&f, &b, &e); /* F = B - E */
	fr_add(&g, &b, &e); /* G = B + E */
	fr_add(&s, &p->x, &p->y);
	fr_add(&t, &q->x, &q->y);
	fr_mul(&s, &s, &t);
	fr_sub(&s, &s, &c);
	fr_sub(&s, &s, &d); /* (X1 + Y1)(X2 + Y2) - C - D */
	fr_mul(&t, &coefficient_a, &c);
	fr_sub(&t, &d, &t); /* D - a C */
	fr_mul(&r->x, &a, &f);
	fr_mul(&r->x, &r->x, &s); /* X3 */
	fr_mul(&r->y, &a, &g);
	fr_mul(&r->y, &r->y, &t); /* Y3 */
	fr_mul(&r->z, &f, &g); /* Z3 = F G */
}

/* The same paper: dbl-2008-bbjlp. */
static void
dbl(babyjubp_t *r)
{
	fr_t b, c, d, e, f, h, j;

	fr_add(&b, &r->x, &r->y);
	fr_sqr(&b, &b); /* B = (X1 + Y1)^2 */
	fr_sqr(&c, &r->x); /* C = X1^2 */
	fr_sqr(&d, &r->y); /* D = Y1^2 */
	fr_mul(&e, &coefficient_a, &c); /* E = a C */
	fr_add(&f, &e, &d); /* F = E + D */
	fr_sqr(&h, &r->z); /* H = Z1^2 */
	fr_dbl(&h, &h);
	fr_sub(&j, &f, &h); /* J = F - 2 H */
	fr_sub(&b, &b, &c);
	fr_sub(&b, &b, &d);
	fr_mul(&r->x, &b, &j); /* X3 = (B - C - D) J */
	fr_sub(&e, &e, &d);
	fr_mul(&r->y, &f, &e); /* Y3 = F (E - D) */
	fr_mul(&r->z, &f, &j); /* Z3 = F J */
}

static void
to_affine(babyjub_t *out, const babyjubp_t *p)
{
	fr_t inverse;

	fr_inv(&inverse, &p->z);
	fr_mul(&out->x, &p->x, &inverse);
	fr_mul(&out->y, &p->y, &inverse);
	wipe(&inverse, sizeof(inverse));
}

void
babyjub_mul_base8(babyjub_t *out, const uint8_t s[static 32])
{
	const babyjubp_t base = {babyjub_base8.x, babyjub_base8.y, fr_one};
	babyjubp_t acc = {fr_zero, fr_one, fr_one}, sum;

	for (unsigned i = 4; i < 256; i++) {
		bool bit = s[i / 8] >> (7 - i % 8) & 1;
		dbl(&acc);
		babyjubp_add(&sum, &acc, &base);
		fr_cmov(&acc.x, &sum.x, bit);
		fr_cmov(&acc.y, &sum.y, bit);
		fr_cmov(&acc.z, &sum.z, bit);
	}
	to_affine(out, &acc);
	wipe(&acc, sizeof(acc));
	wipe(&sum, sizeof(sum));
}

void
babyjub_add(babyjub_t *out, const babyjub_t *p, const babyjub_t *q)
{
	const babyjubp_t a = {p->x, p->y, fr_one};
	const babyjubp_t b = {q->x, q->y, fr_one};
	babyjubp_t sum;

	babyjubp_add(&sum, &a, &b);
	to_affine(out, &sum);
}

bool
babyjub_is_on_curve(const babyjub_t *p)
{
	fr_t xx, yy, left, right;

	fr_sqr(&xx, &p->x);
	fr_sqr(&yy, &p->y);
	fr_mul(&left, &coefficient_a, &xx);
	fr_add(&left, &left, &yy);
	fr_mul(&right, &coefficient_d, &xx);
	fr_mul(&right, &right, &yy);
	fr_add(&right, &right, &fr_one);
	return fr_eq(&left, &right);
}

/* V = V - l if that is not negative. */
static void
subtract_order(uint64_t v[static 4])
{
	uint64_t t[4], borrow = 0;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t l = load_be64(babyjub_order + 24 - 8 * i);
		uint64_t d = v[i] - l, under = v[i] < l;
		t[i] = d - borrow;
		borrow = under | (d < borrow);
	}
	for (unsigned i = 0; i < 4; i++)
		v[i] = (v[i] & -borrow) | (t[i] & (borrow - 1));
	wipe(t, sizeof(t));
}

void
babyjub_scalar(uint8_t out[static 32], const uint8_t hash[static 32])
{
	uint64_t v[4];

	for (unsigned i = 0; i < 4; i++)
		v[i] = load_le64(hash + 8 * i);
	/* Pruning clears the low 3 bits, which the shift drops anyway. */
	v[3] = (v[3] & UINT64_C(0x7fffffffffffffff)) |
	    UINT64_C(0x4000000000000000);
	for (unsigned i = 0; i < 4; i++)
		v[i] = v[i] >> 3 | (i < 3 ? v[i + 1] << 61 : 0);
	/* Now 2^251 <= v < 2^252, and l > 2^250.5: less than 3 l. */
	subtract_order(v);
	subtract_order(v);
	for (unsigned i = 0; i < 4; i++)
		store_be64(out + 24 - 8 * i, v[i]);
	wipe(v, sizeof(v));
}
