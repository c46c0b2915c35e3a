/* mix/counts.h: what a node counts.
 *
 * Sums over all packets and peers, never one per packet, peer or time of
 * arrival: nothing here tells which packet went out after which came in.
 */
#ifndef MIX_COUNTS_H
#define MIX_COUNTS_H

#include <stdint.h>

/* Why a packet went no further. */
enum mix_drop {
	DROP_WEAK_KEY, /* its element */
	DROP_BAD_MAC, /* changed, or for another key */
	DROP_BAD_ENCODING, /* routing that no sender makes */
	DROP_CORRUPT, /* payload changed: seen at the exit */
	DROP_REPLAY,
	DROP_FILTER_FULL, /* the replay filter has no room */
	DROP_JOURNAL, /* its tag could not be written */
	DROP_UNKNOWN_NODE, /* the next hop is not in the registry */
	DROP_ADDRESS, /* deliveries to this address are not allowed */
	DROP_OVERFLOW, /* the oldest, when there was no room for a new one */
	DROP_LINK_FULL, /* the oldest of a link's queue that was too long */
	DROP_LINK_LIMIT, /* too many links */
	DROP_UNDELIVERED, /* the service could not be reached */
	DROP_COUNT
};

/* The metric label of D. */
const char *mix_drop_label(enum mix_drop d);

struct mix_counts {
	uint64_t received; /* whole frames */
	uint64_t truncated; /* connections that ended within a frame */
	uint64_t stalled; /* ... or did not end one in time */
	uint64_t refused; /* connections that made room, or found none */
	uint64_t forwarded, delivered; /* written to the next hop, a service */
	uint64_t clamped; /* delays cut to the longest allowed */
	uint64_t dials, dial_failures; /* links made, and not */
	uint64_t late_ms; /* held longer than asked, summed */
	uint64_t dropped[DROP_COUNT];
};

#endif
