/*
 * Calls that fail: what the interposer tests/fault/fault.c and the tests that
 * steer it (tests/e2e/faultlib.py) share.
 *
 * The interposer is loaded before the C library (LD_PRELOAD) into the program
 * as users get it, so that calls of the libraries beneath it fail too. It maps
 * the file that FAULT_FILE names, which holds a struct fault_plan, and makes no
 * system call later: the walls of the daemon stay as they are. The test has the
 * same file mapped, and so can read the counts and arm the next fault while
 * the program runs.
 *
 * A kind is a group of calls that fail for one cause; FAULT_ALLOC is every
 * allocation. After `skip` more calls of the armed kind the next `times` fail,
 * and `fired` counts them. Any thread may meet the fault.
 */
#ifndef FAULT_FAULT_H
#define FAULT_FAULT_H

#include <stdint.h>

enum fault_kind {
	FAULT_NONE,
	FAULT_ALLOC,
	FAULT_OPEN,
	FAULT_READ,
	FAULT_WRITE,
	FAULT_SYNC,
	FAULT_SOCKET,
	FAULT_CONNECT,
	FAULT_BIND,
	FAULT_ACCEPT,
	FAULT_RECV,
	FAULT_SEND,
	FAULT_EPOLL,
	FAULT_PIPE,
	FAULT_SPLICE,
	FAULT_OPTION,
	FAULT_MAP,
	FAULT_THREAD,
	FAULT_STAT,
	FAULT_KINDS
};

/* Words of 32 bits in this machine's order; faultlib.py has the same. */
struct fault_plan {
	_Atomic uint32_t kind;
	_Atomic uint32_t skip;
	_Atomic uint32_t times;
	_Atomic uint32_t fired;
	_Atomic uint32_t count[FAULT_KINDS];
};

#endif
