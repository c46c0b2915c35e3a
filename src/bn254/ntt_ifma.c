/* Transforms on AVX-512 IFMA: eight lanes. Compiled for it on any x86-64, run
 * only where ntt.c has seen it.
 *
 * Element number l m + v, with m = n / 8, is lane l of vector v. So all layers
 * whose pairs are less than m apart have both elements of a pair in the same
 * lane, and one factor for all lanes; the three others pair lanes that are 4,
 * 2 and 1 apart, with a factor that goes on from vector to vector by a constant
 * ratio.
 */
#include "bn254/ntt_kernel.h"

#ifdef __x86_64__

#ifdef __clang__
#pragma clang attribute push(                                        \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512ifma"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512ifma")
#endif

#include "bn254/lanes_ifma_r.h"

#include "bn254/lanes_ifma_impl.h"

#include "bn254/lanes_impl.h"

#define LANES_LOG 3

/* An element for all lanes: its limbs. */
struct factor {
	uint64_t l[5];
};

struct ifma_table {
	/* For layers that pair lanes 1, 2 and 4 apart: the first vector's
	 * factors, and the ratio to the next one's, down and up. Lanes that
	 * are not multiplied have 1. */
	struct {
		lane_t first, ratio;
	} down[3], up[3];
	lane_t coefficients; /* g^reverse(l) / n */
	struct factor powers[]; /* g^(8 i), i < m */
};

static size_t
table_size(unsigned log)
{
	return sizeof(struct ifma_table) +
	    (sizeof(struct factor) << log) / LANES;
}

/* Short transforms, and such as do not fit, are left to the other kernel. */
static bool
is_for(unsigned log)
{
	return log >= 2 * LANES_LOG;
}

static size_t
memory_size(unsigned log)
{
	return is_for(log) ? sizeof(lane_t) << (log - LANES_LOG) : 0;
}

/* --- in and out of lanes ---------------------------------------------------- */

/* Lane i = from[i]. Elements lie in memory as keys have them: this is x86. */
static void
gather(lane_t *r, const fr_t *const from[static LANES])
{
	const uint8_t *in[LANES];

	for (int i = 0; i < LANES; i++)
		in[i] = (const uint8_t *)(const void *)from[i]->l;
	lane_load(r, in);
}

LANE_INLINE void
factor_load(lane_t *r, const struct factor *f)
{
	lane_set(r, f->l);
}

static void
factor_store(struct factor *f, const lane_t *a)
{
	for (int i = 0; i < 5; i++)
		f->l[i] = (uint64_t)_mm_cvtsi128_si64(
		    _mm512_castsi512_si128(a->l[i]));
}

/* r = g^E, or g^-E; E is below n: g^n = -1. */
static void
power(fr_t *r, const struct ntt_table *t, size_t e, bool inverse)
{
	const size_t n = (size_t)1 << t->log;

	if (!inverse || e == 0)
		*r = t->powers[e];
	else
		fr_neg(r, &t->powers[n - e]);
}

/* The factors of the layer that pairs lanes D apart: in the upper lane of each
 * pair w^j, or w^-j, with w = g^(8 / D) and j = (l mod D) m + v. */
static void
layer_factors(lane_t *first, lane_t *ratio, const struct ntt_table *t, size_t d,
    bool down)
{
	const size_t m = ((size_t)1 << t->log) / LANES, step = LANES / d;
	fr_t start[LANES], next[LANES];
	const fr_t *starts[LANES], *nexts[LANES];

	for (size_t l = 0; l < LANES; l++) {
		bool upper = (l & d) != 0;
		power(&start[l], t, upper ? step * (l % d) * m : 0, down);
		power(&next[l], t, upper ? step : 0, down);
		starts[l] = &start[l];
		nexts[l] = &next[l];
	}
	gather(first, starts);
	gather(ratio, nexts);
}

static void
init(void *more, const struct ntt_table *t)
{
	struct ifma_table *own = more;
	const size_t m = ((size_t)1 << t->log) / LANES;
	fr_t scaled[LANES];
	const fr_t *in[LANES];
	lane_t v;

	if (!is_for(t->log))
		return;
	for (unsigned i = 0; i < 3; i++) {
		layer_factors(&own->down[i].first, &own->down[i].ratio, t,
		    (size_t)1 << i, true);
		layer_factors(&own->up[i].first, &own->up[i].ratio, t,
		    (size_t)1 << i, false);
	}
	for (size_t l = 0; l < LANES; l++) {
		fr_mul(&scaled[l], &t->powers[ntt_reverse(l, LANES_LOG)],
		    &t->scale);
		in[l] = &scaled[l];
	}
	gather(&own->coefficients, in);
	for (size_t i = 0; i < m; i++) {
		for (size_t l = 0; l < LANES; l++)
			in[l] = &t->powers[LANES * i];
		gather(&v, in);
		factor_store(&own->powers[i], &v);
	}
}

