#include "postern/prove.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctime.h"
#include "base/wipe.h"
#include "groth16/prove.h"
#include "semaphore/codec.h"
#include "semaphore/keys.h"
#include "semaphore/witness.h"

struct prove_key {
	struct zkey zkey;
	struct groth16_pk pk;
	uint32_t depth;
	void *memory; /* of pk */
};

static enum status
fault(struct prove_fault *f, enum status status, enum prove_part part,
    unsigned index)
{
	*f = (struct prove_fault){status, part, (int)index};
	return status;
}

/* --- faults ----------------------------------------------------------------- */

static const char *
section_name(int section)
{
	static const char *const names[ZKEY_SECTIONS] = {
	    [ZKEY_PROTOCOL] = "protocol",
	    [ZKEY_HEADER] = "header",
	    [ZKEY_IC] = "points IC",
	    [ZKEY_COEFS] = "coefficients",
	    [ZKEY_A] = "points A",
	    [ZKEY_B1] = "points B1",
	    [ZKEY_B2] = "points B2",
	    [ZKEY_C] = "points C",
	    [ZKEY_H] = "points H",
	    [ZKEY_CONTRIBUTIONS] = "contributions",
	};

	if (section < 0 || section >= ZKEY_SECTIONS || names[section] == NULL)
		return "unknown";
	return names[section];
}

static const char *
file_text(enum status st)
{
	if (st == ST_CORRUPT)
		return "not a .zkey file";
	if (st == ST_BAD_LENGTH)
		return "truncated";
	if (st == ST_BAD_DEPTH)
		return "not a key of Semaphore v4's circuit at any depth";
	if (st == ST_FOREIGN)
		return "of another ceremony than the official key of its depth";
	return status_text(st);
}

const char *
prove_fault_text(char out[static PROVE_FAULT_MAX], const struct prove_fault *f)
{
	static const char *const what[PROVE_PARTS] = {
	    [PROVE_SECRET] = "secret scalar: not below the subgroup's order",
	    [PROVE_PATH_INDEX] =
		"path: its index has more bits than it is long",
	    [PROVE_PATH_LENGTH] = "path: longer than the depth of the key",
	    [PROVE_PATH_LEAF] = "path: not that of this identity's commitment",
	    [PROVE_PATH_ROOT] = "path: does not lead to its root",
	};

	switch (f->part) {
	case PROVE_KEY_FILE:
		snprintf(out, PROVE_FAULT_MAX, "%s", file_text(f->status));
		break;
	case PROVE_KEY_SECTION:
		snprintf(out, PROVE_FAULT_MAX, "section %d (%s): %s", f->index,
		    section_name(f->index), status_text(f->status));
		break;
	case PROVE_PATH_SIBLING:
		snprintf(out, PROVE_FAULT_MAX, "path: sibling %d: %s", f->index,
		    status_text(f->status));
		break;
	case PROVE_SECRET:
	case PROVE_PATH_INDEX:
	case PROVE_PATH_LENGTH:
	case PROVE_PATH_LEAF:
	case PROVE_PATH_ROOT:
		snprintf(out, PROVE_FAULT_MAX, "%s", what[f->part]);
		break;
	case PROVE_DEPTH:
	case PROVE_PARTS:
		snprintf(out, PROVE_FAULT_MAX, "%s", status_text(f->status));
		break;
	}
	return out;
}

/* --- the key ---------------------------------------------------------------- */

/* The depth whose circuit has Z's sizes; 0 for none. */
static uint32_t
depth_of(const struct zkey *z)
{
	for (uint32_t d = SEMAPHORE_DEPTH_MIN; d <= SEMAPHORE_DEPTH_MAX; d++) {
		/* The last rows are snarkjs's: one for each public signal. */
		uint32_t rows = WITNESS_ROWS(d) + WITNESS_PUBLIC + 1;
		if (z->n_vars == WITNESS_LENGTH(d) &&
		    z->n_public == WITNESS_PUBLIC && rows <= z->domain &&
		    rows > z->domain / 2)
			return d;
	}
	return 0;
}

