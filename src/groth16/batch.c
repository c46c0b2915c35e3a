#include "groth16/batch.h"

#include <string.h>

#include "base/bytes.h"
#include "base/verify.h"
#include "groth16/pvk.h"

/* The most keys in one product: each has a delta, and maybe a gamma. */
#define KEYS_MAX (PAIRING_FIXED_MAX / 2)

/* Terms of one key's sum: its C, or multiples of its ic; and of the sums that
 * are taken together. */
#define TERMS_KEY                                                        \
	((GROTH16_INPUTS_MAX + 1) * G1_TABLE_WINDOWS > GROTH16_BATCH_MAX \
		? (GROTH16_INPUTS_MAX + 1) * G1_TABLE_WINDOWS            \
		: GROTH16_BATCH_MAX)
#define TERMS_MAX (16 * TERMS_KEY)

/* The proofs at work, by position; a job without infinity has one. */
struct batch {
	const struct bn254_kernel *k;
	size_t n;
	struct groth16_job *job[GROTH16_BATCH_MAX];
	struct weight z[2 * GROTH16_BATCH_MAX];
	/* z A of all, then z C of all. */
	g1_t weighted[2 * GROTH16_BATCH_MAX];
	twist_t b[GROTH16_BATCH_MAX];
	bool inside[GROTH16_BATCH_MAX];
	/* Miller functions of groups, and of the proofs of one group. */
	gt_t group[GROTH16_BATCH_MAX], single[GROTH16_BATCH_MAX];
	struct g1_term terms[TERMS_MAX];
	void *scratch; /* the kernel's */
};

/* Some neighbours whose Miller functions are one value. */
struct unit {
	const gt_t *f;
	size_t first, n;
};

static size_t
aligned(size_t n)
{
	return (n + GROTH16_PVK_ALIGN - 1) / GROTH16_PVK_ALIGN *
	    GROTH16_PVK_ALIGN;
}

size_t
groth16_batch_size(const struct bn254_kernel *k, size_t n)
{
	return aligned(sizeof(struct batch)) + aligned(k->batch_scratch(n));
}

/* --- one product ----------------------------------------------------------- */

/* What the proofs of some units have in common, key by key. */
struct product {
	const struct groth16_pvk *key[KEYS_MAX];
	size_t keys;
	struct pairing_fixed fixed[PAIRING_FIXED_MAX];
	size_t n;
	gt_t target;
};

/* Whether the K-th key has this gamma (or this target) first. */
static size_t
first_gamma(const struct product *p, size_t k)
{
	size_t i = 0;

	while (!twist_eq(&p->key[i]->gamma_point, &p->key[k]->gamma_point))
		i++;
	return i;
}

static size_t
first_target(const struct product *p, size_t k)
{
	size_t i = 0;

	while (!gt_eq(&p->key[i]->alpha_beta, &p->key[k]->alpha_beta))
		i++;
	return i;
}

static void
product_add_key(struct product *p, const struct groth16_pvk *key)
{
	for (size_t i = 0; i < p->keys; i++) {
		if (p->key[i] == key)
			return;
	}
	VERIFY(p->keys < KEYS_MAX);
	p->key[p->keys++] = key;
}

static void
product_keys(struct product *p, const struct batch *b, const struct unit *u,
    size_t units)
{
	p->keys = 0;
	for (size_t i = 0; i < units; i++) {
		for (size_t j = u[i].first; j < u[i].first + u[i].n; j++)
			product_add_key(p, b->job[j]->key);
	}
}

/* The terms of one sum, some of them summed up. */
struct terms {
	g1j_t sum;
	size_t n; /* in the batch's array */
};

static void
terms_fold(struct terms *t, struct batch *b)
{
	g1j_t sum;

	b->k->sum(&sum, b->terms, t->n);
	g1j_add_var(&t->sum, &t->sum, &sum);
	t->n = 0;
}

/* The sums over one key's proofs: delta = sum of z C, the terms of the sum of
 * z vk_x to GAMMA, the weights' own sum to EXPONENT. */
