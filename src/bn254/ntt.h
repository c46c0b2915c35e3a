/* bn254/ntt.h: number-theoretic transforms over the scalar field.
 *
 * For n = 2^k, w = g^2 with g a primitive 2n-th root of unity: the polynomial
 * of degree below n whose values at 1, w, w^2 ... are given is evaluated at
 * g, g w, g w^2 ..., the odd powers of g. That is all a prover needs, so it is
 * one function: a transform down (decimation in frequency; Gentleman, Sande
 * 1966), a factor for each coefficient, and a transform up (decimation in time;
 * Cooley, Tukey 1965). The first leaves its result in bit-reversed order, the
 * second wants it so: nothing has to be moved.
 *
 * Constant time in the values. Threads: any; one table serves all.
 */
#ifndef BN254_NTT_H
#define BN254_NTT_H

#include <stddef.h>

#include "bn254/fr.h"

/* The largest k: 2^28 divides r - 1. */
#define NTT_LOG_MAX 27

/* Which code runs. All give the same values. */
struct ntt_kernel;

/* The I-th kernel that this CPU runs, best first; NULL after the last. */
const struct ntt_kernel *ntt_kernel_nth(unsigned i);

struct ntt_table {
	const struct ntt_kernel *kernel;
	unsigned log; /* k */
	const fr_t *powers; /* g^i, i < n */
	fr_t scale; /* 1/n */
	const void *more; /* the kernel's own */
};

/* Bytes of a table for 2^LOG elements, aligned to 64. */
size_t ntt_table_size(unsigned log);

/* Fill T for 2^LOG elements, 1 <= LOG <= NTT_LOG_MAX. MEMORY is the caller's,
 * and kept. KERNEL NULL: the best. */
void ntt_table_init(struct ntt_table *t, void *memory, unsigned log,
    const struct ntt_kernel *kernel) NONNULL_ARGS(1, 2);

/* Bytes of working memory of a transform, aligned to 64. It holds what the
 * values were afterwards: wipe it. */
size_t ntt_memory(const struct ntt_table *t) NONNULL;

/* From values at the even powers of g to values at the odd ones, in place. */
void ntt_shift(fr_t *values, const struct ntt_table *t, void *memory) NONNULL;

#endif
