/* Proofs with the official proving keys: the slow prover's, with known
 * blinding; verified; refused by name; and nothing left in memory. */
#include "harness.h"

#include <stdlib.h>

#include <sodium.h>

#include "base/text.h"
#include "official_keys.h"
#include "postern/identity.h"
#include "postern/prove.h"
#include "base/bytes.h"
#include "hash/poseidon.h"
#include "semaphore/babyjub.h"

/* A proof costs more where a sanitizer watches. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    VERIFY_BUILD
#define SLOW 1
#elif defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer) || \
    __has_feature(address_sanitizer)
#define SLOW 1
#endif
#endif
#ifndef SLOW
#define SLOW 0
#endif

struct fixture {
	uint8_t *file;
	size_t len;
	struct prove_key *key;
	struct identity id;
	struct group_proof path;
	struct prove_statement statement;
	uint8_t random[PROVE_RANDOM_LENGTH];
	uint8_t *memory;
	size_t memory_len;
	struct semaphore_proof proof;
	struct prove_fault fault;
	char text[PROVE_FAULT_MAX];
};

static void
open_key(struct fixture *f, unsigned depth)
{
	f->file = official_key(depth, &f->len);
	CHECK_STATUS(
	    prove_key_new(&f->key, f->file, f->len, false, &f->fault), ST_OK);
	CHECK_INT(prove_key_depth(f->key), depth);
	f->memory_len = (prove_memory_size(f->key, 1) + 63) / 64 * 64;
	f->memory = aligned_alloc(PROVE_MEMORY_ALIGN, f->memory_len);
	CHECK(f->memory != NULL);
}

static void
close_key(struct fixture *f)
{
	prove_key_free(f->key);
	free(f->file);
	free(f->memory);
}

/* A member of a group of N, at PLACE. */
static void
join_group(struct fixture *f, size_t n, size_t place)
{
	struct group_member *members = calloc(n, sizeof(*members));
	struct group *g;
	uint8_t key[32];

	CHECK(members != NULL);
	test_random_bytes(key, sizeof(key));
	CHECK_STATUS(identity_derive(&f->id, key, sizeof(key)), ST_OK);
	for (size_t i = 0; i < n; i++) {
		test_random_bytes(members[i].commitment, 32);
		members[i].commitment[0] &= 0x1f;
	}
	memcpy(members[place].commitment, f->id.commitment, 32);
	CHECK_STATUS(group_new(&g), ST_OK);
	CHECK_STATUS(group_add(g, members, n, NULL), ST_OK);
	CHECK_STATUS(group_proof(&f->path, g, place), ST_OK);
	group_free(g);
	free(members);
	f->statement =
	    (struct prove_statement){.secret = f->id.secret, .path = &f->path};
	test_random_bytes(f->statement.message, 32);
	test_random_bytes(f->statement.scope, 32);
	test_random_bytes(f->random, sizeof(f->random));
}

static enum status
make(struct fixture *f)
{
	enum status st;

	memset(f->memory, 0xa5, f->memory_len);
	memset(&f->proof, 0xa5, sizeof(f->proof));
	st = prove_make(&f->proof, f->key, &f->statement, f->random, f->memory,
	    NULL, &f->fault);
	CHECK_STATUS(f->fault.status, st);
	prove_fault_text(f->text, &f->fault);
	return st;
}

static enum status
verify(const struct semaphore_proof *p)
{
	struct semaphore_keys *keys;
	struct semaphore_fault fault;
	enum status st;

	CHECK_STATUS(
	    semaphore_keys_new(&keys, SEMAPHORE_DEPTH_BIT(p->depth), NULL),
	    ST_OK);
	st = semaphore_verify(keys, NULL, p, &fault);
	semaphore_keys_free(keys);
	return st;
}

/* --- proofs ----------------------------------------------------------------- */

static void
test_valid(void)
{
	/* depth, size of the group, place in it */
	static const unsigned cases[][3] = {{1, 1, 0}, {1, 2, 1}, {3, 8, 5},
	    {4, 9, 8}, {2, 3, 2}, {10, 600, 599}, {11, 1, 0}, {20, 100, 64},
	    {28, 5, 4}, {32, 33, 32}};
	const size_t n = SLOW ? 4 : sizeof(cases) / sizeof(cases[0]);
	struct fixture *f = calloc(1, sizeof(*f));

	CHECK(f != NULL);
	need_official_keys();
	for (size_t i = 0; i < n; i++) {
		open_key(f, cases[i][0]);
		join_group(f, cases[i][1], cases[i][2]);
		CHECK_STATUS(make(f), ST_OK);
		CHECK_INT(f->proof.form, SEMAPHORE_AFFINE);
		CHECK_MEM(f->proof.root, f->path.root, 32);
		CHECK_MEM(f->proof.message, f->statement.message, 32);
		CHECK_MEM(f->proof.scope, f->statement.scope, 32);
		CHECK_STATUS(verify(&f->proof), ST_OK);
		close_key(f);
	}
	free(f);
}

