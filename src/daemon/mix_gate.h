/* daemon/mix_gate.h: the gateway at the end of the mixnet, if it has an end
 * there ([mix] in the configuration).
 *
 * Requests arrive as messages (mix/exit.h). Each asks the gate through a
 * session of its own: one end of a socket pair is handed over as if a client
 * had connected. A session that comes this way has no circuit, so it sends no
 * PROXY line. Its request counts once (gate_once): the last node, and whoever
 * sees its link, could keep what it delivers and deliver it again.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_MIX_GATE_H
#define DAEMON_MIX_GATE_H

#include "daemon/finding.h"
#include "daemon/gateway.h"
#include "mix/exit.h"

struct mix_gate;

/* Listen where G's configuration says; without such a place *m is NULL, which
 * every function here takes.
 * Returns: ST_OK; else with a finding. */
enum status mix_gate_new(
    struct mix_gate **m, struct gateway *g, struct findings *f) WARN_UNUSED;

/* Before the sessions are closed. */
void mix_gate_free(struct mix_gate **m);

/* Read the registry again; one that is wrong is logged and not taken. */
void mix_gate_reload(struct mix_gate *m);

/* What has come of requests; zeros without a mix. */
struct mix_exit_counts mix_gate_counts(const struct mix_gate *m);

#endif
