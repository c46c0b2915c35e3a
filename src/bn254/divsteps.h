/* bn254/divsteps.h: modular inversion in constant time, by division steps.
 *
 * Bernstein, Yang, "Fast constant-time gcd computation and modular inversion"
 * (TCHES 2019; ePrint 2019/266): a step that depends on f and g by their lowest
 * bits alone takes the pair (f, g), f odd, to (f, (g + f) / 2), (f, g / 2) or
 * (g, (g - f) / 2), and after a number of steps that is known beforehand g is 0
 * and f the gcd. Starting with delta = 1/2 (Wuille, 2021, from the same paper's
 * method), 590 steps do for 256 bits. 62 of them at a time happen on machine
 * words and give a matrix, which then is applied to f, g and to the two
 * numbers d, e with d a = f, e a = g modulo m.
 *
 * Private to the folder.
 */
#ifndef BN254_DIVSTEPS_H
#define BN254_DIVSTEPS_H

#include <stdint.h>

#include "postern/attr.h"

/* r = 1 / a mod m, and 0 for 0; r may be a. M is odd and below 2^255, A below
 * M; all are plain integers, least significant limb first. M is public. */
void divsteps_inverse(uint64_t r[static 4], const uint64_t a[static 4],
    const uint64_t m[static 4]) NONNULL;

#endif
