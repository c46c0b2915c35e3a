/* The pairing and membership of G2, by every kernel of this machine. */
#include "bn254/pairing.h"
#include "bn254_vectors.h"

static void
scalar(uint64_t limbs[static 4], fr_t *k)
{
	uint8_t bytes[32];

	test_random_bytes(bytes, sizeof(bytes));
	fr_from_bytes_mod(k, bytes);
	fr_to_limbs(limbs, k);
}

static void
fp_random(fp_t *r)
{
	uint8_t bytes[32];

	do {
		test_random_bytes(bytes, sizeof(bytes));
		bytes[0] &= 0x3f;
	} while (fp_from_bytes_strict(r, bytes) != ST_OK);
}

static void
g1_times(g1_t *r, const g1_t *p, const uint64_t k[static 4])
{
	g1j_t j;

	g1j_from_affine(&j, p);
	g1j_mul_var(&j, &j, k);
	g1j_to_affine_var(r, &j);
}

static void
g2_times(g2_t *r, const g2_t *p, const uint64_t k[static 4])
{
	twist_t t;
	twistj_t j;

	twistj_from_affine(&j, &p->point);
	twistj_mul_var(&j, &j, k);
	twistj_to_affine_var(&t, &j);
	CHECK_STATUS(g2_check_var(r, &t), ST_OK);
}

/* --- against the oracle ---------------------------------------------------- */

static void
oracle_pairing(const struct vector *v, void *ctx)
{
	const struct bn254_kernel *k = ctx;
	gt_t want, got;
	twist_t t;
	g2_t q;
	g1_t p;

	vector_g1(&p, v, 1);
	vector_twist(&t, v, 3);
	for (size_t i = 0; i < 6; i++)
		vector_fp2(&want.c[i], v, 7 + 2 * i);
	CHECK_STATUS(g2_check_var(&q, &t), ST_OK);
	k->pairing(&got, &p, &q);
	CHECK(gt_eq(&got, &want));
	want.c[3].c1.l[0] ^= 1;
	CHECK(!gt_eq(&got, &want));
}

static void
oracle(const struct bn254_kernel *k)
{
	union {
		const struct bn254_kernel *from;
		void *to;
	} u = {k};

	CHECK_INT(vectors_each("pairing", oracle_pairing, u.to), 8);
}

static void
oracle_membership(const struct vector *v, void *ctx)
{
	const struct bn254_kernel *k = ctx;
	bool inside = strcmp(v->field[5], "in") == 0;
	twist_t t;
	gt_t one;
	g2_t q;

	CHECK(inside || strcmp(v->field[5], "out") == 0);
	vector_twist(&t, v, 1);
	CHECK(k->in_group(&t) == inside);
	CHECK_STATUS(g2_check_var(&q, &t), inside ? ST_OK : ST_NOT_IN_GROUP);
	CHECK(twist_is_infinity(&q.point) == !inside);
	/* And on the way through a product. */
	memset(&one, 0, sizeof(one));
	CHECK_STATUS(k->check(&g1_generator, &t, NULL, 0, &one),
	    inside ? ST_PROOF_INVALID : ST_NOT_IN_GROUP);
}

static void
membership(const struct bn254_kernel *k)
{
	union {
		const struct bn254_kernel *from;
		void *to;
	} u = {k};

	CHECK(vectors_each("twist", oracle_membership, u.to) > 100);
}

/* Points of order 10069, all the multiples of one: none is in G2. */
static void
first_small(const struct vector *v, void *ctx)
{
	twist_t *t = ctx;

	if (strcmp(v->field[6], "2755") == 0 && twist_is_infinity(t))
		vector_twist(t, v, 1);
}

static void
small_order(const struct bn254_kernel *k)
{
	static twist_t base, a[64];
	static fp2_t scratch[64];
	static twistj_t j[64];
	unsigned seen = 0;

	base = twist_infinity;
	vectors_each("twist", first_small, &base);
	CHECK(!twist_is_infinity(&base));
	twistj_from_affine(&j[63], &base);
	for (;;) {
		for (int i = 0; i < 64; i++)
			twistj_madd_var(&j[i], &j[(i + 63) % 64], &base);
		twistj_to_affine_many(a, scratch, j, 64);
		for (int i = 0; i < 64; i++, seen++) {
			if (twist_is_infinity(&a[i])) {
				CHECK_INT(seen + 2, 10069);
				return;
			}
			CHECK(twist_on_curve(&a[i]));
			if (seen % 32 == 0)
				CHECK(!k->in_group(&a[i]));
		}
	}
}

