#include "semaphore/witness.h"

#include <string.h>

#include "base/ctime.h"
#include "base/wipe.h"
#include "bn254/limbs.h"
#include "hash/poseidon.h"
#include "semaphore/babyjub.h"

/* Where signals are, N being the depth. Poseidon blocks are 239 long and laid
 * out as poseidon_block says. */
enum {
	SECRET = 5,
	LENGTH = 6,
	INDEX = 7,
	SIBLINGS = 8, /* + i; from here on N is to be added: */
	MESSAGE_SQUARE = 8,
	KEY = 9, /* x, y */
	SECRET_BITS = 11, /* bit 252 has been eliminated */
	KEY_SUM = 263, /* x1 y1 x2 y2 beta gamma delta tau */
	LOW_ADDERS = 271, /* 5 k: out.x out.y in2.x in2.y slope */
	LOW_CORRECTION = 686, /* x1 y1 tau */
	LOW_PRODUCTS = 689, /* + k */
	HIGH_ADDERS = 772, /* the same 5, then out.x out.y slope */
	HIGH_CORRECTION = 780,
	HIGH_PRODUCT = 783,
	NODES = 784, /* + i, i = 0 to N */
	COMPARISON_BITS = 1264, /* + 247 N */
};

#define POSEIDON_BLOCK 239
#define LOW_WINDOWS 83 /* bits 0 to 248; then bits 249 to 252 and two zeros */
#define COMPARED_BITS 250

#define MONTGOMERY_A 168698

/* --- Poseidon ---------------------------------------------------------------
 *
 * A block holds, for circomlib's optimised circuit:
 *   0, 1      lanes 1, 2 after the constants that follow round 0 (lane 0 is
 *             a constant there)
 *   2 ...     3 lanes each, after those that follow full rounds 1 to 6
 *   20, 21    x^5 of lanes 0, 1 in the last round
 *   22 + r    lane 0 after partial round r
 *   79 ...    x^2, x^4 of lanes 1, 2 in round 0
 *   83 ...    x^2, x^4 of 3 lanes in full rounds 1 to 7
 *   125 ...   x^2, x^4 in the partial rounds
 */

/* x = x^5; x^2 and x^4 go to OUT. */
static void
power5(fr_t *x, fr_t out[static 2])
{
	fr_sqr(&out[0], x);
	fr_sqr(&out[1], &out[0]);
	fr_mul(x, &out[1], x);
}

static void
mix(fr_t state[static 3], const fr_t m[static 3][3])
{
	fr_t old[3], t;

	memcpy(old, state, sizeof(old));
	for (int i = 0; i < 3; i++) {
		fr_mul(&state[i], &m[0][i], &old[0]);
		for (int j = 1; j < 3; j++) {
			fr_mul(&t, &m[j][i], &old[j]);
			fr_add(&state[i], &state[i], &t);
		}
	}
}

/* The sparse matrix of a partial round. */
static void
mix_sparse(fr_t state[static 3], const fr_t s[static 5])
{
	fr_t first = state[0], t;

	fr_mul(&state[0], &s[0], &first);
	for (int i = 1; i < 3; i++) {
		fr_mul(&t, &s[i], &state[i]);
		fr_add(&state[0], &state[0], &t);
		fr_mul(&t, &s[2 + i], &first);
		fr_add(&state[i], &state[i], &t);
	}
}

/* One full round but the last, number ROUND of 0 to 6. */
static void
full_round(fr_t *block, fr_t state[static 3], unsigned round, const fr_t *c)
{
	fr_t lost[2];

	for (unsigned j = 0; j < 3; j++) {
		fr_t *squares = round > 0 ? &block[83 + 6 * (round - 1) + 2 * j]
		    : j > 0		  ? &block[79 + 2 * (j - 1)]
					  : lost;
		power5(&state[j], squares);
		fr_add(&state[j], &state[j], &c[j]);
		if (round > 0)
			block[2 + 3 * (round - 1) + j] = state[j];
		else if (j > 0)
			block[j - 1] = state[j];
	}
}

