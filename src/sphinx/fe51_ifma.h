/* sphinx/fe51_ifma.h: GF(2^255 - 19) in the lanes of a vector register, with
 * AVX-512 IFMA. Private to x25519_ifma8.c and x25519_ifma1.c.
 *
 * The file that includes this first defines VEC(NAME) as the intrinsics of its
 * register width and vec_t as its type; each function then works on as many
 * elements as the register has 64-bit lanes, all in the same way and without a
 * branch, so time does not depend on the values.
 *
 * An element is five limbs of radix 2^51. VPMADD52 multiplies the low 52 bits
 * of two lanes and adds the low or the high half of the product to a third, so
 * there are three kinds of limbs:
 *
 *	tight  below 2^51 + 2^15	what fe_mul, fe_sqr and fe_carry return
 *	loose  below 2^52		what fe_mul and fe_sqr can take
 *	wide   below 2^54		sums and differences: fe_carry next
 *
 * The product's halves are split at bit 52 and limbs at bit 51, so a high half
 * counts twice in the next column: 2^(51k + 52) = 2 * 2^(51(k+1)).
 */
#ifndef SPHINX_FE51_IFMA_H
#define SPHINX_FE51_IFMA_H

#include <immintrin.h>
#include <stdint.h>

#define IFMA __attribute__((target("avx512f,avx512vl,avx512dq,avx512ifma")))
#define IFMA_INLINE IFMA __attribute__((always_inline)) static inline

/* A loop that is always unrolled, so that limbs live in registers. */
#define EACH(I, FROM, TO) \
	_Pragma("GCC unroll 10") for (int I = (FROM); I < (TO); I++)

#define FE_LIMBS 5
#define FE_MASK ((UINT64_C(1) << 51) - 1)

typedef struct {
	vec_t limb[FE_LIMBS];
} fe_t;

IFMA_INLINE vec_t
fe_word(uint64_t x)
{
	return VEC_WORD((long long)x);
}

/* One round of carries, all limbs at once; 2^255 = 19 closes the circle.
 * In: below 2^63. Out: below 2^51 + 2^17; tight if IN is wide or a product. */
IFMA_INLINE fe_t
fe_carry(fe_t a)
{
	const vec_t mask = fe_word(FE_MASK);
	vec_t up[FE_LIMBS];
	fe_t r;

	EACH (i, 0, FE_LIMBS) {
		up[i] = VEC(srli_epi64)(a.limb[i], 51);
		r.limb[i] = VEC_AND(a.limb[i], mask);
	}
	up[4] = VEC(mul_epu32)(up[4], fe_word(19));
	r.limb[0] = VEC(add_epi64)(r.limb[0], up[4]);
	EACH (i, 1, FE_LIMBS)
		r.limb[i] = VEC(add_epi64)(r.limb[i], up[i - 1]);
	return r;
}

/* a + b. In: tight. Out: tight. */
IFMA_INLINE fe_t
fe_add(fe_t a, fe_t b)
{
	EACH (i, 0, FE_LIMBS)
		a.limb[i] = VEC(add_epi64)(a.limb[i], b.limb[i]);
	return fe_carry(a);
}

/* a - b, as a + 2p - b, whose limbs stay positive. In: tight. Out: tight. */
IFMA_INLINE fe_t
fe_sub(fe_t a, fe_t b)
{
	const vec_t two_p0 = fe_word(2 * (FE_MASK - 18));
	const vec_t two_p = fe_word(2 * FE_MASK);

	EACH (i, 0, FE_LIMBS) {
		a.limb[i] = VEC(add_epi64)(a.limb[i], i == 0 ? two_p0 : two_p);
		a.limb[i] = VEC(sub_epi64)(a.limb[i], b.limb[i]);
	}
	return fe_carry(a);
}

/* The ten columns lo[k] + 2 * hi[k - 1] modulo 2^255 - 19.
 * In: lo, hi below 5 * 2^52, so a column is below 2^56 and the sum of one and
 * 19 times another below 2^60.4: the carries out of it are below 2^9.4. */
IFMA_INLINE fe_t
fe_fold(const vec_t lo[9], const vec_t hi[9])
{
	const vec_t nineteen = fe_word(19);
	vec_t column[10];
	fe_t r;

	column[0] = lo[0];
	EACH (k, 1, 9)
		column[k] =
		    VEC(add_epi64)(lo[k], VEC(slli_epi64)(hi[k - 1], 1));
	column[9] = VEC(slli_epi64)(hi[8], 1);
	EACH (k, 0, FE_LIMBS)
		r.limb[k] = VEC(add_epi64)(
		    column[k], VEC(mullo_epi64)(column[k + 5], nineteen));
	return fe_carry(r);
}