static bool
vk_equal(const struct groth16_vk *a, const struct groth16_vk *b)
{
	bool equal = a->inputs == b->inputs && g1_eq(&a->alpha, &b->alpha) &&
	    twist_eq(&a->beta.point, &b->beta.point) &&
	    twist_eq(&a->gamma.point, &b->gamma.point) &&
	    twist_eq(&a->delta.point, &b->delta.point);

	for (size_t i = 0; equal && i <= a->inputs; i++)
		equal = g1_eq(&a->ic[i], &b->ic[i]);
	return equal;
}

static enum status
read_key(struct prove_key *k, span_t file, bool any_key, struct prove_fault *f)
{
	enum zkey_section section;
	struct groth16_vk official;
	enum status st = zkey_read(&k->zkey, file, &section);

	if (st != ST_OK)
		return fault(f, st,
		    section == ZKEY_FILE ? PROVE_KEY_FILE : PROVE_KEY_SECTION,
		    section);
	k->depth = depth_of(&k->zkey);
	if (k->depth == 0)
		return fault(f, ST_BAD_DEPTH, PROVE_KEY_FILE, 0);
	st = any_key ? ST_OK : keys_official(&official, k->depth);
	if (st == ST_OK && !any_key && !vk_equal(&official, &k->zkey.vk))
		st = ST_FOREIGN;
	return fault(f, st, PROVE_KEY_FILE, 0);
}

enum status
prove_key_new(struct prove_key **key, const void *bytes, size_t len,
    bool any_key, struct prove_fault *f)
{
	struct prove_key *k = calloc(1, sizeof(*k));
	bool is_bit[WITNESS_LENGTH(SEMAPHORE_DEPTH_MAX)];
	enum status st;

	*key = NULL;
	if (k == NULL)
		return fault(f, ST_NO_MEMORY, PROVE_PARTS, 0);
	st = read_key(k, span_of(bytes, len), any_key, f);
	if (st == ST_OK) {
		k->memory = aligned_alloc(
		    64, (groth16_pk_size(&k->zkey) + 63) & ~(size_t)63);
		if (k->memory == NULL)
			st = fault(f, ST_NO_MEMORY, PROVE_PARTS, 0);
	}
	if (st != ST_OK) {
		prove_key_free(k);
		return st;
	}
	witness_bits(is_bit, k->depth);
	groth16_pk_init(&k->pk, &k->zkey, is_bit, NULL, k->memory);
	*key = k;
	return ST_OK;
}

void
prove_key_free(struct prove_key *key)
{
	if (key != NULL)
		free(key->memory);
	free(key);
}

uint32_t
prove_key_depth(const struct prove_key *key)
{
	return key->depth;
}

/* --- the proof -------------------------------------------------------------- */

/* Working memory: what the witness needs, and then what the proof does. */
struct workspace {
	uint64_t scalars[WITNESS_LENGTH(SEMAPHORE_DEPTH_MAX)][4];
	union {
		struct {
			fr_t w[WITNESS_LENGTH(SEMAPHORE_DEPTH_MAX)];
			struct witness_work work;
		} witness;
		uint8_t proof[1]; /* groth16_prove_memory, aligned */
	} u;
};

#define ALIGN_UP(N) (((N) + PROVE_MEMORY_ALIGN - 1) & ~(size_t)63)

size_t
prove_memory_size(const struct prove_key *key, unsigned width)
{
	size_t proof = groth16_prove_memory(&key->pk, width);
	size_t witness = sizeof(((struct workspace *)NULL)->u);

	return ALIGN_UP(offsetof(struct workspace, u)) +
	    (proof > witness ? proof : witness);
}

/* 64 bytes modulo r: the high half times 2^256, and the low half. */
static void
fr_from_wide(fr_t *out, const uint8_t in[static 64])
{
	fr_t high, shift;

	fr_from_u64(&shift, UINT64_C(1) << 32);
	for (unsigned i = 0; i < 3; i++) /* 2^32 to 2^256 */
		fr_sqr(&shift, &shift);
	fr_from_bytes_mod(&high, in);
	fr_from_bytes_mod(out, in + 32);
	fr_mul(&high, &high, &shift);
	fr_add(out, out, &high);
	wipe(&high, sizeof(high));
}

