/* The two forms of a proof: every official one there and back, the token's own
 * strictness. And the keys.
 */
#include "proof_util.h"

#include "base/bytes.h"
#include "base/text.h"
#include "bn254/kernel.h"
#include "groth16/verify.h"
#include "semaphore/keys.h"
#include "semaphore/vkey_json.h"

static void
load(struct semaphore_proof *p, const json_t *all, size_t i)
{
	struct semaphore_fault f;
	json_t *proof = json_object_get(json_array_get(all, i), "proof");
	char *text = json_text(proof, JSON_COMPACT);

	CHECK_STATUS(
	    semaphore_proof_from_json(p, text, strlen(text), &f), ST_OK);
}

/* Each of the 64 is valid in both forms, and what we write is what
 * JSON.stringify would. */
static void
test_official(void)
{
	json_t *all = proofs_load();
	struct semaphore_keys *keys;
	struct semaphore_memo *memo;
	struct semaphore_proof p, back, compressed;
	struct semaphore_token t;
	struct semaphore_fault f;
	char json[SEMAPHORE_JSON_MAX], token[SEMAPHORE_COMPACT_LENGTH + 1];
	size_t len;

	CHECK_STATUS(
	    semaphore_keys_new(&keys, SEMAPHORE_ALL_DEPTHS, NULL), ST_OK);
	CHECK_STATUS(semaphore_memo_new(&memo, keys), ST_OK);
	for (size_t i = 0; i < PROOFS; i++) {
		json_t *proof =
		    json_object_get(json_array_get(all, i), "proof");
		char *text = json_text(proof, JSON_COMPACT);
		load(&p, all, i);
		CHECK_INT(p.form, SEMAPHORE_AFFINE);
		CHECK_INT(p.depth, 1 + i / 2);
		CHECK_STATUS(semaphore_verify(keys, memo, &p, &f), ST_OK);
		CHECK_STATUS(semaphore_proof_to_json(json, &len, &p), ST_OK);
		CHECK_STR(json, text);
		CHECK_INT(len, strlen(text));

		compressed = p;
		CHECK_STATUS(semaphore_proof_compress(&compressed, &f), ST_OK);
		CHECK_STATUS(
		    semaphore_verify(keys, memo, &compressed, &f), ST_OK);
		CHECK_STATUS(semaphore_token_compact(token, &compressed,
				 UINT32_C(0xdeadbeef), 0x1234),
		    ST_OK);
		CHECK_INT(strlen(token), 267);
		CHECK_STATUS(
		    semaphore_token_decode(&back, &t, token, strlen(token), &f),
		    ST_OK);
		CHECK_INT(t.kind, SEMAPHORE_TOKEN_COMPACT);
		CHECK(t.epoch == UINT32_C(0xdeadbeef) && t.slot == 0x1234);
		/* Message and scope are for the caller to fill in. */
		CHECK(semaphore_verify(keys, memo, &back, &f) != ST_OK);
		memcpy(back.message, p.message, 32);
		memcpy(back.scope, p.scope, 32);
		CHECK_MEM(&back, &compressed, sizeof(back));
		CHECK_STATUS(semaphore_verify(keys, memo, &back, &f), ST_OK);
		CHECK_STATUS(semaphore_proof_expand(&back, &f), ST_OK);
		CHECK_MEM(&back, &p, sizeof(back));
		/* What is not in the form asked for is not written. */
		CHECK_STATUS(semaphore_proof_to_json(json, &len, &compressed),
		    ST_BAD_VALUE);
		CHECK(len == 0 && json[0] == '\0');
		CHECK_STATUS(
		    semaphore_token_compact(token, &p, 0, 0), ST_BAD_VALUE);
		CHECK(token[0] == '\0');
	}
	semaphore_memo_free(memo);
	semaphore_keys_free(keys);
}

