/* Proofs whose points are not right: off the curve, infinite, of the wrong
 * sign, outside the subgroup; and those that are the same proof all the same.
 */
#include "hostile_util.h"

#include "base/text.h"
#include "bn254/g1.h"
#include "bn254/g2.h"
#include "bn254/pairing.h"
#include "groth16/verify.h"
#include "semaphore/points.h"

/* A coordinate that is another leaves the curve. */
static void
test_coordinates(void)
{
	static const char *const point[] = {
	    "A", "A", "B", "B", "B", "B", "C", "C"};
	struct draft d;
	static mpz_t one, minus;

	prepare();
	mpz_init_set_ui(one, 1);
	mpz_init_set_si(minus, -1);
	for (unsigned i = 0; i < 8; i++) {
		d = draft_of(all, i);
		CHECK_STATUS(semaphore_keys_need(keys, 1 + i / 2), ST_OK);
		char *is = d.point[i];
		d.point[i] = text_of("\"0\"");
		expect_for(__LINE__, &d, point[i], "not on the curve");
		d.point[i] = sum(is, one);
		expect_for(__LINE__, &d, point[i], "not on the curve");
		d.point[i] = sum(is, minus);
		expect_for(__LINE__, &d, point[i], "not on the curve");
	}
}

static void
set_zero(struct draft *d, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		d->point[i] = text_of("\"0\"");
}

static void
test_infinity(void)
{
	struct draft d;

	prepare();
	d = draft_of(all, 0);
	set_zero(&d, 0, 2);
	EXPECT(&d, "A: the point at infinity");
	d = draft_of(all, 0);
	set_zero(&d, 2, 6);
	EXPECT(&d, "B: the point at infinity");
	d = draft_of(all, 0);
	set_zero(&d, 6, 8);
	EXPECT(&d, "C: the point at infinity");
	set_zero(&d, 0, 8);
	EXPECT(&d, "A: the point at infinity");
}

/* --- the points as points --- */

static void
draft_points(struct draft *d, const struct groth16_proof *in)
{
	struct semaphore_proof proof = {0};
	char digits[DECIMAL_MAX];

	points_encode(&proof, in, SEMAPHORE_AFFINE);
	for (unsigned i = 0; i < 8; i++) {
		decimal_encode(digits, proof.points + 32 * i);
		d->point[i] = text_of("\"%s\"", digits);
	}
}

static struct groth16_proof
points_of(const struct draft *d)
{
	struct semaphore_proof proof;
	struct semaphore_fault f;
	struct groth16_proof out;
	char *text = draft_text(d);

	CHECK_STATUS(
	    semaphore_proof_from_json(&proof, text, strlen(text), &f), ST_OK);
	CHECK_STATUS(points_decode(&out, &proof, &f), ST_OK);
	return out;
}

static void
swap(char **a, char **b)
{
	char *was = *a;

	*a = *b;
	*b = was;
}

static void
test_signs(void)
{
	struct draft d;
	struct groth16_proof good, bad;

	prepare();
	for (size_t i = 0; i < 4; i++) {
		d = draft_of(all, i);
		good = points_of(&d);
		bad = good;
		g1_neg(&bad.a, &good.a);
		draft_points(&d, &bad);
		EXPECT(&d, "the proof does not hold");
		/* e(-A, -B) = e(A, B): the same proof in other clothes. */
		twist_neg(&bad.b, &good.b);
		draft_points(&d, &bad);
		EXPECT(&d, "valid");
		bad = good;
		twist_neg(&bad.b, &good.b);
		draft_points(&d, &bad);
		EXPECT(&d, "the proof does not hold");
		bad = good;
		g1_neg(&bad.c, &good.c);
		draft_points(&d, &bad);
		EXPECT(&d, "the proof does not hold");
		bad = good;
		bad.a = good.c;
		bad.c = good.a;
		draft_points(&d, &bad);
		EXPECT(&d, "the proof does not hold");
		/* B's halves the other way round. */
		d = draft_of(all, i);
		swap(&d.point[2], &d.point[3]);
		swap(&d.point[4], &d.point[5]);
		EXPECT(&d, "B: not on the curve");
	}
}

