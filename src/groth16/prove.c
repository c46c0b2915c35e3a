#include "groth16/prove.h"

#include <stdatomic.h>
#include <string.h>

#include "base/wipe.h"

/* --- the key ---------------------------------------------------------------- */

size_t
groth16_pk_size(const struct zkey *key)
{
	return ntt_table_size(key->domain_log) +
	    ((size_t)key->domain + 3 * (size_t)key->n_vars) * sizeof(uint32_t);
}

/* List the points that are not infinity: N of SIZE bytes, point i belonging to
 * signal i + FIRST. IS_BIT NULL: none is. */
static void
list_terms(struct groth16_terms *t, uint32_t **next, const uint8_t *points,
    size_t size, size_t n, size_t first, const bool *is_bit)
{
	static const uint8_t infinity[ZKEY_G2_SIZE] = {0};

	for (unsigned bit = 0; bit < 2; bit++) {
		t->index[bit] = *next;
		for (size_t i = 0; i < n; i++) {
			bool is = is_bit != NULL && is_bit[first + i];
			if (is == (bit == 1) &&
			    memcmp(points + i * size, infinity, size) != 0)
				*(*next)++ = (uint32_t)i;
		}
		t->n[bit] = (size_t)(*next - t->index[bit]);
	}
}

void
groth16_pk_init(struct groth16_pk *pk, const struct zkey *key,
    const bool *is_bit, const struct msm_kernel *kernel, void *memory)
{
	const size_t ntt_size = ntt_table_size(key->domain_log);
	uint32_t *next = (uint32_t *)(void *)((uint8_t *)memory + ntt_size);
	const size_t n = key->n_vars, private = n - key->n_public - 1;

	pk->key = key;
	pk->kernel = kernel != NULL ? kernel : msm_kernel_nth(0);
	ntt_table_init(&pk->ntt, memory, key->domain_log, NULL);
	list_terms(&pk->a, &next, key->a, ZKEY_G1_SIZE, n, 0, is_bit);
	list_terms(&pk->b, &next, key->b2, ZKEY_G2_SIZE, n, 0, is_bit);
	list_terms(
	    &pk->c, &next, key->c, ZKEY_G1_SIZE, private, n - private, is_bit);
	list_terms(&pk->h, &next, key->h, ZKEY_G1_SIZE, key->domain, 0, NULL);
}

/* --- the quotient ----------------------------------------------------------- */

/* a = A w and b = B w, row by row, in Montgomery form. */
static void
evaluate_rows(fr_t *a, fr_t *b, const struct zkey *key, const uint64_t (*w)[4])
{
	struct zkey_coef c;
	fr_t term;

	memset(a, 0, key->domain * sizeof(*a));
	memset(b, 0, key->domain * sizeof(*b));
	for (uint32_t i = 0; i < key->n_coefs; i++) {
		fr_t *row;
		zkey_coef(&c, key, i);
		row = c.matrix == 0 ? &a[c.row] : &b[c.row];
		memcpy(term.l, w[c.signal], sizeof(term.l));
		fr_mul(&term, &c.value, &term);
		fr_add(row, row, &term);
	}
	wipe(&term, sizeof(term));
}

/* --- the parts of a proof ----------------------------------------------------
 *
 * A proof is three transforms, many sums and some blinding. Sums are cut into
 * slices, so that every thread has work to the end; each thread takes the next
 * part that is left. What a part does depends on its number alone.
 */

enum part_kind {
	PART_NTT,
	PART_BLIND,
	PART_A,

	PART_B,
	PART_C,
	PART_H
};

struct part {
	enum part_kind kind;
	struct msm_terms terms; /* of a sum */
	fr_t *values; /* of a transform */
	g1j_t sum; /* the result, in G1 or in G2 */
	twistj_t sum2;
};

struct job {
	const struct groth16_pk *pk;
	const uint64_t (*w)[4];
	fr_t s, t;
	fr_t *a, *b, *c; /* rows, then values at the odd powers */
	uint64_t (*h)[4]; /* the quotient's, as scalars */
	struct part *parts;
	size_t n_parts;
	atomic_size_t next; /* part to be taken */
	atomic_uint transformed; /* of a, b and c */
	twistj_t t_delta; /* PART_BLIND */
	uint8_t *scratch; /* for each thread */
	size_t scratch_size;
};

