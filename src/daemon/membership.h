/* daemon/membership.h: the groups, their member files, and the roots in force.
 *
 * Each group of the configuration has a seat; its number is what the gate
 * calls the group, and stays the group's as long as its name is in the
 * configuration, over any number of reloads.
 *
 * A file is read again when it changes (inotify on its folder, and a look at
 * its time stamp now and then for what inotify can not see: links, network
 * file systems), and at a reload. A broken file leaves the group as it was:
 * nobody gets in by it and nobody is thrown out by it. So does one that is
 * empty where the group had members: to throw out everybody, take the group out
 * of the configuration.
 *
 * Of a group whose file has only a root, that root is in force as long as its
 * time is good (group.max_age): then nobody of the group passes, until the
 * file says something newer.
 *
 * A reload has two halves, so that configuration and members change in one
 * step: membership_stage reads the files of a new configuration while the old
 * one works on, and membership_commit puts everything in force.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_MEMBERSHIP_H
#define DAEMON_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/config.h"
#include "daemon/roll.h"
#include "gate/roots.h"
#include "net/loop.h"

/* A group. Owned by the membership; read only for others. */
struct seat {
	bool taken;
	char *name, *path;
	enum roll_kind kind;
	uint64_t max_age; /* ms; of a root */
	struct roll *roll; /* in force; NULL: none yet, so nobody passes */
	struct roll_fault fault; /* of the file as it is now */

	/* Private. */
	struct membership *membership;
	struct roll_job *job;
	struct stat seen; /* the file that was read last */
	struct stat asked; /* the one that JOB is for */
	bool stale; /* changed again while it was read */
};

struct membership;

struct membership_ops {
	/* The files that membership_stage began with have been read. */
	void (*staged)(void *ctx);
	/* The file of seat NUMBER was read for another reason: a new roll is
	 * in force, or the file is broken and says so in seat->fault. */
	void (*changed)(void *ctx, uint16_t number);
};

/* Make a membership without groups over ROOTS, which outlives it.
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS. */
enum status
membership_new(struct membership **m, struct loop *l, struct roots *roots,
    const struct membership_ops *ops, void *ctx) WARN_UNUSED;

void membership_free(struct membership **m);

/* Begin to read the files of C's groups; a stage that is under way is dropped.
 * Returns: ST_OK: ops->staged will be called; ST_NO_MEMORY. */
enum status
membership_stage(struct membership *m, const struct config *c) WARN_UNUSED;

/* Why the staged file of the group called NAME is broken; status ST_OK: it is
 * not. Between ops->staged and membership_commit. */
const struct roll_fault *
membership_staged_fault(const struct membership *m, const char *name);

/* Put what was staged in force: groups that are new get seats, groups that are
 * gone lose theirs and their roots, rolls that are right become current. */
void membership_commit(struct membership *m);

/* Look whether files have changed without inotify saying so, and whether roots
 * have grown too old. */
void membership_poll(struct membership *m);

/* Seat NUMBER, or NULL when it is not taken. */
const struct seat *membership_seat(const struct membership *m, uint16_t number);

/* The number of the seat of the group called NAME; ROOT_GROUPS_MAX: none. */
uint16_t membership_number(const struct membership *m, const char *name);

#endif
