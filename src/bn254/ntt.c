#include "bn254/ntt_kernel.h"

#include "base/cpu.h"

/* 5 generates the multiplicative group; (r - 1) / 2^28, little-endian. */
#define GENERATOR 5
#define TWO_ADICITY 28
static const uint64_t odd_part[4] = {0x9b9709143e1f593f, 0x181585d2833e8487,
    0x131a029b85045b68, 0x000000030644e72e};

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
ntt_shift_one(fr_t *values, const struct ntt_table *t)
{
	const size_t n = (size_t)1 << t->log;

	for (size_t half = n / 2; half > 0; half /= 2)
		layer_down(values, n, half, t->powers);
	for (size_t i = 0; i < n; i++) {
		fr_mul(&values[i], &values[i], &t->scale);
		fr_mul(
		    &values[i], &values[i], &t->powers[ntt_reverse(i, t->log)]);
	}
	for (size_t half = 1; half < n; half *= 2)
		layer_up(values, n, half, t->powers);
}

/* --- kernels ---------------------------------------------------------------- */

static size_t
one_size(unsigned log)
{
	(void)log;
	return 0;
}

static void
one_init(void *more, const struct ntt_table *t)
{
	(void)more;
	(void)t;
}

static void
one_shift(fr_t *values, const struct ntt_table *t, void *memory)
{
	(void)memory;
	ntt_shift_one(values, t);
}

static const struct ntt_kernel ntt_kernel_one = {
    one_size, one_size, one_init, one_shift};

const struct ntt_kernel *
ntt_kernel_nth(unsigned i)
{
#ifdef __x86_64__
	if (cpu_has_ifma()) {
		if (i == 0)
			return &ntt_kernel_ifma;
		i--;
	}
#endif
	return i == 0 ? &ntt_kernel_one : NULL;
}

/* --- tables ----------------------------------------------------------------- */

static size_t
powers_size(unsigned log)
{
	return ((sizeof(fr_t) << log) + 63) & ~(size_t)63;
}

/* Enough for every kernel. */
size_t
ntt_table_size(unsigned log)
{
	const struct ntt_kernel *k;
	size_t most = 0;

	for (unsigned i = 0; (k = ntt_kernel_nth(i)) != NULL; i++) {
		if (k->table_size(log) > most)
			most = k->table_size(log);
	}
	return powers_size(log) + most;
}

void
ntt_table_init(struct ntt_table *t, void *memory, unsigned log,
    const struct ntt_kernel *kernel)
{
	const size_t n = (size_t)1 << log;
	fr_t *powers = memory;
	void *more = (uint8_t *)memory + powers_size(log);
	fr_t g;

	fr_from_u64(&g, GENERATOR);
	fr_pow(&g, &g, odd_part, 4);
	for (unsigned i = TWO_ADICITY; i > log + 1; i--)
		fr_sqr(&g, &g);
	powers[0] = fr_one;
	for (size_t i = 1; i < n; i++)
		fr_mul(&powers[i], &powers[i - 1], &g);
	t->kernel = kernel != NULL ? kernel : ntt_kernel_nth(0);
	t->log = log;
	t->powers = powers;
	fr_from_u64(&t->scale, n);
	fr_inv_var(&t->scale, &t->scale);
	t->more = more;
	t->kernel->init(more, t);
}

size_t
ntt_memory(const struct ntt_table *t)
{
	return t->kernel->memory(t->log);
}

void
ntt_shift(fr_t *values, const struct ntt_table *t, void *memory)
{
	t->kernel->shift(values, t, memory);
}
