/* Groth16 verification: proofs made from a key's secrets, and what is wrong
 * with them; by every kernel of this machine. */
#include <stdlib.h>

#include "groth16/batch.h"
#include "groth16_maker.h"

#define INPUTS 4

static const struct groth16_pvk *
prepare(const struct bn254_kernel *k, const struct groth16_vk *vk)
{
	const struct groth16_pvk *pvk;
	size_t size = groth16_pvk_size(k, vk->inputs);
	void *memory = aligned_alloc(GROTH16_PVK_ALIGN,
	    (size + GROTH16_PVK_ALIGN - 1) / GROTH16_PVK_ALIGN *
		GROTH16_PVK_ALIGN);

	CHECK(memory != NULL);
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, vk), ST_OK);
	CHECK((const void *)pvk == memory);
	CHECK_INT(groth16_inputs(pvk), vk->inputs);
	return pvk;
}

static void
release(const struct groth16_pvk *pvk)
{
	union {
		const void *from;
		void *to;
	} u = {pvk};

	free(u.to);
}

static void
valid_and_not(const struct bn254_kernel *k)
{
	struct groth16_proof proof, bad;
	struct groth16_partial partial;
	const struct groth16_pvk *pvk;
	fr_t x[INPUTS], y[INPUTS];
	struct maker m;

	maker_init(&m, INPUTS);
	pvk = prepare(k, &m.vk);
	for (int i = 0; i < INPUTS; i++)
		maker_random(&x[i]);
	maker_prove(&proof, &m, x);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_OK);

	/* Re-randomised it is valid too: (-A, -B, C). */
	bad = proof;
	g1_neg(&bad.a, &bad.a);
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_PROOF_INVALID);
	twist_neg(&bad.b, &bad.b);
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_OK);

	bad = proof;
	g1_neg(&bad.c, &bad.c);
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_PROOF_INVALID);
	bad = proof;
	bad.a = proof.c;
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_PROOF_INVALID);
	bad = proof;
	bad.a = g1_infinity;
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_INFINITY);
	bad = proof;
	bad.b = twist_infinity;
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_INFINITY);
	bad = proof;
	bad.c = g1_infinity;
	CHECK_STATUS(groth16_verify(pvk, NULL, &bad, x), ST_INFINITY);

	for (unsigned which = 0; which < 1 << INPUTS; which++) {
		groth16_partial_init(&partial, pvk, which, x);
		CHECK_STATUS(groth16_verify(pvk, &partial, &proof, x), ST_OK);
		for (int i = 0; i < INPUTS; i++) {
			memcpy(y, x, sizeof(y));
			fr_add(&y[i], &y[i], &fr_one);
			CHECK_STATUS(groth16_verify(pvk, &partial, &proof, y),
			    ST_PROOF_INVALID);
		}
	}
	/* A partial sum of other values is of no use and does no harm. */
	memcpy(y, x, sizeof(y));
	fr_add(&y[1], &y[1], &fr_one);
	groth16_partial_init(&partial, pvk, 3, y);
	CHECK_STATUS(groth16_verify(pvk, &partial, &proof, x), ST_OK);
	CHECK_STATUS(
	    groth16_verify(pvk, &partial, &proof, y), ST_PROOF_INVALID);
	release(pvk);
}

/* Inputs that make vk_x infinity, or a term of it 0. */
static void
degenerate_inputs(const struct bn254_kernel *k)
{
	struct groth16_proof proof;
	const struct groth16_pvk *pvk;
	fr_t x[INPUTS] = {fr_zero}, t;
	struct maker m;

	maker_init(&m, INPUTS);
	pvk = prepare(k, &m.vk);
	maker_prove(&proof, &m, x);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_OK);
	fr_inv_var(&t, &m.ic[1]);
	fr_mul(&t, &t, &m.ic[0]);
	fr_neg(&x[0], &t);
	maker_prove(&proof, &m, x);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_OK);
	fr_neg(&x[3], &fr_one);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_PROOF_INVALID);
	maker_prove(&proof, &m, x);
	CHECK_STATUS(groth16_verify(pvk, NULL, &proof, x), ST_OK);
	release(pvk);
}

static void
bad_keys(const struct bn254_kernel *k)
{
	const struct groth16_pvk *pvk;
	struct groth16_vk vk;
	struct maker m;
	void *memory = aligned_alloc(GROTH16_PVK_ALIGN,
	    (groth16_pvk_size(k, GROTH16_INPUTS_MAX) + 63) / 64 * 64);

	CHECK(memory != NULL);
	maker_init(&m, 1);
	vk = m.vk;
	vk.inputs = 0;
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_BAD_VALUE);
	CHECK(pvk == NULL);
	vk.inputs = GROTH16_INPUTS_MAX + 1;
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_BAD_VALUE);
	vk = m.vk;
	vk.alpha = g1_infinity;
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_INFINITY);
	vk = m.vk;
	memset(&vk.delta, 0, sizeof(vk.delta));
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_INFINITY);
	vk = m.vk;
	vk.ic[1] = g1_infinity;
	CHECK_STATUS(groth16_prepare(&pvk, memory, k, &vk), ST_INFINITY);
	free(memory);
}

