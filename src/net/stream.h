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
	bool tcp; /* else AF_UNIX */
	/* Something changed; the flags say what is believed now. */
	void (*ready)(struct stream *s);
};

/* A stream that is not open. */
void stream_init(struct stream *s);

/* Take over FD, a connected socket, and register it: READY is called from the
 * loop only, never from here. FD is made non-blocking, without Nagle's
 * algorithm, and with urgent data in line (so that it is ordinary data).
 * Returns: ST_OK; ST_SYS (then FD is closed and S is not open). */
enum status stream_open(struct stream *s, struct loop *l, int fd,
    void (*ready)(struct stream *s)) WARN_UNUSED;

/* How a stream is closed. */
enum stream_end {
	STREAM_ORDERLY, /* what was sent is delivered, then FIN */
	STREAM_ABORT, /* RST: the peer learns that this is not the whole */
};

/* Close S if it is open. */
void stream_close(struct stream *s, enum stream_end how);

bool stream_is_open(const struct stream *s);

#endif
