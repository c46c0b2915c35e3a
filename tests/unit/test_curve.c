/* The groups: the oracle's vectors, tiny groups exhaustively, encodings. */
#include "base/wipe.h"
#include "bn254/limbs.h"
#include "bn254_vectors.h"

/* --- the group law over all pairs of tiny groups --------------------------- */

/* The same source as G1, over curves y^2 = x^3 + b that have points of small
 * order. */
typedef struct {
	fp_t x, y;
} tiny_t;
typedef struct {
	fp_t x, y, z;
} tinyj_t;
static const tiny_t tiny_infinity;
static fp_t tiny_b, tiny_b3;

/* Prototypes, as a header would have them. */
bool tiny_is_infinity(const tiny_t *a);
bool tiny_on_curve(const tiny_t *a);
enum status tiny_set_var(tiny_t *r, const fp_t *x, const fp_t *y);
bool tiny_eq(const tiny_t *a, const tiny_t *b);
void tiny_neg(tiny_t *r, const tiny_t *a);
void tinyj_set_infinity(tinyj_t *r);
void tinyj_from_affine(tinyj_t *r, const tiny_t *a);
bool tinyj_is_infinity(const tinyj_t *a);
bool tinyj_eq(const tinyj_t *a, const tinyj_t *b);
void tinyj_neg(tinyj_t *r, const tinyj_t *a);
void tinyj_cmov(tinyj_t *r, const tinyj_t *a, bool flag);
void tinyj_to_affine(tiny_t *r, const tinyj_t *a);
void tinyj_to_affine_var(tiny_t *r, const tinyj_t *a);
void tinyj_to_affine_many(tiny_t *r, fp_t *scratch, const tinyj_t *a, size_t n);
void tinyj_dbl(tinyj_t *r, const tinyj_t *a);
void tinyj_add_var(tinyj_t *r, const tinyj_t *a, const tinyj_t *b);
void tinyj_add(tinyj_t *r, const tinyj_t *a, const tinyj_t *b);
void tinyj_madd_var(tinyj_t *r, const tinyj_t *a, const tiny_t *b);
void tinyj_mul(tinyj_t *r, const tinyj_t *a, const uint64_t k[static 4]);
void tinyj_mul_var(tinyj_t *r, const tinyj_t *a, const uint64_t k[static 4]);

#define EC(NAME) tiny_##NAME
#define EC_T tiny_t
#define ECJ(NAME) tinyj_##NAME
#define ECJ_T tinyj_t
#define EF(NAME) fp_##NAME
#define EF_T fp_t
#define EC_B tiny_b
#define EC_B3 tiny_b3
#include "bn254/ec_impl.h"

#define TINY_MAX 128

/* a + b by the school's formula, two different points or one doubled. */
static void
school_add(tiny_t *r, const tiny_t *a, const tiny_t *b)
{
	fp_t n, d, s, x;

	if (tiny_is_infinity(a) || tiny_is_infinity(b)) {
		*r = tiny_is_infinity(a) ? *b : *a;
		return;
	}
	if (fp_eq(&a->x, &b->x) && !fp_eq(&a->y, &b->y)) {
		*r = tiny_infinity;
		return;
	}
	if (fp_eq(&a->x, &b->x)) {
		fp_sqr(&n, &a->x);
		fp_dbl(&d, &n);
		fp_add(&n, &n, &d);
		fp_dbl(&d, &a->y);
	} else {
		fp_sub(&n, &b->y, &a->y);
		fp_sub(&d, &b->x, &a->x);
	}
	fp_inv_var(&d, &d);
	fp_mul(&s, &n, &d);
	fp_sqr(&x, &s);
	fp_sub(&x, &x, &a->x);
	fp_sub(&x, &x, &b->x);
	fp_sub(&d, &a->x, &x);
	fp_mul(&d, &d, &s);
	fp_sub(&r->y, &d, &a->y);
	r->x = x;
}

/* A as (X Z^2, Y Z^3, Z) with a random Z; infinity with random X and Y. */
static void
blind(tinyj_t *r, const tiny_t *a)
{
	fp_t z, t;

	fp_from_u64(&z, test_random() | 1);
	if (tiny_is_infinity(a)) {
		/* Infinity as it comes out of formulas: (s^2, s^3, 0). */
		fp_sqr(&r->x, &z);
		fp_mul(&r->y, &r->x, &z);
		r->z = fp_zero;
		return;
	}
	fp_sqr(&t, &z);
	fp_mul(&r->x, &a->x, &t);
	fp_mul(&t, &t, &z);
	fp_mul(&r->y, &a->y, &t);
	r->z = z;
}

