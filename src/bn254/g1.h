/* bn254/g1.h: the group G1, all the points of E(Fp): y^2 = x^3 + 3.
 *
 * Its order is the prime r, so a point on the curve is a point of the group.
 * (0, 0) is not on the curve; an affine point that holds it stands for
 * infinity, as proving keys have it. A point that came out of g1_decode_var,
 * g1_decompress_var or g1_set_var is on the curve and is not infinity.
 *
 * Jacobian points are (X / Z^2, Y / Z^3), infinity when Z is 0. Functions
 * that end in _var branch on what the points are (equal, opposite, infinity)
 * and on scalars; the others are constant time. An output may be one of the
 * inputs. Any thread.
 */
#ifndef BN254_G1_H
#define BN254_G1_H

#include "bn254/fp.h"
#include "bn254/fr.h"

typedef struct {
	fp_t x, y;
} g1_t;

typedef struct {
	fp_t x, y, z;
} g1j_t;

/* (1, 2) */
extern const g1_t g1_generator;
extern const g1_t g1_infinity;

/* Make the point (x, y).
 * Returns: ST_OK; ST_INFINITY for (0, 0); ST_NOT_ON_CURVE. On failure *r is
 *          infinity. */
enum status
g1_set_var(g1_t *r, const fp_t *x, const fp_t *y) WARN_UNUSED NONNULL;

/* Read x and y, 32 big-endian bytes each.
 * Returns: as g1_set_var; ST_NOT_CANONICAL if x or y is p or more. On failure
 *          *r is infinity. */
enum status
g1_decode_var(g1_t *r, const uint8_t in[static 64]) WARN_UNUSED NONNULL;

/* Read a compressed point: x in 32 big-endian bytes, whose two top bits say 10
 * for the smaller y, 11 for the larger y, 01 for infinity (as gnark has it).
 * Returns: ST_OK; ST_BAD_ENCODING (the top bits are 00, or an infinity whose
 *          other bits are not 0); ST_INFINITY; ST_NOT_CANONICAL; ST_NOT_ON_CURVE
 *          (no point has this x). On failure *r is infinity. */
enum status
g1_decompress_var(g1_t *r, const uint8_t in[static 32]) WARN_UNUSED NONNULL;

/* g1_decompress_var in steps, for who takes the inverse roots of many squares at
 * a time (fp.h).
 * Returns: as g1_decompress_var, the second ST_OK or ST_NOT_ON_CURVE. */
struct g1_half {
	fp_t x, square; /* y^2 */
	bool larger; /* of the two y */
};
enum status g1_decompress_begin_var(
    struct g1_half *h, const uint8_t in[static 32]) WARN_UNUSED NONNULL;
enum status g1_decompress_end_var(g1_t *r, const struct g1_half *h,
    const fp_t *inverse_root) WARN_UNUSED NONNULL;

/* Write what the functions above read. Infinity becomes 64 bytes of 0, and 0x40
 * followed by 31 bytes of 0. */
void g1_encode(uint8_t out[static 64], const g1_t *a) NONNULL;
void g1_compress(uint8_t out[static 32], const g1_t *a) NONNULL;

bool g1_is_infinity(const g1_t *a) NONNULL;
bool g1_on_curve(const g1_t *a) NONNULL; /* infinity is */
bool g1_eq(const g1_t *a, const g1_t *b) NONNULL;
void g1_neg(g1_t *r, const g1_t *a) NONNULL;

void g1j_set_infinity(g1j_t *r) NONNULL;
void g1j_from_affine(g1j_t *r, const g1_t *a) NONNULL;
bool g1j_is_infinity(const g1j_t *a) NONNULL;
bool g1j_eq(const g1j_t *a, const g1j_t *b) NONNULL;
void g1j_neg(g1j_t *r, const g1j_t *a) NONNULL;
void g1j_cmov(g1j_t *r, const g1j_t *a, bool flag) NONNULL;

/* One inversion; _many does N points for one. */
void g1j_to_affine(g1_t *r, const g1j_t *a) NONNULL;
void g1j_to_affine_var(g1_t *r, const g1j_t *a) NONNULL;

/* r and a do not overlap; N at most as the scratch, which holds N elements. */
void
g1j_to_affine_many(g1_t *r, fp_t *scratch, const g1j_t *a, size_t n) NONNULL;

void g1j_dbl(g1j_t *r, const g1j_t *a) NONNULL;
void g1j_add_var(g1j_t *r, const g1j_t *a, const g1j_t *b) NONNULL;

/* The same in constant time, whatever the points are; twice the price. */
void g1j_add(g1j_t *r, const g1j_t *a, const g1j_t *b) NONNULL;

/* r = a + b, b affine. */
void g1j_madd_var(g1j_t *r, const g1j_t *a, const g1_t *b) NONNULL;

/* r = k a; K is below 2^256 as plain limbs (fr_to_limbs makes them). The
 * first is constant time in k and a. */
void g1j_mul(g1j_t *r, const g1j_t *a, const uint64_t k[static 4]) NONNULL;
void g1j_mul_var(g1j_t *r, const g1j_t *a, const uint64_t k[static 4]) NONNULL;

/* r = the sum of k[i] a[i] over N points: doublings shared, for a few points.
 * Large sums are the prover's (groth16). */
void g1_msm_var(g1j_t *r, const g1_t *a, const fr_t *k, size_t n) NONNULL;

#endif
