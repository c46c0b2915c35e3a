#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES_DEFAULT = 31, SAMPLES_MAX = 20000, WARMUP_DEFAULT = 3 };

#define SAMPLE_SECONDS 0.002

static double
seconds_on(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double
bench_now(void)
{
	return seconds_on(CLOCK_MONOTONIC);
}

void
bench_begin(struct bench *b, int argc, char **argv)
{
	*b = (struct bench){.argc = argc, .argv = argv};
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			b->json = true;
		b->cpu |= strcmp(argv[i], "--cpu") == 0;
	}
	if (!b->json)
		printf("name\tsamples\trepeat\tmin\tp50\tp95\tp99\tmean\n");
}

bool
bench_wants(const struct bench *b, const char *name)
{
	bool filtered = false;

	for (int i = 1; i < b->argc; i++) {
		if (b->argv[i][0] == '-')
			continue;
		if (strstr(name, b->argv[i]) != NULL)
			return true;
		filtered = true;
	}
	return !filtered;
}

static void
run_once(const struct bench_spec *spec)
{
	if (!spec->run(spec->ctx)) {
		fprintf(stderr, "bench: %s: wrong result\n", spec->name);
		exit(1);
	}
}

__attribute__((noinline)) void
bench_counted(const struct bench_spec *spec)
{
	run_once(spec);
}

static double
time_sample(
    const struct bench *b, const struct bench_spec *spec, unsigned repeat)
{
	clockid_t clock = b->cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
	double start = seconds_on(clock);

	for (unsigned i = 0; i < repeat; i++)
		run_once(spec);
	return seconds_on(clock) - start;
}

/* Double the repetitions until a sample is long enough to trust. */
static unsigned
calibrate(const struct bench *b, const struct bench_spec *spec)
{
	unsigned repeat = 1;

	if (spec->repeat != 0)
		return spec->repeat;
	while (
	    time_sample(b, spec, repeat) < SAMPLE_SECONDS && repeat < 1u << 24)
		repeat *= 2;
	return repeat;
}

static int
compare(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

void
bench_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare);
}

static double
quantile(const double *sorted, unsigned n, double q)
{
	unsigned i = (unsigned)(q * (double)n);

	return sorted[i < n ? i : n - 1];
}

static void
print_result(
    const struct bench *b, const char *name, const struct bench_result *r)
{
	const char *fmt = b->json
	    ? "{\"name\":\"%s\",\"samples\":%u,\"repeat\":%u,\"min_us\":%.4f,"
	      "\"p50_us\":%.4f,\"p95_us\":%.4f,\"p99_us\":%.4f,"
	      "\"mean_us\":%.4f}\n"
	    : "%s\t%u\t%u\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n";

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	printf(fmt, name, r->samples, r->repeat, r->min, r->p50, r->p95, r->p99,
	    r->mean);
#pragma GCC diagnostic pop
	fflush(stdout);
}

bool
bench_run(const struct bench *b, const struct bench_spec *spec,
    struct bench_result *r)
{
	static double samples[SAMPLES_MAX];
	unsigned n = spec->samples != 0 ? spec->samples : SAMPLES_DEFAULT;
	unsigned warmup = spec->warmup != 0 ? spec->warmup : WARMUP_DEFAULT;
	struct bench_result own = {0};
	double sum = 0;

	if (r == NULL)
		r = &own;
	*r = (struct bench_result){0};
	if (!bench_wants(b, spec->name))
		return false;
	if (n > SAMPLES_MAX)
		n = SAMPLES_MAX;
	for (unsigned i = 0; i < warmup; i++)
		run_once(spec);
	if (getenv("BENCH_COUNT") != NULL) {
		bench_counted(spec);
		return true;
	}
	unsigned repeat = calibrate(b, spec);
	double each = (double)repeat * (spec->batch != 0 ? spec->batch : 1);
	for (unsigned i = 0; i < n; i++) {
		samples[i] = time_sample(b, spec, repeat) * 1e6 / each;
		sum += samples[i];
	}
	bench_sort(samples, n);
	*r = (struct bench_result){samples[0], quantile(samples, n, 0.5),
	    quantile(samples, n, 0.95), quantile(samples, n, 0.99),
	    sum / (double)n, n, repeat};
	print_result(b, spec->name, r);
	return true;
}
