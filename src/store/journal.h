/* store/journal.h: the ledger's journal: counts that survive a restart, a
 * kill -9 and a power cut.
 *
 * An append-only file (journal_format.h), one writer thread that only writes
 * and syncs copies, and completions told to the loop through an eventfd. The
 * loop never waits for the disk, and a request waits no longer than it must:
 * all records that have queued up share one write and one fdatasync.
 *
 *	sync = always     a record is durable (and told so) when fdatasync has
 *	                  returned: nothing is lost, whatever dies
 *	sync = interval   ... when write has returned: a kill -9 loses nothing,
 *	                  a crash of the machine at most the last `interval`
 *	                  and the time that one sync takes
 *
 * Epochs end: then a new file is written from the ledger in small steps while
 * records still go to the old one (and to the new one too), synced, renamed
 * over the old, and the folder synced. A crash at any point leaves one of the
 * two, complete. The old file's blocks are freed, with the tags of the past
 * epoch; they are trimmed or overwritten when the file system sees fit, and
 * whoever gets the disk before that needs the member key as well to compare a
 * tag with a nullifier. Put the folder on an encrypted disk if that is not
 * enough.
 *
 * What can go wrong with a disk ends in ST_JOURNAL_FAILED for those whose
 * record was not written, and never in a free pass or a lost count:
 *   - no space, quota, file size limit: what was written in part is cut off
 *     again, and a second later the next record is tried;
 *   - a failed sync, or a write that can not be cut off: what the file holds
 *     is unknown (Rebello et al., "Can Applications Recover from fsync
 *     Failures?", ATC 2020), so it is given up: the ledger must be written to
 *     a new file (journal_wants_compaction) before anything is taken again.
 *
 * A journal of another version or another gateway, one that is damaged in the
 * middle, or one that somebody else has locked, is not opened; the message says
 * what to do. It is never repaired by guesswork: that would hand out quotas.
 *
 * Threads: all calls from one thread, the loop's.
 */
#ifndef STORE_JOURNAL_H
#define STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slab.h"
#include "gate/ledger.h"
#include "gate/member.h"
#include "postern/attr.h"
#include "postern/status.h"
#include "store/journal_format.h"

enum journal_sync {
	JOURNAL_SYNC_ALWAYS,
	JOURNAL_SYNC_INTERVAL,
};

struct journal_options {
	const char *path; /* the file; beside it PATH.lock and PATH.new */
	enum journal_sync sync;
	uint32_t interval; /* ms between syncs, for JOURNAL_SYNC_INTERVAL */
	uint32_t queue; /* records that may wait; 0: 4096 */
	uint32_t retry; /* ms after a failure before the next try; 0: 1000 */
	uint8_t identity[JOURNAL_IDENTITY];
};

/* Longest message of journal_open and journal_replay, with the NUL. */
#define JOURNAL_WHY_MAX 512

struct journal;

/* Lock and open the journal at O->path, or make one (mode 0600, in a folder
 * that exists). Nothing is written to one that is there.
 * Out:     *j, NULL on failure; why: what is wrong, and the cure.
 * Returns: ST_OK; ST_LOCKED; ST_PERMISSION (others may read it, or it is no
 *          plain file of ours); ST_CORRUPT; ST_BAD_VERSION; ST_FOREIGN;
 *          ST_NO_MEMORY; ST_RANDOM; ST_SYS (errno is set). */
enum status journal_open(struct journal **j, const struct journal_options *o,
    char why[static JOURNAL_WHY_MAX]) WARN_UNUSED;

/* What the header says. */
void
journal_member_key(uint8_t out[static MEMBER_KEY], const struct journal *j);
uint64_t journal_floor(const struct journal *j);

/* What a record of the journal says. Returns: ST_OK to go on; else reading
 * stops and the status is passed on. */
typedef enum status
journal_replay_fn(void *ctx, const struct journal_entry *entry);

struct journal_replayed {
	uint64_t records; /* that hold */
	uint64_t torn; /* bytes of the torn tail, cut off */
	bool sealed; /* it was closed in order */
};

/* Read all counts, cut a torn tail off, and start the writer. Once, before the
 * calls below. The result of a failure that is not the file's is to be
 * reported as it is.
 * Out:     *out; why.
 * Returns: ST_OK; ST_CORRUPT; ST_SYS; what FN returned. */
enum status journal_replay(struct journal *j, struct journal_replayed *out,
    journal_replay_fn *fn, void *ctx,
    char why[static JOURNAL_WHY_MAX]) WARN_UNUSED;

/* Called by journal_dispatch: the record that was appended for WHO is durable
 * (ST_OK) or will never be (ST_JOURNAL_FAILED). */
typedef void journal_done_fn(void *ctx, handle_t who, enum status status);

/* Append ENTRY (a copy): a count, the end of an epoch, or a mark, with which
 * one finds out whether the disk is well again.
 * In:      who: told by journal_dispatch; a zero handle: nobody.
 * Returns: ST_OK: taken, WHO will be told. ST_BUSY: the queue is full.
 *          ST_JOURNAL_FAILED: not now. For the last two nobody is told. */
enum status journal_append(struct journal *j, const struct journal_entry *entry,
    handle_t who) WARN_UNUSED;

/* The same for records that come in company: the writer is not woken, and what
 * is queued is written after the next journal_wake or journal_append, all in
 * one. */
enum status journal_queue(struct journal *j, const struct journal_entry *entry,
    handle_t who) WARN_UNUSED;
void journal_wake(struct journal *j);

/* Readable when there is something to dispatch. */
int journal_fd(const struct journal *j);

/* Tell those whose records are done. */
void journal_dispatch(struct journal *j, journal_done_fn *fn, void *ctx);

/* The journal must be, or should be, written anew: it is given up, or it is
 * large and three parts in four of it are superseded.
 * In: live, how many records the ledger has now. */
bool journal_wants_compaction(struct journal *j, uint64_t live);

/* Begin a new file whose header says FLOOR.
 * Returns: ST_OK; ST_BUSY (one is in the making, or the queue is full). */
enum status journal_compact(struct journal *j, uint64_t floor) WARN_UNUSED;

/* Most records of one journal_compact_add. */
#define JOURNAL_COMPACT_MAX LEDGER_WALK_MIN

/* Add N of the ledger's records (copies) to the new file.
 * Returns: ST_OK; ST_BUSY: the writer is behind, come again after the next
 *          dispatch; ST_JOURNAL_FAILED: it could not be written and is gone,
 *          the old one goes on if it did before. Begin again later. */
enum status journal_compact_add(struct journal *j,
    const struct ledger_record *records, size_t n) WARN_UNUSED;

/* Finish the new file and put it in the place of the old.
 * Returns: ST_OK: it is in place; ST_BUSY: not yet, come again after the next
 *          dispatch; ST_JOURNAL_FAILED: as above. */
enum status journal_compact_end(struct journal *j) WARN_UNUSED;

struct journal_health {
	enum status status; /* ST_OK; ST_JOURNAL_FAILED */
	int error; /* errno of the last failure; 0: none since it recovered */
	uint64_t queued; /* records that are not durable yet */
	uint64_t records, bytes; /* in the file */
	uint64_t synced; /* records that a crash of the machine spares */
	uint64_t syncs, failures, compactions; /* so far */
	bool compacting;
};

void journal_health(struct journal *j, struct journal_health *out);

/* Write and sync what is queued, seal, close, unlock. Those who are still to be
 * told are told through FN (NULL: nobody is). *j is NULL afterwards. */
void journal_close(struct journal **j, journal_done_fn *fn, void *ctx);

#endif
