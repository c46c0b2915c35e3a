/* Groups: the tree against its definition and the official one; the member
 * file and its edits. */
#include "json_util.h"

#include <sodium.h>

#include "base/text.h"
#include "hash/poseidon.h"
#include "postern/group.h"

static void
set_decimal(struct group_member *m, const char *text)
{
	CHECK_STATUS(
	    commitment_parse(m->commitment, text, strlen(text)), ST_OK);
}

static void
check_decimal(const uint8_t got[static 32], const char *want)
{
	char text[DECIMAL_MAX];

	CHECK(want != NULL);
	decimal_encode(text, got);
	CHECK_STR(text, want);
}

static void
random_members(struct group_member *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		test_random_bytes(m[i].commitment, 32);
		m[i].commitment[0] &= 0x1f;
	}
}

/* The definition, top down: the left subtree takes the largest power of two
 * below n, and what is left over is the right one. */
static void
slow_root(fr_t *out, const struct group_member *m, size_t n)
{
	fr_t left, right;
	size_t half = 1;

	if (n == 1) {
		CHECK_STATUS(fr_from_bytes_strict(out, m->commitment), ST_OK);
		return;
	}
	while (2 * half < n)
		half *= 2;
	slow_root(&left, m, half);
	slow_root(&right, m + half, n - half);
	poseidon_pair(out, &left, &right);
}

/* Runs the parts in uneven pieces, the last first: the order must not matter.
 */
static void
run_backwards(void *self, void (*part)(void *arg, size_t from, size_t to),
    void *arg, size_t n)
{
	unsigned *calls = self;
	size_t piece = n / 3 + 1;

	for (size_t to = n; to > 0;) {
		size_t from = to > piece ? to - piece : 0;
		part(arg, from, to);
		to = from;
		(*calls)++;
	}
}

static void
check_proofs(const struct group *g, const struct group_member *m, size_t n)
{
	struct group_root root;
	struct group_proof proof;

	group_root(&root, g);
	for (size_t i = 0; i < n; i++) {
		size_t place;
		CHECK_STATUS(group_proof(&proof, g, i), ST_OK);
		CHECK_MEM(proof.leaf, m[i].commitment, 32);
		CHECK_MEM(proof.root, root.root, 32);
		CHECK(proof.length <= root.depth);
		CHECK(group_proof_holds(&proof));
		CHECK_STATUS(group_find(g, &place, m[i].commitment), ST_OK);
		CHECK_INT(place, i);
		if (proof.length == 0)
			continue;
		/* Each part of it matters. */
		struct group_proof bad = proof;
		bad.index ^= 1;
		CHECK(!group_proof_holds(&bad));
		bad = proof;
		bad.siblings[proof.length - 1][31] ^= 1;
		CHECK(!group_proof_holds(&bad));
		bad = proof;
		bad.leaf[31] ^= 1;
		CHECK(!group_proof_holds(&bad));
		bad = proof;
		bad.index |= UINT64_C(1) << proof.length;
		CHECK(!group_proof_holds(&bad));
		bad = proof;
		bad.length = GROUP_DEPTH_MAX + 1;
		CHECK(!group_proof_holds(&bad));
	}
	CHECK_STATUS(group_proof(&proof, g, n), ST_NOT_FOUND);
}

/* The members of a vector: a list, or a rule that makes one:
 * sha256("SEED:leafCOUNT/I") >> 6. */
static size_t
vector_members(struct group_member m[static 1000], const json_t *members)
{
	json_t *one;
	size_t n;

	if (json_is_array(members)) {
		json_array_foreach(members, n, one)
		{
			CHECK(n < 1000);
			set_decimal(&m[n], json_string_value(one));
		}
		return n;
	}
	n = (size_t)json_integer_value(json_object_get(members, "count"));
	CHECK(n <= 1000);
	for (size_t i = 0; i < n; i++) {
		char text[64];
		uint8_t *c = m[i].commitment;
		int len = snprintf(text, sizeof(text), "%s:leaf%zu/%zu",
		    json_member(members, "seed"), n, i);
		crypto_hash_sha256(
		    c, (const uint8_t *)text, (unsigned long long)len);
		for (unsigned k = 31; k > 0; k--)
			c[k] = (uint8_t)(c[k] >> 6 | c[k - 1] << 2);
		c[0] >>= 6;
	}
	return n;
}

