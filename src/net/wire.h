/* net/wire.h: a connection of our own, plain or in TLS.
 *
 * Reading and writing say what a non-blocking socket would say, whichever it
 * is. Whoever is told that a wire is ready must read until ST_MORE and, when
 * it has something to write, write until ST_MORE: a TLS session may have to
 * read in order to write.
 *
 * The process ignores SIGPIPE. Threads: the loop.
 */
#ifndef NET_WIRE_H
#define NET_WIRE_H

#include <openssl/types.h>

#include "net/stream.h"
#include "postern/attr.h"

struct wire {
	struct stream stream;
	SSL *ssl; /* NULL: plain */
	void (*ready)(struct wire *w);
};

/* A wire that is not open. */
void wire_init(struct wire *w) NONNULL;

/* Take over FD, connected and non-blocking; plain so far.
 * Returns: ST_OK; ST_SYS. On failure FD is closed. */
enum status wire_open(struct wire *w, struct loop *l, int fd,
    void (*ready)(struct wire *w)) NONNULL WARN_UNUSED;

/* Speak TLS on W, which is open, from now on.
 * In:      ssl, a session over W's descriptor, which is W's now.
 * Returns: ST_OK; ST_NO_MEMORY (SSL is NULL: W is closed). */
enum status wire_secure(struct wire *w, SSL *ssl) NONNULL_ARGS(1) WARN_UNUSED;

/* Go on with the handshake of TLS; reading and writing would do so too.
 * Returns: ST_OK (done); ST_MORE (not now); ST_RESET. */
enum status wire_handshake(struct wire *w) NONNULL WARN_UNUSED;

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
