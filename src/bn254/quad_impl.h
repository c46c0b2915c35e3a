/* bn254/quad_impl.h: four elements of Fp2 side by side, for one proof on
 * AVX-512 IFMA.
 *
 * A quad is a lane_t whose lanes 2s and 2s + 1 hold the two halves of the
 * element in slot s. It is tight, as in fe_lanes_impl.h, unless said. With
 * dup0(a) = (a0, a0), dup1(a) = (a1, a1) and swap(b) = (b1, b0) in each slot,
 *
 *	a b = dup0(a) b -+ dup1(a) swap(b),	minus in the even lanes,
 *
 * so four products in Fp2 are two of eight lanes, and sums of products need
 * one reduction. The first factor comes as its two duplicates (struct twice),
 * the second with its swap (struct form). Private to the folder.
 */
#ifndef BN254_QUAD_IMPL_H
#define BN254_QUAD_IMPL_H

#include "bn254/fe_lanes_impl.h"

typedef lane_t fe2x4_t;

#define QUAD_EVEN ((lane_mask_t)0x55)
#define QUAD_ODD ((lane_mask_t)0xaa)

/* The lanes of slot S. */
#define QUAD_SLOT(S) ((lane_mask_t)(3 << 2 * (S)))

/* A first factor: the c0 and the c1 of each slot, twice. */
struct twice {
	lane_t c0, c1;
};

/* A second factor, and it with the halves of each slot changed over. */
struct form {
	lane_t b, swap;
};

/* A sum of products: those of dup0, those of dup1. */
struct quad_sum {
	lane_wide_t plus, minus;
};

/* Lanes from two sources: 0 to 7 are those of the first, 8 to 15 those of the
 * second. QUAD_FROM says it in slots, 0 to 7. */
#define QUAD_FROM(A, B, C, D)                                                  \
	_mm512_setr_epi64(2 * (A), 2 * (A) + 1, 2 * (B), 2 * (B) + 1, 2 * (C), \
	    2 * (C) + 1, 2 * (D), 2 * (D) + 1)

LANE_INLINE void
quad_gather(fe2x4_t *r, const fe2x4_t *a, const fe2x4_t *b, __m512i from)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		r->l[i] = _mm512_permutex2var_epi64(a->l[i], from, b->l[i]);
}

/* The lanes of MASK from A, by FROM; the others stay. */
LANE_INLINE void
quad_merge(fe2x4_t *r, const fe2x4_t *a, lane_mask_t mask, __m512i from)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		r->l[i] =
		    _mm512_mask_permutexvar_epi64(r->l[i], mask, from, a->l[i]);
}

LANE_INLINE void
quad_load(fe2x4_t *r, const uint64_t in[static 5][LANES])
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		r->l[i] = _mm512_load_si512(in[i]);
}

LANE_INLINE void
quad_swap(fe2x4_t *r, const fe2x4_t *a)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++)
		r->l[i] = _mm512_shuffle_epi32(a->l[i], _MM_PERM_BADC);
}

LANE_INLINE void
quad_form(struct form *f, const fe2x4_t *a)
{
	f->b = *a;
	quad_swap(&f->swap, a);
}

LANE_INLINE void
quad_twice(struct twice *t, const fe2x4_t *a)
{
	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		t->c0.l[i] = _mm512_unpacklo_epi64(a->l[i], a->l[i]);
		t->c1.l[i] = _mm512_unpackhi_epi64(a->l[i], a->l[i]);
	}
}

/* Slot S of a quad in memory, in all slots. */
LANE_INLINE void
quad_broadcast(struct twice *t, const fe2x4_t *a, int s)
{
	const long long *lane = (const void *)a->l;

	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		t->c0.l[i] = _mm512_set1_epi64(lane[LANES * i + 2 * s]);
		t->c1.l[i] = _mm512_set1_epi64(lane[LANES * i + 2 * s + 1]);
	}
}

LANE_INLINE void
quad_sum_zero(struct quad_sum *s)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++)
		s->plus.c[i] = s->minus.c[i] = _mm512_setzero_si512();
}

