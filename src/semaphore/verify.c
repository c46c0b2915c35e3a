/* Verification of one proof: see postern/semaphore.h. */
#include "semaphore/statement.h"

enum status
semaphore_verify(const struct semaphore_keys *keys, struct semaphore_memo *memo,
    const struct semaphore_proof *p, struct semaphore_fault *f)
{
	const struct groth16_partial *partial;
	struct statement s;

	if (statement_read(&s, keys, p, f) != ST_OK)
		return f->status;
	partial = memo_recall(memo, keys, s.key, s.inputs);
	return statement_conclude(
	    groth16_verify(s.key, partial, &s.proof, s.inputs), f);
}
