/* daemon/tor_link.h: the gateway's use of tor's control port, if it has one.
 *
 * With tor.control set, a circuit that sends bad proofs is closed in tor and
 * not only here; a restart of tor is noticed, after which circuit numbers mean
 * other circuits; and tor's state is in the status. Without it, or while tor
 * does not answer, the gateway works all the same.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_TOR_LINK_H
#define DAEMON_TOR_LINK_H

#include "daemon/finding.h"
#include "daemon/gateway.h"
#include "tor/control.h"

/* Begin to connect, if G's configuration says so; else *t is NULL, which every
 * function here takes.
 * Returns: ST_OK; else with a finding. */
enum status tor_link_new(
    struct tor_link **t, struct gateway *g, struct findings *f) WARN_UNUSED;

/* Begin to connect to the control port that C names, for whoever OPS and ARG
 * are. ONION is the gateway's address, "" when it is not known; SERVE: ask for the
 * service of tor.onion_key, if there is one.
 * Returns: ST_OK; as control_new; else with a finding on C's password file. */
enum status tor_link_open(struct control **out, struct loop *l,
    const struct config *c, const char *onion, bool serve,
    const struct control_ops *ops, void *arg, struct findings *f) WARN_UNUSED;

void tor_link_free(struct tor_link **t);

/* Ask tor to close circuit ID, which has sent bad proofs. */
void tor_link_close_circuit(struct tor_link *t, uint32_t id);

/* What is known of tor; NULL without a control port. */
const struct control_info *tor_link_info(const struct tor_link *t);

#endif
