/* sphinx/x25519.h: X25519 (RFC 7748), one scalar or eight at a time.
 *
 * A kernel is one way to compute it; all kernels give the same bytes, which
 * tests/unit/test_x25519.c holds them to. The ifma kernel is ours; the
 * portable one is libsodium's. Which one runs is decided when a context is
 * made (no global changes): x25519_kernel_best asks the CPU.
 *
 * Scalars are clamped as RFC 7748 says. Points are read modulo p with the top
 * bit ignored; whoever must refuse other spellings asks x25519_is_valid first.
 *
 * Timing: independent of scalars and points.
 */
#ifndef SPHINX_X25519_H
#define SPHINX_X25519_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/sphinx.h"

#define X25519_SIZE 32
#define X25519_LANES 8

/* A scalar, a point or a shared secret. */
typedef struct {
	uint8_t byte[X25519_SIZE];
} x25519_t;

struct x25519_kernel {
	enum sphinx_kernel name;
	/* out = scalar * point. OUT may be either input. */
	void (*one)(uint8_t *out, const uint8_t *scalar, const uint8_t *point);
	/* The same for each of eight; OUT may be an input as a whole. */
	void (*eight)(x25519_t out[X25519_LANES],
	    const x25519_t scalar[X25519_LANES],
	    const x25519_t point[X25519_LANES]);
	/* From how many of eight on the second is quicker than the first. */
	size_t worth;
};

/* The kernel of that name, AUTO's being the fastest; NULL when this CPU can
 * not run it. */
const struct x25519_kernel *x25519_kernel(enum sphinx_kernel name);

/* Multiply N pairs with K: eight by eight, the rest as is quickest. OUT may be
 * an input as a whole. */
void x25519_many(const struct x25519_kernel *k, x25519_t *out,
    const x25519_t *scalar, const x25519_t *point, size_t n) NONNULL;

/* The base point, u = 9. */
extern const x25519_t x25519_base;

/* POINT is below p = 2^255 - 19 and not of small order (a divisor of 8), on
 * the curve or on its twist: no scalar makes a zero of it. */
bool x25519_is_valid(const uint8_t point[static X25519_SIZE]) NONNULL;

/* All bytes are zero. Time: constant. */
bool x25519_is_zero(const uint8_t shared[static X25519_SIZE]) NONNULL;

/* Radix 2^51, for the kernels: the limbs of a point (top bit ignored), and the
 * canonical bytes of limbs below 2^52. */
void x25519_unpack(
    uint64_t limb[static 5], const uint8_t in[static X25519_SIZE]) NONNULL;
void x25519_pack(
    uint8_t out[static X25519_SIZE], const uint64_t limb[static 5]) NONNULL;

/* The ifma kernel's parts; only for CPUs that have AVX-512 F, VL, DQ, IFMA. */
void x25519_ifma_one(uint8_t *out, const uint8_t *scalar, const uint8_t *point);
void x25519_ifma_eight(x25519_t out[X25519_LANES],
    const x25519_t scalar[X25519_LANES], const x25519_t point[X25519_LANES]);

#endif
