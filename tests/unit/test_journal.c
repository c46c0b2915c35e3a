/* The journal on a disk: restarts, kill -9, failures of every call, locks. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "disk.h"
#include "harness.h"
#include "store/journal.h"

#define MEMBERS 64
#define PATH "journal"

static char folder[64];
static char why[JOURNAL_WHY_MAX];

/* What a journal says that members have used: all of one epoch. */
static struct {
	uint32_t requests[MEMBERS];
	uint64_t floor;
	unsigned records;
} got;

/* Each case is a process of its own, and gets a folder; in memory where that
 * can be had, as some cases sync some thousand times. */
static void
enter(void)
{
	snprintf(folder, sizeof(folder), "%s/postern-journal-XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(folder) != NULL);
	CHECK(chdir(folder) == 0);
}

static void
leave(void)
{
	unlink(PATH);
	unlink(PATH ".lock");
	CHECK(chdir("/") == 0);
	/* Fails when a PATH.new is left behind. */
	CHECK(rmdir(folder) == 0);
}

static struct journal_options
options_of(enum journal_sync sync)
{
	return (struct journal_options){
	    .path = PATH,
	    .sync = sync,
	    .interval = 20,
	    .retry = 50,
	    .identity = {5},
	};
}

static enum status
on_replay(void *ctx, const struct journal_entry *e)
{
	(void)ctx;
	got.records++;
	if (e->kind == JOURNAL_CLOSE)
		got.floor = e->floor;
	if (e->kind == JOURNAL_COUNT) {
		uint32_t who = load_be32(e->count.member.tag);
		CHECK(who < MEMBERS);
		got.requests[who] = e->count.requests;
	}
	return ST_OK;
}

static struct journal_replayed
open_with(struct journal **j, const struct journal_options *o)
{
	struct journal_replayed r;

	memset(&got, 0, sizeof(got));
	enum status s = journal_open(j, o, why);
	if (s != ST_OK)
		printf("    %s\n", why);
	CHECK_STATUS(s, ST_OK);
	got.floor = journal_floor(*j);
	s = journal_replay(*j, &r, on_replay, NULL, why);
	if (s != ST_OK)
		printf("    %s\n", why);
	CHECK_STATUS(s, ST_OK);
	return r;
}

static struct journal_replayed
open_always(struct journal **j)
{
	struct journal_options o = options_of(JOURNAL_SYNC_ALWAYS);

	return open_with(j, &o);
}

static struct journal_entry
count_of(uint32_t who, uint32_t requests)
{
	struct journal_entry e = {.kind = JOURNAL_COUNT};

	store_be32(e.count.member.tag, who);
	e.count.requests = requests;
	return e;
}

/* What dispatch has told: by slot of the handle. */
static enum status told[100000];
static unsigned told_n;

static void
on_done(void *ctx, handle_t who, enum status s)
{
	(void)ctx;
	CHECK(who.slot < 100000);
	told[who.slot] = s;
	told_n++;
}

static void
wait_some(struct journal *j)
{
	struct pollfd p = {.fd = journal_fd(j), .events = POLLIN};

	CHECK(poll(&p, 1, 10000) == 1);
	journal_dispatch(j, on_done, NULL);
}

/* Wait until the N that are outstanding have been told. */
static void
wait_told(struct journal *j, unsigned n)
{
	unsigned until = told_n + n;

	while (told_n < until)
		wait_some(j);
	CHECK_INT(told_n, until);
}

/* Append and wait for the answer. */
static enum status
append(struct journal *j, uint32_t who, uint32_t requests)
{
	struct journal_entry e = count_of(who, requests);
	enum status s = journal_append(j, &e, (handle_t){1, 1});

	if (s != ST_OK)
		return s;
	wait_told(j, 1);
	return told[1];
}

static enum status
health(struct journal *j)
{
	struct journal_health h;

	journal_health(j, &h);
	CHECK(h.status == ST_OK || h.error != 0);
	return h.status;
}

static off_t
size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : -1;
}

static void
pause_ms(unsigned ms)
{
	poll(NULL, 0, (int)ms);
}

/* Write the whole of a "ledger" anew: member i has used i + 1.
 * Returns: how it ended. */
static enum status
compact(struct journal *j, uint64_t floor)
{
	struct ledger_record records[MEMBERS];
	enum status s = journal_compact(j, floor);

	if (s != ST_OK)
		return s;
	for (uint32_t i = 0; i < MEMBERS; i++)
		records[i] = count_of(i, i + 1).count;
	while ((s = journal_compact_add(j, records, MEMBERS)) == ST_BUSY)
		wait_some(j);
	if (s != ST_OK)
		return s;
	while ((s = journal_compact_end(j)) == ST_BUSY)
		wait_some(j);
	return s;
}