static void
sum_key(struct terms *gamma, g1j_t *delta, struct weight_sum *exponent,
    struct batch *b, const struct unit *u, size_t units,
    const struct groth16_pvk *key)
{
	fr_t x[GROTH16_INPUTS_MAX + 1], z, t;
	struct g1_term *terms;
	size_t n = 0;

	if (gamma->n > TERMS_MAX - TERMS_KEY)
		terms_fold(gamma, b);
	terms = &b->terms[gamma->n];
	for (size_t i = 0; i <= key->inputs; i++)
		x[i] = fr_zero;
	for (size_t i = 0; i < units; i++) {
		for (size_t j = u[i].first; j < u[i].first + u[i].n; j++) {
			if (b->job[j]->key != key)
				continue;
			terms[n].p = &b->weighted[b->n + j];
			terms[n++].negative = false;
			weight_sum_add(exponent, &b->z[j]);
			weight_to_fr(&z, &b->z[j]);
			fr_add(&x[0], &x[0], &z);
			for (size_t l = 0; l < key->inputs; l++) {
				fr_mul(&t, &z, &b->job[j]->inputs[l]);
				fr_add(&x[l + 1], &x[l + 1], &t);
			}
		}
	}
	b->k->sum(delta, terms, n);
	n = 0;
	for (size_t i = 0; i <= key->inputs; i++)
		n += g1_table_terms_var(&terms[n], &key->ic[i], &x[i]);
	gamma->n += n;
}

/* e(-sum z vk_x, gamma) for all keys with the gamma of the I-th, which is the
 * first, and e(-sum z C, delta) for each of them. */
static void
product_gamma(struct product *p, struct weight_sum *exponent, struct batch *b,
    const struct unit *u, size_t units, size_t i)
{
	struct terms gamma = {.n = 0};
	struct pairing_fixed *f;

	g1j_set_infinity(&gamma.sum);
	for (size_t j = i; j < p->keys; j++) {
		if (first_gamma(p, j) != i)
			continue;
		f = &p->fixed[p->n++];
		sum_key(&gamma, &f->p, &exponent[first_target(p, j)], b, u,
		    units, p->key[j]);
		g1j_neg(&f->p, &f->p);
		f->lines = p->key[j]->delta;
	}
	terms_fold(&gamma, b);
	f = &p->fixed[p->n++];
	g1j_neg(&f->p, &gamma.sum);
	f->lines = p->key[i]->gamma;
}

/* Set up e(-sum z vk_x, gamma) e(-sum z C, delta) for every key, with those of
 * one gamma together, and e(alpha, beta)^(sum z). */
static void
product_init(
    struct product *p, struct batch *b, const struct unit *u, size_t units)
{
	struct weight_sum exponent[KEYS_MAX];
	bool first = true;

	product_keys(p, b, u, units);
	memset(exponent, 0, sizeof(exponent));
	p->n = 0;
	for (size_t i = 0; i < p->keys; i++) {
		if (first_gamma(p, i) == i)
			product_gamma(p, exponent, b, u, units, i);
	}
	for (size_t i = 0; i < p->keys; i++) {
		gt_t power;

		if (first_target(p, i) != i)
			continue;
		b->k->power(&power, &p->key[i]->alpha_beta, &exponent[i]);
		if (first)
			p->target = power;
		else
			b->k->multiply(&p->target, &p->target, &power);
		first = false;
	}
}

/* Whether all the proofs of these units are valid. */
static bool
units_hold(struct batch *b, const struct unit *u, size_t units)
{
	const gt_t *f[GROTH16_BATCH_MAX];
	struct product p;

	product_init(&p, b, u, units);
	for (size_t i = 0; i < units; i++)
		f[i] = u[i].f;
	return b->k->finish(f, units, p.fixed, p.n, &p.target);
}

/* --- looking for the bad ones ---------------------------------------------- */

static void
mark(struct batch *b, const struct unit *u, enum status s)
{
	for (size_t i = u->first; i < u->first + u->n; i++)
		b->job[i]->status = s;
}

/* Halve until the bad ones are known. BAD: there is one among these units. ON_BAD
 * is told which unit has one.
 * Returns: whether all are good. */
static bool
search(struct batch *b, const struct unit *u, size_t units, bool bad,
    void (*on_bad)(struct batch *, const struct unit *))
{
	size_t half = units / 2;
	bool left;

	if (units == 0)
		return true;
	if (!bad && units_hold(b, u, units)) {
		for (size_t i = 0; i < units; i++)
			mark(b, &u[i], ST_OK);
		return true;
	}
	if (units == 1) {
		on_bad(b, u);
		return false;
	}
	left = search(b, u, half, false, on_bad);
	search(b, u + half, units - half, left, on_bad);
	return false;
}

