/* X25519 for eight scalars and eight points, one pair a lane.
 *
 * The Montgomery ladder of RFC 7748, section 5, with its names, on vectors of
 * eight elements. A lane's scalar bit decides whether that lane swaps, through
 * a mask register: no branch, no address depends on it. 2,045 products for
 * eight results; the machine's limit is 50 VPMADD52 a product.
 */
#include "sphinx/x25519.h"

#include "base/bytes.h"
#include "base/wipe.h"

#if defined(__x86_64__)

#include <immintrin.h>

typedef __m512i vec_t;
#define VEC(NAME) _mm512_##NAME
#define VEC_AND _mm512_and_si512
#define VEC_WORD _mm512_set1_epi64

#include "sphinx/fe51_ifma.h"

/* Eight elements as they lie in memory: limb by limb, lane by lane. */
struct lanes {
	_Alignas(64) uint64_t limb[FE_LIMBS][X25519_LANES];
};

IFMA static fe_t
load_points(const x25519_t in[X25519_LANES])
{
	struct lanes m;
	fe_t r;

	for (int lane = 0; lane < X25519_LANES; lane++) {
		uint64_t limb[FE_LIMBS];
		x25519_unpack(limb, in[lane].byte);
		EACH (i, 0, FE_LIMBS)
			m.limb[i][lane] = limb[i];
	}
	EACH (i, 0, FE_LIMBS)
		r.limb[i] = _mm512_load_si512(m.limb[i]);
	return r;
}

IFMA static void
store_points(x25519_t out[X25519_LANES], fe_t a)
{
	struct lanes m;

	EACH (i, 0, FE_LIMBS)
		_mm512_store_si512(m.limb[i], a.limb[i]);
	for (int lane = 0; lane < X25519_LANES; lane++) {
		uint64_t limb[FE_LIMBS];
		EACH (i, 0, FE_LIMBS)
			limb[i] = m.limb[i][lane];
		x25519_pack(out[lane].byte, limb);
		wipe(limb, sizeof(limb));
	}
	wipe(&m, sizeof(m));
}

/* Clamped scalars, as four words a lane. */
IFMA static void
load_scalars(__m512i word[4], const x25519_t in[X25519_LANES])
{
	_Alignas(64) uint64_t w[4][X25519_LANES];

	for (int lane = 0; lane < X25519_LANES; lane++) {
		for (int i = 0; i < 4; i++)
			w[i][lane] = load_le64(in[lane].byte + 8 * i);
		w[0][lane] &= ~UINT64_C(7);
		w[3][lane] &= ~(UINT64_C(1) << 63);
		w[3][lane] |= UINT64_C(1) << 62;
	}
	for (int i = 0; i < 4; i++)
		word[i] = _mm512_load_si512(w[i]);
	wipe(w, sizeof(w));
}

/* Swap the lanes of A and B that MASK names. */
IFMA_INLINE void
swap(__mmask8 mask, fe_t *a, fe_t *b)
{
	EACH (i, 0, FE_LIMBS) {
		vec_t x = a->limb[i], y = b->limb[i];
		a->limb[i] = _mm512_mask_blend_epi64(mask, x, y);
		b->limb[i] = _mm512_mask_blend_epi64(mask, y, x);
	}
}

IFMA void
x25519_ifma_eight(x25519_t out[X25519_LANES],
    const x25519_t scalar[X25519_LANES], const x25519_t point[X25519_LANES])
{
	__m512i word[4];
	__mmask8 swapped = 0;
	fe_t x1 = load_points(point), x2, z2, x3 = x1, z3;

	load_scalars(word, scalar);
	EACH (i, 0, FE_LIMBS)
		z2.limb[i] = x2.limb[i] = z3.limb[i] = fe_word(0);
	x2.limb[0] = z3.limb[0] = fe_word(1);
	for (int t = 254; t >= 0; t--) {
		__mmask8 bits = _mm512_test_epi64_mask(
		    word[t / 64], fe_word(UINT64_C(1) << t % 64));
		swap((__mmask8)(bits ^ swapped), &x2, &x3);
		swap((__mmask8)(bits ^ swapped), &z2, &z3);
		swapped = bits;

		fe_t a = fe_add(x2, z2), b = fe_sub(x2, z2);
		fe_t c = fe_add(x3, z3), d = fe_sub(x3, z3);
		fe_t da = fe_mul(d, a), cb = fe_mul(c, b);
		fe_t aa = fe_sqr(a), bb = fe_sqr(b);
		fe_t e = fe_sub(aa, bb);
		x3 = fe_sqr(fe_add(da, cb));
		z3 = fe_mul(x1, fe_sqr(fe_sub(da, cb)));
		x2 = fe_mul(aa, bb);
		z2 = fe_mul(e, fe_add_small(aa, e, 121665));
	}
	/* Bit 0 of a clamped scalar is 0: nothing is left swapped. */
	store_points(out, fe_mul(x2, fe_invert(z2)));
	wipe(word, sizeof(word));
}

#endif