/* The JSON in base64url. */
static void
test_json_token(void)
{
	json_t *all = proofs_load();
	struct semaphore_proof p, back;
	struct semaphore_token t;
	struct semaphore_fault f;
	char json[SEMAPHORE_JSON_MAX], token[2 * SEMAPHORE_JSON_MAX];
	size_t len;

	load(&p, all, 5);
	CHECK_STATUS(semaphore_proof_to_json(json, &len, &p), ST_OK);
	base64_encode(token, span_of(json, len), BASE64_URL);
	CHECK_STATUS(
	    semaphore_token_decode(&back, &t, token, strlen(token), &f), ST_OK);
	CHECK_INT(t.kind, SEMAPHORE_TOKEN_JSON);
	CHECK_MEM(&back, &p, sizeof(p));
	/* White space before the brace is no JSON token. */
	memmove(json + 1, json, len + 1);
	json[0] = ' ';
	base64_encode(token, span_of(json, len + 1), BASE64_URL);
	CHECK_STATUS(
	    semaphore_token_decode(&back, &t, token, strlen(token), &f),
	    ST_BAD_VERSION);
}

static char *
compact(uint8_t bytes[static 200], const json_t *all, size_t i)
{
	static char token[SEMAPHORE_COMPACT_LENGTH + 1];
	struct semaphore_proof p;
	struct semaphore_fault f;
	size_t len;

	load(&p, all, i);
	CHECK_STATUS(semaphore_proof_compress(&p, &f), ST_OK);
	CHECK_STATUS(semaphore_token_compact(token, &p, 20612, 0), ST_OK);
	CHECK_STATUS(
	    base64_decode(bytes, 200, &len, span_str(token), BASE64_URL),
	    ST_OK);
	CHECK_INT(len, 200);
	return token;
}

/* The layout that the design fixes, read by hand. */
static void
test_layout(void)
{
	json_t *all = proofs_load();
	uint8_t b[200];
	struct semaphore_proof p;

	compact(b, all, 7);
	load(&p, all, 7);
	CHECK(b[0] == 1 && b[1] == 4);
	CHECK(load_be32(b + 2) == 20612 && load_be16(b + 6) == 0);
	CHECK_MEM(b + 8, p.root, 32);
	CHECK_MEM(b + 40, p.nullifier, 32);
	CHECK((b[72] & 0x80) != 0 && (b[104] & 0x80) != 0 &&
	    (b[168] & 0x80) != 0);
	b[72] &= 0x3f;
	b[104] &= 0x3f;
	b[168] &= 0x3f;
	CHECK_MEM(b + 72, p.points, 32); /* A.x */
	CHECK_MEM(b + 104, p.points + 64, 64); /* B.x1, B.x0 */
	CHECK_MEM(b + 168, p.points + 192, 32); /* C.x */
}

/* What is said of the token whose bytes are B. */
static const char *
said(const uint8_t *b, size_t len)
{
	static char say[SEMAPHORE_FAULT_MAX];
	char token[600];
	struct semaphore_proof p;
	struct semaphore_token t;
	struct semaphore_fault f;

	base64_encode(token, span_of(b, len), BASE64_URL);
	if (semaphore_token_decode(&p, &t, token, strlen(token), &f) == ST_OK)
		return "ok";
	CHECK(p.form == SEMAPHORE_NO_POINTS && p.depth == 0 &&
	    t.kind == SEMAPHORE_TOKEN_NONE);
	return semaphore_fault_text(say, &f);
}