static void
bad_proof(struct batch *b, const struct unit *u)
{
	mark(b, u, ST_PROOF_INVALID);
}

/* Look through one group, each proof with a Miller function of its own. Those
 * outside G2 are known and stay out. */
static void
bad_group(struct batch *b, const struct unit *group)
{
	struct unit u[GROTH16_BATCH_MAX];
	bool inside[GROTH16_BATCH_MAX];
	size_t n = 0;

	b->k->miller(b->single, inside, &b->weighted[group->first],
	    &b->b[group->first], group->n, group->n, b->scratch);
	for (size_t i = 0; i < group->n; i++) {
		if (!b->inside[group->first + i])
			continue;
		u[n].f = &b->single[i];
		u[n].first = group->first + i;
		u[n++].n = 1;
	}
	/* A group without outsiders is here because it did not hold. */
	search(b, u, n, n == group->n, bad_proof);
}

/* --- a batch --------------------------------------------------------------- */

static void
settle(struct batch *b)
{
	size_t groups = b->k->batch_groups(b->n);
	size_t block = (b->n + groups - 1) / groups;
	struct unit good[GROTH16_BATCH_MAX], u;
	size_t n = 0;

	b->k->weigh(b->weighted, b->weighted, b->z, 2 * b->n, b->scratch);
	b->k->miller(
	    b->group, b->inside, b->weighted, b->b, b->n, groups, b->scratch);
	for (size_t i = 0; i < b->n; i++) {
		if (!b->inside[i])
			b->job[i]->status = ST_NOT_IN_GROUP;
	}
	for (size_t g = 0; g * block < b->n; g++) {
		bool whole = true;

		u.f = &b->group[g];
		u.first = g * block;
		u.n = b->n - u.first < block ? b->n - u.first : block;
		for (size_t i = 0; i < u.n; i++)
			whole = whole && b->inside[u.first + i];
		if (whole)
			good[n++] = u;
		else
			bad_group(b, &u);
	}
	search(b, good, n, false, bad_group);
}

/* Put a job into the batch. */
static void
admit(struct batch *b, struct groth16_job *job, const uint8_t *random)
{
	b->job[b->n] = job;
	b->z[b->n].half[0] = load_le64(random);
	b->z[b->n].half[1] = load_le64(random + 8);
	b->weighted[b->n] = job->proof.a;
	b->b[b->n] = job->proof.b;
	b->n++;
}

/* Fill in what follows the A of all: weights and C. */
static void
complete(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		b->z[b->n + i] = b->z[i];
		b->weighted[b->n + i] = b->job[i]->proof.c;
	}
}

/* Verify what has been admitted, and begin anew. */
static void
flush(struct batch *b)
{
	if (b->n >= b->k->batch_min) {
		complete(b);
		settle(b);
	} else {
		for (size_t i = 0; i < b->n; i++)
			b->job[i]->status =
			    groth16_verify(b->job[i]->key, b->job[i]->partial,
				&b->job[i]->proof, b->job[i]->inputs);
	}
	b->n = 0;
}

size_t
groth16_verify_batch(const struct bn254_kernel *k, struct groth16_job *jobs,
    size_t n, const uint8_t *random, void *scratch)
{
	struct batch *b = scratch;
	struct product keys = {.keys = 0};
	size_t valid = 0;

	VERIFY((uintptr_t)scratch % GROTH16_PVK_ALIGN == 0);
	VERIFY(n <= GROTH16_BATCH_MAX);
	b->k = k;
	b->n = 0;
	b->scratch = (uint8_t *)scratch + aligned(sizeof(*b));
	for (size_t i = 0; i < n; i++) {
		VERIFY(jobs[i].key->kernel == k);
		jobs[i].status = ST_INFINITY;
		if (groth16_proof_has_infinity(&jobs[i].proof))
			continue;
		if (keys.keys == KEYS_MAX) {
			flush(b);
			keys.keys = 0;
		}
		product_add_key(&keys, jobs[i].key);
		admit(b, &jobs[i], random + 16 * i);
	}
	flush(b);
	for (size_t i = 0; i < n; i++)
		valid += jobs[i].status == ST_OK;
	return valid;
}
