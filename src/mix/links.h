/* mix/links.h: the ways out: a connection a peer, kept open, and its queue.
 *
 * A parcel goes to the end of its peer's queue when its delay is over, so what
 * is written is in order of release. A link to a node is made when it is first
 * needed and stays; when it breaks it is made again, after waits that double
 * from a quarter of a second up to ten, each shortened by chance so
 * that peers do not come back in step. A frame whose writing was cut off is
 * sent again as a whole (the peer has dropped its half). A link to a service
 * is closed when its queue is empty; a service that can not be reached several
 * times in a row loses what waits for it.
 *
 * A slow peer is felt as a full socket buffer: its queue grows to a limit, and
 * then the oldest goes. Nothing is read from a link; a peer that sends is cut.
 *
 * Threads: the loop.
 */
#ifndef MIX_LINKS_H
#define MIX_LINKS_H

#include "mix/parcel.h"
#include "mix/random.h"
#include "mix/tls.h"

struct links;

struct links_config {
	uint32_t capacity; /* links at once */
	uint32_t queue_max; /* parcels in one link's queue */
	const struct tls *tls; /* for pinned links; may be NULL without any */
	const struct mix_random *random;
	struct mix_counts *counts;
};

/* Returns: ST_OK; ST_NO_MEMORY; ST_RANDOM. *l is NULL on failure. */
enum status links_new(struct links **l, struct loop *loop,
    const struct links_config *config) NONNULL WARN_UNUSED;

/* Close all links, free *L and null it. Their parcels stay with the pool. */
void links_free(struct links **l) NONNULL;

/* Send P to where it says (P->to, deliver, pin). It is the links' now; if it
 * can not be queued it is dropped and counted. */
void links_send(struct links *l, struct parcel *p) NONNULL;

/* Links that are connected; parcels that wait in queues. */
struct links_gauges {
	uint32_t links, connected, queued;
};
struct links_gauges links_gauges(const struct links *l) NONNULL;

/* Close links that have nothing to send and have had nothing for IDLE_MS. */
void links_prune(struct links *l, uint64_t idle_ms) NONNULL;

#endif