/* Terms of a slice when there are several threads: long enough that what it
 * costs to begin and to end one, some 200 additions in each window, counts for
 * little. A thread alone takes each sum whole. */
#define SLICE_G1 1024
#define SLICE_G2 512

static size_t
slices(size_t n, size_t size, unsigned width)
{
	return width == 1 ? n > 0 : (n + size - 1) / size;
}

/* Append the slices of one list; returns how many there are. P NULL: only
 * count. */
static size_t
cut(struct part *p, enum part_kind kind, const struct groth16_terms *t,
    const uint8_t *points, const uint64_t (*scalars)[4], unsigned width)
{
	size_t size = kind == PART_B ? SLICE_G2 : SLICE_G1, count = 0;

	for (unsigned bit = 0; bit < 2; bit++) {
		size_t n = slices(t->n[bit], size, width);
		for (size_t i = 0; i < n && p != NULL; i++, p++) {
			size_t from = t->n[bit] * i / n;
			*p = (struct part){.kind = kind,
			    .terms = {.points = points,
				.scalars = scalars,
				.index = t->index[bit] + from,
				.n = t->n[bit] * (i + 1) / n - from,
				.bits = bit == 1}};
		}
		count += n;
	}
	return count;
}

/* All parts, in the order in which they are taken: what others wait for first,
 * the longest next. JOB NULL: only count. */
