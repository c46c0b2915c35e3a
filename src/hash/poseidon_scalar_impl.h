/* hash/poseidon_scalar_impl.h: Poseidon of one pair, over the including file's
 * products on limbs. It defines POSEIDON_ONE, the function's name, and
 *
 *   core_mul(r, a, b)     Montgomery product in Fr
 *   core_wide(w, a, b)    product of two 256-bit integers, eight limbs
 *   core_redc(r, w)       w / 2^256 mod r, for w below r 2^256
 *
 * Sums of products are reduced once: three are below 3 r^2 < 0.57 r 2^256.
 * Private to the folder.
 */
#include "bn254/mont_impl.h"
#include "hash/poseidon_kernels.h"

#define T POSEIDON_T
#define HALF (POSEIDON_FULL_ROUNDS / 2)

typedef struct {
	uint64_t l[8];
} wide_t;

static inline void
mul(fr_t *r, const fr_t *a, const fr_t *b)
{
	core_mul(r->l, a->l, b->l);
}

static inline void
add(fr_t *r, const fr_t *a, const fr_t *b)
{
	mont_add(r->l, a->l, b->l, &modulus_r);
}

/* w += a b */
static inline void
wide_mul_add(wide_t *w, const fr_t *a, const fr_t *b)
{
	wide_t t;
	carry_t carry;

	core_wide(t.l, a->l, b->l);
	carry = limbs_addc(w->l, w->l, t.l, 0);
	limbs_addc(w->l + 4, w->l + 4, t.l + 4, carry);
}

static inline void
power5(fr_t *x)
{
	fr_t y;

	mul(&y, x, x);
	mul(&y, &y, &y);
	mul(x, x, &y);
}

static inline void
power5_each(fr_t state[static T])
{
	for (unsigned i = 0; i < T; i++)
		power5(&state[i]);
}

static inline void
add_constants(fr_t state[static T], const fr_t c[static T])
{
	for (unsigned i = 0; i < T; i++)
		add(&state[i], &state[i], &c[i]);
}

/* One lane of m * state. */
static inline void
row(fr_t *out, const fr_t state[static T], const fr_t m[static T][T],
    unsigned i)
{
	wide_t w;

	core_wide(w.l, m[0][i].l, state[0].l);
	for (unsigned j = 1; j < T; j++)
		wide_mul_add(&w, &m[j][i], &state[j]);
	core_redc(out->l, w.l);
}

static inline void
multiply(fr_t state[static T], const fr_t m[static T][T])
{
	fr_t next[T];

	for (unsigned i = 0; i < T; i++)
		row(&next[i], state, m, i);
	for (unsigned i = 0; i < T; i++)
		state[i] = next[i];
}

/* The state is x, u, v of the recurrence. */
static inline void
partial_round(fr_t state[static T], const fr_t *c, const fr_t k[static 4])
{
	fr_t y, t;
	wide_t w;

	/* What does not wait for the power comes first. */
	core_wide(w.l, k[0].l, state[1].l);
	wide_mul_add(&w, &k[2], &state[2]);
	power5(&state[0]);
	add(&y, &state[0], c);
	add(&state[0], &y, &state[1]);
	mul(&t, &k[1], &y);
	add(&state[1], &state[2], &t);
	wide_mul_add(&w, &k[3], &y);
	core_redc(state[2].l, w.l);
}

void
POSEIDON_ONE(fr_t *out, const fr_t *a, const fr_t *b)
{
	const struct poseidon_constants *full = &poseidon_constants;
	const struct poseidon_constants64 *partial = &poseidon_constants64;
	fr_t state[T] = {fr_zero, *a, *b};
	const fr_t *c = full->c;

	add_constants(state, c);
	for (unsigned r = 0; r < HALF; r++) {
		power5_each(state);
		add_constants(state, c += T);
		multiply(state, r < HALF - 1 ? full->m : partial->p);
	}
	for (unsigned r = 0; r < POSEIDON_PARTIAL_ROUNDS; r++)
		partial_round(state, &partial->c[r], partial->k[r]);
	c += POSEIDON_PARTIAL_ROUNDS;
	for (unsigned r = 0; r < HALF - 1; r++) {
		power5_each(state);
		add_constants(state, c += T);
		multiply(state, full->m);
	}
	power5_each(state);
	row(out, state, full->m, 0);
}