static void
check_tiny(const tinyj_t *got, const tiny_t *want)
{
	tinyj_t w;
	tiny_t a;

	tinyj_to_affine(&a, got);
	CHECK(tiny_eq(&a, want));
	tinyj_to_affine_var(&a, got);
	CHECK(tiny_eq(&a, want));
	blind(&w, want);
	CHECK(tinyj_eq(got, &w) && tinyj_eq(&w, got));
	CHECK(tinyj_is_infinity(got) == tiny_is_infinity(want));
}

/* point[k] = k P for all k. */
static void
tiny_pair(const tiny_t *point, size_t n, size_t i, size_t j)
{
	tinyj_t a, b, r;

	blind(&a, &point[i]);
	blind(&b, &point[j]);
	tinyj_add_var(&r, &a, &b);
	check_tiny(&r, &point[(i + j) % n]);
	r = a;
	tinyj_add_var(&r, &r, &b);
	check_tiny(&r, &point[(i + j) % n]);
	r = b;
	tinyj_add_var(&r, &a, &r);
	check_tiny(&r, &point[(i + j) % n]);
	tinyj_madd_var(&r, &a, &point[j]);
	check_tiny(&r, &point[(i + j) % n]);
	tinyj_add(&r, &a, &b);
	check_tiny(&r, &point[(i + j) % n]);
	r = a;
	tinyj_add(&r, &r, &b);
	check_tiny(&r, &point[(i + j) % n]);
	r = b;
	tinyj_add(&r, &a, &r);
	check_tiny(&r, &point[(i + j) % n]);
	CHECK(tinyj_eq(&a, &b) == (i == j));
	CHECK(tiny_eq(&point[i], &point[j]) == (i == j));
}

static void
tiny_single(const tiny_t *point, size_t n, size_t i)
{
	uint64_t k[4];
	tinyj_t a, r;
	tiny_t t;

	blind(&a, &point[i]);
	tinyj_dbl(&r, &a);
	check_tiny(&r, &point[2 * i % n]);
	tinyj_neg(&r, &a);
	check_tiny(&r, &point[(n - i) % n]);
	tiny_neg(&t, &point[i]);
	CHECK(tiny_eq(&t, &point[(n - i) % n]));
	tinyj_from_affine(&r, &point[i]);
	check_tiny(&r, &point[i]);
	CHECK(tiny_on_curve(&point[i]));
	for (size_t m = 0; m < 2 * n; m++) {
		memset(k, 0, sizeof(k));
		k[0] = m;
		tinyj_mul_var(&r, &a, k);
		check_tiny(&r, &point[i * m % n]);
		if (m % 32 != i % 32)
			continue; /* the constant-time one is slow */
		tinyj_mul(&r, &a, k);
		check_tiny(&r, &point[i * m % n]);
	}
	/* 2^192 d + m: all the limbs. */
	for (int m = 0; m < 4; m++) {
		uint64_t rest = 0;

		for (int l = 3; l >= 0; l--) {
			k[l] = m == 0 ? UINT64_MAX : test_random();
			rest = (uint64_t)(((u128)rest << 64 | k[l]) % n);
		}
		tinyj_mul(&r, &a, k);
		check_tiny(&r, &point[i * rest % n]);
		tinyj_mul_var(&r, &a, k);
		check_tiny(&r, &point[i * rest % n]);
	}
}

static void
tiny_group(const struct vector *v, void *ctx)
{
	static tiny_t point[TINY_MAX], many[TINY_MAX];
	static tinyj_t blinded[TINY_MAX];
	static fp_t scratch[TINY_MAX];
	fp_t x, y;
	size_t n;
	uint64_t limbs[4];

	(void)ctx;
	vector_fp(&tiny_b, v, 1);
	fp_dbl(&tiny_b3, &tiny_b);
	fp_add(&tiny_b3, &tiny_b3, &tiny_b);
	vector_limbs(limbs, v, 2);
	n = limbs[0];
	CHECK(n < TINY_MAX);
	vector_fp(&x, v, 3);
	vector_fp(&y, v, 4);
	point[0] = tiny_infinity;
	CHECK_STATUS(tiny_set_var(&point[1], &x, &y), ST_OK);
	for (size_t i = 2; i < n; i++)
		school_add(&point[i], &point[i - 1], &point[1]);
	school_add(&many[0], &point[n - 1], &point[1]);
	CHECK(tiny_is_infinity(&many[0]));
	for (size_t i = 0; i < n; i++) {
		tiny_single(point, n, i);
		for (size_t j = 0; j < n; j++)
			tiny_pair(point, n, i, j);
		blind(&blinded[i], &point[i]);
	}
	tinyj_to_affine_many(many, scratch, blinded, n);
	for (size_t i = 0; i < n; i++)
		CHECK(tiny_eq(&many[i], &point[i]));
	tinyj_set_infinity(&blinded[0]);
	tinyj_cmov(&blinded[0], &blinded[1], false);
	CHECK(tinyj_is_infinity(&blinded[0]));
	tinyj_cmov(&blinded[0], &blinded[1], true);
	check_tiny(&blinded[0], &point[1]);
}

