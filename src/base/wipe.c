#include "base/wipe.h"

#include <stdint.h>
#include <string.h>

void
wipe(void *ptr, size_t len)
{
	if (len != 0)
		explicit_bzero(ptr, len);
}

bool
equal_ct(const void *a, const void *b, size_t len)
{
	const volatile uint8_t *x = a, *y = b;
	unsigned diff = 0;

	for (size_t i = 0; i < len; i++)
		diff |= (unsigned)(x[i] ^ y[i]);
	return diff == 0;
}
