/* tests/unit/groth16_maker.h: Groth16 keys and valid proofs without a circuit.
 *
 * Whoever knows the discrete logarithms of a key can make a proof of anything:
 * A = a G1, B = b G2, C = (a b - alpha beta - gamma x) / delta G1. That is what
 * a test needs: valid proofs by the thousand, of any key, with one equation.
 */
#ifndef TESTS_GROTH16_MAKER_H
#define TESTS_GROTH16_MAKER_H

#include "groth16/verify.h"
#include "harness.h"

/* A key's secrets and the key. */
struct maker {
	fr_t alpha, beta, gamma, delta, ic[GROTH16_INPUTS_MAX + 1];
	struct groth16_vk vk;
};

static inline void
maker_random(fr_t *r)
{
	uint8_t bytes[32];

	test_random_bytes(bytes, sizeof(bytes));
	fr_from_bytes_mod(r, bytes);
}

static inline void
maker_g1(g1_t *r, const fr_t *k)
{
	uint64_t limbs[4];
	g1j_t p;

	fr_to_limbs(limbs, k);
	g1j_from_affine(&p, &g1_generator);
	g1j_mul_var(&p, &p, limbs);
	g1j_to_affine_var(r, &p);
}

static inline void
maker_twist(twist_t *r, const fr_t *k)
{
	uint64_t limbs[4];
	twistj_t p;

	fr_to_limbs(limbs, k);
	twistj_from_affine(&p, &g2_generator.point);
	twistj_mul_var(&p, &p, limbs);
	twistj_to_affine_var(r, &p);
}

static inline void
maker_g2(g2_t *r, const fr_t *k)
{
	twist_t p;

	maker_twist(&p, k);
	CHECK_STATUS(g2_check_var(r, &p), ST_OK);
}

static inline void
maker_init(struct maker *m, size_t inputs)
{
	maker_random(&m->alpha);
	maker_random(&m->beta);
	maker_random(&m->gamma);
	maker_random(&m->delta);
	maker_g1(&m->vk.alpha, &m->alpha);
	maker_g2(&m->vk.beta, &m->beta);
	maker_g2(&m->vk.gamma, &m->gamma);
	maker_g2(&m->vk.delta, &m->delta);
	m->vk.inputs = inputs;
	for (size_t i = 0; i <= inputs; i++) {
		maker_random(&m->ic[i]);
		maker_g1(&m->vk.ic[i], &m->ic[i]);
	}
}

/* A valid proof for INPUTS. */
static inline void
maker_prove(
    struct groth16_proof *proof, const struct maker *m, const fr_t *inputs)
{
	fr_t a, b, c, t, x = m->ic[0];

	maker_random(&a);
	maker_random(&b);
	maker_g1(&proof->a, &a);
	maker_twist(&proof->b, &b);
	for (size_t i = 0; i < m->vk.inputs; i++) {
		fr_mul(&t, &inputs[i], &m->ic[i + 1]);
		fr_add(&x, &x, &t);
	}
	fr_mul(&c, &a, &b);
	fr_mul(&t, &m->alpha, &m->beta);
	fr_sub(&c, &c, &t);
	fr_mul(&t, &m->gamma, &x);
	fr_sub(&c, &c, &t);
	fr_inv_var(&t, &m->delta);
	fr_mul(&c, &c, &t);
	maker_g1(&proof->c, &c);
}

#endif
