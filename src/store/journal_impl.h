/* store/journal_impl.h: what the two halves of the journal share: the loop's
 * (journal.c) and the writer thread's (journal_writer.c). Private to the
 * folder.
 *
 * Jobs go through one ring with three marks that only grow:
 *
 *	told <= done <= asked <= told + capacity
 *
 * The loop puts a job at `asked`, the writer does those from `done` on in that
 * order and leaves the result in place, the loop takes results from `told` on.
 * So what is outstanding is bounded by the ring, and a slot between `done` and
 * `asked` is the writer's alone: it needs the lock to move a mark, not to read
 * a job.
 */
#ifndef STORE_JOURNAL_IMPL_H
#define STORE_JOURNAL_IMPL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/journal.h"

/* Records of one write, and of one fdatasync. */
#define BATCH 1024
_Static_assert(BATCH >= JOURNAL_COMPACT_MAX, "a buffer is one batch");

/* Places of the ring that appending leaves to compaction, and that both leave
 * to the end. */
#define RESERVE_APPEND 8
#define RESERVE_COMPACT 1

enum job_kind {
	JOB_APPEND,
	JOB_BEGIN, /* a new file */
	JOB_ADD, /* a buffer of the ledger's records to it */
	JOB_END, /* it takes the place of the old one */
	JOB_STOP,
};

struct job {
	enum job_kind kind;
	enum status result;
	handle_t who;
	struct journal_entry entry; /* APPEND */
	uint64_t floor; /* BEGIN */
	unsigned buffer; /* ADD: which */
};

/* A journal file that is being written. The writer's, once it runs. */
struct journal_file {
	int fd; /* -1: none */
	struct journal_header header;
	uint64_t records; /* in it */
	uint64_t synced; /* of these, how many a crash of the machine spares */
};

enum compaction {
	COMPACT_NONE,
	COMPACT_OPEN, /* taking records */
	COMPACT_ENDING,
	COMPACT_DONE, /* to be told to the loop */
	COMPACT_FAILED, /* to be told to the loop */
};

/* What the ledger gives in one journal_compact_add. */
struct journal_buffer {
	bool full; /* the writer's turn */
	size_t n;
	struct ledger_record records[JOURNAL_COMPACT_MAX];
};

struct journal {
	/* Set before the writer starts, constant from then on. */
	struct journal_options options;
	char *path, *path_new, *path_lock;
	int lock_fd, folder_fd, event_fd;
	pthread_t writer;
	bool running;

	/* The writer's alone while it runs. */
	struct journal_file file;
	struct journal_file next; /* the one that compaction makes */
	uint64_t last_sync; /* mono, ms */
	uint8_t batch[BATCH * JOURNAL_RECORD];
	uint8_t block[JOURNAL_HEADER];

	pthread_mutex_t lock;
	pthread_cond_t wake;

	/* Under the lock. */
	struct job *jobs;
	uint32_t capacity;
	uint64_t told, done, asked;
	struct journal_health health; /* its counters are the writer's */
	bool broken; /* given up: only a new file helps */
	uint64_t retry_at; /* mono, ms: no appending before */
	uint64_t compact_at; /* mono, ms: no compaction before */
	enum compaction compaction;

	/* Two, so that one is filled while the other is written; whose turn it
	 * is, is under the lock. */
	struct journal_buffer *buffers;
};

/* What an operator can do about a file that can not be used. */
#define JOURNAL_CURE_FRESH                                                    \
	"or move the file away to begin with fresh counts (members then get " \
	"a new quota for the epochs it has)"

/* Write a message; returns S, errno stays. */
enum status journal_say(char why[static JOURNAL_WHY_MAX], enum status s,
    const char *fmt, ...) PRINTF_LIKE(3, 4);

/* "PATH: what errno means (CURE)"; returns ST_SYS. */
enum status journal_say_errno(
    char why[static JOURNAL_WHY_MAX], const char *path, const char *cure);

/* Lock PATH.lock and open PATH, or make it: j->file with its header.
 * Returns: as journal_open; what is open is in j. */
enum status journal_file_open(
    struct journal *j, char why[static JOURNAL_WHY_MAX]) WARN_UNUSED;

/* Milliseconds of the steady clock. */
uint64_t journal_mono(void);

/* Make PATH.new with a header for H and nothing else, not yet synced.
 * Returns: ST_OK; ST_RANDOM; ST_SYS with errno, and no file. */
enum status journal_file_create(struct journal_file *f, const struct journal *j,
    uint64_t floor, uint8_t block[static JOURNAL_HEADER]) WARN_UNUSED;

/* Sync F, put PATH.new in the place of PATH and sync the folder.
 * Out:     *renamed, also on failure.
 * Returns: ST_OK; ST_SYS with errno. */
enum status journal_file_install(
    struct journal_file *f, const struct journal *j, bool *renamed) WARN_UNUSED;

/* Close F, if it is open, and remove PATH.new. */
void journal_file_discard(struct journal_file *f, const struct journal *j);

/* Write LEN bytes at OFFSET, all of them.
 * Returns: ST_OK; ST_SYS with errno. */
enum status journal_write_at(
    int fd, const uint8_t *bytes, size_t len, uint64_t offset) WARN_UNUSED;

/* The writer thread's function; its argument is the journal. */
void *journal_writer(void *journal);

/* Where record NUMBER stands. */
static inline uint64_t
journal_offset(uint64_t number)
{
	return JOURNAL_HEADER + number * JOURNAL_RECORD;
}

#endif
