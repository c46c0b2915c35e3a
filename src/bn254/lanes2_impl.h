/* bn254/lanes2_impl.h: Fp2 = Fp[i] / (i^2 + 1) over any number of lanes, and
 * elements of both in and out of them.
 *
 * On top of lanes_impl.h, with its words, for Fp2 in both halves. Private to
 * the folder.
 */
#ifndef BN254_LANES2_IMPL_H
#define BN254_LANES2_IMPL_H

#include "base/ctime.h"
#include "bn254/fp2.h"

/* --- in and out ----------------------------------------------------------- */

/* As a proving key has it: limbs, little-endian. */
static inline void
lane_bytes(uint8_t out[static 32], const fp_t *a)
{
	for (int j = 0; j < 4; j++)
		store_le64(out + 8 * j, a->l[j]);
}

/* Every lane = a. */
static inline void
lane_from_fp(lane_t *r, const fp_t *a)
{
	uint8_t bytes[32];
	const uint8_t *in[LANES];

	lane_bytes(bytes, a);
	for (int i = 0; i < LANES; i++)
		in[i] = bytes;
	lane_load(r, in);
}

/* r = lane 0 of a. */
static inline void
lane_store_first(fp_t *r, const lane_t *a)
{
	uint64_t t[LANES][4];

	lane_store(t, a);
	memcpy(r->l, t[0], sizeof(r->l));
}

/* Every lane = 1 / (lane 0 of a); false if that is 0. */
static inline bool
lane_invert_first(lane_t *r, const lane_t *a)
{
	fp_t t;
	bool zero;

	lane_store_first(&t, a);
	zero = fp_is_zero(&t);
	declassify(&zero, sizeof(zero)); /* never, but for chosen points */
	fp_inv(&t, &t);
	lane_from_fp(r, &t);
	return !zero;
}

/* --- Fp2 = Fp[i] / (i^2 + 1) ---------------------------------------------- */

typedef struct {
	lane_t c0, c1;
} lane2_t;

static inline void
lane2_one(lane2_t *r)
{
	lane_one(&r->c0);
	lane_zero(&r->c1);
}

#if LANES > 1
/* t = a b, raw: (a0 b0 - a1 b1) + (a0 b1 + a1 b0) i, each half as a sum of two
 * products with one reduction. (Karatsuba's three products have fewer
 * multiplications, and more registers than there are.) */
static inline void
lane2_mul_raw(lane2_t *t, const lane2_t *a, const lane2_t *b)
{
	lane_wide_t w;
	lane_t minus;

	lane_zero(&minus);
	lane_sub_raw(&minus, &b->c1);
	lane_carry(&minus, &minus);
	lane_wide_mul(&w, &a->c0, &b->c0);
	lane_wide_mul_add(&w, &a->c1, &minus);
	lane_wide_redc(&t->c0, &w);
	lane_wide_mul(&w, &a->c0, &b->c1);
	lane_wide_mul_add(&w, &a->c1, &b->c0);
	lane_wide_redc(&t->c1, &w);
}
#else
static inline void
lane2_mul_raw(lane2_t *t, const lane2_t *a, const lane2_t *b)
{
	lane_t low, high, sa, sb;

	lane_add(&sa, &a->c0, &a->c1);
	lane_add(&sb, &b->c0, &b->c1);
	lane_mul_raw(&low, &a->c0, &b->c0);
	lane_mul_raw(&high, &a->c1, &b->c1);
	lane_mul_raw(&t->c1, &sa, &sb);
	lane_sub_raw(&t->c1, &low);
	lane_sub_raw(&t->c1, &high);
	t->c0 = low;
	lane_sub_raw(&t->c0, &high);
}
#endif

/* t = a^2, raw: (a0 + a1) (a0 - a1) + 2 a0 a1 i; a tight. */
static inline void
lane2_sqr_raw(lane2_t *t, const lane2_t *a)
{
	lane_t sum, difference, twice;

	lane_add(&sum, &a->c0, &a->c1);
	lane_sub(&difference, &a->c0, &a->c1);
	lane_add(&twice, &a->c0, &a->c0);
	lane_mul_raw(&t->c0, &sum, &difference);
	lane_mul_raw(&t->c1, &twice, &a->c1);
}

