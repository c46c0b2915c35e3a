/* The packet's cost, as the second seed's table has it, and what it is made
 * of. Each figure's result is checked: packets built are peeled, packets
 * peeled are compared. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "postern/sphinx.h"
#include "sphinx/suite.h"

enum { SAMPLES = 2000, WARMUP = 200, BATCH = 8, TAGS = 10000000 };

static const char message[] = "buy 10 AAPL";

struct setting {
	struct sphinx *s;
	sphinx_key_t keys[3];
	sphinx_path_t path;
	sphinx_packet_t packets[BATCH];
	sphinx_header_t headers[BATCH]; /* as before peeling */
	sphinx_build_t jobs[BATCH];
	uint64_t built;
};

static void
must(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "bench_sphinx: %s\n", what);
		exit(1);
	}
}

static void
random_fill(void *out, size_t len)
{
	static uint64_t state = 1;
	uint8_t *p = out;

	/* Numbers enough for a benchmark (Marsaglia's xorshift). */
	for (size_t i = 0; i < len; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		p[i] = (uint8_t)state;
	}
}

static struct setting *
setting_new(enum sphinx_suite suite)
{
	struct setting *t = calloc(1, sizeof(*t));

	must(t != NULL, "out of memory");
	must(sphinx_new(&t->s, suite, SPHINX_KERNEL_AUTO) == ST_OK,
	    "no context");
	t->path.hops = 3;
	for (int i = 0; i < 3; i++) {
		uint8_t secret[32];
		random_fill(secret, sizeof(secret));
		sphinx_key_make(&t->keys[i], secret);
		memcpy(t->path.hop[i].id, t->keys[i].id, 32);
	}
	for (int i = 0; i < BATCH; i++) {
		t->jobs[i] = (sphinx_build_t){&t->packets[i], &t->path, message,
		    sizeof(message), {0}, ST_OK};
		random_fill(t->jobs[i].seed, SPHINX_SEED_SIZE);
	}
	return t;
}

static void
setting_free(struct setting *t)
{
	sphinx_free(t->s);
	free(t);
}

/* PACKET goes through three hops and its message comes out. */
static void
check_packet(struct setting *t, sphinx_packet_t *packet)
{
	sphinx_step_t step = {0};

	for (int i = 0; i < 3; i++)
		must(sphinx_peel(t->s, &step, packet, &t->keys[i]) == ST_OK,
		    "a packet does not peel");
	must(step.message_len == sizeof(message) &&
		memcmp(step.message, message, sizeof(message)) == 0,
	    "a message is lost");
}

static bool
run_build(void *ctx)
{
	struct setting *t = ctx;

	store_le64(t->jobs[0].seed, t->built++);
	return sphinx_build_batch(t->s, t->jobs, 1) == ST_OK;
}

static bool
run_build_batch(void *ctx)
{
	struct setting *t = ctx;

	for (int i = 0; i < BATCH; i++)
		store_le64(t->jobs[i].seed, t->built++);
	return sphinx_build_batch(t->s, t->jobs, BATCH) == ST_OK;
}

/* The header decides what peeling does; the payload costs the same whatever
 * is in it. So only the header is put back. */
static bool
run_hop(void *ctx)
{
	struct setting *t = ctx;
	sphinx_step_t step;

	t->packets[0].header = t->headers[0];
	return sphinx_peel(t->s, &step, &t->packets[0], &t->keys[0]) == ST_OK &&
	    memcmp(step.next, t->keys[1].id, 32) == 0;
}

static bool
run_hop_batch(void *ctx)
{
	struct setting *t = ctx;
	sphinx_packet_t *packets[BATCH];
	sphinx_step_t steps[BATCH];
	enum status results[BATCH];
	bool good = true;

	for (int i = 0; i < BATCH; i++) {
		t->packets[i].header = t->headers[i];
		packets[i] = &t->packets[i];
	}
	sphinx_peel_batch(t->s, results, steps, packets, BATCH, &t->keys[0]);
	for (int i = 0; i < BATCH; i++)
		good = good && results[i] == ST_OK &&
		    memcmp(steps[i].next, t->keys[1].id, 32) == 0;
	return good;
}

static bool
run_decode(void *ctx)
{
	struct setting *t = ctx;
	sphinx_packet_t *view;
	void *bytes = &t->packets[0];

	/* The compiler must not know what it decoded the last time. */
	__asm__ volatile("" : "+r"(bytes) : : "memory");
	return sphinx_decode(&view, bytes, SPHINX_PACKET_SIZE) == ST_OK &&
	    view == bytes;
}

static bool
run_tag(void *ctx)
{
	static const char label[] = "erebus/replay";
	struct setting *t = ctx;
	uint8_t tag[32];

	sha256_two(
	    tag, label, sizeof(label) - 1, t->packets[0].header.element, 32);
	__asm__ volatile("" : : "r"(tag) : "memory");
	return true;
}

struct filter_setting {
	struct sphinx_replay filter;
	uint64_t next;
};