/* --- layers ----------------------------------------------------------------- */

/* r = in the upper lanes of the pairs partner - own, in the lower own +
 * partner; raw, below 4m. */
LANE_INLINE void
pair_up(lane_t *r, const lane_t *own, const lane_t *partner, lane_mask_t upper)
{
	lane_t difference = *partner;

	*r = *own;
	lane_add_raw(r, partner);
	lane_sub_raw(&difference, own);
	lane_select(r, &difference, upper);
}

static lane_mask_t
upper_lanes(int d)
{
	/* Lanes whose number has bit D. */
	return d == 4 ? 0xf0 : d == 2 ? 0xcc : 0xaa;
}

static void
across_down(
    lane_t *v, size_t m, int d, const lane_t *first, const lane_t *ratio)
{
	const lane_mask_t upper = upper_lanes(d);
	lane_t factor = *first, partner, sum;

	for (size_t i = 0; i < m; i++) {
		lane_exchange(&partner, &v[i], d);
		pair_up(&sum, &v[i], &partner, upper);
		lane_carry(&sum, &sum);
		lane_mul(&v[i], &sum, &factor);
		lane_mul(&factor, &factor, ratio);
	}
}

static void
across_up(lane_t *v, size_t m, int d, const lane_t *first, const lane_t *ratio)
{
	const lane_mask_t upper = upper_lanes(d);
	lane_t factor = *first, partner, own;

	for (size_t i = 0; i < m; i++) {
		lane_mul(&own, &v[i], &factor);
		lane_mul(&factor, &factor, ratio);
		lane_exchange(&partner, &own, d);
		pair_up(&v[i], &own, &partner, upper);
		lane_reduce(&v[i], &v[i]);
	}
}

LANE_INLINE void
add_tight(lane_t *r, const lane_t *a, const lane_t *b)
{
	lane_t t = *a;

	lane_add_raw(&t, b);
	lane_reduce(r, &t);
}

/* Pairs HALF vectors apart. Down: (lo - hi) w^-j = (hi - lo) w^(half - j). */
static void
within_down(lane_t *v, size_t m, size_t half, const struct factor *powers)
{
	lane_t factor, difference;

	for (size_t j = 0; j < half; j++) {
		factor_load(&factor, &powers[j == 0 ? 0 : m - m / half * j]);
		for (size_t at = j; at < m; at += 2 * half) {
			lane_t *lo = &v[at], *hi = &v[at + half];
			if (j == 0)
				lane_sub(&difference, lo, hi);
			else
				lane_sub(&difference, hi, lo);
			add_tight(lo, lo, hi);
			lane_mul(hi, &difference, &factor);
		}
	}
}

static void
within_up(lane_t *v, size_t m, size_t half, const struct factor *powers)
{
	lane_t factor, t;

	for (size_t j = 0; j < half; j++) {
		factor_load(&factor, &powers[m / half * j]);
		for (size_t at = j; at < m; at += 2 * half) {
			lane_t *lo = &v[at], *hi = &v[at + half];
			lane_mul(&t, hi, &factor);
			lane_sub_tight(hi, lo, &t);
			add_tight(lo, lo, &t);
		}
	}
}

static void
shift(fr_t *values, const struct ntt_table *t, void *memory)
{
	const struct ifma_table *own = t->more;
	const size_t m = ((size_t)1 << t->log) / LANES;
	lane_t *v = memory, factor;
	uint64_t out[LANES][4];

	if (!is_for(t->log)) {
		ntt_shift_one(values, t);
		return;
	}
	for (size_t i = 0; i < m; i++) {
		const fr_t *in[LANES];
		for (size_t l = 0; l < LANES; l++)
			in[l] = &values[l * m + i];
		gather(&v[i], in);
	}
	for (int i = 2; i >= 0; i--)
		across_down(
		    v, m, 1 << i, &own->down[i].first, &own->down[i].ratio);
	for (size_t half = m / 2; half > 0; half /= 2)
		within_down(v, m, half, own->powers);
	for (size_t i = 0; i < m; i++) {
		factor_load(
		    &factor, &own->powers[ntt_reverse(i, t->log - LANES_LOG)]);
		lane_mul(&v[i], &v[i], &factor);
		lane_mul(&v[i], &v[i], &own->coefficients);
	}
	for (size_t half = 1; half < m; half *= 2)
		within_up(v, m, half, own->powers);
	for (int i = 0; i < 3; i++)
		across_up(v, m, 1 << i, &own->up[i].first, &own->up[i].ratio);
	for (size_t i = 0; i < m; i++) {
		lane_store(out, &v[i]);
		for (size_t l = 0; l < LANES; l++)
			memcpy(values[l * m + i].l, out[l], sizeof(out[l]));
	}
}

const struct ntt_kernel ntt_kernel_ifma = {
    table_size, memory_size, init, shift};

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
