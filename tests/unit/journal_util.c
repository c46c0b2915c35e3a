#include "journal_util.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "harness.h"

char folder[64];
char why[JOURNAL_WHY_MAX];

struct journal_got got;

void
enter(void)
{
	snprintf(folder, sizeof(folder), "%s/postern-journal-XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(folder) != NULL);
	CHECK(chdir(folder) == 0);
}

void
leave(void)
{
	unlink(PATH);
	unlink(PATH ".lock");
	CHECK(chdir("/") == 0);
	/* Fails when a PATH.new is left behind. */
	CHECK(rmdir(folder) == 0);
}

struct journal_options
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

enum status
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

struct journal_replayed
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

struct journal_replayed
open_always(struct journal **j)
{
	struct journal_options o = options_of(JOURNAL_SYNC_ALWAYS);

	return open_with(j, &o);
}

struct journal_entry
count_of(uint32_t who, uint32_t requests)
{
	struct journal_entry e = {.kind = JOURNAL_COUNT};

	store_be32(e.count.member.tag, who);
	e.count.requests = requests;
	return e;
}

enum status told[TOLD_MAX];
unsigned told_n;

void
on_done(void *ctx, handle_t who, enum status s)
{
	(void)ctx;
	CHECK(who.slot < TOLD_MAX);
	told[who.slot] = s;
	told_n++;
}

void
wait_some(struct journal *j)
{
	struct pollfd p = {.fd = journal_fd(j), .events = POLLIN};

	CHECK(poll(&p, 1, 10000) == 1);
	journal_dispatch(j, on_done, NULL);
}

void
wait_told(struct journal *j, unsigned n)
{
	unsigned until = told_n + n;

	while (told_n < until)
		wait_some(j);
	CHECK_INT(told_n, until);
}

enum status
append(struct journal *j, uint32_t who, uint32_t requests)
{
	struct journal_entry e = count_of(who, requests);
	enum status s = journal_append(j, &e, (handle_t){1, 1});

	if (s != ST_OK)
		return s;
	wait_told(j, 1);
	return told[1];
}

enum status
health(struct journal *j)
{
	struct journal_health h;

	journal_health(j, &h);
	CHECK(h.status == ST_OK || h.error != 0);
	return h.status;
}

off_t
size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : -1;
}

void
pause_ms(unsigned ms)
{
	poll(NULL, 0, (int)ms);
}

enum status
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