/* --- batches --------------------------------------------------------------- */

#define KEYS 35 /* more than one product takes */
#define FEW 5
#define JOBS 70

static struct maker makers[KEYS];

struct batch_test {
	const struct bn254_kernel *k;
	const struct groth16_pvk *pvk[KEYS];
	struct groth16_job jobs[JOBS];
	void *scratch;
};

/* Keys 1 and 2 share gamma, as the keys of one ceremony do; 2 and 3 share
 * alpha and beta too; 4 has fewer inputs. From 6 on all share 1's gamma. */
static void
batch_init(struct batch_test *t, const struct bn254_kernel *k)
{
	size_t size = groth16_batch_size(k, JOBS);

	t->k = k;
	for (size_t i = 0; i < KEYS; i++) {
		if (makers[i].vk.inputs != 0) {
			t->pvk[i] = prepare(k, &makers[i].vk);
			continue;
		}
		maker_init(&makers[i], i == 4 ? 1 : INPUTS);
		if (i == 2 || i > 5) {
			makers[i].gamma = makers[1].gamma;
			makers[i].vk.gamma = makers[1].vk.gamma;
		}
		if (i == 3) {
			makers[3].alpha = makers[2].alpha;
			makers[3].beta = makers[2].beta;
			makers[3].vk.alpha = makers[2].vk.alpha;
			makers[3].vk.beta = makers[2].vk.beta;
		}
		t->pvk[i] = prepare(k, &makers[i].vk);
	}
	t->scratch = aligned_alloc(GROTH16_PVK_ALIGN,
	    (size + GROTH16_PVK_ALIGN - 1) / GROTH16_PVK_ALIGN *
		GROTH16_PVK_ALIGN);
	CHECK(t->scratch != NULL);
}

static void
batch_release(struct batch_test *t)
{
	for (size_t i = 0; i < KEYS; i++)
		release(t->pvk[i]);
	free(t->scratch);
}

/* Valid proofs of the first KEYS keys in turn. They are made once: what a
 * proof is does not depend on the kernel. */
static void
batch_fill(struct batch_test *t, size_t n, size_t keys)
{
	static struct groth16_job good[KEYS + 1][JOBS];
	static size_t made[KEYS + 1];

	for (; made[keys] < n; made[keys]++) {
		size_t key = made[keys] % keys;
		struct groth16_job *j = &good[keys][made[keys]];

		for (size_t l = 0; l < makers[key].vk.inputs; l++)
			maker_random(&j->inputs[l]);
		maker_prove(&j->proof, &makers[key], j->inputs);
	}
	for (size_t i = 0; i < n; i++) {
		t->jobs[i] = good[keys][i];
		t->jobs[i].key = t->pvk[i % keys];
		t->jobs[i].status = ST_INTERNAL;
	}
}

/* Run it, and compare with what one by one gives. */
static void
batch_run(struct batch_test *t, size_t n)
{
	static struct groth16_job want[JOBS];
	uint8_t random[16 * JOBS];
	size_t valid = 0;

	test_random_bytes(random, sizeof(random));
	for (size_t i = 0; i < n; i++) {
		struct groth16_job *j = &t->jobs[i];

		j->status = groth16_verify(j->key, NULL, &j->proof, j->inputs);
	}
	for (size_t i = 0; i < n; i++)
		valid += t->jobs[i].status == ST_OK;
	memcpy(want, t->jobs, sizeof(want));
	for (size_t i = 0; i < n; i++)
		t->jobs[i].status = ST_INTERNAL;
	CHECK_INT(
	    groth16_verify_batch(t->k, t->jobs, n, random, t->scratch), valid);
	for (size_t i = 0; i < n; i++)
		CHECK_STATUS(t->jobs[i].status, want[i].status);
}

/* A point of the twist outside G2. */
static void
outsider(twist_t *r)
{
	fp2_t x, y, b, u;

	for (uint64_t i = test_random() % 1000;; i++) {
		fp_from_u64(&x.c0, i);
		fp_from_u64(&x.c1, 1);
		fp2_sqr(&y, &x);
		fp2_mul(&y, &y, &x);
		/* b' = y^2 - x^3 of the generator. */
		fp2_sqr(&b, &g2_generator.point.y);
		fp2_sqr(&u, &g2_generator.point.x);
		fp2_mul(&u, &u, &g2_generator.point.x);
		fp2_sub(&b, &b, &u);
		fp2_add(&y, &y, &b);
		if (fp2_sqrt_var(&y, &y)) {
			CHECK_STATUS(twist_set_var(r, &x, &y), ST_OK);
			return;
		}
	}
}

