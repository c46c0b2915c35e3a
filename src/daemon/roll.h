/* daemon/roll.h: a group's members as a file had them at one moment; or only
 * their root, where nobody knows more (a group on a chain, see
 * semaphore/root_file.h).
 *
 * A roll is immutable and counted, like a configuration: the root goes into
 * the gate's set, the text is what /.well-known/postern/members sends, maybe
 * to a slow reader while the next roll is in force already.
 *
 * Reading is in three steps, so that a file of a million members stops nobody:
 * the loop reads a slice a round, a worker parses and hashes, the loop takes
 * the result. A file that changes while it is read is read again.
 *
 * A member file that anyone may write to is refused: its writers would be the
 * curators. Threads: the loop, but for roll_build.
 */
#ifndef DAEMON_ROLL_H
#define DAEMON_ROLL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "daemon/document.h"
#include "net/loop.h"
#include "postern/group.h"
#include "postern/status.h"

struct roll {
	unsigned refs;
	struct group_root root;
	struct document *list; /* a decimal and a newline for each member; NULL
				* for a root alone */
	uint64_t time; /* a root's, in seconds since 1970; else 0 */
};

enum roll_kind { ROLL_MEMBERS, ROLL_ROOT };

/* Whether a root of TIME (s) may be taken at WALL (ms): it is not older than
 * MAX_AGE (ms) and not from the future, where it would stay good for long. */
bool roll_time_is_good(uint64_t time, uint64_t max_age, uint64_t wall);

struct roll *roll_ref(struct roll *r);

/* Give the reference up (NULL: nothing); *r is NULL afterwards. */
void roll_unref(struct roll **r);

/* Why a file is no roll; status ST_OK: it is one. */
struct roll_fault {
	enum status status; /* ST_SYS with an errno; ST_PERMISSION; ST_DUPLICATE
			     * without a line: another group's members;
			     * ST_MISSING: no members where there were some;
			     * ST_LIFETIME: a root that is too old; as
			     * members_parse, root_file_parse */
	int error;
	struct members_fault where;
};

#define ROLL_FAULT_MAX 160

/* Say F for people. Returns OUT. */
const char *
roll_fault_text(char out[static ROLL_FAULT_MAX], const struct roll_fault *f);

/* What came of reading a file. */
struct roll_result {
	struct roll *roll; /* a reference for the callee; NULL with a fault */
	struct roll_fault fault;
	struct stat
	    seen; /* the file as it was read; zero if it was not; without
			   * a change time if it was so new that its times may
			   * be those of its next content: look again */
};

/* Told from the loop, never from roll_read itself. */
typedef void roll_done_fn(void *ctx, const struct roll_result *result);

/* Where rolls are made: a worker of their own, and the files under way. */
struct roll_shop;

/* Returns: ST_OK; as pool_new. */
enum status roll_shop_new(struct roll_shop **shop, struct loop *l) WARN_UNUSED;

/* Drop what is under way (nobody is told), join the worker, free *SHOP and
 * null it. */
void roll_shop_free(struct roll_shop **shop);

struct roll_job;

/* Begin to read PATH, a file of KIND.
 * Out:     *job, until DONE is called or roll_forget.
 * Returns: ST_OK; ST_NO_MEMORY. */
enum status
roll_read(struct roll_shop *shop, struct roll_job **job, const char *path,
    enum roll_kind kind, roll_done_fn *done, void *ctx) WARN_UNUSED;

/* DONE shall not be called (NULL: nothing); *job is NULL afterwards. */
void roll_forget(struct roll_job **job);

#endif
