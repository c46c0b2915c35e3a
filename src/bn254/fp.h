/* bn254/fp.h: the base field of BN254, integers modulo
 *
 *   p = 21888242871839275222246405745257275088696311157297823662689037894645226208583
 *
 * p = 36u^4 + 36u^3 + 24u^2 + 6u + 1 with u = 4965661367192848881 (Barreto,
 * Naehrig, SAC 2005). A value is kept in Montgomery form, a * 2^256 mod p, as
 * four 64-bit limbs, least significant first, and always fully reduced: two
 * equal elements have equal limbs. proving keys hold the same form, so they
 * load without arithmetic.
 *
 * Functions are constant time in the values of elements unless they end in
 * _var; lengths, exponents and addresses are public. An output may be one of
 * the inputs. All are safe in any thread. fr.h is the same for the scalar
 * field.
 */
#ifndef BN254_FP_H
#define BN254_FP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/status.h"

typedef struct {
	uint64_t l[4];
} fp_t;

extern const fp_t fp_zero, fp_one;

/* Read 32 big-endian bytes.
 * Returns: ST_OK; ST_NOT_CANONICAL if they are p or more (*r is then 0).
 * Time:    constant but for the status. */
enum status
fp_from_bytes_strict(fp_t *r, const uint8_t in[static 32]) WARN_UNUSED NONNULL;

/* Whether fp_from_bytes_strict reads IN, without reading it: what a form is
 * checked with.
 * Returns: ST_OK; ST_NOT_CANONICAL. Time: constant but for the status. */
enum status fp_check_bytes(const uint8_t in[static 32]) WARN_UNUSED NONNULL;

/* Read limbs that are in Montgomery form already, as proving keys are.
 * Returns: ST_OK; ST_NOT_CANONICAL if they are p or more (*r is then 0). */
enum status fp_from_mont_limbs_strict(
    fp_t *r, const uint64_t in[static 4]) WARN_UNUSED NONNULL;

/* Write the value, below p, as 32 big-endian bytes. */
void fp_to_bytes(uint8_t out[static 32], const fp_t *a) NONNULL;

void fp_from_u64(fp_t *r, uint64_t v) NONNULL;

/* The value, below p, as plain limbs: no longer in Montgomery form. */
void fp_to_limbs(uint64_t out[static 4], const fp_t *a) NONNULL;

void fp_add(fp_t *r, const fp_t *a, const fp_t *b) NONNULL;
void fp_sub(fp_t *r, const fp_t *a, const fp_t *b) NONNULL;
void fp_dbl(fp_t *r, const fp_t *a) NONNULL;
void fp_neg(fp_t *r, const fp_t *a) NONNULL;
void fp_mul(fp_t *r, const fp_t *a, const fp_t *b) NONNULL;
void fp_sqr(fp_t *r, const fp_t *a) NONNULL;

/* r = 1/a, and 0 for 0. */
void fp_inv(fp_t *r, const fp_t *a) NONNULL;
void fp_inv_var(fp_t *r, const fp_t *a) NONNULL;

/* r[i] = 1/a[i], and 0 for 0, for the price of one inversion and 3N products
 * (Montgomery's trick). r and a do not overlap. */
void fp_inv_many(fp_t *r, const fp_t *a, size_t n) NONNULL;
void fp_inv_many_var(fp_t *r, const fp_t *a, size_t n) NONNULL;

/* r = a^e; E is N limbs, least significant first, and public. */
void fp_pow(fp_t *r, const fp_t *a, const uint64_t *e, size_t n) NONNULL;

/* r = v = a^((p-3)/4). As p = 3 mod 4, v^2 a is 1 for a square, which has the
 * roots +-va and these the inverses +-v, and -1 for what is none. */
extern const uint64_t fp_inverse_root_exponent[4];
void fp_inverse_root(fp_t *r, const fp_t *a) NONNULL;

/* Find r with r^2 = a; the second with INVERSE_ROOT made before, as by a kernel
 * for many at a time (pairing.h).
 * Returns: whether a is a square; if it is not, *r is 0. */
bool fp_sqrt_var(fp_t *r, const fp_t *a) WARN_UNUSED NONNULL;
bool fp_sqrt_end_var(
    fp_t *r, const fp_t *a, const fp_t *inverse_root) WARN_UNUSED NONNULL;

bool fp_eq(const fp_t *a, const fp_t *b) NONNULL;
bool fp_is_zero(const fp_t *a) NONNULL;

/* a > -a as integers below p: the larger of the two roots of a square. */
bool fp_is_larger(const fp_t *a) NONNULL;

/* r = a if FLAG, else r stays. */
void fp_cmov(fp_t *r, const fp_t *a, bool flag) NONNULL;

#endif