static void
check_vector_proof(const struct group *g, const json_t *want)
{
	struct group_member leaf;
	struct group_proof got;
	json_t *siblings = json_object_get(want, "siblings");
	size_t place;

	set_decimal(&leaf, json_member(want, "leaf"));
	CHECK_STATUS(group_find(g, &place, leaf.commitment), ST_OK);
	CHECK_STATUS(group_proof(&got, g, place), ST_OK);
	CHECK_INT(
	    got.index, json_integer_value(json_object_get(want, "index")));
	CHECK_INT(got.length, json_array_size(siblings));
	for (size_t k = 0; k < got.length; k++)
		check_decimal(got.siblings[k],
		    json_string_value(json_array_get(siblings, k)));
	CHECK(group_proof_holds(&got));
}

/* Every group of the official library: root, depth, Merkle proof. */
static void
test_official(void)
{
	static struct group_member m[1000];
	json_t *all = json_vectors("vectors/groups.json"), *one;
	unsigned proofs = 0;
	size_t i;

	json_array_foreach(all, i, one)
	{
		struct group *g;
		struct group_root root, alone;
		size_t n = vector_members(m, json_object_get(one, "members"));
		CHECK_STATUS(group_new(&g), ST_OK);
		CHECK_STATUS(group_add(g, m, n, NULL), ST_OK);
		group_root(&root, g);
		CHECK_INT(root.size, n);
		CHECK_INT(root.depth,
		    json_integer_value(json_object_get(one, "depth")));
		check_decimal(root.root, json_member(one, "root"));
		CHECK_STATUS(group_root_of(&alone, m, n, NULL), ST_OK);
		CHECK_MEM(&alone, &root, sizeof(root));
		json_t *proof = json_object_get(one, "merkleProof");
		if (json_is_object(proof)) {
			check_vector_proof(g, proof);
			proofs++;
		}
		group_free(g);
	}
	CHECK_INT(i, 14);
	CHECK_INT(proofs, 13);
	json_decref(all);
}

/* Each size up to 70, and some around the chunk of group_root_of, added in
 * random portions. */
static void
test_sizes(void)
{
	static const size_t more[] = {255, 256, 257, 511, 513, 769};
	static struct group_member m[769];
	unsigned calls = 0;
	struct runner backwards = {run_backwards, &calls, 1};

	random_members(m, 769);
	for (size_t i = 1; i <= 70 + 6; i++) {
		size_t n = i <= 70 ? i : more[i - 71];
		struct group *g;
		struct group_root root, alone;
		uint8_t want[32];
		fr_t slow;
		CHECK_STATUS(group_new(&g), ST_OK);
		for (size_t at = 0; at < n;) {
			size_t some = 1 + test_random() % (n - at);
			if (i % 7 == 0)
				some = 1;
			CHECK_STATUS(group_add(g, m + at, some,
					 i % 2 != 0 ? &backwards : NULL),
			    ST_OK);
			at += some;
		}
		slow_root(&slow, m, n);
		fr_to_bytes(want, &slow);
		group_root(&root, g);
		CHECK_MEM(root.root, want, 32);
		CHECK_INT(root.size, n);
		CHECK((UINT64_C(1) << root.depth) >= n);
		CHECK(n == 1 || (UINT64_C(1) << (root.depth - 1)) < n);
		CHECK_STATUS(
		    group_root_of(&alone, m, n, i % 2 != 0 ? &backwards : NULL),
		    ST_OK);
		CHECK_MEM(&alone, &root, sizeof(root));
		if (n <= 18)
			check_proofs(g, m, n);
		group_free(g);
	}
	CHECK(calls > 0);
}

/* A group large enough for the runner to be asked at several levels. */
static void
test_runner(void)
{
	enum { N = 3000 };
	static struct group_member m[N];
	unsigned calls = 0;
	struct runner backwards = {run_backwards, &calls, 1};
	struct group *g, *h;
	struct group_root a, b, c;

	random_members(m, N);
	CHECK_STATUS(group_new(&g), ST_OK);
	CHECK_STATUS(group_new(&h), ST_OK);
	CHECK_STATUS(group_add(g, m, N, NULL), ST_OK);
	CHECK_STATUS(group_add(h, m, N, &backwards), ST_OK);
	CHECK(calls >= 6);
	group_root(&a, g);
	group_root(&b, h);
	CHECK_MEM(&a, &b, sizeof(a));
	CHECK_STATUS(group_root_of(&c, m, N, &backwards), ST_OK);
	CHECK_MEM(&a, &c, sizeof(a));
	group_free(g);
	group_free(h);
}