/* out = H(a, b), with the signals of that on the way. */
static void
poseidon_block(fr_t *block, fr_t *out, const fr_t *a, const fr_t *b)
{
	const struct poseidon_constants *k = &poseidon_constants;
	fr_t state[3] = {k->c[0]};

	fr_add(&state[1], a, &k->c[1]);
	fr_add(&state[2], b, &k->c[2]);
	for (unsigned r = 0; r < 4; r++) {
		full_round(block, state, r, &k->c[3 + 3 * r]);
		mix(state, r < 3 ? k->m : k->p);
	}
	for (unsigned r = 0; r < POSEIDON_PARTIAL_ROUNDS; r++) {
		power5(&state[0], &block[125 + 2 * r]);
		fr_add(&state[0], &state[0], &k->c[15 + r]);
		mix_sparse(state, &k->s[5 * r]);
		block[22 + r] = state[0];
	}
	for (unsigned r = 4; r < 7; r++) {
		full_round(block, state, r, &k->c[72 + 3 * (r - 4)]);
		mix(state, k->m);
	}
	for (unsigned j = 0; j < 3; j++)
		power5(&state[j], &block[83 + 6 * 6 + 2 * j]);
	block[20] = state[0];
	block[21] = state[1];
	mix(state, k->m);
	*out = state[0];
}

/* --- Baby Jubjub ------------------------------------------------------------
 *
 * The circuit adds on the Montgomery form v^2 = u^3 + A u^2 + u, with one
 * division an addition. We add on the Edwards form, whose law is complete, in
 * projective coordinates, and convert: u = (1 + y) / (1 - y), v = u / x.
 *
 * Each segment starts from an offset and adds (digit + 1) 8^w Base8 for each
 * window w, so that no addition meets infinity or equal points; at its end the
 * offset and the ones are taken off again, on the Edwards form.
 */

struct segment {
	unsigned first, windows;
	babyjubp_t start; /* public */
	fr_t minus_x, y; /* what is added at the end; public */
	fr_t end_x, end_y; /* the sum before that */
	babyjubp_t product;
};

struct multiplication {
	struct segment low, high;
	babyjubp_t key;
};

/* The denominator of both Montgomery coordinates. */
static void
mont_denominator(fr_t *den, const babyjubp_t *p)
{
	fr_sub(den, &p->z, &p->y);
	fr_mul(den, den, &p->x);
}

static void
mont_from_point(struct witness_mont *r, const babyjubp_t *p, const fr_t *inv)
{
	fr_t t;

	fr_add(&t, &p->z, &p->y);
	fr_mul(&t, &t, inv);
	fr_mul(&r->u, &t, &p->x);
	fr_mul(&r->v, &t, &p->z);
}

/* x = u / v, y = (u - 1) / (u + 1). */
static void
point_from_mont(babyjubp_t *r, const struct witness_mont *p)
{
	fr_t more, less;

	fr_add(&more, &p->u, &fr_one);
	fr_sub(&less, &p->u, &fr_one);
	fr_mul(&r->x, &p->u, &more);
	fr_mul(&r->y, &less, &p->v);
	fr_mul(&r->z, &p->v, &more);
}

/* Where a segment starts, and what has to be taken off: the start and once
 * each window's base. Public. */
static void
segment_init(struct segment *s, unsigned first, unsigned windows,
    const struct witness_work *work)
{
	const babyjubp_t *next = &work->points[8 * (first + windows - 1) + 7];
	babyjubp_t sum;
	fr_t inv;

	s->first = first;
	s->windows = windows;
	babyjubp_add(&s->start, next, next);
	sum = s->start;
	for (unsigned w = first; w < first + windows; w++)
		babyjubp_add(&sum, &sum, &work->points[8 * w]);
	fr_inv_var(&inv, &sum.z);
	fr_mul(&s->minus_x, &sum.x, &inv);
	fr_neg(&s->minus_x, &s->minus_x);
	fr_mul(&s->y, &sum.y, &inv);
}

