/* Batches on AVX-512 IFMA: eight points or eight products side by side.
 * Compiled for it on any x86-64, run only where the processor has it. */
#include "bn254/ifma_batch.h"

#ifdef __x86_64__

#include "bn254/membership.h"

#ifdef __clang__
#pragma clang attribute push(                                        \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512ifma"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512ifma")
#endif

#include "bn254/fe_lanes_impl.h"
#include "bn254/fe2_steps_lanes_impl.h"
#include "bn254/pairing_impl.h"
#include "bn254/root_impl.h"
#include "bn254/weigh_impl.h"

void
ifma_inverse_roots(fp_t *r, const fp_t *a, size_t n)
{
	kernel_inverse_roots(r, a, n);
}

size_t
ifma_batch_scratch(size_t n)
{
	size_t pairs = sizeof(fe12_t) +
	    (n + LANES - 1) / LANES * sizeof(struct miller_pair);
	size_t w = weigh_scratch(2 * n);

	return pairs > w ? pairs : w;
}

void
ifma_weigh(
    g1_t *r, const g1_t *p, const struct weight *z, size_t n, void *scratch)
{
	kernel_weigh(r, p, z, n, scratch);
}

/* Which proof each lane has in one bundle. A lane that has none repeats
 * another's, and its lines are 1. */
struct bundle {
	size_t at[LANES];
	lane_mask_t idle;
};

static void
bundle_init(struct bundle *b, size_t first, size_t block, size_t i, size_t n)
{
	b->idle = 0;
	for (size_t l = 0; l < LANES; l++) {
		size_t at = first + l * block + i;

		b->at[l] = at;
		if (i >= block || at >= n) {
			b->idle |= (lane_mask_t)(1u << l);
			b->at[l] = first + i;
		}
	}
}

static void
pair_load(struct miller_pair *m, const struct bundle *b, const g1_t *p,
    const twist_t *q)
{
	const fp_t *in[6][LANES];
	fe_t *out[6] = {
	    &m->px, &m->py, &m->qx.c0, &m->qx.c1, &m->qy.c0, &m->qy.c1};

	for (size_t l = 0; l < LANES; l++) {
		in[0][l] = &p[b->at[l]].x;
		in[1][l] = &p[b->at[l]].y;
		in[2][l] = &q[b->at[l]].x.c0;
		in[3][l] = &q[b->at[l]].x.c1;
		in[4][l] = &q[b->at[l]].y.c0;
		in[5][l] = &q[b->at[l]].y.c1;
	}
	for (int i = 0; i < 6; i++)
		fe_load(out[i], in[i]);
	miller_pair_start(m);
	m->idle = b->idle;
}

static void
fe2_store(fp2_t out[static LANES], const fe2_t *a)
{
	fp_t c[LANES];

	fe_store(c, &a->c0);
	for (int l = 0; l < LANES; l++)
		out[l].c0 = c[l];
	fe_store(c, &a->c1);
	for (int l = 0; l < LANES; l++)
		out[l].c1 = c[l];
}

static __attribute__((noinline)) void
pair_inside(bool *inside, const struct miller_pair *m, const struct bundle *b,
    const twist_t *q)
{
	fp2_t x[LANES], y[LANES], z[LANES];

	fe2_store(x, &m->x);
	fe2_store(y, &m->y);
	fe2_store(z, &m->z);
	for (size_t l = 0; l < LANES; l++) {
		if ((b->idle >> l & 1) == 0)
			inside[b->at[l]] =
			    membership_var(&q[b->at[l]], &x[l], &y[l], &z[l]);
	}
}

static void
store_groups(gt_t *f, size_t n, fe12_t *a)
{
	fp2_t c[LANES];

	for (int k = 0; k < 6; k++) {
		fe2_store(c, fe12_coefficient(a, k));
		for (size_t l = 0; l < LANES && l < n; l++)
			f[l].c[k] = c[l];
	}
}

