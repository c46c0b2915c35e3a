/* The gate's bounded tables: circuits, proofs seen before, checks under way. */
#include <stdlib.h>

#include "base/bytes.h"
#include "gate/circuits.h"
#include "gate/pending.h"
#include "gate/proof_cache.h"
#include "harness.h"

static const uint8_t hash_key[LRU_HASH_KEY] = {1, 2, 3};

static now_t
at(uint64_t wall, uint64_t mono)
{
	return (now_t){.wall = wall, .mono = mono};
}

/* --- circuits --- */

static void
test_circuits(void)
{
	const struct circuit_limits limits = {2, 3, {2, 1000}};
	void *memory = malloc(circuits_memory(4));
	struct circuits c;
	circuit_ref_t a, b, d, none = {0};
	uint64_t retry;

	CHECK(memory != NULL);
	circuits_init(&c, memory, 4, &limits, hash_key);
	CHECK_STATUS(circuits_open(&c, &a, 23), ST_OK);
	CHECK_STATUS(circuits_open(&c, &b, 23), ST_OK);
	CHECK_STATUS(circuits_open(&c, &d, 23), ST_CIRCUIT_LIMIT);
	CHECK_INT(d.generation, 0);
	CHECK_STATUS(circuits_open(&c, &d, 24), ST_OK);
	circuits_close(&c, &b);
	circuits_close(&c, &b); /* it is none by now */
	CHECK_STATUS(circuits_open(&c, &b, 23), ST_OK);

	/* The rate is the circuit's, not the connection's. */
	CHECK_STATUS(circuits_request(&c, a, &retry, at(0, 5000)), ST_OK);
	CHECK_STATUS(circuits_request(&c, b, &retry, at(0, 5000)), ST_OK);
	CHECK_STATUS(
	    circuits_request(&c, a, &retry, at(0, 5000)), ST_CIRCUIT_LIMIT);
	CHECK_INT(retry, 1);
	CHECK_STATUS(circuits_request(&c, d, NULL, at(0, 5000)), ST_OK);
	CHECK_STATUS(circuits_request(&c, a, NULL, at(0, 5500)), ST_OK);

	/* Failures add up over connections, and outlive them. */
	CHECK(!circuits_is_suspect(&c, a));
	CHECK_STATUS(circuits_failed(&c, a), ST_OK);
	CHECK(circuits_is_suspect(&c, a));
	CHECK_STATUS(circuits_failed(&c, b), ST_OK);
	CHECK_STATUS(circuits_failed(&c, a), ST_OK);
	circuits_close(&c, &a);
	CHECK_STATUS(circuits_failed(&c, b), ST_CIRCUIT_LIMIT);
	circuits_close(&c, &b);
	CHECK_STATUS(circuits_open(&c, &a, 23), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(circuits_failed(&c, d), ST_OK);

	/* Tor restarts: the same number is another circuit, and what an old
	 * connection still holds can not touch it. */
	circuit_ref_t old = d;
	circuits_forget(&c);
	CHECK_STATUS(circuits_open(&c, &a, 24), ST_OK);
	circuits_close(&c, &old);
	CHECK_STATUS(circuits_open(&c, &b, 24), ST_OK);
	CHECK_STATUS(circuits_open(&c, &d, 24), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(circuits_open(&c, &d, 23), ST_OK);

	/* Without a PROXY line there is no circuit, and no limit. */
	CHECK_STATUS(circuits_request(&c, none, NULL, at(0, 0)), ST_OK);
	CHECK_STATUS(circuits_failed(&c, none), ST_OK);
	CHECK(!circuits_is_suspect(&c, none));
	circuits_close(&c, &none);
	free(memory);
}

static void
test_circuits_bounded(void)
{
	const struct circuit_limits limits = {1, 0, {BUCKET_UNLIMITED, 0}};
	void *memory = malloc(circuits_memory(4));
	struct circuits c;
	circuit_ref_t open[4], x;

	CHECK(memory != NULL);
	circuits_init(&c, memory, 4, &limits, hash_key);
	/* Any number of circuits one after the other. */
	for (uint32_t id = 100; id < 1000; id++) {
		CHECK_STATUS(circuits_open(&c, &x, id), ST_OK);
		CHECK_STATUS(circuits_failed(&c, x), ST_CIRCUIT_LIMIT);
		circuits_close(&c, &x);
	}
	CHECK_INT(c.table.used, 4);
	/* The last ones are remembered, the first forgotten. */
	CHECK_STATUS(circuits_open(&c, &x, 999), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(circuits_open(&c, &open[0], 100), ST_OK);
	/* Those with a connection stay. */
	for (uint32_t i = 1; i < 4; i++)
		CHECK_STATUS(circuits_open(&c, &open[i], i), ST_OK);
	CHECK_STATUS(circuits_open(&c, &x, 5), ST_OVERLOADED);
	CHECK_STATUS(circuits_open(&c, &x, 1), ST_CIRCUIT_LIMIT);
	circuits_close(&c, &open[2]);
	CHECK_STATUS(circuits_open(&c, &x, 5), ST_OK);
	CHECK_STATUS(circuits_open(&c, &x, 100), ST_CIRCUIT_LIMIT);

	/* Other limits hold at once. */
	const struct circuit_limits closed = {0, 0, {0, 0}};
	circuits_set_limits(&c, &closed);
	circuits_close(&c, &open[0]);
	CHECK_STATUS(circuits_open(&c, &x, 100), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(circuits_open(&c, &x, 101), ST_CIRCUIT_LIMIT);
	CHECK_STATUS(
	    circuits_request(&c, open[1], NULL, at(0, 0)), ST_CIRCUIT_LIMIT);
	free(memory);
}

/* --- the table beneath --- */

/* Against a plain array, with random operations. */
static void
test_lru_model(void)
{
	enum { capacity = 37, keys = 60 };
	struct record {
		uint32_t key, pad;
		uint64_t value;
	} * rec;
	uint32_t order[capacity]; /* oldest first */
	uint64_t value[keys];
	size_t n = 0;
	struct lru l;
	void *memory = malloc(lru_memory(capacity, sizeof(*rec)));

	CHECK(memory != NULL);
	lru_init(&l, memory, capacity, sizeof(*rec), 4, hash_key);
	for (int step = 0; step < 100000; step++) {
		uint32_t key = (uint32_t)(test_random() % keys);
		size_t i = 0;
		while (i < n && order[i] != key)
			i++;
		rec = lru_find(&l, &key);
		CHECK((rec != NULL) == (i < n));
		if (rec == NULL) {
			rec = lru_add(&l, &key);
			CHECK((rec == NULL) == (n == capacity));
			if (rec == NULL) {
				rec = lru_oldest(&l);
				CHECK_INT(rec->key, order[0]);
				lru_remove(&l, rec);
				memmove(order, order + 1, --n * 4);
				continue;
			}
			CHECK_INT(rec->value, 0);
			rec->value = value[key] = test_random();
			order[n++] = key;
			continue;
		}
		CHECK(rec->value == value[key]);
		memmove(order + i, order + i + 1, (--n - i) * 4);
		if (test_random() % 3 == 0) {
			lru_remove(&l, rec);
		} else {
			lru_touch(&l, rec);
			order[n++] = key;
		}
	}
	size_t i = 0;
	for (rec = lru_oldest(&l); rec != NULL; rec = lru_newer(&l, rec))
		CHECK_INT(rec->key, order[i++]);
	CHECK_INT(i, n);
	CHECK_INT(l.used, n);
	lru_clear(&l);
	CHECK(lru_oldest(&l) == NULL);
	free(memory);
}

/* --- proofs seen before --- */

static proof_digest_t
digest_of(uint32_t n)
{
	proof_digest_t d = {{0}};

	store_be32(d.bytes, n);
	return d;
}

static member_t
member_of(uint32_t n)
{
	member_t m = {.epoch = 1};

	store_be32(m.tag, n);
	return m;
}

static bool
has(struct proof_cache *c, uint32_t member, uint32_t proof, uint32_t serial)
{
	member_t m = member_of(member);
	proof_digest_t d = digest_of(proof);

	return proof_cache_has(c, &m, &d, serial);
}

static void
add(struct proof_cache *c, uint32_t member, uint32_t proof, uint32_t serial)
{
	member_t m = member_of(member);
	proof_digest_t d = digest_of(proof);

	proof_cache_add(c, &m, &d, serial);
}

static void
test_proof_cache(void)
{
	struct proof_cache c;
	void *memory = malloc(proof_cache_memory(3));

	CHECK(memory != NULL);
	proof_cache_init(&c, memory, 3, hash_key);
	CHECK(!has(&c, 1, 1, 9));
	add(&c, 1, 1, 9);
	CHECK(has(&c, 1, 1, 9));
	/* Neither under another root, nor for another member, nor no root. */
	CHECK(!has(&c, 1, 1, 8));
	CHECK(!has(&c, 2, 1, 9));
	CHECK(!has(&c, 1, 2, 9));
	add(&c, 1, 5, 0);
	CHECK(!has(&c, 1, 5, 0));

	/* A member who re-randomises without end displaces nobody else. */
	add(&c, 2, 100, 9);
	add(&c, 3, 200, 9);
	for (uint32_t i = 0; i < 1000; i++) {
		add(&c, 1, 1000 + i, 9);
		CHECK(has(&c, 1, 1000 + i, 9));
	}
	CHECK(has(&c, 1, 1997, 9));
	CHECK(!has(&c, 1, 1999 - PROOF_CACHE_WAYS, 9));
	CHECK(has(&c, 2, 100, 9) && has(&c, 3, 200, 9));
	/* The same proof again takes no second place. */
	add(&c, 1, 1999, 9);
	add(&c, 1, 1999, 9);
	CHECK(has(&c, 1, 1997, 9));

	/* Members make room by time of last use: now 1, 2, 3. */
	CHECK(has(&c, 2, 100, 9) && has(&c, 3, 200, 9));
	add(&c, 4, 300, 9);
	CHECK(!has(&c, 1, 1999, 9));
	CHECK(has(&c, 2, 100, 9) && has(&c, 3, 200, 9) && has(&c, 4, 300, 9));
	/* A re-used place brings nothing along. */
	CHECK(!has(&c, 4, 1999, 9) && !has(&c, 4, 1998, 9));
	proof_cache_clear(&c);
	CHECK(!has(&c, 2, 100, 9));
	free(memory);
}

/* Every byte of a proof counts, in either form; the member and the key do. */
static void
test_proof_digest(void)
{
	uint8_t key[PROOF_DIGEST_KEY] = {1};
	struct semaphore_proof p = {.depth = 20, .form = SEMAPHORE_AFFINE};
	member_t m = {.epoch = 1};
	proof_digest_t a, b;

	test_random_bytes(p.root, 32);
	test_random_bytes(p.points, sizeof(p.points));
	for (unsigned form = 0; form < 2; form++) {
		const struct {
			uint8_t *at;
			size_t len;
		} parts[] = {{key, sizeof(key)}, {m.tag, sizeof(m.tag)},
		    {p.root, 32}, {p.message, 32},
		    {p.points, form == 0 ? 256 : 128}};
		p.form = form == 0 ? SEMAPHORE_AFFINE : SEMAPHORE_COMPRESSED;
		proof_digest(&a, key, &m, &p);
		proof_digest(&b, key, &m, &p);
		CHECK_MEM(&a, &b, sizeof(a));
		for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			for (size_t j = 0; j < parts[i].len; j++) {
				parts[i].at[j] ^= 0x80;
				proof_digest(&b, key, &m, &p);
				CHECK(memcmp(&a, &b, sizeof(a)) != 0);
				parts[i].at[j] ^= 0x80;
			}
		}
		p.depth = 21;
		proof_digest(&b, key, &m, &p);
		CHECK(memcmp(&a, &b, sizeof(a)) != 0);
		p.depth = 20;
	}
	/* Points of one form are none of the other. */
	memset(p.points + 128, 0, 128);
	proof_digest(&a, key, &m, &p);
	p.form = SEMAPHORE_AFFINE;
	proof_digest(&b, key, &m, &p);
	CHECK(memcmp(&a, &b, sizeof(a)) != 0);
}

static void
test_pending(void)
{
	struct pending p;
	void *memory = malloc(pending_memory(2, 10));
	handle_t who[11], out;
	proof_digest_t x = digest_of(1), y = digest_of(2), z = digest_of(3);
	bool first;

	CHECK(memory != NULL);
	pending_init(&p, memory, 2, 10, hash_key);
	for (uint32_t i = 1; i <= 10; i++)
		who[i] = (handle_t){i, 100 + i};
	CHECK_STATUS(pending_join(&p, &first, &x, who[1]), ST_OK);
	CHECK(first);
	CHECK_STATUS(pending_join(&p, &first, &x, who[2]), ST_OK);
	CHECK(!first);
	CHECK_STATUS(pending_join(&p, &first, &x, who[3]), ST_OK);
	CHECK_STATUS(pending_join(&p, &first, &y, who[4]), ST_OK);
	CHECK(first);
	CHECK_INT(pending_count(&p), 2);
	CHECK_STATUS(pending_join(&p, &first, &z, who[5]), ST_BUSY);
	/* Nobody waits twice, and there is no slot 0 or 11. */
	CHECK_STATUS(pending_join(&p, &first, &y, who[1]), ST_INTERNAL);
	CHECK_STATUS(
	    pending_join(&p, &first, &y, (handle_t){0, 1}), ST_INTERNAL);
	CHECK_STATUS(
	    pending_join(&p, &first, &y, (handle_t){11, 1}), ST_INTERNAL);

	/* One that leaves is not told; a stale handle takes nobody out. */
	pending_leave(&p, who[2]);
	pending_leave(&p, who[2]);
	pending_leave(&p, (handle_t){3, 99});
	pending_leave(&p, (handle_t){0, 0});
	CHECK(pending_take(&p, &out, &x));
	CHECK_INT(out.slot, 1);
	CHECK(pending_take(&p, &out, &x));
	CHECK_INT(out.slot, 3);
	CHECK_INT(out.generation, 103);
	CHECK(!pending_take(&p, &out, &x));
	CHECK_INT(out.slot, 0);
	CHECK_INT(pending_count(&p), 1);
	CHECK(!pending_take(&p, &out, &x));

	/* All leave: the check goes on, and who comes then joins it. */
	pending_leave(&p, who[4]);
	CHECK_INT(pending_count(&p), 1);
	CHECK_STATUS(pending_join(&p, &first, &y, who[1]), ST_OK);
	CHECK(!first);
	CHECK(pending_take(&p, &out, &y));
	CHECK(!pending_take(&p, &out, &y));
	CHECK_INT(pending_count(&p), 0);

	/* First, last and middle leave. */
	for (uint32_t i = 1; i <= 10; i++)
		CHECK_STATUS(pending_join(&p, &first, &z, who[i]), ST_OK);
	pending_leave(&p, who[1]);
	pending_leave(&p, who[10]);
	pending_leave(&p, who[5]);
	for (uint32_t i = 2; i <= 9; i++) {
		if (i == 5)
			continue;
		CHECK(pending_take(&p, &out, &z));
		CHECK_INT(out.slot, i);
	}
	CHECK(!pending_take(&p, &out, &z));
	free(memory);
}

TESTS({"circuits: limits, and a restart of tor", test_circuits},
    {"circuits: bounded", test_circuits_bounded},
    {"lru: against a model", test_lru_model},
    {"proof cache: bounded by member", test_proof_cache},
    {"proof cache: the digest covers everything", test_proof_digest},
    {"pending: shared checks", test_pending})