/* The multiples 1 to 8 of each window's base, and the segments. Public. */
static void
tables_make(struct witness_work *work, struct multiplication *m)
{
	babyjubp_t *p = work->points;
	const size_t n = 8 * WITNESS_WINDOWS;

	p[0] = (babyjubp_t){babyjub_base8.x, babyjub_base8.y, fr_one};
	for (size_t i = 1; i < n; i++) {
		if (i % 8 == 0)
			p[i] = p[i - 1]; /* 8 of the last are 1 of the next */
		else
			babyjubp_add(&p[i], &p[i - 1], &p[i / 8 * 8]);
	}
	for (size_t i = 0; i < n; i++)
		mont_denominator(&work->den[i], &p[i]);
	fr_inv_many(work->inv, work->den, n);
	for (size_t i = 0; i < n; i++)
		mont_from_point(
		    &work->table[i / 8][i % 8], &p[i], &work->inv[i]);
	segment_init(&m->low, 0, LOW_WINDOWS, work);
	segment_init(
	    &m->high, LOW_WINDOWS, WITNESS_WINDOWS - LOW_WINDOWS, work);
}

/* The table entry of window W that three bits choose, all entries touched. */
static void
choose(struct witness_mont *r, const struct witness_mont table[static 8],
    unsigned digit)
{
	*r = table[0];
	for (unsigned k = 1; k < 8; k++) {
		/* 1 for k = digit, else 0, with no comparison to branch on. */
		bool hit = ((k ^ digit) - 1) >> 31;
		fr_cmov(&r->u, &table[k].u, hit);
		fr_cmov(&r->v, &table[k].v, hit);
	}
}

static unsigned
window_digit(const uint64_t secret[static 4], unsigned w)
{
	unsigned digit = 0;

	/* The scalar is below 2^251, so that bits beyond 255 are not met. */
	for (unsigned j = 0; j < 3 && 3 * w + j < 256; j++)
		digit |=
		    (unsigned)(secret[(3 * w + j) / 64] >> (3 * w + j) % 64 & 1)
		    << j;
	return digit;
}

/* Run the additions of S; its sums stand at work->points from AT on. */
static void
segment_add(struct segment *s, size_t at, const uint64_t secret[static 4],
    struct witness_work *work)
{
	babyjubp_t entry;

	work->points[at] = s->start;
	for (unsigned i = 0; i < s->windows; i++) {
		unsigned w = s->first + i;
		choose(
		    &work->chosen[w], work->table[w], window_digit(secret, w));
		point_from_mont(&entry, &work->chosen[w]);
		babyjubp_add(
		    &work->points[at + i + 1], &work->points[at + i], &entry);
	}
}

/* The end of a segment, from its last sum P and 1 / P.z. */
static void
segment_end(struct segment *s, const babyjubp_t *p, const fr_t *inv)
{
	fr_mul(&s->end_x, &p->x, inv);
	fr_mul(&s->end_y, &p->y, inv);
	babyjubp_add(&s->product, &(babyjubp_t){s->end_x, s->end_y, fr_one},
	    &(babyjubp_t){s->minus_x, s->y, fr_one});
}

/* All sums of both segments, then the slopes' denominators inverted in
 * work->inv, and behind them 1/z of the two products and of the key. */
static void
multiply(struct multiplication *m, const uint64_t secret[static 4],
    struct witness_work *work)
{
	const babyjubp_t *p = work->points;
	const size_t high = LOW_WINDOWS + 1, n = WITNESS_WINDOWS + 2;

