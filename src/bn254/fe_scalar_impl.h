/* bn254/fe_scalar_impl.h: elements for the kernels that work on one at a time.
 *
 * The including file defines, for p, on limbs:
 *
 *   core_mul(r, a, b)    Montgomery product below p, for ab < 4p^2
 *   core_wide(w, a, b)   the product of two 256-bit integers, eight limbs
 *   core_redc(r, w)      w / 2^256 mod p, below p, for w < p 2^256
 *   core_add, core_sub   modulo p
 *   core_wide_add        of products, modulo p 2^256
 *   core_wide_sub
 *   core_reduce_once     modulo p, for what is below 2p
 *   core_supported()     this processor can do it
 *
 * fe_t is fp_t, reduced. few_t is a product not yet reduced, below p 2^256 =
 * 5.29 p^2: see tower_impl.h for what may be done with it. Private to the
 * folder.
 */
#ifndef BN254_FE_SCALAR_IMPL_H
#define BN254_FE_SCALAR_IMPL_H

#include "base/verify.h"
#include "bn254/fp2.h"
#include "bn254/mont_impl.h"

typedef fp_t fe_t;
typedef fp2_t fe2_t;

typedef struct {
	uint64_t l[8];
} few_t;

/* How many lines go into f at a time. */
#define FE_LINES_TOGETHER 1

#define FE_CROSS_INLINE inline /* see fe2_steps_impl.h */

static inline bool
fe_reduced(const uint64_t a[static 4])
{
	uint64_t t[4];

	return limbs_sub(t, a, modulus_p.m) == 1;
}

/* A constant of constants.h, in this kernel's form. */
#define TOWER(NAME) NAME

static inline void
fe_set(fe_t *r, const fp_t *a)
{
	*r = *a;
}

static inline void
fe_set_one(fe_t *r)
{
	*r = fp_one;
}

static inline void
fe_set_zero(fe_t *r)
{
	*r = fp_zero;
}

static inline void
fe2_set(fe2_t *r, const fp2_t *a)
{
	*r = *a;
}

static inline bool
fe_is_zero(const fe_t *a)
{
	return limbs_is_zero(a->l);
}

static inline void
fe_add(fe_t *r, const fe_t *a, const fe_t *b)
{
	VERIFY(fe_reduced(a->l) && fe_reduced(b->l));
	core_add(r->l, a->l, b->l);
}

static inline void
fe_sub(fe_t *r, const fe_t *a, const fe_t *b)
{
	VERIFY(fe_reduced(a->l) && fe_reduced(b->l));
	core_sub(r->l, a->l, b->l);
}

static inline void
fe_neg(fe_t *r, const fe_t *a)
{
	VERIFY(fe_reduced(a->l));
	core_sub(r->l, fp_zero.l, a->l);
}

#include "bn254/fe_sums_impl.h"

/* r = a + b, below 2p, or up to 4p of two such: only ever a factor. */
static inline void
fe_sum(fe_t *r, const fe_t *a, const fe_t *b)
{
	uint64_t carry = limbs_add(r->l, a->l, b->l);

	VERIFY(carry == 0);
	(void)carry;
}

/* r = (top 2^256 + h) mod p for values below 12p. The quotient is estimated
 * from the bits above 2^240: 5416 / 2^26 is just below 1 / (p / 2^240), so it
 * is at most 1 too small. */
static inline void
fe_reduce_small(uint64_t r[static 4], const uint64_t h[static 4], uint64_t top)
{
	uint64_t q = (((top << 16) | (h[3] >> 48)) * 5416) >> 26;
	uint64_t t[4], c = 0;

	VERIFY(q <= 11);
	t[0] = mul_add(&c, 0, q, modulus_p.m[0], 0);
	t[1] = mul_add(&c, 0, q, modulus_p.m[1], c);
	t[2] = mul_add(&c, 0, q, modulus_p.m[2], c);
	t[3] = mul_add(&c, 0, q, modulus_p.m[3], c);
	top -= c + limbs_sub(t, h, t);
	VERIFY(top == 0);
	core_reduce_once(r, t);
	VERIFY(fe_reduced(r));
}

/* t = 9a + carry, five limbs. */
static inline uint64_t
limbs_nine(uint64_t t[static 4], const uint64_t a[static 4], uint64_t carry)
{
	t[0] = mul_add(&carry, 0, a[0], 9, carry);
	t[1] = mul_add(&carry, 0, a[1], 9, carry);
	t[2] = mul_add(&carry, 0, a[2], 9, carry);
	t[3] = mul_add(&carry, 0, a[3], 9, carry);
	return carry;
}

/* r = 9a + b and r = 9a - b: what a product with xi = 9 + i is made of. */
static inline void
fe_nine_add(fe_t *r, const fe_t *a, const fe_t *b)
{
	uint64_t t[4];
	uint64_t top = limbs_nine(t, a->l, 0);

	top += limbs_add(t, t, b->l);
	fe_reduce_small(r->l, t, top);
}