/* Make the I-th job bad in way KIND. */
static void
spoil(struct batch_test *t, size_t i, unsigned kind)
{
	struct groth16_job *j = &t->jobs[i];

	switch (kind % 7) {
	case 0:
		fr_add(&j->inputs[0], &j->inputs[0], &fr_one);
		break;
	case 1:
		g1_neg(&j->proof.c, &j->proof.c);
		break;
	case 2:
		j->proof.a = g1_generator;
		break;
	case 3:
		outsider(&j->proof.b);
		break;
	case 4:
		j->proof.a = g1_infinity;
		break;
	case 5:
		j->proof.b = twist_infinity;
		break;
	default:
		twist_neg(&j->proof.b, &j->proof.b);
		break;
	}
}

static void
batches(const struct bn254_kernel *k)
{
	static const size_t sizes[] = {0, 1, 2, 7, 9, JOBS};
	static struct batch_test t;

	batch_init(&t, k);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (size_t i = 0; i < 3; i++) {
			static const size_t keys[] = {1, FEW, KEYS};

			if (keys[i] == KEYS && sizes[s] != JOBS)
				continue;
			batch_fill(&t, sizes[s], keys[i]);
			batch_run(&t, sizes[s]);
			for (size_t j = 0; j < sizes[s]; j++)
				CHECK_STATUS(t.jobs[j].status, ST_OK);
		}
	}
	batch_release(&t);
}

static void
bad_batches(const struct bn254_kernel *k)
{
	static struct batch_test t;

	batch_init(&t, k);
	/* Each kind of bad alone, everywhere in turn. */
	for (unsigned kind = 0; kind < 7; kind++) {
		batch_fill(&t, 20, FEW);
		spoil(&t, test_random() % 20, kind);
		batch_run(&t, 20);
	}
	/* One, two, many, all. */
	for (size_t bad = 1; bad <= 40; bad += 13) {
		batch_fill(&t, 40, FEW);
		for (size_t i = 0; i < bad; i++)
			spoil(&t, bad == 40 ? i : test_random() % 40,
			    (unsigned)test_random());
		batch_run(&t, 40);
	}
	/* Each a key of its own. */
	batch_fill(&t, KEYS, KEYS);
	spoil(&t, test_random() % KEYS, 1);
	batch_run(&t, KEYS);
	batch_release(&t);
}

/* Errors that cancel unless every proof has its own weight: C swapped between
 * two proofs of one key, and the same proof twice, once negated. */
static void
cancelling(const struct bn254_kernel *k)
{
	static struct batch_test t;
	g1_t c;

	batch_init(&t, k);
	batch_fill(&t, 16, 1);
	c = t.jobs[3].proof.c;
	t.jobs[3].proof.c = t.jobs[4].proof.c;
	t.jobs[4].proof.c = c;
	batch_run(&t, 16);
	CHECK_STATUS(t.jobs[3].status, ST_PROOF_INVALID);
	CHECK_STATUS(t.jobs[4].status, ST_PROOF_INVALID);
	CHECK_STATUS(t.jobs[5].status, ST_OK);

	batch_fill(&t, 16, 1);
	for (size_t i = 1; i < 16; i++)
		t.jobs[i] = t.jobs[0];
	batch_run(&t, 16);
	for (size_t i = 0; i < 16; i++)
		CHECK_STATUS(t.jobs[i].status, ST_OK);
	for (size_t i = 8; i < 16; i++) {
		g1_neg(&t.jobs[i].proof.a, &t.jobs[i].proof.a);
		g1_neg(&t.jobs[i].proof.c, &t.jobs[i].proof.c);
	}
	batch_run(&t, 16);
	CHECK_STATUS(t.jobs[7].status, ST_OK);
	CHECK_STATUS(t.jobs[8].status, ST_PROOF_INVALID);
	batch_release(&t);
}

static void
with_every_kernel(void (*test)(const struct bn254_kernel *))
{
	const struct bn254_kernel *k;
	size_t n = 0;

	while ((k = bn254_kernel_nth(n)) != NULL) {
		test(k);
		n++;
	}
	CHECK(n >= 1);
}

static void
test_valid_and_not(void)
{
	with_every_kernel(valid_and_not);
}

static void
test_degenerate_inputs(void)
{
	with_every_kernel(degenerate_inputs);
}

static void
test_bad_keys(void)
{
	with_every_kernel(bad_keys);
}

static void
test_batches(void)
{
	with_every_kernel(batches);
}

static void
test_bad_batches(void)
{
	with_every_kernel(bad_batches);
}

static void
test_cancelling(void)
{
	with_every_kernel(cancelling);
}

TESTS({"valid proofs, and what is wrong with others", test_valid_and_not},
    {"inputs that make a sum vanish", test_degenerate_inputs},
    {"keys that can not be prepared", test_bad_keys},
    {"batches of valid proofs", test_batches},
    {"batches with bad proofs", test_bad_batches},
    {"errors that would cancel without weights", test_cancelling})
