/* semaphore/artifacts.h: the official proving keys, by size and SHA-256.
 *
 * The keys themselves are not in the binary: 2 to 6 MB each, and only a member
 * needs one. They are semaphore-1.zkey to semaphore-32.zkey of
 * @zk-kit/semaphore-artifacts 4.13.0, from the ceremony of Semaphore v4
 * (2024); a file with these pins is the official one wherever it came from.
 */
#ifndef SEMAPHORE_ARTIFACTS_H
#define SEMAPHORE_ARTIFACTS_H

#include <stdint.h>

#include "postern/semaphore.h"

struct artifact {
	uint32_t size; /* bytes */
	char sha256[65]; /* lower-case hex */
};

/* The pins of the proving key for DEPTH; NULL where there is none. */
const struct artifact *artifact_of_depth(uint32_t depth);

#endif
