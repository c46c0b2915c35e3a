/* groth16/prove.h: making Groth16 proofs over BN254.
 *
 * Groth, "On the size of pairing-based non-interactive arguments" (EUROCRYPT
 * 2016; ePrint 2016/260, section 3.2), with the proving key of zkey.h and a
 * witness w that satisfies its circuit:
 *
 *   A0 = alpha + sum of w[i] A[i]
 *   B0 = beta + sum of w[i] B[i]
 *   C0 = sum of w[i] C[i] over private i + sum of h[j] H[j]
 *
 * where h are the values of (Aw)(Bw) - Cw at the odd powers of the 2n-th root
 * of unity, the points H having been made for them (so no division by the
 * vanishing polynomial, which is constant there), and Cw = (Aw)(Bw) at the even
 * powers: a witness that satisfies the circuit is taken for granted. Verify
 * the proof, if it should not.
 *
 * That is Groth's proof with r = s = 0, and it is made blind as anybody can
 * re-randomise a proof (Baghery, Kohlweiss, Siim, Volkhov, "Another look at
 * extraction and randomization of Groth's zk-SNARK", ePrint 2020/811, section
 * 3): with s and t uniform, s not 0,
 *
 *   A = A0 / s    B = s (B0 + t delta)    C = C0 + t A0
 *
 * A and B are uniform and independent (A is not infinity), and C is what the
 * equation then asks for: the distribution of Groth's own proofs. His blinding
 * needs B0 in G1 as well, a sum of its own; this one leaves a fifth of the
 * points of a key out.
 *
 * The witness, s and t are secret, and everything here is constant time in
 * them, as msm.h says it. Which signals are bits is a public property of the
 * circuit. A key is read only: any number of threads may prove with it.
 */
#ifndef GROTH16_PROVE_H
#define GROTH16_PROVE_H

#include "bn254/msm.h"
#include "bn254/ntt.h"
#include "groth16/zkey.h"
#include "postern/runner.h"

/* A proving key with what can be prepared once. */
struct groth16_pk {
	const struct zkey *key;
	const struct msm_kernel *kernel;
	struct ntt_table ntt;
	/* For each sum, which points count: none at infinity; of signals that
	 * are bits, and the others. */
	struct groth16_terms {
		const uint32_t *index[2]; /* any value; bits */
		size_t n[2];
	} a, b, c, h;
};

/* Bytes of memory for groth16_pk_init, aligned to 64. */
size_t groth16_pk_size(const struct zkey *key) NONNULL;

/* Prepare KEY, which must stay as it is as long as PK is used.
 * In:      is_bit[i], signal i is 0 or 1 in every witness. kernel, NULL for
 *          the best. memory, groth16_pk_size bytes, kept. */
void groth16_pk_init(struct groth16_pk *pk, const struct zkey *key,
    const bool *is_bit, const struct msm_kernel *kernel, void *memory)
    NONNULL_ARGS(1, 2, 3, 5);

/* Bytes of working memory for a proof on WIDTH threads, aligned to 64. */
size_t
groth16_prove_memory(const struct groth16_pk *pk, unsigned width) NONNULL;

/* Prove W, KEY's n_vars signals as plain limbs below r.
 * In:      s and t, uniform and never used twice, s not 0. runner, NULL to stay on
 *          this thread. memory, for the runner's width; holds secrets
 *          afterwards, the caller wipes it.
 * Out:     the proof; that its points are not infinity is certain but for a
 *          chance of 2^-250. */
void groth16_prove(struct groth16_proof *out, const struct groth16_pk *pk,
    const uint64_t (*w)[4], const fr_t *s, const fr_t *t, void *memory,
    const struct runner *runner) NONNULL_ARGS(1, 2, 3, 4, 5, 6);

#endif
