/* Transforms: every kernel against the definition at small sizes, and against
 * each other at large ones. */
#include "harness.h"

#include <stdlib.h>

#include "bn254/ntt.h"

struct fixture {
	struct ntt_table table;
	void *memory, *work;
	size_t n;
	fr_t *values, *want;
};

static void *
allocate(size_t size)
{
	void *p = aligned_alloc(64, (size + 64) / 64 * 64);

	CHECK(p != NULL);
	return p;
}

static void
set_up(struct fixture *f, unsigned log, const struct ntt_kernel *kernel)
{
	f->n = (size_t)1 << log;
	f->memory = allocate(ntt_table_size(log));
	ntt_table_init(&f->table, f->memory, log, kernel);
	f->work = allocate(ntt_memory(&f->table));
	f->values = allocate(f->n * sizeof(fr_t));
	f->want = allocate(f->n * sizeof(fr_t));
}

static void
tear_down(struct fixture *f)
{
	free(f->memory);
	free(f->work);
	free(f->values);
	free(f->want);
}

static void
random_fr(fr_t *out)
{
	uint8_t bytes[32];

	test_random_bytes(bytes, sizeof(bytes));
	fr_from_bytes_mod(out, bytes);
}

/* The value at X of the polynomial with these coefficients. */
static void
horner(fr_t *out, const fr_t *coefficients, size_t n, const fr_t *x)
{
	*out = fr_zero;
	while (n-- > 0) {
		fr_mul(out, out, x);
		fr_add(out, out, &coefficients[n]);
	}
}

static void
check_definition(unsigned log, const struct ntt_kernel *kernel)
{
	struct fixture f;
	fr_t *coefficients, g, w, x, odd;

	set_up(&f, log, kernel);
	coefficients = allocate(f.n * sizeof(fr_t));
	for (size_t i = 0; i < f.n; i++)
		random_fr(&coefficients[i]);
	/* g is what the table says it is: a primitive 2n-th root of unity. */
	g = f.n > 1 ? f.table.powers[1] : fr_one;
	fr_pow(&x, &g, (const uint64_t[]){f.n}, 1);
	fr_add(&x, &x, &fr_one);
	CHECK(fr_is_zero(&x)); /* g^n = -1 */
	fr_sqr(&w, &g);
	x = fr_one;
	for (size_t i = 0; i < f.n; i++) {
		horner(&f.values[i], coefficients, f.n, &x);
		fr_mul(&odd, &x, &g);
		horner(&f.want[i], coefficients, f.n, &odd);
		fr_mul(&x, &x, &w);
	}
	ntt_shift(f.values, &f.table, f.work);
	for (size_t i = 0; i < f.n; i++)
		CHECK(fr_eq(&f.values[i], &f.want[i]));
	free(coefficients);
	tear_down(&f);
}

static void
test_definition(void)
{
	const struct ntt_kernel *kernel;

	for (unsigned k = 0; (kernel = ntt_kernel_nth(k)) != NULL; k++) {
		for (unsigned log = 1; log <= 8; log++)
			check_definition(log, kernel);
	}
}

/* The same from all kernels, for values at the edges too. */
static void
test_kernels(void)
{
	const struct ntt_kernel *kernel;
	struct fixture first, f;

	for (unsigned log = 9; log <= 13; log++) {
		set_up(&first, log, ntt_kernel_nth(0));
		for (size_t i = 0; i < first.n; i++) {
			random_fr(&first.want[i]);
			if (log % 2 == 0)
				fr_neg(&first.want[i], &fr_one);
			if (log == 11)
				first.want[i] = fr_zero;
		}
		memcpy(first.values, first.want, first.n * sizeof(fr_t));
		ntt_shift(first.values, &first.table, first.work);
		for (unsigned k = 1; (kernel = ntt_kernel_nth(k)) != NULL;
		     k++) {
			set_up(&f, log, kernel);
			memcpy(f.values, first.want, f.n * sizeof(fr_t));
			ntt_shift(f.values, &f.table, f.work);
			CHECK_MEM(f.values, first.values, f.n * sizeof(fr_t));
			tear_down(&f);
		}
		tear_down(&first);
	}
}

TESTS({"the definition, at small sizes", test_definition},
    {"all kernels agree", test_kernels}, )