static void
test_token_refuses(void)
{
	static const struct {
		size_t at;
		int value; /* -1: all 32 bytes 0xff; else this byte */
		const char *want;
	} cases[] = {
	    {0, 0, "neither JSON nor a compact token of this version"},
	    {0, 2, "neither JSON nor a compact token of this version"},
	    {1, 0, "merkleTreeDepth: 0 is not within 1 to 32"},
	    {1, 33, "merkleTreeDepth: 33 is not within 1 to 32"},
	    {1, 255, "merkleTreeDepth: 255 is not within 1 to 32"},
	    {8, -1, "merkleTreeRoot: not below the scalar modulus"},
	    {40, -1, "nullifier: not below the scalar modulus"},
	    {72, 0x00, "A: not a compressed point"},
	    {72, 0x3f, "A: not a compressed point"},
	    {72, 0x40, "A: the point at infinity"},
	    {72, -1, "A: not below the field modulus"},
	    {104, 0x10, "B: not a compressed point"},
	    {104, 0x7f, "B: the point at infinity"},
	    {104, -1, "B: not below the field modulus"},
	    {136, -1, "B: not below the field modulus"},
	    {136, 0x80, "B: not below the field modulus"},
	    {168, 0x20, "C: not a compressed point"},
	    {168, 0x40, "C: the point at infinity"},
	    {168, -1, "C: not below the field modulus"},
	};
	json_t *all = proofs_load();
	uint8_t good[201], b[201] = {0};

	compact(good, all, 0);
	CHECK_STR(said(good, 200), "ok");
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(b, good, 200);
		if (cases[i].value < 0)
			memset(b + cases[i].at, 0xff, 32);
		else
			b[cases[i].at] = (uint8_t)cases[i].value;
		const char *got = said(b, 200);
		if (strcmp(got, cases[i].want) != 0)
			test_fail(__FILE__, __LINE__, "case %u: %s", i, got);
	}
	memcpy(b, good, 200);
	CHECK_STR(said(b, 201), "bytes after the end");
	CHECK_STR(said(b, 199), "wrong length");
	CHECK_STR(said(b, 1), "wrong length");
	CHECK_STR(
	    said(b, 0), "neither JSON nor a compact token of this version");
}

static void
test_token_text(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
	    {"A", "wrong length"}, /* no base64 is 4n + 1 long */
	    {"AB==", "not base64url"}, {"A/+B", "not base64url"},
	    {"AQ B", "not base64url"}, {"AQB\n", "not base64url"},
	    {"AR", "not base64url"}, /* spare bits */
	};
	json_t *all = proofs_load();
	struct semaphore_proof p;
	struct semaphore_token t;
	struct semaphore_fault f;
	char say[SEMAPHORE_FAULT_MAX], *big;
	uint8_t b[200];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(semaphore_token_decode(&p, &t, cases[i].text,
			  strlen(cases[i].text), &f) != ST_OK);
		CHECK_STR(semaphore_fault_text(say, &f), cases[i].want);
	}
	/* 267 characters carry 1602 bits, two more than 200 bytes: they are
	 * zero, or the token would have four spellings. */
	char *token = compact(b, all, 0);
	unsigned accepted = 0;
	for (char c = 'A'; c <= 'z'; c++) {
		token[266] = c;
		accepted +=
		    semaphore_token_decode(&p, &t, token, 267, &f) == ST_OK;
	}
	CHECK(accepted >= 1 && accepted <= 16);
	big = calloc(1, SEMAPHORE_TOKEN_MAX + 4);
	CHECK(big != NULL);
	memset(big, 'A', SEMAPHORE_TOKEN_MAX + 4);
	CHECK_STATUS(
	    semaphore_token_decode(&p, &t, big, SEMAPHORE_TOKEN_MAX, &f),
	    ST_BAD_VERSION);
	CHECK_STATUS(
	    semaphore_token_decode(&p, &t, big, SEMAPHORE_TOKEN_MAX + 4, &f),
	    ST_NO_SPACE);
	free(big);
}

/* A compressed x that no point has is found out by the verifier; the other y
 * is another point. */
