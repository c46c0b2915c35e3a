/* bn254/root_impl.h: inverse roots over any kernel's elements: LANES elements
 * side by side, as in weigh_impl.h, and two bundles of them in step, so that
 * one's products fill the time that the other's wait for theirs.
 *
 * The exponent is the same for all and public: sliding windows of its bits and
 * a table of odd powers (Knuth, TAOCP 2, 4.6.3). Private to the folder.
 */
#ifndef BN254_ROOT_IMPL_H
#define BN254_ROOT_IMPL_H

#include "bn254/fp.h"

#define ROOT_BUNDLES 2
#define ROOT_WINDOW 5
#define ROOT_POWERS (1 << (ROOT_WINDOW - 1))

static inline unsigned
root_bit(int i)
{
	return fp_inverse_root_exponent[i / 64] >> (i % 64) & 1;
}

/* x = x^((p-3)/4), N bundles, 1 or 2. */
static inline __attribute__((always_inline)) void
root_bundles(fe_t *x, size_t n)
{
	fe_t power[ROOT_POWERS][ROOT_BUNDLES], square[ROOT_BUNDLES];
	bool started = false;

	for (size_t k = 0; k < n; k++) {
		power[0][k] = x[k];
		fe_sqr(&square[k], &x[k]);
	}
	for (int i = 1; i < ROOT_POWERS; i++) {
		for (size_t k = 0; k < n; k++)
			fe_mul(&power[i][k], &power[i - 1][k], &square[k]);
	}
	for (int i = 251; i >= 0;) {
		int end = i < ROOT_WINDOW ? 0 : i - ROOT_WINDOW + 1;
		unsigned digit = 0;

		/* A window ends in a 1; a 0 in front is one of its own. */
		while (end < i && root_bit(end) == 0)
			end++;
		if (root_bit(i) == 0)
			end = i;
		for (; i >= end; i--) {
			digit = digit << 1 | root_bit(i);
			for (size_t k = 0; started && k < n; k++)
				fe_sqr(&x[k], &x[k]);
		}
		for (size_t k = 0; digit != 0 && k < n; k++) {
			if (started)
				fe_mul(&x[k], &x[k], &power[digit / 2][k]);
			else
				x[k] = power[digit / 2][k];
		}
		started = started || digit != 0;
	}
}

/* Lanes behind the last element repeat it. */
static void
kernel_inverse_roots(fp_t *r, const fp_t *a, size_t n)
{
	fe_t x[ROOT_BUNDLES];

	for (size_t first = 0; first < n; first += ROOT_BUNDLES * LANES) {
		size_t bundles = n - first > LANES ? 2 : 1;

		for (size_t b = 0; b < bundles; b++) {
			const fp_t *in[LANES];

			for (size_t l = 0; l < LANES; l++) {
				size_t i = first + b * LANES + l;
				in[l] = &a[i < n ? i : n - 1];
			}
			fe_load(&x[b], in);
		}
		if (bundles == 1)
			root_bundles(x, 1);
		else
			root_bundles(x, 2);
		for (size_t b = 0; b < bundles; b++) {
			size_t at = first + b * LANES;
			fp_t out[LANES];

			fe_store(out, &x[b]);
			for (size_t l = 0; l < LANES && at + l < n; l++)
				r[at + l] = out[l];
		}
	}
}

#endif
