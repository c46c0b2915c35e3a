/* hash/poseidon_kernels.h: Poseidon made for particular processors. Private to
 * the folder but for tests and benchmarks: others call poseidon_pairs.
 */
#ifndef HASH_POSEIDON_KERNELS_H
#define HASH_POSEIDON_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "hash/poseidon.h"

/* *out = H(a, b), in portable C; and with MULX, ADCX and ADOX, only where
 * cpu_has_adx. OUT may be A or B. */
void poseidon_c64_one(fr_t *out, const fr_t *a, const fr_t *b);
void poseidon_adx_one(fr_t *out, const fr_t *a, const fr_t *b);

/* Hashes side by side in the wide kernel. */
#define POSEIDON_LANES 8

/* out[i] = H(in[2 i], in[2 i + 1]) for POSEIDON_LANES pairs. OUT may be IN.
 * Only where cpu_has_ifma. */
void poseidon_ifma_eight(fr_t *out, const fr_t *in);

/* The partial rounds as a recurrence. In the circuit's form a round takes lane
 * 0 and the two others, l, to
 *
 *	y = x^5 + c,   x' = s y + o l,   l' = l + w y.
 *
 * Only o l is ever seen of l. So let u = o l, and v what u will be after the
 * round but for what y adds: with the o of three rounds, of which any two are
 * a basis,
 *
 *	x' = s y + u,   u' = v + (o' w) y,   v' = (..) u + (..) v + (o'' w) y.
 *
 * And lane 0 may be scaled: x^5 turns f x into f^5 x^5. With f' = f^5 / s, u
 * and v scaled along, the product by s is gone. Taking f backwards from 1 by
 * fifth roots (5 does not divide r - 1, so there is one of each) leaves the
 * state after the last round as it has to be; before the first, the change of
 * view is part of the matrix p. What is left of a partial round is
 *
 *	y = x^5 + c,   x' = y + u,   u' = v + k[1] y,
 *	v' = k[0] u + k[2] v + k[3] y:
 *
 * seven products and five reductions, where the circuit's form has eight and
 * six at best. The full rounds are the circuit's.
 *
 * In Montgomery form with 2^256: c is that of each partial round. */
struct poseidon_constants64 {
	fr_t c[POSEIDON_PARTIAL_ROUNDS];
	fr_t p[3][3];
	fr_t k[POSEIDON_PARTIAL_ROUNDS][4];
};

/* With 2^260, in limbs of 52 bits: all of them, c in the order of the circuit's
 * (the partial rounds have 15 to 71). */
struct poseidon_constants52 {
	uint64_t c[81][5];
	uint64_t m[3][3][5];
	uint64_t p[3][3][5];
	uint64_t k[POSEIDON_PARTIAL_ROUNDS][4][5];
};

extern const struct poseidon_constants64 poseidon_constants64;
extern const struct poseidon_constants52 poseidon_constants52;

#endif
