#include "bn254/kernel.h"

#include <string.h>

#include "bn254/kernels.h"

/* Best first. */
static const struct bn254_kernel *const kernels[] = {
#ifdef __x86_64__
    &bn254_kernel_adx,
#endif
    &bn254_kernel_c64,
    &bn254_kernel_mpn,
};

#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

enum status
bn254_kernel_pick(const struct bn254_kernel **k, const char *name)
{
	*k = NULL;
	for (size_t i = 0; i < KERNELS; i++) {
		if (name != NULL && strcmp(name, kernels[i]->name) != 0)
			continue;
		if (kernels[i]->supported()) {
			*k = kernels[i];
			return ST_OK;
		}
		if (name != NULL)
			return ST_BAD_VALUE;
	}
	return ST_UNKNOWN;
}

const struct bn254_kernel *
bn254_kernel_nth(size_t n)
{
	for (size_t i = 0; i < KERNELS; i++) {
		if (kernels[i]->supported() && n-- == 0)
			return kernels[i];
	}
	return NULL;
}

const char *
bn254_kernel_name(const struct bn254_kernel *k)
{
	return k->name;
}

bool
gt_eq(const gt_t *a, const gt_t *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}