/* --- the pairing's own laws ------------------------------------------------ */

static void
bilinear(const struct bn254_kernel *k)
{
	uint64_t a[4], b[4], ab[4];
	gt_t left, right, one;
	fr_t x, y;
	g1_t p, pa;
	g2_t q, qb;

	k->pairing(&one, &g1_infinity, &g2_generator);
	CHECK(fp2_eq(&one.c[0], &fp2_one));
	for (int i = 1; i < 6; i++)
		CHECK(fp2_is_zero(&one.c[i]));
	for (int i = 0; i < 4; i++) {
		scalar(a, &x);
		g1_times(&p, &g1_generator, a);
		scalar(a, &x);
		g2_times(&q, &g2_generator, a);
		scalar(a, &x);
		scalar(b, &y);
		fr_mul(&x, &x, &y);
		fr_to_limbs(ab, &x);
		g1_times(&pa, &p, a);
		g2_times(&qb, &q, b);
		k->pairing(&left, &pa, &qb);
		g1_times(&pa, &p, ab);
		k->pairing(&right, &pa, &q);
		CHECK(gt_eq(&left, &right));
		CHECK(!gt_eq(&left, &one));
		k->pairing(&right, &p, &q);
		CHECK(!gt_eq(&left, &right));
	}
}

#define LINES_MAX 65536

/* e(aP, Q) times stored pairings e(bP, Q) e(cP, Q') is e((a + b + cd) P, Q) for
 * Q' = dQ; with one or both of them at infinity too. */
static void
products(const struct bn254_kernel *k)
{
	static _Alignas(64) uint8_t lines[2][LINES_MAX];
	uint64_t a[4], b[4], c[4], d[4], sum[4];
	struct pairing_fixed fixed[2];
	fr_t fa, fb, fc, fd, t;
	g1_t p, pa;
	g1j_t j;
	g2_t q;
	gt_t target;

	CHECK(k->lines_size <= LINES_MAX);
	for (unsigned i = 0; i < 8; i++) {
		scalar(a, &fa);
		scalar(b, &fb);
		scalar(c, &fc);
		scalar(d, &fd);
		if (i & 1)
			fb = fr_zero;
		if (i & 2)
			fc = fr_zero;
		fr_to_limbs(b, &fb);
		fr_to_limbs(c, &fc);
		g2_times(&q, &g2_generator, d);
		k->lines(lines[0], &g2_generator);
		k->lines(lines[1], &q);
		g1_times(&pa, &g1_generator, a);
		fixed[0].lines = lines[0];
		g1j_from_affine(&j, &g1_generator);
		g1j_mul(&fixed[0].p, &j, b);
		fixed[1].lines = lines[1];
		g1j_mul(&fixed[1].p, &j, c);
		fr_mul(&t, &fc, &fd);
		fr_add(&t, &t, &fa);
		fr_add(&t, &t, &fb);
		fr_to_limbs(sum, &t);
		g1_times(&p, &g1_generator, sum);
		k->pairing(&target, &p, &g2_generator);
		CHECK_STATUS(
		    k->check(&pa, &g2_generator.point, fixed, 2, &target),
		    ST_OK);
		CHECK_STATUS(
		    k->check(&p, &g2_generator.point, NULL, 0, &target), ST_OK);
		g1j_madd_var(&fixed[0].p, &fixed[0].p, &g1_generator);
		CHECK_STATUS(
		    k->check(&pa, &g2_generator.point, fixed, 2, &target),
		    ST_PROOF_INVALID);
	}
	CHECK_STATUS(
	    k->check(&g1_infinity, &g2_generator.point, fixed, 2, &target),
	    ST_INFINITY);
	CHECK_STATUS(
	    k->check(&pa, &twist_infinity, fixed, 2, &target), ST_INFINITY);
}

/* --- batches of Miller loops ----------------------------------------------- */

#define BATCH_PAIRS 23

struct batch {
	gt_t f[BATCH_PAIRS];
	size_t groups;
	bool inside[BATCH_PAIRS];
	g1_t p[BATCH_PAIRS];
	twist_t q[BATCH_PAIRS];
	void *scratch;
};

