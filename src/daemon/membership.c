#include "daemon/membership.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "daemon/memory.h"
#include "store/file.h"

/* After a change, how long to wait for its end: editors write in steps. */
#define SETTLE_MS 50

/* A group of the configuration that is being staged. */
struct staged {
	struct membership *membership;
	char *name, *path;
	enum roll_kind kind;
	uint64_t max_age;
	struct roll_job *job;
	struct roll_result result;
};

/* A folder that is watched. */
struct folder {
	int wd;
	char *path;
};

struct membership {
	struct loop *loop;
	struct roots *roots;
	const struct membership_ops *ops;
	void *ctx;
	struct roll_shop *shop;
	struct seat seats[ROOT_GROUPS_MAX];

	struct staged *staged;
	size_t staged_n, staged_left;
	struct task all_staged;

	int inotify;
	struct watch watch;
	struct folder folders[ROOT_GROUPS_MAX];
	size_t folders_n;
	struct deadline settle;
};

static uint64_t
now_mono(const struct membership *m)
{
	return loop_now(m->loop);
}

/* --- rolls in force --- */

/* Whether R may be in force at SEAT. */
static bool
is_good(const struct seat *seat, const struct roll *r)
{
	return seat->kind == ROLL_MEMBERS ||
	    roll_time_is_good(r->time, seat->max_age,
		(uint64_t)loop_wall(seat->membership->loop));
}

static void
replace_roll(struct seat *seat, struct roll *r)
{
	roll_ref(r);
	roll_unref(&seat->roll);
	seat->roll = r;
}

/* The root of seat NUMBER is too old: nobody passes by it, nor by one before
 * it, which is older still. */
static void
expire(struct membership *m, uint16_t number)
{
	roots_drop_group(m->roots, number);
	m->seats[number].fault = (struct roll_fault){.status = ST_LIFETIME};
}

/* Make R the roll of seat NUMBER. */
static void
put_in_force(struct membership *m, uint16_t number, struct roll *r)
{
	struct seat *seat = &m->seats[number];
	struct root root = {
	    .group = number,
	    .depth = (uint16_t)r->root.depth,
	    .members = r->root.size,
	};
	enum status st = ST_OK;

	if (!is_good(seat, r)) {
		expire(m, number);
		replace_roll(seat, r); /* the clock may be set */
		return;
	}
	/* The root of nobody is no root that a proof could be for. */
	memcpy(root.root, r->root.root, sizeof(root.root));
	if (r->root.size == 0)
		roots_drop_group(m->roots, number);
	else
		st = roots_set(m->roots, &root, now_mono(m));
	if (st == ST_OK)
		replace_roll(seat, r);
	else
		seat->fault = (struct roll_fault){.status = st};
}

/* Look whether the root in force at seat NUMBER has become too old, or good
 * again because the clock was set. */
static void
look_at_time(struct membership *m, uint16_t number)
{
	struct seat *seat = &m->seats[number];
	bool expired = seat->fault.status == ST_LIFETIME;
	struct roll *r = seat->roll;

	if (r == NULL || is_good(seat, r) == !expired)
		return;
	seat->fault = (struct roll_fault){0};
	put_in_force(m, number, r);
	m->ops->changed(m->ctx, number);
}

/* A list that was cut off while somebody wrote it looks like this, and taking
 * it would throw out everybody at once. A root of nobody was meant: it came
 * with a time and, by postern group follow, from who may say so. */
static bool
is_suddenly_empty(const struct seat *seat, const struct roll *r)
{
	return r != NULL && r->root.size == 0 && seat->kind == ROLL_MEMBERS &&
	    seat->roll != NULL && seat->roll->root.size != 0;
}

/* Take what came of reading the seat's file. RESULT's roll is consumed. */
static void
take_result(struct membership *m, uint16_t number, struct roll_result *result)
{
	struct seat *seat = &m->seats[number];

	seat->fault = result->fault;
	seat->seen = result->seen;
	if (is_suddenly_empty(seat, result->roll))
		seat->fault = (struct roll_fault){.status = ST_MISSING};
	else if (result->roll != NULL)
		put_in_force(m, number, result->roll);
	roll_unref(&result->roll);
}

/* --- single files --- */

static void start_reading(struct membership *m, uint16_t number);

/* Whether RESULT says what SEAT knows, and is no news: of a root with a later
 * time, which comes every minute, or of a file that was to be looked at again.
 */
static bool
is_renewal(const struct seat *seat, const struct roll_result *result)
{
	bool again = seat->seen.st_ctim.tv_sec == 0;

	return (seat->kind == ROLL_ROOT || again) &&
	    seat->fault.status == ST_OK && seat->roll != NULL &&
	    result->roll != NULL &&
	    memcmp(seat->roll->root.root, result->roll->root.root, 32) == 0;
}

