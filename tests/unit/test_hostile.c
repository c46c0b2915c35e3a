/* Proofs that are not right, each refused for its own reason: by the reader
 * where the form is wrong, by the verifier where the mathematics is. And those
 * that look odd and are right.
 */
#include "proof_util.h"

#include <gmp.h>

#include "base/text.h"
#include "bn254/g1.h"
#include "bn254/g2.h"
#include "groth16/verify.h"
#include "semaphore/points.h"

static json_t *all;
static struct semaphore_keys *keys;
static mpz_t p, r;

static void
prepare(void)
{
	all = proofs_load();
	CHECK_STATUS(
	    semaphore_keys_new(&keys, SEMAPHORE_DEPTH_BIT(1), NULL), ST_OK);
	mpz_init_set_str(p,
	    "21888242871839275222246405745257275088696311157297823662689037894"
	    "645226208583",
	    10);
	mpz_init_set_str(r,
	    "21888242871839275222246405745257275088548364400416034343698204186"
	    "575808495617",
	    10);
}

/* What is said of TEXT: "valid", or the reason. */
static const char *
verdict_of(const char *text, size_t len)
{
	static char say[SEMAPHORE_FAULT_MAX];
	struct semaphore_proof proof;
	struct semaphore_fault f;
	enum status st = semaphore_proof_from_json(&proof, text, len, &f);

	CHECK(f.status == st);
	if (st == ST_OK) {
		CHECK_STATUS(semaphore_keys_need(keys, proof.depth), ST_OK);
		st = semaphore_verify(keys, NULL, &proof, &f);
		CHECK(f.status == st);
	} else {
		/* A reader that fails leaves nothing that could pass. */
		CHECK(proof.form == SEMAPHORE_NO_POINTS && proof.depth == 0);
		CHECK(semaphore_verify(keys, NULL, &proof,
			  &(struct semaphore_fault){0}) != ST_OK);
	}
	return st == ST_OK ? "valid" : semaphore_fault_text(say, &f);
}

/* Where JSON ends to be JSON is jansson's to say. */
static bool
is_verdict(const char *got, const char *want)
{
	if (strcmp(want, "not JSON") == 0)
		return strncmp(got, "not JSON, at byte ", 18) == 0;
	return strcmp(got, want) == 0;
}

static void
expect_at(int line, const struct draft *d, const char *want)
{
	char *text = draft_text(d);
	const char *got = verdict_of(text, strlen(text));

	if (!is_verdict(got, want))
		test_fail(__FILE__, line, "\"%s\", not \"%s\", for %.2000s",
		    got, want, text);
}

#define EXPECT(D, WANT) expect_at(__LINE__, (D), (WANT))

/* The quoted decimal of A + B. */
static char *
sum(const char *quoted, const mpz_t b)
{
	char digits[200], text[200];
	mpz_t a;

	CHECK(sscanf(quoted, "\"%199[0-9]\"", digits) == 1);
	CHECK(mpz_init_set_str(a, digits, 10) == 0);
	mpz_add(a, a, b);
	CHECK(mpz_sizeinbase(a, 10) < sizeof(text) - 2);
	mpz_get_str(text, 10, a);
	mpz_clear(a);
	return text_of("\"%s\"", text);
}

/* QUOTED with BEFORE and AFTER its digits, within the quotes. */
static char *
around(const char *before, const char *quoted, const char *after)
{
	return text_of(
	    "\"%s%.*s%s\"", before, (int)strlen(quoted) - 2, quoted + 1, after);
}

static char *
in_hex(const char *quoted)
{
	char digits[200], text[200];
	mpz_t a;

	CHECK(sscanf(quoted, "\"%199[0-9]\"", digits) == 1);
	CHECK(mpz_init_set_str(a, digits, 10) == 0);
	mpz_get_str(text, 16, a);
	mpz_clear(a);
	return text_of("\"0x%s\"", text);
}