static void
limbs_of(uint64_t out[static 4], const mpz_t k)
{
	size_t n;

	memset(out, 0, 32);
	CHECK(mpz_sizeinbase(k, 2) <= 256);
	mpz_export(out, &n, -1, 8, 0, 0, k);
}

static void
multiply(twistj_t *out, const twistj_t *in, const mpz_t k)
{
	uint64_t limbs[4];

	limbs_of(limbs, k);
	twistj_mul_var(out, in, limbs);
}

/* A point of the twist, of no order in particular. */
static void
random_twist(twist_t *out)
{
	uint8_t bytes[64];

	do {
		test_random_bytes(bytes, sizeof(bytes));
		bytes[0] = (uint8_t)(0x80 | (bytes[0] & 0x1f));
		bytes[32] &= 0x1f;
	} while (twist_decompress_var(out, bytes) != ST_OK);
}

/* A point of order ORDER, which divides the cofactor 2p - r. */
static void
small_twist(twist_t *out, unsigned order)
{
	twistj_t point;
	mpz_t rest;

	mpz_init(rest);
	mpz_mul_ui(rest, p, 2);
	mpz_sub(rest, rest, r);
	CHECK(mpz_divisible_ui_p(rest, order));
	mpz_divexact_ui(rest, rest, order);
	do {
		random_twist(out);
		twistj_from_affine(&point, out);
		multiply(&point, &point, r);
		multiply(&point, &point, rest);
	} while (twistj_is_infinity(&point));
	twistj_to_affine(out, &point);
	mpz_clear(rest);
}

static void
test_subgroup(void)
{
	static const char outside[] = "B: on the curve but not in the subgroup";
	struct draft d;
	struct groth16_proof good, bad;
	twist_t small;
	twistj_t point;
	mpz_t k;

	prepare();
	d = draft_of(all, 0);
	good = points_of(&d);
	bad = good;
	for (unsigned i = 0; i < 5; i++) {
		random_twist(&bad.b);
		draft_points(&d, &bad);
		EXPECT(&d, outside);
		/* Of order 10069, the cofactor's smallest factor. */
		small_twist(&small, 10069);
		bad.b = small;
		draft_points(&d, &bad);
		EXPECT(&d, outside);
		/* The right B, and such a point on top. */
		twistj_from_affine(&point, &good.b);
		twistj_madd_var(&point, &point, &small);
		twistj_to_affine(&bad.b, &point);
		draft_points(&d, &bad);
		EXPECT(&d, outside);
		/* Of an order prime to r: the cofactor itself, or a factor. */
		random_twist(&bad.b);
		twistj_from_affine(&point, &bad.b);
		multiply(&point, &point, r);
		twistj_to_affine(&bad.b, &point);
		draft_points(&d, &bad);
		EXPECT(&d, outside);
		/* In the subgroup, and wrong. */
		mpz_init(k);
		mpz_mul_ui(k, p, 2);
		mpz_sub(k, k, r);
		random_twist(&bad.b);
		twistj_from_affine(&point, &bad.b);
		multiply(&point, &point, k);
		twistj_to_affine(&bad.b, &point);
		draft_points(&d, &bad);
		EXPECT(&d, "the proof does not hold");
		mpz_clear(k);
	}
}

/* Groth16 proofs can be re-randomised by anyone (Groth, Kohlweiss, Pintore,
 * Ràfols, Virza, 2018): (A / k, k B, C). All of them hold. */
