/* Verification of many proofs at once: see postern/semaphore.h. */
#include <stdlib.h>
#include <string.h>

#include "groth16/batch.h"
#include "semaphore/codec.h"
#include "semaphore/keys.h"
#include "semaphore/points.h"
#include "semaphore/statement.h"

/* What goes with each job. */
struct side {
	size_t place; /* of its proof */
	struct statement statement;
	struct groth16_partial partial; /* a copy: the memo may forget it
					 * before the batch is done */
};

/* Memory for so many jobs at a time; one owner, batch_clear when done. */
struct batch {
	struct groth16_job *jobs;
	struct side *sides;
	struct points_place *points;
	void *scratch;
	size_t n;
};

static enum status
batch_init(struct batch *b, const struct bn254_kernel *k, size_t most)
{
	const size_t unit = GROTH16_PVK_ALIGN;
	size_t size = groth16_batch_size(k, most);

	b->n = 0;
	b->jobs = malloc(most * sizeof(*b->jobs));
	b->sides = malloc(most * sizeof(*b->sides));
	b->points = malloc(most * sizeof(*b->points));
	/* aligned_alloc wants a size in whole units of the alignment. */
	b->scratch = aligned_alloc(unit, (size + unit - 1) / unit * unit);
	return b->jobs != NULL && b->sides != NULL && b->points != NULL &&
		b->scratch != NULL
	    ? ST_OK
	    : ST_NO_MEMORY;
}

static void
batch_clear(struct batch *b)
{
	free(b->jobs);
	free(b->sides);
	free(b->points);
	free(b->scratch);
}

/* Read proof number PLACE, but for its points, unless it fails. */
static void
batch_read(struct batch *b, const struct semaphore_keys *keys,
    const struct semaphore_proof *p, size_t place, struct semaphore_fault *f)
{
	struct side *side = &b->sides[b->n];

	if (statement_begin(&side->statement, keys, p, f) != ST_OK)
		return;
	side->place = place;
	b->points[b->n] = (struct points_place){p, &side->statement.proof, f};
	b->n++;
}

/* Make jobs of those whose points are good. */
static void
batch_fill(struct batch *b, const struct semaphore_keys *keys,
    struct semaphore_memo *memo)
{
	size_t n = b->n;

	points_decode_many(keys_kernel(keys), b->points, n);
	b->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct groth16_job *job = &b->jobs[b->n];
		struct side *side = &b->sides[b->n];
		const struct groth16_partial *partial;

		if (b->points[i].fault->status != ST_OK)
			continue;
		if (side != &b->sides[i])
			*side = b->sides[i];
		*job = (struct groth16_job){
		    .key = side->statement.key, .proof = side->statement.proof};
		memcpy(job->inputs, side->statement.inputs,
		    sizeof(side->statement.inputs));
		partial = memo_recall(memo, keys, job->key, job->inputs);
		if (partial != NULL) {
			side->partial = *partial;
			job->partial = &side->partial;
		}
		b->n++;
	}
}

enum status
semaphore_verify_batch(const struct semaphore_keys *keys,
    struct semaphore_memo *memo, struct semaphore_fault *faults,
    const struct semaphore_proof *const *proofs, size_t n,
    const uint8_t *random)
{
	const struct bn254_kernel *k = keys_kernel(keys);
	size_t most = n < GROTH16_BATCH_MAX ? n : GROTH16_BATCH_MAX;
	struct batch b;
	enum status st;

	for (size_t i = 0; i < n; i++)
		fault_at(&faults[i], ST_NO_MEMORY, SEMAPHORE_WHOLE);
	if (n == 0)
		return ST_OK;
	st = batch_init(&b, k, most);
	for (size_t from = 0; st == ST_OK && from < n; from += most) {
		size_t to = n - from < most ? n : from + most;
		b.n = 0;
		for (size_t i = from; i < to; i++)
			batch_read(&b, keys, proofs[i], i, &faults[i]);
		batch_fill(&b, keys, memo);
		if (b.n != 0)
			groth16_verify_batch(
			    k, b.jobs, b.n, random + 16 * from, b.scratch);
		for (size_t i = 0; i < b.n; i++)
			statement_conclude(
			    b.jobs[i].status, &faults[b.sides[i].place]);
	}
	batch_clear(&b);
	return st;
}
