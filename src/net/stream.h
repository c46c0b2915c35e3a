/* net/stream.h: a connected socket as the loop sees it.
 *
 * It is registered once, edge-triggered, for reading and writing, and stays
 * so until it is closed: the head phase (net/conn.h) and the relay
 * (net/tunnel.h) take turns in handling it, and no system call marks the
 * change. `readable` and `writable` are beliefs: true until a call says
 * EAGAIN, true again when the kernel reports a change.
 *
 * The stream owns its descriptor. It is TCP or a stream socket of AF_UNIX.
 */
#ifndef NET_STREAM_H
#define NET_STREAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "net/loop.h"

struct stream {
	struct watch watch;
	int fd; /* -1: none */
	bool readable, writable;
	/* Something changed; the flags say what is believed now. */
	void (*ready)(struct stream *s);
	void *owner; /* of whoever handles it at present */
};

/* A stream that is not open. */
void stream_init(struct stream *s);

/* Prepare a socket: no Nagle, urgent data in line (it is ordinary data then).
 * What a listening TCP socket has, the accepted ones inherit, so that this
 * costs nothing per connection. AF_UNIX ones do not: whoever accepts one
 * prepares it (net/listener.h does). */
void stream_prepare(int fd);

/* Take over FD, a connected non-blocking socket that has been prepared, and
 * register it: READY is
 * called from the loop only, never from here.
 * Returns: ST_OK; ST_SYS (then FD is closed and S is not open). */
enum status stream_open(struct stream *s, struct loop *l, int fd,
    void (*ready)(struct stream *s), void *owner) WARN_UNUSED;

/* Hand S over to another handler; it sees the flags as they are now. */
void
stream_handle(struct stream *s, void (*ready)(struct stream *s), void *owner);

/* What recv and send would say of an error that came in the meantime (it is
 * cleared by asking); 0: none. */
int stream_error(const struct stream *s);

/* How a stream is closed. */
enum stream_end {
	STREAM_ORDERLY, /* what was sent is delivered, then FIN */
	STREAM_ABORT, /* RST: the peer learns that this is not the whole */
};

/* Close S if it is open. */
void stream_close(struct stream *s, enum stream_end how);

bool stream_is_open(const struct stream *s);

#endif
