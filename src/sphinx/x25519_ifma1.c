/* X25519 for one scalar, four products at a time.
 *
 * A step of the Montgomery ladder has ten products, in three layers that
 * depend on each other; in each layer up to four are independent and fill the
 * lanes of a 256-bit register (the layout follows Hisil, Egrice and Yassi,
 * "Fast 4 way vectorized ladder for the complete set of Montgomery curves",
 * ePrint 2020/388). With RFC 7748's names:
 *
 *	state	x2	z2		x3	z3
 *	sums	A = x2 + z2	B = x2 - z2	C = x3 + z3	D = x3 - z3
 *	layer 1	AA = A A	BB = B B	DA = D A	CB = C B
 *	sums	E = AA - BB	E		S = DA + CB	T = DA - CB
 *	layer 2	E 1		a24 E		S S		T T
 *	layer 3	AA BB		E (AA + a24 E)	SS 1		TT x1
 *
 * and layer 3 is the next state. The swap of the two points costs nothing: it
 * is part of the permutation that layer 1 needs anyway, through an index
 * register, so neither a branch nor an address depends on the scalar.
 */
#include "sphinx/x25519.h"

#include <string.h>

#include "base/bytes.h"
#include "base/wipe.h"

#if defined(__x86_64__)

#include <immintrin.h>

typedef __m256i vec_t;
#define VEC(NAME) _mm256_##NAME
#define VEC_AND _mm256_and_si256
#define VEC_WORD _mm256_set1_epi64x

#include "sphinx/fe51_ifma.h"

#define LANES 4

/* Lanes as a mask: 0 is x2's. */
enum { LANE0 = 1, LANE1 = 2, LANE2 = 4, LANE3 = 8 };

/* (p, q, r, s) -> (p, p, r, r) and (q, q, s, s), added; where MINUS has a
 * lane's bit, subtracted. In: tight. Out: tight. */
IFMA_INLINE fe_t
sums(fe_t v, __mmask8 minus)
{
	const vec_t two_p0 = fe_word(2 * (FE_MASK - 18));
	const vec_t two_p = fe_word(2 * FE_MASK);
	fe_t r;

	EACH (i, 0, FE_LIMBS) {
		vec_t left = _mm256_unpacklo_epi64(v.limb[i], v.limb[i]);
		vec_t right = _mm256_unpackhi_epi64(v.limb[i], v.limb[i]);
		right = _mm256_mask_sub_epi64(
		    right, minus, i == 0 ? two_p0 : two_p, right);
		r.limb[i] = _mm256_add_epi64(left, right);
	}
	return fe_carry(r);
}

IFMA_INLINE fe_t
permute(fe_t v, vec_t index)
{
	EACH (i, 0, FE_LIMBS)
		v.limb[i] = _mm256_permutexvar_epi64(index, v.limb[i]);
	return v;
}

/* The lanes of B where MASK has a bit, else those of A. */
IFMA_INLINE fe_t
blend(__mmask8 mask, fe_t a, fe_t b)
{
	EACH (i, 0, FE_LIMBS)
		a.limb[i] = _mm256_mask_blend_epi64(mask, a.limb[i], b.limb[i]);
	return a;
}

/* What the second factors of layers 2 and 3 have in common for all steps. */
struct factors {
	fe_t layer2; /* 1, a24, -, - */
	fe_t layer3; /* -, -, 1, x1 */
};

/* One step: the state V, of which SWAP (0 or 2, in each lane) exchanges the
 * two points, doubled and added. */
IFMA_INLINE fe_t
step(fe_t v, vec_t swap_points, const struct factors *f)
{
	/* Indices of (A, B, D, C) and (A, B, A, B); exclusive or with 2 makes
	 * C of A and D of B. */
	const vec_t abdc = _mm256_set_epi64x(2, 3, 1, 0);
	const vec_t abab = _mm256_set_epi64x(1, 0, 1, 0);
	fe_t one, est, two, left, right;

	v = sums(v, LANE1 | LANE3);
	one = fe_mul(permute(v, _mm256_xor_si256(abdc, swap_points)),
	    permute(v, _mm256_xor_si256(abab, swap_points)));
	est = sums(one, LANE0 | LANE1 | LANE3);
	two = fe_mul(est, blend(LANE2 | LANE3, f->layer2, est));
	left = blend(LANE1, one, est);
	left = blend(LANE2 | LANE3, left, two);
	EACH (i, 0, FE_LIMBS) {
		right.limb[i] = _mm256_permute4x64_epi64(
		    one.limb[i], _MM_SHUFFLE(3, 2, 0, 1)); /* BB, AA */
		right.limb[i] = _mm256_mask_add_epi64(
		    right.limb[i], LANE1, right.limb[i], two.limb[i]);
	}
	right = blend(LANE2 | LANE3, fe_carry(right), f->layer3);
	return fe_mul(left, right);
}

/* The element whose lanes are the numbers given, lane 0 first. */
IFMA static fe_t
constants(const uint64_t lane0[FE_LIMBS], const uint64_t lane1[FE_LIMBS],
    const uint64_t lane2[FE_LIMBS], const uint64_t lane3[FE_LIMBS])
{
	fe_t r;

	EACH (i, 0, FE_LIMBS)
		r.limb[i] =
		    _mm256_set_epi64x((long long)lane3[i], (long long)lane2[i],
			(long long)lane1[i], (long long)lane0[i]);
	return r;
}

IFMA void
x25519_ifma_one(uint8_t *out, const uint8_t *scalar, const uint8_t *point)
{
	static const uint64_t zero[FE_LIMBS] = {0}, unit[FE_LIMBS] = {1},
			      a24[FE_LIMBS] = {121665};
	_Alignas(32) uint64_t lanes[FE_LIMBS][LANES];
	uint64_t x1[FE_LIMBS], limb[FE_LIMBS], before = 0;
	uint8_t n[X25519_SIZE];
	struct factors f;
	fe_t v, z;

	memcpy(n, scalar, sizeof(n));
	n[0] &= 248;
	n[31] = (uint8_t)((n[31] & 127) | 64);
	x25519_unpack(x1, point);
	f.layer2 = constants(unit, a24, zero, zero);
	f.layer3 = constants(zero, zero, unit, x1);
	v = constants(unit, zero, x1, unit);
	for (int t = 254; t >= 0; t--) {
		uint64_t bit = n[t / 8] >> t % 8 & 1;
		v = step(v, fe_word((bit ^ before) << 1), &f);
		before = bit;
	}
	z = fe_invert(permute(v, fe_word(1)));
	v = fe_mul(v, z);
	EACH (i, 0, FE_LIMBS)
		_mm256_store_si256((vec_t *)lanes[i], v.limb[i]);
	EACH (i, 0, FE_LIMBS)
		limb[i] = lanes[i][0];
	x25519_pack(out, limb);
	wipe(n, sizeof(n));
	wipe(lanes, sizeof(lanes));
	wipe(limb, sizeof(limb));
}

#endif
