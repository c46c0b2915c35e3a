/* Poseidon for eight pairs, one a lane: see poseidon.c for the shape and
 * fr52_ifma.h for the arithmetic and its bounds.
 */
#include "hash/poseidon_kernels.h"

#include "base/wipe.h"
#include "hash/poseidon.h"

#ifdef __x86_64__

#include "hash/fr52_ifma.h"

#define T POSEIDON_T
#define HALF (POSEIDON_FULL_ROUNDS / 2)
#define K (&poseidon_constants52)

_Static_assert(POSEIDON_LANES == 8, "64-bit lanes of a ZMM register");

/* 2^256 mod r, plain: a product with it takes an element from the form with
 * 2^260 to that with 2^256, which fr_t has. */
static const uint64_t to_fr[FR8_LIMBS] = {0x6341c4ffffffb, 0x959f60cd29ac9,
    0x879462e36fc76, 0xdf2f666ea36f7, 0xe0a77c19a07};

/* Elements as they lie in memory: limb by limb, lane by lane. */
struct lanes {
	_Alignas(64) uint64_t limb[FR8_LIMBS][POSEIDON_LANES];
};

/* Element number FIRST of each of eight pairs. In fr_t's form an element is
 * x 2^256; shifted by four bits it is x 2^260, below 16 r. */
IFMA static fr8_t
load(const fr_t *in, unsigned first)
{
	struct lanes m;
	fr8_t r;

	for (unsigned lane = 0; lane < POSEIDON_LANES; lane++) {
		const uint64_t *l = in[2 * lane + first].l;
		m.limb[0][lane] = l[0] << 4 & FR8_MASK;
		m.limb[1][lane] = (l[0] >> 48 | l[1] << 16) & FR8_MASK;
		m.limb[2][lane] = (l[1] >> 36 | l[2] << 28) & FR8_MASK;
		m.limb[3][lane] = (l[2] >> 24 | l[3] << 40) & FR8_MASK;
		m.limb[4][lane] = l[3] >> 12;
	}
	EACH (i, 0, FR8_LIMBS)
		r.limb[i] = _mm512_load_si512(m.limb[i]);
	wipe(&m, sizeof(m));
	return r;
}

/* A, below 2 r, as eight elements. */
IFMA static void
store(fr_t *out, fr8_t a)
{
	struct lanes m;

	EACH (i, 0, FR8_LIMBS)
		_mm512_store_si512(m.limb[i], a.limb[i]);
	for (unsigned lane = 0; lane < POSEIDON_LANES; lane++) {
		uint64_t l[FR8_LIMBS];
		for (unsigned i = 0; i < FR8_LIMBS; i++)
			l[i] = m.limb[i][lane];
		const fr_t value = {{l[0] | l[1] << 52, l[1] >> 12 | l[2] << 40,
		    l[2] >> 24 | l[3] << 28, l[3] >> 36 | l[4] << 16}};
		/* Adding zero reduces what is below 2 r. */
		fr_add(&out[lane], &value, &fr_zero);
		wipe(l, sizeof(l));
	}
	wipe(&m, sizeof(m));
}

/* x^5. In: below 17 r. Out: below 1.3 r. */
IFMA_INLINE fr8_t
power5(fr8_t x)
{
	return fr8_mul(x, fr8_sqr(fr8_sqr(x)));
}

IFMA static void
power5_each(fr8_t state[static T])
{
	for (unsigned i = 0; i < T; i++)
		state[i] = power5(state[i]);
}

IFMA static void
add_constants(fr8_t state[static T], const uint64_t (*c)[FR8_LIMBS])
{
	for (unsigned i = 0; i < T; i++)
		state[i] = fr8_add(state[i], fr8_constant(c[i]));
}

/* One lane of m * state. In: below 2.3 r each. Out: below 1.1 r. */
IFMA static fr8_t
row(const fr8_t state[static T], const uint64_t m[static T][T][FR8_LIMBS],
    unsigned i)
{
	fr8_wide_t sum = fr8_wide_zero();

	for (unsigned j = 0; j < T; j++)
		sum = fr8_mul_add(sum, state[j], fr8_constant(m[j][i]));
	return fr8_reduce(sum);
}

IFMA static void
multiply(fr8_t state[static T], const uint64_t m[static T][T][FR8_LIMBS])
{
	fr8_t next[T];

	for (unsigned i = 0; i < T; i++)
		next[i] = row(state, m, i);
	for (unsigned i = 0; i < T; i++)
		state[i] = next[i];
}

/* The state is x, u, v of the recurrence. In and out: x below 4.5 r, u below
 * 2.3 r, v below 1.2 r. */
IFMA_INLINE void
partial_round(fr8_t state[static T], const uint64_t c[static FR8_LIMBS],
    const uint64_t k[static 4][FR8_LIMBS])
{
	fr8_t y = fr8_add(power5(state[0]), fr8_constant(c));
	fr8_wide_t sum =
	    fr8_mul_add(fr8_wide_zero(), state[1], fr8_constant(k[0]));

	sum = fr8_mul_add(sum, state[2], fr8_constant(k[2]));
	sum = fr8_mul_add(sum, y, fr8_constant(k[3]));
	state[0] = fr8_add(y, state[1]);
	state[1] = fr8_add(state[2], fr8_mul(y, fr8_constant(k[1])));
	state[2] = fr8_reduce(sum);
}

IFMA void
poseidon_ifma_eight(fr_t *out, const fr_t *in)
{
	const uint64_t(*c)[FR8_LIMBS] = K->c;
	fr8_t state[T], result;

	EACH (i, 0, FR8_LIMBS)
		state[0].limb[i] = fr8_word(0);
	state[1] = load(in, 0);
	state[2] = load(in, 1);
	add_constants(state, c);
	for (unsigned r = 0; r < HALF; r++) {
		power5_each(state);
		add_constants(state, c += T);
		multiply(state, r < HALF - 1 ? K->m : K->p);
	}
	c += T;
	for (unsigned r = 0; r < POSEIDON_PARTIAL_ROUNDS; r++)
		partial_round(state, *c++, K->k[r]);
	for (unsigned r = 0; r < HALF - 1; r++, c += T) {
		power5_each(state);
		add_constants(state, c);
		multiply(state, K->m);
	}
	power5_each(state);
	result = fr8_mul(row(state, K->m, 0), fr8_constant(to_fr));
	store(out, result);
	wipe(state, sizeof(state));
}

#endif
