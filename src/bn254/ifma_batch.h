/* bn254/ifma_batch.h: what the IFMA kernel does eight lanes at a time. The
 * contracts are those of struct bn254_kernel. Private to the folder.
 */
#ifndef BN254_IFMA_BATCH_H
#define BN254_IFMA_BATCH_H

#include "bn254/ifma_single.h"

void ifma_inverse_roots(fp_t *r, const fp_t *a, size_t n);
size_t ifma_batch_scratch(size_t n);
void ifma_weigh(
    g1_t *r, const g1_t *p, const struct weight *z, size_t n, void *scratch);
void ifma_miller(gt_t *f, bool *inside, const g1_t *p, const twist_t *q,
    size_t n, size_t groups, void *scratch);

/* A pair with stored lines. */
struct ifma_fixed {
	const struct quad_line *line;
	fp_t x, y; /* x', y' */
};

/* f[l] = the product of the Miller functions of pairs l, l + 8, l + 16 ... of
 * N, at most IFMA_FIXED_MAX. */
#define IFMA_FIXED_MAX PAIRING_FIXED_MAX
void ifma_miller_fixed(gt_t f[static 8], const struct ifma_fixed *p, size_t n);

#endif
