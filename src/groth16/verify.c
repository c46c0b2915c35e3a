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
	    (inputs + 1) * aligned(sizeof(struct g1_table));
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
	for (size_t i = 0; i <= vk->inputs; i++)
		g1_table_init_var(&tables[i], &vk->ic[i]);
	key->kernel = k;
	key->inputs = vk->inputs;
	key->gamma = gamma;
	key->delta = delta;
	key->gamma_point = vk->gamma.point;
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

/* sum = start + the inputs whose bit in WHICH is set. */
static void
sum_inputs(g1j_t *sum, const struct groth16_pvk *key, const g1_t *start,
    unsigned which, const fr_t *inputs)
{
	struct g1_term terms[1 + GROTH16_INPUTS_MAX * G1_TABLE_WINDOWS];
	size_t n = 1;

	terms[0].p = start;
	terms[0].negative = false;
	for (size_t i = 0; i < key->inputs; i++) {
		if ((which >> i & 1) != 0)
			n += g1_table_terms_var(
			    &terms[n], &key->ic[i + 1], &inputs[i]);
	}
	key->kernel->sum(sum, terms, n);
}

void
groth16_partial_init(struct groth16_partial *p, const struct groth16_pvk *key,
    unsigned which, const fr_t *inputs)
{
	g1j_t sum;

	memset(p, 0, sizeof(*p));
	p->key = key;
	p->which = which;
	for (size_t i = 0; i < key->inputs; i++) {
		if ((which >> i & 1) != 0)
			p->inputs[i] = inputs[i];
	}
	sum_inputs(&sum, key, &key->ic0, which, inputs);
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
	if (fits(partial, key, inputs))
		sum_inputs(sum, key, &partial->sum, ~partial->which, inputs);
	else
		sum_inputs(sum, key, &key->ic0, ~0u, inputs);
}

bool
groth16_proof_has_infinity(const struct groth16_proof *p)
{
	return g1_is_infinity(&p->a) || twist_is_infinity(&p->b) ||
	    g1_is_infinity(&p->c);
}

enum status
groth16_verify(const struct groth16_pvk *key,
    const struct groth16_partial *partial, const struct groth16_proof *proof,
    const fr_t *inputs)
{
	struct pairing_fixed fixed[2];

	if (groth16_proof_has_infinity(proof))
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