/* --- cases --- */

static void
test_restart(void)
{
	struct journal *j;
	struct journal_replayed r;
	uint8_t key[MEMBER_KEY], again[MEMBER_KEY];
	static const uint8_t zeros[MEMBER_KEY];
	struct stat st;

	enter();
	r = open_always(&j);
	CHECK_INT(r.records, 0);
	journal_member_key(key, j);
	CHECK(memcmp(key, zeros, sizeof(key)) != 0);
	CHECK(stat(PATH, &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	CHECK_INT(st.st_size, JOURNAL_HEADER);
	for (uint32_t i = 1; i <= 10; i++) {
		CHECK_STATUS(append(j, 3, i), ST_OK);
		CHECK_STATUS(append(j, i, 100 + i), ST_OK);
	}
	const struct journal_entry end = {
	    JOURNAL_CLOSE, .closed = 4, .floor = 5};
	CHECK_STATUS(journal_append(j, &end, (handle_t){1, 1}), ST_OK);
	wait_told(j, 1);
	journal_close(&j, on_done, NULL);
	CHECK(j == NULL);

	r = open_always(&j);
	CHECK(r.sealed);
	CHECK_INT(r.torn, 0);
	CHECK_INT(r.records, 22); /* the seal is one */
	CHECK_INT(got.requests[3], 10);
	CHECK_INT(got.requests[10], 110);
	CHECK_INT(got.floor, 5);
	journal_member_key(again, j);
	CHECK_MEM(key, again, sizeof(key));
	/* Records go on behind the seal. */
	CHECK_STATUS(append(j, 4, 777), ST_OK);
	journal_close(&j, on_done, NULL);
	open_always(&j);
	CHECK_INT(got.requests[4], 777);
	CHECK_INT(got.requests[3], 10);
	journal_close(&j, NULL, NULL);
	leave();
}

/* Those that queue up while one is written share the next write and sync. */
static void
test_group_commit(void)
{
	struct journal *j;
	struct journal_health before, after;

	enter();
	open_always(&j);
	journal_health(j, &before);
	for (uint32_t i = 0; i < 4000; i++) {
		struct journal_entry e = count_of(i % MEMBERS, i);
		CHECK_STATUS(
		    journal_append(j, &e, (handle_t){i + 1, 1}), ST_OK);
	}
	wait_told(j, 4000);
	for (uint32_t i = 0; i < 4000; i++)
		CHECK_STATUS(told[i + 1], ST_OK);
	journal_health(j, &after);
	CHECK_INT(after.records, 4000);
	CHECK_INT(after.synced, 4000);
	CHECK_INT(after.queued, 0);
	CHECK(after.syncs - before.syncs < 1000);
	journal_close(&j, NULL, NULL);
	leave();
}

/* What is queued for company waits to be woken, and is one write then. */
static void
test_queue_woken(void)
{
	struct journal *j;
	struct journal_health before, after;

	enter();
	open_always(&j);
	CHECK_STATUS(append(j, 0, 1), ST_OK);
	poll(NULL, 0, 50); /* the writer sleeps again */
	journal_health(j, &before);
	for (uint32_t i = 0; i < 1000; i++) {
		struct journal_entry e = count_of(i % MEMBERS, i);
		CHECK_STATUS(journal_queue(j, &e, (handle_t){i + 1, 1}), ST_OK);
	}
	poll(NULL, 0, 20);
	journal_health(j, &after);
	CHECK_INT(after.queued, 1000);
	CHECK_INT(after.records, before.records);
	told_n = 0;
	journal_wake(j);
	wait_told(j, 1000);
	journal_health(j, &after);
	CHECK_INT(after.synced, before.synced + 1000);
	CHECK_INT(after.syncs, before.syncs + 1);
	journal_close(&j, NULL, NULL);
	leave();
}

static void
test_queue_bounded(void)
{
	struct journal_options o = options_of(JOURNAL_SYNC_ALWAYS);
	struct journal_entry e = count_of(1, 1);
	struct journal *j;
	unsigned n = 0;

	enter();
	o.queue = 10;
	open_with(&j, &o);
	/* Nobody takes the answers: the ring is full after ten. */
	while (journal_append(j, &e, (handle_t){1, 1}) == ST_OK)
		n++;
	CHECK_INT(n, 10);
	CHECK_STATUS(journal_append(j, &e, (handle_t){1, 1}), ST_BUSY);
	wait_told(j, 10);
	CHECK_STATUS(append(j, 1, 2), ST_OK);
	/* And then it can still be closed, and compacted before that. */
	for (n = 0; journal_append(j, &e, (handle_t){1, 1}) == ST_OK;)
		n++;
	CHECK_INT(n, 10);
	CHECK_STATUS(journal_compact(j, 0), ST_OK);
	told_n = 0;
	journal_close(&j, on_done, NULL);
	CHECK_INT(told_n, 10);
	leave();
}

/* sync = interval: told after the write, synced within the interval. */
static void
test_interval(void)
{
	struct journal_options o = options_of(JOURNAL_SYNC_INTERVAL);
	struct journal_health h;
	struct journal *j;

	enter();
	o.interval = 100;
	open_with(&j, &o);
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_STATUS(append(j, 1, i), ST_OK);
	journal_health(j, &h);
	CHECK_INT(h.records, 1000);
	CHECK(h.syncs < 100);
	for (int i = 0; h.synced < h.records; i++) {
		CHECK(i < 100);
		pause_ms(20);
		journal_health(j, &h);
	}
	/* Nothing is written, nothing is synced. */
	uint64_t syncs = h.syncs;
	pause_ms(250);
	journal_health(j, &h);
	CHECK_INT(h.syncs, syncs);
	journal_close(&j, NULL, NULL);
	leave();
}

static void
test_torn_tail(void)
{
	struct journal *j;
	struct journal_replayed r;
	const off_t whole = JOURNAL_HEADER + 3 * JOURNAL_RECORD;

	enter();
	for (off_t cut = whole - 1; cut >= JOURNAL_HEADER; cut--) {
		unlink(PATH);
		open_always(&j);
		for (uint32_t i = 0; i < 3; i++)
			CHECK_STATUS(append(j, i, 7), ST_OK);
		/* Not closed in order: the seal would speak for them. */
		journal_close(&j, NULL, NULL);
		CHECK(truncate(PATH, whole) == 0);

		CHECK(truncate(PATH, cut) == 0);
		off_t rest = (cut - JOURNAL_HEADER) % JOURNAL_RECORD;
		unsigned good =
		    (unsigned)(cut - JOURNAL_HEADER) / JOURNAL_RECORD;
		r = open_always(&j);
		CHECK_INT(r.records, good);
		CHECK_INT(r.torn, rest);
		CHECK(!r.sealed);
		CHECK_INT(got.requests[0], good > 0 ? 7 : 0);
		CHECK_INT(got.requests[2], 0);
		CHECK_INT(size_of(PATH), cut - rest);
		/* It goes on where the good part ends. */
		CHECK_STATUS(append(j, 9, 1), ST_OK);
		journal_close(&j, NULL, NULL);
		r = open_always(&j);
		CHECK_INT(r.records, good + 2);
		CHECK_INT(got.requests[9], 1);
		journal_close(&j, NULL, NULL);
	}
	leave();
}

static void
patch(off_t at)
{
	uint8_t byte;
	int fd = open(PATH, O_RDWR);

	CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
	byte ^= 1;
	CHECK(pwrite(fd, &byte, 1, at) == 1);
	close(fd);
}

/* Open must refuse with STATUS and a message that has WORDS and a cure. */
static void
check_refused(
    const struct journal_options *o, enum status status, const char *words)
{
	struct journal *j;
	struct journal_replayed r;
	enum status s = journal_open(&j, o, why);

	if (s == ST_OK) {
		s = journal_replay(j, &r, on_replay, NULL, why);
		journal_close(&j, NULL, NULL);
	}
	CHECK_STATUS(s, status);
	if (strstr(why, words) == NULL || strchr(why, '(') == NULL)
		test_fail(__FILE__, __LINE__, "message: %s", why);
	CHECK(j == NULL);
}

static void
test_refused(void)
{
	struct journal_options o = options_of(JOURNAL_SYNC_ALWAYS);
	struct journal *j, *second;

	enter();
	open_always(&j);
	for (uint32_t i = 0; i < 20; i++)
		CHECK_STATUS(append(j, i, 7), ST_OK);
	/* A second gateway, while the first runs. */
	CHECK_STATUS(journal_open(&second, &o, why), ST_LOCKED);
	CHECK(strstr(why, "another gateway uses") != NULL);
	journal_close(&j, NULL, NULL);
	off_t size = size_of(PATH);

	/* Damage in the middle: refused, and not touched. */
	patch(JOURNAL_HEADER + 5 * JOURNAL_RECORD + 20);
	check_refused(&o, ST_CORRUPT, "damaged in the middle, at byte 4416");
	CHECK_INT(size_of(PATH), size);
	patch(JOURNAL_HEADER + 5 * JOURNAL_RECORD + 20);

	o.identity[0] = 6;
	check_refused(&o, ST_FOREIGN, "another gateway");
	o.identity[0] = 5;
	patch(11);
	check_refused(&o, ST_BAD_VERSION, "another version");
	patch(11);
	patch(100);
	check_refused(&o, ST_CORRUPT, "beginning");
	patch(100);
	CHECK(chmod(PATH, 0640) == 0);
	check_refused(&o, ST_PERMISSION, "chmod 600");
	CHECK(chmod(PATH, 0600) == 0);

	if (geteuid() == 0) {
		CHECK(chown(PATH, 65534, 0) == 0);
		check_refused(&o, ST_PERMISSION, "another user");
		CHECK(chown(PATH, 0, 0) == 0);
	}

	/* All mended: it is as it was. */
	open_always(&j);
	CHECK_INT(got.requests[19], 7);
	journal_close(&j, NULL, NULL);

	CHECK(rename(PATH, "real") == 0);
	CHECK(symlink("real", PATH) == 0);
	check_refused(&o, ST_PERMISSION, "symbolic link");
	CHECK(unlink(PATH) == 0);
	CHECK(mkfifo(PATH, 0600) == 0);
	check_refused(&o, ST_PERMISSION, "no plain file");
	CHECK(unlink(PATH) == 0);
	CHECK(mkdir(PATH, 0700) == 0);
	check_refused(&o, ST_SYS, "Is a directory");
	CHECK(rmdir(PATH) == 0);
	CHECK(truncate("real", 100) == 0 && rename("real", PATH) == 0);
	check_refused(&o, ST_CORRUPT, "beginning");
	o.path = "nowhere/journal";
	check_refused(&o, ST_SYS, "must exist");
	leave();
}

/* As an ordinary user in a folder that it may not write. */
static void
test_read_only_folder(void)
{
	struct journal_options o = options_of(JOURNAL_SYNC_ALWAYS);

	enter();
	if (geteuid() == 0) {
		CHECK(chown(".", 65534, 65534) == 0);
		CHECK(setresgid(65534, 65534, 65534) == 0);
		CHECK(setresuid(65534, 65534, 65534) == 0);
	}
	CHECK(chmod(".", 0500) == 0);
	check_refused(&o, ST_SYS, "Permission denied");
	CHECK(chmod(".", 0700) == 0);
	CHECK(chdir("/") == 0);
	(void)!rmdir(folder); /* may be another user's to remove */
}

static void
test_compaction(void)
{
	struct journal *j;
	struct journal_health h;

	enter();
	open_always(&j);
	CHECK(!journal_wants_compaction(j, 0));
	for (uint32_t i = 0; i < 70000; i++) {
		struct journal_entry e = count_of(1, i);
		if (journal_append(j, &e, (handle_t){1, 1}) == ST_BUSY) {
			wait_some(j);
			i--;
		}
	}
	CHECK(!journal_wants_compaction(j, 70000));
	CHECK(journal_wants_compaction(j, 10));
	off_t before = size_of(PATH);
	while (told_n < 70000)
		wait_some(j);

	CHECK_STATUS(compact(j, 33), ST_OK);
	CHECK_INT(size_of(PATH), JOURNAL_HEADER + MEMBERS * JOURNAL_RECORD);
	CHECK(before > size_of(PATH));
	CHECK(size_of(PATH ".new") == -1);
	CHECK_STATUS(append(j, 5, 999), ST_OK);
	journal_health(j, &h);
	CHECK_INT(h.compactions, 1);
	CHECK(!h.compacting);
	journal_close(&j, NULL, NULL);
	open_always(&j);
	CHECK_INT(got.floor, 33);
	CHECK_INT(got.requests[4], 5);
	CHECK_INT(got.requests[5], 999);
	CHECK_INT(got.requests[1], 2); /* not the 69,999 of before */
	journal_close(&j, NULL, NULL);
	leave();
}

/* A ledger of many parts: the writer is ahead or behind, and the new file is
 * synced on the way. */
static void
test_compaction_large(void)
{
	static struct ledger_record records[JOURNAL_COMPACT_MAX];
	struct journal_health before, after;
	struct journal *j;
	unsigned parts = 0;
	enum status s;

	enter();
	open_always(&j);
	journal_health(j, &before);
	CHECK_STATUS(journal_compact(j, 0), ST_OK);
	while (parts < 130) {
		for (uint32_t i = 0; i < JOURNAL_COMPACT_MAX; i++)
			records[i] = count_of(i % MEMBERS, parts).count;
		s = journal_compact_add(j, records, JOURNAL_COMPACT_MAX);
		CHECK(s == ST_OK || s == ST_BUSY);
		parts += s == ST_OK;
		journal_dispatch(j, on_done, NULL);
	}
	while ((s = journal_compact_end(j)) == ST_BUSY)
		wait_some(j);
	CHECK_STATUS(s, ST_OK);
	journal_health(j, &after);
	CHECK_INT(after.records, 130 * JOURNAL_COMPACT_MAX);
	CHECK_INT(after.synced, after.records);
	CHECK_INT(after.syncs - before.syncs, 2);
	/* Nothing to end, nothing to add to. */
	CHECK_STATUS(journal_compact_end(j), ST_INTERNAL);
	CHECK_STATUS(journal_compact_add(j, records, 1), ST_INTERNAL);
	journal_close(&j, NULL, NULL);
	open_always(&j);
	CHECK_INT(got.requests[1], 129);
	journal_close(&j, NULL, NULL);
	leave();
}

/* Records that come while a new file is made are in it too. */
static void
test_compaction_with_traffic(void)
{
	struct ledger_record records[MEMBERS];
	struct journal_entry e;
	struct journal *j;
	enum status s;
	unsigned n = 0;

	enter();
	open_always(&j);
	for (uint32_t i = 0; i < MEMBERS; i++)
		records[i] = count_of(i, i + 1).count;
	CHECK_STATUS(append(j, 1, 50), ST_OK); /* before: superseded */
	CHECK_STATUS(journal_compact(j, 0), ST_OK);
	CHECK_STATUS(journal_compact(j, 0), ST_BUSY);
	CHECK_STATUS(append(j, 2, 60), ST_OK); /* before its part: superseded */
	while ((s = journal_compact_add(j, records, MEMBERS)) == ST_BUSY)
		journal_dispatch(j, on_done, NULL);
	CHECK_STATUS(s, ST_OK);
	CHECK_STATUS(append(j, 3, 70), ST_OK); /* after: counts */
	while ((s = journal_compact_end(j)) == ST_BUSY) {
		e = count_of(4, 80 + n);
		if (journal_append(j, &e, (handle_t){2, 1}) == ST_OK)
			n++;
		journal_dispatch(j, on_done, NULL);
	}
	CHECK_STATUS(s, ST_OK);
	CHECK(n > 0);
	journal_close(&j, NULL, NULL);
	open_always(&j);
	CHECK_INT(got.requests[1], 2);
	CHECK_INT(got.requests[2], 3);
	CHECK_INT(got.requests[3], 70);
	CHECK_INT(got.requests[4], 80 + n - 1);
	journal_close(&j, NULL, NULL);
	leave();
}

/* --- a disk that fails --- */

/* No space for a while, really: the kernel's limit on the size of files. */
static void
test_no_space(void)
{
	struct rlimit limit, old;
	struct journal *j;
	uint32_t n = 0;

	enter();
	signal(SIGXFSZ, SIG_IGN);
	open_always(&j);
	CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
	limit = old;
	limit.rlim_cur = JOURNAL_HEADER + 10 * JOURNAL_RECORD + 31;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	while (append(j, 1, n + 1) == ST_OK)
		n++;
	CHECK_INT(n, 10);
	CHECK_STATUS(health(j), ST_JOURNAL_FAILED);
	/* Neither now ... */
	CHECK_STATUS(append(j, 1, 11), ST_JOURNAL_FAILED);
	pause_ms(60);
	/* ... nor at the next try, and what was written in part is gone. */
	CHECK_STATUS(append(j, 1, 11), ST_JOURNAL_FAILED);
	CHECK_INT(size_of(PATH), JOURNAL_HEADER + 10 * JOURNAL_RECORD);
	CHECK(!journal_wants_compaction(j, 1));
	CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
	pause_ms(60);
	CHECK_STATUS(append(j, 1, 11), ST_OK);
	CHECK_STATUS(health(j), ST_OK);
	journal_close(&j, NULL, NULL);
	open_always(&j);
	CHECK_INT(got.requests[1], 11);
	journal_close(&j, NULL, NULL);
	leave();
}

/* A failed sync: the file is given up, only a new one helps. */
static void
test_sync_fails(void)
{
	struct journal *j;

	enter();
	open_always(&j);
	CHECK_STATUS(append(j, 1, 1), ST_OK);
	disk_watch(DISK_FDATASYNC);
	disk_fail(1, 1, EIO);
	CHECK_STATUS(append(j, 1, 2), ST_JOURNAL_FAILED);
	CHECK_STATUS(health(j), ST_JOURNAL_FAILED);
	pause_ms(60);
	/* The next fdatasync would work, and prove nothing. */
	CHECK_STATUS(append(j, 1, 2), ST_JOURNAL_FAILED);
	CHECK_STATUS(append(j, 1, 2), ST_JOURNAL_FAILED);
	CHECK(journal_wants_compaction(j, 1));
	CHECK_STATUS(compact(j, 0), ST_OK);
	CHECK_STATUS(health(j), ST_OK);
	CHECK_STATUS(append(j, 1, 22), ST_OK);
	journal_close(&j, NULL, NULL);
	open_always(&j);
	CHECK_INT(got.requests[1], 22);
	CHECK_INT(got.requests[2], 3);
	journal_close(&j, NULL, NULL);
	leave();
}

/* In the mode that syncs later, somebody has been told already: then the
 * journal says that it failed, and takes no more until it is whole again. */
static void
test_interval_sync_fails(void)
{
	struct journal_options o = options_of(JOURNAL_SYNC_INTERVAL);
	struct journal *j;

	enter();
	open_with(&j, &o);
	disk_watch(DISK_FDATASYNC);
	disk_fail(1, 1, EIO);
	CHECK_STATUS(append(j, 1, 1), ST_OK);
	for (int i = 0; health(j) == ST_OK; i++) {
		CHECK(i < 100);
		pause_ms(10);
	}
	CHECK_STATUS(append(j, 1, 2), ST_JOURNAL_FAILED);
	CHECK_STATUS(compact(j, 0), ST_OK);
	CHECK_STATUS(append(j, 1, 22), ST_OK);
	journal_close(&j, NULL, NULL);
	leave();
}

/* A write fails and can not be undone: given up as well. */
static void
test_truncate_fails(void)
{
	struct journal *j;

	enter();
	open_always(&j);
	CHECK_STATUS(append(j, 1, 1), ST_OK);
	disk_watch(DISK_PWRITE | DISK_FTRUNCATE);
	disk_fail(1, 2, EIO);
	CHECK_STATUS(append(j, 1, 2), ST_JOURNAL_FAILED);
	pause_ms(60);
	CHECK_STATUS(append(j, 1, 2), ST_JOURNAL_FAILED);
	CHECK(journal_wants_compaction(j, 1));
	CHECK_STATUS(compact(j, 0), ST_OK);
	CHECK_STATUS(append(j, 1, 22), ST_OK);
	journal_close(&j, NULL, NULL);
	leave();
}

/* Every call of a compaction fails in turn: the old file goes on, nothing is
 * lost, nothing is left behind, and the next one works. */
static void
test_compaction_fails(void)
{
	const unsigned watched =
	    DISK_OPEN | DISK_PWRITE | DISK_FDATASYNC | DISK_FSYNC | DISK_RENAME;
	struct journal *j;
	int calls;

	enter();
	open_always(&j);
	disk_watch(watched);
	CHECK_STATUS(compact(j, 9), ST_OK);
	calls = disk_count();
	CHECK(calls >= 6); /* open, header, records, fsync, rename, folder */
	journal_close(&j, NULL, NULL);
	for (int nth = 1; nth <= calls; nth++) {
		unlink(PATH);
		open_always(&j);
		CHECK_STATUS(append(j, 1, 41), ST_OK);
		disk_watch(watched);
		disk_fail(nth, nth, ENOSPC);
		enum status s = compact(j, 9);
		disk_fail(0, 0, 0);
		CHECK_STATUS(s, ST_JOURNAL_FAILED);
		if (nth < calls) {
			/* The old one was not touched. */
			CHECK_STATUS(health(j), ST_OK);
			CHECK(size_of(PATH ".new") == -1);
			CHECK_STATUS(append(j, 1, 42), ST_OK);
			/* Not urgent: not again at once. */
			CHECK_STATUS(compact(j, 9), ST_BUSY);
		} else {
			/* The folder's sync: the new one is there, a crash may
			 * bring the old one back: nothing is taken. */
			CHECK_STATUS(health(j), ST_JOURNAL_FAILED);
			CHECK_STATUS(append(j, 1, 42), ST_JOURNAL_FAILED);
			pause_ms(60);
			CHECK(journal_wants_compaction(j, 1));
			CHECK_STATUS(compact(j, 9), ST_OK);
			CHECK_STATUS(append(j, 1, 42), ST_OK);
		}
		journal_close(&j, NULL, NULL);
		open_always(&j);
		CHECK_INT(got.requests[1], 42);
		CHECK_INT(got.floor, nth < calls ? 0 : 9);
		journal_close(&j, NULL, NULL);
	}
	leave();
}

/* Every call at start-up fails in turn: refused, and the next start works. */
static void
test_start_fails(void)
{
	struct journal_options o = options_of(JOURNAL_SYNC_ALWAYS);
	struct journal_replayed r;
	struct journal *j;
	enum status s;

	enter();
	for (int fresh = 0; fresh < 2; fresh++) {
		for (int nth = 1;; nth++) {
			if (fresh)
				unlink(PATH);
			disk_watch(DISK_ALL & ~(unsigned)DISK_UNLINK);
			disk_fail(nth, nth, EROFS);
			s = journal_open(&j, &o, why);
			if (s == ST_OK)
				s = journal_replay(j, &r, on_replay, NULL, why);
			int calls = disk_count();
			disk_fail(0, 0, 0);
			journal_close(&j, NULL, NULL);
			if (calls < nth)
				break;
			CHECK_STATUS(s, ST_SYS);
			CHECK(strstr(why, "Read-only") != NULL);
			CHECK(strchr(why, '(') != NULL);
		}
		CHECK_STATUS(s, ST_OK);
	}
	leave();
}

/* Out of descriptors at each of those that it takes: refused, nothing is left
 * open, and then it works. */
static void
test_no_descriptors(void)
{
	struct journal_options o = options_of(JOURNAL_SYNC_ALWAYS);
	struct rlimit limit, old;
	struct journal *j = NULL;
	unsigned refused = 0;

	enter();
	CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
	int first = dup(0);
	CHECK(first >= 0 && close(first) == 0);
	for (rlim_t more = 0; j == NULL; more++) {
		limit = old;
		limit.rlim_cur = (rlim_t)first + more;
		CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
		enum status s = journal_open(&j, &o, why);
		CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
		if (s == ST_OK)
			break;
		CHECK_STATUS(s, ST_SYS);
		CHECK_INT(errno, EMFILE);
		CHECK(strstr(why, "Too many open files") != NULL);
		refused++;
		int next = dup(0);
		CHECK_INT(next, first);
		close(next);
	}
	CHECK_INT(refused, 4); /* eventfd, folder, lock, file */
	journal_close(&j, NULL, NULL);
	leave();
}

/* --- a machine that dies --- */

/* Run BODY in a child. Returns: true if it was killed. */
static bool
dies(void (*body)(int), int arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	CHECK((pid = fork()) >= 0);
	if (pid == 0) {
		body(arg);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL
				  : WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

static void
die_in_compaction(int nth)
{
	struct journal *j;

	open_always(&j);
	CHECK_STATUS(append(j, 1, 41), ST_OK);
	disk_watch(DISK_ALL);
	disk_kill(nth);
	CHECK_STATUS(compact(j, 9), ST_OK);
	CHECK_STATUS(append(j, 1, 42), ST_OK);
	disk_watch(0);
	journal_close(&j, NULL, NULL);
}

/* A kill -9 at each call of a compaction: one of the two files is there,
 * complete. */
static void
test_killed_in_compaction(void)
{
	struct journal *j;
	int nth = 1;
	bool old_seen = false, new_seen = false;

	enter();
	for (;; nth++) {
		unlink(PATH);
		if (!dies(die_in_compaction, nth))
			break;
		open_always(&j);
		/* 41 by the old file; by the new 2, which is what compact()
		 * says of it, or 42 if the last append was whole. */
		if (got.requests[1] == 41) {
			CHECK_INT(got.floor, 0);
			CHECK(!new_seen);
			old_seen = true;
		} else {
			CHECK(got.requests[1] == 2 || got.requests[1] == 42);
			CHECK_INT(got.floor, 9);
			CHECK_INT(got.requests[60], 61);
			new_seen = true;
		}
		CHECK(size_of(PATH ".new") == -1);
		journal_close(&j, NULL, NULL);
	}
	CHECK(old_seen && new_seen);
	CHECK(nth > 8);
	leave();
}

/* What a child tells before and after each append. */
struct message {
	uint32_t who, requests;
	bool safe;
};

static int kill_pipe[2];

/* Append without end, several at a time, compacting now and then. */
static void
work(int seed)
{
	static uint32_t used[MEMBERS];
	struct journal_options o =
	    options_of(seed % 2 ? JOURNAL_SYNC_ALWAYS : JOURNAL_SYNC_INTERVAL);
	struct ledger_record records[MEMBERS];
	struct journal *j;
	bool compacting = false, added = false;

	open_with(&j, &o);
	memcpy(used, got.requests, sizeof(used));
	for (uint64_t round = 0;; round++) {
		unsigned n = 1 + (unsigned)(test_random() % 20);
		struct message m[20];
		for (unsigned i = 0; i < n; i++) {
			uint32_t who = (uint32_t)(test_random() % MEMBERS);
			m[i] = (struct message){who, ++used[who], false};
			CHECK(write(kill_pipe[1], &m[i], sizeof(m[i])) > 0);
			struct journal_entry e = count_of(who, used[who]);
			CHECK_STATUS(
			    journal_append(j, &e, (handle_t){1, 1}), ST_OK);
		}
		wait_told(j, n);
		CHECK_STATUS(told[1], ST_OK);
		for (unsigned i = 0; i < n; i++) {
			m[i].safe = true;
			CHECK(write(kill_pipe[1], &m[i], sizeof(m[i])) > 0);
		}
		if (!compacting && journal_compact(j, round) == ST_OK)
			compacting = true;
		for (uint32_t i = 0; i < MEMBERS; i++)
			records[i] = count_of(i, used[i]).count;
		if (compacting && !added)
			added =
			    journal_compact_add(j, records, MEMBERS) == ST_OK;
		else if (compacting && journal_compact_end(j) == ST_OK)
			compacting = added = false;
	}
}

/* kill -9 at a random moment: whoever was told that a count is safe finds it,
 * and nobody finds one that was never made. JOURNAL_KILLS: how many times. */
static void
test_killed_at_random(void)
{
	const char *given = getenv("JOURNAL_KILLS");
	int runs = given != NULL ? atoi(given) : 50;
	uint32_t safe[MEMBERS] = {0}, sent[MEMBERS] = {0};
	uint64_t messages = 0, torn = 0;
	struct journal_replayed r;
	struct journal *j;

	enter();
	for (int run = 0; run < runs; run++) {
		struct message m;
		pid_t pid;
		CHECK(pipe(kill_pipe) == 0);
		fflush(stdout);
		uint64_t wait_us = test_random() % 30000;
		CHECK((pid = fork()) >= 0);
		if (pid == 0) {
			close(kill_pipe[0]);
			work(run);
		}
		close(kill_pipe[1]);
		/* Begin to count when it works: start-up takes its time. */
		CHECK(read(kill_pipe[0], &m, sizeof(m)) == sizeof(m));
		fcntl(kill_pipe[0], F_SETPIPE_SZ, 1 << 20);
		usleep((useconds_t)wait_us);
		CHECK(kill(pid, SIGKILL) == 0);
		CHECK(waitpid(pid, NULL, 0) == pid);
		do {
			uint32_t *of = m.safe ? safe : sent;
			if (m.requests > of[m.who])
				of[m.who] = m.requests;
			messages++;
		} while (read(kill_pipe[0], &m, sizeof(m)) == sizeof(m));
		close(kill_pipe[0]);

		r = open_always(&j);
		torn += r.torn != 0;
		for (unsigned i = 0; i < MEMBERS; i++) {
			CHECK(got.requests[i] >= safe[i]);
			CHECK(got.requests[i] <= sent[i]);
		}
		journal_close(&j, NULL, NULL);
	}
	printf("    %d kills, %llu messages, %llu torn tails\n", runs,
	    (unsigned long long)messages, (unsigned long long)torn);
	CHECK(messages > (unsigned)runs * 10);
	leave();
}

TESTS({"journal: a restart", test_restart},
    {"journal: group commit", test_group_commit},
    {"journal: queued, then woken", test_queue_woken},
    {"journal: the queue is bounded", test_queue_bounded},
    {"journal: sync = interval", test_interval},
    {"journal: a torn tail at every byte", test_torn_tail},
    {"journal: refused with the cure", test_refused},
    {"journal: a folder one may not write", test_read_only_folder},
    {"journal: compaction", test_compaction},
    {"journal: compaction of many parts", test_compaction_large},
    {"journal: compaction under traffic", test_compaction_with_traffic},
    {"journal: no space", test_no_space},
    {"journal: a sync fails", test_sync_fails},
    {"journal: a later sync fails", test_interval_sync_fails},
    {"journal: a write can not be undone", test_truncate_fails},
    {"journal: each call of a compaction fails", test_compaction_fails},
    {"journal: each call at start-up fails", test_start_fails},
    {"journal: out of descriptors", test_no_descriptors},
    {"journal: killed at each call of a compaction", test_killed_in_compaction},
    {"journal: killed at random", test_killed_at_random})
