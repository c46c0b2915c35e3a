/* tests/unit/toy_zkey.h: a small random circuit, a witness of it, and its
 * proving key, made as a ceremony would but with secrets that the test knows.
 *
 * Signals: 1, public inputs, bits (b b = b), free private inputs, and then one
 * product of two linear combinations of earlier signals each. The file is
 * spelt by hand, so that the reader is tested against the format's description
 * and not against itself.
 */
#ifndef TESTS_TOY_ZKEY_H
#define TESTS_TOY_ZKEY_H

#include "harness.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "bn254/g1.h"
#include "bn254/g2.h"

#define TOY_PUBLIC 2
#define TOY_BITS 24
#define TOY_FREE 10
#define TOY_VARS_MAX 512
#define TOY_ROWS_MAX 512
#define TOY_TERMS 4

struct toy {
	size_t n_vars, n_rows, log; /* rows of the circuit; log of the domain */
	fr_t w[TOY_VARS_MAX];
	bool is_bit[TOY_VARS_MAX];
	uint8_t *file;
	size_t len;

	/* Row i: (sum of a) (sum of b) = w[c]. */
	struct toy_row {
		struct toy_term {
			uint32_t signal;
			fr_t value;
		} a[TOY_TERMS], b[TOY_TERMS];
		size_t n_a, n_b;
		uint32_t c; /* TOY_VARS_MAX: no product, the value 0 */
	} rows[TOY_ROWS_MAX];
};

static inline void
toy_random(fr_t *out)
{
	uint8_t bytes[32];

	test_random_bytes(bytes, sizeof(bytes));
	fr_from_bytes_mod(out, bytes);
}

/* --- the circuit ------------------------------------------------------------ */

static inline void
toy_combine(fr_t *out, const struct toy_term *t, size_t n, const fr_t *w)
{
	fr_t v;

	*out = fr_zero;
	for (size_t i = 0; i < n; i++) {
		fr_mul(&v, &t[i].value, &w[t[i].signal]);
		fr_add(out, out, &v);
	}
}

static inline size_t
toy_random_terms(struct toy_term *t, size_t below)
{
	size_t n = 1 + test_random() % TOY_TERMS;

	for (size_t i = 0; i < n; i++) {
		t[i].signal = (uint32_t)(test_random() % below);
		toy_random(&t[i].value);
	}
	return n;
}

static inline void
toy_circuit(struct toy *t, size_t n_vars)
{
	const size_t bits = 1 + TOY_PUBLIC, first = bits + TOY_BITS + TOY_FREE;
	fr_t a, b;

	CHECK(n_vars > first && n_vars <= TOY_VARS_MAX);
	t->n_vars = n_vars;
	t->w[0] = fr_one;
	t->is_bit[0] = true;
	for (size_t i = 1; i < first; i++) {
		toy_random(&t->w[i]);
		if (i < bits || i >= bits + TOY_BITS)
			continue;
		fr_from_u64(&t->w[i], test_random() & 1);
		t->is_bit[i] = true;
		t->rows[t->n_rows++] =
		    (struct toy_row){.a = {{(uint32_t)i, fr_one}},
			.b = {{(uint32_t)i, fr_one}},
			.n_a = 1,
			.n_b = 1,
			.c = (uint32_t)i};
	}
	for (size_t i = first; i < n_vars; i++) {
		struct toy_row *row = &t->rows[t->n_rows++];
		row->n_a = toy_random_terms(row->a, i);
		row->n_b = toy_random_terms(row->b, i);
		row->c = (uint32_t)i;
		toy_combine(&a, row->a, row->n_a, t->w);
		toy_combine(&b, row->b, row->n_b, t->w);
		fr_mul(&t->w[i], &a, &b);
	}
	/* snarkjs's rows, which make the public signals' A independent. */
	for (size_t i = 0; i <= TOY_PUBLIC; i++)
		t->rows[t->n_rows++] = (struct toy_row){
		    .a = {{(uint32_t)i, fr_one}}, .n_a = 1, .c = TOY_VARS_MAX};
	for (t->log = 1; (size_t)1 << t->log < t->n_rows; t->log++)
		;
}

/* --- the ceremony ----------------------------------------------------------- */

struct toy_secrets {
	fr_t tau, alpha, beta, gamma, delta;
	fr_t lagrange[2 * TOY_ROWS_MAX]; /* at tau, over all powers of g */
	fr_t a[TOY_VARS_MAX], b[TOY_VARS_MAX], c[TOY_VARS_MAX]; /* at tau */
};

/* A primitive root of unity of order 2^log: 5 to the (r - 1) / 2^log. */
static inline void
toy_root(fr_t *out, unsigned log)
{
	uint64_t e[4] = {0x43e1f593f0000000, 0x2833e84879b97091,
	    0xb85045b68181585d, 0x30644e72e131a029};

	for (; log > 0; log--) {
		for (int i = 0; i < 4; i++)
			e[i] = e[i] >> 1 | (i < 3 ? e[i + 1] << 63 : 0);
	}
	fr_from_u64(out, 5);
	fr_pow(out, out, e, 4);
}

