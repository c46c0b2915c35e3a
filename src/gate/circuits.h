/* gate/circuits.h: what one Tor circuit may do.
 *
 * With HiddenServiceExportCircuitID, tor says on which circuit a connection
 * came. The number is no identity: a client can have as many circuits as it
 * likes to pay for, numbers are used again after tor restarts, and nothing of
 * this is kept longer than that. It is good for one thing: that a single
 * circuit can not take all connections, or try proofs without end.
 *
 * Limits: connections open at one time, proofs that failed (all together:
 * then the connection is closed and, where the control port is configured,
 * the circuit), heads in a time. Circuits without an open connection make room
 * for others by time of last use; those with one stay. Room for twice as many
 * circuits as there are sessions is always enough, and making it then costs
 * constant time on average.
 *
 * Times are milliseconds of the steady clock. Threads: the loop.
 */
#ifndef GATE_CIRCUITS_H
#define GATE_CIRCUITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/bucket.h"
#include "gate/lru.h"
#include "gate/now.h"
#include "postern/attr.h"
#include "postern/status.h"

#define CIRCUITS_UNLIMITED UINT64_MAX

struct circuit_limits {
	uint64_t connections; /* open at one time */
	uint64_t failures; /* failed proofs, until the circuit is closed */
	bucket_rate_t rate; /* request heads in a time */
};

/* An open connection's circuit: a plain value that the session keeps. Zeroed:
 * none, and every call with it is a no-op that passes. */
typedef struct {
	uint32_t id;
	uint32_t generation; /* of tor; 0: no circuit */
} circuit_ref_t;

struct circuits {
	struct lru table;
	struct circuit_limits limits;
	uint32_t generation;
};

size_t circuits_memory(uint32_t capacity);

void circuits_init(struct circuits *c, void *memory, uint32_t capacity,
    const struct circuit_limits *limits,
    const uint8_t hash_key[static LRU_HASH_KEY]);

/* Take over other limits (a reload). */
void
circuits_set_limits(struct circuits *c, const struct circuit_limits *limits);

/* A connection has come on circuit ID.
 * Out:     *out, to be given back with circuits_close; none unless ST_OK.
 * Returns: ST_OK; ST_CIRCUIT_LIMIT (too many open, or too many proofs have
 *          failed on it); ST_OVERLOADED when there is no room. */
enum status
circuits_open(struct circuits *c, circuit_ref_t *out, uint32_t id) WARN_UNUSED;

/* The connection has closed. *circuit is none afterwards. */
void circuits_close(struct circuits *c, circuit_ref_t *circuit);

/* A request head has come on it.
 * Out:     *retry, seconds until the next would pass (may be NULL).
 * Returns: ST_OK; ST_CIRCUIT_LIMIT. */
enum status circuits_request(struct circuits *c, circuit_ref_t circuit,
    uint64_t *retry, now_t now) WARN_UNUSED;

/* A proof has failed on it.
 * Returns: ST_OK; ST_CIRCUIT_LIMIT: that was one too many, close it. */
enum status
circuits_failed(struct circuits *c, circuit_ref_t circuit) WARN_UNUSED;

/* A proof has failed on it: what comes on it waits behind what comes on
 * others. */
bool circuits_is_suspect(const struct circuits *c, circuit_ref_t circuit);

/* Tor has restarted: its numbers begin again, forget everything. Values that
 * open connections still hold are stale from now on and do no harm. */
void circuits_forget(struct circuits *c);

#endif
