/* postern/runner.h: how pure code uses several threads without knowing of
 * any.
 *
 * The caller brings the threads: a function that runs the parts of a job and
 * comes back when all are done. A part reads shared input and writes what no
 * other part touches, so that the result does not depend on who ran it, or
 * when. A part may not call run() itself.
 */
#ifndef POSTERN_RUNNER_H
#define POSTERN_RUNNER_H

#include <stddef.h>

/* run() calls PART(ARG, from, to) for ranges that cover 0 to N - 1 without
 * overlap, on as many threads as it likes, in any order, and returns when all
 * are done; what the parts wrote is then visible to the caller. */
struct runner {
	void (*run)(void *self, void (*part)(void *arg, size_t from, size_t to),
	    void *arg, size_t n);
	void *self;
	unsigned width; /* how many threads there are; at least 1 */
};

#endif
