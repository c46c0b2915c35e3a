#include "daemon/roll.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "base/text.h"
#include "net/pool.h"
#include "semaphore/root_file.h"
#include "store/file.h"

/* Bytes of a file that are read in one round of the loop. */
#define SLICE ((size_t)1 << 20)
/* The largest file: 6 million members. */
#define FILE_MAX ((size_t)512 << 20)
/* Files that may wait for the worker: every group, twice. */
#define JOBS_MAX 160
/* How often a file that keeps changing is begun again. */
#define TRIES_MAX 5
/* Longer than a tick of the kernel's clock. */
#define FRESH_MS 20
/* Seconds that a client may keep the list. */
#define LIST_MAX_AGE 30

struct roll_shop {
	struct loop *loop;
	struct pool *pool;
	struct list_node jobs;
};

/* A file under way. The worker owns text, len, roll and fault from the moment
 * it is submitted until it is done. */
struct roll_job {
	struct list_node node; /* in the shop */
	struct roll_shop *shop;
	roll_done_fn *done; /* NULL: nobody wants it any more */
	void *ctx;
	struct task task;
	char *path;
	enum roll_kind kind;
	int fd;
	unsigned tries;
	char *text;
	size_t len;
	struct roll_result result;
};

bool
roll_time_is_good(uint64_t time, uint64_t max_age, uint64_t wall)
{
	uint64_t now = wall / 1000, age = max_age / 1000;

	return time <= now ? now - time <= age : time - now <= age;
}

struct roll *
roll_ref(struct roll *r)
{
	r->refs++;
	return r;
}

void
roll_unref(struct roll **roll)
{
	struct roll *r = *roll;

	*roll = NULL;
	if (r == NULL || --r->refs > 0)
		return;
	document_unref(&r->list);
	free(r);
}

const char *
roll_fault_text(char out[static ROLL_FAULT_MAX], const struct roll_fault *f)
{
	char where[MEMBERS_FAULT_MAX];

	if (f->status == ST_SYS && f->error == EXDEV)
		snprintf(out, ROLL_FAULT_MAX,
		    "it is in a folder that was not the gateway's when it "
		    "started: restart it (run.sandbox)");
	else if (f->status == ST_SYS && f->error == EINVAL)
		snprintf(out, ROLL_FAULT_MAX, "not a plain file");
	else if (f->status == ST_SYS)
		snprintf(out, ROLL_FAULT_MAX, "%s", strerror(f->error));
	else if (f->status == ST_PERMISSION)
		snprintf(
		    out, ROLL_FAULT_MAX, "anyone may write to it: chmod o-w");
	else if (f->status == ST_MISSING && f->where.status == ST_OK)
		snprintf(out, ROLL_FAULT_MAX,
		    "nobody is in it any more, so the former members stay: to "
		    "be rid of all of them, take the group out");
	else if (f->status == ST_LIFETIME)
		snprintf(out, ROLL_FAULT_MAX,
		    "its time is too long ago (group.max_age) or yet to come: "
		    "does postern group follow run, and what does it say?");
	else if (f->status == ST_DUPLICATE && f->where.line == 0)
		snprintf(out, ROLL_FAULT_MAX,
		    "another group has exactly these members");
	else if (f->where.status != ST_OK)
		snprintf(out, ROLL_FAULT_MAX, "%s",
		    members_fault_text(where, &f->where));
	else
		snprintf(out, ROLL_FAULT_MAX, "%s", status_text(f->status));
	return out;
}

/* --- on the worker --- */

static enum status
write_list(struct roll *r, const struct members *m)
{
	struct buffer b = {0};
	char line[DECIMAL_MAX];

	for (size_t i = 0; i < m->n; i++) {
		size_t len = decimal_encode(line, m->list[i].commitment);
		line[len++] = '\n'; /* over the NUL */
		buffer_put(&b, line, len);
	}
	return document_new(&r->list, &b, "text/plain", LIST_MAX_AGE);
}

static enum status
build_members(struct roll *r, struct members_fault *fault, span_t text)
{
	struct members m;
	enum status st = members_parse(&m, text.ptr, text.len, fault);

	if (st == ST_OK)
		st = group_root_of(&r->root, m.list, m.n, NULL);
	if (st == ST_OK)
		st = write_list(r, &m);
	members_clear(&m);
	return st;
}

static enum status
build_root(struct roll *r, struct members_fault *fault, span_t text)
{
	struct root_file file;
	enum status st = root_file_parse(&file, fault, text);

	r->root = file.root;
	r->time = file.time;
	return st;
}

/* Make J's text a roll. Pure. */
static void
build(struct roll_job *j)
{
	struct roll *r = calloc(1, sizeof(*r));
	struct members_fault *fault = &j->result.fault.where;
	span_t text = span_of(j->text, j->len);
	enum status st = ST_NO_MEMORY;

	if (r != NULL)
		st = j->kind == ROLL_ROOT ? build_root(r, fault, text)
					  : build_members(r, fault, text);
	j->result.fault.status = st;
	if (st == ST_OK) {
		r->refs = 1;
		j->result.roll = r;
		return;
	}
	free(r);
}

static void
run(const void *shared, void *state, void *const *jobs, unsigned n)
{
	(void)shared;
	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct roll_job *j;
		memcpy(&j, jobs[i], sizeof(j));
		build(j);
	}
}

/* --- on the loop --- */

static void
close_file(struct roll_job *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
}

static void
job_free(struct roll_job *j)
{
	close_file(j);
	task_drop(&j->task);
	list_remove(&j->node);
	roll_unref(&j->result.roll);
	free(j->path);
	free(j->text);
	free(j);
}

