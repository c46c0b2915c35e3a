/* semaphore/statement.h: a proof as the pairing takes it, and what repeats from
 * one to the next.
 *
 * Private to the folder.
 */
#ifndef SEMAPHORE_STATEMENT_H
#define SEMAPHORE_STATEMENT_H

#include "groth16/verify.h"
#include "postern/semaphore.h"
#include "semaphore/keys_data.h"

struct statement {
	const struct groth16_pvk *key;
	struct groth16_proof proof; /* B not yet known to be in G2 */
	fr_t inputs
	    [SEMAPHORE_INPUTS]; /* root, nullifier, H(message), H(scope) */
};

/* Do all that comes before the pairing, the first all but the points.
 * Out:     s; f, whose status is the result.
 * Returns: ST_OK; as semaphore_verify, but for the pairing. */
enum status statement_begin(struct statement *s,
    const struct semaphore_keys *keys, const struct semaphore_proof *p,
    struct semaphore_fault *f) NONNULL WARN_UNUSED;
enum status statement_read(struct statement *s,
    const struct semaphore_keys *keys, const struct semaphore_proof *p,
    struct semaphore_fault *f) NONNULL WARN_UNUSED;

/* Say in F what the pairing said, ST; that is also the result. */
enum status
statement_conclude(enum status st, struct semaphore_fault *f) NONNULL;

/* The sum over what repeats in INPUTS, remembered or made; good until the next
 * call. NULL without a memo for these keys. */
const struct groth16_partial *
memo_recall(struct semaphore_memo *memo, const struct semaphore_keys *keys,
    const struct groth16_pvk *key, const fr_t *inputs) NONNULL_ARGS(2, 3, 4);

#endif
