/* Sums of many points with secret scalars: every kernel against discrete
 * logarithms that the test knows, at sizes around each block and lane. */
#include "harness.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "bn254/msm.h"

#define N_MAX 600

/* Points with known logarithms: point i is logs[i] times the generator. */
struct fixture {
	uint8_t g1[N_MAX * 64], g2[N_MAX * 128];
	fr_t logs[N_MAX];
	uint64_t scalars[N_MAX][4];
	uint32_t index[N_MAX];
	_Alignas(64) uint8_t memory[MSM_MEMORY];
};

static struct fixture *
fixture_new(void)
{
	struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);

	CHECK(f != NULL);
	return f;
}

static void
random_fr(fr_t *out)
{
	uint8_t bytes[32];

	test_random_bytes(bytes, sizeof(bytes));
	fr_from_bytes_mod(out, bytes);
}

static void
put_fp(uint8_t *out, const fp_t *a)
{
	for (int j = 0; j < 4; j++)
		store_le64(out + 8 * j, a->l[j]);
}

/* Point I is what A and B are. */
static void
put_point(struct fixture *f, size_t i, const g1j_t *a, const twistj_t *b)
{
	g1_t p;
	twist_t q;

	g1j_to_affine_var(&p, a);
	put_fp(f->g1 + 64 * i, &p.x);
	put_fp(f->g1 + 64 * i + 32, &p.y);
	twistj_to_affine_var(&q, b);
	put_fp(f->g2 + 128 * i, &q.x.c0);
	put_fp(f->g2 + 128 * i + 32, &q.x.c1);
	put_fp(f->g2 + 128 * i + 64, &q.y.c0);
	put_fp(f->g2 + 128 * i + 96, &q.y.c1);
}

/* LOG times the generators. */
static void
multiples(g1j_t *a, twistj_t *b, const fr_t *log)
{
	uint64_t k[4];

	fr_to_limbs(k, log);
	g1j_from_affine(a, &g1_generator);
	g1j_mul_var(a, a, k);
	twistj_from_affine(b, &g2_generator.point);
	twistj_mul_var(b, b, k);
}

static void
set_point(struct fixture *f, size_t i, const fr_t *log)
{
	g1j_t a;
	twistj_t b;

	f->logs[i] = *log;
	multiples(&a, &b, log);
	put_point(f, i, &a, &b);
}

/* Random ones: points with small relations between them would meet. */
static void
set_points(struct fixture *f, size_t n)
{
	fr_t log;

	for (size_t i = 0; i < n; i++) {
		random_fr(&log);
		set_point(f, i, &log);
	}
	for (size_t i = 0; i < N_MAX; i++)
		f->index[i] = (uint32_t)i;
}

/* 0: random below r; 1: 0, 1, r - 1, r - 2, powers of 2; 2: bits; 3: zeros */
static void
set_scalars(struct fixture *f, size_t n, unsigned kind)
{
	fr_t k, edge;

	for (size_t i = 0; i < n; i++) {
		random_fr(&k);
		if (kind == 1) {
			fr_from_u64(&edge, test_random() % 3);
			if (test_random() % 2 == 0)
				fr_neg(&edge, &edge);
			if (test_random() % 2 == 0) {
				fr_from_u64(&edge, 2);
				fr_pow(&edge, &edge,
				    &(uint64_t){test_random() % 253}, 1);
			}
			k = edge;
		} else if (kind == 2) {
			fr_from_u64(&k, test_random() & 1);
		} else if (kind == 3) {
			k = fr_zero;
		}
		fr_to_limbs(f->scalars[i], &k);
	}
}

/* Sum in all kernels and both groups, and compare with the logarithms. */
static void
check_sum(struct fixture *f, size_t n, bool bits)
{
	const struct msm_kernel *kernel;
	struct msm_terms t = {.scalars = (const uint64_t(*)[4])f->scalars,
	    .index = f->index,
	    .n = n,
	    .bits = bits};
	fr_t log = fr_zero, term;
	g1j_t want, got;
	twistj_t want2, got2;

	for (size_t i = 0; i < n; i++) {
		uint8_t bytes[32];
		size_t at = f->index[i];
		for (int j = 0; j < 4; j++)
			store_be64(bytes + 24 - 8 * j, f->scalars[at][j]);
		CHECK_STATUS(fr_from_bytes_strict(&term, bytes), ST_OK);
		fr_mul(&term, &term, &f->logs[at]);
		fr_add(&log, &log, &term);
	}
	multiples(&want, &want2, &log);
	for (unsigned i = 0; (kernel = msm_kernel_nth(i)) != NULL; i++) {
		t.points = f->g1;
		msm_g1(&got, kernel, &t, f->memory);
		if (!g1j_eq(&got, &want))
			test_fail(__FILE__, __LINE__, "%s: G1, n = %zu",
			    msm_kernel_name(kernel), n);
		t.points = f->g2;
		msm_g2(&got2, kernel, &t, f->memory);
		if (!twistj_eq(&got2, &want2))
			test_fail(__FILE__, __LINE__, "%s: G2, n = %zu",
			    msm_kernel_name(kernel), n);
	}
}

static void
test_sizes(void)
{
	static const size_t sizes[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65,
	    255, 256, 257, 263, 511, 512, 513, 600};
	struct fixture *f = fixture_new();

	set_points(f, 600);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		set_scalars(f, sizes[i], 0);
		check_sum(f, sizes[i], false);
	}
	free(f);
}

static void
test_edges(void)
{
	struct fixture *f = fixture_new();

	set_points(f, 200);
	for (size_t n = 150; n < 200; n += 7) {
		set_scalars(f, n, 1);
		check_sum(f, n, false);
	}
	set_scalars(f, 200, 3); /* the sum is infinity */
	check_sum(f, 200, false);
	free(f);
}

static void
test_bits(void)
{
	static const size_t sizes[] = {1, 8, 9, 64, 500, 513, 600};
	struct fixture *f = fixture_new();

	set_points(f, 600);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		set_scalars(f, sizes[i], 2);
		check_sum(f, sizes[i], true);
		/* Bits are scalars too. */
		if (i < 4)
			check_sum(f, sizes[i], false);
	}
	set_scalars(f, 100, 3);
	check_sum(f, 100, true);
	free(f);
}

/* Equal and opposite points, which meet in one accumulator: the case that
 * affine addition can not do. */
static void
test_meetings(void)
{
	struct fixture *f = fixture_new();
	fr_t log;

	random_fr(&log);
	for (size_t i = 0; i < 160; i++) {
		set_point(f, i, &log);
		f->index[i] = (uint32_t)i;
		if (i % 3 == 0)
			fr_neg(&log, &log);
	}
	set_scalars(f, 160, 0);
	check_sum(f, 160, false);
	for (size_t i = 1; i < 160; i++)
		memcpy(f->scalars[i], f->scalars[0], 32);
	check_sum(f, 160, false);
	set_scalars(f, 160, 2);
	check_sum(f, 160, true);
	free(f);
}

/* The index decides which points and scalars, and in which order. */
static void
test_index(void)
{
	struct fixture *f = fixture_new();

	set_points(f, 100);
	set_scalars(f, 100, 0);
	for (size_t i = 0; i < 50; i++)
		f->index[i] = (uint32_t)(99 - 2 * i);
	check_sum(f, 50, false);
	free(f);
}

TESTS({"sums of every size around lanes and blocks", test_sizes},
    {"scalars at the edges", test_edges}, {"scalars that are bits", test_bits},
    {"equal and opposite points", test_meetings},
    {"the index chooses the terms", test_index}, )