/* The digits, each as its full-width form (U+FF10 to U+FF19). */
static char *
full_width(const char *quoted)
{
	size_t n = strlen(quoted) - 2;
	char *out = kept(3 * n + 3), *at = out;

	*at++ = '"';
	for (size_t i = 0; i < n; i++) {
		*at++ = '\xef';
		*at++ = '\xbc';
		*at++ = (char)(0x90 + quoted[1 + i] - '0');
	}
	*at = '"';
	return out;
}

static char *
repeated(char c, unsigned n, const char *after)
{
	char *out = kept(n + strlen(after) + 3);

	out[0] = '"';
	memset(out + 1, c, n);
	strcpy(out + 1 + n, after);
	strcat(out, "\"");
	return out;
}

/* --- the members one by one --- */

/* A place that holds a decimal, and what it is called. */
struct place {
	const char *name;
	char **raw;
	bool scalar; /* a public signal below r */
	bool free; /* any 256-bit number: message, scope */
};

static unsigned
places(struct place out[static 12], struct draft *d)
{
	unsigned n = 0;

	out[n++] = (struct place){"merkleTreeRoot", &d->root, true, false};
	out[n++] = (struct place){"nullifier", &d->nullifier, true, false};
	out[n++] = (struct place){"message", &d->message, false, true};
	out[n++] = (struct place){"scope", &d->scope, false, true};
	for (unsigned i = 0; i < 8; i++)
		out[n++] = (struct place){
		    text_of("points[%u]", i), &d->point[i], false, false};
	return n;
}

static void
expect_for(int line, const struct draft *d, const char *name, const char *why)
{
	char *want = text_of("%s: %s", name, why);

	expect_at(line, d, want);
}

/* Put RAW in place of what PLACE has, and expect WHY. */
#define SPOIL(D, PLACE, RAW, WHY)                                \
	do {                                                     \
		char *was = *(PLACE)->raw;                       \
		*(PLACE)->raw = (RAW);                           \
		expect_for(__LINE__, (D), (PLACE)->name, (WHY)); \
		*(PLACE)->raw = was;                             \
	} while (0)

/* Every decimal there is, spelt in every way but the one. */
static void
test_spelling(void)
{
	static const char canonical[] = "not a canonical decimal";
	struct draft d;
	struct place place[12];

	prepare();
	d = draft_of(all, 0);
	EXPECT(&d, "valid");
	for (unsigned i = 0, n = places(place, &d); i < n; i++) {
		struct place *at = &place[i];
		const char *is = *at->raw;
		SPOIL(&d, at, around("-", is, ""), canonical);
		SPOIL(&d, at, around("+", is, ""), canonical);
		SPOIL(&d, at, around("0", is, ""), canonical);
		SPOIL(&d, at, around(" ", is, ""), canonical);
		SPOIL(&d, at, around("", is, " "), canonical);
		SPOIL(&d, at, around("\\n", is, ""), canonical);
		SPOIL(&d, at, around("\\ufeff", is, ""), canonical);
		SPOIL(&d, at, around("", is, "n"), canonical);
		SPOIL(&d, at, around("", is, "e0"), canonical);
		SPOIL(&d, at, around("", is, ".0"), canonical);
		SPOIL(&d, at, around("", is, "\\u0000"), canonical);
		SPOIL(&d, at, around("\\u0000", is, ""), canonical);
		SPOIL(&d, at, around("", is, "\\u00001"), canonical);
		SPOIL(&d, at, in_hex(is), canonical);
		SPOIL(&d, at, full_width(is), canonical);
		SPOIL(&d, at, repeated('0', 5000, "1"), canonical);
		SPOIL(&d, at, text_of("\"\""), canonical);
		SPOIL(&d, at, text_of("\"-0\""), canonical);
		SPOIL(&d, at, text_of("\"1_000\""), canonical);
		SPOIL(&d, at, text_of("1"), "not a string");
		SPOIL(&d, at, text_of("null"), "not a string");
		SPOIL(&d, at, text_of("true"), "not a string");
		SPOIL(&d, at, text_of("[%s]", is), "not a string");
		SPOIL(&d, at, text_of("{}"), "not a string");
	}
	/* JSON's own escapes are another spelling of the JSON, not of the
	 * number. */
	d.message = text_of("\"\\u0031\"");
	EXPECT(&d, "valid");
}

