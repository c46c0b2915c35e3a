#include "bn254/kernel.h"

#include <string.h>

#include "bn254/constants.h"
#include "bn254/kernels.h"
#include "bn254/limbs.h"

/* Best first. */
static const struct bn254_kernel *const kernels[] = {
#ifdef __x86_64__
    &bn254_kernel_ifma,
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

void
weight_to_fr(fr_t *r, const struct weight *w)
{
	fr_t t, half, two;

	fr_from_u64(&two, 2);
	fr_from_u64(&half, w->half[1]);
	fr_mul(&t, &half, &two);
	fr_add(&t, &t, &fr_one);
	fr_mul(&t, &t, &glv_lambda);
	fr_from_u64(&half, w->half[0]);
	fr_mul(r, &half, &two);
	fr_add(r, r, &fr_one);
	fr_add(r, r, &t);
}

void
weight_sum_add(struct weight_sum *s, const struct weight *w)
{
	for (int i = 0; i < 2; i++) {
		carry_t carry = 1; /* 2 half + 1 */

		s->half[i][0] =
		    add_carry(s->half[i][0], w->half[i] << 1, &carry);
		s->half[i][1] =
		    add_carry(s->half[i][1], w->half[i] >> 63, &carry);
	}
}
