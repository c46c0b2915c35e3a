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

/* The most of them in one product. */
#define PAIRING_FIXED_MAX 66

/* A random weight: (2 half[0] + 1) + (2 half[1] + 1) lambda, with lambda the
 * multiplier of the endomorphism of G1 (constants.h). 128 bits of choice; no
 * two are the same modulo r, and none is 0, as a + b lambda = 0 has no other
 * solution with a and b below 2^66 than 0. */
struct weight {
	uint64_t half[2];
};

/* w modulo r. */
void weight_to_fr(fr_t *r, const struct weight *w) NONNULL;

/* A sum of weights: half[0] + half[1] lambda, two limbs each. */
struct weight_sum {
	uint64_t half[2][2];
};

/* s += w; for up to 2^60 of them. */
void weight_sum_add(struct weight_sum *s, const struct weight *w) NONNULL;

/* A term of a sum of points: P, or its negative. */
struct g1_term {
	const g1_t *p;
	bool negative;
};

struct bn254_kernel {
	const char *name;

	/* This processor can run it. */
	bool (*supported)(void);

	/* Bytes of stored lines, and how to make them; aligned to 64. */
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

	/* r = the sum of N terms. */
	void (*sum)(g1j_t *r, const struct g1_term *terms, size_t n);

	/* r[i] = a[i]^((p-3)/4), see fp_inverse_root; r may be a. */
	void (*inverse_roots)(fp_t *r, const fp_t *a, size_t n);

	/* From how many proofs on a batch is faster than one by one. */
	size_t batch_min;

	/* For batches of up to N, N > 0: how many groups are best, and the
	 * bytes of scratch memory (aligned to 64) that weigh (of 2N points) and
	 * miller (of as many groups, or a group each) take. */
	size_t (*batch_groups)(size_t n);
	size_t (*batch_scratch)(size_t n);

	/* r[i] = z[i] p[i]; no p[i] is infinity; r may be p. */
	void (*weigh)(g1_t *r, const g1_t *p, const struct weight *z, size_t n,
	    void *scratch);

	/* Miller functions of the pairs (p[i], q[i]), none of them infinity:
	 * f[g] = the product over the g-th of GROUPS blocks of
	 * ceil(n / GROUPS) neighbours each (the last may be shorter or empty);
	 * inside[i] = whether q[i] is in G2. A block with one that is not has
	 * no use. */
	void (*miller)(gt_t *f, bool *inside, const g1_t *p, const twist_t *q,
	    size_t n, size_t groups, void *scratch);

	/* Whether the product of NF Miller functions F and N fixed pairs is
	 * TARGET after the final exponentiation. */
	bool (*finish)(const gt_t *const *f, size_t nf,
	    const struct pairing_fixed *fixed, size_t n, const gt_t *target);

	/* r = a^e, for a in GT. */
	void (*power)(gt_t *r, const gt_t *a, const struct weight_sum *e);

	/* r = a b, r = 1 / a, in Fp12 */
	void (*multiply)(gt_t *r, const gt_t *a, const gt_t *b);
	void (*invert)(gt_t *r, const gt_t *a);
};

#endif
