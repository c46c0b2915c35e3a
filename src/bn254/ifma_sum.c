/* Sums of points on AVX-512 IFMA: sixteen chains of additions, eight side by
 * side and two in step. Compiled for it on any x86-64, run only where the
 * processor has it. */
#include "bn254/ifma_sum.h"

#ifdef __x86_64__

#ifdef __clang__
#pragma clang attribute push(                                        \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512ifma"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512ifma")
#endif

#include "bn254/fe_lanes_impl.h"
#include "bn254/point_impl.h"

#define CHAINS (IFMA_SUM_STEP / LANES)

/* The points of eight terms, without a product. Limbs to the base 2^256 times
 * 4 and 2 are those of (x / 4, y / 8) to the base 2^260: the point (x, y) on
 * another curve y^2 = x^3 + b / 64, and no formula knows b. x is below 4p, y
 * not above 2p: factors, no more. */
static inline void
load(fe_t *x, fe_t *y, const struct g1_term *t)
{
	const void *row[LANES];
	lane_mask_t negative = 0;
	__m512i w[4];
	lane_t minus;

	for (int l = 0; l < LANES; l++) {
		row[l] = t[l].p->x.l;
		negative |= (lane_mask_t)((unsigned)t[l].negative << l);
	}
	lane_transpose(w, row);
	lane_split(x, w, 2);
	for (int l = 0; l < LANES; l++)
		row[l] = t[l].p->y.l;
	lane_transpose(w, row);
	lane_split(y, w, 1);
	lane_zero(&minus);
	lane_sub_raw(&minus, y);
	lane_carry(&minus, &minus);
	lane_select(y, &minus, negative);
}

/* Add up the lanes of P, and back to the curve itself: the sum is in the first
 * lane. */
static bool
add_lanes(g1j_t *r, struct point *p)
{
	fp_t x[LANES], y[LANES], z[LANES];
	struct point q;

	for (int d = LANES / 2; d > 0; d /= 2) {
		lane_exchange(&q.x, &p->x, d);
		lane_exchange(&q.y, &p->y, d);
		lane_exchange(&q.z, &p->z, d);
		point_add(p, &q);
	}
	fe_store(x, &p->x);
	fe_store(y, &p->y);
	fe_store(z, &p->z);
	*r = (g1j_t){x[0], y[0], z[0]};
	/* X / Z^2 = x / 4, Y / Z^3 = y / 8 */
	fp_dbl(&r->x, &r->x);
	fp_dbl(&r->x, &r->x);
	for (int i = 0; i < 3; i++)
		fp_dbl(&r->y, &r->y);
	return !fp_is_zero(&r->z);
}

bool
ifma_sum(g1j_t *r, const struct g1_term *terms, size_t n)
{
	struct point p[CHAINS];
	fe_t x, y, h;

	for (int c = 0; c < CHAINS; c++) {
		load(&x, &y, &terms[c * LANES]);
		lane_reduce(&p[c].x, &x);
		lane_reduce(&p[c].y, &y);
		fe_set_one(&p[c].z);
	}
	for (size_t i = IFMA_SUM_STEP; i < n; i += IFMA_SUM_STEP) {
		for (size_t c = 0; c < CHAINS; c++) {
			load(&x, &y, &terms[i + c * LANES]);
			point_add_affine(&p[c], &h, &p[c], &x, &y);
		}
	}
	for (int c = 1; c < CHAINS; c++)
		point_add(&p[0], &p[c]);
	return add_lanes(r, &p[0]);
}

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
