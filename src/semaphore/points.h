/* semaphore/points.h: the points of a proof, between bytes and the curve.
 *
 * Private to the folder but for the prover's tests. Variable time.
 */
#ifndef SEMAPHORE_POINTS_H
#define SEMAPHORE_POINTS_H

#include "bn254/pairing.h"
#include "groth16/verify.h"
#include "postern/semaphore.h"

/* Decode the points of P, of either form.
 * Out:     out, its points on their curves, B not yet known to be in G2. f.
 * Returns: ST_OK; ST_BAD_VALUE (a proof without points); ST_BAD_ENCODING,
 *          ST_NOT_CANONICAL, ST_NOT_ON_CURVE, ST_INFINITY for a point. */
enum status
points_decode(struct groth16_proof *out, const struct semaphore_proof *p,
    struct semaphore_fault *f) NONNULL WARN_UNUSED;

/* Where a proof's points go, and what is wrong with them. */
struct points_place {
	const struct semaphore_proof *proof;
	struct groth16_proof *out;
	struct semaphore_fault *fault;
};

/* points_decode for each of N proofs, the roots of compressed ones side by side
 * as K has them. */
void points_decode_many(const struct bn254_kernel *k,
    const struct points_place *at, size_t n) NONNULL;

/* Write the points of IN into P in the form FORM, and set it. */
void points_encode(struct semaphore_proof *p, const struct groth16_proof *in,
    enum semaphore_form form) NONNULL;

#endif
