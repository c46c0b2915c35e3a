/* bn254/wnaf.h: scalars in signed digits. Private to the folder.
 */
#ifndef BN254_WNAF_H
#define BN254_WNAF_H

#include <stddef.h>
#include <stdint.h>

#include "postern/attr.h"

/* Digits of a 256-bit scalar, and one for a carry. */
#define WNAF_MAX 257

/* Write K as digits that are 0 or odd, from -(2^(W-1) - 1) to 2^(W-1) - 1, at
 * most one of W neighbours not 0; W is 2 to 7. Least significant first.
 * Returns: how many digits there are up to the last that is not 0.
 * Time:    variable. */
size_t wnaf_var(signed char digits[static WNAF_MAX], const uint64_t k[static 4],
    int w) NONNULL;

#endif
