/* Proving keys and proofs with them: small random circuits with keys whose
 * secrets the test knows; every way in which a key file can be wrong. */
#include "harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "groth16/prove.h"
#include "groth16/verify.h"
#include "groth16/zkey.h"
#include "toy_zkey.h"

/* --- proofs ----------------------------------------------------------------- */

/* A runner with as many threads as parts. */
struct thread {
	pthread_t id;
	void (*part)(void *arg, size_t from, size_t to);
	void *arg;
	size_t i;
};

static void *
thread_main(void *arg)
{
	struct thread *t = arg;

	t->part(t->arg, t->i, t->i + 1);
	return NULL;
}

static void
run_threads(void *self, void (*part)(void *arg, size_t from, size_t to),
    void *arg, size_t n)
{
	struct thread threads[8];

	(void)self;
	CHECK(n <= 8);
	for (size_t i = 0; i < n; i++) {
		threads[i] = (struct thread){.part = part, .arg = arg, .i = i};
		CHECK(pthread_create(
			  &threads[i].id, NULL, thread_main, &threads[i]) == 0);
	}
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i].id, NULL);
}

static const struct groth16_pvk *
prepare(const struct groth16_vk *vk, void **memory)
{
	const struct bn254_kernel *k = bn254_kernel_nth(0);
	const struct groth16_pvk *pvk;
	size_t size = groth16_pvk_size(k, vk->inputs);

	*memory = aligned_alloc(GROTH16_PVK_ALIGN,
	    (size + GROTH16_PVK_ALIGN - 1) / GROTH16_PVK_ALIGN *
		GROTH16_PVK_ALIGN);
	CHECK(*memory != NULL);
	CHECK_STATUS(groth16_prepare(&pvk, *memory, k, vk), ST_OK);
	return pvk;
}

struct setting {
	struct toy *toy;
	struct zkey key;
	uint64_t scalars[TOY_VARS_MAX][4];
	fr_t s, t;
};

static void
prove(struct groth16_proof *out, struct setting *s,
    const struct msm_kernel *kernel, const struct runner *runner)
{
	unsigned width = runner != NULL ? runner->width : 1;
	struct groth16_pk pk;
	void *pk_memory =
		 aligned_alloc(64, (groth16_pk_size(&s->key) + 63) / 64 * 64),
	     *memory;

	CHECK(pk_memory != NULL);
	groth16_pk_init(&pk, &s->key, s->toy->is_bit, kernel, pk_memory);
	memory = aligned_alloc(
	    64, (groth16_prove_memory(&pk, width) + 63) / 64 * 64);
	CHECK(memory != NULL);
	groth16_prove(out, &pk, (const uint64_t(*)[4])s->scalars, &s->s, &s->t,
	    memory, runner);
	free(memory);
	free(pk_memory);
}

static void
set_up(struct setting *s, size_t n_vars)
{
	enum zkey_section section;

	s->toy = toy_new(n_vars);
	CHECK_STATUS(
	    zkey_read(&s->key, span_of(s->toy->file, s->toy->len), &section),
	    ST_OK);
	for (size_t i = 0; i < n_vars; i++)
		fr_to_limbs(s->scalars[i], &s->toy->w[i]);
	toy_random(&s->s);
	toy_random(&s->t);
}

static bool
proofs_equal(const struct groth16_proof *a, const struct groth16_proof *b)
{
	return g1_eq(&a->a, &b->a) && twist_eq(&a->b, &b->b) &&
	    g1_eq(&a->c, &b->c);
}

static void
test_proofs(void)
{
	static const size_t sizes[] = {40, 100, 333, 480};
	struct setting *s = calloc(1, sizeof(*s));
	const struct runner two = {run_threads, NULL, 2};
	const struct runner five = {run_threads, NULL, 5};
	const struct msm_kernel *kernel;
	struct groth16_proof first, p;
	void *memory;

	CHECK(s != NULL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		set_up(s, sizes[i]);
		const struct groth16_pvk *pvk = prepare(&s->key.vk, &memory);
		prove(&first, s, NULL, NULL);
		CHECK_STATUS(
		    groth16_verify(pvk, NULL, &first, &s->toy->w[1]), ST_OK);
		for (unsigned k = 0; (kernel = msm_kernel_nth(k)) != NULL;
		     k++) {
			prove(&p, s, kernel, NULL);
			CHECK(proofs_equal(&p, &first));
		}
		prove(&p, s, NULL, &two);
		CHECK(proofs_equal(&p, &first));
		prove(&p, s, NULL, &five);
		CHECK(proofs_equal(&p, &first));

		/* Other blinding: another proof, as good. */
		toy_random(&s->s);
		toy_random(&s->t);
		prove(&p, s, NULL, NULL);
		CHECK(!proofs_equal(&p, &first));
		CHECK_STATUS(
		    groth16_verify(pvk, NULL, &p, &s->toy->w[1]), ST_OK);

		/* A witness that does not satisfy: no proof. */
		s->scalars[sizes[i] - 1][0] ^= 1;
		prove(&p, s, NULL, NULL);
		CHECK_STATUS(groth16_verify(pvk, NULL, &p, &s->toy->w[1]),
		    ST_PROOF_INVALID);
		free(memory);
		toy_free(s->toy);
	}
	free(s);
}

