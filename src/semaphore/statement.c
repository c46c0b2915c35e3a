#include "semaphore/statement.h"

#include <stdlib.h>
#include <string.h>

#include "hash/keccak256.h"
#include "semaphore/codec.h"
#include "semaphore/keys.h"
#include "semaphore/points.h"

/* The circuit's public inputs, in its order. */
enum { ROOT, NULLIFIER, MESSAGE, SCOPE };

/* All but the nullifier stay the same from proof to proof. */
#define REPEATING (1u << ROOT | 1u << MESSAGE | 1u << SCOPE)

void
semaphore_signal_hash(uint8_t out[static 32], const uint8_t x[static 32])
{
	uint8_t hash[32];

	keccak256(hash, span_of(x, 32));
	out[0] = 0;
	memcpy(out + 1, hash, 31);
}

/* The public inputs of P. */
static enum status
inputs_of(fr_t out[static SEMAPHORE_INPUTS], const struct semaphore_proof *p,
    struct semaphore_fault *f)
{
	uint8_t hash[32];

	if (fr_from_bytes_strict(&out[ROOT], p->root) != ST_OK)
		return fault_at(f, ST_NOT_CANONICAL, SEMAPHORE_ROOT);
	if (fr_from_bytes_strict(&out[NULLIFIER], p->nullifier) != ST_OK)
		return fault_at(f, ST_NOT_CANONICAL, SEMAPHORE_NULLIFIER);
	/* 248 bits: below r. */
	semaphore_signal_hash(hash, p->message);
	fr_from_bytes_mod(&out[MESSAGE], hash);
	semaphore_signal_hash(hash, p->scope);
	fr_from_bytes_mod(&out[SCOPE], hash);
	return fault_at(f, ST_OK, SEMAPHORE_WHOLE);
}

/* --- what repeats --- */

/* More than there are epochs, slots and accepted roots at a time in most
 * gateways; a miss costs one short sum. */
#define MEMO_ENTRIES 16

struct semaphore_memo {
	const struct semaphore_keys *keys;
	uint64_t revision;
	unsigned used, next;
	struct groth16_partial entry[MEMO_ENTRIES];
};

enum status
semaphore_memo_new(
    struct semaphore_memo **memo, const struct semaphore_keys *keys)
{
	if ((*memo = calloc(1, sizeof(**memo))) == NULL)
		return ST_NO_MEMORY;
	(*memo)->keys = keys;
	(*memo)->revision = keys_revision(keys);
	return ST_OK;
}

void
semaphore_memo_free(struct semaphore_memo *memo)
{
	free(memo);
}

static bool
same_statement(const struct groth16_partial *e, const struct groth16_pvk *key,
    const fr_t *inputs)
{
	return e->key == key && fr_eq(&e->inputs[ROOT], &inputs[ROOT]) &&
	    fr_eq(&e->inputs[MESSAGE], &inputs[MESSAGE]) &&
	    fr_eq(&e->inputs[SCOPE], &inputs[SCOPE]);
}

const struct groth16_partial *
memo_recall(struct semaphore_memo *memo, const struct semaphore_keys *keys,
    const struct groth16_pvk *key, const fr_t *inputs)
{
	struct groth16_partial *e;

	if (memo == NULL || memo->keys != keys)
		return NULL;
	if (memo->revision != keys_revision(keys)) {
		memo->revision = keys_revision(keys);
		memo->used = memo->next = 0;
	}
	for (unsigned i = 0; i < memo->used; i++) {
		if (same_statement(&memo->entry[i], key, inputs))
			return &memo->entry[i];
	}
	e = &memo->entry[memo->next];
	memo->next = (memo->next + 1) % MEMO_ENTRIES;
	if (memo->used < MEMO_ENTRIES)
		memo->used++;
	groth16_partial_init(e, key, REPEATING, inputs);
	return e;
}

enum status
statement_begin(struct statement *s, const struct semaphore_keys *keys,
    const struct semaphore_proof *p, struct semaphore_fault *f)
{
	memset(s, 0, sizeof(*s));
	if (p->form == SEMAPHORE_NO_POINTS)
		return fault_at(f, ST_BAD_VALUE, SEMAPHORE_WHOLE);
	if (p->depth < SEMAPHORE_DEPTH_MIN || p->depth > SEMAPHORE_DEPTH_MAX)
		return fault_set(
		    f, ST_BAD_DEPTH, SEMAPHORE_DEPTH, -1, p->depth);
	if ((s->key = keys_at(keys, p->depth)) == NULL)
		return fault_at(f, ST_NO_KEY, SEMAPHORE_DEPTH);
	return inputs_of(s->inputs, p, f);
}

enum status
statement_read(struct statement *s, const struct semaphore_keys *keys,
    const struct semaphore_proof *p, struct semaphore_fault *f)
{
	const struct points_place at = {p, &s->proof, f};

	if (statement_begin(s, keys, p, f) == ST_OK)
		points_decode_many(keys_kernel(keys), &at, 1);
	return f->status;
}

enum status
statement_conclude(enum status st, struct semaphore_fault *f)
{
	return fault_at(
	    f, st, st == ST_NOT_IN_GROUP ? SEMAPHORE_B : SEMAPHORE_WHOLE);
}
