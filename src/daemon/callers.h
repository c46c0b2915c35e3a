/* daemon/callers.h: small clients of a listener for operators, each with an
 * answer of any length at a time.
 *
 * What admin.h (HTTP) and ctl.h (JSON lines) have in common: a few slots, a
 * connection in each, patience that ends, an answer that leaves piece by piece,
 * an end that is tidy whoever ends it. The owner is told of bytes that have
 * come and answers with one document; while that is on its way no more bytes
 * are told of. For one caller more than there may be, the one that has waited
 * for longest is closed: who says nothing keeps nobody out.
 *
 * A peer that says FIN gets the answer that is on its way, then the end.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_CALLERS_H
#define DAEMON_CALLERS_H

#include "base/list.h"
#include "base/slab.h"
#include "daemon/document.h"
#include "net/conn.h"
#include "net/listener.h"

#define CALLERS_MAX 32
/* For those who come in a round of the loop; others have made room for them and
 * are gone at its end. */
#define CALLERS_SPARE LISTENER_BATCH

struct callers;

/* One connection. Owned by its callers; it is gone after caller_close once the
 * loop has turned. */
struct caller {
	struct callers *all;
	void *owner; /* that of callers_init */
	struct conn conn; /* for conn_unread, conn_consume, conn_write */

	/* Private. */
	handle_t self;
	struct list_node age;
	struct stream stream;
	struct deadline deadline;
	struct task release;
	struct document *document;
	size_t sent;
	bool finishing, eof, over;
};

struct caller_rules {
	uint32_t max; /* at once; at most CALLERS_MAX */
	uint32_t patience_ms; /* from accepting, or from caller_wait_anew */
	uint32_t request_max; /* bytes of a request */
	/* Whether the peer at FD may call; NULL: whoever can. */
	bool (*admit)(int fd);
	/* Bytes have come (all of conn_unread, not only the new ones). */
	void (*data)(struct caller *c);
	/* The document is on its way as a whole; NULL: that ends the call. */
	void (*sent)(struct caller *c);
};

/* Holds its slots: large, so part of an object on the heap. */
struct callers {
	struct loop *loop;
	void *owner;
	struct caller_rules rules;
	struct chunk_pool chunks;
	struct list_node age; /* the oldest first, by when patience began */
	struct slab slab;
	struct slab_slot slots[CALLERS_MAX + CALLERS_SPARE];
	struct caller callers[CALLERS_MAX + CALLERS_SPARE];
};

/* Set CS up on L for OWNER; CS stays where it is. */
void callers_init(struct callers *cs, struct loop *l,
    const struct caller_rules *rules, void *owner);

/* Close all, and let the loop settle. */
void callers_clear(struct callers *cs);

/* For listener_config.accepted; its arg is the struct callers. */
void callers_accepted(struct listener *ls, int fd, void *arg);

/* Make C's patience begin anew. */
void caller_wait_anew(struct caller *c);

/* Send D, whose reference is taken over (NULL, for want of memory: close). */
void caller_send(struct caller *c, struct document *d);

/* What was written is the last: deliver it and close. */
void caller_finish(struct caller *c);

/* Close now. Idempotent. */
void caller_close(struct caller *c);

#endif