static void
batch_run(struct batch *b, const struct bn254_kernel *k)
{
	memset(b->f, 0xff, sizeof(b->f));
	memset(b->inside, 0xff, sizeof(b->inside));
	k->miller(
	    b->f, b->inside, b->p, b->q, BATCH_PAIRS, b->groups, b->scratch);
}

/* Random pairs; SUM times the generators is their product. */
static void
batch_fill(struct batch *b, fr_t *sum)
{
	uint64_t l[4];
	fr_t x, y;
	g2_t q;

	*sum = fr_zero;
	for (unsigned i = 0; i < BATCH_PAIRS; i++) {
		scalar(l, &x);
		g1_times(&b->p[i], &g1_generator, l);
		scalar(l, &y);
		g2_times(&q, &g2_generator, l);
		b->q[i] = q.point;
		fr_mul(&x, &x, &y);
		fr_add(sum, sum, &x);
	}
}

static bool
batch_is(const struct batch *b, const struct bn254_kernel *k, const fr_t *sum)
{
	const gt_t *f[BATCH_PAIRS];
	uint64_t l[4];
	gt_t target;
	g1_t p;

	for (size_t i = 0; i < b->groups; i++)
		f[i] = &b->f[i];
	fr_to_limbs(l, sum);
	g1_times(&p, &g1_generator, l);
	k->pairing(&target, &p, &g2_generator);
	return k->finish(f, b->groups, NULL, 0, &target);
}

/* Points that are not in G2: one of small order, and two for which the loop divides by zero. No formula knows the
 * curve's b: (x, 0) is of order 2, (0, y) of order 3 on some curve. */
static void
batch_spoil(struct batch *b)
{
	twist_t small = twist_infinity;

	vectors_each("twist", first_small, &small);
	CHECK(!twist_is_infinity(&small));
	b->q[7] = small;
	b->q[6].y = fp2_zero;
	b->q[22].x = fp2_zero;
}

static void
batches(const struct bn254_kernel *k)
{
	static struct batch b, was;
	size_t size = (k->batch_scratch(BATCH_PAIRS) + 63) / 64 * 64;
	size_t block;
	fr_t sum;

	b.groups = k->batch_groups(BATCH_PAIRS);
	CHECK(b.groups > 0 && b.groups <= BATCH_PAIRS);
	block = (BATCH_PAIRS + b.groups - 1) / b.groups;
	b.scratch = aligned_alloc(64, size);
	CHECK(b.scratch != NULL);
	batch_fill(&b, &sum);
	batch_run(&b, k);
	for (unsigned i = 0; i < BATCH_PAIRS; i++)
		CHECK(b.inside[i]);
	CHECK(batch_is(&b, k, &sum));
	fr_add(&sum, &sum, &fr_one);
	CHECK(!batch_is(&b, k, &sum));

	was = b;
	batch_spoil(&b);
	batch_run(&b, k);
	for (unsigned i = 0; i < BATCH_PAIRS; i++) {
		CHECK(b.inside[i] == (i != 6 && i != 7 && i != 22));
		CHECK(b.inside[i] == k->in_group(&b.q[i]));
	}
	/* The groups without one of them are as they were. */
	for (size_t g = 0; g < b.groups; g++) {
		bool same = g != 6 / block && g != 7 / block && g != 22 / block;

		CHECK(gt_eq(&b.f[g], &was.f[g]) == same);
	}
	free(b.scratch);
}

static void
kernels(void (*test)(const struct bn254_kernel *))
{
	const struct bn254_kernel *k;
	size_t n = 0;

	while ((k = bn254_kernel_nth(n)) != NULL) {
		printf("    kernel %s\n", bn254_kernel_name(k));
		test(k);
		n++;
	}
	CHECK(n > 0);
}

static void
test_oracle(void)
{
	kernels(oracle);
}

static void
test_membership(void)
{
	kernels(membership);
}

static void
test_small_order(void)
{
	kernels(small_order);
}

static void
test_bilinear(void)
{
	kernels(bilinear);
}

static void
test_products(void)
{
	kernels(products);
}

static void
test_batches(void)
{
	kernels(batches);
}

/* Every number of lanes, each with an element of its own; what stands behind
 * the last is left alone. The oracle is fp_pow, which test_field holds against
 * GMP. */