static void
test_token_points(void)
{
	json_t *all = proofs_load();
	struct semaphore_keys *keys;
	struct semaphore_proof p, bad;
	struct semaphore_fault f;
	unsigned off_curve = 0;

	CHECK_STATUS(
	    semaphore_keys_new(&keys, SEMAPHORE_DEPTH_BIT(1), NULL), ST_OK);
	load(&p, all, 0);
	CHECK_STATUS(semaphore_proof_compress(&p, &f), ST_OK);
	static const struct {
		size_t at, len;
		enum semaphore_field field;
	} points[] = {
	    {0, 32, SEMAPHORE_A}, {32, 64, SEMAPHORE_B}, {96, 32, SEMAPHORE_C}};
	for (unsigned i = 0; i < 3; i++) {
		bad = p;
		bad.points[points[i].at] ^= 0x40; /* 10 and 11: the other y */
		CHECK_STATUS(
		    semaphore_verify(keys, NULL, &bad, &f), ST_PROOF_INVALID);
		for (unsigned k = 1; k < 20; k++) {
			bad = p;
			bad.points[points[i].at + points[i].len - 1] ^=
			    (uint8_t)k;
			enum status st = semaphore_verify(keys, NULL, &bad, &f);
			CHECK(st == ST_NOT_ON_CURVE || st == ST_NOT_IN_GROUP ||
			    st == ST_PROOF_INVALID);
			if (st == ST_NOT_ON_CURVE) {
				CHECK_INT(f.field, points[i].field);
				off_curve++;
			}
		}
	}
	CHECK(off_curve > 5);
	/* Whoever fills a proof in by hand gets no further either. */
	bad = p;
	bad.depth = 0;
	CHECK_STATUS(semaphore_verify(keys, NULL, &bad, &f), ST_BAD_DEPTH);
	bad.depth = 33;
	CHECK_STATUS(semaphore_verify(keys, NULL, &bad, &f), ST_BAD_DEPTH);
	bad.depth = 2;
	CHECK_STATUS(semaphore_verify(keys, NULL, &bad, &f), ST_NO_KEY);
	bad = p;
	memset(bad.root, 0xff, 32);
	CHECK_STATUS(semaphore_verify(keys, NULL, &bad, &f), ST_NOT_CANONICAL);
	CHECK_INT(f.field, SEMAPHORE_ROOT);
	bad = p;
	bad.form = SEMAPHORE_NO_POINTS;
	CHECK_STATUS(semaphore_verify(keys, NULL, &bad, &f), ST_BAD_VALUE);
	semaphore_keys_free(keys);
}

/* --- memo --- */

/* More statements than a memo holds, in turns, with proofs that do not belong
 * to them between: the memo never changes a verdict. */
static void
test_memo(void)
{
	json_t *all = proofs_load();
	struct semaphore_keys *keys;
	struct semaphore_memo *memo;
	struct semaphore_proof p, q;
	struct semaphore_fault f;

	CHECK_STATUS(
	    semaphore_keys_new(&keys, SEMAPHORE_ALL_DEPTHS, NULL), ST_OK);
	CHECK_STATUS(semaphore_memo_new(&memo, keys), ST_OK);
	for (unsigned turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < 20; i++) {
			load(&p, all, i);
			load(&q, all, i ^ 1);
			CHECK_STATUS(
			    semaphore_verify(keys, memo, &p, &f), ST_OK);
			memcpy(p.scope, q.scope, 32);
			CHECK_STATUS(semaphore_verify(keys, memo, &p, &f),
			    ST_PROOF_INVALID);
			load(&p, all, i);
			memcpy(p.nullifier, q.nullifier, 32);
			CHECK_STATUS(semaphore_verify(keys, memo, &p, &f),
			    ST_PROOF_INVALID);
			CHECK_STATUS(
			    semaphore_verify(keys, memo, &q, &f), ST_OK);
		}
	}
	semaphore_memo_free(memo);
	semaphore_keys_free(keys);
}

/* --- batches --- */

/* Spoil P in one of several ways; what verification alone says of it is what
 * the batch has to say. */
static void
spoil(struct semaphore_proof *p, unsigned how)
{
	struct semaphore_fault f;

	switch (how % 8) {
	case 0:
		p->nullifier[31] ^= 1;
		break;
	case 1:
		p->message[0] ^= 1;
		break;
	case 2:
		p->points[31] ^= 1; /* A.x: off the curve */
		break;
	case 3:
		p->depth = p->depth % 32 + 1;
		break;
	case 4:
		p->depth = 0;
		break;
	case 5:
		memset(p->root, 0xff, 32);
		break;
	case 6:
		p->form = SEMAPHORE_NO_POINTS;
		break;
	default:
		CHECK_STATUS(semaphore_proof_compress(p, &f), ST_OK);
		p->points[0] ^= 0x40; /* -A */
	}
}

