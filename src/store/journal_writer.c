/* The thread that writes and syncs. It knows nothing of ledgers: it appends
 * copies, in order, to one file or two. */
#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "store/journal_impl.h"

/* The file in the making is synced as it grows, so that its end does not keep
 * everybody waiting: after so many records. */
#define SYNC_RECORDS (UINT64_C(65536)) /* 4 MiB */

/* A compaction that is not urgent is tried again after so many times the time
 * of a record. */
#define COMPACT_PATIENCE UINT64_C(60)

/* Records are not taken for a while; if BROKEN, not before there is a new file.
 * With the lock, as the next. */
static void
note_failure_locked(struct journal *j, int error, bool broken)
{
	j->health.status = ST_JOURNAL_FAILED;
	j->health.error = error;
	j->health.failures++;
	j->broken = j->broken || broken;
	j->retry_at = journal_mono() + j->options.retry;
}

static void
note_file_locked(struct journal *j)
{
	j->health.records = j->file.records;
	j->health.bytes = journal_offset(j->file.records);
	j->health.synced = j->file.synced;
	if (!j->broken) {
		j->health.status = ST_OK;
		j->health.error = 0;
	}
}

static void
note_failure(struct journal *j, int error, bool broken)
{
	pthread_mutex_lock(&j->lock);
	note_failure_locked(j, error, broken);
	pthread_mutex_unlock(&j->lock);
}

static void
note_file(struct journal *j)
{
	pthread_mutex_lock(&j->lock);
	note_file_locked(j);
	pthread_mutex_unlock(&j->lock);
}

static enum status
file_sync(struct journal *j, struct journal_file *f)
{
	if (f->synced == f->records)
		return ST_OK;
	if (fdatasync(f->fd) != 0)
		return ST_SYS;
	f->synced = f->records;
	if (f == &j->file)
		j->last_sync = journal_mono();
	pthread_mutex_lock(&j->lock);
	j->health.syncs++;
	pthread_mutex_unlock(&j->lock);
	return ST_OK;
}

/* Write the N records in j->batch behind F's. On failure what was written in
 * part is cut off.
 * Out:     *lost: that failed too, what the file holds is unknown. */
static enum status
file_append(struct journal *j, struct journal_file *f, size_t n, bool *lost)
{
	uint64_t end = journal_offset(f->records);
	enum status s;

	*lost = false;
	s = journal_write_at(f->fd, j->batch, n * JOURNAL_RECORD, end);
	if (s != ST_OK) {
		int error = errno;
		*lost = ftruncate(f->fd, (off_t)end) != 0;
		errno = error;
		return s;
	}
	f->records += n;
	return ST_OK;
}

static void
encode(struct journal *j, const struct journal_file *f, size_t at,
    const struct journal_entry *e)
{
	journal_record_encode(j->batch + at * JOURNAL_RECORD, e, f->synced,
	    f->records + at, f->header.file_id);
}

/* --- the new file --- */

/* The old file goes on; what has failed is tried again later. */
static void
compaction_failed(struct journal *j)
{
	int error = errno;

	journal_file_discard(&j->next, j);
	pthread_mutex_lock(&j->lock);
	j->compaction = COMPACT_FAILED;
	j->compact_at = journal_mono() +
	    j->options.retry * (j->broken ? UINT64_C(1) : COMPACT_PATIENCE);
	j->health.error = error;
	j->health.failures++;
	pthread_mutex_unlock(&j->lock);
}

/* Append what is in the batch to the new file. */
static void
next_append(struct journal *j, size_t n)
{
	bool lost;

	if (file_append(j, &j->next, n, &lost) != ST_OK) {
		compaction_failed(j);
		return;
	}
	if (j->next.records - j->next.synced >= SYNC_RECORDS &&
	    file_sync(j, &j->next) != ST_OK)
		compaction_failed(j);
}

static void
do_begin(struct journal *j, uint64_t floor)
{
	if (journal_file_create(&j->next, j, floor, j->block) != ST_OK)
		compaction_failed(j);
}

static void
do_add(struct journal *j, struct journal_buffer *b)
{
	if (j->next.fd >= 0) {
		for (size_t i = 0; i < b->n; i++) {
			const struct journal_entry e = {
			    .kind = JOURNAL_COUNT,
			    .count = b->records[i],
			};
			encode(j, &j->next, i, &e);
		}
		next_append(j, b->n);
	}
	pthread_mutex_lock(&j->lock);
	b->full = false;
	pthread_mutex_unlock(&j->lock);
}

/* Nothing is appended between the sync of the new file and that of the folder,
 * so that whichever of the two files a crash leaves has all. */
static void
do_end(struct journal *j)
{
	bool renamed;
	enum status s;

	if (j->next.fd < 0)
		return;
	s = journal_file_install(&j->next, j, &renamed);
	if (!renamed) {
		compaction_failed(j);
		return;
	}
	int error = errno;
	close(j->file.fd);
	j->file = j->next;
	j->next.fd = -1;
	j->last_sync = journal_mono();

	pthread_mutex_lock(&j->lock);
	/* If the folder could not be synced, a crash may bring the old file
	 * back, which lacks what is written from here on. */
	j->broken = s != ST_OK;
	j->compaction = s == ST_OK ? COMPACT_DONE : COMPACT_FAILED;
	j->health.compactions += s == ST_OK;
	/* In one step: who sees that it is over sees its figures. */
	if (s != ST_OK)
		note_failure_locked(j, error, true);
	note_file_locked(j);
	pthread_mutex_unlock(&j->lock);
}

