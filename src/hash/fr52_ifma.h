/* hash/fr52_ifma.h: the scalar field of BN254 in the eight lanes of AVX-512
 * registers, with IFMA. Private to poseidon_ifma.c.
 *
 * An element is five limbs of 52 bits, in Montgomery form with 2^260: VPMADD52
 * multiplies the low 52 bits of two lanes and adds the low or the high half of
 * the product to a third lane. 2^260 > 80 r, so sums need no reduction: each
 * value is below a small multiple of r, stated in r where it is made:
 *
 *	a product of x < a r and y < b r, and sums of such products with the
 *	ab added up to s, come out of fr8_reduce below (s / 80 + 1) r
 *
 * Limbs are below 2^52 between functions, and all functions do the same in
 * each lane without a branch: time does not depend on the values.
 */
#ifndef HASH_FR52_IFMA_H
#define HASH_FR52_IFMA_H

#include <immintrin.h>
#include <stdint.h>

#define IFMA __attribute__((target("avx512f,avx512vl,avx512dq,avx512ifma")))
#define IFMA_INLINE IFMA __attribute__((always_inline)) static inline

/* A loop that is always unrolled, so that limbs live in registers. */
#define EACH(I, FROM, TO) \
	_Pragma("GCC unroll 10") for (int I = (FROM); I < (TO); I++)

#define FR8_LIMBS 5
#define FR8_MASK ((UINT64_C(1) << 52) - 1)

typedef struct {
	__m512i limb[FR8_LIMBS];
} fr8_t;

/* A sum of products before its reduction: columns of weight 2^(52 k). */
typedef struct {
	__m512i column[2 * FR8_LIMBS];
} fr8_wide_t;

/* r, and -1 / r mod 2^52. */
static const uint64_t fr52_modulus[FR8_LIMBS] = {0x1f593f0000001,
    0x4879b9709143e, 0x181585d2833e8, 0xa029b85045b68, 0x030644e72e131};
#define FR52_INVERSE UINT64_C(0x1f593efffffff)

IFMA_INLINE __m512i
fr8_word(uint64_t x)
{
	return _mm512_set1_epi64((long long)x);
}

/* The same constant in each lane. */
IFMA_INLINE fr8_t
fr8_constant(const uint64_t c[static FR8_LIMBS])
{
	fr8_t r;

	EACH (i, 0, FR8_LIMBS)
		r.limb[i] = fr8_word(c[i]);
	return r;
}

/* Bring limbs of less than 2^63 below 2^52; the value is below 2^260. */
IFMA_INLINE fr8_t
fr8_carry(fr8_t a)
{
	const __m512i mask = fr8_word(FR8_MASK);

	EACH (i, 0, FR8_LIMBS - 1) {
		a.limb[i + 1] = _mm512_add_epi64(
		    a.limb[i + 1], _mm512_srli_epi64(a.limb[i], 52));
		a.limb[i] = _mm512_and_si512(a.limb[i], mask);
	}
	return a;
}

IFMA_INLINE fr8_t
fr8_add(fr8_t a, fr8_t b)
{
	EACH (i, 0, FR8_LIMBS)
		a.limb[i] = _mm512_add_epi64(a.limb[i], b.limb[i]);
	return fr8_carry(a);
}

IFMA_INLINE fr8_wide_t
fr8_wide_zero(void)
{
	fr8_wide_t w;

	EACH (i, 0, 2 * FR8_LIMBS)
		w.column[i] = fr8_word(0);
	return w;
}

/* w + a b. A column takes less than 10 * 2^52 of one product. */
IFMA_INLINE fr8_wide_t
fr8_mul_add(fr8_wide_t w, fr8_t a, fr8_t b)
{
	EACH (i, 0, FR8_LIMBS) {
		EACH (j, 0, FR8_LIMBS) {
			w.column[i + j] = _mm512_madd52lo_epu64(
			    w.column[i + j], a.limb[i], b.limb[j]);
			w.column[i + j + 1] = _mm512_madd52hi_epu64(
			    w.column[i + j + 1], a.limb[i], b.limb[j]);
		}
	}
	return w;
}

/* a^2: the mixed products once, then doubled. */
IFMA_INLINE fr8_wide_t
fr8_square(fr8_t a)
{
	fr8_wide_t w = fr8_wide_zero();

	EACH (i, 0, FR8_LIMBS) {
		EACH (j, i + 1, FR8_LIMBS) {
			w.column[i + j] = _mm512_madd52lo_epu64(
			    w.column[i + j], a.limb[i], a.limb[j]);
			w.column[i + j + 1] = _mm512_madd52hi_epu64(
			    w.column[i + j + 1], a.limb[i], a.limb[j]);
		}
	}
	EACH (k, 1, 2 * FR8_LIMBS)
		w.column[k] = _mm512_slli_epi64(w.column[k], 1);
	EACH (i, 0, FR8_LIMBS) {
		w.column[2 * i] = _mm512_madd52lo_epu64(
		    w.column[2 * i], a.limb[i], a.limb[i]);
		w.column[2 * i + 1] = _mm512_madd52hi_epu64(
		    w.column[2 * i + 1], a.limb[i], a.limb[i]);
	}
	return w;
}

/* w / 2^260 modulo r, for w below 2^260 r and columns below 2^62: in each of
 * five steps the multiple q of r is added that makes the lowest column end in
 * 52 zeros (Montgomery, Math. Comp. 44, 1985). */
IFMA_INLINE fr8_t
fr8_reduce(fr8_wide_t w)
{
	const __m512i inverse = fr8_word(FR52_INVERSE);
	const __m512i zero = fr8_word(0);
	fr8_t r;

	EACH (i, 0, FR8_LIMBS) {
		__m512i q = _mm512_madd52lo_epu64(zero, w.column[i], inverse);
		EACH (j, 0, FR8_LIMBS) {
			__m512i m = fr8_word(fr52_modulus[j]);
			w.column[i + j] =
			    _mm512_madd52lo_epu64(w.column[i + j], q, m);
			w.column[i + j + 1] =
			    _mm512_madd52hi_epu64(w.column[i + j + 1], q, m);
		}
		w.column[i + 1] = _mm512_add_epi64(
		    w.column[i + 1], _mm512_srli_epi64(w.column[i], 52));
	}
	EACH (i, 0, FR8_LIMBS)
		r.limb[i] = w.column[FR8_LIMBS + i];
	return fr8_carry(r);
}

IFMA_INLINE fr8_t
fr8_mul(fr8_t a, fr8_t b)
{
	return fr8_reduce(fr8_mul_add(fr8_wide_zero(), a, b));
}

IFMA_INLINE fr8_t
fr8_sqr(fr8_t a)
{
	return fr8_reduce(fr8_square(a));
}

#endif