static enum status
refusal(struct prove_fault *f, enum status st, enum witness_refusal why,
    unsigned index)
{
	static const enum prove_part parts[] = {
	    [WITNESS_FINE] = PROVE_PARTS,
	    [WITNESS_BAD_DEPTH] = PROVE_DEPTH,
	    [WITNESS_BAD_SECRET] = PROVE_SECRET,
	    [WITNESS_BAD_LENGTH] = PROVE_PATH_LENGTH,
	    [WITNESS_BAD_INDEX] = PROVE_PATH_INDEX,
	    [WITNESS_BAD_SIBLING] = PROVE_PATH_SIBLING,
	};

	return fault(f, st, parts[why], index);
}

/* Make the witness, as scalars; P's depth, signals, message and scope. */
static enum status
make_witness(struct semaphore_proof *p, struct workspace *ws, uint32_t depth,
    const struct prove_statement *statement, struct prove_fault *f)
{
	struct witness_input in = {.depth = depth,
	    .secret = statement->secret,
	    .path = statement->path};
	uint8_t hash[32], leaf[32];
	fr_t *w = ws->u.witness.w;
	enum witness_refusal why;
	enum status st;
	unsigned index;
	bool same;

	semaphore_signal_hash(hash, statement->message);
	fr_from_bytes_mod(&in.message, hash); /* below 2^248 */
	semaphore_signal_hash(hash, statement->scope);
	fr_from_bytes_mod(&in.scope, hash);
	st = witness_make(w, &in, &ws->u.witness.work, &why, &index);
	if (st != ST_OK)
		return refusal(f, st, why, index);
	fr_to_bytes(leaf, &w[WITNESS_LEAF(depth)]);
	fr_to_bytes(p->root, &w[WITNESS_ROOT]);
	fr_to_bytes(p->nullifier, &w[WITNESS_NULLIFIER]);
	/* Public from here on, but for the leaf. */
	declassify(p->root, 32);
	declassify(p->nullifier, 32);
	same = equal_ct(leaf, statement->path->leaf, 32);
	declassify(&same, sizeof(same));
	if (!same)
		return fault(f, ST_FOREIGN, PROVE_PATH_LEAF, 0);
	if (!equal_ct(p->root, statement->path->root, 32))
		return fault(f, ST_FOREIGN, PROVE_PATH_ROOT, 0);
	p->depth = depth;
	memcpy(p->message, statement->message, 32);
	memcpy(p->scope, statement->scope, 32);
	for (size_t i = 0; i < WITNESS_LENGTH(depth); i++)
		fr_to_limbs(ws->scalars[i], &w[i]);
	return fault(f, ST_OK, PROVE_PARTS, 0);
}

enum status
prove_make(struct semaphore_proof *p, const struct prove_key *key,
    const struct prove_statement *statement,
    const uint8_t random[static PROVE_RANDOM_LENGTH], void *memory,
    const struct runner *runner, struct prove_fault *f)
{
	const unsigned width = runner != NULL ? runner->width : 1;
	struct workspace *ws = memory;
	uint8_t *proof_memory =
	    (uint8_t *)memory + ALIGN_UP(offsetof(struct workspace, u));
	struct groth16_proof proof;
	fr_t s, t;
	enum status st;

	memset(p, 0, sizeof(*p));
	st = make_witness(p, ws, key->depth, statement, f);
	if (st == ST_OK) {
		fr_from_wide(&s, random);
		fr_from_wide(&t, random + 64);
		groth16_prove(&proof, &key->pk,
		    (const uint64_t(*)[4])ws->scalars, &s, &t, proof_memory,
		    runner);
		declassify(&proof, sizeof(proof));
		p->form = SEMAPHORE_AFFINE;
		g1_encode(p->points + AFFINE_A, &proof.a);
		twist_encode(p->points + AFFINE_B, &proof.b);
		g1_encode(p->points + AFFINE_C, &proof.c);
		wipe(&s, sizeof(s));
		wipe(&t, sizeof(t));
	} else {
		memset(p, 0, sizeof(*p));
	}
	wipe(memory, prove_memory_size(key, width));
	return st;
}
