/* bench/bench.h: time an operation honestly.
 *
 * A bench program is a list of bench_run calls between bench_begin and
 * bench_end. Each operation is warmed up, then timed in samples; a sample is
 * so many repetitions that the clock's own cost does not matter, or just one
 * where the distribution itself is of interest. What is printed is a line of
 * tab-separated values:
 *
 *	name  samples  repetitions  min  p50  p95  p99  mean  (microseconds each)
 *
 * With --json the same as one JSON object a line. With --cpu the time is the
 * processor's for this program, all its threads together: the one to look at
 * where others use the machine too. Names given on the command
 * line select the operations whose names contain them. With BENCH_COUNT in the
 * environment nothing is timed: each operation is warmed up and then done once
 * in bench_counted, for valgrind to count its instructions (bench/compare). An
 * operation that
 * finds its own result wrong ends the program: no figure without a check.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "postern/attr.h"

struct bench {
	int argc;
	char **argv;
	bool json;
	bool cpu;
};

struct bench_spec {
	const char *name; /* [a-z0-9/_-]+, e.g. "verify/cold/adx" */
	/* Do the operation once; false when its result is wrong. */
	bool (*run)(void *ctx);
	void *ctx;
	unsigned samples; /* 0: 31 */
	unsigned warmup; /* operations before the first sample; 0: 3 */
	unsigned repeat; /* repetitions a sample; 0: as many as fill 2 ms */
	unsigned
	    batch; /* the operation does this many; figures are each; 0: 1 */
};

struct bench_result {
	double min, p50, p95, p99, mean; /* microseconds an operation */
	unsigned samples, repeat;
};

/* Read the command line; prints the heading. */
void bench_begin(struct bench *b, int argc, char **argv) NONNULL;

/* Time SPEC and print its line.
 * Returns: false when the command line leaves it out (then *r is zero; R may
 *          be NULL). */
bool bench_run(const struct bench *b, const struct bench_spec *spec,
    struct bench_result *r) NONNULL_ARGS(1, 2);

/* Whether the command line selects NAME: to skip dear preparations. */
bool bench_wants(const struct bench *b, const char *name) NONNULL;

/* Do SPEC once: a name for callgrind's --toggle-collect. */
void bench_counted(const struct bench_spec *spec) NONNULL;

/* Seconds on a clock that only grows. */
double bench_now(void);

/* Sort the N values V, ascending. */
void bench_sort(double *v, size_t n) NONNULL;

#endif
