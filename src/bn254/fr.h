/* bn254/fr.h: the scalar field of BN254, integers modulo the order of G1,
 *
 *   r = 21888242871839275222246405745257275088548364400416034343698204186575808495617
 *
 * r = 36u^4 + 36u^3 + 18u^2 + 6u + 1; r - 1 is divisible by 2^28. Circuits,
 * Poseidon and public signals live here. The representation, the timing and
 * the aliasing rules are those of fp.h.
 */
#ifndef BN254_FR_H
#define BN254_FR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/status.h"

typedef struct {
	uint64_t l[4];
} fr_t;

extern const fr_t fr_zero, fr_one;

/* Read 32 big-endian bytes.
 * Returns: ST_OK; ST_NOT_CANONICAL if they are r or more (*r is then 0).
 * Time:    constant but for the status. */
enum status
fr_from_bytes_strict(fr_t *r, const uint8_t in[static 32]) WARN_UNUSED NONNULL;

/* Read 32 big-endian bytes modulo r. Never for a public signal, which must
 * have one spelling. */
void fr_from_bytes_mod(fr_t *r, const uint8_t in[static 32]) NONNULL;

/* Whether fr_from_bytes_strict reads IN, without reading it: what a form is
 * checked with.
 * Returns: ST_OK; ST_NOT_CANONICAL. Time: constant but for the status. */
enum status fr_check_bytes(const uint8_t in[static 32]) WARN_UNUSED NONNULL;

/* Read limbs that are in Montgomery form already, as proving keys are.
 * Returns: ST_OK; ST_NOT_CANONICAL if they are r or more (*r is then 0). */
enum status fr_from_mont_limbs_strict(
    fr_t *r, const uint64_t in[static 4]) WARN_UNUSED NONNULL;

/* Write the value, below r, as 32 big-endian bytes. */
void fr_to_bytes(uint8_t out[static 32], const fr_t *a) NONNULL;

void fr_from_u64(fr_t *r, uint64_t v) NONNULL;

/* The value, below r, as plain limbs: the scalar of a multiplication. */
void fr_to_limbs(uint64_t out[static 4], const fr_t *a) NONNULL;

void fr_add(fr_t *r, const fr_t *a, const fr_t *b) NONNULL;
void fr_sub(fr_t *r, const fr_t *a, const fr_t *b) NONNULL;
void fr_dbl(fr_t *r, const fr_t *a) NONNULL;
void fr_neg(fr_t *r, const fr_t *a) NONNULL;

/* The Montgomery product a * b / 2^256. For elements that is their product;
 * a caller that keeps plain values or values times 2^512 in an fr_t (below r
 * all the same) may use it for what it is. */
void fr_mul(fr_t *r, const fr_t *a, const fr_t *b) NONNULL;
void fr_sqr(fr_t *r, const fr_t *a) NONNULL;

/* r = 1/a, and 0 for 0. */
void fr_inv(fr_t *r, const fr_t *a) NONNULL;
void fr_inv_var(fr_t *r, const fr_t *a) NONNULL;

/* r[i] = 1/a[i], and 0 for 0, for the price of one inversion and 3N products
 * (Montgomery's trick). r and a do not overlap. */
void fr_inv_many(fr_t *r, const fr_t *a, size_t n) NONNULL;
void fr_inv_many_var(fr_t *r, const fr_t *a, size_t n) NONNULL;

/* r = a^e; E is N limbs, least significant first, and public. */
void fr_pow(fr_t *r, const fr_t *a, const uint64_t *e, size_t n) NONNULL;

bool fr_eq(const fr_t *a, const fr_t *b) NONNULL;
bool fr_is_zero(const fr_t *a) NONNULL;

/* r = a if FLAG, else r stays. */
void fr_cmov(fr_t *r, const fr_t *a, bool flag) NONNULL;

#endif