static void
test_refuses(void)
{
	struct group_member m[3];
	struct group *g;
	struct group_root before, after;
	size_t place;

	random_members(m, 3);
	CHECK_STATUS(group_new(&g), ST_OK);
	group_root(&before, g);
	CHECK(before.size == 0 && before.depth == 0 && before.root[31] == 0);
	CHECK_STATUS(group_root_of(&after, m, 0, NULL), ST_OK);
	CHECK_MEM(&after, &before, sizeof(after));
	CHECK_STATUS(group_find(g, &place, m[0].commitment), ST_NOT_FOUND);
	CHECK_STATUS(group_add(g, m, 2, NULL), ST_OK);
	group_root(&before, g);
	memset(m[2].commitment, 0, 32);
	CHECK_STATUS(group_add(g, m + 1, 2, NULL), ST_BAD_VALUE);
	CHECK_STATUS(group_root_of(&after, m, 3, NULL), ST_BAD_VALUE);
	CHECK_INT(after.size, 0);
	memset(m[2].commitment, 0xff, 32);
	CHECK_STATUS(group_add(g, m + 1, 2, NULL), ST_NOT_CANONICAL);
	CHECK_STATUS(group_root_of(&after, m, 3, NULL), ST_NOT_CANONICAL);
	CHECK_STATUS(group_find(g, &place, m[2].commitment), ST_NOT_FOUND);
	group_root(&after, g);
	CHECK_MEM(&after, &before, sizeof(after));
	group_free(g);
	group_free(NULL);
}

/* --- the member file --- */

#define R_DECIMAL                                                           \
	"21888242871839275222246405745257275088548364400416034343698204186" \
	"575808495617"

static void
test_file(void)
{
	static const char text[] = "# the wardens\n"
				   "\n"
				   "12\n"
				   "  34\t# with a note\r\n"
				   "\t \r\n"
				   "   # 12\n"
				   "56";
	struct members m;
	struct members_fault f;

	CHECK_STATUS(members_parse(&m, text, strlen(text), &f), ST_OK);
	CHECK_INT(m.n, 3);
	check_decimal(m.list[0].commitment, "12");
	check_decimal(m.list[1].commitment, "34");
	check_decimal(m.list[2].commitment, "56");
	CHECK(m.lines[0] == 3 && m.lines[1] == 4 && m.lines[2] == 7);
	members_clear(&m);
	CHECK(m.list == NULL && m.n == 0);
	CHECK_STATUS(members_parse(&m, "", 0, &f), ST_OK);
	CHECK_INT(m.n, 0);
	members_clear(&m);
}

static void
test_file_refuses(void)
{
	static const struct {
		const char *text;
		size_t len; /* 0: strlen */
		enum status want;
		const char *say;
	} cases[] = {
	    {"0\n", 0, ST_BAD_VALUE, "line 1: zero is no commitment"},
	    {"1\n2\n#\n1\n", 0, ST_DUPLICATE,
		"line 4: the same commitment as line 1"},
	    {"5\n" R_DECIMAL, 0, ST_NOT_CANONICAL,
		"line 2: too large for a commitment (not below r)"},
	    {"1157920892373161954235709850086879078532699846656405640394575840"
	     "07913129639936",
		0, ST_NOT_CANONICAL,
		"line 1: too large for a commitment (not below r)"},
	    {"\n01\n", 0, ST_BAD_ENCODING,
		"line 2: not a decimal number (digits alone, no leading "
		"zero)"},
	    {"+1", 0, ST_BAD_ENCODING, NULL},
	    {"-1", 0, ST_BAD_ENCODING, NULL},
	    {"0x1", 0, ST_BAD_ENCODING, NULL},
	    {"1 2", 0, ST_BAD_ENCODING, NULL},
	    {"1,", 0, ST_BAD_ENCODING, NULL},
	    {"1\r2", 0, ST_BAD_ENCODING, NULL},
	    {"1\0", 2, ST_BAD_ENCODING, NULL},
	    {"\xef\xbb\xbf"
	     "1",
		0, ST_BAD_ENCODING, NULL},
	};
	char say[MEMBERS_FAULT_MAX];
	struct members m;
	struct members_fault f;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len =
		    cases[i].len ? cases[i].len : strlen(cases[i].text);
		enum status got = members_parse(&m, cases[i].text, len, &f);
		members_fault_text(say, &f);
		if (got != cases[i].want || f.status != got ||
		    (cases[i].say != NULL && strcmp(say, cases[i].say) != 0))
			test_fail(__FILE__, __LINE__, "case %u: %s: %s", i,
			    status_info(got)->name, say);
		CHECK(m.list == NULL && m.lines == NULL && m.n == 0);
	}
}

