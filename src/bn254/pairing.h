/* bn254/pairing.h: the optimal ate pairing of BN254, e: G1 x G2 -> GT.
 *
 *   e(P, Q) = (f_{6u+2,Q}(P) l_{[6u+2]Q, psi Q}(P)
 *              l_{[6u+2]Q + psi Q, -psi^2 Q}(P)) ^ (c (p^12 - 1) / r)
 *
 * (Vercauteren, IEEE Trans. Inf. Theory 56, 2010), with the constant
 * c = 2u (6u^2 + 3u + 1) that the final exponentiation brings along; gnark,
 * arkworks and EIP-197's precompiles agree with it where it matters, in which
 * products of pairings are 1.
 *
 * A product of pairings shares its squarings and its final exponentiation. A
 * point of G2 that is used again and again has its lines stored. Everything
 * here is public data in variable time; any thread.
 */
#ifndef BN254_PAIRING_H
#define BN254_PAIRING_H

#include "bn254/g1.h"
#include "bn254/g2.h"
#include "bn254/kernel.h"

/* An element of GT, or of Fp12: c[k] is the coefficient of w^k. */
typedef struct {
	fp2_t c[6];
} gt_t;

bool gt_eq(const gt_t *a, const gt_t *b) NONNULL;

/* A pairing whose point of G2 has its lines stored. */
struct pairing_fixed {
	const void *lines; /* made by the same kernel */
	g1j_t p; /* infinity: the factor is 1 */
};

struct bn254_kernel {
	const char *name;

	/* This processor can run it. */
	bool (*supported)(void);

	/* Bytes of stored lines, and how to make them. Memory of any alignment
	 * that malloc gives would do, GROTH16_PVK_ALIGN is better. */
	size_t lines_size;
	void (*lines)(void *lines, const g2_t *q);

	/* r = e(p, q); 1 if p is infinity. */
	void (*pairing)(gt_t *r, const g1_t *p, const g2_t *q);

	/* Whether e(a, b) times the N fixed pairings is TARGET.
	 * Returns: ST_OK; ST_INFINITY, a or b is; ST_NOT_IN_GROUP, b is outside
	 *          G2; ST_PROOF_INVALID, it is something else. */
	enum status (*check)(const g1_t *a, const twist_t *b,
	    const struct pairing_fixed *fixed, size_t n, const gt_t *target);

	/* Whether q, on the twist and not infinity, is in G2. */
	bool (*in_group)(const twist_t *q);
};

#endif
