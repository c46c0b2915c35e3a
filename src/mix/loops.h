/* mix/loops.h: messages to oneself, as cover and as probes.
 *
 * A loop goes out through three nodes to the sender's own inbox, with a reply
 * block, and comes back through three others (Piotrowska and others, "The
 * Loopix anonymity system", USENIX Security 2017). To everybody else it is a
 * request and its reply. Loops are sent as a Poisson process, so their times
 * say nothing; and since the sender knows what it asked of whom, they show who
 * loses packets and who does not hold them: a way that is quicker than its
 * delays had a node on it that let go too early.
 *
 * Figures are kept for each layer and, for the registry that is in force, for
 * each node. A way counts for all its nodes; one that misbehaves stands out
 * against the others of its layer.
 *
 * Threads: the loop.
 */
#ifndef MIX_LOOPS_H
#define MIX_LOOPS_H

#include "mix/client.h"

struct loops;

/* Of the ways that touched a layer, or a node. */
struct loop_figures {
	uint64_t sent, returned, lost;
	uint64_t early; /* returned well before their delays were over */
	uint64_t late_ms; /* beyond their delays, summed over the returned */
};

/* One loop is over: ST_OK, and how long it took and should have taken at
 * least; ST_IDLE, lost; ST_CORRUPT. */
typedef void
loop_done_fn(void *arg, enum status st, uint64_t took_ms, uint64_t asked_ms);

struct loops_config {
	double rate; /* a second; 0: only loops_send sends */
	uint64_t grace_ms; /* a loop is lost so long after its delays */
	uint32_t capacity; /* loops under way; 0: 256 */
	loop_done_fn *done; /* may be NULL */
	void *arg;
};

/* Send loops from C through O.
 * Returns: ST_OK; ST_NO_MEMORY. *l is NULL on failure. */
enum status loops_new(struct loops **l, struct outbox *o, struct mix_client *c,
    const struct loops_config *config) NONNULL WARN_UNUSED;

/* Before the client is freed. */
void loops_free(struct loops **l) NONNULL;

/* Send one now. Returns: ST_OK; ST_BUSY; as mix_client_way and others. */
enum status loops_send(struct loops *l) NONNULL WARN_UNUSED;

/* A message came to the client's inbox.
 * Returns: whether it was one of our loops: then it is on its way back. */
bool loops_message(struct loops *l, const sphinx_message_t *m) NONNULL;

/* The registry has changed: figures of nodes begin again. */
void loops_registry_changed(struct loops *l) NONNULL;

struct loop_figures loops_layer(const struct loops *l, unsigned layer) NONNULL;

/* Of node INDEX of the registry; zeros when there is none. */
struct loop_figures loops_node(const struct loops *l, size_t index) NONNULL;

#endif