	segment_add(&m->low, 0, secret, work);
	segment_add(&m->high, high, secret, work);
	for (size_t i = 0; i < n; i++)
		mont_denominator(&work->den[i], &p[i]);
	work->den[n] = p[LOW_WINDOWS].z;
	work->den[n + 1] = p[n - 1].z;
	fr_inv_many(work->inv, work->den, n + 2);
	for (size_t i = 0; i < n; i++)
		mont_from_point(&work->sums[i], &p[i], &work->inv[i]);
	segment_end(&m->low, &p[LOW_WINDOWS], &work->inv[n]);
	segment_end(&m->high, &p[n - 1], &work->inv[n + 1]);
	babyjubp_add(&m->key, &m->low.product, &m->high.product);

	for (size_t w = 0; w < WITNESS_WINDOWS; w++)
		fr_sub(&work->den[w], &work->chosen[w].u,
		    &work->sums[w + (w >= LOW_WINDOWS)].u);
	work->den[WITNESS_WINDOWS] = m->low.product.z;
	work->den[WITNESS_WINDOWS + 1] = m->high.product.z;
	work->den[WITNESS_WINDOWS + 2] = m->key.z;
	fr_inv_many(work->inv, work->den, WITNESS_WINDOWS + 3);
}

/* --- signals ---------------------------------------------------------------- */

/* r = 1 or 0. */
static void
set_bit(fr_t *r, uint64_t bit)
{
	*r = fr_zero;
	fr_cmov(r, &fr_one, bit & 1);
}

/* beta, gamma and tau of circomlib's BabyAdd. */
static void
edwards_terms(fr_t *beta, fr_t *gamma, fr_t *tau, const fr_t p[static 2],
    const fr_t q[static 2])
{
	fr_mul(beta, &p[0], &q[1]);
	fr_mul(gamma, &p[1], &q[0]);
	fr_mul(tau, beta, gamma);
}

/* The additions of one segment: sums and chosen entries are its first. */
static void
put_adder(fr_t *out, bool last_high, size_t w, const struct witness_work *work)
{
	size_t at = w + (w >= LOW_WINDOWS);
	const struct witness_mont *sum = &work->sums[at + 1];
	const struct witness_mont *chosen = &work->chosen[w];
	fr_t rise;

	*out++ = sum->u;
	*out++ = sum->v;
	if (!last_high) { /* there the entry has been eliminated */
		*out++ = chosen->u;
		*out++ = chosen->v;
	}
	fr_sub(&rise, &chosen->v, &work->sums[at].v);
	fr_mul(out, &rise, &work->inv[w]);
}

/* K b0 b1, the product inside window W's multiplexer. */
static void
put_product(fr_t *out, const struct witness_mont t[static 8], unsigned digit)
{
	fr_t k;

	fr_sub(&k, &t[7].u, &t[6].u);
	fr_sub(&k, &k, &t[5].u);
	fr_add(&k, &k, &t[4].u);
	fr_sub(&k, &k, &t[3].u);
	fr_add(&k, &k, &t[2].u);
	fr_add(&k, &k, &t[1].u);
	fr_sub(&k, &k, &t[0].u);
	*out = fr_zero;
	fr_cmov(out, &k, digit & digit >> 1 & 1);
}

static void
put_correction(fr_t *out, const struct segment *s)
{
	fr_t beta, gamma;

	out[0] = s->end_x;
	out[1] = s->end_y;
	edwards_terms(&beta, &gamma, &out[2],
	    (const fr_t[2]){s->end_x, s->end_y},
	    (const fr_t[2]){s->minus_x, s->y});
}

/* The public key and all signals between it and the secret's bits. V is the
 * witness, moved on by the depth. */
