/* bn254/g1_table.h: multiples of a point of G1 that is used again and again.
 *
 * A scalar is cut into signed windows of 6 bits; the table holds 1 to 32 times
 * 2^(6 i) P for each, so that a multiplication is 43 additions and no doubling
 * (Brickell, Gordon, McCurley, Wilson, EUROCRYPT 1992), which a kernel sums up.
 * 86 KiB a point; 8 bits would take 32 additions and 256 KiB.
 *
 * Public scalars only: variable time.
 */
#ifndef BN254_G1_TABLE_H
#define BN254_G1_TABLE_H

#include "bn254/pairing.h"

#define G1_TABLE_BITS 6
#define G1_TABLE_WINDOWS 43
#define G1_TABLE_ENTRIES 32

struct g1_table {
	g1_t entry[G1_TABLE_WINDOWS][G1_TABLE_ENTRIES];
};

/* Fill T with the multiples of P, which is not infinity. */
void g1_table_init_var(struct g1_table *t, const g1_t *p) NONNULL;

/* Write the terms whose sum is k P, T being P's table.
 * Out:     at most G1_TABLE_WINDOWS terms, which point into T.
 * Returns: how many. */
size_t g1_table_terms_var(
    struct g1_term *terms, const struct g1_table *t, const fr_t *k) NONNULL;

#endif