/* Ask the slow prover in Python for the proof of S, written to OUT. */
static void
ask_oracle(uint8_t out[static 256], const struct setting *s)
{
	char folder[] = "/tmp/postern-test-XXXXXX", zkey[64], input[64];
	char command[512], line[80];
	uint8_t bytes[32];
	FILE *f;

	CHECK(mkdtemp(folder) != NULL);
	snprintf(zkey, sizeof(zkey), "%s/zkey", folder);
	snprintf(input, sizeof(input), "%s/input", folder);
	f = fopen(zkey, "wb");
	CHECK(f != NULL &&
	    fwrite(s->toy->file, 1, s->toy->len, f) == s->toy->len &&
	    fclose(f) == 0);
	f = fopen(input, "w");
	CHECK(f != NULL);
	for (size_t i = 0; i < s->toy->n_vars + 2; i++) {
		const fr_t *v = i == 0 ? &s->s
		    : i == 1	       ? &s->t
				       : &s->toy->w[i - 2];
		fr_to_bytes(bytes, v);
		hex_encode(line, span_of(bytes, 32));
		fprintf(f, "%s\n", line);
	}
	CHECK(fclose(f) == 0);
	snprintf(command, sizeof(command),
	    "python3 %s/diff/semaphore_oracle.py %s <%s", TESTS_DIR, zkey,
	    input);
	f = popen(command, "r");
	CHECK(f != NULL);
	for (size_t i = 0; i < 8; i++) {
		CHECK(fgets(line, sizeof(line), f) != NULL);
		CHECK_STATUS(
		    hex_decode(out + 32 * i, 32, span_of(line, 64)), ST_OK);
	}
	CHECK(pclose(f) == 0);
	unlink(zkey);
	unlink(input);
	rmdir(folder);
}

static void
test_oracle(void)
{
	struct setting *s = calloc(1, sizeof(*s));
	struct groth16_proof p;
	uint8_t want[256], got[256];

	CHECK(s != NULL);
	set_up(s, 150);
	prove(&p, s, NULL, NULL);
	g1_encode(got, &p.a);
	twist_encode(got + 64, &p.b);
	g1_encode(got + 192, &p.c);
	ask_oracle(want, s);
	CHECK_MEM(got, want, 256);
	toy_free(s->toy);
	free(s);
}

/* --- files ------------------------------------------------------------------ */

static void
expect(
    const struct toy *t, size_t len, enum status want, enum zkey_section where)
{
	static const struct zkey zero;
	enum zkey_section section;
	struct zkey key;
	uint8_t *copy = malloc(len > 0 ? len : 1);
	enum status got;

	/* A copy of its own, so that a sanitizer sees a read past the end. */
	CHECK(copy != NULL);
	memcpy(copy, t->file, len);
	got = zkey_read(&key, span_of(copy, len), &section);
	if (got != want || (want != ST_OK && section != where))
		test_fail(__FILE__, __LINE__,
		    "%s in section %d, not %s in section %d",
		    status_info(got)->name, section, status_info(want)->name,
		    where);
	if (want != ST_OK)
		CHECK(memcmp(&key, &zero, sizeof(key)) == 0);
	free(copy);
}

/* Where section TYPE's payload is. */
static size_t
find(const struct toy *t, uint32_t type)
{
	size_t at = 12;

	while (load_le32(t->file + at) != type)
		at += 12 + (size_t)load_le64(t->file + at + 4);
	return at + 12;
}

/* With the byte at AT changed by XOR, FILE is refused so. */
static void
flip(struct toy *t, size_t at, uint8_t xor, enum status want,
    enum zkey_section where)
{
	t->file[at] ^= xor;
	expect(t, t->len, want, where);
	t->file[at] ^= xor;
}

static void
test_frame(void)
{
	struct toy *t = toy_new(60);

	expect(t, t->len, ST_OK, ZKEY_FILE);
	for (size_t len = 12; len < t->len; len += 1 + len / 40)
		expect(t, len, ST_BAD_LENGTH, ZKEY_FILE);
	expect(t, t->len - 1, ST_BAD_LENGTH, ZKEY_FILE);
	expect(t, 0, ST_CORRUPT, ZKEY_FILE);
	expect(t, 11, ST_CORRUPT, ZKEY_FILE);
	flip(t, 0, 1, ST_CORRUPT, ZKEY_FILE);
	flip(t, 4, 3, ST_BAD_VERSION, ZKEY_FILE);
	flip(t, 8, 0xa ^ 0x9, ST_TRAILING, ZKEY_FILE); /* one section less */
	flip(t, 8, 0xa ^ 0xb, ST_BAD_LENGTH, ZKEY_FILE);
	flip(t, 11, 0x80, ST_BAD_LENGTH, ZKEY_FILE);
	for (uint32_t type = 1; type <= 10; type++) {
		size_t head = find(t, type) - 12;
		flip(t, head, (uint8_t)(type ^ 11), ST_CORRUPT, ZKEY_FILE);
		flip(t, head, (uint8_t)type, ST_CORRUPT, ZKEY_FILE);
		flip(t, head + 11, 0xff, ST_BAD_LENGTH, ZKEY_FILE);
		if (type < 9)
			flip(t, head, (uint8_t)(type ^ 9), ST_DUPLICATE,
			    ZKEY_FILE);
	}
	/* Contributions take the place of a section that is needed. */
	for (uint32_t type = 1; type <= 9; type++) {
		size_t last = find(t, 10) - 12, head = find(t, type) - 12;
		t->file[head] = 10;
		t->file[8] = 9;
		expect(t, last, ST_MISSING, (enum zkey_section)type);
		t->file[head] = (uint8_t)type;
		t->file[8] = 10;
	}
	toy_free(t);
}

