#include "groth16/verify.h"

#include <string.h>

#include "base/verify.h"
#include "groth16/pvk.h"

static size_t
aligned(size_t n)
{
	return (n + GROTH16_PVK_ALIGN - 1) / GROTH16_PVK_ALIGN *
	    GROTH16_PVK_ALIGN;
}

size_t
groth16_pvk_size(const struct bn254_kernel *k, size_t inputs)
{
	return aligned(sizeof(struct groth16_pvk)) +
	    2 * aligned(k->lines_size) +
	    inputs * aligned(sizeof(struct g1_table));
}

static bool
any_infinity(const struct groth16_vk *vk)
{
	bool any = g1_is_infinity(&vk->alpha) ||
	    twist_is_infinity(&vk->beta.point) ||
	    twist_is_infinity(&vk->gamma.point) ||
	    twist_is_infinity(&vk->delta.point);

	for (size_t i = 0; i <= vk->inputs; i++)
		any |= g1_is_infinity(&vk->ic[i]);
	return any;
}

enum status
groth16_prepare(const struct groth16_pvk **pvk, void *memory,
    const struct bn254_kernel *k, const struct groth16_vk *vk)
{
	struct groth16_pvk *key = memory;
	uint8_t *at = (uint8_t *)memory + aligned(sizeof(*key));
	struct g1_table *tables;
	void *gamma, *delta;

	*pvk = NULL;
	VERIFY((uintptr_t)memory % GROTH16_PVK_ALIGN == 0);
	if (vk->inputs < 1 || vk->inputs > GROTH16_INPUTS_MAX)
		return ST_BAD_VALUE;
	if (any_infinity(vk))
		return ST_INFINITY;
	gamma = at;
	delta = at + aligned(k->lines_size);
	tables = (void *)(at + 2 * aligned(k->lines_size));
	k->pairing(&key->alpha_beta, &vk->alpha, &vk->beta);
	k->lines(gamma, &vk->gamma);
	k->lines(delta, &vk->delta);
	for (size_t i = 0; i < vk->inputs; i++)
		g1_table_init_var(&tables[i], &vk->ic[i + 1]);
	key->kernel = k;
	key->inputs = vk->inputs;
	key->gamma = gamma;
	key->delta = delta;
	key->ic0 = vk->ic[0];
	key->ic = tables;
	*pvk = key;
	return ST_OK;
}

size_t
groth16_inputs(const struct groth16_pvk *key)
{
	return key->inputs;
}

void
groth16_partial_init(struct groth16_partial *p, const struct groth16_pvk *key,
    unsigned which, const fr_t *inputs)
{
	g1j_t sum;

	memset(p, 0, sizeof(*p));
	p->key = key;
	p->which = which;
	g1j_from_affine(&sum, &key->ic0);
	for (size_t i = 0; i < key->inputs; i++) {
		if ((which >> i & 1) == 0)
			continue;
		p->inputs[i] = inputs[i];
		g1_table_mul_add_var(&sum, &key->ic[i], &inputs[i]);
	}
	g1j_to_affine_var(&p->sum, &sum);
}

/* PARTIAL is for this key and these values. */
static bool
fits(const struct groth16_partial *partial, const struct groth16_pvk *key,
    const fr_t *inputs)
{
	if (partial == NULL || partial->key != key)
		return false;
	for (size_t i = 0; i < key->inputs; i++) {
		if ((partial->which >> i & 1) != 0 &&
		    !fr_eq(&partial->inputs[i], &inputs[i]))
			return false;
	}
	return true;
}

void
groth16_input_sum(g1j_t *sum, const struct groth16_pvk *key,
    const struct groth16_partial *partial, const fr_t *inputs)
{
	unsigned done = 0;

	if (fits(partial, key, inputs)) {
		done = partial->which;
		g1j_from_affine(sum, &partial->sum);
	} else {
		g1j_from_affine(sum, &key->ic0);
	}
	for (size_t i = 0; i < key->inputs; i++) {
		if ((done >> i & 1) == 0)
			g1_table_mul_add_var(sum, &key->ic[i], &inputs[i]);
	}
}

enum status
groth16_verify(const struct groth16_pvk *key,
    const struct groth16_partial *partial, const struct groth16_proof *proof,
    const fr_t *inputs)
{
	struct pairing_fixed fixed[2];

	if (g1_is_infinity(&proof->a) || twist_is_infinity(&proof->b) ||
	    g1_is_infinity(&proof->c))
		return ST_INFINITY;
	/* e(A, B) e(-vk_x, gamma) e(-C, delta) = e(alpha, beta) */
	fixed[0].lines = key->gamma;
	groth16_input_sum(&fixed[0].p, key, partial, inputs);
	g1j_neg(&fixed[0].p, &fixed[0].p);
	fixed[1].lines = key->delta;
	g1j_from_affine(&fixed[1].p, &proof->c);
	g1j_neg(&fixed[1].p, &fixed[1].p);
	return key->kernel->check(
	    &proof->a, &proof->b, fixed, 2, &key->alpha_beta);
}