/* Tags that look as random as hashes do. */
static void
next_tag(struct filter_setting *f, uint8_t tag[16])
{
	uint64_t x = f->next++ * UINT64_C(0x9e3779b97f4a7c15);

	store_le64(tag, (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9));
	store_le64(tag + 8, (x ^ x >> 32) * UINT64_C(0x94d049bb133111eb));
}

static bool
run_filter(void *ctx)
{
	struct filter_setting *f = ctx;
	uint8_t tag[16];

	next_tag(f, tag);
	return sphinx_replay_insert(&f->filter, tag) == ST_OK;
}

/* As a node does for a batch: all loads are under way before the first is
 * waited for. */
static bool
run_filter_batch(void *ctx)
{
	struct filter_setting *f = ctx;
	uint8_t tag[BATCH][16];
	bool good = true;

	for (int i = 0; i < BATCH; i++) {
		next_tag(f, tag[i]);
		sphinx_replay_prefetch(&f->filter, tag[i]);
	}
	for (int i = 0; i < BATCH; i++)
		good =
		    good && sphinx_replay_insert(&f->filter, tag[i]) == ST_OK;
	return good;
}

/* The floor: one load from a random line of a table of this size, whose
 * address depends on the load before it. */
struct load_setting {
	const uint64_t *memory;
	uint64_t lines, state;
};

static bool
run_load(void *ctx)
{
	__extension__ typedef unsigned __int128 u128;
	struct load_setting *t = ctx;
	uint64_t x = t->state * UINT64_C(6364136223846793005) + 1;

	/* A fingerprint has 64 random bits: any of them makes the next address
	 * wait for this one. */
	t->state = x ^ t->memory[(uint64_t)((u128)x * t->lines >> 64) * 8];
	return true;
}

static void
bench_filter(const struct bench *b, struct bench_result r[3])
{
	struct filter_setting f = {.next = 0};
	/* Room for what is inserted while timing, and whole huge pages. */
	const uint64_t capacity = TAGS + 2 * (SAMPLES + WARMUP) * 104;
	const size_t page = 2 << 20;
	size_t size = (sphinx_replay_size(capacity) / page + 1) * page;
	uint8_t key[16];
	void *memory;

	memset(r, 0, 3 * sizeof(*r));
	if (!bench_wants(b, "sphinx/filter") &&
	    !bench_wants(b, "sphinx/filter8") &&
	    !bench_wants(b, "sphinx/filter-floor"))
		return;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(memory != MAP_FAILED, "out of memory");
	/* As a node does: a look-up then misses the cache but not the TLB. */
	madvise(memory, size, MADV_HUGEPAGE);
	random_fill(key, sizeof(key));
	sphinx_replay_init(&f.filter, memory, capacity, key);
	for (int i = 0; i < TAGS; i++)
		must(run_filter(&f), "a false positive");
	struct bench_spec spec = {.name = "sphinx/filter",
	    .run = run_filter,
	    .ctx = &f,
	    .samples = SAMPLES,
	    .warmup = WARMUP,
	    .repeat = 100};
	bench_run(b, &spec, &r[0]);
	spec.name = "sphinx/filter8";
	spec.run = run_filter_batch;
	spec.repeat = 13;
	spec.batch = BATCH;
	bench_run(b, &spec, &r[1]);
	struct load_setting load = {memory, size / 64, 1};
	spec = (struct bench_spec){.name = "sphinx/filter-floor",
	    .run = run_load,
	    .ctx = &load,
	    .samples = SAMPLES,
	    .warmup = WARMUP,
	    .repeat = 100};
	bench_run(b, &spec, &r[2]);
	munmap(memory, size);
}

struct product {
	const struct x25519_kernel *kernel;
	x25519_t scalar[X25519_LANES], point[X25519_LANES];
};

static bool
run_one(void *ctx)
{
	struct product *p = ctx;

	p->kernel->one(p->point[0].byte, p->scalar[0].byte, p->point[0].byte);
	return !x25519_is_zero(p->point[0].byte);
}

static bool
run_eight(void *ctx)
{
	struct product *p = ctx;

	p->kernel->eight(p->point, p->scalar, p->point);
	return !x25519_is_zero(p->point[7].byte);
}

static void
bench_x25519(const struct bench *b)
{
	static const enum sphinx_kernel names[] = {
	    SPHINX_KERNEL_PORTABLE, SPHINX_KERNEL_IFMA};
	static const char *const labels[][2] = {
	    {"x25519/portable", "x25519/portable/8"},
	    {"x25519/ifma", "x25519/ifma/8"}};

	for (int i = 0; i < 2; i++) {
		struct product p = {.kernel = x25519_kernel(names[i])};
		if (p.kernel == NULL)
			continue;
		random_fill(p.scalar, sizeof(p.scalar));
		for (int j = 0; j < X25519_LANES; j++)
			p.point[j] = x25519_base;
		struct bench_spec spec = {.name = labels[i][0],
		    .run = run_one,
		    .ctx = &p,
		    .samples = SAMPLES,
		    .warmup = WARMUP,
		    .repeat = 1};
		bench_run(b, &spec, NULL);
		spec.name = labels[i][1];
		spec.run = run_eight;
		spec.batch = X25519_LANES;
		bench_run(b, &spec, NULL);
	}
}

