/* daemon/policy.h: the egress rules of each group, made ready.
 *
 * The configuration has words; here they become what gate/target.h and
 * gate/address.h decide with. A set is made once for a configuration, after
 * its words have passed config_check, and is not changed: a reload makes
 * another and takes its place.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_POLICY_H
#define DAEMON_POLICY_H

#include "daemon/config.h"
#include "gate/address.h"
#include "gate/target.h"

/* The rules of one group. */
struct policy {
	const struct target_policy *target; /* in memory */
	void *memory;
	ip_net_t *allow, *deny;
	endpoint_t *except;
	struct address_policy address; /* points at the three */
};

/* By the index of the group in the configuration. */
struct policy_set {
	struct policy *policies;
	size_t n;
};

/* Compile the rules of C's groups.
 * Out:     *set, which the caller frees; empty on failure.
 * Returns: ST_OK; ST_NO_MEMORY; ST_BAD_VALUE (words that config_check would
 *          have refused). */
enum status
policy_set_make(struct policy_set *set, const struct config *c) WARN_UNUSED;

void policy_set_clear(struct policy_set *set);

/* The addresses of this machine's interfaces, so that no member can reach the
 * gateway's own services through it. */
struct own_addresses {
	ip_t *list;
	size_t n;
};

/* Ask the system again. On failure the former list stays.
 * Returns: ST_OK; ST_SYS; ST_NO_MEMORY. */
enum status own_addresses_refresh(struct own_addresses *own) WARN_UNUSED;

void own_addresses_clear(struct own_addresses *own);

/* Which versions of IP this machine has an address of global scope for. */
struct address_reach own_addresses_reach(const struct own_addresses *own);

/* Judge the answers for a name under P on this machine, as address_check_all
 * does. */
enum status
policy_check_addresses(const struct policy *p, const struct own_addresses *own,
    const ip_t *ips, size_t n, uint16_t port) WARN_UNUSED;

#endif
