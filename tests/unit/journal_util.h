/* tests/unit/journal_util.h: what the tests of the journal share. */
#ifndef TESTS_JOURNAL_UTIL_H
#define TESTS_JOURNAL_UTIL_H

#include <sys/types.h>

#include "store/journal.h"

#define MEMBERS 64
#define TOLD_MAX 100000
#define PATH "journal"

/* Where the case is, see enter. */
extern char folder[64];

/* Why a journal could not be opened. */
extern char why[JOURNAL_WHY_MAX];

/* What a journal says that members have used: all of one epoch. */
struct journal_got {
	uint32_t requests[MEMBERS];
	uint64_t floor;
	unsigned records;
};
extern struct journal_got got;

/* What dispatch has told: by slot of the handle. */
extern enum status told[TOLD_MAX];
extern unsigned told_n;

/* Each case is a process of its own, and gets a folder; in memory where that
 * can be had, as some cases sync some thousand times. */
void enter(void);
/* ... and takes it away, when nothing is left in it that should not be. */
void leave(void);
/* Of a journal PATH in that folder. */
struct journal_options options_of(enum journal_sync sync);
/* Open it and read it into got. */
struct journal_replayed
open_with(struct journal **j, const struct journal_options *o);
/* ... with sync = always. */
struct journal_replayed open_always(struct journal **j);
/* That member WHO has used so many. */
struct journal_entry count_of(uint32_t who, uint32_t requests);
/* For journal_dispatch: keeps what is told. */
void on_done(void *ctx, handle_t who, enum status s);
/* Wait until something is told. */
void wait_some(struct journal *j);
/* Wait until the N that are outstanding have been told. */
void wait_told(struct journal *j, unsigned n);
/* Append and wait for the answer. */
enum status append(struct journal *j, uint32_t who, uint32_t requests);
/* The status of the journal's health, which has an errno unless it is good. */
enum status health(struct journal *j);
/* In bytes; -1: not there. */
off_t size_of(const char *path);
void pause_ms(unsigned ms);
/* Write the whole of a "ledger" anew: member i has used i + 1.
 * Returns: how it ended. */
enum status compact(struct journal *j, uint64_t floor);
/* For journal_replay: adds to got. */
enum status on_replay(void *ctx, const struct journal_entry *e);

#endif
