/* What groups cost: hashes, trees, roots, member files. */
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/text.h"
#include "hash/poseidon.h"
#include "hash/poseidon_kernels.h"
#include "postern/group.h"

#define MEMBERS 1000000
#define SMALL 10000
#define SPARE 4096 /* to add one by one */

/* --- a runner on two threads --- */

struct half {
	void (*part)(void *arg, size_t from, size_t to);
	void *arg;
	size_t from, to;
};

static void *
run_half(void *arg)
{
	struct half *h = arg;

	h->part(h->arg, h->from, h->to);
	return NULL;
}

static void
run_on_two(void *self, void (*part)(void *arg, size_t from, size_t to),
    void *arg, size_t n)
{
	struct half second = {part, arg, n / 2, n};
	pthread_t thread;

	(void)self;
	if (pthread_create(&thread, NULL, run_half, &second) != 0)
		abort();
	part(arg, 0, n / 2);
	pthread_join(thread, NULL);
}

static const struct runner on_two = {run_on_two, NULL, 2};

/* --- hashes --- */

struct hashes {
	fr_t in[2 * POSEIDON_LANES], out[POSEIDON_LANES], want[POSEIDON_LANES];
};

static bool
hash_alone(void *ctx)
{
	struct hashes *h = ctx;

	poseidon_pair(&h->out[0], &h->in[0], &h->in[1]);
	return fr_eq(&h->out[0], &h->want[0]);
}

static bool
hash_wide(void *ctx)
{
	struct hashes *h = ctx;

	poseidon_ifma_eight(h->out, h->in);
	return memcmp(h->out, h->want, sizeof(h->out)) == 0;
}

static void
bench_hashes(const struct bench *b)
{
	static struct hashes h;

	for (unsigned i = 0; i < 2 * POSEIDON_LANES; i++)
		fr_from_u64(&h.in[i], 1000003 * (i + 1));
	for (unsigned i = 0; i < POSEIDON_LANES; i++)
		poseidon_pair(&h.want[i], &h.in[2 * i], &h.in[2 * i + 1]);
	bench_run(b,
	    &(struct bench_spec){
		.name = "poseidon/alone", .run = hash_alone, .ctx = &h},
	    NULL);
	if (cpu_has_ifma())
		bench_run(b,
		    &(struct bench_spec){.name = "poseidon/eight",
			.run = hash_wide,
			.ctx = &h,
			.batch = POSEIDON_LANES},
		    NULL);
}

/* --- groups --- */

struct many {
	struct group_member *list;
	size_t n;
	const struct runner *runner;
	struct group_root want;
	struct group *grown; /* one by one */
	size_t added;
	char *text;
	size_t len;
};

static bool
same_root(const struct group_root *a, const struct group_root *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static bool
root_alone(void *ctx)
{
	struct many *m = ctx;
	struct group_root root;

	return group_root_of(&root, m->list, m->n, m->runner) == ST_OK &&
	    same_root(&root, &m->want);
}

static bool
build(void *ctx)
{
	struct many *m = ctx;
	struct group_root root;
	struct group *g;
	bool ok;

	if (group_new(&g) != ST_OK)
		return false;
	ok = group_add(g, m->list, m->n, m->runner) == ST_OK;
	group_root(&root, g);
	group_free(g);
	return ok && same_root(&root, &m->want);
}

static bool
add_one(void *ctx)
{
	struct many *m = ctx;

	if (m->added == SPARE)
		return false; /* more samples than there are members */
	return group_add(m->grown, &m->list[m->n + m->added++], 1, NULL) ==
	    ST_OK;
}

static bool
parse(void *ctx)
{
	struct many *m = ctx;
	struct members members;
	struct members_fault f;
	bool ok = members_parse(&members, m->text, m->len, &f) == ST_OK &&
	    members.n == m->n;

	members_clear(&members);
	return ok;
}

static bool
prepare(struct many *m, size_t n)
{
	uint64_t x = 1;

	*m = (struct many){.n = n};
	m->list = calloc(n + SPARE, sizeof(*m->list));
	m->text = malloc(n * DECIMAL_MAX);
	if (m->list == NULL || m->text == NULL)
		return false;
	for (size_t i = 0; i < n + SPARE; i++) {
		for (unsigned k = 1; k < 32; k++) {
			x = x * UINT64_C(6364136223846793005) +
			    UINT64_C(1442695040888963407);
			m->list[i].commitment[k] = (uint8_t)(x >> 56);
		}
	}
	for (size_t i = 0; i < n; i++) {
		m->len +=
		    decimal_encode(m->text + m->len, m->list[i].commitment);
		m->text[m->len++] = '\n';
	}
	return group_new(&m->grown) == ST_OK &&
	    group_add(m->grown, m->list, n, NULL) == ST_OK &&
	    group_root_of(&m->want, m->list, n, NULL) == ST_OK;
}

/* The tree that grew one by one is the one made at once. */
static bool
grew_well(const struct many *m)
{
	struct group_root grown, want;

	group_root(&grown, m->grown);
	return group_root_of(&want, m->list, m->n + m->added, NULL) == ST_OK &&
	    same_root(&grown, &want);
}

static void
bench_groups(const struct bench *b, size_t n)
{
	static const struct {
		const char *name;
		bool (*run)(void *ctx);
		const struct runner *runner;
	} cases[] = {
	    {"root", root_alone, NULL},
	    {"root/two-threads", root_alone, &on_two},
	    {"tree", build, NULL},
	    {"tree/two-threads", build, &on_two},
	    {"parse", parse, NULL},
	    {"add-one", add_one, NULL},
	};
	char name[64];
	struct many m;
	bool prepared = false;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool one = cases[i].run == add_one;
		snprintf(name, sizeof(name), "group/%zu/%s", n, cases[i].name);
		if (!bench_wants(b, name))
			continue;
		if (!prepared && !(prepared = prepare(&m, n))) {
			fprintf(stderr, "out of memory\n");
			exit(1);
		}
		m.runner = cases[i].runner;
		bench_run(b,
		    &(struct bench_spec){.name = name,
			.run = cases[i].run,
			.ctx = &m,
			.samples = one	   ? 1001
			    : n == MEMBERS ? 3
					   : 15,
			.warmup = 1,
			.repeat = 1},
		    NULL);
	}
	if (!prepared)
		return;
	if (!grew_well(&m)) {
		fprintf(stderr, "the tree that grew is another\n");
		exit(1);
	}
	group_free(m.grown);
	free(m.list);
	free(m.text);
}

int
main(int argc, char **argv)
{
	struct bench b;

	bench_begin(&b, argc, argv);
	bench_hashes(&b);
	bench_groups(&b, SMALL);
	bench_groups(&b, MEMBERS);
	return 0;
}
