/* Proofs that are not right, each refused for its own reason: here those whose
 * form is wrong, or whose numbers are others; test_hostile_points.c has those
 * whose points are. And those that look odd and are right.
 */
#include "hostile_util.h"

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
    {"hostile: depth", test_depth}, {"hostile: members", test_members},
    {"hostile: unknown members", test_unknown_members},
    {"hostile: texts", test_texts}, {"hostile: points", test_points_member},
    {"hostile: bit flips", test_bit_flips})
