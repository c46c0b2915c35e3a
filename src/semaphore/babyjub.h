/* semaphore/babyjub.h: Baby Jubjub, the curve of Semaphore's identities.
 *
 * EIP-2494: the twisted Edwards curve a x^2 + y^2 = 1 + d x^2 y^2 over the
 * scalar field of BN254 with a = 168700, d = 168696; its order is 8 l, l a
 * prime of 251 bits. a is a square and d is not, so the addition law is
 * complete: no exceptional cases, and one formula for all, which is what makes
 * the multiplication below constant time.
 *
 * The scalar is an identity's secret. Threads: any.
 */
#ifndef SEMAPHORE_BABYJUB_H
#define SEMAPHORE_BABYJUB_H

#include <stdbool.h>
#include <stdint.h>

#include "bn254/fr.h"

#define BABYJUB_A 168700
#define BABYJUB_D 168696

/* An affine point of the curve. */
typedef struct {
	fr_t x, y;
} babyjub_t;

/* The point (X / Z, Y / Z); Z is not 0. */
typedef struct {
	fr_t x, y, z;
} babyjubp_t;

/* The generator of the subgroup of order l that EIP-2494 calls B. */
extern const babyjub_t babyjub_base8;

/* l, big-endian. */
extern const uint8_t babyjub_order[32];

/* The secret scalar of a private key's hash: prune the first 32 bytes of HASH
 * as in RFC 8032, section 5.1.5, shift right by 3, reduce modulo l.
 * Out:  big-endian. Time: constant. */
void babyjub_scalar(uint8_t out[static 32], const uint8_t hash[static 32]);

/* S * Base8 for a big-endian S below 2^252. Time: constant in S. */
void babyjub_mul_base8(babyjub_t *out, const uint8_t s[static 32]);

/* P + Q. */
void babyjub_add(babyjub_t *out, const babyjub_t *p, const babyjub_t *q);

/* P + Q for any two points of the curve, with no inversion. Constant time; OUT
 * may be P or Q. */
void babyjubp_add(babyjubp_t *out, const babyjubp_t *p, const babyjubp_t *q);

/* P satisfies the curve's equation. */
bool babyjub_is_on_curve(const babyjub_t *p);

#endif
