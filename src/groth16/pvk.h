/* groth16/pvk.h: what a prepared key holds. Private to the folder.
 *
 * In the memory that the caller gave: the struct, the lines of gamma and of
 * delta as the kernel has them, a table for each ic.
 */
#ifndef GROTH16_PVK_H
#define GROTH16_PVK_H

#include "bn254/g1_table.h"
#include "bn254/pairing.h"
#include "groth16/verify.h"

struct groth16_pvk {
	const struct bn254_kernel *kernel;
	size_t inputs;
	gt_t alpha_beta; /* e(alpha, beta) */
	const void *gamma, *delta; /* lines */
	twist_t gamma_point; /* to see which keys have it in common */
	g1_t ic0;
	const struct g1_table *ic; /* of ic[0] to ic[inputs] */
};

/* A, B or C is infinity. */
bool groth16_proof_has_infinity(const struct groth16_proof *p) NONNULL;

/* sum = vk_x for INPUTS, with PARTIAL's part if it fits. */
void groth16_input_sum(g1j_t *sum, const struct groth16_pvk *key,
    const struct groth16_partial *partial, const fr_t *inputs)
    NONNULL_ARGS(1, 2, 4);

#endif