static inline void
lane2_mul(lane2_t *r, const lane2_t *a, const lane2_t *b)
{
	lane2_t t;

	lane2_mul_raw(&t, a, b);
	lane_carry(&r->c0, &t.c0);
	lane_carry(&r->c1, &t.c1);
}

static inline void
lane2_sqr(lane2_t *r, const lane2_t *a)
{
	lane2_t t;

	lane2_sqr_raw(&t, a);
	lane_carry(&r->c0, &t.c0);
	lane_carry(&r->c1, &t.c1);
}

static inline void
lane2_add(lane2_t *r, const lane2_t *a, const lane2_t *b)
{
	lane_add(&r->c0, &a->c0, &b->c0);
	lane_add(&r->c1, &a->c1, &b->c1);
}

static inline void
lane2_sub(lane2_t *r, const lane2_t *a, const lane2_t *b)
{
	lane_sub(&r->c0, &a->c0, &b->c0);
	lane_sub(&r->c1, &a->c1, &b->c1);
}

static inline void
lane2_sub_tight(lane2_t *r, const lane2_t *a, const lane2_t *b)
{
	lane_sub_tight(&r->c0, &a->c0, &b->c0);
	lane_sub_tight(&r->c1, &a->c1, &b->c1);
}

static inline void
lane2_mul_sub(lane2_t *r, const lane2_t *a, const lane2_t *b, const lane2_t *c)
{
	lane2_t t;

	lane2_mul_raw(&t, a, b);
	lane_sub_raw(&t.c0, &c->c0);
	lane_sub_raw(&t.c1, &c->c1);
	lane_reduce(&r->c0, &t.c0);
	lane_reduce(&r->c1, &t.c1);
}

/* r = a^2 - c - d; a tight: the square's halves are below 1.2 p. */
static inline void
lane2_sqr_sub2(lane2_t *r, const lane2_t *a, const lane2_t *c, const lane2_t *d)
{
	lane2_t t;

	lane2_sqr_raw(&t, a);
	lane_sub_raw(&t.c0, &c->c0);
	lane_sub_raw(&t.c0, &d->c0);
	lane_sub_raw(&t.c1, &c->c1);
	lane_sub_raw(&t.c1, &d->c1);
	lane_reduce(&r->c0, &t.c0);
	lane_reduce(&r->c1, &t.c1);
}

static inline void
lane2_triple(lane2_t *r, const lane2_t *a)
{
	lane_triple(&r->c0, &a->c0);
	lane_triple(&r->c1, &a->c1);
}

static inline void
lane2_negate(lane2_t *r, lane_mask_t mask)
{
	lane_negate(&r->c0, mask);
	lane_negate(&r->c1, mask);
}

static inline void
lane2_select(lane2_t *r, const lane2_t *a, lane_mask_t mask)
{
	lane_select(&r->c0, &a->c0, mask);
	lane_select(&r->c1, &a->c1, mask);
}

static inline void
lane2_exchange(lane2_t *r, const lane2_t *a, int distance)
{
	lane_exchange(&r->c0, &a->c0, distance);
	lane_exchange(&r->c1, &a->c1, distance);
}

/* Load lane i from the 64 bytes at IN[i]: c0, c1. */
static inline void
lane2_load(lane2_t *r, const uint8_t *const in[static LANES])
{
	const uint8_t *second[LANES];

	for (int i = 0; i < LANES; i++)
		second[i] = in[i] + 32;
	lane_load(&r->c0, in);
	lane_load(&r->c1, second);
}

/* r = lane 0 of a. */
static inline void
lane2_store_first(fp2_t *r, const lane2_t *a)
{
	lane_store_first(&r->c0, &a->c0);
	lane_store_first(&r->c1, &a->c1);
}

/* Every lane = 1 / (lane 0 of a); false if that is 0. */
static inline bool
lane2_invert_first(lane2_t *r, const lane2_t *a)
{
	fp2_t t;
	bool zero;

	lane2_store_first(&t, a);
	zero = fp2_is_zero(&t);
	declassify(&zero, sizeof(zero));
	fp2_inv(&t, &t);
	lane_from_fp(&r->c0, &t.c0);
	lane_from_fp(&r->c1, &t.c1);
	return !zero;
}

#endif
