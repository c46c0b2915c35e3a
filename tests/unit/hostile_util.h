/* tests/unit/hostile_util.h: what is said of a proof that is not right.
 */
#ifndef TESTS_HOSTILE_UTIL_H
#define TESTS_HOSTILE_UTIL_H

#include "proof_util.h"

#include <gmp.h>

static json_t *all;
static struct semaphore_keys *keys;
static mpz_t p, r;

static inline void
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
static inline const char *
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
static inline bool
is_verdict(const char *got, const char *want)
{
	if (strcmp(want, "not JSON") == 0)
		return strncmp(got, "not JSON, at byte ", 18) == 0;
	return strcmp(got, want) == 0;
}

static inline void
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
static inline char *
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

static inline void
expect_for(int line, const struct draft *d, const char *name, const char *why)
{
	char *want = text_of("%s: %s", name, why);

	expect_at(line, d, want);
}

#endif