/* Tell whoever asked, and forget J. */
static void
finish(struct roll_job *j)
{
	struct roll_result result = j->result;

	j->result.roll = NULL;
	roll_done_fn *done = j->done;
	void *ctx = j->ctx;
	job_free(j);
	if (done != NULL)
		done(ctx, &result);
	else
		roll_unref(&result.roll);
}

static void
fail(struct roll_job *j, enum status st)
{
	j->result.fault = (struct roll_fault){.status = st, .error = errno};
	finish(j);
}

static void
job_done(void *arg, handle_t owner, void *job)
{
	struct roll_job *j;

	(void)arg;
	(void)owner;
	memcpy(&j, job, sizeof(j));
	finish(j);
}

static enum status
open_file(struct roll_job *j)
{
	struct stat *st = &j->result.seen;
	char *text;

	j->len = 0;
	/* Opening a pipe would wait for its writer, and the loop with it. */
	j->fd = open(j->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	/* The sandbox lets access() tell what open() may not do. */
	if (j->fd < 0 && errno == EACCES && access(j->path, R_OK) == 0)
		errno = EXDEV;
	if (j->fd < 0 || fstat(j->fd, st) < 0)
		return ST_SYS;
	errno = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
	if (!S_ISREG(st->st_mode))
		return ST_SYS;
	if ((st->st_mode & S_IWOTH) != 0)
		return ST_PERMISSION;
	errno = EFBIG;
	if ((uint64_t)st->st_size > FILE_MAX)
		return ST_SYS;
	text = realloc(j->text, (size_t)st->st_size + 1);
	if (text == NULL)
		return ST_NO_MEMORY;
	j->text = text;
	return ST_OK;
}

/* The file was changed within the tick of the kernel's clock that is now, or
 * shortly before: it may change once more and have the same times. */
static bool
is_fresh(const struct stat *st)
{
	struct timespec now = {0};
	int64_t ms;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
	ms = (int64_t)(now.tv_sec - st->st_ctim.tv_sec) * 1000 +
	    (now.tv_nsec - st->st_ctim.tv_nsec) / 1000000;
	return ms > -FRESH_MS && ms < FRESH_MS;
}

/* The file is read: is it still the one that was opened? */
static void
submit(struct roll_job *j)
{
	struct stat now;

	if (fstat(j->fd, &now) < 0 || j->len != (size_t)now.st_size ||
	    !file_unchanged(&j->result.seen, &now)) {
		close_file(j);
		errno = EAGAIN;
		if (++j->tries == TRIES_MAX)
			fail(j, ST_SYS);
		else
			task_defer(j->shop->loop, &j->task);
		return;
	}
	close_file(j);
	if (is_fresh(&now))
		j->result.seen.st_ctim = (struct timespec){0};
	if (pool_submit(j->shop->pool, NULL, 0, (handle_t){0}, &j, sizeof(j)) !=
	    ST_OK)
		fail(j, ST_BUSY);
}

/* Open the file, or read its next slice. */
static void
step(struct task *t)
{
	struct roll_job *j = loop_owner(t, struct roll_job, task);
	size_t size, want;
	ssize_t n;

	if (j->fd < 0) {
		enum status st = open_file(j);
		if (st != ST_OK) {
			fail(j, st);
			return;
		}
	}
	size = (size_t)j->result.seen.st_size;
	want = size - j->len < SLICE ? size - j->len : SLICE;
	n = want > 0 ? read(j->fd, j->text + j->len, want) : 0;
	if (n < 0) {
		fail(j, ST_SYS);
		return;
	}
	j->len += (size_t)n;
	if (n == 0 || j->len == size)
		submit(j);
	else
		task_defer(j->shop->loop, &j->task);
}

enum status
roll_read(struct roll_shop *shop, struct roll_job **job, const char *path,
    enum roll_kind kind, roll_done_fn *done, void *ctx)
{
	struct roll_job *j = calloc(1, sizeof(*j));

	*job = NULL;
	if (j == NULL || (j->path = strdup(path)) == NULL) {
		free(j);
		return ST_NO_MEMORY;
	}
	j->shop = shop;
	j->kind = kind;
	j->done = done;
	j->ctx = ctx;
	j->fd = -1;
	task_init(&j->task, step);
	list_init(&j->node);
	list_append(&shop->jobs, &j->node);
	task_defer(shop->loop, &j->task);
	*job = j;
	return ST_OK;
}

void
roll_forget(struct roll_job **job)
{
	if (*job != NULL)
		(*job)->done = NULL;
	*job = NULL;
}

enum status
roll_shop_new(struct roll_shop **shop, struct loop *l)
{
	struct roll_shop *s = calloc(1, sizeof(*s));
	struct pool_config config = {
	    .workers = 1,
	    .capacity = {JOBS_MAX, 1},
	    .job_size = sizeof(struct roll_job *),
	    .batch_max = 1,
	    .nice = 10,
	    .run = run,
	    .done = job_done,
	};
	enum status st;

	*shop = NULL;
	if (s == NULL)
		return ST_NO_MEMORY;
	s->loop = l;
	list_init(&s->jobs);
	config.arg = s;
	if ((st = pool_new(&s->pool, l, &config)) != ST_OK) {
		free(s);
		return st;
	}
	*shop = s;
	return ST_OK;
}

void
roll_shop_free(struct roll_shop **shop)
{
	struct roll_shop *s = *shop;

	*shop = NULL;
	if (s == NULL)
		return;
	/* Joins the worker: nobody touches the jobs any more. */
	pool_free(&s->pool);
	while (!list_empty(&s->jobs))
		/* Unlinks it. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
		job_free(list_entry(s->jobs.next, struct roll_job, node));
	free(s);
}
