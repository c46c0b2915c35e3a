#include "daemon/key_maker.h"

#include <errno.h>
#include <signal.h>

static void *
make(void *arg)
{
	struct key_maker *m = arg;

	m->status = semaphore_keys_new(&m->keys, SEMAPHORE_ALL_DEPTHS, NULL);
	return NULL;
}

enum status
key_maker_start(struct key_maker *m)
{
	sigset_t all, before;

	*m = (struct key_maker){.status = ST_BAD_VALUE};
	/* Signals are the loop's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = pthread_create(&m->thread, NULL, make, m);
	m->running = errno == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return m->running ? ST_OK : ST_SYS;
}

enum status
key_maker_finish(struct key_maker *m, struct semaphore_keys **keys)
{
	*keys = NULL;
	if (!m->running)
		return ST_BAD_VALUE;
	pthread_join(m->thread, NULL);
	m->running = false;
	*keys = m->keys;
	m->keys = NULL;
	return m->status;
}

void
key_maker_clear(struct key_maker *m)
{
	struct semaphore_keys *keys;

	if (m->running && key_maker_finish(m, &keys) == ST_OK)
		semaphore_keys_free(keys);
}