static void
test_tiny_groups(void)
{
	CHECK_INT(vectors_each("group", tiny_group, NULL), 7);
}

/* --- multiplication and encodings against the oracle ----------------------- */

static void
g1_multiplication(const struct vector *v, void *ctx)
{
	uint64_t k[4];
	g1_t p, want, got;
	g1j_t j;

	(void)ctx;
	vector_limbs(k, v, 1);
	vector_g1(&p, v, 2);
	vector_g1(&want, v, 4);
	g1j_from_affine(&j, &p);
	g1j_mul(&j, &j, k);
	g1j_to_affine(&got, &j);
	CHECK(g1_eq(&got, &want));
	g1j_from_affine(&j, &p);
	g1j_mul_var(&j, &j, k);
	g1j_to_affine(&got, &j);
	CHECK(g1_eq(&got, &want));
}

static void
twist_multiplication(const struct vector *v, void *ctx)
{
	uint64_t k[4];
	twist_t p, want, got;
	twistj_t j;

	(void)ctx;
	vector_limbs(k, v, 1);
	vector_twist(&p, v, 2);
	vector_twist(&want, v, 6);
	twistj_from_affine(&j, &p);
	twistj_mul(&j, &j, k);
	twistj_to_affine(&got, &j);
	CHECK(twist_eq(&got, &want));
	twistj_from_affine(&j, &p);
	twistj_mul_var(&j, &j, k);
	twistj_to_affine_var(&got, &j);
	CHECK(twist_eq(&got, &want));
}

static void
test_multiplications(void)
{
	vectors_each("g1mul", g1_multiplication, NULL);
	vectors_each("twistmul", twist_multiplication, NULL);
}

static void
random_scalar(fr_t *r)
{
	uint8_t bytes[32];

	test_random_bytes(bytes, sizeof(bytes));
	fr_from_bytes_mod(r, bytes);
}

/* Sums of multiples of the generator, whose logarithms are known. */
static void
test_msm(void)
{
	enum { MAX = 20 };
	fr_t log, scalar[MAX], sum, t;
	uint64_t limbs[4];
	g1j_t want, got;
	g1_t p[MAX];

	for (size_t n = 0; n <= MAX; n++) {
		sum = fr_zero;
		for (size_t i = 0; i < n; i++) {
			random_scalar(&log);
			random_scalar(&scalar[i]);
			if (i == 3)
				log = fr_zero;
			if (i == 5)
				scalar[i] = fr_zero;
			fr_to_limbs(limbs, &log);
			g1j_from_affine(&got, &g1_generator);
			g1j_mul_var(&got, &got, limbs);
			g1j_to_affine_var(&p[i], &got);
			fr_mul(&t, &log, &scalar[i]);
			fr_add(&sum, &sum, &t);
		}
		g1_msm_var(&got, p, scalar, n);
		fr_to_limbs(limbs, &sum);
		g1j_from_affine(&want, &g1_generator);
		g1j_mul(&want, &want, limbs);
		CHECK(g1j_eq(&got, &want));
	}
}

static void
g1_compression(const struct vector *v, void *ctx)
{
	uint8_t want[32], got[32], flat[64];
	g1_t p, q;

	(void)ctx;
	vector_g1(&p, v, 1);
	vector_bytes(want, sizeof(want), v, 3);
	g1_compress(got, &p);
	CHECK_MEM(got, want, sizeof(want));
	CHECK_STATUS(g1_decompress_var(&q, want), ST_OK);
	CHECK(g1_eq(&p, &q));
	g1_encode(flat, &p);
	CHECK_STATUS(g1_decode_var(&q, flat), ST_OK);
	CHECK(g1_eq(&p, &q));
	g1_neg(&p, &p);
	g1_compress(got, &p);
	got[0] ^= 0x40;
	CHECK_MEM(got, want, sizeof(want));
}

