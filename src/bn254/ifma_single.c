/* One proof on AVX-512 IFMA: four elements of Fp2 side by side. Compiled for it
 * on any x86-64, run only where the processor has it. */
#include "bn254/kernels.h"

#ifdef __x86_64__

#include "bn254/ifma_batch.h"
#include "bn254/ifma_single.h"
#include "bn254/membership.h"

#ifdef __clang__
#pragma clang attribute push(                                        \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512ifma"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512ifma")
#endif

#include "bn254/quad_miller_impl.h"

/* --- in and out ------------------------------------------------------------ */

/* A quad of up to four elements; the last is repeated. */
static void
quad_from(fe2x4_t *r, const fp2_t *const in[static 4])
{
	const fp_t *lane[LANES];

	for (int s = 0; s < 4; s++) {
		lane[2 * s] = &in[s]->c0;
		lane[2 * s + 1] = &in[s]->c1;
	}
	fe_load(r, lane);
}

static void
quad_to(fp2_t out[static 4], const fe2x4_t *a)
{
	fp_t lane[LANES];

	fe_store(lane, a);
	for (int s = 0; s < 4; s++) {
		out[s].c0 = lane[2 * s];
		out[s].c1 = lane[2 * s + 1];
	}
}

static void
fe12_from_gt(fe12_t *r, const gt_t *a)
{
	const fp2_t *x[4] = {&a->c[0], &a->c[1], &a->c[2], &a->c[2]};
	const fp2_t *y[4] = {&a->c[3], &a->c[4], &a->c[5], &a->c[5]};

	quad_from(&r->x, x);
	quad_from(&r->y, y);
}

static void
fe12_to_gt(gt_t *r, const fe12_t *a)
{
	fp2_t c[4];

	quad_to(c, &a->x);
	memcpy(r->c, c, 3 * sizeof(c[0]));
	quad_to(c, &a->y);
	memcpy(r->c + 3, c, 3 * sizeof(c[0]));
}

/* The one inversion of a final exponentiation is left to the scalar kernel. */
static void
fe12_inv(fe12_t *r, const fe12_t *a)
{
	gt_t t;

	fe12_to_gt(&t, a);
	bn254_kernel_adx.invert(&t, &t);
	fe12_from_gt(r, &t);
}

#include "bn254/final_impl.h"
#include "bn254/power_impl.h"

/* Four elements in limbs of 52 bits. */
static void
fp4_to_limbs(uint64_t out[static 5][4], const fp_t *const in[static 4])
{
	for (int k = 0; k < 4; k++) {
		fp_t t = *in[k];

		/* From the base 2^256 to 2^260. */
		for (int j = 0; j < 4; j++)
			fp_dbl(&t, &t);
		out[0][k] = t.l[0] & LANE_MASK;
		out[1][k] = (t.l[0] >> 52 | t.l[1] << 12) & LANE_MASK;
		out[2][k] = (t.l[1] >> 40 | t.l[2] << 24) & LANE_MASK;
		out[3][k] = (t.l[2] >> 28 | t.l[3] << 36) & LANE_MASK;
		out[4][k] = t.l[3] >> 16;
	}
}

void
ifma_put_line(void *lines, size_t i, const fp2_t *b, const fp2_t *c)
{
	const fp_t *in[4] = {&b->c0, &b->c1, &c->c0, &c->c1};
	struct quad_line *out = (struct quad_line *)lines + i;

	fp4_to_limbs(out->l, in);
}

/* --- pairs ----------------------------------------------------------------- */

static void
quad_point_init(
    struct quad_point *p, const fp2_t *x, const fp2_t *y, const fp_t *inv_y)
{
	const fp2_t *yx[4] = {y, x, y, x};
	fp2_t sx, sy;
	const fp2_t *scaled[4] = {&sx, &sx, &sx, &sy};

	fp2_mul_fp(&sx, x, inv_y);
	fp2_mul_fp(&sy, y, inv_y);
	quad_from(&p->yx, yx);
	quad_from(&p->scaled, scaled);
}

/* Set up (A, B) and, in LAST, psi(B) and -psi^2(B); INV_Y is 1 / yA. */
static void
quad_pair_init(struct quad_pair *m, struct quad_point last[static 2],
    const g1_t *a, const twist_t *b, const fp_t *inv_y)
{
	fp2_t x, y, px = fp2_zero, py = fp2_zero, px3;
	const fp2_t *t[4] = {&b->x, &b->y, &fp2_one, &fp2_one};
	const fp2_t *in_x[4] = {&px, &px, &px, &px};
	const fp2_t *in_y[4] = {&py, &py, &py, &py};
	const fp2_t *tangent[4] = {&twist_b3, &twist_b3, &px3, &px3};
	lane_t ab3;

	py.c0 = *inv_y;
	fp_mul(&px.c0, &a->x, inv_y);
	fp2_dbl(&px3, &px);
	fp2_add(&px3, &px3, &px);
	quad_from(&m->t, t);
	quad_from(&m->px, in_x);
	quad_from(&m->py, in_y);
	quad_from(&m->tangent, tangent);
	lane_set(&ab3, lane_twist_ab3.c0.l);
	lane_select(&m->tangent, &ab3, QUAD_SLOT(1) & QUAD_EVEN);
	lane_set(&ab3, lane_twist_ab3.c1.l);
	lane_select(&m->tangent, &ab3, QUAD_SLOT(1) & QUAD_ODD);
	quad_point_init(&m->q, &b->x, &b->y, inv_y);
	fp2_neg(&y, &b->y);
	quad_point_init(&m->neg_q, &b->x, &y, inv_y);

	fp2_conj(&x, &b->x);
	fp2_mul(&x, &x, &frobenius_1[2]);
	fp2_conj(&y, &b->y);
	fp2_mul(&y, &y, &frobenius_1[3]);
	quad_point_init(&last[0], &x, &y, inv_y);
	fp2_mul_fp(&x, &b->x, &frobenius_2[2]);
	quad_point_init(&last[1], &x, &b->y, inv_y);
}