/* Numbers beside the one. */
static void
test_values(void)
{
	struct draft d;
	struct place place[12];
	static mpz_t two256, one, minus;

	prepare();
	mpz_init_set_ui(one, 1);
	mpz_init_set_si(minus, -1);
	mpz_init(two256);
	mpz_ui_pow_ui(two256, 2, 256);
	d = draft_of(all, 0);
	for (unsigned i = 0, n = places(place, &d); i < n; i++) {
		struct place *at = &place[i];
		const char *beyond = at->free ? "not below 2^256"
		    : at->scalar	      ? "not below the scalar modulus"
					      : "not below the field modulus";
		char *is = *at->raw;
		SPOIL(&d, at, sum(is, two256), beyond);
		SPOIL(&d, at, repeated('1', 5000, ""), beyond);
		if (at->scalar)
			SPOIL(&d, at, sum(is, r), beyond);
		if (!at->scalar && !at->free)
			SPOIL(&d, at, sum(is, p), beyond);
		if (!at->scalar && !at->free)
			continue;
		/* A good number that is not the one. */
		mpz_t *steps[] = {&one, &minus, &r};
		for (unsigned k = 0; k < (at->free ? 3u : 2u); k++) {
			*at->raw = sum(is, *steps[k]);
			EXPECT(&d, "the proof does not hold");
			*at->raw = is;
		}
	}
	/* The last ones that are none: r itself, p itself, 2^256 itself. */
	d.root = sum("\"0\"", r);
	EXPECT(&d, "merkleTreeRoot: not below the scalar modulus");
	d = draft_of(all, 0);
	d.point[7] = sum("\"0\"", p);
	EXPECT(&d, "points[7]: not below the field modulus");
	d = draft_of(all, 0);
	mpz_sub_ui(two256, two256, 1);
	d.scope = sum("\"0\"", two256);
	EXPECT(&d, "the proof does not hold");
	d.scope = sum("\"1\"", two256);
	EXPECT(&d, "scope: not below 2^256");
}

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

/* --- depth --- */

static void
test_depth(void)
{
	static const struct {
		const char *raw, *want;
	} cases[] = {
	    {"0", "merkleTreeDepth: 0 is not within 1 to 32"},
	    {"-1", "merkleTreeDepth: -1 is not within 1 to 32"},
	    {"33", "merkleTreeDepth: 33 is not within 1 to 32"},
	    {"4294967297", "merkleTreeDepth: 4294967297 is not within 1 to 32"},
	    {"18446744073709551617", "a number beyond 64 bits"},
	    {"\"1\"", "merkleTreeDepth: not an integer"},
	    {"1.0", "merkleTreeDepth: not an integer"},
	    {"1e0", "merkleTreeDepth: not an integer"},
	    {"3.5", "merkleTreeDepth: not an integer"},
	    {"null", "merkleTreeDepth: not an integer"},
	    {"true", "merkleTreeDepth: not an integer"},
	    {"[1]", "merkleTreeDepth: not an integer"},
	    {"{}", "merkleTreeDepth: not an integer"},
	    {"01", "not JSON"},
	    {"+1", "not JSON"},
	    {"0x1", "not JSON"},
	    {"NaN", "not JSON"},
	};
	struct draft d;

	prepare();
	d = draft_of(all, 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		d.depth = text_of("%s", cases[i].raw);
		EXPECT(&d, cases[i].want);
	}
	/* Each other depth is another circuit. */
	for (unsigned depth = 2; depth <= 32; depth++) {
		d.depth = text_of("%u", depth);
		EXPECT(&d, "the proof does not hold");
	}
}

/* --- the object --- */