static void
twist_compression(const struct vector *v, void *ctx)
{
	uint8_t want[64], got[64], flat[128];
	twist_t p, q;

	(void)ctx;
	vector_twist(&p, v, 1);
	vector_bytes(want, sizeof(want), v, 5);
	twist_compress(got, &p);
	CHECK_MEM(got, want, sizeof(want));
	CHECK_STATUS(twist_decompress_var(&q, want), ST_OK);
	CHECK(twist_eq(&p, &q));
	twist_encode(flat, &p);
	CHECK_STATUS(twist_decode_var(&q, flat), ST_OK);
	CHECK(twist_eq(&p, &q));
	twist_neg(&p, &p);
	twist_compress(got, &p);
	got[0] ^= 0x40;
	CHECK_MEM(got, want, sizeof(want));
}

static void
test_compressions(void)
{
	uint8_t bytes[128];
	fp2_t a, r;

	vectors_each("g1z", g1_compression, NULL);
	vectors_each("twistz", twist_compression, NULL);
	g1_compress(bytes, &g1_infinity);
	CHECK(bytes[0] == 0x40 && bytes[31] == 0);
	twist_compress(bytes, &twist_infinity);
	CHECK(bytes[0] == 0x40 && bytes[63] == 0);
	/* The larger of two y with equal c1 has the larger c0. */
	fp_from_u64(&a.c0, 1);
	a.c1 = fp_zero;
	CHECK(!fp2_is_larger(&a));
	fp2_neg(&r, &a);
	CHECK(fp2_is_larger(&r));
}

/* --- what no decoder may take ---------------------------------------------- */

static const char p_hex[] =
    "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47";

static void
hex(uint8_t *out, const char *s)
{
	CHECK_STATUS(hex_decode(out, strlen(s) / 2, span_str(s)), ST_OK);
}

static void
g1_bad(uint8_t *in, bool compressed, enum status want)
{
	g1_t p = g1_generator;
	enum status s =
	    compressed ? g1_decompress_var(&p, in) : g1_decode_var(&p, in);

	CHECK_STATUS(s, want);
	CHECK(g1_is_infinity(&p));
}

static void
twist_bad(uint8_t *in, bool compressed, enum status want)
{
	twist_t p = g2_generator.point;
	enum status s = compressed ? twist_decompress_var(&p, in)
				   : twist_decode_var(&p, in);

	CHECK_STATUS(s, want);
	CHECK(twist_is_infinity(&p));
}

static void
test_bad_g1(void)
{
	uint8_t flat[64], z[32], good[64];

	g1_encode(good, &g1_generator);
	memset(flat, 0, sizeof(flat));
	g1_bad(flat, false, ST_INFINITY);
	memcpy(flat, good, sizeof(flat));
	flat[31] ^= 1; /* x = 0: 3 is no square... and not 2^2 */
	g1_bad(flat, false, ST_NOT_ON_CURVE);
	memcpy(flat, good, sizeof(flat));
	flat[63] ^= 1;
	g1_bad(flat, false, ST_NOT_ON_CURVE);
	/* A coordinate + p, and p itself. */
	memcpy(flat, good, sizeof(flat));
	hex(flat, p_hex);
	g1_bad(flat, false, ST_NOT_CANONICAL);
	flat[31]++;
	g1_bad(flat, false, ST_NOT_CANONICAL);
	memcpy(flat, good, sizeof(flat));
	hex(flat + 32, p_hex);
	flat[63] += 2;
	g1_bad(flat, false, ST_NOT_CANONICAL);
	memset(flat, 0xff, sizeof(flat));
	g1_bad(flat, false, ST_NOT_CANONICAL);

	g1_compress(z, &g1_generator);
	CHECK((z[0] & 0xc0) == 0x80);
	z[0] &= 0x3f;
	g1_bad(z, true, ST_BAD_ENCODING); /* 00 */
	z[0] |= 0x40;
	g1_bad(z, true, ST_BAD_ENCODING); /* infinity with an x */
	memset(z, 0, sizeof(z));
	z[0] = 0x40;
	g1_bad(z, true, ST_INFINITY);
	z[31] = 1;
	g1_bad(z, true, ST_BAD_ENCODING);
	hex(z, p_hex);
	z[0] |= 0x80;
	g1_bad(z, true, ST_NOT_CANONICAL);
	z[31]++;
	g1_bad(z, true, ST_NOT_CANONICAL);
	memset(z, 0xff, sizeof(z));
	g1_bad(z, true, ST_NOT_CANONICAL);
	memset(z, 0, sizeof(z));
	z[0] = 0x80; /* x = 0: 3 is not a square */
	g1_bad(z, true, ST_NOT_ON_CURVE);
}