static bool
quad_pair_in_group(const struct quad_pair *m, const twist_t *b)
{
	fp2_t t[4];

	quad_to(t, &m->t);
	return membership_var(b, &t[0], &t[1], &t[2]);
}

/* x / y and 1 / y of a Jacobian point, INVERSE being 1 / Y: X Z / Y and
 * Z^3 / Y. */
static void
over_y(fp_t *x, fp_t *y, const g1j_t *p, const fp_t *inverse)
{
	fp_mul(y, &p->z, inverse);
	fp_mul(x, &p->x, y);
	fp_mul(y, y, &p->z);
	fp_mul(y, y, &p->z);
}

/* Put N fixed pairs at their points, leaving out those at infinity, and with the
 * same inversion 1 / y of A, if that is not NULL.
 * Returns: how many there are. */
static NOINLINE size_t
fixed_init(struct ifma_fixed *out, const struct pairing_fixed *fixed, size_t n,
    fp_t *inv_y, const g1_t *a)
{
	fp_t y[PAIRING_FIXED_MAX + 1], inverse[PAIRING_FIXED_MAX + 1];
	size_t k = 0;

	VERIFY(n <= PAIRING_FIXED_MAX);
	for (size_t i = 0; i < n; i++)
		y[i] = fixed[i].p.y;
	y[n] = a != NULL ? a->y : fp_one;
	fp_inv_many_var(inverse, y, n + 1);
	*inv_y = inverse[n];
	for (size_t i = 0; i < n; i++) {
		if (g1j_is_infinity(&fixed[i].p))
			continue;
		over_y(&out[k].x, &out[k].y, &fixed[i].p, &inverse[i]);
		out[k++].line = fixed[i].lines;
	}
	return k;
}

/* The same in bundles of two; returns how many. */
static size_t
quad_fixed_init(struct quad_fixed *out, const struct ifma_fixed *p, size_t n)
{
	for (size_t i = 0; i < n; i += 2) {
		bool two = i + 1 < n;
		const fp_t *in[4] = {&p[i].x, &p[i].y,
		    two ? &p[i + 1].x : &fp_zero, two ? &p[i + 1].y : &fp_zero};

		out[i / 2].line[0] = p[i].line;
		out[i / 2].line[1] = two ? p[i + 1].line : NULL;
		fp4_to_limbs(out[i / 2].scale, in);
	}
	return (n + 1) / 2;
}

#define BUNDLES_MAX ((PAIRING_FIXED_MAX + 1) / 2)

enum status
ifma_check(const g1_t *a, const twist_t *b, const struct pairing_fixed *fixed,
    size_t n, const gt_t *target)
{
	struct ifma_fixed pair[PAIRING_FIXED_MAX];
	struct quad_fixed bundle[BUNDLES_MAX];
	struct quad_point last[2];
	struct quad_pair m;
	fp_t inv_y;
	fe12_t f;
	gt_t g;

	if (g1_is_infinity(a) || twist_is_infinity(b))
		return ST_INFINITY;
	n = fixed_init(pair, fixed, n, &inv_y, a);
	n = quad_fixed_init(bundle, pair, n);
	quad_pair_init(&m, last, a, b, &inv_y);
	quad_miller_loop(&f, &m, last, bundle, n);
	if (!quad_pair_in_group(&m, b))
		return ST_NOT_IN_GROUP;
	final_exponentiation(&f, &f);
	fe12_to_gt(&g, &f);
	return gt_eq(&g, target) ? ST_OK : ST_PROOF_INVALID;
}

/* From how many fixed pairs on eight side by side are faster than two; and how
 * many that are left over make a bundle of eight. */
#define FIXED_LANES_MIN 24
#define FIXED_BUNDLE_MIN 7

/* f = the product of the Miller functions of N pairs. */
static void
fixed_loops(fe12_t *f, const struct ifma_fixed *pair, size_t n)
{
	struct quad_fixed bundle[BUNDLES_MAX];
	size_t lanes = n < FIXED_LANES_MIN ? 0
	    : n % LANES < FIXED_BUNDLE_MIN ? n - n % LANES
					   : n;
	gt_t lane[LANES];
	fe12_t t;

	quad_miller_loop(f, NULL, NULL, bundle,
	    quad_fixed_init(bundle, pair + lanes, n - lanes));
	if (lanes == 0)
		return;
	ifma_miller_fixed(lane, pair, lanes);
	for (int i = 0; i < LANES; i++) {
		fe12_from_gt(&t, &lane[i]);
		fe12_mul(f, f, &t);
	}
}

bool
ifma_finish(const gt_t *const *f, size_t nf, const struct pairing_fixed *fixed,
    size_t n, const gt_t *target)
{
	struct ifma_fixed pair[PAIRING_FIXED_MAX];
	fe12_t acc, t;
	fp_t unused;
	gt_t g;

	n = fixed_init(pair, fixed, n, &unused, NULL);
	fixed_loops(&acc, pair, n);
	for (size_t i = 0; i < nf; i++) {
		fe12_from_gt(&t, f[i]);
		fe12_mul(&acc, &acc, &t);
	}
	final_exponentiation(&acc, &acc);
	fe12_to_gt(&g, &acc);
	return gt_eq(&g, target);
}

void
ifma_power(gt_t *r, const gt_t *a, const struct weight_sum *e)
{
	fe12_t t;

	fe12_from_gt(&t, a);
	fe12_power(&t, &t, e);
	fe12_to_gt(r, &t);
}

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
