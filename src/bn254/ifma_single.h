/* bn254/ifma_single.h: what the IFMA kernel does for one proof. The contracts
 * are those of struct bn254_kernel. Private to the folder.
 */
#ifndef BN254_IFMA_SINGLE_H
#define BN254_IFMA_SINGLE_H

#include "bn254/pairing.h"

/* A stored line 1 + b w + c w^3: b.c0, b.c1, c.c0, c.c1, to be multiplied by
 * x' = xP / yP and y' = 1 / yP. */
struct quad_line {
	uint64_t l[5][4];
} __attribute__((may_alias));

#define IFMA_LINES_SIZE (ATE_LINES * sizeof(struct quad_line))

/* Store line I, 1 + b w + c w^3. */
void ifma_put_line(void *lines, size_t i, const fp2_t *b, const fp2_t *c);

enum status ifma_check(const g1_t *a, const twist_t *b,
    const struct pairing_fixed *fixed, size_t n, const gt_t *target);
bool ifma_finish(const gt_t *const *f, size_t nf,
    const struct pairing_fixed *fixed, size_t n, const gt_t *target);
void ifma_power(gt_t *r, const gt_t *a, const struct weight_sum *e);

#endif
