/* hash/poseidon_kernels.h: Poseidon made for particular processors. Private to
 * the folder but for tests and benchmarks: others call poseidon_pairs.
 */
#ifndef HASH_POSEIDON_KERNELS_H
#define HASH_POSEIDON_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "bn254/fr.h"

/* Hashes side by side in the wide kernel. */
#define POSEIDON_LANES 8

/* out[i] = H(in[2 i], in[2 i + 1]) for POSEIDON_LANES pairs. OUT may be IN.
 * Only where cpu_has_ifma. */
void poseidon_ifma_eight(fr_t *out, const fr_t *in);

/* The constants as the wide kernel takes them, in the order of hash/poseidon.h:
 * times 2^260 modulo r, in limbs of 52 bits. */
struct poseidon_constants52 {
	uint64_t c[81][5];
	uint64_t m[3][3][5];
	uint64_t p[3][3][5];
	uint64_t s[285][5];
};

extern const struct poseidon_constants52 poseidon_constants52;

#endif