/* Lanes are groups, eight at a time. */
void
ifma_miller(gt_t *f, bool *inside, const g1_t *p, const twist_t *q, size_t n,
    size_t groups, void *scratch)
{
	fe12_t *t = scratch;
	struct miller_pair *m = (void *)(t + 1);
	size_t block = (n + groups - 1) / groups;

	for (size_t g = 0; g < groups; g += LANES) {
		size_t first = g * block, bundles = 0;
		struct bundle b;

		for (; bundles < block && first + bundles < n; bundles++) {
			bundle_init(&b, first, block, bundles, n);
			pair_load(&m[bundles], &b, p, q);
		}
		miller_loop(t, m, bundles, NULL, 0);
		for (size_t i = 0; i < bundles; i++) {
			bundle_init(&b, first, block, i, n);
			pair_inside(inside, &m[i], &b, q);
		}
		store_groups(&f[g], groups - g, t);
	}
}

/* --- pairs with stored lines ----------------------------------------------- */

/* Eight of them; a lane that has none is multiplied by 1, its x' and y' being
 * 0. */
struct fixed_bundle {
	const struct quad_line *line[LANES];
	fe_t x, y;
};

static void
fixed_load(struct fixed_bundle *b, const struct ifma_fixed *p, size_t n)
{
	const fp_t *x[LANES], *y[LANES];

	for (size_t l = 0; l < LANES; l++) {
		b->line[l] = p[l < n ? l : 0].line;
		x[l] = l < n ? &p[l].x : &fp_zero;
		y[l] = l < n ? &p[l].y : &fp_zero;
	}
	fe_load(&b->x, x);
	fe_load(&b->y, y);
}

/* The next line of each lane, at its point. */
static NOINLINE void
fixed_line(fe2_t *b, fe2_t *c, struct fixed_bundle *m)
{
	for (int k = 0; k < 5; k++) {
		const void *row[LANES];
		__m512i w[4];

		for (int l = 0; l < LANES; l++)
			row[l] = m->line[l]->l[k];
		lane_transpose(w, row);
		b->c0.l[k] = w[0];
		b->c1.l[k] = w[1];
		c->c0.l[k] = w[2];
		c->c1.l[k] = w[3];
	}
	for (int l = 0; l < LANES; l++)
		m->line[l]++;
	fe2_mul_fe(b, b, &m->x);
	fe2_mul_fe(c, c, &m->y);
}

/* Multiply by the next lines, two at a time: (1 + b w + c w^3)(1 + d w + e w^3)
 * takes three products, and with what follows 20 for 20, but half as many
 * reductions and sums. */
static NOINLINE void
fixed_use(fe12_t *f, struct fixed_bundle *m, size_t n)
{
	fe2_t a[5], b, c, d, e, one;
	few2_t be, cd;
	size_t i = 0;

	fe2_set_one(&one);
	for (; i + 1 < n; i += 2) {
		fixed_line(&b, &c, &m[i]);
		fixed_line(&d, &e, &m[i + 1]);
		few2_mul(&be, &b, &d);
		few2_redc(&a[2], &be);
		few2_mul(&cd, &c, &e);
		fe2_cross(&a[4], &b, &c, &d, &e, &be, &cd);
		few2_redc(&a[0], &cd);
		fe2_mul_xi(&a[0], &a[0]);
		fe2_add(&a[0], &a[0], &one);
		fe2_add(&a[1], &b, &d);
		fe2_add(&a[3], &c, &e);
		fe12_mul_by_01234(f, a);
	}
	if (i < n) {
		fixed_line(&b, &c, &m[i]);
		fe12_mul_by_34(f, &b, &c);
	}
}

void
ifma_miller_fixed(gt_t f[static 8], const struct ifma_fixed *p, size_t n)
{
	struct fixed_bundle m[(PAIRING_FIXED_MAX + LANES - 1) / LANES];
	size_t bundles = (n + LANES - 1) / LANES;
	fe12_t t;

	for (size_t i = 0; i < bundles; i++)
		fixed_load(&m[i], p + i * LANES, n - i * LANES);
	fe12_set_one(&t);
	for (int i = ATE_DIGITS - 2; i >= 0; i--) {
		if (i != ATE_DIGITS - 2)
			fe12_sqr(&t, &t);
		fixed_use(&t, m, bundles);
		if (ate_digits[i] != 0)
			fixed_use(&t, m, bundles);
	}
	fixed_use(&t, m, bundles);
	fixed_use(&t, m, bundles);
	store_groups(f, LANES, &t);
}

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
