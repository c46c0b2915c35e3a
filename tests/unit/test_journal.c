/* The journal on a disk that works: restarts, torn tails, compaction, locks. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "journal_util.h"

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
	pause_ms(50); /* the writer sleeps again */
	journal_health(j, &before);
	for (uint32_t i = 0; i < 1000; i++) {
		struct journal_entry e = count_of(i % MEMBERS, i);
		CHECK_STATUS(journal_queue(j, &e, (handle_t){i + 1, 1}), ST_OK);
	}
	pause_ms(20);
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
    {"journal: compaction under traffic", test_compaction_with_traffic})
