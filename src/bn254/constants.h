/* bn254/constants.h: what the tower and the twist are made of. Private to the
 * folder. tests/vectors/make-bn254 derives each one.
 */
#ifndef BN254_CONSTANTS_H
#define BN254_CONSTANTS_H

#include "bn254/fp2.h"
#include "bn254/fr.h"

/* frobenius_N[k] = xi^(k (p^N - 1) / 6), xi = 9 + i; those of N = 2 are in Fp.
 * The endomorphism psi of the twist takes (x, y) to the conjugates of x and
 * y times frobenius_1[2] and frobenius_1[3]. */
extern const fp2_t frobenius_1[6], frobenius_3[6];
extern const fp_t frobenius_2[6];

/* b' = 3 / xi, the constant of the twist, and 3b'. */
extern const fp2_t twist_b, twist_b3;

/* (x, y) -> (beta x, y), beta = frobenius_2[2], is multiplication by lambda on
 * G1, a cube root of 1 modulo r (Gallant, Lambert, Vanstone, CRYPTO 2001). */
extern const fr_t glv_lambda;

/* The curve's parameter u = 4965661367192848881 in signed digits of 1, 3 and
 * 5, least significant first. */
#define BN_U_DIGITS 63
extern const signed char bn_u_digits[BN_U_DIGITS];

/* 6u + 2, the length of the optimal ate loop, in digits of 1, least
 * significant first: the last is where the loop starts. */
#define ATE_DIGITS 65
extern const signed char ate_digits[ATE_DIGITS];

/* The lines of one loop: 64 doublings, 21 additions, the two at the end. */
#define ATE_LINES 87

#endif
