/* net/conn.h: a stream in the phase where bytes are messages: a request head
 * comes, an answer goes.
 *
 * A conn reads into one chunk, which it borrows when the first byte comes and
 * gives back when the last is consumed; it never holds more than that chunk,
 * and stops reading (the peer feels it through TCP) while the chunk is full
 * or while the owner is not interested. What is written waits in a second
 * chunk if the peer does not take it at once.
 *
 * The owner moves states and does nothing else: `data` is called whenever
 * there are unread bytes and more came; the owner parses conn_unread, calls
 * conn_consume for what it has taken, answers with conn_write. When the
 * request is granted, the stream and the bytes behind the head go to the
 * tunnel (tunnel_start takes both). When it is not, conn_finish delivers the
 * answer and closes so that it arrives (RFC 9112, section 9.6), or conn_resume
 * waits for the next request.
 *
 * Callbacks are made from the loop, and the owner may close the conn inside
 * any of them; it may free it only in a task (net/loop.h).
 */
#ifndef NET_CONN_H
#define NET_CONN_H

#include "net/chunk.h"
#include "net/stream.h"

struct conn;

struct conn_ops {
	/* There is more in conn_unread than at the last call, or reading was
	 * resumed with bytes there. Not called while reading is paused. */
	void (*data)(struct conn *c);
	/* The chunk is full, and data() has just been called without consuming
	 * a byte: a head that is too large. */
	void (*full)(struct conn *c);
	/* The peer will send no more: told once, after data() for what came
	 * before, and while paused as well. It may still be reading; but tor
	 * says FIN when a client has gone, and knows no half-close. */
	void (*eof)(struct conn *c);
	/* All that was written has left. NULL if nobody asks. */
	void (*drained)(struct conn *c);
	/* It is over: ST_CLOSED (after conn_finish), ST_RESET (the peer is
	 * gone, found out even while paused), ST_BUSY or ST_NO_MEMORY (no
	 * chunk to read into). The stream is closed already. */
	void (*over)(struct conn *c, enum status why);
};

struct conn {
	const struct conn_ops *ops;
	struct loop *loop;
	struct chunk_pool *chunks;
	struct stream *stream; /* NULL when closed or detached */
	struct chunk *in, *out;
	struct deadline linger;
	struct task again; /* resumed with bytes there */
	uint32_t seen; /* unread bytes that data() knows of */
	uint32_t discarded; /* while finishing */
	bool paused, eof, eof_told, finishing, fin_sent;
};

/* Take over FD, a connected non-blocking socket. It starts paused: conn_resume reads. S is
 * where the stream lives, in the owner's memory, for longer than C.
 * Returns: ST_OK; ST_SYS (then FD is closed). */
enum status conn_open(struct conn *c, struct loop *l, struct chunk_pool *chunks,
    struct stream *s, int fd, const struct conn_ops *ops) WARN_UNUSED;

/* Bytes that have come and are not consumed. Valid until the loop turns or
 * any other call on C. */
span_t conn_unread(const struct conn *c);

void conn_consume(struct conn *c, size_t n);

/* Do not call data() for now. Bytes are still read ahead, as far as the chunk
 * goes, so that a peer that vanishes is noticed. */
void conn_pause(struct conn *c);

/* Call data() again: from the loop, never from here. */
void conn_resume(struct conn *c);

/* Send BYTES, or keep what the peer does not take at once.
 * Returns: ST_OK; ST_NO_SPACE (more waits already than fits: nothing is
 * sent); ST_BUSY, ST_NO_MEMORY (no chunk to wait in); ST_RESET. After
 * anything but ST_OK the caller closes. over() is not called from here. */
enum status conn_write(struct conn *c, span_t bytes) WARN_UNUSED;

/* Bytes that were written and wait for the peer. While there are none, the
 * next conn_write of up to a chunk succeeds; `drained` says when it is so
 * again. That is how a long document is sent piece by piece. */
size_t conn_waiting(const struct conn *c);

/* Deliver what was written, send FIN, and throw away what still comes until
 * the peer closes too, LINGER_MS have passed, or 64 KiB have come; then call
 * over(ST_CLOSED). Without the wait the kernel would answer late bytes of the
 * peer with RST, which may destroy the answer before it is read. */
void conn_finish(struct conn *c, uint64_t linger_ms);

/* Close now; over() is not called. Idempotent. */
void conn_close(struct conn *c, enum stream_end how);

/* Let go of the stream (which stays open and keeps its place in memory; give
 * it another handler, as tunnel_start does, before the loop turns) and of the
 * unread bytes: *early, a chunk or NULL, is the caller's now.
 * Returns: ST_OK; ST_BUSY (closed, or something still waits to be sent). */
enum status conn_detach(struct conn *c, struct chunk **early) WARN_UNUSED;

#endif