static size_t
list_parts(struct part *p, const struct groth16_pk *pk, struct job *job,
    unsigned width)
{
	const struct zkey *z = pk->key;
	const uint64_t(*w)[4] = job != NULL ? job->w : NULL;
	const uint64_t(*h)[4] =
	    job != NULL ? (const uint64_t(*)[4])job->h : NULL;
	const struct {
		enum part_kind kind;
		const struct groth16_terms *t;
		const uint8_t *points;
		const uint64_t (*scalars)[4];
	} sums[] = {{PART_B, &pk->b, z->b2, w}, {PART_A, &pk->a, z->a, w},
	    {PART_C, &pk->c, z->c, w != NULL ? w + z->n_public + 1 : NULL},
	    {PART_H, &pk->h, z->h, h}};
	size_t n = 4;

	if (p != NULL) {
		p[0] = (struct part){.kind = PART_NTT, .values = job->a};
		p[1] = (struct part){.kind = PART_NTT, .values = job->b};
		p[2] = (struct part){.kind = PART_NTT, .values = job->c};
		p[3] = (struct part){.kind = PART_BLIND};
	}
	for (unsigned i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		n += cut(p != NULL ? p + n : NULL, sums[i].kind, sums[i].t,
		    sums[i].points, sums[i].scalars, width);
	return n;
}

static void
blind(struct job *job)
{
	uint64_t limbs[4];
	twistj_t delta;

	fr_to_limbs(limbs, &job->t);
	twistj_from_affine(&delta, &job->pk->key->vk.delta.point);
	twistj_mul(&job->t_delta, &delta, limbs);
	wipe(limbs, sizeof(limbs));
}

/* The quotient's values that this slice needs: a b - c at the odd powers. The
 * transforms were taken first, so this hardly ever waits. */
static void
quotient(struct job *job, const struct msm_terms *t)
{
	fr_t v;

	while (
	    atomic_load_explicit(&job->transformed, memory_order_acquire) < 3)
		;
	for (size_t i = 0; i < t->n; i++) {
		uint32_t at = t->index[i];
		fr_mul(&v, &job->a[at], &job->b[at]);
		fr_sub(&v, &v, &job->c[at]);
		fr_to_limbs(job->h[at], &v);
	}
	wipe(&v, sizeof(v));
}

static void
do_part(struct job *job, struct part *p, void *scratch)
{
	switch (p->kind) {
	case PART_NTT:
		ntt_shift(p->values, &job->pk->ntt, scratch);
		atomic_fetch_add_explicit(
		    &job->transformed, 1, memory_order_release);
		break;
	case PART_BLIND:
		blind(job);
		break;
	case PART_B:
		msm_g2(&p->sum2, job->pk->kernel, &p->terms, scratch);
		break;
	case PART_H:
		quotient(job, &p->terms);
		/* fall through */
	case PART_A:
	case PART_C:
		msm_g1(&p->sum, job->pk->kernel, &p->terms, scratch);
		break;
	}
}

/* What a thread does: FROM to TO are numbers of threads. */
static void
work(void *arg, size_t from, size_t to)
{
	struct job *job = arg;

	for (size_t thread = from; thread < to; thread++) {
		void *scratch = job->scratch + thread * job->scratch_size;
		size_t i;
		while ((i = atomic_fetch_add(&job->next, 1)) < job->n_parts)
			do_part(job, &job->parts[i], scratch);
	}
}

/* --- the proof -------------------------------------------------------------- */

/* Where everything lies in the working memory; returns its size. */
static size_t
lay_out(struct job *job, const struct groth16_pk *pk, uint8_t *memory,
    unsigned width)
{
	const size_t rows = pk->key->domain * sizeof(fr_t);
	const size_t parts = list_parts(NULL, pk, NULL, width);
	const size_t ntt = (ntt_memory(&pk->ntt) + 63) & ~(size_t)63;
	const size_t scratch = ntt > MSM_MEMORY ? ntt : MSM_MEMORY;
	size_t at = (size_t)width * scratch;

	if (job != NULL) {
		job->scratch = memory;
		job->scratch_size = scratch;
		job->a = (fr_t *)(void *)(memory + at);
		job->b = job->a + pk->key->domain;
		job->c = job->b + pk->key->domain;
		job->h = (uint64_t(*)[4])(void *)(memory + at + 3 * rows);
		job->parts = (struct part *)(void *)(memory + at + 4 * rows);
		job->n_parts = parts;
	}
	return at + 4 * rows + parts * sizeof(struct part);
}

size_t
groth16_prove_memory(const struct groth16_pk *pk, unsigned width)
{
	return lay_out(NULL, pk, NULL, width);
}

/* Put the parts together. */
static void
join(struct groth16_proof *out, const struct job *job)
{
	const struct zkey *z = job->pk->key;
	g1j_t a, c, ta;
	twistj_t b;
	uint64_t limbs[4];
	fr_t inverse;

	g1j_from_affine(&a, &z->vk.alpha);
	g1j_set_infinity(&c);
	twistj_from_affine(&b, &z->vk.beta.point);
	twistj_add(&b, &b, &job->t_delta);
	for (size_t i = 0; i < job->n_parts; i++) {
		const struct part *p = &job->parts[i];
		if (p->kind == PART_B)
			twistj_add(&b, &b, &p->sum2);
		else if (p->kind == PART_A)
			g1j_add(&a, &a, &p->sum);
		else if (p->kind == PART_C || p->kind == PART_H)
			g1j_add(&c, &c, &p->sum);
	}
	fr_to_limbs(limbs, &job->t);
	g1j_mul(&ta, &a, limbs);
	g1j_add(&c, &c, &ta);
	fr_to_limbs(limbs, &job->s);
	twistj_mul(&b, &b, limbs);
	fr_inv(&inverse, &job->s);
	fr_to_limbs(limbs, &inverse);
	g1j_mul(&a, &a, limbs);
	g1j_to_affine(&out->a, &a);
	twistj_to_affine(&out->b, &b);
	g1j_to_affine(&out->c, &c);
	wipe(limbs, sizeof(limbs));
	wipe(&inverse, sizeof(inverse));
}

void
groth16_prove(struct groth16_proof *out, const struct groth16_pk *pk,
    const uint64_t (*w)[4], const fr_t *s, const fr_t *t, void *memory,
    const struct runner *runner)
{
	const unsigned width = runner != NULL ? runner->width : 1;
	struct job job = {.pk = pk, .w = w, .s = *s, .t = *t};

	lay_out(&job, pk, memory, width);
	atomic_init(&job.next, 0);
	atomic_init(&job.transformed, 0);
	evaluate_rows(job.a, job.b, pk->key, w);
	for (size_t i = 0; i < pk->key->domain; i++)
		fr_mul(&job.c[i], &job.a[i], &job.b[i]);
	list_parts(job.parts, pk, &job, width);
	if (runner != NULL)
		runner->run(runner->self, work, &job, width);
	else
		work(&job, 0, 1);
	join(out, &job);
	wipe(&job, sizeof(job));
}
