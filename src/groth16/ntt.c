#include "groth16/ntt.h"

/* 5 generates the multiplicative group; (r - 1) / 2^28, little-endian. */
#define GENERATOR 5
#define TWO_ADICITY 28
static const uint64_t odd_part[4] = {0x9b9709143e1f593f, 0x181585d2833e8487,
    0x131a029b85045b68, 0x000000030644e72e};

/* The exponent's bits, reversed within LOG of them. */
static size_t
reverse(size_t i, unsigned log)
{
	size_t r = 0;

	for (unsigned b = 0; b < log; b++)
		r |= (i >> b & 1) << (log - 1 - b);
	return r;
}

void
ntt_table_init(struct ntt_table *t, fr_t *memory, unsigned log)
{
	const size_t n = (size_t)1 << log;
	fr_t g;

	fr_from_u64(&g, GENERATOR);
	fr_pow(&g, &g, odd_part, 4);
	for (unsigned i = TWO_ADICITY; i > log + 1; i--)
		fr_sqr(&g, &g);
	t->log = log;
	t->powers = memory;
	memory[0] = fr_one;
	for (size_t i = 1; i < n; i++)
		fr_mul(&memory[i], &memory[i - 1], &g);
	fr_from_u64(&t->scale, n);
	fr_inv_var(&t->scale, &t->scale);
}

/* One layer down: pairs HALF apart, from values to coefficients, with powers
 * of 1/w = -w^(n/2 - 1). */
static void
layer_down(fr_t *v, size_t n, size_t half, const fr_t *powers)
{
	const size_t step = n / half; /* in powers of g */
	fr_t sum, difference;

	for (size_t block = 0; block < n; block += 2 * half) {
		fr_t *lo = v + block, *hi = lo + half;
		for (size_t j = 0; j < half; j++) {
			fr_add(&sum, &lo[j], &hi[j]);
			/* (lo - hi) / w^j = (hi - lo) w^(half - j) */
			if (j == 0) {
				fr_sub(&hi[j], &lo[j], &hi[j]);
			} else {
				fr_sub(&difference, &hi[j], &lo[j]);
				fr_mul(&hi[j], &difference,
				    &powers[(half - j) * step]);
			}
			lo[j] = sum;
		}
	}
}

static void
layer_up(fr_t *v, size_t n, size_t half, const fr_t *powers)
{
	const size_t step = n / half;
	fr_t t;

	for (size_t block = 0; block < n; block += 2 * half) {
		fr_t *lo = v + block, *hi = lo + half;
		for (size_t j = 0; j < half; j++) {
			fr_mul(&t, &hi[j], &powers[j * step]);
			fr_sub(&hi[j], &lo[j], &t);
			fr_add(&lo[j], &lo[j], &t);
		}
	}
}

void
ntt_shift(fr_t *values, const struct ntt_table *t)
{
	const size_t n = (size_t)1 << t->log;

	for (size_t half = n / 2; half > 0; half /= 2)
		layer_down(values, n, half, t->powers);
	for (size_t i = 0; i < n; i++) {
		fr_mul(&values[i], &values[i], &t->scale);
		fr_mul(&values[i], &values[i], &t->powers[reverse(i, t->log)]);
	}
	for (size_t half = 1; half < n; half *= 2)
		layer_up(values, n, half, t->powers);
}