static void
inverse_roots(const struct bn254_kernel *k)
{
	fp_t a[41], r[41], same[41], want, check;

	for (size_t n = 0; n < 41; n++) {
		for (size_t i = 0; i < 41; i++)
			fp_random(&a[i]);
		for (size_t i = 0; i < 3; i++)
			fp_from_u64(&a[(n + i) % 41], i);
		fp_neg(&a[(n + 3) % 41], &fp_one);
		memcpy(same, a, sizeof(a));
		memcpy(r, a, sizeof(a));
		k->inverse_roots(r, a, n);
		k->inverse_roots(same, same, n);
		for (size_t i = 0; i < 41; i++) {
			if (i < n)
				fp_pow(
				    &want, &a[i], fp_inverse_root_exponent, 4);
			else
				want = a[i];
			CHECK(fp_eq(&r[i], &want));
			CHECK(fp_eq(&same[i], &want));
		}
	}
	/* 1 / 2 is the inverse root of 4, or its negative. */
	fp_from_u64(&a[0], 4);
	k->inverse_roots(r, a, 1);
	fp_dbl(&check, &r[0]);
	fp_sqr(&check, &check);
	CHECK(fp_eq(&check, &fp_one));
}

static void
test_inverse_roots(void)
{
	kernels(inverse_roots);
}

/* Sums of every length up to where lanes begin and beyond, with signs; and
 * what an addition does not know: infinity, equal points and opposite ones. */
static void
sums(const struct bn254_kernel *k)
{
	enum { MOST = 150 };
	static g1_t p[MOST];
	static struct g1_term terms[MOST];
	g1j_t want, got, j, g;
	g1_t t;

	g1j_from_affine(&g, &g1_generator);
	for (size_t i = 0; i < MOST; i++) {
		uint64_t scalar[4] = {test_random(), test_random(), 0, 0};

		g1j_mul_var(&j, &g, scalar);
		g1j_to_affine(&p[i], &j);
		terms[i].p = &p[i];
		terms[i].negative = test_random() % 2;
	}
	for (size_t n = 0; n <= 6 * MOST; n++) {
		size_t length = n < MOST ? n : MOST - n % 30;

		if (n >= MOST) {
			size_t at = test_random() % length;

			terms[at].p = &p[test_random() % 4];
			if (n % 3 == 0)
				p[test_random() % MOST] = g1_infinity;
			if (n % 100 == 0)
				p[0] = p[1];
		}
		g1j_set_infinity(&want);
		for (size_t i = 0; i < length; i++) {
			t = *terms[i].p;
			if (terms[i].negative)
				g1_neg(&t, &t);
			g1j_madd_var(&want, &want, &t);
		}
		k->sum(&got, terms, length);
		CHECK(g1j_eq(&got, &want));
	}
	/* One point, everywhere. */
	for (size_t i = 0; i < MOST; i++)
		terms[i].p = &g1_generator;
	k->sum(&got, terms, MOST);
	g1j_set_infinity(&want);
	for (size_t i = 0; i < MOST; i++) {
		g1_neg(&t, &g1_generator);
		g1j_madd_var(
		    &want, &want, terms[i].negative ? &t : &g1_generator);
	}
	CHECK(g1j_eq(&got, &want));
}

static void
test_sums(void)
{
	kernels(sums);
}

static void
test_pick(void)
{
	const struct bn254_kernel *k, *best;

	CHECK_STATUS(bn254_kernel_pick(&best, NULL), ST_OK);
	CHECK(best == bn254_kernel_nth(0));
	CHECK_STATUS(bn254_kernel_pick(&k, "no such kernel"), ST_UNKNOWN);
	CHECK(k == NULL);
	for (size_t i = 0; (best = bn254_kernel_nth(i)) != NULL; i++) {
		CHECK_STATUS(
		    bn254_kernel_pick(&k, bn254_kernel_name(best)), ST_OK);
		CHECK(k == best);
	}
}

TESTS({"pairings equal the oracle's", test_oracle},
    {"membership of G2 is the oracle's", test_membership},
    {"no point of order 10069 is in G2", test_small_order},
    {"bilinear", test_bilinear}, {"inverse roots", test_inverse_roots},
    {"sums of points", test_sums},
    {"products with stored lines", test_products},
    {"batches of Miller loops", test_batches},
    {"kernels are picked by name", test_pick})
