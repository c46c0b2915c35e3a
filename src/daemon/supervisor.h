/* daemon/supervisor.h: what a service manager is told, and what it hands over.
 *
 * The protocols of sd_notify(3) and sd_listen_fds(3), which are some lines of
 * text to a datagram socket and two numbers in the environment: too little to
 * bring a library for. And the credentials of systemd.exec(5), files in a
 * folder.
 *
 *	NOTIFY_SOCKET     where to say that the gateway is ready, reloads, ends,
 *	                  and how it is doing
 *	WATCHDOG_USEC     it is to be restarted when it has said nothing for so
 *	                  long (WATCHDOG_PID: if it is meant)
 *	LISTEN_FDS        so many sockets, from descriptor 3 on, listen already
 *	                  (LISTEN_PID: if it is meant); they take the place of
 *	                  gateway.listen, so that nobody is refused while a
 *	                  gateway is replaced
 *	CREDENTIALS_DIRECTORY  copies of files that the gateway's own user may
 *	                  not read: tor's hostname file
 *
 * Without these nothing is said and nothing is taken. A manager that does not
 * listen never stops the gateway: what can not be said at once is dropped.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_SUPERVISOR_H
#define DAEMON_SUPERVISOR_H

#include <limits.h>
#include <stdint.h>

#include "daemon/finding.h"
#include "postern/attr.h"
#include "postern/status.h"

#define SUPERVISOR_NAME_MAX 16

struct supervisor {
	int fd; /* connected; -1: nobody listens */
	uint64_t
	    watchdog_ms; /* between two signs of life; 0: none are wanted */
	uint64_t said_at; /* mono, ms: the last one */
	unsigned listeners; /* that were handed over */
};

/* Read the environment and take these variables out of it: a child is not
 * meant. The socket must be reached before a sandbox stands.
 * Out:     *s, good for the calls below whatever is returned.
 * Returns: ST_OK; ST_BAD_VALUE, with a finding. */
enum status
supervisor_open(struct supervisor *s, struct findings *f) WARN_UNUSED;

/* The listening socket with NUMBER (from 0) as an address, as gateway.listen
 * would have it. */
void supervisor_name(char out[static SUPERVISOR_NAME_MAX], unsigned number);

/* The file of the credential NAME, if one is handed over.
 * Out:     path, "" if there is none. */
void supervisor_credential(char path[static PATH_MAX], const char *name);

void supervisor_close(struct supervisor *s);

void supervisor_ready(struct supervisor *s);

/* A reload begins; supervisor_ready says that it has ended. */
void supervisor_reloading(struct supervisor *s);

void supervisor_stopping(struct supervisor *s);

/* Give a sign of life, if it is time for one. NOW: mono, ms. To be called
 * every second or so. */
void supervisor_tick(struct supervisor *s, uint64_t now);

#endif
