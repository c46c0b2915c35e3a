/* The first table: what a membership proof costs to verify, from the bytes of
 * a token to the verdict, for a group of 8 (depth 3). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/span.h"
#include "base/text.h"
#include "bench.h"
#include "bn254/kernel.h"
#include "postern/semaphore.h"

enum { DEPTH = 3, PROOFS_MAX = 64, BATCH_MAX = 256, TEXT_MAX = 4096 };

struct proofs {
	char tokens[PROOFS_MAX][TEXT_MAX];
	struct semaphore_proof read[PROOFS_MAX];
	struct semaphore_proof wrong; /* well formed; does not hold */
	size_t n, next;
	bool any_depth; /* else those of DEPTH alone */
	size_t bad; /* which one of a batch does not hold, + 1; 0: none */
	struct semaphore_keys *keys;
	const char *kernel;
	uint8_t random[16 * BATCH_MAX];
	size_t batch;
};

static void
fail(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* Make the N-th token from the official object O: the JSON form. */
static bool
add_proof(struct proofs *p, const json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT);
	struct semaphore_token kind;
	struct semaphore_fault f;

	if (text == NULL || base64_length(strlen(text), BASE64_URL) >= TEXT_MAX)
		fail("a proof does not fit");
	base64_encode(p->tokens[p->n], span_str(text), BASE64_URL);
	free(text);
	if (semaphore_token_decode(&p->read[p->n], &kind, p->tokens[p->n],
		strlen(p->tokens[p->n]), &f) != ST_OK)
		return false;
	p->n += p->any_depth || p->read[p->n].depth == DEPTH;
	return true;
}

static void
load(struct proofs *p)
{
	json_error_t error;
	json_t *all =
	    json_load_file(TESTS_DIR "/vectors/proofs.json", 0, &error);
	json_t *entry;
	size_t i;

	if (all == NULL)
		fail("tests/vectors/proofs.json can not be read");
	json_array_foreach(all, i, entry)
	{
		if (p->n < PROOFS_MAX &&
		    !add_proof(p, json_object_get(entry, "proof")))
			fail("a vector is no proof");
	}
	json_decref(all);
	if (p->n == 0)
		fail("no vector of this depth");
}

static bool
verify_next(struct proofs *p, const struct semaphore_keys *keys)
{
	const char *token = p->tokens[p->next++ % p->n];
	struct semaphore_proof proof;
	struct semaphore_token kind;
	struct semaphore_fault f;

	return semaphore_token_decode(
		   &proof, &kind, token, strlen(token), &f) == ST_OK &&
	    semaphore_verify(keys, NULL, &proof, &f) == ST_OK;
}

/* Nothing is ready: the key is prepared for this one proof. */
static bool
run_cold(void *ctx)
{
	struct proofs *p = ctx;
	struct semaphore_keys *keys;
	bool ok;

	if (semaphore_keys_new(&keys, SEMAPHORE_DEPTH_BIT(DEPTH), p->kernel) !=
	    ST_OK)
		return false;
	ok = verify_next(p, keys);
	semaphore_keys_free(keys);
	return ok;
}

static bool
run_warm(void *ctx)
{
	struct proofs *p = ctx;

	return verify_next(p, p->keys);
}

static bool
run_batch(void *ctx)
{
	struct proofs *p = ctx;
	const struct semaphore_proof *proofs[BATCH_MAX];
	struct semaphore_fault faults[BATCH_MAX];

	for (size_t i = 0; i < p->batch; i++)
		proofs[i] = i + 1 == p->bad ? &p->wrong : &p->read[i % p->n];
	if (semaphore_verify_batch(
		p->keys, NULL, faults, proofs, p->batch, p->random) != ST_OK)
		return false;
	for (size_t i = 0; i < p->batch; i++) {
		if (faults[i].status !=
		    (i + 1 == p->bad ? ST_PROOF_INVALID : ST_OK))
			return false;
	}
	return true;
}

/* Batches of 64 with one proof among them that does not hold, and of all
 * depths. */
static void
bench_mixtures(const struct bench *b, struct proofs *p, struct proofs *all)
{
	char name[64];
	struct bench_spec spec = {
	    .name = name, .run = run_batch, .ctx = p, .batch = 64};

	p->batch = 64;
	p->bad = 30;
	snprintf(name, sizeof(name), "verify/batch-64-one-bad/%s", p->kernel);
	bench_run(b, &spec, NULL);
	p->bad = 0;

	snprintf(name, sizeof(name), "verify/batch-64-depths/%s", p->kernel);
	if (!bench_wants(b, name))
		return;
	if (semaphore_keys_new(&all->keys, SEMAPHORE_ALL_DEPTHS, p->kernel) !=
	    ST_OK)
		fail("no keys");
	all->batch = 64;
	spec.ctx = all;
	bench_run(b, &spec, NULL);
	semaphore_keys_free(all->keys);
}

static void
bench_kernel(const struct bench *b, struct proofs *p, struct proofs *all)
{
	static const size_t batches[] = {1, 8, 64, 256};
	char name[64];

	if (semaphore_keys_new(
		&p->keys, SEMAPHORE_DEPTH_BIT(DEPTH), p->kernel) != ST_OK)
		fail("no key");
	snprintf(name, sizeof(name), "verify/cold/%s", p->kernel);
	bench_run(b,
	    &(struct bench_spec){.name = name,
		.run = run_cold,
		.ctx = p,
		.repeat = 1,
		.samples = 101},
	    NULL);
	/* The seed's own count: 480 verifications. */
	snprintf(name, sizeof(name), "verify/warm/%s", p->kernel);
	bench_run(b,
	    &(struct bench_spec){.name = name,
		.run = run_warm,
		.ctx = p,
		.repeat = 1,
		.samples = 480,
		.warmup = 20},
	    NULL);
	for (size_t i = 0; i < sizeof(batches) / sizeof(*batches); i++) {
		p->batch = batches[i];
		snprintf(name, sizeof(name), "verify/batch-%zu/%s", p->batch,
		    p->kernel);
		bench_run(b,
		    &(struct bench_spec){.name = name,
			.run = run_batch,
			.ctx = p,
			.batch = (unsigned)p->batch},
		    NULL);
	}
	bench_mixtures(b, p, all);
	semaphore_keys_free(p->keys);
}

static struct proofs *
proofs_new(bool any_depth)
{
	struct proofs *p = calloc(1, sizeof(*p));

	if (p == NULL)
		fail("out of memory");
	p->any_depth = any_depth;
	load(p);
	p->wrong = p->read[0];
	p->wrong.nullifier[31] ^= 1;
	/* Weights need not be secret where nobody tries to cheat. */
	for (size_t i = 0; i < sizeof(p->random); i++)
		p->random[i] = (uint8_t)(i * 151 + 7);
	return p;
}

int
main(int argc, char **argv)
{
	const struct bn254_kernel *kernel;
	struct proofs *p, *all;
	struct bench b;

	bench_begin(&b, argc, argv);
	p = proofs_new(false);
	all = proofs_new(true);
	for (size_t i = 0; (kernel = bn254_kernel_nth(i)) != NULL; i++) {
		p->kernel = bn254_kernel_name(kernel);
		bench_kernel(&b, p, all);
	}
	free(p);
	free(all);
	return 0;
}