static void
seat_read(void *ctx, const struct roll_result *r)
{
	struct seat *seat = ctx;
	struct membership *m = seat->membership;
	uint16_t number = (uint16_t)(seat - m->seats);
	struct roll_result result = *r;
	bool same;

	seat->job = NULL;
	if (seat->stale) {
		roll_unref(&result.roll);
		start_reading(m, number);
		return;
	}
	same = is_renewal(seat, &result);
	take_result(m, number, &result);
	if (!same || seat->fault.status != ST_OK)
		m->ops->changed(m->ctx, number);
}

static void
start_reading(struct membership *m, uint16_t number)
{
	struct seat *seat = &m->seats[number];

	seat->stale = seat->job != NULL;
	if (!seat->stale &&
	    roll_read(m->shop, &seat->job, seat->path, seat->kind, seat_read,
		seat) != ST_OK)
		seat->seen = (struct stat){0}; /* the next poll tries again */
}

/* Whether SEAT's file is another than the one that is known, or being read: to
 * begin anew each time for the one that is would never come to an end with a
 * long list. */
static bool
has_changed(struct seat *seat)
{
	const struct stat *known =
	    seat->job != NULL ? &seat->asked : &seat->seen;
	struct stat st;

	if (stat(seat->path, &st) < 0)
		return seat->fault.status != ST_SYS;
	if (file_unchanged(known, &st))
		return false;
	seat->asked = st;
	return true;
}

void
membership_poll(struct membership *m)
{
	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++) {
		if (!m->seats[i].taken)
			continue;
		look_at_time(m, i);
		if (has_changed(&m->seats[i]))
			start_reading(m, i);
	}
}

static void
settled(struct deadline *d)
{
	membership_poll(loop_owner(d, struct membership, settle));
}

/* --- folders --- */

static void
inotify_ready(struct watch *w, unsigned what)
{
	struct membership *m = loop_owner(w, struct membership, watch);
	char events[4096];

	(void)what;
	/* What happened is found out by looking at the files: names of events
	 * may be missing when the queue overflows. */
	while (read(m->inotify, events, sizeof(events)) > 0)
		continue;
	deadline_start(m->loop, &m->settle, SETTLE_MS);
}

static void
forget_folders(struct membership *m)
{
	for (size_t i = 0; i < m->folders_n; i++) {
		inotify_rm_watch(m->inotify, m->folders[i].wd);
		free(m->folders[i].path);
	}
	m->folders_n = 0;
}

/* Watch the folder of PATH; without it there is still membership_poll. */
static void
watch_folder(struct membership *m, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash == NULL
	    ? memory_copy(".")
	    : memory_format("%.*s", (int)(slash - path + 1), path);
	int wd;

	for (size_t i = 0; i < m->folders_n; i++) {
		if (strcmp(m->folders[i].path, folder) == 0) {
			free(folder);
			return;
		}
	}
	wd = inotify_add_watch(m->inotify, folder,
	    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
		IN_ATTRIB);
	if (wd >= 0)
		m->folders[m->folders_n++] = (struct folder){wd, folder};
	else
		free(folder);
}

static void
watch_folders(struct membership *m)
{
	forget_folders(m);
	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++) {
		if (m->seats[i].taken)
			watch_folder(m, m->seats[i].path);
	}
}

/* --- stages --- */

static void
drop_stage(struct membership *m)
{
	for (size_t i = 0; i < m->staged_n; i++) {
		roll_forget(&m->staged[i].job);
		roll_unref(&m->staged[i].result.roll);
		free(m->staged[i].name);
		free(m->staged[i].path);
	}
	free(m->staged);
	m->staged = NULL;
	m->staged_n = m->staged_left = 0;
	task_drop(&m->all_staged);
}

static void
tell_staged(struct task *t)
{
	struct membership *m = loop_owner(t, struct membership, all_staged);

	m->ops->staged(m->ctx);
}

static void
one_staged(struct membership *m)
{
	if (--m->staged_left == 0)
		task_defer(m->loop, &m->all_staged);
}

static void
staged_read(void *ctx, const struct roll_result *result)
{
	struct staged *s = ctx;

	s->job = NULL;
	s->result = *result;
	one_staged(s->membership);
}

enum status
membership_stage(struct membership *m, const struct config *c)
{
	enum status st = ST_OK;

	drop_stage(m);
	m->staged = calloc(c->groups_n + 1, sizeof(*m->staged));
	if (m->staged == NULL)
		return ST_NO_MEMORY;
	/* One more than there are files: the last step is ours, so that a
	 * stage without groups is told of too. */
	m->staged_left = c->groups_n + 1;
	for (size_t i = 0; i < c->groups_n && st == ST_OK; i++) {
		struct staged *s = &m->staged[m->staged_n++];
		s->membership = m;
		s->name = memory_copy(c->groups[i].name);
		s->path = memory_copy(config_group_file(&c->groups[i]));
		s->kind = c->groups[i].root != NULL ? ROLL_ROOT : ROLL_MEMBERS;
		s->max_age = c->groups[i].max_age_ms;
		st = roll_read(
		    m->shop, &s->job, s->path, s->kind, staged_read, s);
	}
	if (st != ST_OK)
		drop_stage(m);
	else
		one_staged(m);
	return st;
}

