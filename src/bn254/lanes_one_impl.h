/* bn254/lanes_one_impl.h: one element of Fp, with the interface of
 * lanes_ifma_impl.h: what a CPU without wide multipliers runs, and what the
 * eight lanes are compared with.
 *
 * The including file has chosen the product (core_c64_impl.h or
 * core_adx_impl.h). Every value is reduced, so that tight and loose are the same here. Constant
 * time. Private to the folder.
 */
#ifndef BN254_LANES_ONE_IMPL_H
#define BN254_LANES_ONE_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "bn254/fp.h"

#define LANES 1
#define LANE_INLINE static inline
#define LANE_UNROLL

typedef fp_t lane_t;
typedef bool lane_mask_t;

static inline void
lane_zero(lane_t *r)
{
	*r = fp_zero;
}

static inline void
lane_one(lane_t *r)
{
	*r = fp_one;
}

static inline void
lane_carry(lane_t *r, const lane_t *t)
{
	*r = *t;
}

static inline void
lane_reduce(lane_t *r, const lane_t *t)
{
	*r = *t;
}

static inline void
lane_mul_raw(lane_t *t, const lane_t *a, const lane_t *b)
{
	core_mul(t->l, a->l, b->l);
}

static inline void
lane_sqr_raw(lane_t *t, const lane_t *a)
{
	core_mul(t->l, a->l, a->l);
}

static inline void
lane_add_raw(lane_t *t, const lane_t *c)
{
	core_add(t->l, t->l, c->l);
}

static inline void
lane_sub_raw(lane_t *t, const lane_t *c)
{
	core_sub(t->l, t->l, c->l);
}

static inline lane_mask_t
lane_bytes_eq(const uint8_t in[static LANES], uint8_t mask, uint8_t value)
{
	unsigned diff = (unsigned)(in[0] & mask) ^ value;

	return (diff - 1) >> 31;
}

static inline void
lane_select(lane_t *r, const lane_t *a, lane_mask_t mask)
{
	limbs_select(r->l, a->l, r->l, mask_of(mask));
}

static inline void
lane_exchange(lane_t *r, const lane_t *a, int distance)
{
	(void)distance; /* there is no other lane */
	*r = *a;
}

static inline void
lane_load(lane_t *r, const uint8_t *const in[static LANES])
{
	for (int j = 0; j < 4; j++)
		r->l[j] = load_le64(in[0] + 8 * j);
}

static inline void
lane_store(uint64_t out[static LANES][4], const lane_t *a)
{
	memcpy(out[0], a->l, sizeof(out[0]));
}

#endif