LANE_INLINE void
quad_mul_add(struct quad_sum *s, const struct twice *a, const struct form *b)
{
	lane_wide_mul_add(&s->plus, &a->c0, &b->b);
	lane_wide_mul_add(&s->minus, &a->c1, &b->swap);
}

LANE_INLINE void
quad_close(lane_wide_t *w, const struct quad_sum *s)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++) {
		__m512i t = _mm512_add_epi64(s->plus.c[i], s->minus.c[i]);
		w->c[i] = _mm512_mask_sub_epi64(
		    t, QUAD_EVEN, s->plus.c[i], s->minus.c[i]);
	}
}

LANE_INLINE void
quad_finish(fe2x4_t *r, const struct quad_sum *s)
{
	lane_wide_t w;
	lane_t t;

	quad_close(&w, s);
	lane_wide_redc(&t, &w);
	fe_reduce_signed(r, &t);
}

/* r = a b, slot by slot; each may be the sum of two. */
LANE_INLINE void
quad_mul(fe2x4_t *r, const fe2x4_t *a, const fe2x4_t *b)
{
	struct quad_sum s;
	struct twice t;
	struct form f;

	quad_twice(&t, a);
	quad_form(&f, b);
	quad_sum_zero(&s);
	quad_mul_add(&s, &t, &f);
	quad_finish(r, &s);
}

/* t = a^2 not reduced: (a0 + a1)(a0 - a1 + 2p) and 2 a0 a1, within 0 and 4.3
 * units^2. */
LANE_INLINE void
quad_sqr_wide(lane_wide_t *w, const fe2x4_t *a)
{
	lane_t x, y;

	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		__m512i swap = _mm512_shuffle_epi32(a->l[i], _MM_PERM_BADC);
		__m512i c0 = _mm512_unpacklo_epi64(a->l[i], a->l[i]);

		x.l[i] = _mm512_add_epi64(c0, swap);
		y.l[i] = _mm512_mask_sub_epi64(a->l[i], QUAD_EVEN,
		    _mm512_add_epi64(a->l[i], lane_word(2 * lane_modulus[i])),
		    swap);
	}
	lane_carry(&x, &x);
	lane_carry(&y, &y);
	lane_wide_mul(w, &x, &y);
}

/* r = (9 + i) a: 9 a0 - a1 + 2p and 9 a1 + a0, below 18 p. */
LANE_INLINE void
quad_mul_xi(fe2x4_t *r, const fe2x4_t *a)
{
	lane_t t;

	LANE_UNROLL
	for (int i = 0; i < 5; i++) {
		__m512i nine =
		    _mm512_add_epi64(a->l[i], _mm512_slli_epi64(a->l[i], 3));
		__m512i swap = _mm512_shuffle_epi32(a->l[i], _MM_PERM_BADC);

		t.l[i] = _mm512_mask_sub_epi64(_mm512_add_epi64(nine, swap),
		    QUAD_EVEN,
		    _mm512_add_epi64(nine, lane_word(2 * lane_modulus[i])),
		    swap);
	}
	fe_reduce_large(r, &t);
}

/* w = a + (9 + i) b */
LANE_INLINE void
quad_wide_add_xi(lane_wide_t *w, const lane_wide_t *a, const lane_wide_t *b)
{
	LANE_UNROLL
	for (int i = 0; i < 10; i++) {
		__m512i nine =
		    _mm512_add_epi64(b->c[i], _mm512_slli_epi64(b->c[i], 3));
		__m512i swap = _mm512_shuffle_epi32(b->c[i], _MM_PERM_BADC);
		__m512i t = _mm512_add_epi64(nine, a->c[i]);

		w->c[i] = _mm512_mask_sub_epi64(
		    _mm512_add_epi64(t, swap), QUAD_EVEN, t, swap);
	}
}

/* r = the conjugate in each slot. */
LANE_INLINE void
quad_conj(fe2x4_t *r, const fe2x4_t *a)
{
	fe_t n;

	fe_neg(&n, a);
	*r = *a;
	lane_select(r, &n, QUAD_ODD);
}

#endif
