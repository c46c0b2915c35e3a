/* semaphore/witness.h: all signals of the Semaphore v4 circuit, by formula.
 *
 * The official circuit, compiled by circom --O2, keeps 1514 + 247 N signals at
 * depth N, in an order that is the same at every depth: witness.c has it as a
 * table. What is written there is what the official WebAssembly computes, bit
 * for bit, but by closed formulas: the 85 additions of the fixed-base
 * multiplication run in projective coordinates with two inversions in all.
 *
 * Constant time in the secret, in the path (index and siblings name the
 * member) and so in every signal; the depth, the path's length and the status
 * are public. Threads: any.
 */
#ifndef SEMAPHORE_WITNESS_H
#define SEMAPHORE_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "bn254/fr.h"
#include "postern/group.h"
#include "postern/semaphore.h"
#include "postern/status.h"
#include "semaphore/babyjub.h"

/* Numbers of signals and of public ones (root, nullifier, message, scope:
 * signals 1 to 4; signal 0 is 1). */
#define WITNESS_LENGTH(DEPTH) (1514u + 247u * (DEPTH))
#define WITNESS_PUBLIC 4u
#define WITNESS_ROWS(DEPTH) (1511u + 246u * (DEPTH))

enum witness_signal {
	WITNESS_ONE,
	WITNESS_ROOT,
	WITNESS_NULLIFIER,
	WITNESS_MESSAGE,
	WITNESS_SCOPE,
};

/* The identity commitment's place. */
#define WITNESS_LEAF(DEPTH) (784u + (DEPTH))

struct witness_input {
	uint32_t depth; /* of the circuit */
	const uint8_t *secret; /* 32 bytes, big-endian */
	const struct group_proof
	    *path; /* its leaf and root are not looked at */
	fr_t message, scope; /* as hashed */
};

/* Windows of three bits: 83 of the lower segment, 2 of the upper one. */
#define WITNESS_WINDOWS 85

/* Working memory; holds secrets afterwards, the caller wipes it. */
struct witness_work {
	babyjubp_t points[8 * WITNESS_WINDOWS];
	struct witness_mont {
		fr_t u, v;
	} table[WITNESS_WINDOWS][8], /* public: (k + 1) 8^w Base8 */
	    chosen[WITNESS_WINDOWS], /* the entry that the bits choose */
	    sums[WITNESS_WINDOWS + 2]; /* before and after each addition */
	fr_t den[8 * WITNESS_WINDOWS], inv[8 * WITNESS_WINDOWS];
};

/* Which signals are 0 or 1 in every witness: WITNESS_LENGTH(depth) answers. */
void witness_bits(bool *is_bit, uint32_t depth) NONNULL;

enum witness_refusal {
	WITNESS_FINE,
	WITNESS_BAD_DEPTH,
	WITNESS_BAD_SECRET,
	WITNESS_BAD_LENGTH,
	WITNESS_BAD_INDEX,
	WITNESS_BAD_SIBLING,
};

/* Compute the witness.
 * Out:     w, WITNESS_LENGTH(depth) signals in Montgomery form; zeros on
 *          failure. *why, and *index the sibling that it is about.
 * Returns: ST_OK; ST_BAD_DEPTH (not 1 to 32); ST_BAD_VALUE (the secret is not
 *          below l; the index has more bits than the path is long);
 *          ST_BAD_LENGTH (the path is longer than the depth);
 *          ST_NOT_CANONICAL (a sibling). */
enum status
witness_make(fr_t *w, const struct witness_input *in, struct witness_work *work,
    enum witness_refusal *why, unsigned *index) NONNULL WARN_UNUSED;

#endif
