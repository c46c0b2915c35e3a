/* daemon/key_maker.h: make the 32 verification keys ready while the start goes
 * on with the rest.
 *
 * It is pure code (some pairings and tables a key) that takes longer than
 * everything else at the start together. So it has a thread of its own, used
 * once, and the doors open without waiting for it: a worker that has a proof
 * before the keys are there waits, and the client with it.
 *
 * Threads: start, finish and clear belong to the loop's; wait may be called by
 * any, also several at once.
 */
#ifndef DAEMON_KEY_MAKER_H
#define DAEMON_KEY_MAKER_H

#include <pthread.h>
#include <stdbool.h>

#include "postern/semaphore.h"

struct key_maker {
	pthread_t thread;
	bool started;
	pthread_mutex_t mutex; /* of all that follows */
	pthread_cond_t made;
	bool done;
	struct semaphore_keys *keys;
	enum status status;
};

/* Begin. Returns: ST_OK; ST_SYS, with errno. */
enum status key_maker_start(struct key_maker *m) WARN_UNUSED;

/* The keys have been made, or could not be. */
bool key_maker_is_done(struct key_maker *m);

/* Wait for the end. Where there was no memory for the keys the caller makes them
 * now: a gateway that met a bad moment at its start does not refuse for ever.
 * Returns: the keys, which stay M's; NULL if there is still no memory. */
struct semaphore_keys *key_maker_wait(struct key_maker *m);

/* Join the thread and free the keys, if there are any: nobody uses them. */
void key_maker_clear(struct key_maker *m);

#endif