static void
test_members(void)
{
	static const char *const names[] = {"merkleTreeDepth", "merkleTreeRoot",
	    "nullifier", "message", "scope", "points"};
	struct draft d;
	char want[64];

	prepare();
	for (unsigned i = 0; i < 6; i++) {
		d = draft_of(all, 0);
		char **raw[] = {&d.depth, &d.root, &d.nullifier, &d.message,
		    &d.scope, &d.points};
		char *is = *raw[i];
		if (i < 5) {
			*raw[i] = NULL;
			snprintf(want, sizeof(want), "%s: missing", names[i]);
			EXPECT(&d, want);
			*raw[i] = is;
		}
		/* Twice, though with the same value. */
		d.extra =
		    text_of(",\"%s\":%s", names[i], is != NULL ? is : "[]");
		snprintf(want, sizeof(want), "%s: given twice", names[i]);
		EXPECT(&d, want);
		/* Twice in different spellings of the name. */
		d.extra = text_of(",\"\\u00%02x%s\":%s", names[i][0],
		    names[i] + 1, is != NULL ? is : "[]");
		EXPECT(&d, "given twice");
		/* By another name it is missing. */
		d = draft_of(all, 0);
		char *text = draft_text(&d), *at = strstr(text, names[i]);
		CHECK(at != NULL);
		*at ^= 0x20;
		snprintf(want, sizeof(want), "%s: missing", names[i]);
		CHECK_STR(verdict_of(text, strlen(text)), want);
	}
}

/* Members that we do not know are ignored, but for what would let the text
 * mean two things. */
static void
test_unknown_members(void)
{
	static const struct {
		const char *extra, *want;
	} cases[] = {
	    {",\"note\":\"x\"", "valid"},
	    {",\"n\":[1,-2.5e3,null,true,{\"a\":{\"b\":[]}}]", "valid"},
	    {",\"\":\"\"", "valid"},
	    {",\"nul\":\"a\\u0000b\"", "valid"},
	    {",\"Points\":3,\"merkletreedepth\":33", "valid"},
	    {",\"proof\":{}", "valid"},
	    {",\"x\":1,\"x\":1", "given twice"},
	    {",\"x\":{\"y\":[{\"z\":1,\"z\":2}]}", "given twice"},
	    {",\"x\":{\"nullifier\":1,\"nullifier\":1}",
		"nullifier: given twice"},
	    {",\"n\":9223372036854775808", "a number beyond 64 bits"},
	    {",\"n\":1e999", "a number beyond 64 bits"},
	    {",", "not JSON"},
	    {",\"x\"", "not JSON"},
	    {",\"x\":", "not JSON"},
	    {",\"x\":undefined", "not JSON"},
	    {",\"x\":'y'", "not JSON"},
	    {",x:1", "not JSON"},
	    {",\"x\":\"\t\"", "not JSON"},
	    {",\"x\":\"\\ud800\"", "not JSON"},
	    {",\"x\":\"\xff\"", "not JSON"},
	    {",\"x\":\"\xc0\xb1\"", "not JSON"},
	    {",\"x\\u0000\":1", "not JSON"},
	    {"} {", "bytes after the end"},
	    {"}x", "bytes after the end"},
	    {"},", "bytes after the end"},
	    {" /* */ ", "not JSON"},
	};
	struct draft d;

	prepare();
	d = draft_of(all, 0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		d.extra = text_of("%s", cases[i].extra);
		char *text = draft_text(&d);
		const char *got = verdict_of(text, strlen(text));
		const char *want = cases[i].want;
		if (!is_verdict(got, want))
			test_fail(
			    __FILE__, __LINE__, "%s: %s", cases[i].extra, got);
	}
	/* Nested without end: refused, and no stack is lost. */
	char *deep = kept(200001);
	memset(deep, '[', 200000);
	deep[200000] = '\0';
	d.extra = text_of(",\"x\":%s", deep);
	char *text = draft_text(&d);
	CHECK(is_verdict(verdict_of(text, strlen(text)), "not JSON"));
}

