/* groth16/ntt.h: number-theoretic transforms over the scalar field.
 *
 * For n = 2^k, w = g^2 with g a primitive 2n-th root of unity: the polynomial
 * of degree below n whose values at 1, w, w^2 ... are given is evaluated at
 * g, g w, g w^2 ..., the odd powers of g. That is all the prover needs, so it
 * is one function: a transform down (decimation in frequency; Gentleman, Sande
 * 1966), a factor for each coefficient, and a transform up (decimation in time;
 * Cooley, Tukey 1965). The first leaves its result in bit-reversed order, the
 * second wants it so: nothing has to be moved.
 *
 * Constant time in the values. Threads: any; one table serves all.
 */
#ifndef GROTH16_NTT_H
#define GROTH16_NTT_H

#include <stddef.h>

#include "bn254/fr.h"

/* The largest k: 2^28 divides r - 1. */
#define NTT_LOG_MAX 27

/* Powers of g, with 1/n in front of those that are factors. */
struct ntt_table {
	unsigned log; /* k */
	fr_t *powers; /* g^i, i < n */
	fr_t scale; /* 1/n */
};

/* Fill T for 2^LOG elements, 1 <= LOG <= NTT_LOG_MAX. MEMORY holds as many and
 * is the caller's. */
void ntt_table_init(struct ntt_table *t, fr_t *memory, unsigned log) NONNULL;

/* From values at the even powers of g to values at the odd ones, in place. */
void ntt_shift(fr_t *values, const struct ntt_table *t) NONNULL;

#endif
