/* groth16/zkey.h: a proving key as snarkjs writes it, version 1 (.zkey).
 *
 * A file is "zkey", a version, a count of sections, and the sections: type
 * (u32), length (u64), payload; all integers little-endian. Field elements and
 * coordinates are 32 bytes, little-endian, in Montgomery form; a point is
 * affine, x then y (G2: x.c0 x.c1 y.c0 y.c1), infinity all zero bytes.
 *
 *	1   protocol: 1, Groth16
 *	2   q, r, numbers of signals, public signals and rows; alpha1 beta1
 *	    beta2 gamma2 delta1 delta2
 *	3   IC: the verification key's points of the public signals
 *	4   the rows of A and B: records of matrix, row, signal, value * 2^512
 *	5   A, 6 B in G1, 7 B in G2: a point a signal (6 is not needed)
 *	8   C: a point a private signal
 *	9   H: a point a row of the domain
 *	10  the ceremony's contributions: not needed
 *
 * The bytes come from a file that may be anything: zkey_read checks every
 * length and bound, so that what follows need not. The key is public:
 * variable time. Threads: any.
 */
#ifndef GROTH16_ZKEY_H
#define GROTH16_ZKEY_H

#include <stdint.h>

#include "base/span.h"
#include "groth16/verify.h"
#include "postern/status.h"

#define ZKEY_G1_SIZE 64
#define ZKEY_G2_SIZE 128
#define ZKEY_COEF_SIZE 44

/* Sections as the format numbers them. */
enum zkey_section {
	ZKEY_FILE = 0, /* the file as a whole */
	ZKEY_PROTOCOL = 1,
	ZKEY_HEADER,
	ZKEY_IC,
	ZKEY_COEFS,
	ZKEY_A,
	ZKEY_B1,
	ZKEY_B2,
	ZKEY_C,
	ZKEY_H,
	ZKEY_CONTRIBUTIONS,
	ZKEY_SECTIONS
};

/* A key that was checked: views into the file's bytes, which stay the
 * caller's. Points are unaligned. */
struct zkey {
	uint32_t n_vars, n_public, n_coefs;
	uint32_t domain; /* 2^domain_log */
	unsigned domain_log;
	struct groth16_vk vk; /* no point at infinity */
	const uint8_t *coefs; /* n_coefs records, by ascending row */
	const uint8_t *a, *b2; /* n_vars each */
	const uint8_t *c; /* n_vars - n_public - 1 */
	const uint8_t *h; /* domain */
};

/* One record of section 4, whose value is times 2^512: a Montgomery product
 * with a plain witness value gives a row's term in Montgomery form. */
struct zkey_coef {
	uint32_t matrix; /* 0: A; 1: B */
	uint32_t row, signal;
	fr_t value;
};

/* Read FILE and check it. Points of sections 5 and 7 to 9 are on their curves then;
 * those of B2 need not be in G2, for which the key's maker answers.
 * Out:     z; all zero on failure. *section: where FILE is wrong.
 * Returns: ST_OK; ST_CORRUPT (no .zkey file, or a record that can not be);
 *          ST_BAD_VERSION; ST_BAD_LENGTH (truncated, or a section's length
 *          is not what the header's numbers ask for); ST_TRAILING; ST_MISSING
 *          and ST_DUPLICATE (a section); ST_FOREIGN (another protocol or
 *          curve, or more public signals than GROTH16_INPUTS_MAX);
 *          ST_BAD_VALUE (the header's numbers do not fit together);
 *          ST_NOT_CANONICAL, ST_NOT_ON_CURVE, ST_NOT_IN_GROUP, ST_INFINITY. */
enum status zkey_read(struct zkey *z, span_t file,
    enum zkey_section *section) NONNULL WARN_UNUSED;

/* Record number I of section 4. */
void zkey_coef(struct zkey_coef *out, const struct zkey *z, uint32_t i) NONNULL;

/* Load a point of a key that was checked; infinity is (0, 0). */
void zkey_g1(g1_t *p, const uint8_t in[static ZKEY_G1_SIZE]) NONNULL;
void zkey_twist(twist_t *p, const uint8_t in[static ZKEY_G2_SIZE]) NONNULL;

#endif
