#include "store/journal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/wipe.h"
#include "store/journal_impl.h"

#define QUEUE_DEFAULT 4096
#define RETRY_DEFAULT 1000

/* A file is left alone below this many records, 4 MiB, and as long as one in
 * so many says what is still true. */
#define COMPACT_RECORDS 65536
#define COMPACT_RATIO 4

/* --- start-up --- */

static char *
path_with(const char *path, const char *suffix)
{
	char *out = NULL;

	return asprintf(&out, "%s%s", path, suffix) < 0 ? NULL : out;
}

static enum status
allocate(struct journal *j)
{
	const struct journal_options *o = &j->options;
	pthread_condattr_t attr;

	j->path = strdup(o->path);
	j->path_new = path_with(o->path, ".new");
	j->path_lock = path_with(o->path, ".lock");
	j->capacity =
	    (o->queue != 0 ? o->queue : QUEUE_DEFAULT) + RESERVE_APPEND;
	j->jobs = calloc(j->capacity, sizeof(*j->jobs));
	j->buffers = calloc(2, sizeof(*j->buffers));
	if (j->path == NULL || j->path_new == NULL || j->path_lock == NULL ||
	    j->jobs == NULL || j->buffers == NULL)
		return ST_NO_MEMORY;
	if (j->options.retry == 0)
		j->options.retry = RETRY_DEFAULT;
	j->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (j->event_fd < 0)
		return ST_SYS;
	/* These do not fail on Linux. */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&j->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&j->lock, NULL);
	return ST_OK;
}

