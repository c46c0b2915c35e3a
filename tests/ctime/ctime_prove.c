/* The prover under valgrind: no branch and no address depends on the secret
 * scalar, on the path, on a witness or on the blinding. */
#include "harness.h"

#include <stdlib.h>

#include "base/ctime.h"
#include "groth16/prove.h"
#include "semaphore/babyjub.h"
#include "semaphore/witness.h"
#include "toy_zkey.h"

static void
secret_scalar(uint8_t out[static 32])
{
	test_random_bytes(out, 32);
	out[0] &= 3; /* below l */
	classify(out, 32);
}

/* What must be caught: the test of the test. */
static void
leak_branch(void)
{
	uint8_t secret[32];

	secret_scalar(secret);
	if (secret[5] & 1)
		puts("odd");
}

static void
leak_address(void)
{
	static const uint8_t table[256] = {1, 2, 3};
	uint8_t secret[32];
	volatile uint8_t found;

	secret_scalar(secret);
	found = table[secret[7]];
	(void)found;
}

/* A sum's result is as secret as its scalars, in every kernel. */
static void
leak_sum(void)
{
	static uint8_t points[16 * 64];
	static uint64_t scalars[16][4];
	static uint32_t index[16];
	_Alignas(64) static uint8_t memory[MSM_MEMORY];
	const struct msm_terms t = {.points = points,
	    .scalars = (const uint64_t(*)[4])scalars,
	    .index = index,
	    .n = 16};
	struct toy *toy = toy_new(40);
	enum zkey_section section;
	struct zkey key;
	g1j_t sum;

	CHECK_STATUS(
	    zkey_read(&key, span_of(toy->file, toy->len), &section), ST_OK);
	memcpy(points, key.h, sizeof(points));
	for (uint32_t i = 0; i < 16; i++) {
		test_random_bytes(scalars[i], 31);
		index[i] = i;
	}
	classify(scalars, sizeof(scalars));
	msm_g1(&sum, msm_kernel_nth(0), &t, memory);
	if (sum.y.l[2] & 1)
		puts("odd");
	toy_free(toy);
}

static void
test_babyjub(void)
{
	uint8_t secret[32];
	babyjub_t p;

	secret_scalar(secret);
	babyjub_mul_base8(&p, secret);
}

static void
test_witness(void)
{
	static fr_t w[WITNESS_LENGTH(4)];
	static struct witness_work work;
	struct group_proof path = {.length = 3};
	struct witness_input in = {.depth = 4, .path = &path};
	enum witness_refusal why;
	uint8_t secret[32];
	unsigned index;

	secret_scalar(secret);
	in.secret = secret;
	for (unsigned i = 0; i < 3; i++) {
		test_random_bytes(path.siblings[i], 32);
		path.siblings[i][0] &= 0x1f;
	}
	path.index = test_random() % 8;
	classify(path.siblings, sizeof(path.siblings));
	classify(&path.index, sizeof(path.index));
	toy_random(&in.message);
	toy_random(&in.scope);
	CHECK_STATUS(witness_make(w, &in, &work, &why, &index), ST_OK);
}

static void
test_proof(void)
{
	static uint64_t scalars[TOY_VARS_MAX][4];
	struct toy *t = toy_new(60);
	enum zkey_section section;
	struct groth16_proof proof;
	struct groth16_pk pk;
	struct zkey key;
	void *pk_memory, *memory;
	fr_t blind[2];

	CHECK_STATUS(
	    zkey_read(&key, span_of(t->file, t->len), &section), ST_OK);
	pk_memory = aligned_alloc(64, (groth16_pk_size(&key) + 63) / 64 * 64);
	CHECK(pk_memory != NULL);
	groth16_pk_init(&pk, &key, t->is_bit, NULL, pk_memory);
	memory =
	    aligned_alloc(64, (groth16_prove_memory(&pk, 1) + 63) / 64 * 64);
	CHECK(memory != NULL);
	for (size_t i = 0; i < t->n_vars; i++)
		fr_to_limbs(scalars[i], &t->w[i]);
	toy_random(&blind[0]);
	toy_random(&blind[1]);
	classify(scalars, sizeof(scalars));
	classify(blind, sizeof(blind));
	groth16_prove(&proof, &pk, (const uint64_t(*)[4])scalars, &blind[0],
	    &blind[1], memory, NULL);
	free(memory);
	free(pk_memory);
	toy_free(t);
}

TESTS({"leak by a branch is caught", leak_branch},
    {"leak by an address is caught", leak_address},
    {"leak of a sum is caught", leak_sum},
    {"multiplication on Baby Jubjub", test_babyjub},
    {"witness of secret and path", test_witness},
    {"proof of a secret witness", test_proof}, )
