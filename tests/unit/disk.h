/* tests/unit/disk.h: a disk that fails, or the machine that dies, at a chosen
 * moment.
 *
 * disk.c takes the place of the calls with which a journal changes what is on
 * the disk (open for writing, pwrite, ftruncate, fdatasync, fsync, rename,
 * unlink): each counts, and does what it is told instead of its work, or half
 * of it. Everything else is the real thing.
 */
#ifndef TESTS_DISK_H
#define TESTS_DISK_H

#include <stdbool.h>

enum disk_call {
	DISK_OPEN = 1,
	DISK_PWRITE = 2,
	DISK_FTRUNCATE = 4,
	DISK_FDATASYNC = 8,
	DISK_FSYNC = 16,
	DISK_RENAME = 32,
	DISK_UNLINK = 64,
	DISK_ALL = 127,
};

/* Count the calls in the set CALLS from now on, beginning with 1. */
void disk_watch(unsigned calls);

/* How many there have been. */
int disk_count(void);

/* Those from the FIRST to the LAST fail with ERROR; a pwrite does half of its
 * work before. 0, 0: none. */
void disk_fail(int first, int last, int error);

/* At the NTH the process kills itself; in the middle of a pwrite. 0: never. */
void disk_kill(int nth);

#endif