/* --- appending --- */

/* Write N jobs from FIRST on, one write and (sync = always) one sync for all.
 * Returns: what to tell all of them. */
static enum status
do_append(struct journal *j, const struct job *first, size_t n)
{
	bool lost;

	if (j->broken)
		return ST_JOURNAL_FAILED;
	for (size_t i = 0; i < n; i++)
		encode(j, &j->file, i, &first[i].entry);
	if (file_append(j, &j->file, n, &lost) != ST_OK) {
		note_failure(j, errno, lost);
		return ST_JOURNAL_FAILED;
	}
	if (j->options.sync == JOURNAL_SYNC_ALWAYS &&
	    file_sync(j, &j->file) != ST_OK) {
		note_failure(j, errno, true);
		return ST_JOURNAL_FAILED;
	}
	/* To the new file as well, before anybody is told: it must have all that
	 * was promised when it takes the old one's place. */
	if (j->next.fd >= 0) {
		for (size_t i = 0; i < n; i++)
			encode(j, &j->next, i, &first[i].entry);
		next_append(j, n);
	}
	note_file(j);
	return ST_OK;
}

/* The interval is over. */
static void
sync_in_time(struct journal *j)
{
	if (j->broken)
		return;
	if (file_sync(j, &j->file) != ST_OK)
		note_failure(j, errno, true);
	else
		note_file(j);
}

/* All is written: say so in the file. */
static void
do_stop(struct journal *j)
{
	const struct journal_entry seal = {.kind = JOURNAL_SEAL};
	bool lost;

	if (j->next.fd >= 0)
		journal_file_discard(&j->next, j);
	if (j->broken)
		return;
	if (file_sync(j, &j->file) != ST_OK) {
		note_failure(j, errno, true);
		return;
	}
	encode(j, &j->file, 0, &seal);
	if (file_append(j, &j->file, 1, &lost) == ST_OK)
		(void)file_sync(j, &j->file);
}

/* --- the thread --- */

/* How many jobs from DONE on can be done in one go: appends that stand side by
 * side in the ring, or one job of another kind. Under the lock. */
static size_t
next_jobs(const struct journal *j)
{
	size_t first = j->done % j->capacity, n = 0;

	while (j->done + n < j->asked && n < BATCH && first + n < j->capacity &&
	    j->jobs[first + n].kind == JOB_APPEND)
		n++;
	return n != 0 || j->done == j->asked ? n : 1;
}

static void
do_jobs(struct journal *j, struct job *job, size_t n)
{
	enum status s = ST_OK;

	switch (job->kind) {
	case JOB_APPEND:
		s = do_append(j, job, n);
		break;
	case JOB_BEGIN:
		do_begin(j, job->floor);
		break;
	case JOB_ADD:
		do_add(j, &j->buffers[job->buffer]);
		break;
	case JOB_END:
		do_end(j);
		break;
	case JOB_STOP:
		do_stop(j);
		break;
	}
	for (size_t i = 0; i < n; i++)
		job[i].result = s;
}

/* When the next sync is due (mono, ms); UINT64_MAX: there is nothing to do. */
static uint64_t
sync_due(const struct journal *j)
{
	if (j->options.sync == JOURNAL_SYNC_ALWAYS || j->broken ||
	    j->file.synced == j->file.records)
		return UINT64_MAX;
	return j->last_sync + j->options.interval;
}

/* Wait for a job or for a sync that is due. Under the lock. */
static void
wait_for_work(struct journal *j)
{
	while (j->done == j->asked) {
		uint64_t due = sync_due(j);
		const struct timespec until = {
		    .tv_sec = (time_t)(due / 1000),
		    .tv_nsec = (long)(due % 1000) * 1000000,
		};
		if (due <= journal_mono())
			return;
		if (due == UINT64_MAX)
			pthread_cond_wait(&j->wake, &j->lock);
		else
			pthread_cond_timedwait(&j->wake, &j->lock, &until);
	}
}

static void
wake_loop(const struct journal *j)
{
	/* Fails only when the counter is full: then it is readable. */
	(void)!eventfd_write(j->event_fd, 1);
}

void *
journal_writer(void *journal)
{
	struct journal *j = journal;
	bool stop = false;

	while (!stop) {
		pthread_mutex_lock(&j->lock);
		wait_for_work(j);
		size_t n = next_jobs(j);
		struct job *job = &j->jobs[j->done % j->capacity];
		pthread_mutex_unlock(&j->lock);

		if (sync_due(j) <= journal_mono())
			sync_in_time(j);
		if (n == 0)
			continue;
		stop = job->kind == JOB_STOP;
		do_jobs(j, job, n);

		pthread_mutex_lock(&j->lock);
		j->done += n;
		pthread_mutex_unlock(&j->lock);
		wake_loop(j);
	}
	return NULL;
}
