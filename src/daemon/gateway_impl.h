/* daemon/gateway_impl.h: what the files gateway*.c share.
 *
 * gateway.c         life: start, run, drain, end
 * gateway_make.c    making the parts
 * gateway_ledger.c  ... of which the gate and its ledger
 * gateway_reload.c  taking a configuration and members over
 * gateway_state.c   what is told: readiness, gauges, the ticking log
 */
#ifndef DAEMON_GATEWAY_IMPL_H
#define DAEMON_GATEWAY_IMPL_H

#include "daemon/gateway.h"
#include "daemon/log.h"
#include "store/redis_link.h"

/* Make the parts of G, whose configuration is set.
 * Returns: ST_OK; else there is a finding that is an error. */
enum status gateway_make(struct gateway *g, struct findings *f) WARN_UNUSED;

/* Make the gate and the ledger behind it.
 * Returns: as gateway_make. */
enum status
gateway_make_gate(struct gateway *g, struct findings *f) WARN_UNUSED;

/* Read the key of C's shared ledger.
 * Returns: ST_OK; else with a finding. */
enum status gateway_shared_key(uint8_t key[static MEMBER_KEY],
    const struct config *c, struct findings *f) WARN_UNUSED;

/* The link to C's shared ledger, but for ops and ctx.
 * Out:     *out, which borrows PLACES, *password and C; *password, to be wiped
 *          (*password_len bytes) and freed, also on failure; or NULL.
 * Returns: ST_OK; else with a finding. */
enum status gateway_shared_link(struct redis_link_config *out,
    struct shared_place places[static REDIS_LINK_PLACES], char **password,
    size_t *password_len, const struct config *c,
    struct findings *f) WARN_UNUSED;

/* Take the key that ITEM ("DEPTH:FILE") of C's gateway.keys names into KEYS.
 * Returns: ST_OK; else with a finding. */
enum status gateway_add_key(struct semaphore_keys *keys, const struct config *c,
    const struct text_item *item, struct findings *f) WARN_UNUSED;

/* Add the operator's own keys, if there are any, and start the workers.
 * Returns: ST_OK; else with a finding. */
enum status
gateway_make_verifiers(struct gateway *g, struct findings *f) WARN_UNUSED;

void gateway_epoch_rules(struct epoch_rules *out, const struct config *c);
void gateway_circuit_limits(struct circuit_limits *out, const struct config *c);

/* The audience that C asks for. ONION is "" when none is known. MAKE: for a
 * gateway, not for a look at one: make the key of tor.onion_key if it is not
 * there yet, and take the service manager's copy of tor's hostname file.
 * Returns: ST_OK; else there is a finding. */
enum status
gateway_read_audience(struct audience *a, char onion[static ONION_LENGTH + 1],
    const struct config *c, bool make, struct findings *f) WARN_UNUSED;

/* A resolver as C wants it. Returns: as resolver_new. */
enum status gateway_make_resolver(struct resolver **r, struct loop *l,
    const struct config *c, resolver_fn *fn, void *arg) WARN_UNUSED;

/* Begin to take over CONFIG (whose reference is taken): its members are read,
 * then gateway_staged goes on.
 * Returns: ST_OK; ST_NO_MEMORY. */
enum status gateway_stage(struct gateway *g, struct config *config) WARN_UNUSED;

/* The membership's calls. */
void gateway_staged(void *gateway);
void gateway_members_changed(void *gateway, uint16_t number);

/* The work of every second. */
void gateway_tick(struct gateway *g);

/* Log each of F's findings under EVENT. */
void gateway_log_findings(enum log_event event, const struct findings *f);

#endif
