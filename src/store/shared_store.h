/* store/shared_store.h: one ledger for several gateways, behind ledger_store.h.
 *
 * The counts are in a Redis or Valkey server (redis_link.h); each request is
 * one script there (shared_script.h), so that a member has one budget however
 * many gateways it goes through. The gate's own ledger is a copy of what was
 * heard last, for bytes of open tunnels and for `fall_back`; while the server is
 * there it decides nothing, as another gateway may take counts back.
 *
 * Nothing is counted twice and nobody passes uncounted, whatever happens to
 * the connection: what had no answer when it was lost is asked again, under
 * the same number, and the server knows the numbers it has seen. Who has
 * waited for `timeout` is refused (ST_LEDGER_UNREACHABLE), and a count that
 * was made for them after all is taken back, with what it took of the rate.
 *
 * With `replicas` a request passes only when so many replicas have its count
 * (WAIT): then it outlives the loss of the master.
 *
 * When the server can not be reached, requests are refused. Or, with
 * `fall_back`, they are counted here, as far as the copy says that something
 * is left, and the server is told when it is back. Then a member can have, in
 * the time of the outage, up to what was left of its budget at each gateway;
 * and what is not told yet when the gateway ends is lost.
 *
 * What stands there: a tag for each member and epoch, never a nullifier
 * (gate/member.h), made with a key that the gateways share and the server does
 * not have. Bytes are told every GATE_NOTE_BYTES of a tunnel, so a quota of
 * bytes can be exceeded by that much a tunnel.
 *
 * Threads: the loop. Answers come from the loop: fd is -1.
 */
#ifndef STORE_SHARED_STORE_H
#define STORE_SHARED_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/gate.h"
#include "net/loop.h"
#include "postern/attr.h"
#include "postern/status.h"
#include "store/ledger_store.h"
#include "store/redis_link.h"

#define SHARED_PREFIX_MAX 64

struct shared_store_config {
	struct redis_link_config link; /* ops and ctx are ours */
	const char *prefix; /* of all keys; 1 to SHARED_PREFIX_MAX - 1 of
			     * [A-Za-z0-9._-] */
	unsigned timeout_ms; /* for an answer; 0: 2000 */
	unsigned lease_ms; /* without a word a gateway is dead; 0: 30000 */
	uint32_t replicas; /* that must have a count */
	bool fall_back;
	uint32_t pending; /* answers outstanding: sessions are enough */
};

/* Make a store over GATE, whose member_key is the one that the gateways share
 * and which outlives it.
 * Out:     *store, NULL on failure; why: what is wrong.
 * Returns: ST_OK; ST_NO_MEMORY; ST_BAD_VALUE (the prefix); as
 *          redis_link_new. */
enum status shared_store_new(struct ledger_store **store, struct loop *loop,
    struct gate *gate, const struct shared_store_config *config,
    ledger_settled_fn *settled, void *ctx,
    char why[static REDIS_LINK_WHY_MAX]) NONNULL WARN_UNUSED;

/* Whether TEXT can be a prefix. */
bool shared_prefix_is_good(const char *text) NONNULL;

#endif
