/* mix/inbox.h: where messages are delivered: a service, or a client that waits
 * for replies.
 *
 * A delivery is a TCP connection of the path's last node, with one message or
 * several: length u32 (little-endian), then so many bytes. Whoever knows the
 * address can deliver; what a message is worth is decided by what is in it. There are
 * so many connections at most; for one more another makes room (net/guests.h).
 *
 * Threads: the loop.
 */
#ifndef MIX_INBOX_H
#define MIX_INBOX_H

#include "net/listener.h"
#include "postern/sphinx.h"

/* The longest message: a wide reply with its kind and id. */
#define INBOX_MESSAGE_MAX (1 + SPHINX_KEY_SIZE + SPHINX_PAYLOAD_SIZE)

struct inbox;

struct inbox_config {
	uint32_t capacity; /* connections at once */
	uint64_t message_ms; /* a message must be complete within */
	/* A message that came; may be changed, valid until this returns. */
	void (*message)(void *arg, uint8_t *bytes, size_t len);
	void *arg;
};

/* Listen at AT (port 0: the kernel's choice).
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS (errno). *b is NULL on failure. */
enum status inbox_new(struct inbox **b, struct loop *l, const endpoint_t *at,
    const struct inbox_config *config) NONNULL WARN_UNUSED;

/* Close all, free *B and null it. Not from `message`. */
void inbox_free(struct inbox **b) NONNULL;

/* Read no message from now on, because there is no room for what it would ask;
 * and again. Deliverers wait, each in its place. */
void inbox_pause(struct inbox *b) NONNULL;
void inbox_resume(struct inbox *b) NONNULL;

uint16_t inbox_port(const struct inbox *b) NONNULL;

/* Connections that ended within a message, said nonsense or were too slow. */
uint64_t inbox_bad(const struct inbox *b) NONNULL;

#endif
