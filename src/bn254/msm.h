/* bn254/msm.h: sums of many points, each times a secret scalar.
 *
 * What a prover spends its time on. The scalars are a witness, so this is
 * constant time in them: neither a branch nor an address depends on a scalar.
 * (Pippenger's buckets, which others use, are addressed by the scalars.)
 *
 * Straus's method (Amer. Math. Monthly 71, 1964): with scalars written in
 * signed odd digits of base 16 (Joye, Tunstall, AFRICACRYPT 2009), each of the
 * 64 windows adds one of the eight multiples 1, 3 ... 15 of each point, or its
 * negative; the right one is picked by looking at all eight. There is no zero
 * digit, and so no infinity. Additions are affine, six products each, with
 * one inversion for some hundred of them (Montgomery's trick), and eight go
 * side by side where the CPU has AVX-512 IFMA. 74 additions a point are the
 * price of doing without buckets.
 *
 * What affine addition can not do, adding a point to itself or to its
 * negative, does not happen by chance (2^-250). Should it happen because the
 * points are chosen so, the sum is made once more, slowly and right; that is
 * all that may show.
 *
 * Scalars that are single bits, by the nature of the circuit, cost 3 additions
 * and not 74. Skipping scalars that happen to be 0 or 1 would tell which are.
 *
 * Pure; any thread. A sum is split by calling this for parts of its terms.
 */
#ifndef BN254_MSM_H
#define BN254_MSM_H

#include "bn254/g1.h"
#include "bn254/g2.h"

/* Terms i = 0 to n - 1: point number INDEX[i] times scalar number INDEX[i]. */
struct msm_terms {
	const uint8_t *points; /* affine, Montgomery limbs, little-endian, 64
				* or 128 bytes each (proving keys have them so);
				* none of those named is infinity */
	const uint64_t (*scalars)[4]; /* below r, least limb first; SECRET */
	const uint32_t *index; /* public */
	size_t n;
	bool bits; /* public: every scalar here is 0 or 1 */
};

/* Which code runs. All give the same sums. */
struct msm_kernel;

/* The best kernel that this CPU runs: the I-th of them, NULL after the last. */
const struct msm_kernel *msm_kernel_nth(unsigned i);
const char *msm_kernel_name(const struct msm_kernel *k) NONNULL;

/* Bytes of working memory of one call, aligned to 64. It holds secrets
 * afterwards: the caller wipes it. */
#define MSM_MEMORY (1280u << 10)

/* r = the sum of T's terms. */
void msm_g1(g1j_t *r, const struct msm_kernel *k, const struct msm_terms *t,
    void *memory) NONNULL;
void msm_g2(twistj_t *r, const struct msm_kernel *k, const struct msm_terms *t,
    void *memory) NONNULL;

#endif
