/* hash/blake512.h: BLAKE-512, the finalist of the SHA-3 competition.
 *
 * Not BLAKE2: 16 rounds of the ChaCha-like core over 64-bit words, a 128-bit
 * bit counter and length padding (Aumasson, Henzen, Meier, Phan, "SHA-3
 * proposal BLAKE", version 1.3). Semaphore derives an identity's secret scalar
 * from its private key with it, no salt.
 *
 * The input may be secret: time depends on the length alone, and what the
 * stack held is wiped. Threads: any.
 */
#ifndef HASH_BLAKE512_H
#define HASH_BLAKE512_H

#include <stdint.h>

#include "base/span.h"

/* Hash IN. OUT may overlap it. */
void blake512(uint8_t out[static 64], span_t in);

#endif