static void
check_batch(const struct semaphore_keys *keys, struct semaphore_memo *memo,
    const json_t *all, size_t n, unsigned bad_in_100)
{
	struct semaphore_proof *p = kept(n * sizeof(*p));
	const struct semaphore_proof **list = kept(n * sizeof(*list));
	struct semaphore_fault *faults = kept(n * sizeof(*faults)), alone;
	uint8_t *random = kept(16 * n);

	test_random_bytes(random, 16 * n);
	for (size_t i = 0; i < n; i++) {
		load(&p[i], all, test_random() % PROOFS);
		if (test_random() % 2 == 0)
			CHECK_STATUS(
			    semaphore_proof_compress(&p[i], &alone), ST_OK);
		if (test_random() % 100 < bad_in_100)
			spoil(&p[i], (unsigned)test_random());
		list[i] = &p[i];
	}
	CHECK_STATUS(
	    semaphore_verify_batch(keys, memo, faults, list, n, random), ST_OK);
	for (size_t i = 0; i < n; i++) {
		enum status st = semaphore_verify(keys, NULL, &p[i], &alone);
		CHECK_STATUS(faults[i].status, st);
		CHECK(faults[i].field == alone.field &&
		    faults[i].index == alone.index &&
		    faults[i].value == alone.value);
	}
}

static void
test_batch(void)
{
	json_t *all = proofs_load();
	struct semaphore_keys *keys;
	struct semaphore_memo *memo;

	CHECK_STATUS(
	    semaphore_keys_new(&keys, SEMAPHORE_ALL_DEPTHS, NULL), ST_OK);
	CHECK_STATUS(semaphore_memo_new(&memo, keys), ST_OK);
	check_batch(keys, NULL, all, 0, 0);
	for (size_t n = 1; n < 12; n++)
		check_batch(keys, n % 2 != 0 ? memo : NULL, all, n,
		    (unsigned)(n % 3) * 30);
	check_batch(keys, memo, all, 30, 100);
	/* More than one pass. */
	check_batch(keys, memo, all, 260, 5);
	semaphore_memo_free(memo);
	semaphore_keys_free(keys);
}

/* --- keys --- */

/* The key that is built in for each depth is the official one. The files are
 * there once tests/js/install has run; two of them are kept here for good. */
static void
check_key(uint32_t depth, const char *text)
{
	struct groth16_vk ours, theirs;
	const char *where;

	CHECK_STATUS(keys_official(&ours, depth), ST_OK);
	CHECK_STATUS(
	    vkey_from_json(&theirs, 4, text, strlen(text), &where), ST_OK);
	CHECK_MEM(&ours, &theirs, sizeof(ours));
}

static void
test_official_keys(void)
{
	char path[300], *text = test_read_file("vectors/vkey-1.json", NULL);

	check_key(1, text);
	free(text);
	text = test_read_file("vectors/vkey-20.json", NULL);
	check_key(20, text);
	free(text);
	snprintf(path, sizeof(path),
	    "%s/../build/npm/node_modules/@zk-kit/semaphore-artifacts",
	    TESTS_DIR);
	FILE *f = fopen(path, "r");
	if (f == NULL) {
		printf("    official packages not installed: 2 of 32 keys\n");
		return;
	}
	fclose(f);
	for (uint32_t depth = 1; depth <= 32; depth++) {
		snprintf(path, sizeof(path),
		    "../build/npm/node_modules/@zk-kit/semaphore-artifacts/"
		    "semaphore-%u.json",
		    (unsigned)depth);
		text = test_read_file(path, NULL);
		check_key(depth, text);
		free(text);
	}
}