/* a * b. In: loose. Out: tight. */
IFMA_INLINE fe_t
fe_mul(fe_t a, fe_t b)
{
	vec_t lo[9], hi[9];

	EACH (k, 0, 9)
		lo[k] = hi[k] = fe_word(0);
	EACH (i, 0, FE_LIMBS) {
		EACH (j, 0, FE_LIMBS) {
			lo[i + j] = VEC(madd52lo_epu64)(
			    lo[i + j], a.limb[i], b.limb[j]);
			hi[i + j] = VEC(madd52hi_epu64)(
			    hi[i + j], a.limb[i], b.limb[j]);
		}
	}
	return fe_fold(lo, hi);
}

/* a^2: the ten mixed products once, then doubled (a doubled limb would not
 * fit 52 bits). In: loose. Out: tight. */
IFMA_INLINE fe_t
fe_sqr(fe_t a)
{
	vec_t lo[9], hi[9];

	EACH (k, 0, 9)
		lo[k] = hi[k] = fe_word(0);
	EACH (i, 0, FE_LIMBS) {
		EACH (j, i + 1, FE_LIMBS) {
			lo[i + j] = VEC(madd52lo_epu64)(
			    lo[i + j], a.limb[i], a.limb[j]);
			hi[i + j] = VEC(madd52hi_epu64)(
			    hi[i + j], a.limb[i], a.limb[j]);
		}
	}
	EACH (k, 1, 8) {
		lo[k] = VEC(slli_epi64)(lo[k], 1);
		hi[k] = VEC(slli_epi64)(hi[k], 1);
	}
	EACH (i, 0, FE_LIMBS) {
		lo[2 * i] =
		    VEC(madd52lo_epu64)(lo[2 * i], a.limb[i], a.limb[i]);
		hi[2 * i] =
		    VEC(madd52hi_epu64)(hi[2 * i], a.limb[i], a.limb[i]);
	}
	return fe_fold(lo, hi);
}

/* a + n * b for a number N below 2^17. In: tight. Out: tight. */
IFMA_INLINE fe_t
fe_add_small(fe_t a, fe_t b, uint64_t n)
{
	const vec_t factor = fe_word(n), zero = fe_word(0);
	vec_t up;

	EACH (i, 0, FE_LIMBS)
		a.limb[i] = VEC(madd52lo_epu64)(a.limb[i], b.limb[i], factor);
	EACH (i, 0, FE_LIMBS) {
		up = VEC(madd52hi_epu64)(zero, b.limb[i], factor);
		up = VEC(slli_epi64)(up, 1);
		if (i == 4)
			up = VEC(mul_epu32)(up, fe_word(19));
		a.limb[(i + 1) % FE_LIMBS] =
		    VEC(add_epi64)(a.limb[(i + 1) % FE_LIMBS], up);
	}
	return fe_carry(a);
}

/* a^(2^n). */
IFMA_INLINE fe_t
fe_sqr_times(fe_t a, int n)
{
	for (int i = 0; i < n; i++)
		a = fe_sqr(a);
	return a;
}

/* 1 / a = a^(p - 2), and 0 for 0: 2^255 - 21 = (2^250 - 1) * 2^5 + 11. Names
 * as in Bernstein's curve25519 paper: z_N_0 is a^(2^N - 1). */
IFMA static fe_t
fe_invert(fe_t a)
{
	fe_t a2 = fe_sqr(a);
	fe_t a9 = fe_mul(fe_sqr_times(a2, 2), a);
	fe_t a11 = fe_mul(a9, a2);
	fe_t z_5_0 = fe_mul(fe_sqr(a11), a9);
	fe_t z_10_0 = fe_mul(fe_sqr_times(z_5_0, 5), z_5_0);
	fe_t z_20_0 = fe_mul(fe_sqr_times(z_10_0, 10), z_10_0);
	fe_t z_40_0 = fe_mul(fe_sqr_times(z_20_0, 20), z_20_0);
	fe_t z_50_0 = fe_mul(fe_sqr_times(z_40_0, 10), z_10_0);
	fe_t z_100_0 = fe_mul(fe_sqr_times(z_50_0, 50), z_50_0);
	fe_t z_200_0 = fe_mul(fe_sqr_times(z_100_0, 100), z_100_0);
	fe_t z_250_0 = fe_mul(fe_sqr_times(z_200_0, 50), z_50_0);

	return fe_mul(fe_sqr_times(z_250_0, 5), a11);
}

#endif
