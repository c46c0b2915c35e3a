#include "mix/random.h"

#include <math.h>

#include <sodium.h>

static void
system_fill(void *ctx, void *out, size_t len)
{
	(void)ctx;
	randombytes_buf(out, len);
}

const struct mix_random mix_random_system = {system_fill, NULL};

static uint64_t
draw(const struct mix_random *r)
{
	uint64_t x;

	r->fill(r->ctx, &x, sizeof(x));
	return x;
}

uint64_t
mix_random_below(const struct mix_random *r, uint64_t n)
{
	/* The numbers below 2^64 mod n would make the small ones likelier. */
	uint64_t least = -n % n, x;

	do
		x = draw(r);
	while (x < least);
	return x % n;
}

uint32_t
mix_random_delay(const struct mix_random *r, double mean_ms, uint32_t max_ms)
{
	/* 53 bits, from 1 to 2^53: never zero. */
	double u = (double)((draw(r) >> 11) + 1) * 0x1p-53;
	double ms = round(-log(u) * mean_ms);

	return ms < (double)max_ms ? (uint32_t)ms : max_ms;
}
