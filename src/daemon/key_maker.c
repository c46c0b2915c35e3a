#include "daemon/key_maker.h"

#include <errno.h>
#include <signal.h>

static void *
make(void *arg)
{
	struct key_maker *m = arg;
	struct semaphore_keys *keys;
	enum status st = semaphore_keys_new(&keys, SEMAPHORE_ALL_DEPTHS, NULL);

	pthread_mutex_lock(&m->mutex);
	m->keys = keys;
	m->status = st;
	m->done = true;
	pthread_cond_broadcast(&m->made);
	pthread_mutex_unlock(&m->mutex);
	return NULL;
}

enum status
key_maker_start(struct key_maker *m)
{
	sigset_t all, before;

	*m = (struct key_maker){.status = ST_BAD_VALUE};
	pthread_mutex_init(&m->mutex, NULL);
	pthread_cond_init(&m->made, NULL);
	/* Signals are the loop's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = pthread_create(&m->thread, NULL, make, m);
	m->started = errno == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (m->started)
		return ST_OK;
	pthread_mutex_destroy(&m->mutex);
	pthread_cond_destroy(&m->made);
	return ST_SYS;
}

bool
key_maker_is_done(struct key_maker *m)
{
	bool done;

	pthread_mutex_lock(&m->mutex);
	done = m->done;
	pthread_mutex_unlock(&m->mutex);
	return done;
}

struct semaphore_keys *
key_maker_wait(struct key_maker *m)
{
	struct semaphore_keys *keys;

	pthread_mutex_lock(&m->mutex);
	while (!m->done)
		pthread_cond_wait(&m->made, &m->mutex);
	if (m->keys == NULL) {
		/* Memory was short then; it may not be now. */
		m->done = false;
		pthread_mutex_unlock(&m->mutex);
		make(m);
		pthread_mutex_lock(&m->mutex);
	}
	keys = m->keys;
	pthread_mutex_unlock(&m->mutex);
	return keys;
}

void
key_maker_clear(struct key_maker *m)
{
	if (!m->started)
		return;
	pthread_join(m->thread, NULL);
	semaphore_keys_free(m->keys);
	pthread_mutex_destroy(&m->mutex);
	pthread_cond_destroy(&m->made);
	*m = (struct key_maker){.started = false};
}
