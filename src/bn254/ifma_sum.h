/* bn254/ifma_sum.h: sums of many points on AVX-512 IFMA. Private to the folder.
 */
#ifndef BN254_IFMA_SUM_H
#define BN254_IFMA_SUM_H

#include "bn254/pairing.h"

/* Terms at a time: two vectors of eight, whose chains of additions do not wait
 * for each other. */
#define IFMA_SUM_STEP 16

/* r = the sum of N terms, none of them infinity, N > 0 a multiple of
 * IFMA_SUM_STEP.
 * Returns: false if equal or opposite points met: then *r is not the sum. */
bool ifma_sum(g1j_t *r, const struct g1_term *terms, size_t n) WARN_UNUSED;

#endif
