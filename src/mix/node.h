/* mix/node.h: a mix node.
 *
 * Frames come in (mix/inlets.h), are opened in batches, asked of the replay
 * filter (mix/seen.h), held for the delay that they carry, and go out
 * (mix/links.h). A packet whose last hop this is goes to the service named by
 * its tag, if deliveries there are allowed: to public addresses, and to those
 * that the operator names; nothing else, for anybody can send packets.
 *
 *	inlets -> batch -> peel -> filter + journal -> hold -> links
 *
 * The batch is what came in one round of the loop, at most eight: X25519 is
 * computed for all of them at once.
 *
 * The node sends loops (mix/loops.h) as cover and to see how the others do.
 *
 * Threads: the loop; one worker syncs journals.
 */
#ifndef MIX_NODE_H
#define MIX_NODE_H

#include "gate/address.h"
#include "mix/inlets.h"
#include "mix/keyring.h"
#include "mix/loops.h"

struct mix_node;

/* What a node has to tell its operator. Nothing about a packet or a peer. */
enum mix_event {
	MIX_KEY_TURNED, /* a new epoch's key is in force; announce again */
	MIX_KEY_FAILED, /* the next key could not be made */
	MIX_JOURNAL_FAILED, /* packets are dropped until it can be written */
	MIX_JOURNAL_BACK,
	MIX_FILTER_FULL, /* packets are dropped until the next key */
};

struct mix_node_config {
	struct outbox_config outbox; /* suite, memory, links */
	struct keyring_config keys;
	endpoint_t listen; /* port 0: the kernel's choice */
	bool tls; /* accept TLS instead of plain frames */
	uint32_t inlets; /* connections at once; 0: 256 */
	uint32_t max_delay_ms; /* no packet is held longer; 0: 1 hour */
	const struct address_policy *deliver; /* outlives the node */
	/* Loops. */
	double loop_rate; /* a second; 0: none, and no inbox */
	double loop_mean_ms; /* of each hop */
	uint64_t loop_grace_ms; /* a loop is lost so long after its delays;
				 * 0: 30 s */
	struct mix_client_config inbox; /* listen, address */
	/* May be NULL. PROBLEM is a path or "". */
	void (*event)(
	    void *arg, enum mix_event e, enum status st, const char *problem);
	void *arg;
};

/* Make a node and let it listen.
 * Out:     *n; on failure NULL, and PROBLEM (256 bytes) says what it is about:
 *          a path, an address, or nothing.
 * Returns: ST_OK; ST_BAD_VALUE (parcels do not suffice for the inlets and
 *          links); as the parts say. */
enum status mix_node_new(struct mix_node **n, char problem[static 256],
    struct loop *l, const struct mix_node_config *config) NONNULL WARN_UNUSED;

/* Close all and null *N; what it held is lost. */
void mix_node_free(struct mix_node **n) NONNULL;

/* Take over R. Until there is one, packets for other nodes are dropped. */
void mix_node_set_registry(struct mix_node *n, struct registry *r) NONNULL;

/* Take no more packets and send no more loops; what is held goes on. */
void mix_node_drain(struct mix_node *n) NONNULL;

/* The ports it listens at; of the inbox, 0 without loops. */
uint16_t mix_node_port(const struct mix_node *n) NONNULL;
uint16_t mix_node_inbox_port(const struct mix_node *n) NONNULL;

/* What it has in the registry: a JSON object, to be freed; NULL: no memory.
 * ADDRESS is how others reach it. */
char *mix_node_announcement(const struct mix_node *n, const endpoint_t *address,
    uint64_t stake) NONNULL;

struct mix_node_state {
	const struct mix_counts *counts;
	const struct registry *registry;
	const struct loops *loops; /* NULL: none */
	struct links_gauges links;
	uint32_t inlets;
	size_t parcels, parcels_max;
	uint64_t seen, seen_max; /* tags in the current key's filter */
	int64_t next_key; /* Unix seconds; 0: no rotation */
};

struct mix_node_state mix_node_state(const struct mix_node *n) NONNULL;

#endif