/* A key by file takes the place of the built-in one, and is what counts. */
static void
test_key_by_file(void)
{
	json_t *all = proofs_load();
	char *text1 = test_read_file("vectors/vkey-1.json", NULL);
	char *text20 = test_read_file("vectors/vkey-20.json", NULL);
	struct semaphore_keys *keys;
	struct semaphore_memo *memo;
	struct semaphore_proof p, q;
	struct semaphore_fault f;
	const char *where;

	CHECK_STATUS(
	    semaphore_keys_new(&keys, SEMAPHORE_DEPTH_BIT(1), NULL), ST_OK);
	CHECK_STATUS(semaphore_memo_new(&memo, keys), ST_OK);
	load(&p, all, 0); /* depth 1 */
	load(&q, all, 38); /* depth 20 */
	CHECK_INT(q.depth, 20);
	CHECK_STATUS(semaphore_verify(keys, memo, &p, &f), ST_OK);
	CHECK_STATUS(semaphore_verify(keys, memo, &q, &f), ST_NO_KEY);
	q.depth = 1;
	CHECK_STATUS(semaphore_verify(keys, memo, &q, &f), ST_PROOF_INVALID);
	CHECK_STATUS(
	    semaphore_keys_set(keys, 1, text20, strlen(text20), &where), ST_OK);
	CHECK_STR(where, "");
	/* Also with a memo from before. */
	CHECK_STATUS(semaphore_verify(keys, memo, &q, &f), ST_OK);
	CHECK_STATUS(semaphore_verify(keys, memo, &p, &f), ST_PROOF_INVALID);
	/* A key that is refused changes nothing. */
	CHECK_STATUS(semaphore_keys_set(keys, 1, "{}", 2, &where), ST_MISSING);
	CHECK_STR(where, "protocol");
	CHECK_STATUS(semaphore_verify(keys, memo, &q, &f), ST_OK);
	CHECK_STATUS(
	    semaphore_keys_set(keys, 1, text1, strlen(text1), NULL), ST_OK);
	CHECK_STATUS(semaphore_verify(keys, memo, &p, &f), ST_OK);
	CHECK_STATUS(semaphore_keys_set(keys, 0, text1, strlen(text1), &where),
	    ST_BAD_DEPTH);
	CHECK_STATUS(semaphore_keys_set(keys, 33, text1, strlen(text1), &where),
	    ST_BAD_DEPTH);
	semaphore_memo_free(memo);
	semaphore_keys_free(keys);
	free(text1);
	free(text20);
}