static void
put_key(fr_t *v, const uint64_t secret[static 4], struct witness_work *work)
{
	struct multiplication m;
	fr_t *sum = &v[KEY_SUM], t, u;
	const fr_t *inv = &work->inv[WITNESS_WINDOWS];

	tables_make(work, &m);
	multiply(&m, secret, work);
	for (unsigned i = 0; i < 252; i++)
		set_bit(&v[SECRET_BITS + i], secret[i / 64] >> i % 64);
	for (unsigned w = 0; w < LOW_WINDOWS; w++) {
		put_adder(&v[LOW_ADDERS + 5 * w], false, w, work);
		put_product(&v[LOW_PRODUCTS + w], work->table[w],
		    window_digit(secret, w));
	}
	put_adder(&v[HIGH_ADDERS], false, LOW_WINDOWS, work);
	put_adder(&v[HIGH_ADDERS + 5], true, LOW_WINDOWS + 1, work);
	put_product(&v[HIGH_PRODUCT], work->table[LOW_WINDOWS],
	    window_digit(secret, LOW_WINDOWS));
	put_correction(&v[LOW_CORRECTION], &m.low);
	put_correction(&v[HIGH_CORRECTION], &m.high);

	fr_mul(&sum[0], &m.low.product.x, &inv[0]);
	fr_mul(&sum[1], &m.low.product.y, &inv[0]);
	fr_mul(&sum[2], &m.high.product.x, &inv[1]);
	fr_mul(&sum[3], &m.high.product.y, &inv[1]);
	edwards_terms(&sum[4], &sum[5], &sum[7], &sum[0], &sum[2]);
	fr_from_u64(&t, BABYJUB_A);
	fr_mul(&t, &t, &sum[0]);
	fr_sub(&t, &sum[1], &t);
	fr_add(&u, &sum[2], &sum[3]);
	fr_mul(&sum[6], &t, &u);
	fr_mul(&v[KEY], &m.key.x, &inv[2]);
	fr_mul(&v[KEY + 1], &m.key.y, &inv[2]);
	wipe(&m, sizeof(m));
}

/* The bits of secret + 2^251 - l, by which the circuit sees that it is small. */
static void
put_comparison(fr_t *out, const uint64_t secret[static 4])
{
	uint64_t order[4], sum[4];

	limbs_from_bytes(order, babyjub_order);
	limbs_sub(sum, secret, order);
	sum[3] += UINT64_C(1) << (251 - 192);
	for (unsigned i = 0; i < COMPARED_BITS; i++)
		set_bit(&out[i], sum[i / 64] >> i % 64);
}

/* [1 if LENGTH = i else 0, 1 / (i - LENGTH) or 0] for i = 0 to N. Public. */
static void
put_lengths(fr_t *out, unsigned depth, unsigned length, struct witness_work *k)
{
	fr_t t;

	fr_from_u64(&t, length);
	for (unsigned i = 0; i <= depth; i++) {
		fr_from_u64(&k->den[i], i);
		fr_sub(&k->den[i], &k->den[i], &t);
	}
	fr_inv_many(k->inv, k->den, depth + 1);
	for (unsigned i = 0; i <= depth; i++) {
		set_bit(&out[2 * i], i == length);
		out[2 * i + 1] = k->inv[i];
	}
}

/* From the leaf up: every node, even above the path's end, where siblings are
 * zero; the root is the node at the path's length. */
static void
put_path(fr_t *w, unsigned depth, unsigned length, uint64_t index)
{
	fr_t *v = w + depth;
	fr_t *node = &v[NODES], *roots = &w[785 + 2 * depth];
	fr_t *bits = &w[785 + 3 * depth], *pairs = &w[786 + 6 * depth];
	const fr_t *siblings = &w[SIBLINGS];

	for (unsigned i = 0; i < depth; i++) {
		fr_t *pair = &pairs[2 * i];
		bool right = index >> i & 1;

		pair[0] = node[i];
		pair[1] = siblings[i];
		fr_cmov(&pair[0], &siblings[i], right);
		fr_cmov(&pair[1], &node[i], right);
		poseidon_block(
		    &w[786 + 8 * (size_t)depth + POSEIDON_BLOCK * (size_t)i],
		    &node[i + 1], &pair[0], &pair[1]);
		roots[i] = i == length ? node[i] : fr_zero;
		if (i + 1 < depth) /* the last one has been eliminated */
			set_bit(&bits[i], index >> i);
	}
	w[WITNESS_ROOT] = node[length];
}