/* r - 1 is the largest commitment there is. */
static void
test_commitment(void)
{
	static const char largest[] =
	    "21888242871839275222246405745257275088548364400416034343698204186"
	    "575808495616";
	uint8_t out[32];

	CHECK_STATUS(commitment_parse(out, largest, strlen(largest)), ST_OK);
	check_decimal(out, largest);
	CHECK_STATUS(commitment_parse(out, R_DECIMAL, strlen(R_DECIMAL)),
	    ST_NOT_CANONICAL);
	CHECK_INT(out[0], 0);
	CHECK_STATUS(commitment_parse(out, "", 0), ST_BAD_LENGTH);
	CHECK_STATUS(commitment_parse(out, "0", 1), ST_BAD_VALUE);
	CHECK_STATUS(commitment_parse(out, "7\n", 2), ST_BAD_ENCODING);
}

static void
check_edit(const char *got, size_t len, const char *want)
{
	CHECK(got != NULL);
	CHECK_INT(len, strlen(want));
	CHECK_STR(got, want);
}

static void
test_edit(void)
{
	static const char text[] = "# a\n11\n22 # b\n\n33\n# end";
	static const size_t lines[] = {2, 5}, last[] = {6},
			    all[] = {1, 2, 3, 4, 5, 6};
	struct group_member m[2];
	char *out;
	size_t len;

	set_decimal(&m[0], "44");
	set_decimal(&m[1], "55");
	CHECK_STATUS(
	    members_text_add(&out, &len, text, strlen(text), m, 2), ST_OK);
	check_edit(out, len, "# a\n11\n22 # b\n\n33\n# end\n44\n55\n");
	free(out);
	CHECK_STATUS(members_text_add(&out, &len, "", 0, m, 1), ST_OK);
	check_edit(out, len, "44\n");
	free(out);
	CHECK_STATUS(
	    members_text_remove(&out, &len, text, strlen(text), lines, 2),
	    ST_OK);
	check_edit(out, len, "# a\n22 # b\n\n# end");
	free(out);
	CHECK_STATUS(
	    members_text_remove(&out, &len, text, strlen(text), last, 1),
	    ST_OK);
	check_edit(out, len, "# a\n11\n22 # b\n\n33\n");
	free(out);
	CHECK_STATUS(
	    members_text_remove(&out, &len, text, strlen(text), all, 6), ST_OK);
	check_edit(out, len, "");
	free(out);
}

/* Many lines: the table of seen commitments at work, and the one duplicate
 * found wherever it stands. */
static void
test_many_lines(void)
{
	enum { N = 20000 };
	char *text = malloc((size_t)N * DECIMAL_MAX);
	size_t len = 0, first = test_random() % (N - 1), again = N - 1;
	struct group_member one, kept;
	struct members m;
	struct members_fault f;

	CHECK(text != NULL);
	memset(&kept, 0, sizeof(kept));
	for (size_t i = 0; i < N; i++) {
		random_members(&one, 1);
		if (i == first)
			kept = one;
		if (i == again) {
			CHECK_STATUS(members_parse(&m, text, len, &f), ST_OK);
			CHECK_INT(m.n, N - 1);
			CHECK_MEM(&m.list[first], &kept, sizeof(kept));
			members_clear(&m);
			one = kept;
		}
		len += decimal_encode(text + len, one.commitment);
		text[len++] = '\n';
	}
	CHECK_STATUS(members_parse(&m, text, len, &f), ST_DUPLICATE);
	CHECK_INT(f.line, N);
	CHECK_INT(f.first_line, first + 1);
	free(text);
}

TESTS({"group: the official ones", test_official},
    {"group: each size against the definition", test_sizes},
    {"group: parts on other threads", test_runner},
    {"group: what is no member", test_refuses}, {"members: a file", test_file},
    {"members: files that are refused", test_file_refuses},
    {"members: one commitment", test_commitment}, {"members: edits", test_edit},
    {"members: twenty thousand lines", test_many_lines})
