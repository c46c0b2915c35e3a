/* net/connecting.h: one attempt to connect to one address that is ours to
 * know: tor's control port, a ledger. For a client's destination see dialer.h.
 *
 * Threads: the loop.
 */
#ifndef NET_CONNECTING_H
#define NET_CONNECTING_H

#include "net/loop.h"
#include "net/sockaddr.h"
#include "postern/attr.h"

struct connecting {
	struct watch watch;
	int fd; /* -1: no attempt is under way */
	/* STATUS is ST_OK with FD, a connected non-blocking socket that is the
	 * callee's now. Else FD is -1: ST_CONNECT_REFUSED, errno says how.
	 * Never called from connecting_start. */
	void (*done)(struct connecting *c, enum status status, int fd);
};

/* One that is not under way. */
void connecting_init(struct connecting *c,
    void (*done)(struct connecting *c, enum status status, int fd)) NONNULL;

/* Begin to connect to A (LEN bytes). How long that may take is the caller's
 * affair.
 * Returns: ST_OK: done will be called; ST_PERMISSION, ST_CONNECT_REFUSED,
 *          ST_SYS: it has failed. */
enum status connecting_start(struct connecting *c, struct loop *l,
    const union sockaddr_any *a, socklen_t len) NONNULL WARN_UNUSED;

/* Give up. Idempotent. */
void connecting_stop(struct connecting *c) NONNULL;

#endif