/* The same nullifier in one scope, another in another; never the same points
 * with other randomness. */
static void
test_nullifier(void)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct semaphore_proof first;

	CHECK(f != NULL);
	need_official_keys();
	open_key(f, 1);
	join_group(f, 2, 0);
	CHECK_STATUS(make(f), ST_OK);
	first = f->proof;
	CHECK_STATUS(make(f), ST_OK);
	CHECK_MEM(f->proof.points, first.points, sizeof(first.points));
	f->random[PROVE_RANDOM_LENGTH - 1] ^= 1;
	f->statement.message[31] ^= 1;
	CHECK_STATUS(make(f), ST_OK);
	CHECK_MEM(f->proof.nullifier, first.nullifier, 32);
	CHECK(memcmp(f->proof.points + 64, first.points + 64, 128) != 0);
	f->random[0] ^= 1; /* the high half counts */
	f->statement.scope[31] ^= 1;
	CHECK_STATUS(make(f), ST_OK);
	CHECK(memcmp(f->proof.nullifier, first.nullifier, 32) != 0);
	CHECK(memcmp(f->proof.points, first.points, 64) != 0);
	CHECK_STATUS(verify(&f->proof), ST_OK);
	close_key(f);
	free(f);
}

/* As number() of tests/vectors/make-prove. */
static void
number(uint8_t out[static 32], unsigned line, const char *name)
{
	char label[64];

	snprintf(label, sizeof(label), "postern/prove %u %s", line, name);
	crypto_hash_sha256(out, (const uint8_t *)label, strlen(label));
	for (unsigned i = 32; i-- > 0;)
		out[i] = (uint8_t)(out[i] >> 3 | (i > 0 ? out[i - 1] << 5 : 0));
}

/* The path from SECRET's commitment by the siblings of vector LINE. */
static void
derive_path(struct fixture *f, unsigned line)
{
	uint8_t s[32];
	babyjub_t key;
	char name[32];

	memcpy(s, f->statement.secret, 32);
	babyjub_mul_base8(&key, s);
	fr_t node, sibling, left, right;
	poseidon_pair(&node, &key.x, &key.y);
	fr_to_bytes(f->path.leaf, &node);
	for (unsigned i = 0; i < f->path.length; i++) {
		snprintf(name, sizeof(name), "sibling %u", i);
		number(f->path.siblings[i], line, name);
		CHECK_STATUS(
		    fr_from_bytes_strict(&sibling, f->path.siblings[i]), ST_OK);
		bool is_right = f->path.index >> i & 1;
		left = is_right ? sibling : node;
		right = is_right ? node : sibling;
		poseidon_pair(&node, &left, &right);
	}
	fr_to_bytes(f->path.root, &node);
}

static void
test_slow_prover(void)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char *text = test_read_file("vectors/prove.txt", NULL);
	char *at = strchr(text, '\n') + 1, *save;
	uint8_t index[32], secret[32], want[256];
	unsigned line = 0, depth;

	CHECK(f != NULL);
	need_official_keys();
	for (char *row; (row = strtok_r(at, "\n", &save)) != NULL; at = NULL) {
		int used;
		CHECK_INT(
		    sscanf(row, "%u %u %n", &depth, &f->path.length, &used), 2);
		uint8_t *const fields[] = {index, secret, f->random + 32,
		    f->random + 96, want, want + 32, want + 64, want + 96,
		    want + 128, want + 160, want + 192, want + 224};
		for (unsigned i = 0; i < 12; i++)
			CHECK_STATUS(hex_decode(fields[i], 32,
					 span_of(row + used + 65 * i, 64)),
			    ST_OK);
		f->path.index = load_be64(index + 24);
		f->statement.secret = secret;
		f->statement.path = &f->path;
		number(f->statement.message, line, "message");
		number(f->statement.scope, line, "scope");
		derive_path(f, line++);
		if (SLOW && depth > 3)
			break;
		open_key(f, depth);
		CHECK_STATUS(make(f), ST_OK);
		CHECK_MEM(f->proof.points, want, 256);
		close_key(f);
	}
	CHECK(line >= 4);
	free(text);
	free(f);
}

