/* mix/exit.h: the gateway as a destination service of the mixnet.
 *
 * A request (mix/exchange.h) carries a token and what is to be said to a target
 * over TLS. The exit asks the gate exactly as a client does: it opens a
 * connection to the gateway's own session code and sends a CONNECT with the
 * token. So one ledger counts, one quota and one target policy hold, and there
 * is no second way of deciding. When the answer is 200, the exit speaks TLS
 * with the target through that connection, checks its certificate for the
 * name, says what the request has for it, and sends back along the reply
 * blocks what the target says until it ends. When it is anything else, that
 * answer goes back: the same reasons, the same words. Whoever delivers a
 * request again gets nothing by it: the gate knows the request's id.
 *
 * What the gateway sees here and not through CONNECT: what is said inside TLS.
 * It ends the session with the target. A member who does not want that uses
 * CONNECT, where the gateway sees a name and a port.
 *
 * Bounded: exchanges, parts and bytes of each, time. Threads: the loop.
 */
#ifndef MIX_EXIT_H
#define MIX_EXIT_H

#include "mix/inbox.h"
#include "mix/outbox.h"

struct mix_exit;

#define MIX_EXIT_ID 16 /* bytes of a request's id */

struct mix_exit_config {
	endpoint_t
	    listen; /* where nodes deliver; port 0: the kernel's choice */
	uint32_t exchanges; /* at once; 0: 64 */
	uint64_t timeout_ms; /* of an exchange, from its first part; 0: 60 s */
	const char *ca_file; /* certificates to trust */
	const sphinx_key_t *key; /* what requests are sealed for; copied */
	/* A connection to the gate, for the request with this ID: its client's
	 * end, non-blocking; -1: there is no room. It ends without an answer
	 * when the gate has counted the ID before. */
	int (*connect)(void *arg, const uint8_t id[static MIX_EXIT_ID]);
	void *arg;
};

struct mix_exit_counts {
	uint64_t requests; /* complete */
	uint64_t relayed, refused, failed; /* how they ended */
	uint64_t bad; /* messages that are no part of a request */
	uint64_t dropped; /* exchanges over the limit, or never completed */
};

/* Listen, and send answers through O.
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS (errno); ST_NOT_FOUND (ca_file has no
 *          certificates). *e is NULL on failure. */
enum status mix_exit_new(struct mix_exit **e, struct outbox *o,
    const struct mix_exit_config *config) NONNULL WARN_UNUSED;

/* Drop all exchanges, free *E and null it. */
void mix_exit_free(struct mix_exit **e) NONNULL;

uint16_t mix_exit_port(const struct mix_exit *e) NONNULL;
struct mix_exit_counts mix_exit_counts(const struct mix_exit *e) NONNULL;

#endif