static void
release(struct journal *j)
{
	/* The lock goes last. */
	const int fds[] = {j->file.fd, j->folder_fd, j->event_fd, j->lock_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	free(j->jobs);
	free(j->buffers);
	free(j->path);
	free(j->path_new);
	free(j->path_lock);
	wipe(j, sizeof(*j)); /* the member key */
	free(j);
}

enum status
journal_open(struct journal **out, const struct journal_options *o,
    char why[static JOURNAL_WHY_MAX])
{
	struct journal *j = calloc(1, sizeof(*j));
	enum status s;
	int error;

	*out = NULL;
	journal_say(why, ST_OK, "out of memory");
	if (j == NULL)
		return ST_NO_MEMORY;
	j->options = *o;
	j->file.fd = j->next.fd = -1;
	j->lock_fd = j->folder_fd = j->event_fd = -1;
	if ((s = allocate(j)) == ST_SYS)
		journal_say_errno(
		    why, "eventfd", "raise the limit of descriptors");
	if (s == ST_OK)
		s = journal_file_open(j, why);
	if (s != ST_OK) {
		error = errno;
		release(j);
		errno = error;
		return s;
	}
	why[0] = '\0';
	*out = j;
	return ST_OK;
}

void
journal_member_key(uint8_t out[static MEMBER_KEY], const struct journal *j)
{
	memcpy(out, j->file.header.member_key, MEMBER_KEY);
}

uint64_t
journal_floor(const struct journal *j)
{
	return j->file.header.floor;
}

/* --- replay --- */

/* Fill BLOCK from OFFSET on; *n is less than all of it only at the end. */
static enum status
read_block(const struct journal *j, uint8_t *block, size_t size, size_t *n,
    uint64_t offset)
{
	for (*n = 0; *n < size;) {
		ssize_t got = pread(
		    j->file.fd, block + *n, size - *n, (off_t)(offset + *n));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ST_SYS;
		if (got == 0)
			break;
		*n += (size_t)got;
	}
	return ST_OK;
}

/* Hand what BLOCK holds to FN. */
static enum status
replay_block(struct journal_scan *scan, struct journal_replayed *out,
    const uint8_t *block, size_t records, journal_replay_fn *fn, void *ctx)
{
	for (size_t i = 0; i < records; i++) {
		struct journal_entry e;
		enum status s =
		    journal_scan_next(scan, &e, block + i * JOURNAL_RECORD);
		if (s != ST_OK)
			return s;
		if (e.kind == JOURNAL_NONE)
			continue;
		out->sealed = e.kind == JOURNAL_SEAL;
		out->records++;
		if (!out->sealed && (s = fn(ctx, &e)) != ST_OK)
			return s;
	}
	return ST_OK;
}

/* Cut the torn tail off, and have all that was read on the disk before more is
 * written: it may have been read from memory. */
static enum status
settle_file(struct journal *j, const struct journal_scan *scan)
{
	uint64_t end = journal_offset(scan->good);

	if (ftruncate(j->file.fd, (off_t)end) != 0 ||
	    fdatasync(j->file.fd) != 0)
		return ST_SYS;
	j->file.records = j->file.synced = scan->good;
	j->health.records = j->health.synced = scan->good;
	j->health.bytes = end;
	return ST_OK;
}

static enum status
start_writer(struct journal *j)
{
	sigset_t all, before;
	int error;

	j->last_sync = journal_mono();
	/* Signals are the loop's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&j->writer, NULL, journal_writer, j);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	j->running = error == 0;
	return j->running ? ST_OK : ST_SYS;
}

enum status
journal_replay(struct journal *j, struct journal_replayed *out,
    journal_replay_fn *fn, void *ctx, char why[static JOURNAL_WHY_MAX])
{
	struct journal_scan scan;
	uint64_t offset = JOURNAL_HEADER;
	size_t n = sizeof(j->batch);
	enum status s = ST_OK;

	*out = (struct journal_replayed){0};
	why[0] = '\0';
	journal_scan_init(&scan, j->file.header.file_id);
	while (n == sizeof(j->batch)) {
		s = read_block(j, j->batch, sizeof(j->batch), &n, offset);
		if (s != ST_OK)
			return journal_say_errno(
			    why, j->path, "the disk must be readable");
		s = replay_block(
		    &scan, out, j->batch, n / JOURNAL_RECORD, fn, ctx);
		if (s == ST_CORRUPT)
			return journal_say(why, s,
			    "%s: damaged in the middle, at byte %llu (restore "
			    "it from a backup, " JOURNAL_CURE_FRESH ")",
			    j->path,
			    (unsigned long long)journal_offset(scan.good));
		if (s != ST_OK)
			return journal_say(
			    why, s, "%s: %s", j->path, status_text(s));
		offset += n;
	}
	out->torn = offset - journal_offset(scan.good);
	out->sealed = out->sealed && out->torn == 0;
	if (settle_file(j, &scan) != ST_OK || start_writer(j) != ST_OK)
		return journal_say_errno(why, j->path,
		    "the disk must let the gateway write, and the system must "
		    "allow one more thread");
	return ST_OK;
}

/* --- asking and telling --- */

/* Put a job into the ring, leaving RESERVE places. Under the lock; the writer
 * is woken after it.
 * Returns: the job, to be filled in; NULL when there is no place. */
static struct job *
job_put(struct journal *j, enum job_kind kind, uint64_t reserve)
{
	struct job *job;

	if (j->asked - j->told + reserve >= j->capacity)
		return NULL;
	job = &j->jobs[j->asked++ % j->capacity];
	*job = (struct job){.kind = kind};
	return job;
}

/* Not under the lock, or the writer would wake only to wait for it. */
void
journal_wake(struct journal *j)
{
	pthread_cond_signal(&j->wake);
}

static void
unlock_and_wake(struct journal *j)
{
	pthread_mutex_unlock(&j->lock);
	journal_wake(j);
}

/* Records are not taken now. Under the lock. */
static bool
is_closed(const struct journal *j)
{
	return j->broken ||
	    (j->health.status != ST_OK && journal_mono() < j->retry_at);
}

enum status
journal_queue(
    struct journal *j, const struct journal_entry *entry, handle_t who)
{
	struct job *job = NULL;
	enum status s = ST_JOURNAL_FAILED;

	pthread_mutex_lock(&j->lock);
	if (!is_closed(j)) {
		job = job_put(j, JOB_APPEND, RESERVE_APPEND);
		s = job != NULL ? ST_OK : ST_BUSY;
	}
	if (job != NULL) {
		job->who = who;
		job->entry = *entry;
	}
	pthread_mutex_unlock(&j->lock);
	return s;
}

enum status
journal_append(
    struct journal *j, const struct journal_entry *entry, handle_t who)
{
	enum status s = journal_queue(j, entry, who);

	if (s == ST_OK)
		journal_wake(j);
	return s;
}

int
journal_fd(const struct journal *j)
{
	return j->event_fd;
}

void
journal_dispatch(struct journal *j, journal_done_fn *fn, void *ctx)
{
	eventfd_t ignored;
	uint64_t done;

	(void)!eventfd_read(j->event_fd, &ignored);
	pthread_mutex_lock(&j->lock);
	done = j->done;
	pthread_mutex_unlock(&j->lock);
	while (j->told < done) {
		/* A copy: FN may append. */
		struct job job = j->jobs[j->told % j->capacity];
		pthread_mutex_lock(&j->lock);
		j->told++;
		pthread_mutex_unlock(&j->lock);
		if (job.kind == JOB_APPEND && job.who.slot != 0 && fn != NULL)
			fn(ctx, job.who, job.result);
	}
}

/* --- compaction --- */

bool
journal_wants_compaction(struct journal *j, uint64_t live)
{
	bool wants;

	pthread_mutex_lock(&j->lock);
	wants = j->compaction == COMPACT_NONE &&
	    journal_mono() >= j->compact_at &&
	    (j->broken ||
		j->health.records >= COMPACT_RECORDS + COMPACT_RATIO * live);
	pthread_mutex_unlock(&j->lock);
	return wants;
}

enum status
journal_compact(struct journal *j, uint64_t floor)
{
	struct job *job = NULL;

	pthread_mutex_lock(&j->lock);
	if (j->compaction == COMPACT_NONE && journal_mono() >= j->compact_at)
		job = job_put(j, JOB_BEGIN, RESERVE_COMPACT);
	if (job != NULL) {
		job->floor = floor;
		j->compaction = COMPACT_OPEN;
	}
	unlock_and_wake(j);
	return job != NULL ? ST_OK : ST_BUSY;
}

/* Take note of a compaction that is over. Under the lock.
 * Returns: ST_OK if it is not, or ended well. */
static enum status
take_end(struct journal *j)
{
	bool failed = j->compaction == COMPACT_FAILED;

	if (failed || j->compaction == COMPACT_DONE)
		j->compaction = COMPACT_NONE;
	return failed ? ST_JOURNAL_FAILED : ST_OK;
}

enum status
journal_compact_add(
    struct journal *j, const struct ledger_record *records, size_t n)
{
	struct journal_buffer *b = NULL;
	struct job *job = NULL;
	enum status s;

	if (n > JOURNAL_COMPACT_MAX)
		return ST_INTERNAL;
	pthread_mutex_lock(&j->lock);
	if ((s = take_end(j)) == ST_OK && j->compaction != COMPACT_OPEN)
		s = ST_INTERNAL;
	for (unsigned i = 0; s == ST_OK && b == NULL && i < 2; i++) {
		if (!j->buffers[i].full)
			b = &j->buffers[i];
	}
	if (b != NULL && (job = job_put(j, JOB_ADD, RESERVE_COMPACT)) != NULL) {
		/* 48 KiB: short enough to keep the lock. */
		memcpy(b->records, records, n * sizeof(*records));
		b->n = n;
		b->full = true;
		job->buffer = (unsigned)(b - j->buffers);
	}
	unlock_and_wake(j);
	return s == ST_OK && job == NULL ? ST_BUSY : s;
}

enum status
journal_compact_end(struct journal *j)
{
	enum status s;

	pthread_mutex_lock(&j->lock);
	bool done = j->compaction == COMPACT_DONE;
	s = take_end(j);
	if (s == ST_OK && !done) {
		if (j->compaction == COMPACT_OPEN &&
		    job_put(j, JOB_END, RESERVE_COMPACT) != NULL)
			j->compaction = COMPACT_ENDING;
		s = j->compaction == COMPACT_NONE ? ST_INTERNAL : ST_BUSY;
	}
	unlock_and_wake(j);
	return s;
}

/* --- state and end --- */

void
journal_health(struct journal *j, struct journal_health *out)
{
	pthread_mutex_lock(&j->lock);
	*out = j->health;
	out->queued = j->asked - j->done;
	out->compacting = j->compaction != COMPACT_NONE;
	pthread_mutex_unlock(&j->lock);
}

void
journal_close(struct journal **jp, journal_done_fn *fn, void *ctx)
{
	struct journal *j = *jp;

	*jp = NULL;
	if (j == NULL)
		return;
	if (j->running) {
		journal_dispatch(j, fn, ctx);
		pthread_mutex_lock(&j->lock);
		/* There is always one place for it. */
		(void)job_put(j, JOB_STOP, 0);
		unlock_and_wake(j);
		pthread_join(j->writer, NULL);
		journal_dispatch(j, fn, ctx);
	}
	pthread_mutex_destroy(&j->lock);
	pthread_cond_destroy(&j->wake);
	release(j);
}
