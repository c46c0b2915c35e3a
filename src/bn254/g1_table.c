#include "bn254/g1_table.h"

#include "bn254/limbs.h"

/* Windows that share their inversions: what is on the stack. */
#define GROUP 11
#define HALF (G1_TABLE_ENTRIES / 2)

/* With M multiples of N windows' points there, make 2M: the M-th plus each of
 * them. The M N slopes take one inversion (Montgomery's trick): 6 products an
 * addition, where Jacobian coordinates and the way back from them took 18. No
 * two points are equal or opposite but the M-th and itself, as the order is
 * larger than 2M. */
static NOINLINE void
double_multiples(g1_t (*t)[G1_TABLE_ENTRIES], size_t n, size_t m)
{
	fp_t step[GROUP * HALF] = {0}, inverse[GROUP * HALF], s, u;

	for (size_t i = 0; i < n * m; i++) {
		const g1_t *a = &t[i / m][m - 1], *b = &t[i / m][i % m];

		if (a == b)
			fp_dbl(&step[i], &a->y);
		else
			fp_sub(&step[i], &b->x, &a->x);
	}
	fp_inv_many_var(inverse, step, n * m);
	for (size_t i = 0; i < n * m; i++) {
		const g1_t *a = &t[i / m][m - 1], *b = &t[i / m][i % m];
		g1_t *r = &t[i / m][m + i % m];

		if (a == b) { /* the slope is 3 x^2 / 2 y */
			fp_sqr(&u, &a->x);
			fp_dbl(&s, &u);
			fp_add(&s, &s, &u);
		} else {
			fp_sub(&s, &b->y, &a->y);
		}
		fp_mul(&s, &s, &inverse[i]);
		fp_sqr(&u, &s); /* x = s^2 - xa - xb */
		fp_sub(&u, &u, &a->x);
		fp_sub(&r->x, &u, &b->x);
		fp_sub(&u, &a->x, &r->x); /* y = s (xa - x) - ya */
		fp_mul(&u, &u, &s);
		fp_sub(&r->y, &u, &a->y);
	}
}

void
g1_table_init_var(struct g1_table *t, const g1_t *p)
{
	g1j_t base[G1_TABLE_WINDOWS];
	fp_t scratch[G1_TABLE_WINDOWS];
	g1_t first[G1_TABLE_WINDOWS];

	g1j_from_affine(&base[0], p);
	for (size_t i = 1; i < G1_TABLE_WINDOWS; i++) {
		base[i] = base[i - 1];
		for (int j = 0; j < G1_TABLE_BITS; j++)
			g1j_dbl(&base[i], &base[i]);
	}
	g1j_to_affine_many(first, scratch, base, G1_TABLE_WINDOWS);
	for (size_t i = 0; i < G1_TABLE_WINDOWS; i++)
		t->entry[i][0] = first[i];
	for (size_t i = 0; i < G1_TABLE_WINDOWS; i += GROUP) {
		size_t n =
		    G1_TABLE_WINDOWS - i < GROUP ? G1_TABLE_WINDOWS - i : GROUP;

		for (size_t m = 1; m < G1_TABLE_ENTRIES; m *= 2)
			double_multiples(&t->entry[i], n, m);
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
