/* bn254/g2.h: points of the sextic twist E'(Fp2): y^2 = x^3 + 3 / (9 + i).
 *
 * The curve has order r (2p - r). Only its subgroup of order r, called G2,
 * may enter a pairing: a point outside it can pass in one way of computing an
 * equation and fail in another. So decoding and the subgroup test are apart:
 * decoding yields a twist_t, and only g2_check_var makes a g2_t of it. (The
 * verifier does the same test on the way through its Miller loop, for the
 * price of a comparison.)
 *
 * The conventions are those of g1.h: (0, 0) stands for infinity, Jacobian
 * coordinates, _var. The group law below is that of the whole curve.
 */
#ifndef BN254_G2_H
#define BN254_G2_H

#include "bn254/fp2.h"
#include "bn254/fr.h"

/* A point of the twist, or infinity as (0, 0). */
typedef struct {
	fp2_t x, y;
} twist_t;

typedef struct {
	fp2_t x, y, z;
} twistj_t;

/* A point of G2: never infinity. The only ways to make one are g2_check_var
 * and the constant. */
typedef struct {
	twist_t point;
} g2_t;

/* The generator that EIP-197 names. */
extern const g2_t g2_generator;
extern const twist_t twist_infinity;

/* Make the point (x, y) of the twist; not yet known to be in G2.
 * Returns: ST_OK; ST_INFINITY for (0, 0); ST_NOT_ON_CURVE. On failure *r is
 *          infinity. */
enum status
twist_set_var(twist_t *r, const fp2_t *x, const fp2_t *y) WARN_UNUSED NONNULL;

/* Read x.c1, x.c0, y.c1, y.c0, 32 big-endian bytes each.
 * Returns: as twist_set_var; ST_NOT_CANONICAL if one is p or more. On failure
 *          *r is infinity. */
enum status
twist_decode_var(twist_t *r, const uint8_t in[static 128]) WARN_UNUSED NONNULL;

/* Read a compressed point: x.c1 and x.c0, with the two top bits as in
 * g1_decompress_var; of two y the larger has the larger c1, or with equal c1
 * the larger c0.
 * Returns: ST_OK; ST_BAD_ENCODING; ST_INFINITY; ST_NOT_CANONICAL;
 *          ST_NOT_ON_CURVE. On failure *r is infinity. */
enum status twist_decompress_var(
    twist_t *r, const uint8_t in[static 64]) WARN_UNUSED NONNULL;

/* twist_decompress_var in steps, as g1_decompress_begin_var: the inverse root of
 * norm, then that of part.
 * Returns: as twist_decompress_var, the last two ST_OK or ST_NOT_ON_CURVE. */
struct twist_half {
	fp2_t x, square; /* y^2 */
	fp_t norm, part;
	bool larger; /* of the two y */
};
enum status twist_decompress_begin_var(
    struct twist_half *h, const uint8_t in[static 64]) WARN_UNUSED NONNULL;
enum status twist_decompress_part_var(
    struct twist_half *h, const fp_t *inverse_root) WARN_UNUSED NONNULL;
enum status twist_decompress_end_var(twist_t *r, const struct twist_half *h,
    const fp_t *inverse_root) WARN_UNUSED NONNULL;

/* Write what the functions above read. */
void twist_encode(uint8_t out[static 128], const twist_t *a) NONNULL;
void twist_compress(uint8_t out[static 64], const twist_t *a) NONNULL;

bool twist_is_infinity(const twist_t *a) NONNULL;
bool twist_on_curve(const twist_t *a) NONNULL; /* infinity is */
bool twist_eq(const twist_t *a, const twist_t *b) NONNULL;
void twist_neg(twist_t *r, const twist_t *a) NONNULL;

/* Test membership of G2 and make the type that says so.
 * Returns: ST_OK; ST_INFINITY; ST_NOT_ON_CURVE; ST_NOT_IN_GROUP. On failure
 *          *r is all zero, which no pairing accepts. */
enum status g2_check_var(g2_t *r, const twist_t *a) WARN_UNUSED NONNULL;

void twistj_set_infinity(twistj_t *r) NONNULL;
void twistj_from_affine(twistj_t *r, const twist_t *a) NONNULL;
bool twistj_is_infinity(const twistj_t *a) NONNULL;
bool twistj_eq(const twistj_t *a, const twistj_t *b) NONNULL;
void twistj_neg(twistj_t *r, const twistj_t *a) NONNULL;
void twistj_cmov(twistj_t *r, const twistj_t *a, bool flag) NONNULL;

void twistj_to_affine(twist_t *r, const twistj_t *a) NONNULL;
void twistj_to_affine_var(twist_t *r, const twistj_t *a) NONNULL;

void twistj_to_affine_many(
    twist_t *r, fp2_t *scratch, const twistj_t *a, size_t n) NONNULL;

void twistj_dbl(twistj_t *r, const twistj_t *a) NONNULL;
void twistj_add_var(twistj_t *r, const twistj_t *a, const twistj_t *b) NONNULL;

/* The same in constant time, for points of G2 or any others of odd order. */
void twistj_add(twistj_t *r, const twistj_t *a, const twistj_t *b) NONNULL;
void twistj_madd_var(twistj_t *r, const twistj_t *a, const twist_t *b) NONNULL;

/* r = k a; K is below 2^256. The first is constant time in k and a. */
void
twistj_mul(twistj_t *r, const twistj_t *a, const uint64_t k[static 4]) NONNULL;
void twistj_mul_var(
    twistj_t *r, const twistj_t *a, const uint64_t k[static 4]) NONNULL;

#endif