/* --- secrets ---------------------------------------------------------------- */

static void
test_wiped(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	CHECK(f != NULL);
	need_official_keys();
	open_key(f, 1);
	join_group(f, 2, 0);
	size_t used = prove_memory_size(f->key, 1);
	CHECK_STATUS(make(f), ST_OK);
	for (size_t i = 0; i < used; i++)
		CHECK(f->memory[i] == 0);
	f->path.root[3] ^= 1; /* also when it fails half-way */
	CHECK_STATUS(make(f), ST_FOREIGN);
	for (size_t i = 0; i < used; i++)
		CHECK(f->memory[i] == 0);
	close_key(f);
	free(f);
}

/* --- refusals --------------------------------------------------------------- */

static void
refused(struct fixture *f, enum status st, enum prove_part part, int index,
    const char *text)
{
	static const struct semaphore_proof zero;

	CHECK_STATUS(make(f), st);
	CHECK_INT(f->fault.part, part);
	CHECK_INT(f->fault.index, index);
	CHECK_STR(f->text, text);
	CHECK(memcmp(&f->proof, &zero, sizeof(zero)) == 0);
}

static void
test_refusals(void)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint8_t secret[32];

	CHECK(f != NULL);
	need_official_keys();
	open_key(f, 3);
	join_group(f, 6, 5);

	memcpy(secret, babyjub_order, 32);
	f->statement.secret = secret;
	refused(f, ST_BAD_VALUE, PROVE_SECRET, 0,
	    "secret scalar: not below the subgroup's order");
	memset(secret, 1, 32);
	secret[0] = 0; /* somebody else's */
	refused(f, ST_FOREIGN, PROVE_PATH_LEAF, 0,
	    "path: not that of this identity's commitment");
	f->statement.secret = f->id.secret;

	f->path.index ^= 1;
	refused(f, ST_FOREIGN, PROVE_PATH_ROOT, 0,
	    "path: does not lead to its root");
	f->path.index = UINT64_C(1) << f->path.length;
	refused(f, ST_BAD_VALUE, PROVE_PATH_INDEX, 0,
	    "path: its index has more bits than it is long");
	f->path.index = 1;
	f->path.length = 4;
	refused(f, ST_BAD_LENGTH, PROVE_PATH_LENGTH, 0,
	    "path: longer than the depth of the key");
	f->path.length = 3;
	memset(f->path.siblings[2], 0xff, 32);
	refused(f, ST_NOT_CANONICAL, PROVE_PATH_SIBLING, 2,
	    "path: sibling 2: not below the modulus");
	close_key(f);
	free(f);
}

static void
key_refused(const uint8_t *file, size_t len, enum status st, const char *text)
{
	struct prove_key *key;
	struct prove_fault f;
	char say[PROVE_FAULT_MAX];
	uint8_t *copy = malloc(len > 0 ? len : 1);

	CHECK(copy != NULL);
	memcpy(copy, file, len);
	CHECK_STATUS(prove_key_new(&key, copy, len, false, &f), st);
	CHECK(key == NULL);
	CHECK_STATUS(f.status, st);
	CHECK_STR(prove_fault_text(say, &f), text);
	free(copy);
}

static void
test_key_refusals(void)
{
	size_t len, other_len;
	uint8_t *file, *other;

	need_official_keys();
	file = official_key(1, &len);
	key_refused(file, 0, ST_CORRUPT, "not a .zkey file");
	key_refused(file, len - 1, ST_BAD_LENGTH, "truncated");
	key_refused(file, len / 2, ST_BAD_LENGTH, "truncated");
	key_refused((const uint8_t *)"{\"protocol\":\"groth16\"}", 22,
	    ST_CORRUPT, "not a .zkey file");

	/* The delta of another depth's ceremony. */
	other = official_key(2, &other_len);
	memcpy(file + 12 + 16 + 12 + 532, other + 12 + 16 + 12 + 532, 128);
	key_refused(file, len, ST_FOREIGN,
	    "of another ceremony than the official key of its depth");
	free(file);
	free(other);
}

TESTS({"proofs of members at many depths and places verify", test_valid},
    {"nullifier, message, scope and blinding", test_nullifier},
    {"with known blinding the slow prover's proofs", test_slow_prover},
    {"nothing is left in the working memory", test_wiped},
    {"statements that can not be proved are refused by name", test_refusals},
    {"foreign and truncated keys are refused by name", test_key_refusals}, )
