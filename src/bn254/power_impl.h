/* bn254/power_impl.h: powers in GT over any kernel's Fp12, as final_impl.h takes
 * it. Private to the folder.
 */
#ifndef BN254_POWER_IMPL_H
#define BN254_POWER_IMPL_H

#include "bn254/pairing.h"

/* r = a^e for a in GT. lambda is p^4 modulo r (tests/vectors/make-bn254). Both
 * halves share their squarings; two bits of each pick one of fifteen products.
 */
static void
fe12_power(fe12_t *r, const fe12_t *a, const struct weight_sum *e)
{
	fe12_t table[16], acc;
	bool started = false;

	table[1] = *a;
	fe12_frobenius(&table[4], a, 2);
	fe12_frobenius(&table[4], &table[4], 2);
	for (int i = 1; i <= 4; i += 3) {
		fe12_cyclotomic_sqr(&table[2 * i], &table[i]);
		fe12_mul(&table[3 * i], &table[2 * i], &table[i]);
	}
	for (int i = 5; i < 16; i++) {
		if (i % 4 != 0)
			fe12_mul(&table[i], &table[i & 12], &table[i & 3]);
	}
	for (int i = 63; i >= 0; i--) {
		unsigned shift = 2 * (unsigned)i % 64;
		unsigned d = (unsigned)(e->half[0][i / 32] >> shift & 3) |
		    (unsigned)(e->half[1][i / 32] >> shift & 3) << 2;

		if (started) {
			fe12_cyclotomic_sqr(&acc, &acc);
			fe12_cyclotomic_sqr(&acc, &acc);
		}
		if (d == 0)
			continue;
		if (started)
			fe12_mul(&acc, &acc, &table[d]);
		else
			acc = table[d];
		started = true;
	}
	if (!started)
		fe12_set_one(&acc);
	*r = acc;
}

#endif
