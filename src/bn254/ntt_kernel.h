/* bn254/ntt_kernel.h: what ntt.c and its kernels share. Private to the folder.
 */
#ifndef BN254_NTT_KERNEL_H
#define BN254_NTT_KERNEL_H

#include "bn254/ntt.h"

struct ntt_kernel {
	/* Bytes of its own table and of its working memory for 2^LOG. */
	size_t (*table_size)(unsigned log);
	size_t (*memory)(unsigned log);
	/* Fill its own table, T->more. */
	void (*init)(void *more, const struct ntt_table *t);
	void (*shift)(fr_t *values, const struct ntt_table *t, void *memory);
};

/* The LOG low bits of I in reverse order. */
static inline size_t
ntt_reverse(size_t i, unsigned log)
{
	size_t r = 0;

	for (unsigned b = 0; b < log; b++)
		r |= (i >> b & 1) << (log - 1 - b);
	return r;
}

/* One element at a time; the others use it for sizes they are not made for. */
void ntt_shift_one(fr_t *values, const struct ntt_table *t) NONNULL;

#ifdef __x86_64__
extern const struct ntt_kernel ntt_kernel_ifma;
#endif

#endif