/* What is no object, and white space, which JSON allows. */
static void
test_texts(void)
{
	static const struct {
		const char *text;
		size_t len;
		const char *want;
	} cases[] = {
	    {"", 0, "not JSON"},
	    {" ", 1, "not JSON"},
	    {"{", 1, "not JSON"},
	    {"{}", 2, "merkleTreeDepth: missing"},
	    {"[]", 2, "not a JSON object"},
	    {"null", 4, "not a JSON object"},
	    {"3", 1, "not a JSON object"},
	    {"\"x\"", 3, "not a JSON object"},
	    {"{}\0", 3, "bytes after the end"},
	    {"\0{}", 3, "not JSON"},
	    {"\xef\xbb\xbf{}", 5, "not JSON"},
	};
	struct draft d;

	prepare();
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(is_verdict(
		    verdict_of(cases[i].text, cases[i].len), cases[i].want));
	d = draft_of(all, 0);
	char *text = draft_text(&d);
	char *spaced = text_of("\r\n\t %s \n", text);
	CHECK_STR(verdict_of(spaced, strlen(spaced)), "valid");
	/* Cut short anywhere, and it is nothing. */
	for (size_t len = 0; len < strlen(text); len++)
		CHECK(is_verdict(verdict_of(text, len), "not JSON"));
}

static void
test_points_member(void)
{
	struct draft d, other;

	prepare();
	d = draft_of(all, 0);
	d.count = 7;
	EXPECT(&d, "points: 7 values, not 8");
	d.count = 9;
	d.point[8] = text_of("\"1\"");
	EXPECT(&d, "points: 9 values, not 8");
	d.count = 0;
	EXPECT(&d, "points: 0 values, not 8");
	d.points = text_of("{\"0\":\"1\",\"length\":8}");
	EXPECT(&d, "points: not an array");
	d.points = text_of("\"12345678\"");
	EXPECT(&d, "points: not an array");
	d.points = text_of("null");
	EXPECT(&d, "points: not an array");
	d.points = text_of("[[\"1\",\"2\"],[\"1\",\"2\"],3,4,5,6,7,8]");
	EXPECT(&d, "points[0]: not a string");
	/* The points of another proof of the same depth, whole and in part. */
	for (unsigned from = 0; from < 8; from += 2) {
		d = draft_of(all, 0);
		other = draft_of(all, 1);
		for (unsigned i = from; i < 8; i++)
			d.point[i] = other.point[i];
		if (from == 4)
			EXPECT(&d, "B: not on the curve");
		else
			EXPECT(&d, "the proof does not hold");
	}
	/* ... and its other members. */
	d = draft_of(all, 0);
	d.nullifier = draft_of(all, 1).nullifier;
	EXPECT(&d, "the proof does not hold");
	d = draft_of(all, 0);
	d.root = draft_of(all, 1).root;
	EXPECT(&d, "the proof does not hold");
}

/* A flipped bit never leaves a proof valid, wherever it is. */
static void
test_bit_flips(void)
{
	struct draft d;
	unsigned pairings = 0;

	prepare();
	for (size_t i = 0; i < 2; i++) {
		d = draft_of(all, i);
		char *text = draft_text(&d);
		size_t len = strlen(text);
		CHECK_STR(verdict_of(text, len), "valid");
		for (unsigned k = 0; k < 600; k++) {
			size_t at = test_random() % len;
			char bit = (char)(1 << test_random() % 8), was;
			was = text[at];
			text[at] = (char)(was ^ bit);
			const char *got = verdict_of(text, len);
			if (strcmp(got, "valid") == 0)
				test_fail(__FILE__, __LINE__,
				    "byte %zu, %c to %c: valid", at, was,
				    text[at]);
			pairings += strcmp(got, "the proof does not hold") == 0;
			text[at] = was;
		}
	}
	CHECK(pairings > 10); /* some did get that far */
}

TESTS({"hostile: spellings", test_spelling}, {"hostile: values", test_values},
    {"hostile: coordinates", test_coordinates},
    {"hostile: infinity", test_infinity}, {"hostile: signs", test_signs},
    {"hostile: subgroup", test_subgroup},
    {"hostile: re-randomised", test_rerandomised},
    {"hostile: depth", test_depth}, {"hostile: members", test_members},
    {"hostile: unknown members", test_unknown_members},
    {"hostile: texts", test_texts}, {"hostile: points", test_points_member},
    {"hostile: bit flips", test_bit_flips})
