/* Groth16 verification: proofs made from a key's secrets, and what is wrong
 * with them; by every kernel of this machine. */
#include <stdlib.h>

#include "groth16_maker.h"

#define INPUTS 4

static const struct groth16_pvk *
prepare(const struct bn254_kernel *k, const struct groth16_vk *vk)
{
	const struct groth16_pvk *pvk;
	size_t size = groth16_pvk_size(k, vk->inputs);
	void *memory = aligned_alloc(GROTH16_PVK_ALIGN,
	    (size + GROTH16_PVK_ALIGN - 1) / GROTH16_PVK_ALIGN *
		GROTH16_PVK_ALIGN);

	CHECK(memory != NULL);
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, vk), ST_OK);
	CHECK((const void *)pvk == memory);
	CHECK_INT(groth16_inputs(pvk), vk->inputs);
	return pvk;
}

static void
release(const struct groth16_pvk *pvk)
{
	union {
		const void *from;
		void *to;
	} u = {pvk};

	free(u.to);
}

static void
valid_and_not(const struct bn254_kernel *k)
{
	struct groth16_proof proof, bad;
	struct groth16_partial partial;
	const struct groth16_pvk *pvk;
	fr_t x[INPUTS], y[INPUTS];
	struct maker m;

	maker_init(&m, INPUTS);
	pvk = prepare(k, &m.vk);
	for (int i = 0; i < INPUTS; i++)
		maker_random(&x[i]);
	maker_prove(&proof, &m, x);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_OK);

	/* Re-randomised it is valid too: (-A, -B, C). */
	bad = proof;
	g1_neg(&bad.a, &bad.a);
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_PROOF_INVALID);
	twist_neg(&bad.b, &bad.b);
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_OK);

	bad = proof;
	g1_neg(&bad.c, &bad.c);
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_PROOF_INVALID);
	bad = proof;
	bad.a = proof.c;
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_PROOF_INVALID);
	bad = proof;
	bad.a = g1_infinity;
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_INFINITY);
	bad = proof;
	bad.b = twist_infinity;
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_INFINITY);
	bad = proof;
	bad.c = g1_infinity;
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_INFINITY);

	for (unsigned which = 0; which < 1 << INPUTS; which++) {
		groth16_partial_init(&partial, pvk, which, x);
		CHECK_STATUS(groth16_verify(pvk, &partial, &proof, x), ST_OK);
		for (int i = 0; i < INPUTS; i++) {
			memcpy(y, x, sizeof(y));
			fr_add(&y[i], &y[i], &fr_one);
			CHECK_STATUS(groth16_verify(pvk, &partial, &proof, y),
			    ST_PROOF_INVALID);
		}
	}
	/* A partial sum of other values is of no use and does no harm. */
	memcpy(y, x, sizeof(y));
	fr_add(&y[1], &y[1], &fr_one);
	groth16_partial_init(&partial, pvk, 3, y);
	CHECK_STATUS(groth16_verify(pvk, &partial, &proof, x), ST_OK);
	CHECK_STATUS(
	    groth16_verify(pvk, &partial, &proof, y), ST_PROOF_INVALID);
	release(pvk);
}

/* Inputs that make vk_x infinity, or a term of it 0. */
static void
degenerate_inputs(const struct bn254_kernel *k)
{
	struct groth16_proof proof;
	const struct groth16_pvk *pvk;
	fr_t x[INPUTS] = {fr_zero}, t;
	struct maker m;

	maker_init(&m, INPUTS);
	pvk = prepare(k, &m.vk);
	maker_prove(&proof, &m, x);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_OK);
	fr_inv_var(&t, &m.ic[1]);
	fr_mul(&t, &t, &m.ic[0]);
	fr_neg(&x[0], &t);
	maker_prove(&proof, &m, x);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_OK);
	fr_neg(&x[3], &fr_one);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_PROOF_INVALID);
	maker_prove(&proof, &m, x);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_OK);
	release(pvk);
}

static void
bad_keys(const struct bn254_kernel *k)
{
	const struct groth16_pvk *pvk;
	struct groth16_vk vk;
	struct maker m;
	void *memory = aligned_alloc(GROTH16_PVK_ALIGN,
	    (groth16_pvk_size(k, GROTH16_INPUTS_MAX) + 63) / 64 * 64);

	CHECK(memory != NULL);
	maker_init(&m, 1);
	vk = m.vk;
	vk.inputs = 0;
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_BAD_VALUE);
	CHECK(pvk == NULL);
	vk.inputs = GROTH16_INPUTS_MAX + 1;
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_BAD_VALUE);
	vk = m.vk;
	vk.alpha = g1_infinity;
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_INFINITY);
	vk = m.vk;
	memset(&vk.delta, 0, sizeof(vk.delta));
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_INFINITY);
	vk = m.vk;
	vk.ic[1] = g1_infinity;
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_INFINITY);
	free(memory);
}

static void
with_every_kernel(void (*test)(const struct bn254_kernel *))
{
	const struct bn254_kernel *k;
	size_t n = 0;

	while ((k = bn254_kernel_nth(n)) != NULL) {
		test(k);
		n++;
	}
	CHECK(n >= 1);
}

static void
test_valid_and_not(void)
{
	with_every_kernel(valid_and_not);
}

static void
test_degenerate_inputs(void)
{
	with_every_kernel(degenerate_inputs);
}

static void
test_bad_keys(void)
{
	with_every_kernel(bad_keys);
}

TESTS({"valid proofs, and what is wrong with others", test_valid_and_not},
    {"inputs that make a sum vanish", test_degenerate_inputs},
    {"keys that can not be prepared", test_bad_keys})