/* TEXT with the first OLD after the first AFTER made NEW, kept. */
static char *
edited(const char *text, const char *after, const char *old, const char *new)
{
	const char *from = strstr(text, after), *at;

	CHECK(from != NULL);
	CHECK((at = strstr(from, old)) != NULL);
	return text_of(
	    "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

static void
test_bad_keys(void)
{
	static const struct {
		const char *after, *old, *new;
		enum status want;
		const char *where;
	} cases[] = {
	    {"", "groth16", "plonk", ST_FOREIGN, "protocol"},
	    {"", "\"groth16\"", "16", ST_WRONG_TYPE, "protocol"},
	    {"", "bn128", "bls12381", ST_FOREIGN, "curve"},
	    {"nPublic", "4", "5", ST_FOREIGN, "nPublic"},
	    {"nPublic", "4", "\"4\"", ST_WRONG_TYPE, "nPublic"},
	    {"", "nPublic", "npublic", ST_MISSING, "nPublic"},
	    {"", "vk_alpha_1", "vk_alpha_2", ST_MISSING, "vk_alpha_1"},
	    {"vk_alpha_1", "\"1642", "\"01642", ST_BAD_ENCODING, "vk_alpha_1"},
	    {"vk_alpha_1", "\"1642", "\"1652", ST_NOT_ON_CURVE, "vk_alpha_1"},
	    {"vk_alpha_1", "\"1\"", "\"2\"", ST_BAD_VALUE, "vk_alpha_1"},
	    {"vk_alpha_1", ",\n    \"1\"", "", ST_BAD_LENGTH, "vk_alpha_1"},
	    {"vk_beta_2", "\"1634", "\"99991634", ST_NOT_CANONICAL,
		"vk_beta_2"},
	    {"vk_beta_2", "\"1634", "\"1635", ST_NOT_ON_CURVE, "vk_beta_2"},
	    {"vk_gamma_2", "\"0\"", "\"1\"", ST_BAD_VALUE, "vk_gamma_2"},
	    {"vk_gamma_2", "\"1085", "\"", ST_NOT_ON_CURVE, "vk_gamma_2"},
	    {"", "vk_delta_2", "vk_delta", ST_MISSING, "vk_delta_2"},
	    {"", "\"IC\"", "\"ic\"", ST_MISSING, "IC"},
	    {"\"IC\"", "\"1\"", "\"0\"", ST_BAD_VALUE, "IC"},
	    {"", "\"curve\": \"bn128\"",
		"\"curve\": \"bn128\", \"curve\": \"bn128\"", ST_DUPLICATE, ""},
	    {"", "{", "[", ST_NOT_JSON, ""},
	};
	char *text = test_read_file("vectors/vkey-1.json", NULL), *bad;
	struct groth16_vk vk;
	const char *where;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bad = edited(text, cases[i].after, cases[i].old, cases[i].new);
		enum status got =
		    vkey_from_json(&vk, 4, bad, strlen(bad), &where);
		if (got != cases[i].want || strcmp(where, cases[i].where) != 0)
			test_fail(__FILE__, __LINE__, "case %u: %s at \"%s\"",
			    i, status_info(got)->name, where);
		CHECK_INT(vk.inputs, 0);
	}
	bad = text_of("%s}", text);
	CHECK_STATUS(
	    vkey_from_json(&vk, 4, bad, strlen(bad), &where), ST_TRAILING);
	CHECK_STATUS(
	    vkey_from_json(&vk, 3, text, strlen(text), &where), ST_FOREIGN);
	free(text);
}

/* Every kernel of this processor says the same. */
static void
test_kernels(void)
{
	json_t *all = proofs_load();
	const struct bn254_kernel *k;
	struct semaphore_keys *keys;
	struct semaphore_proof p;
	struct semaphore_fault f;

	for (size_t i = 0; (k = bn254_kernel_nth(i)) != NULL; i++) {
		CHECK_STATUS(semaphore_keys_new(&keys, SEMAPHORE_DEPTH_BIT(3),
				 bn254_kernel_name(k)),
		    ST_OK);
		load(&p, all, 4);
		CHECK_STATUS(semaphore_verify(keys, NULL, &p, &f), ST_OK);
		p.nullifier[31] ^= 1;
		CHECK_STATUS(
		    semaphore_verify(keys, NULL, &p, &f), ST_PROOF_INVALID);
		semaphore_keys_free(keys);
	}
	CHECK_STATUS(semaphore_keys_new(&keys, 0, "abacus"), ST_UNKNOWN);
	CHECK(keys == NULL);
}

static void
test_signal_hash(void)
{
	uint8_t x[32] = {0}, out[32];
	char hex[65];

	/* keccak256 of 32 zero bytes, a byte dropped. */
	semaphore_signal_hash(out, x);
	hex_encode(hex, span_of(out, 32));
	CHECK_STR(hex,
	    "00290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e5");
}

TESTS({"proof: the official ones, both forms", test_official},
    {"proof: a JSON token", test_json_token},
    {"proof: the compact layout", test_layout},
    {"proof: compact tokens that are refused", test_token_refuses},
    {"proof: texts that are no token", test_token_text},
    {"proof: compressed points", test_token_points},
    {"proof: a memo changes no verdict", test_memo},
    {"proof: batches", test_batch},
    {"proof: how signals are hashed", test_signal_hash},
    {"keys: the official ones", test_official_keys},
    {"keys: by file", test_key_by_file}, {"keys: bad ones", test_bad_keys},
    {"keys: every kernel", test_kernels})
