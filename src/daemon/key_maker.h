/* daemon/key_maker.h: make the 32 verification keys ready while the start goes
 * on with the rest: a thread of its own, used once.
 *
 * It is pure code (some pairings a key), and it takes as long as reading ten
 * thousand members, so the two are done side by side.
 */
#ifndef DAEMON_KEY_MAKER_H
#define DAEMON_KEY_MAKER_H

#include <pthread.h>
#include <stdbool.h>

#include "postern/semaphore.h"

struct key_maker {
	pthread_t thread;
	bool running;
	/* The thread's until it is joined. */
	struct semaphore_keys *keys;
	enum status status;
};

/* Begin. Returns: ST_OK; ST_SYS, with errno. */
enum status key_maker_start(struct key_maker *m) WARN_UNUSED;

/* Wait for the end.
 * Out:     *keys, the caller's to free; NULL on failure.
 * Returns: as semaphore_keys_new; ST_BAD_VALUE if it has not been started. */
enum status
key_maker_finish(struct key_maker *m, struct semaphore_keys **keys) WARN_UNUSED;

/* Wait for the end, if there is anything to wait for, and drop the keys. */
void key_maker_clear(struct key_maker *m);

#endif
