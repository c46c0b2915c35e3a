/* mix/wire.h: a connection that carries frames, plain or in TLS.
 *
 * Reading and writing say what a non-blocking socket would say, whichever it
 * is. Whoever is told that a wire is ready must read until ST_MORE and, when
 * it has something to write, write until ST_MORE: a TLS session may have to
 * read in order to write.
 *
 * The process ignores SIGPIPE. Threads: the loop.
 */
#ifndef MIX_WIRE_H
#define MIX_WIRE_H

#include "mix/tls.h"
#include "net/stream.h"

struct wire {
	struct stream stream;
	SSL *ssl; /* NULL: plain */
	void (*ready)(struct wire *w);
};

/* A wire that is not open. */
void wire_init(struct wire *w) NONNULL;

/* Take over FD, connected and non-blocking: plain when T is NULL; connecting
 * to PIN's holder when PIN is not NULL (it must outlive W), else accepting.
 * Returns: ST_OK; ST_SYS; ST_NO_MEMORY. On failure FD is closed. */
enum status wire_open(struct wire *w, struct loop *l, int fd,
    const struct tls *t, const uint8_t *pin, void (*ready)(struct wire *w))
    NONNULL_ARGS(1, 2, 6) WARN_UNUSED;

/* Read at most LEN bytes.
 * Returns: ST_OK with *n > 0; ST_MORE (not now); ST_CLOSED (the peer has
 *          ended it); ST_RESET. *n is 0 then. */
enum status
wire_read(struct wire *w, void *buf, size_t len, size_t *n) NONNULL WARN_UNUSED;

/* Write at most LEN bytes. Returns: as wire_read, never ST_CLOSED. */
enum status wire_write(
    struct wire *w, const void *buf, size_t len, size_t *n) NONNULL WARN_UNUSED;

/* Close W if it is open; what was written is delivered. */
void wire_close(struct wire *w) NONNULL;

bool wire_is_open(const struct wire *w) NONNULL;

#endif
