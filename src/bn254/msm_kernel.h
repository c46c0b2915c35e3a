/* bn254/msm_kernel.h: what msm.c and its kernels share. Private to the folder.
 */
#ifndef BN254_MSM_KERNEL_H
#define BN254_MSM_KERNEL_H

#include "bn254/msm.h"

#define MSM_WINDOW 4 /* bits */
#define MSM_WINDOWS 64
#define MSM_ENTRIES 8 /* odd multiples in a table */

/* A digit as a byte: which entry of the table, and a sign. */
#define MSM_DIGIT_ENTRY 7
#define MSM_DIGIT_MINUS 8

struct msm_kernel {
	const char *name;
	unsigned lanes;
	bool (*supported)(void); /* by this CPU */
	/* Sum the terms, at least one a lane; false when two equal or opposite
	 * points met: then *r is not the sum. */
	bool (*g1)(g1_t *r, const struct msm_terms *t, void *memory);
	bool (*g2)(twist_t *r, const struct msm_terms *t, void *memory);
};

extern const struct msm_kernel msm_kernel_one;
#ifdef __x86_64__
extern const struct msm_kernel msm_kernel_adx;
extern const struct msm_kernel msm_kernel_ifma;
#endif

/* Write the digits of SCALAR, the one of window W at out[w * stride]. */
void msm_digits(
    uint8_t *out, size_t stride, const uint64_t scalar[static 4]) NONNULL;

/* The same for one bit: a window with entry 0 or 1 (the point once or twice)
 * and one with entry 0; their difference is the bit times the point. */
void msm_digits_bit(
    uint8_t *out, size_t stride, const uint64_t scalar[static 4]) NONNULL;

#endif
