/* hash/poseidon.h: Poseidon over the scalar field of BN254, two inputs.
 *
 * Grassi, Khovratovich, Rechberger, Roy, Schofnegger, "Poseidon: a new hash
 * function for zero-knowledge proof systems" (ePrint 2019/458), with x^5, t =
 * 3, 8 full and 57 partial rounds, and the constants that circomlib and the
 * official Semaphore packages use: H(a, b) is the first lane of the
 * permutation of (0, a, b). Everything in Semaphore v4 hashes two values:
 * commitments, tree nodes, nullifiers.
 *
 * The circuit has the optimised form of the paper's appendix B: the constants
 * of the partial rounds are pushed forward until one a round is left, and each
 * partial round's matrix is split so that it is sparse. A witness follows it
 * wire by wire. What we compute is the same permutation with two products a
 * round less: hash/poseidon_kernels.h.
 *
 * Constant time in its inputs: commitments are made from secrets. Threads:
 * any.
 */
#ifndef HASH_POSEIDON_H
#define HASH_POSEIDON_H

#include <stddef.h>

#include "bn254/fr.h"

#define POSEIDON_T 3
#define POSEIDON_FULL_ROUNDS 8
#define POSEIDON_PARTIAL_ROUNDS 57

/* The constants of the circuit's form, in circomlib's layout:
 *
 *	state += c[0..2]
 *	3 times: x^5 on each lane; state += the next 3 of c; state = m state
 *	x^5 on each lane; state += c[12..14]; state = p state
 *	57 times, r = 0 to 56: x^5 on lane 0; lane 0 += c[15 + r];
 *	    with s = &s[5 r]: new lane 0 = s[0] l0 + s[1] l1 + s[2] l2,
 *	    lane 1 += s[3] l0, lane 2 += s[4] l0 (l0 before this step)
 *	3 times: x^5 on each lane; state += the next 3 of c (from c[72]);
 *	    state = m state
 *	x^5 on each lane; state = m state
 *
 * "state = m state" is new[i] = sum over j of m[j][i] * old[j]. */
struct poseidon_constants {
	fr_t c[81];
	fr_t m[3][3];
	fr_t p[3][3];
	fr_t s[285];
};

extern const struct poseidon_constants poseidon_constants;

/* H(a, b). OUT may be A or B. */
void poseidon_pair(fr_t *out, const fr_t *a, const fr_t *b);

/* out[i] = H(in[2 i], in[2 i + 1]) for N pairs, several side by side where the
 * CPU can. OUT may be IN itself: a tree level is folded in place. */
void poseidon_pairs(fr_t *out, const fr_t *in, size_t n);

#endif
