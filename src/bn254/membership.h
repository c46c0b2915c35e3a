/* bn254/membership.h: whether a point of the twist is in G2, from where its
 * Miller loop ends.
 *
 * The loop computes T = [6u+2]Q + psi(Q) - psi^2(Q), and Q
 * is in G2 exactly if T + psi^3(Q) = O:
 *   - On the twist psi satisfies psi^2 - t psi + p = 0. phi = 6u + 2 + psi -
 *     psi^2 + psi^3, reduced by it to a + b psi, has norm N = a^2 + a b t +
 *     b^2 p and conjugate phi' = a + b t - b psi, with phi' phi = N. So
 *     phi(Q) = O gives N Q = O. The order of the twist is r (2p - r), and
 *     gcd(N, r (2p - r)) = r (tests/vectors/make-bn254 computes it),
 *     so r Q = O. As r does not divide 2p - r, the points with r Q = O are
 *     those of G2.
 *   - On G2 psi acts as p, and 6u + 2 + p - p^2 + p^3 = 0 mod r: phi(Q) = O.
 * (Dai, Lin, Zhao, Zhou, "Fast subgroup membership testings for G1, G2 and GT
 * on pairing-friendly curves", ePrint 2022/348, has the general method.)
 *   - The formulas are right unless a step adds T to one of T, -T or O. Each
 *     of those ends with Z = 0: an addition with T = +-Q has lambda = 0, and
 *     Z3 = Z lambda^3; and once Z is 0 it stays 0, as Z3 is a multiple of Z in
 *     both formulas. Doublings have no exception, the order being odd. So at
 *     the end Z is 0 exactly if there was one, and that is a refusal. A Q of
 *     G2 meets none: the multiples of Q on the way, (k, 1) for 1 < k < 6u + 2,
 *     (6u + 2, p) and (6u + 2 + p, -p^2), are distinct modulo r up to sign.
 *   - In affine coordinates (miller_affine_impl.h) the exceptions are the
 *     slopes that divide by zero; they are seen one by one, and refused.
 *
 * Private to the folder.
 */
#ifndef BN254_MEMBERSHIP_H
#define BN254_MEMBERSHIP_H

#include "bn254/g2.h"

/* Q is in G2, its loop having ended in T = (X / Z, Y / Z). */
bool membership_var(
    const twist_t *q, const fp2_t *x, const fp2_t *y, const fp2_t *z) NONNULL;

#endif