/* The Lagrange polynomials of the points u[i] = START STEP^i, i < N, at tau:
 * (tau^N - START^N) u[i] / (N START^N (tau - u[i])). */
static inline void
toy_lagrange(fr_t *out, size_t n, const fr_t *tau, fr_t start, const fr_t *step)
{
	fr_t top, bottom, t;
	const uint64_t e[1] = {n};

	fr_pow(&t, &start, e, 1);
	fr_pow(&top, tau, e, 1);
	fr_sub(&top, &top, &t);
	fr_from_u64(&bottom, n);
	fr_mul(&bottom, &bottom, &t);
	for (size_t i = 0; i < n; i++) {
		fr_sub(&t, tau, &start);
		fr_mul(&t, &t, &bottom);
		fr_inv(&t, &t);
		fr_mul(&t, &t, &top);
		fr_mul(&out[i], &t, &start);
		fr_mul(&start, &start, step);
	}
}

static inline void
toy_evaluate(struct toy_secrets *s, const struct toy *t)
{
	fr_t v;

	for (size_t i = 0; i < t->n_rows; i++) {
		const struct toy_row *row = &t->rows[i];
		for (size_t j = 0; j < row->n_a; j++) {
			fr_mul(&v, &row->a[j].value, &s->lagrange[i]);
			fr_add(&s->a[row->a[j].signal], &s->a[row->a[j].signal],
			    &v);
		}
		for (size_t j = 0; j < row->n_b; j++) {
			fr_mul(&v, &row->b[j].value, &s->lagrange[i]);
			fr_add(&s->b[row->b[j].signal], &s->b[row->b[j].signal],
			    &v);
		}
		if (row->c < TOY_VARS_MAX)
			fr_add(&s->c[row->c], &s->c[row->c], &s->lagrange[i]);
	}
}

/* --- the file --------------------------------------------------------------- */

static inline void
toy_put(struct toy *t, const void *bytes, size_t len)
{
	memcpy(t->file + t->len, bytes, len);
	t->len += len;
}

static inline void
toy_put_u32(struct toy *t, uint32_t v)
{
	store_le32(t->file + t->len, v);
	t->len += 4;
}

static inline void
toy_put_limbs(struct toy *t, const uint64_t *l)
{
	for (int i = 0; i < 4; i++, t->len += 8)
		store_le64(t->file + t->len, l[i]);
}

static inline void
toy_section(struct toy *t, uint32_t type, size_t len)
{
	toy_put_u32(t, type);
	store_le64(t->file + t->len, len);
	t->len += 8;
}

/* K times the generator; infinity is all zero in memory too. */
static inline void
toy_put_g1(struct toy *t, const fr_t *k)
{
	uint64_t limbs[4];
	g1j_t p;
	g1_t a;

	fr_to_limbs(limbs, k);
	g1j_from_affine(&p, &g1_generator);
	g1j_mul_var(&p, &p, limbs);
	g1j_to_affine_var(&a, &p);
	toy_put_limbs(t, a.x.l);
	toy_put_limbs(t, a.y.l);
}

static inline void
toy_put_g2(struct toy *t, const fr_t *k)
{
	uint64_t limbs[4];
	twistj_t p;
	twist_t a;

	fr_to_limbs(limbs, k);
	twistj_from_affine(&p, &g2_generator.point);
	twistj_mul_var(&p, &p, limbs);
	twistj_to_affine_var(&a, &p);
	toy_put_limbs(t, a.x.c0.l);
	toy_put_limbs(t, a.x.c1.l);
	toy_put_limbs(t, a.y.c0.l);
	toy_put_limbs(t, a.y.c1.l);
}

static inline void
toy_put_header(struct toy *t, const struct toy_secrets *s)
{
	static const uint64_t q[4] = {0x3c208c16d87cfd47, 0x97816a916871ca8d,
	    0xb85045b68181585d, 0x30644e72e131a029};
	static const uint64_t r[4] = {0x43e1f593f0000001, 0x2833e84879b97091,
	    0xb85045b68181585d, 0x30644e72e131a029};

	toy_section(t, 1, 4);
	toy_put_u32(t, 1);
	toy_section(t, 2, 660);
	toy_put_u32(t, 32);
	toy_put_limbs(t, q);
	toy_put_u32(t, 32);
	toy_put_limbs(t, r);
	toy_put_u32(t, (uint32_t)t->n_vars);
	toy_put_u32(t, TOY_PUBLIC);
	toy_put_u32(t, UINT32_C(1) << t->log);
	toy_put_g1(t, &s->alpha);
	toy_put_g1(t, &s->beta);
	toy_put_g2(t, &s->beta);
	toy_put_g2(t, &s->gamma);
	toy_put_g1(t, &s->delta);
	toy_put_g2(t, &s->delta);
}

