/* groth16/batch.h: many proofs for less than the sum of their prices.
 *
 * With random weights z[i] of 128 bits, the product over all proofs of their
 * equations to the power z[i] holds with probability 2^-128 or less unless
 * each of them holds (Bellare, Garay, Rabin, EUROCRYPT 1998). It costs a Miller
 * loop over each B and one final exponentiation; for gamma and delta of each
 * key, one accumulated point.
 *
 * The proofs are worked on in groups. If the product fails, it is taken over
 * halves of the groups until the bad groups are found, for a final
 * exponentiation each; in a bad group every proof gets a Miller loop of its
 * own, and the same is done with them. One bad proof among 64 costs less than
 * the clean batch did; when all are bad the price is bounded by some three
 * times the clean one's.
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
