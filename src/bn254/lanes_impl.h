/* bn254/lanes_impl.h: field arithmetic over any number of lanes.
 *
 * The including file has chosen the lanes (lanes_ifma_impl.h or
 * lanes_one_impl.h), whose words these are: "tight" and "loose" are what
 * lanes_ifma_impl.h says. Outputs are tight unless they say loose, and may be
 * inputs. Of a product's factors the first may be loose, the second is tight.
 * Constant time. Private to the folder.
 */
#ifndef BN254_LANES_IMPL_H
#define BN254_LANES_IMPL_H

static inline void
lane_mul(lane_t *r, const lane_t *a, const lane_t *b)
{
	lane_t t;

	lane_mul_raw(&t, a, b);
	lane_carry(r, &t);
}

/* r = a^2; a may be below 4p. */
static inline void
lane_sqr(lane_t *r, const lane_t *a)
{
	lane_t t;

	lane_sqr_raw(&t, a);
	lane_carry(r, &t);
}

/* r = a + b, loose. */
static inline void
lane_add(lane_t *r, const lane_t *a, const lane_t *b)
{
	lane_t t = *a;

	lane_add_raw(&t, b);
	lane_carry(r, &t);
}

/* r = a - b, loose (below 4p). */
static inline void
lane_sub(lane_t *r, const lane_t *a, const lane_t *b)
{
	lane_t t = *a;

	lane_sub_raw(&t, b);
	lane_carry(r, &t);
}

/* r = a - b */
static inline void
lane_sub_tight(lane_t *r, const lane_t *a, const lane_t *b)
{
	lane_t t = *a;

	lane_sub_raw(&t, b);
	lane_reduce(r, &t);
}

/* r = a b - c */
static inline void
lane_mul_sub(lane_t *r, const lane_t *a, const lane_t *b, const lane_t *c)
{
	lane_t t;

	lane_mul_raw(&t, a, b);
	lane_sub_raw(&t, c);
	lane_reduce(r, &t);
}

/* r = a^2 - c - d; a below 4p: 0.19 p + p + 4p. */
static inline void
lane_sqr_sub2(lane_t *r, const lane_t *a, const lane_t *c, const lane_t *d)
{
	lane_t t;

	lane_sqr_raw(&t, a);
	lane_sub_raw(&t, c);
	lane_sub_raw(&t, d);
	lane_reduce(r, &t);
}

/* r = 3 a; a below 1.76 p, as squares of tight elements are. */
static inline void
lane_triple(lane_t *r, const lane_t *a)
{
	lane_t t = *a;

	lane_add_raw(&t, a);
	lane_add_raw(&t, a);
	lane_reduce(r, &t);
}

/* r = -r in the lanes of MASK. */
static inline void
lane_negate(lane_t *r, lane_mask_t mask)
{
	lane_t t;

	lane_zero(&t);
	lane_sub_raw(&t, r);
	lane_carry(&t, &t);
	lane_select(r, &t, mask);
}

#endif
