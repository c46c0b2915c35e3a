/* net/listener.h: where clients come in.
 *
 * IPv4, IPv6 and AF_UNIX sockets, as many as the configuration names, or ones
 * that a supervisor opened already (socket activation). A listener accepts at
 * most LISTENER_BATCH connections a round, so that a crowd at the door does
 * not stop those inside.
 *
 * Descriptors are the resource that runs out first, and the ones inside need
 * more of them (a name server, a destination, the journal). The kernel gives
 * out the lowest free number, so a connection with number `limit - reserve` or
 * above means that fewer than `reserve` are left: accepting pauses then, as it
 * does on EMFILE, ENFILE, ENOBUFS and ENOMEM, and is tried again after
 * LISTENER_RETRY_MS or when the owner says that something was closed. Clients
 * wait in the backlog meanwhile.
 *
 * Peer addresses are not asked for: nothing here may depend on one.
 */
#ifndef NET_LISTENER_H
#define NET_LISTENER_H

#include "base/ip.h"
#include "base/span.h"
#include "net/loop.h"

#define LISTENER_BATCH 64
#define LISTENER_RETRY_MS 200
#define LISTENER_PATH_MAX 108

struct listener;

enum listener_kind {
	LISTEN_IP,
	LISTEN_UNIX,
	LISTEN_FD, /* opened by somebody else, bound and listening */
};

struct listener_config {
	enum listener_kind kind;
	endpoint_t at; /* LISTEN_IP; IPv6 sockets take no IPv4 (IPV6_V6ONLY);
			* port 0 is the kernel's choice, see listener_port */
	const char *path; /* LISTEN_UNIX; a stale socket there is replaced, a
	                   * live one or any other file is not */
	unsigned mode; /* LISTEN_UNIX: permission bits of the socket */
	int fd; /* LISTEN_FD */
	int backlog; /* 0: SOMAXCONN */
	unsigned reserve; /* descriptors to leave alone; 0: 32 */
	/* FD, non-blocking and close-on-exec, is the callee's. */
	void (*accepted)(struct listener *ls, int fd, void *arg);
	void *arg;
};

/* Read "127.0.0.1:8080", "[::1]:8080", "unix:/run/postern.sock" or "fd:3" into
 * the address part of CONFIG. PATH (a buffer of LISTENER_PATH_MAX bytes) takes a
 * path. Returns: ST_OK; ST_BAD_ENCODING; ST_BAD_VALUE (a port); ST_BAD_LENGTH
 * (a path too long for the kernel). */
enum status listener_parse(struct listener_config *config,
    char path[static LISTENER_PATH_MAX], span_t text) WARN_UNUSED;

/* Listen.
 * Returns: ST_OK; ST_SYS with errno (EADDRINUSE, EACCES...); ST_NO_MEMORY;
 *          ST_BAD_VALUE (the fd is not a listening stream socket). */
enum status listener_new(struct listener **ls, struct loop *l,
    const struct listener_config *config) WARN_UNUSED;

/* Close, and remove the path of a socket that we made; null *LS. Not from
 * `accepted`. */
void listener_free(struct listener **ls);

/* Stop accepting until listener_resume (the owner has no room). */
void listener_pause(struct listener *ls);

/* Accept again; also ends a pause for want of descriptors early. */
void listener_resume(struct listener *ls);

/* The port it is bound to; 0 for AF_UNIX. */
uint16_t listener_port(const struct listener *ls);

struct listener_counts {
	uint64_t accepted;
	uint64_t pauses; /* for want of descriptors or memory */
	bool paused; /* now, for that reason */
};

struct listener_counts listener_counts(const struct listener *ls);

#endif
