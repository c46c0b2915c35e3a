/* 24 million members over 24 epochs: memory comes back after each, and a
 * look-up takes as long in the last third as in the first.
 *
 *	load_ledger [EPOCHS [MEMBERS]]
 *
 * Figures as JSON; the exit status tells whether they hold.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "gate/ledger.h"

#define LOOKS 200000u
#define EPOCHS_MAX 1000

static struct ledger ledger;
static uint64_t state = 1;

static void *
take(void *ctx)
{
	void *chunk = mmap(NULL, LEDGER_CHUNK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)ctx;
	return chunk == MAP_FAILED ? NULL : chunk;
}

static void
give(void *ctx, void *chunk)
{
	(void)ctx;
	munmap(chunk, LEDGER_CHUNK);
}

/* Member I of EPOCH; the tag is uniform, as a keyed hash is (splitmix64). */
static member_t
member(uint64_t epoch, uint64_t i)
{
	member_t m = {.epoch = epoch};
	uint64_t z = epoch << 40 | i;

	for (unsigned k = 0; k < MEMBER_TAG; k += 8) {
		z += UINT64_C(0x9e3779b97f4a7c15);
		uint64_t x = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
		x ^= x >> 31;
		memcpy(m.tag + k, &x, sizeof(x));
	}
	return m;
}

static long
resident_kb(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1)
		pages = -1;
	if (f != NULL)
		fclose(f);
	return pages * 4;
}

static void
must(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "load_ledger: %s\n", what);
		exit(1);
	}
}

/* Nanoseconds of a look-up of some member of EPOCH; the least of five runs. */
static double
look(uint64_t epoch, uint64_t members)
{
	double least = 1e9;

	for (unsigned run = 0; run < 5; run++) {
		uint64_t found = 0;
		double begin = bench_now();
		for (unsigned i = 0; i < LOOKS; i++) {
			usage_t u;
			state = state * UINT64_C(6364136223846793005) + 1;
			member_t m = member(epoch, (state >> 20) % members);
			if (ledger_look(&u, &ledger, &m) == ST_OK)
				found += u.requests;
		}
		double took = (bench_now() - begin) * 1e9 / LOOKS;
		must(found == LOOKS, "a member is missing");
		least = took < least ? took : least;
	}
	return least;
}

/* Other work on the machine is in some of the figures. */
static double
median(double *v, size_t n)
{
	bench_sort(v, n);
	return v[n / 2];
}

int
main(int argc, char **argv)
{
	uint64_t epochs = argc > 1 ? strtoull(argv[1], NULL, 10) : 24;
	uint64_t members = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
	const struct ledger_memory memory = {take, give, NULL};
	const usage_t once = {.requests = 1};
	double looks[EPOCHS_MAX], first, last;
	long before, most = 0;
	uint64_t closed;

	must(epochs >= 3 && epochs <= EPOCHS_MAX && members > 0,
	    "give 3 to 1000 epochs, and some members");
	ledger_init(&ledger, &memory, ledger_chunks(members), 0, 0);
	before = resident_kb();
	for (uint64_t e = 1; e <= epochs; e++) {
		for (uint64_t i = 0; i < members; i++) {
			member_t m = member(e, i);
			must(ledger_keep(&ledger, &m, &once) == ST_OK,
			    "there is no room");
		}
		looks[e - 1] = look(e, members);
		most = resident_kb() > most ? resident_kb() : most;
		/* The epoch is out of reach: it goes, a few chunks at a time. */
		for (unsigned i = 0; i < 2 * LEDGER_EPOCHS; i++)
			(void)ledger_turn(
			    &ledger, &closed, e + 1, e + 1, e + i);
		while (ledger_tidy(&ledger, 4))
			continue;
		must(ledger.chunks == 0, "an epoch is over and has chunks");
	}
	first = median(looks, epochs / 3);
	last = median(looks + epochs - epochs / 3, epochs / 3);
	printf("{\"entries\": %llu, \"epochs\": %llu, \"look_ns\": [%.0f, "
	       "%.0f], \"memory_kb\": [%ld, %ld, %ld]}\n",
	    (unsigned long long)(epochs * members), (unsigned long long)epochs,
	    first, last, before, most, resident_kb());
	must(resident_kb() < before + 8192, "memory does not come back");
	must(last < 2 * first, "a look-up takes longer than at first");
	ledger_clear(&ledger);
	return 0;
}
