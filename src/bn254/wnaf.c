#include "bn254/wnaf.h"

/* N bits of K from bit I on. */
static int
bits(const uint64_t k[static 4], size_t i, int n)
{
	uint64_t v;

	if (i >= 256)
		return 0;
	v = k[i / 64] >> i % 64;
	if (i % 64 != 0 && i / 64 < 3)
		v |= k[i / 64 + 1] << (64 - i % 64);
	return (int)(v & ((UINT64_C(1) << n) - 1));
}

size_t
wnaf_var(signed char digits[static WNAF_MAX], const uint64_t k[static 4], int w)
{
	size_t length = 0;
	int carry = 0;

	for (size_t i = 0; i < WNAF_MAX; i++)
		digits[i] = 0;
	for (size_t i = 0; i < WNAF_MAX;) {
		int d;

		/* A bit equal to the carry makes a digit 0. */
		if (bits(k, i, 1) == carry) {
			i++;
			continue;
		}
		d = bits(k, i, w) + carry;
		carry = d >> (w - 1) & 1;
		d -= carry << w;
		digits[i] = (signed char)d;
		length = i + 1;
		i += (size_t)w;
	}
	return length;
}
