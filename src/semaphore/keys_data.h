/* semaphore/keys_data.h: the 32 official verification keys of Semaphore v4.
 *
 * All depths share alpha, beta and gamma (the ceremony's first phase); delta
 * and the ic are each circuit's own. Coordinates are plain numbers, four words
 * with the most significant first; in Fp2 the imaginary part comes first, as
 * it does in bytes.
 */
#ifndef SEMAPHORE_KEYS_DATA_H
#define SEMAPHORE_KEYS_DATA_H

#include <stdint.h>

#include "postern/semaphore.h"

/* Public inputs of the circuit: root, nullifier, H(message), H(scope). */
#define SEMAPHORE_INPUTS 4

struct keys_data {
	uint64_t alpha[2][4];
	uint64_t beta[4][4];
	uint64_t gamma[4][4];
	struct {
		uint64_t delta[4][4];
		uint64_t ic[SEMAPHORE_INPUTS + 1][2][4];
	} depth[SEMAPHORE_DEPTH_MAX];
};

extern const struct keys_data keys_data;

#endif