static void
test_rerandomised(void)
{
	struct draft d;
	struct groth16_proof bad;
	g1j_t a;
	twistj_t b;
	static mpz_t k, inverse;
	uint64_t limbs[4];

	prepare();
	d = draft_of(all, 0);
	mpz_init_set_ui(k, test_random());
	mpz_init(inverse);
	CHECK(mpz_invert(inverse, k, r) != 0);
	bad = points_of(&d);
	g1j_from_affine(&a, &bad.a);
	limbs_of(limbs, inverse);
	g1j_mul_var(&a, &a, limbs);
	g1j_to_affine(&bad.a, &a);
	twistj_from_affine(&b, &bad.b);
	multiply(&b, &b, k);
	twistj_to_affine(&bad.b, &b);
	draft_points(&d, &bad);
	EXPECT(&d, "valid");
	mpz_add_ui(k, k, 1);
	multiply(&b, &b, k);
	twistj_to_affine(&bad.b, &b);
	draft_points(&d, &bad);
	EXPECT(&d, "the proof does not hold");
}

/* --- many at a time -------------------------------------------------------- */

enum { MANY = 41 };

/* One of the official proofs in either form, often with something wrong. */
static void
spoil(struct semaphore_proof *out, size_t i)
{
	static const unsigned at[] = {
	    0, 31, 32, 63, 64, 95, 96, 127}; /* in A, B, B and C compressed */
	struct draft d = draft_of(all, i % 4);
	struct semaphore_fault f;
	char *text = draft_text(&d);

	CHECK_STATUS(
	    semaphore_proof_from_json(out, text, strlen(text), &f), ST_OK);
	if (i % 5 != 0)
		CHECK_STATUS(semaphore_proof_compress(out, &f), ST_OK);
	for (unsigned n = (unsigned)test_random() % 3; n-- > 0;)
		out->points[at[test_random() % 8]] ^=
		    (uint8_t)(1u << test_random() % 8);
	if (i == 7)
		memset(out->points + 32, 0, 64); /* no flag */
	if (i == 8)
		memset(out->points, 0xff, 32); /* not canonical */
	if (i == 9)
		out->form = SEMAPHORE_NO_POINTS;
}

static bool
same_points(const struct groth16_proof *a, const struct groth16_proof *b)
{
	return g1_eq(&a->a, &b->a) && twist_eq(&a->b, &b->b) &&
	    g1_eq(&a->c, &b->c);
}

/* Each comes out as alone, whoever is beside it. */
static void
test_many(void)
{
	static struct semaphore_proof proof[MANY];
	static struct groth16_proof out[MANY];
	struct semaphore_fault got[MANY], f;
	struct points_place place[MANY];
	const struct bn254_kernel *k;
	unsigned good, faults[3];

	prepare();
	for (size_t i = 0; i < MANY; i++) {
		spoil(&proof[i], i);
		place[i] = (struct points_place){&proof[i], &out[i], &got[i]};
	}
	for (size_t j = 0; (k = bn254_kernel_nth(j)) != NULL; j++) {
		good = 0;
		memset(faults, 0, sizeof(faults));
		memset(out, 0xff, sizeof(out));
		memset(got, 0xff, sizeof(got));
		points_decode_many(k, place, MANY);
		for (size_t i = 0; i < MANY; i++) {
			struct groth16_proof alone;
			enum status s = points_decode(&alone, &proof[i], &f);

			CHECK_STATUS(got[i].status, s);
			CHECK(got[i].field == f.field);
			CHECK(s != ST_OK || same_points(&out[i], &alone));
			good += s == ST_OK;
			faults[0] += f.field == SEMAPHORE_A;
			faults[1] += f.field == SEMAPHORE_B;
			faults[2] += f.field == SEMAPHORE_C;
		}
		CHECK(good > 5 && faults[0] > 0 && faults[1] > 0);
		CHECK(good + faults[0] + faults[1] + faults[2] < MANY);
	}
}

TESTS({"hostile: coordinates", test_coordinates},
    {"hostile: infinity", test_infinity}, {"hostile: signs", test_signs},
    {"hostile: subgroup", test_subgroup},
    {"hostile: re-randomised", test_rerandomised},
    {"hostile: many at a time", test_many})