static inline void
fe_nine_sub(fe_t *r, const fe_t *a, const fe_t *b)
{
	uint64_t t[4], n[4];
	uint64_t top = limbs_nine(t, a->l, 0);

	limbs_sub(n, modulus_p.m, b->l);
	top += limbs_add(t, t, n);
	fe_reduce_small(r->l, t, top);
}

static inline void
fe_mul(fe_t *r, const fe_t *a, const fe_t *b)
{
	core_mul(r->l, a->l, b->l);
	VERIFY(fe_reduced(r->l));
}

static inline void
fe_sqr(fe_t *r, const fe_t *a)
{
	fe_mul(r, a, a);
}

static inline void
fe_inv(fe_t *r, const fe_t *a)
{
	fp_inv_var(r, a);
}

static inline void
few_mul(few_t *w, const fe_t *a, const fe_t *b)
{
	core_wide(w->l, a->l, b->l);
}

/* Below p 2^256? */
static inline bool
few_reduced(const few_t *w)
{
	return fe_reduced(w->l + 4);
}

/* w = a + b modulo p 2^256: the upper half modulo p. */
static inline void
few_add(few_t *w, const few_t *a, const few_t *b)
{
	VERIFY(few_reduced(a) && few_reduced(b));
	core_wide_add(w->l, a->l, b->l);
	VERIFY(few_reduced(w));
}

/* w = a - b modulo p 2^256. */
static inline void
few_sub(few_t *w, const few_t *a, const few_t *b)
{
	VERIFY(few_reduced(a) && few_reduced(b));
	core_wide_sub(w->l, a->l, b->l);
	VERIFY(few_reduced(w));
}

/* Is w at least a + b? */
static inline bool
few_covers(const few_t *w, const few_t *a, const few_t *b)
{
	uint64_t t[8];
	carry_t borrow = limbs_subb(t, w->l, a->l, 0);
	carry_t more;

	borrow = limbs_subb(t + 4, w->l + 4, a->l + 4, borrow);
	more = limbs_subb(t, t, b->l, 0);
	more = limbs_subb(t + 4, t + 4, b->l + 4, more);
	return borrow == 0 && more == 0;
}

/* w -= a + b where that is not negative. */
static inline void
few_sub_two(few_t *w, const few_t *a, const few_t *b)
{
	VERIFY(few_covers(w, a, b));
	core_wide_sub_two(w->l, a->l, b->l);
}

/* w = 9a + b + c and w = 9a - b + c modulo p 2^256; w may be c. */
static inline void
few_nine_add(few_t *w, const few_t *a, const few_t *b, const few_t *c)
{
	uint64_t lo[4], hi[4];
	uint64_t top = limbs_nine(lo, a->l, 0);
	carry_t carry;

	top = limbs_nine(hi, a->l + 4, top);
	carry = limbs_addc(lo, lo, b->l, 0);
	top += limbs_addc(hi, hi, b->l + 4, carry);
	carry = limbs_addc(w->l, lo, c->l, 0);
	top += limbs_addc(hi, hi, c->l + 4, carry);
	fe_reduce_small(w->l + 4, hi, top);
}

static inline void
few_nine_sub(few_t *w, const few_t *a, const few_t *b, const few_t *c)
{
	uint64_t lo[4], hi[4];
	uint64_t top = limbs_nine(lo, a->l, 0);
	carry_t carry, borrow;

	top = limbs_nine(hi, a->l + 4, top);
	/* + p 2^256, so that it is not negative. */
	top += limbs_add(hi, hi, modulus_p.m);
	borrow = limbs_subb(lo, lo, b->l, 0);
	top -= limbs_subb(hi, hi, b->l + 4, borrow);
	carry = limbs_addc(w->l, lo, c->l, 0);
	top += limbs_addc(hi, hi, c->l + 4, carry);
	fe_reduce_small(w->l + 4, hi, top);
}

static inline void
few_redc(fe_t *r, const few_t *w)
{
	VERIFY(few_reduced(w));
	core_redc(r->l, w->l);
	VERIFY(fe_reduced(r->l));
}

static inline void
few_redc_two(fe_t *r, fe_t *s, const few_t *v, const few_t *w)
{
	few_redc(r, v);
	few_redc(s, w);
}

/* The one lane of a kernel of single elements, see weigh_impl.h, is never
 * idle. */
#define LANES 1

typedef struct {
	char none;
} fe_idle_t;

static inline void
fe2_idle_one(fe2_t *r, fe_idle_t idle)
{
	(void)r;
	(void)idle;
}

static inline void
fe2_idle_zero(fe2_t *r, fe_idle_t idle)
{
	(void)r;
	(void)idle;
}

static inline void
fe_load(fe_t *r, const fp_t *const in[static LANES])
{
	*r = *in[0];
}

static inline void
fe_store(fp_t out[static LANES], const fe_t *a)
{
	out[0] = *a;
}

static inline void
fe_pick(fe_t *r, const fe_t *table, const uint8_t index[static LANES])
{
	*r = table[index[0]];
}

static inline void
fe_negate_if(fe_t *r, const uint8_t flag[static LANES])
{
	if (flag[0])
		fe_neg(r, r);
}

#endif