static void
mark(bool *is_bit, size_t from, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i++)
		is_bit[from + i * step] = true;
}

void
witness_bits(bool *is_bit, uint32_t depth)
{
	const size_t n = depth;

	memset(is_bit, 0, WITNESS_LENGTH(n) * sizeof(*is_bit));
	mark(is_bit, WITNESS_ONE, 1, 1);
	mark(is_bit, n + SECRET_BITS, 252, 1);
	mark(is_bit, 785 + 3 * n, n - 1, 1); /* the index */
	mark(is_bit, 784 + 4 * n, n + 1, 2); /* which level is the root's */
	mark(is_bit, COMPARISON_BITS + 247 * n, COMPARED_BITS, 1);
}

/* Look at the input's bounds, the siblings' too, and put them in their places.
 */
static enum status
put_input(fr_t *w, const struct witness_input *in,
    const uint64_t secret[static 4], enum witness_refusal *why, unsigned *index)
{
	const struct group_proof *path = in->path;
	uint64_t order[4], t[4], bad;

	limbs_from_bytes(order, babyjub_order);
	*why = WITNESS_BAD_SECRET;
	bad = 1 - limbs_sub(t, secret, order);
	declassify(&bad, sizeof(bad));
	if (bad)
		return ST_BAD_VALUE;
	*why = WITNESS_BAD_LENGTH;
	if (path->length > in->depth)
		return ST_BAD_LENGTH;
	*why = WITNESS_BAD_INDEX;
	bad = path->index >> path->length;
	declassify(&bad, sizeof(bad));
	if (bad)
		return ST_BAD_VALUE;
	*why = WITNESS_BAD_SIBLING;
	for (*index = 0; *index < path->length; ++*index) {
		enum status st = fr_from_bytes_strict(
		    &w[SIBLINGS + *index], path->siblings[*index]);
		declassify(&st, sizeof(st));
		if (st != ST_OK)
			return st;
	}
	fr_from_bytes_mod(&w[SECRET], in->secret);
	fr_from_u64(&w[LENGTH], path->length);
	fr_from_u64(&w[INDEX], path->index);
	*why = WITNESS_FINE;
	*index = 0;
	return ST_OK;
}

enum status
witness_make(fr_t *w, const struct witness_input *in, struct witness_work *work,
    enum witness_refusal *why, unsigned *index)
{
	const size_t n = in->depth;
	fr_t *v = w + n;
	uint64_t secret[4];
	enum status st;

	*why = WITNESS_BAD_DEPTH;
	*index = 0;
	if (n < SEMAPHORE_DEPTH_MIN || n > SEMAPHORE_DEPTH_MAX)
		return ST_BAD_DEPTH;
	memset(w, 0, WITNESS_LENGTH(n) * sizeof(*w));
	limbs_from_bytes(secret, in->secret);
	st = put_input(w, in, secret, why, index);
	if (st != ST_OK) {
		wipe(w, WITNESS_LENGTH(n) * sizeof(*w));
		wipe(secret, sizeof(secret));
		return st;
	}
	w[WITNESS_ONE] = fr_one;
	w[WITNESS_MESSAGE] = in->message;
	w[WITNESS_SCOPE] = in->scope;
	fr_sqr(&v[MESSAGE_SQUARE], &in->message);
	put_key(v, secret, work);
	poseidon_block(&w[786 + 247 * n], &v[NODES], &v[KEY], &v[KEY + 1]);
	put_path(w, in->depth, in->path->length, in->path->index);
	put_lengths(&w[784 + 4 * n], in->depth, in->path->length, work);
	poseidon_block(&w[1025 + 247 * n], &w[WITNESS_NULLIFIER],
	    &w[WITNESS_SCOPE], &w[SECRET]);
	put_comparison(&w[COMPARISON_BITS + 247 * n], secret);
	wipe(secret, sizeof(secret));
	return ST_OK;
}