static void
test_header(void)
{
	struct toy *t = toy_new(60);
	size_t head = find(t, 2);

	flip(t, find(t, 1), 3, ST_FOREIGN, ZKEY_PROTOCOL); /* plonk */
	flip(t, head, 1, ST_FOREIGN, ZKEY_HEADER);
	flip(t, head + 4, 1, ST_FOREIGN, ZKEY_HEADER);
	flip(t, head + 36, 1, ST_FOREIGN, ZKEY_HEADER);
	flip(t, head + 71, 1, ST_FOREIGN, ZKEY_HEADER);
	flip(t, head + 72, 1, ST_BAD_LENGTH, ZKEY_A); /* a signal more */
	flip(t, head + 72, 60 ^ 3, ST_BAD_VALUE, ZKEY_HEADER);
	flip(t, head + 76, 2, ST_FOREIGN, ZKEY_HEADER); /* none public */
	flip(t, head + 76, 0x2 ^ 0x9, ST_FOREIGN, ZKEY_HEADER);
	flip(t, head + 76, 0x2 ^ 0x3, ST_BAD_LENGTH, ZKEY_IC);
	flip(t, head + 80, 64 ^ 63, ST_BAD_VALUE, ZKEY_HEADER);
	flip(t, head + 80, 64 ^ 1, ST_BAD_VALUE, ZKEY_HEADER);
	flip(t, head + 80, 64, ST_BAD_VALUE, ZKEY_HEADER);
	flip(t, head + 83, 0x10, ST_BAD_VALUE, ZKEY_HEADER);
	flip(t, head + 84, 1, ST_NOT_ON_CURVE, ZKEY_HEADER);
	flip(t, head + 84 + 31, 0x40, ST_NOT_CANONICAL, ZKEY_HEADER);
	flip(t, head + 212, 1, ST_NOT_ON_CURVE, ZKEY_HEADER);
	memset(t->file + head + 84, 0, 64);
	expect(t, t->len, ST_INFINITY, ZKEY_HEADER);
	toy_free(t);
}

static void
test_coefs(void)
{
	struct toy *t = toy_new(60);
	size_t at = find(t, 4), second = at + 4 + 44;

	flip(t, at, 1, ST_BAD_LENGTH, ZKEY_COEFS);
	flip(t, at + 3, 0x80, ST_BAD_LENGTH, ZKEY_COEFS);
	flip(t, second, 2, ST_CORRUPT, ZKEY_COEFS); /* a third matrix */
	flip(t, at + 4 + 4, 1, ST_CORRUPT, ZKEY_COEFS); /* rows not in order */
	flip(t, second + 7, 1, ST_CORRUPT, ZKEY_COEFS); /* no such row */
	flip(t, second + 9, 1, ST_CORRUPT, ZKEY_COEFS); /* no such signal */
	flip(t, second + 43, 0x40, ST_NOT_CANONICAL, ZKEY_COEFS);
	toy_free(t);
}

static void
test_points(void)
{
	static const enum zkey_section sections[] = {
	    ZKEY_IC, ZKEY_A, ZKEY_B2, ZKEY_C, ZKEY_H};
	struct toy *t = toy_new(60);

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		size_t size = sections[i] == ZKEY_B2 ? 128 : 64;
		size_t at = find(t, sections[i]);
		size_t last = at + (size_t)load_le64(t->file + at - 8) - size;
		uint8_t point[128];
		/* The last point of B may be infinity: a flip is off the
		 * curve all the same. */
		flip(t, last, 1, ST_NOT_ON_CURVE, sections[i]);
		flip(t, last + size - 1, 0x80, ST_NOT_CANONICAL, sections[i]);
		flip(t, last + size / 2 - 1, 0x80, ST_NOT_CANONICAL,
		    sections[i]);
		memcpy(point, t->file + last, size);
		memset(t->file + last, 0, size);
		expect(t, t->len, sections[i] == ZKEY_IC ? ST_INFINITY : ST_OK,
		    sections[i]);
		memcpy(t->file + last, point, size);
	}
	toy_free(t);
}

TESTS({"proofs of random circuits verify, on any threads and kernel",
	  test_proofs},
    {"the slow prover makes the same proof", test_oracle},
    {"key files: frame, order and number of sections", test_frame},
    {"key files: header", test_header}, {"key files: coefficients", test_coefs},
    {"key files: points", test_points}, )
