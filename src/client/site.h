/* client/site.h: what a destination decides: its slot, its gateway, its
 * circuit.
 *
 * All three follow from keyed hashes of the destination's host name (SipHash-
 * 2-4), so that they stay the same from one connection to the next without a
 * table of names, and mean nothing to those who do not have the key:
 *
 *   slot      which of the member's nullifiers of this epoch is shown. With as
 *             many slots as sites, the gateway can not tell that two sites were
 *             visited by one member. The key changes with the epoch, so that
 *             the same sites do not meet in a slot every day.
 *   gateway   weighted rendezvous hashing (Schindelhauer and Schomaker, SPAA
 *             2005): a site sees one gateway's address as long as that is up,
 *             a gateway gets sites in proportion to its weight, and when it
 *             fails its sites spread over the others.
 *   circuit   the user name that tor isolates streams by (IsolateSOCKSAuth).
 *
 * Pure. Threads: any.
 */
#ifndef CLIENT_SITE_H
#define CLIENT_SITE_H

#include <stdint.h>

#include "base/span.h"
#include "postern/attr.h"

#define SITE_SECRET_LENGTH 32
#define SITE_GATEWAYS_MAX 16
/* Characters of a circuit's name, with the NUL. */
#define SITE_CIRCUIT_MAX 34

/* HOST as a number under SECRET for a PURPOSE (a constant) and an EPOCH; 0 for
 * what does not change with it. Letters of either case are the same. */
uint64_t site_hash(const uint8_t secret[static SITE_SECRET_LENGTH],
    const char *purpose, uint64_t epoch, span_t host) NONNULL;

/* The slot, below SLOTS (1 or more), of HOST in EPOCH. */
uint16_t site_slot(const uint8_t secret[static SITE_SECRET_LENGTH],
    uint64_t epoch, span_t host, uint32_t slots) NONNULL;

/* The order in which HOST takes N gateways of these weights (above 0), each
 * named by its key.
 * Out:     order[0 .. n): indexes; the first is its gateway. */
struct site_gateway {
	uint8_t key[32];
	unsigned weight;
};
void site_rank(unsigned order[static SITE_GATEWAYS_MAX],
    const uint8_t secret[static SITE_SECRET_LENGTH],
    const struct site_gateway *gateways, unsigned n, span_t host) NONNULL;

/* The name of the circuit for what HASH stands for; another GENERATION,
 * another circuit. */
void site_circuit(
    char out[static SITE_CIRCUIT_MAX], uint64_t hash, uint64_t generation);

#endif
