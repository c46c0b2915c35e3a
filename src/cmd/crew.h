/* cmd/crew.h: threads for pure code that can use several (postern/runner.h).
 *
 * Threads are made for each run and gone after it: for commands that compute
 * once, like prove. Their stacks are as secrets_run has them.
 */
#ifndef CMD_CREW_H
#define CMD_CREW_H

#include "postern/runner.h"

/* Most threads of a crew. */
#define CREW_MAX 16

struct crew {
	unsigned width; /* 1 to CREW_MAX */
};

/* How many CPUs this process may use, at most CREW_MAX. */
unsigned crew_cpus(void);

/* The runner of CREW, which stays where it is as long as that is used. */
struct runner crew_runner(struct crew *crew);

#endif
