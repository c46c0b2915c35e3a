/* cmd/mint.h: making proofs with a proving key from a file, for the commands
 * that do (prove, client).
 *
 * A proof is verified before it leaves, so that a damaged key, or a damaged
 * computation, costs an error message and not a member's puzzlement.
 */
#ifndef CMD_MINT_H
#define CMD_MINT_H

#include <stdint.h>

#include "postern/prove.h"

struct mint;

struct mint_options {
	const char *zkey; /* a file, a folder of them; NULL: as
			   * artifact_find.h says */
	const char *vkey; /* verification key of another ceremony (a file of
			   * snarkjs's JSON); NULL: the official one */
	uint32_t depth; /* of the circuit; 0: whichever ZKEY is for, if that
			 * is a file, else the least that will do */
	uint32_t least; /* the depth that is needed */
	unsigned threads; /* 0: as many as there are CPUs */
};

/* Open the proving key. What goes wrong has been said on stderr in the name of
 * NAME, which stays as it is as long as the mint is used.
 * Out:     *m, for mint_close; NULL on failure. */
enum status mint_open(struct mint **m, const char *name,
    const struct mint_options *options) NONNULL WARN_UNUSED;

/* Make and verify the proof of STATEMENT, with fresh blinding. Failures have
 * been said. secrets_guard has been called.
 * Out:     p, affine; zeroed on failure. */
enum status mint_proof(struct mint *m, struct semaphore_proof *p,
    const struct prove_statement *statement) NONNULL WARN_UNUSED;

/* NULL is nothing. */
void mint_close(struct mint *m);

#endif