static inline void
toy_put_coefs(struct toy *t)
{
	uint32_t n = 0;
	fr_t shift, v;

	for (size_t i = 0; i < t->n_rows; i++)
		n += (uint32_t)(t->rows[i].n_a + t->rows[i].n_b);
	fr_from_u64(&shift, UINT64_C(1) << 32);
	for (int i = 0; i < 3; i++)
		fr_sqr(&shift, &shift); /* 2^256, in Montgomery form 2^512 */
	toy_section(t, 4, 4 + 44 * (size_t)n);
	toy_put_u32(t, n);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct toy_row *row = &t->rows[i];
		for (size_t j = 0; j < row->n_a + row->n_b; j++) {
			bool in_a = j < row->n_a;
			const struct toy_term *term =
			    in_a ? &row->a[j] : &row->b[j - row->n_a];
			toy_put_u32(t, !in_a);
			toy_put_u32(t, (uint32_t)i);
			toy_put_u32(t, term->signal);
			fr_mul(&v, &term->value, &shift);
			toy_put_limbs(t, v.l);
		}
	}
}

/* (beta a + alpha b + c) / OVER for signals FROM to TO - 1. */
static inline void
toy_put_mixed(struct toy *t, const struct toy_secrets *s, size_t from,
    size_t to, const fr_t *over)
{
	fr_t inv, v, u;

	fr_inv(&inv, over);
	for (size_t i = from; i < to; i++) {
		fr_mul(&v, &s->beta, &s->a[i]);
		fr_mul(&u, &s->alpha, &s->b[i]);
		fr_add(&v, &v, &u);
		fr_add(&v, &v, &s->c[i]);
		fr_mul(&v, &v, &inv);
		toy_put_g1(t, &v);
	}
}

/* The quotient's points: with its values h[i] at the odd powers times -2 (the
 * vanishing polynomial there) the sum is Z(tau) / delta times the quotient. */
static inline void
toy_put_quotient(struct toy *t, const struct toy_secrets *s, const fr_t *odd)
{
	const size_t n = (size_t)1 << t->log;
	const uint64_t e[1] = {n};
	fr_t z, v;

	fr_pow(&z, &s->tau, e, 1);
	fr_sub(&z, &z, &fr_one);
	fr_dbl(&v, &s->delta);
	fr_neg(&v, &v);
	fr_inv(&v, &v);
	fr_mul(&z, &z, &v);
	toy_section(t, 9, n * 64);
	for (size_t i = 0; i < n; i++) {
		fr_mul(&v, &odd[i], &z);
		toy_put_g1(t, &v);
	}
}

static inline void
toy_write(struct toy *t, const struct toy_secrets *s, const fr_t *odd)
{
	const size_t n = t->n_vars, domain = (size_t)1 << t->log;

	t->file = calloc(1, 65536 + 600 * n + 100 * domain);
	CHECK(t->file != NULL);
	toy_put(t, "zkey", 4);
	toy_put_u32(t, 1);
	toy_put_u32(t, 10);
	toy_put_header(t, s);
	toy_section(t, 3, (TOY_PUBLIC + 1) * 64);
	toy_put_mixed(t, s, 0, TOY_PUBLIC + 1, &s->gamma);
	toy_put_coefs(t);
	toy_section(t, 5, n * 64);
	for (size_t i = 0; i < n; i++)
		toy_put_g1(t, &s->a[i]);
	toy_section(t, 6, n * 64);
	for (size_t i = 0; i < n; i++)
		toy_put_g1(t, &s->b[i]);
	toy_section(t, 7, n * 128);
	for (size_t i = 0; i < n; i++)
		toy_put_g2(t, &s->b[i]);
	toy_section(t, 8, (n - TOY_PUBLIC - 1) * 64);
	toy_put_mixed(t, s, TOY_PUBLIC + 1, n, &s->delta);
	toy_put_quotient(t, s, odd);
	toy_section(t, 10, 68);
	t->len += 68;
}

/* Make a circuit of N_VARS signals, its witness and its key; the file is the
 * caller's to free. */
static inline struct toy *
toy_new(size_t n_vars)
{
	struct toy *t = calloc(1, sizeof(*t));
	struct toy_secrets *s = calloc(1, sizeof(*s));
	fr_t *odd = calloc(TOY_ROWS_MAX, sizeof(*odd));
	fr_t g, w;

	CHECK(t != NULL && s != NULL && odd != NULL);
	toy_circuit(t, n_vars);
	toy_random(&s->tau);
	toy_random(&s->alpha);
	toy_random(&s->beta);
	toy_random(&s->gamma);
	toy_random(&s->delta);
	toy_root(&g, (unsigned)t->log + 1);
	fr_sqr(&w, &g);
	toy_lagrange(s->lagrange, (size_t)1 << t->log, &s->tau, fr_one, &w);
	toy_lagrange(odd, (size_t)1 << t->log, &s->tau, g, &w);
	toy_evaluate(s, t);
	toy_write(t, s, odd);
	free(odd);
	free(s);
	return t;
}

static inline void
toy_free(struct toy *t)
{
	free(t->file);
	free(t);
}

#endif
