/* groth16/verify.h: verification of Groth16 proofs over BN254.
 *
 * A proof (A, B, C) for public inputs x is valid when (Groth, EUROCRYPT 2016)
 *
 *   e(A, B) = e(alpha, beta) e(vk_x, gamma) e(C, delta),
 *   vk_x = ic[0] + sum of x[i] ic[i + 1].
 *
 * A key is prepared once: e(alpha, beta), the lines of gamma and delta through
 * their Miller loops, and tables of multiples of the ic are kept. What is left
 * is one Miller loop over B with the two others riding along, and one final
 * exponentiation. B's membership of G2 is tested on the way: it must not be
 * tested before.
 *
 * Inputs that stay the same from proof to proof (the root, the message and the
 * scope of an epoch) can be summed once into a groth16_partial.
 *
 * All of this is public data: everything is variable time. Objects are not
 * changed by verification, so threads may share them.
 */
#ifndef GROTH16_VERIFY_H
#define GROTH16_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "bn254/fr.h"
#include "bn254/g1.h"
#include "bn254/g2.h"
#include "bn254/kernel.h"

/* The most public inputs of a key; Semaphore's have 4. */
#define GROTH16_INPUTS_MAX 8

/* A verification key as a file has it. */
struct groth16_vk {
	g1_t alpha;
	g2_t beta, gamma, delta;
	size_t inputs; /* 1 to GROTH16_INPUTS_MAX */
	g1_t ic[GROTH16_INPUTS_MAX + 1];
};

/* A verification key, prepared. */
struct groth16_pvk;

/* A proof as decoded: its points are on their curves (g1_set_var and
 * twist_set_var made them), B not yet known to be in G2. */
struct groth16_proof {
	g1_t a;
	twist_t b;
	g1_t c;
};

/* The sum over those inputs of a key that repeat. It knows for which key and
 * values it is, so one that does not fit is never used, only useless. */
struct groth16_partial {
	const struct groth16_pvk *key;
	unsigned which; /* bit i: input i is in the sum */
	fr_t inputs[GROTH16_INPUTS_MAX];
	g1_t sum; /* with ic[0] */
};

/* Bytes that a prepared key of INPUTS public inputs takes with kernel K; the
 * memory must be aligned to GROTH16_PVK_ALIGN. */
#define GROTH16_PVK_ALIGN 64
size_t groth16_pvk_size(const struct bn254_kernel *k, size_t inputs) NONNULL;

/* Prepare VK for kernel K in MEMORY, which the caller owns and keeps for as
 * long as the key is used; there is nothing to release.
 * Returns: ST_OK; ST_BAD_VALUE, inputs out of range; ST_INFINITY, a point is
 *          infinity or was never set. On failure *pvk is NULL. */
enum status groth16_prepare(const struct groth16_pvk **pvk, void *memory,
    const struct bn254_kernel *k,
    const struct groth16_vk *vk) WARN_UNUSED NONNULL;

/* The number of public inputs of KEY. */
size_t groth16_inputs(const struct groth16_pvk *key) NONNULL;

/* Sum up those inputs of KEY whose bit in WHICH is set. INPUTS holds as many
 * as the key has; the others are not read. */
void groth16_partial_init(struct groth16_partial *p,
    const struct groth16_pvk *key, unsigned which, const fr_t *inputs) NONNULL;

/* Verify PROOF for INPUTS, as many as KEY has. PARTIAL may be NULL.
 * Returns: ST_OK, and only then the proof is valid; ST_INFINITY, one of its
 *          points is infinity; ST_NOT_IN_GROUP, B is outside G2;
 *          ST_PROOF_INVALID, the equation does not hold. */
enum status groth16_verify(const struct groth16_pvk *key,
    const struct groth16_partial *partial, const struct groth16_proof *proof,
    const fr_t *inputs) WARN_UNUSED NONNULL_ARGS(1, 3, 4);

#endif
