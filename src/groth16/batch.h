/* groth16/batch.h: many proofs for less than the sum of their prices.
 *
 * With random weights z[i] of 128 bits, the product over all proofs of their
 * equations to the power z[i] holds with probability 2^-128 or less unless
 * each of them holds (Bellare, Garay, Rabin, EUROCRYPT 1998). It costs a Miller
 * loop over each B and one final exponentiation; for gamma and delta of each
 * key, one accumulated point. If the product fails, the batch is halved until
 * the bad ones are found: with one bad proof among N the others are known to
 * be good after log2 N more final exponentiations at most.
 *
 * The weights must be unknown to whoever made the proofs: take them from the
 * system's generator after the proofs have come in.
 */
#ifndef GROTH16_BATCH_H
#define GROTH16_BATCH_H

#include "groth16/verify.h"

/* The most proofs in one batch. */
#define GROTH16_BATCH_MAX 256

struct groth16_job {
	/* in */
	const struct groth16_pvk *key; /* all of one kernel */
	const struct groth16_partial *partial; /* NULL: none */
	struct groth16_proof proof;
	fr_t inputs[GROTH16_INPUTS_MAX];
	/* out: as from groth16_verify */
	enum status status;
};

/* Bytes of scratch memory for a batch of N with kernel K, aligned to
 * GROTH16_PVK_ALIGN. */
size_t groth16_batch_size(const struct bn254_kernel *k, size_t n) NONNULL;

/* Verify N jobs, 1 to GROTH16_BATCH_MAX, each job's key prepared for kernel K.
 * RANDOM is 16 N bytes that nobody could foresee. SCRATCH is as large as
 * groth16_batch_size says; it is not kept.
 * Out:     jobs[i].status.
 * Returns: how many are ST_OK. */
size_t
groth16_verify_batch(const struct bn254_kernel *k, struct groth16_job *jobs,
    size_t n, const uint8_t *random, void *scratch) NONNULL;

#endif
