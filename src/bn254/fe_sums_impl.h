/* bn254/fe_sums_impl.h: sums of more than two elements, for kernels that reduce
 * after each addition. Lanes reduce once. Private to the folder.
 */
#ifndef BN254_FE_SUMS_IMPL_H
#define BN254_FE_SUMS_IMPL_H

/* r = 3a; r is not a. */
static inline void
fe_triple(fe_t *r, const fe_t *a)
{
	fe_add(r, a, a);
	fe_add(r, r, a);
}

/* r = 4a */
static inline void
fe_quadruple(fe_t *r, const fe_t *a)
{
	fe_add(r, a, a);
	fe_add(r, r, r);
}

/* r = a - b - c */
static inline void
fe_sub_two(fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c)
{
	fe_t t;

	fe_sub(&t, a, b);
	fe_sub(r, &t, c);
}

/* r = a - 2b */
static inline void
fe_sub_twice(fe_t *r, const fe_t *a, const fe_t *b)
{
	fe_sub_two(r, a, b, b);
}

/* r = a - 8b */
static inline void
fe_sub_eight(fe_t *r, const fe_t *a, const fe_t *b)
{
	fe_t t;

	fe_quadruple(&t, b);
	fe_add(&t, &t, &t);
	fe_sub(r, a, &t);
}

/* r = a + b - c */
static inline void
fe_add_sub(fe_t *r, const fe_t *a, const fe_t *b, const fe_t *c)
{
	fe_t t;

	fe_add(&t, a, b);
	fe_sub(r, &t, c);
}

/* r = 3a - b */
static inline void
fe_three_sub(fe_t *r, const fe_t *a, const fe_t *b)
{
	fe_t t;

	fe_triple(&t, a);
	fe_sub(r, &t, b);
}

/* r = a + 3b */
static inline void
fe_add_three(fe_t *r, const fe_t *a, const fe_t *b)
{
	fe_t t;

	fe_triple(&t, b);
	fe_add(r, a, &t);
}

#endif
