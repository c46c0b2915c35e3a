/* bn254/fp2.h: the quadratic extension Fp[i] / (i^2 + 1) of bn254/fp.h.
 *
 * Representation, timing and aliasing are those of fp.h. The tower above it,
 * Fp6 = Fp2[v] / (v^3 - xi) with xi = 9 + i, and Fp12 = Fp6[w] / (w^2 - v),
 * is used by the pairing alone: see tower_impl.h.
 */
#ifndef BN254_FP2_H
#define BN254_FP2_H

#include "bn254/fp.h"

/* c0 + c1 i */
typedef struct {
	fp_t c0, c1;
} fp2_t;

extern const fp2_t fp2_zero, fp2_one;

void fp2_add(fp2_t *r, const fp2_t *a, const fp2_t *b) NONNULL;
void fp2_sub(fp2_t *r, const fp2_t *a, const fp2_t *b) NONNULL;
void fp2_dbl(fp2_t *r, const fp2_t *a) NONNULL;
void fp2_neg(fp2_t *r, const fp2_t *a) NONNULL;
void fp2_mul(fp2_t *r, const fp2_t *a, const fp2_t *b) NONNULL;
void fp2_sqr(fp2_t *r, const fp2_t *a) NONNULL;

/* r = a * s, s in Fp. */
void fp2_mul_fp(fp2_t *r, const fp2_t *a, const fp_t *s) NONNULL;

/* r = c0 - c1 i = a^p. */
void fp2_conj(fp2_t *r, const fp2_t *a) NONNULL;

/* r = 1/a, and 0 for 0. */
void fp2_inv(fp2_t *r, const fp2_t *a) NONNULL;
void fp2_inv_var(fp2_t *r, const fp2_t *a) NONNULL;

/* n = a a^p = c0^2 + c1^2 */
void fp2_norm(fp_t *n, const fp2_t *a) NONNULL;

/* Find r with r^2 = a, by two roots in Fp.
 * Returns: whether a is a square; if it is not, *r is 0. */
bool fp2_sqrt_var(fp2_t *r, const fp2_t *a) WARN_UNUSED NONNULL;

/* The same in steps, for who takes the inverse roots of many at a time: first
 * of NORM = fp2_norm(a), which gives t, then of t.
 * Returns: as fp2_sqrt_var; t and r are 0 on failure. */
bool fp2_sqrt_part_var(fp_t *t, const fp2_t *a, const fp_t *norm,
    const fp_t *inverse_root) WARN_UNUSED NONNULL;
bool fp2_sqrt_end_var(fp2_t *r, const fp2_t *a, const fp_t *t,
    const fp_t *inverse_root) WARN_UNUSED NONNULL;

bool fp2_eq(const fp2_t *a, const fp2_t *b) NONNULL;
bool fp2_is_zero(const fp2_t *a) NONNULL;

/* a comes after -a when c1 is compared first, then c0. */
bool fp2_is_larger(const fp2_t *a) NONNULL;

void fp2_cmov(fp2_t *r, const fp2_t *a, bool flag) NONNULL;

#endif