static struct staged *
find_staged(const struct membership *m, const char *name)
{
	for (size_t i = 0; i < m->staged_n; i++) {
		if (strcmp(m->staged[i].name, name) == 0)
			return &m->staged[i];
	}
	return NULL;
}

const struct roll_fault *
membership_staged_fault(const struct membership *m, const char *name)
{
	static const struct roll_fault none = {.status = ST_NOT_FOUND};
	const struct staged *s = find_staged(m, name);

	return s != NULL ? &s->result.fault : &none;
}

static void
leave_seat(struct membership *m, uint16_t number)
{
	struct seat *seat = &m->seats[number];

	roots_drop_group(m->roots, number);
	roll_forget(&seat->job);
	roll_unref(&seat->roll);
	free(seat->name);
	free(seat->path);
	*seat = (struct seat){.membership = m};
}

/* The seat of S's group: the one it has, or a free one. There are as many
 * seats as there may be groups, and those of groups that are gone are free. */
static uint16_t
find_seat(struct membership *m, const struct staged *s)
{
	uint16_t number = membership_number(m, s->name);

	for (uint16_t i = 0; i < ROOT_GROUPS_MAX && number == ROOT_GROUPS_MAX;
	     i++) {
		if (m->seats[i].taken)
			continue;
		m->seats[i].taken = true;
		m->seats[i].name = memory_copy(s->name);
		number = i;
	}
	return number;
}

void
membership_commit(struct membership *m)
{
	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++) {
		struct seat *seat = &m->seats[i];
		struct staged *s =
		    seat->taken ? find_staged(m, seat->name) : NULL;
		if (seat->taken && s == NULL)
			leave_seat(m, i);
		/* Another file is another list: its root may be one that
		 * another group gives up in this very step. */
		if (s != NULL && strcmp(s->path, seat->path) != 0)
			roots_drop_group(m->roots, i);
	}
	for (size_t i = 0; i < m->staged_n; i++) {
		struct staged *s = &m->staged[i];
		uint16_t number = find_seat(m, s);
		if (number == ROOT_GROUPS_MAX)
			continue;
		struct seat *seat = &m->seats[number];
		roll_forget(&seat->job); /* the staged one is newer */
		seat->stale = false;
		free(seat->path);
		seat->path = memory_copy(s->path);
		seat->kind = s->kind;
		seat->max_age = s->max_age;
		take_result(m, number, &s->result);
	}
	drop_stage(m);
	watch_folders(m);
}

const struct seat *
membership_seat(const struct membership *m, uint16_t number)
{
	if (number >= ROOT_GROUPS_MAX || !m->seats[number].taken)
		return NULL;
	return &m->seats[number];
}

uint16_t
membership_number(const struct membership *m, const char *name)
{
	uint16_t i = 0;

	while (i < ROOT_GROUPS_MAX &&
	    (!m->seats[i].taken || strcmp(m->seats[i].name, name) != 0))
		i++;
	return i;
}

/* --- life --- */

enum status
membership_new(struct membership **membership, struct loop *l,
    struct roots *roots, const struct membership_ops *ops, void *ctx)
{
	struct membership *m = calloc(1, sizeof(*m));
	enum status st;

	*membership = NULL;
	if (m == NULL)
		return ST_NO_MEMORY;
	m->loop = l;
	m->roots = roots;
	m->ops = ops;
	m->ctx = ctx;
	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++)
		m->seats[i].membership = m;
	task_init(&m->all_staged, tell_staged);
	deadline_init(&m->settle, settled);
	m->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	st = m->inotify < 0 ? ST_SYS : ST_OK;
	if (st == ST_OK) {
		watch_init(&m->watch, l, m->inotify, inotify_ready);
		st = watch_start(&m->watch, WATCH_READ);
	}
	if (st == ST_OK)
		st = roll_shop_new(&m->shop, l);
	*membership = m;
	if (st != ST_OK)
		membership_free(membership);
	return st;
}

void
membership_free(struct membership **membership)
{
	struct membership *m = *membership;

	*membership = NULL;
	if (m == NULL)
		return;
	drop_stage(m);
	for (uint16_t i = 0; i < ROOT_GROUPS_MAX; i++) {
		if (m->seats[i].taken)
			leave_seat(m, i);
	}
	roll_shop_free(&m->shop);
	forget_folders(m);
	deadline_stop(m->loop, &m->settle);
	if (m->inotify >= 0) {
		watch_stop(&m->watch);
		close(m->inotify);
	}
	free(m);
}
