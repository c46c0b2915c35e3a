#include "bn254/g1_table.h"

void
g1_table_init_var(struct g1_table *t, const g1_t *p)
{
	g1j_t multiple[G1_TABLE_ENTRIES];
	fp_t scratch[G1_TABLE_ENTRIES];
	g1_t base = *p;

	for (int i = 0; i < G1_TABLE_WINDOWS; i++) {
		g1j_from_affine(&multiple[0], &base);
		for (int j = 1; j < G1_TABLE_ENTRIES; j++)
			g1j_madd_var(&multiple[j], &multiple[j - 1], &base);
		g1j_to_affine_many(
		    t->entry[i], scratch, multiple, G1_TABLE_ENTRIES);
		g1j_dbl(&multiple[0], &multiple[G1_TABLE_ENTRIES - 1]);
		g1j_to_affine_var(&base, &multiple[0]);
	}
}

size_t
g1_table_terms_var(
    struct g1_term *terms, const struct g1_table *t, const fr_t *k)
{
	uint64_t limbs[4];
	size_t n = 0;
	int carry = 0;

	fr_to_limbs(limbs, k);
	for (int i = 0; i < G1_TABLE_WINDOWS; i++) {
		int shift = i * G1_TABLE_BITS % 64;
		const uint64_t *l = &limbs[i * G1_TABLE_BITS / 64];
		uint64_t bits = *l >> shift;
		int digit;

		if (shift > 64 - G1_TABLE_BITS && l < &limbs[3])
			bits |= l[1] << (64 - shift);
		/* -31 to 32; k is below 2^254, so the last, of bits 252 on,
		 * carries no further. */
		digit = (int)(bits & 63) + carry;
		carry = digit > 32;
		digit -= carry * 64;
		if (digit == 0)
			continue;
		terms[n].negative = digit < 0;
		terms[n].p = &t->entry[i][(digit < 0 ? -digit : digit) - 1];
		n++;
	}
	return n;
}
