#include "cmd/crew.h"

#include <sched.h>

#include "cmd/secrets.h"

unsigned
crew_cpus(void)
{
	cpu_set_t set;
	int n = 1;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > CREW_MAX ? CREW_MAX : (unsigned)n;
}

struct run {
	void (*part)(void *arg, size_t from, size_t to);
	void *arg;
	size_t n, width;
};

static void
run_share(void *arg, size_t i)
{
	const struct run *r = arg;

	r->part(r->arg, r->n * i / r->width, r->n * (i + 1) / r->width);
}

static void
run(void *self, void (*part)(void *arg, size_t from, size_t to), void *arg,
    size_t n)
{
	const struct crew *crew = self;
	struct run r = {part, arg, n, crew->width < n ? crew->width : n};

	if (r.width < 2 || secrets_run(run_share, &r, r.width) != ST_OK)
		part(arg, 0, n);
}

struct runner
crew_runner(struct crew *crew)
{
	return (struct runner){run, crew, crew->width};
}