/* What is timed of a suite, in the order of struct figures. */
struct figures {
	struct bench_result build, hop, build_batch, hop_batch;
};

static void
bench_suite(const struct bench *b, enum sphinx_suite suite, struct figures *f)
{
	bool stream = suite == SPHINX_STREAM;
	struct setting *t = setting_new(suite);
	struct bench_spec spec = {
	    .ctx = t, .samples = SAMPLES, .warmup = WARMUP, .repeat = 1};

	spec.name = stream ? "sphinx/build/stream" : "sphinx/build/wide";
	spec.run = run_build;
	bench_run(b, &spec, &f->build);
	run_build(t);
	check_packet(t, &t->packets[0]);

	run_build_batch(t);
	for (int i = 0; i < BATCH; i++)
		t->headers[i] = t->packets[i].header;
	spec.name = stream ? "sphinx/hop/stream" : "sphinx/hop/wide";
	spec.run = run_hop;
	bench_run(b, &spec, &f->hop);

	spec.batch = BATCH;
	spec.name = stream ? "sphinx/build8/stream" : "sphinx/build8/wide";
	spec.run = run_build_batch;
	bench_run(b, &spec, &f->build_batch);
	run_build_batch(t);
	for (int i = 0; i < BATCH; i++)
		check_packet(t, &t->packets[i]);

	run_build_batch(t);
	for (int i = 0; i < BATCH; i++)
		t->headers[i] = t->packets[i].header;
	spec.name = stream ? "sphinx/hop8/stream" : "sphinx/hop8/wide";
	spec.run = run_hop_batch;
	bench_run(b, &spec, &f->hop_batch);
	setting_free(t);
}

static void
row(const char *name, const char *seed, const struct bench_result *stream,
    const struct bench_result *wide)
{
	printf("%-34s %-26s", name, seed);
	for (int i = 0; i < 2; i++) {
		const struct bench_result *r = i == 0 ? stream : wide;
		if (r->mean > 0)
			printf(" %7.2f %7.2f %7.2f %9.0f/s", r->mean, r->p50,
			    r->p99, 1e6 / r->mean);
	}
	printf("\n");
}

/* The second seed's table with our columns. */
static void
print_table(const struct figures *stream, const struct figures *wide,
    const struct bench_result *decode, const struct bench_result *tag,
    const struct bench_result filter[3])
{
	static const struct bench_result none;

	printf(
	    "\nMicroseconds; %d samples after %d warm-ups\n", SAMPLES, WARMUP);
	printf("%-34s %-26s %-36s %s\n", "", "seed's figures", "stream, here",
	    "wide, here");
	printf("%-34s %-26s %7s %7s %7s %11s %7s %7s %7s %11s\n", "operation",
	    "mean/p50/p99/rate", "mean", "p50", "p99", "rate", "mean", "p50",
	    "p99", "rate");
	row("build a 3-hop packet", "241/215/1190/4,200", &stream->build,
	    &wide->build);
	row("process one hop", "57/53/67/17,500", &stream->hop, &wide->hop);
	row("decode from the wire", "0.7/0.7/0.7/1,500,000", decode, &none);
	row("replay tag", "0.1/0.1/0.1/13,500,000", tag, &none);
	row("replay filter, 10 million tags", "", &filter[0], &none);
	row("build, in batches of 8, each", "", &stream->build_batch,
	    &wide->build_batch);
	row("process, in batches of 8, each", "", &stream->hop_batch,
	    &wide->hop_batch);
	row("replay filter, batches of 8, each", "", &filter[1], &none);
	row("... floor: one load of such a table", "", &filter[2], &none);
}

int
main(int argc, char **argv)
{
	struct bench b;
	struct figures stream, wide;
	struct bench_result decode, tag, filter[3];
	struct setting *t = setting_new(SPHINX_STREAM);

	bench_begin(&b, argc, argv);
	bench_suite(&b, SPHINX_STREAM, &stream);
	bench_suite(&b, SPHINX_WIDE, &wide);
	run_build(t);
	struct bench_spec spec = {.name = "sphinx/decode",
	    .run = run_decode,
	    .ctx = t,
	    .samples = SAMPLES,
	    .warmup = WARMUP,
	    .repeat = 100};
	bench_run(&b, &spec, &decode);
	spec.name = "sphinx/tag";
	spec.run = run_tag;
	bench_run(&b, &spec, &tag);
	bench_filter(&b, filter);
	bench_x25519(&b);
	setting_free(t);
	if (!b.json)
		print_table(&stream, &wide, &decode, &tag, filter);
	return 0;
}
