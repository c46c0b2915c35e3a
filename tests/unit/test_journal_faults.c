/* The journal on a disk that fails, and on a machine that dies. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disk.h"
#include "harness.h"
#include "journal_util.h"

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

TESTS({"journal: no space", test_no_space},
    {"journal: a sync fails", test_sync_fails},
    {"journal: a later sync fails", test_interval_sync_fails},
    {"journal: a write can not be undone", test_truncate_fails},
    {"journal: each call of a compaction fails", test_compaction_fails},
    {"journal: each call at start-up fails", test_start_fails},
    {"journal: out of descriptors", test_no_descriptors},
    {"journal: killed at each call of a compaction", test_killed_in_compaction},
    {"journal: killed at random", test_killed_at_random})
