#include "hash/poseidon.h"

#include <string.h>

#include "base/cpu.h"
#include "base/wipe.h"
#include "hash/poseidon_kernels.h"

#define T POSEIDON_T
#define HALF (POSEIDON_FULL_ROUNDS / 2)
#define K (&poseidon_constants)

static void
power5(fr_t *x)
{
	fr_t y;

	fr_sqr(&y, x);
	fr_sqr(&y, &y);
	fr_mul(x, x, &y);
}

static void
power5_each(fr_t state[static T])
{
	for (unsigned i = 0; i < T; i++)
		power5(&state[i]);
}

static void
add_constants(fr_t state[static T], const fr_t c[static T])
{
	for (unsigned i = 0; i < T; i++)
		fr_add(&state[i], &state[i], &c[i]);
}

/* One lane of m * state. */
static void
lane(fr_t *out, const fr_t state[static T], const fr_t m[static T][T],
    unsigned i)
{
	fr_t product;

	fr_mul(out, &m[0][i], &state[0]);
	for (unsigned j = 1; j < T; j++) {
		fr_mul(&product, &m[j][i], &state[j]);
		fr_add(out, out, &product);
	}
}

static void
multiply(fr_t state[static T], const fr_t m[static T][T])
{
	fr_t next[T];

	for (unsigned i = 0; i < T; i++)
		lane(&next[i], state, m, i);
	for (unsigned i = 0; i < T; i++)
		state[i] = next[i];
}

static void
partial_round(
    fr_t state[static T], const fr_t *c, const fr_t s[static 2 * T - 1])
{
	fr_t l0, product;

	power5(&state[0]);
	fr_add(&l0, &state[0], c);
	fr_mul(&state[0], &s[0], &l0);
	for (unsigned j = 1; j < T; j++) {
		fr_mul(&product, &s[j], &state[j]);
		fr_add(&state[0], &state[0], &product);
		fr_mul(&product, &s[T - 1 + j], &l0);
		fr_add(&state[j], &state[j], &product);
	}
}

void
poseidon_pair(fr_t *out, const fr_t *a, const fr_t *b)
{
	fr_t state[T] = {fr_zero, *a, *b};
	const fr_t *c = K->c;

	add_constants(state, c);
	for (unsigned r = 0; r < HALF; r++) {
		power5_each(state);
		add_constants(state, c += T);
		multiply(state, r < HALF - 1 ? K->m : K->p);
	}
	c += T;
	for (unsigned r = 0; r < POSEIDON_PARTIAL_ROUNDS; r++)
		partial_round(state, c++, &K->s[(2 * T - 1) * r]);
	for (unsigned r = 0; r < HALF - 1; r++, c += T) {
		power5_each(state);
		add_constants(state, c);
		multiply(state, K->m);
	}
	power5_each(state);
	lane(out, state, K->m, 0);
}

static void
pairs_alone(fr_t *out, const fr_t *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		poseidon_pair(&out[i], &in[2 * i], &in[2 * i + 1]);
}

#if defined(__x86_64__)
static void
pairs_wide(fr_t *out, const fr_t *in, size_t n)
{
	fr_t rest[2 * POSEIDON_LANES] = {{{0}}};

	for (; n >= POSEIDON_LANES; n -= POSEIDON_LANES) {
		poseidon_ifma_eight(out, in);
		out += POSEIDON_LANES;
		in += 2 * POSEIDON_LANES;
	}
	/* Eight at a time cost about as much as two alone. */
	if (n < 2) {
		pairs_alone(out, in, n);
		return;
	}
	memcpy(rest, in, 2 * n * sizeof(*in));
	poseidon_ifma_eight(rest, rest);
	memcpy(out, rest, n * sizeof(*out));
	wipe(rest, sizeof(rest));
}
#endif

void
poseidon_pairs(fr_t *out, const fr_t *in, size_t n)
{
#if defined(__x86_64__)
	if (n > 1 && cpu_has_ifma()) {
		pairs_wide(out, in, n);
		return;
	}
#endif
	pairs_alone(out, in, n);
}