static void
test_bad_twist(void)
{
	uint8_t flat[128], good[128], z[64];
	g2_t g;

	twist_encode(good, &g2_generator.point);
	memset(flat, 0, sizeof(flat));
	twist_bad(flat, false, ST_INFINITY);
	for (size_t i = 0; i < 4; i++) {
		memcpy(flat, good, sizeof(flat));
		flat[32 * i + 31] ^= 1;
		twist_bad(flat, false, ST_NOT_ON_CURVE);
		memcpy(flat, good, sizeof(flat));
		hex(flat + 32 * i, p_hex);
		twist_bad(flat, false, ST_NOT_CANONICAL);
		memset(flat + 32 * i, 0xff, 32);
		twist_bad(flat, false, ST_NOT_CANONICAL);
	}
	/* Halves swapped. */
	memcpy(flat, good + 32, 32);
	memcpy(flat + 32, good, 32);
	memcpy(flat + 64, good + 96, 32);
	memcpy(flat + 96, good + 64, 32);
	twist_bad(flat, false, ST_NOT_ON_CURVE);

	twist_compress(z, &g2_generator.point);
	z[0] &= 0x3f;
	twist_bad(z, true, ST_BAD_ENCODING);
	z[0] |= 0x40;
	twist_bad(z, true, ST_BAD_ENCODING);
	memset(z, 0, sizeof(z));
	z[0] = 0x40;
	twist_bad(z, true, ST_INFINITY);
	z[63] = 1;
	twist_bad(z, true, ST_BAD_ENCODING);
	for (size_t i = 0; i < 2; i++) {
		twist_compress(z, &g2_generator.point);
		hex(z + 32 * i, p_hex);
		z[0] |= 0x80;
		twist_bad(z, true, ST_NOT_CANONICAL);
	}
	memset(&g, 0xff, sizeof(g));
	CHECK_STATUS(g2_check_var(&g, &twist_infinity), ST_INFINITY);
	CHECK(twist_is_infinity(&g.point));
}

/* Half of all x belong to no point; the decoders must tell. */
static void
test_random_x(void)
{
	uint8_t z[64], back[64];
	int on1 = 0, on2 = 0;
	twist_t q;
	g1_t p;

	for (int i = 0; i < 400; i++) {
		enum status s;

		test_random_bytes(z, sizeof(z));
		z[0] = (z[0] & 0x1f) | (uint8_t)(0x80 | (z[0] & 0x40));
		z[32] &= 0x1f;
		s = g1_decompress_var(&p, z);
		CHECK(s == ST_OK || s == ST_NOT_ON_CURVE);
		if (s == ST_OK) {
			on1++;
			CHECK(g1_on_curve(&p) && !g1_is_infinity(&p));
			g1_compress(back, &p);
			CHECK_MEM(back, z, 32);
		}
		s = twist_decompress_var(&q, z);
		CHECK(s == ST_OK || s == ST_NOT_ON_CURVE);
		if (s == ST_OK) {
			on2++;
			CHECK(twist_on_curve(&q) && !twist_is_infinity(&q));
			twist_compress(back, &q);
			CHECK_MEM(back, z, 64);
		}
	}
	CHECK(on1 > 100 && on1 < 300 && on2 > 100 && on2 < 300);
}

/* Roots in Fp2 that the complex method treats apart: of c1 = 0. */
static void
test_fp2_roots(void)
{
	fp2_t a, r, s;
	int squares = 0;

	for (uint64_t i = 0; i < 200; i++) {
		fp_from_u64(&a.c0, i);
		fp_from_u64(&a.c1, i % 2 ? test_random() : 0);
		if (i % 3 == 0)
			fp2_neg(&a, &a);
		if (i % 5 == 0)
			fp2_sqr(&a, &a);
		if (!fp2_sqrt_var(&r, &a)) {
			CHECK(fp2_is_zero(&r));
			/* An element of Fp is always a square, so is a square. */
			CHECK(!fp_is_zero(&a.c1) && i % 5 != 0);
			continue;
		}
		squares++;
		fp2_sqr(&s, &r);
		CHECK(fp2_eq(&s, &a));
	}
	CHECK(squares > 120 && squares < 190);
}

TESTS({"tiny groups: all pairs, all multiples", test_tiny_groups},
    {"multiples equal the oracle's", test_multiplications},
    {"sums of multiples", test_msm},
    {"compressed points equal the oracle's", test_compressions},
    {"encodings of G1 that are refused", test_bad_g1},
    {"encodings of the twist that are refused", test_bad_twist},
    {"random x: a point or none", test_random_x},
    {"square roots in Fp2", test_fp2_roots})
