/* gate/address.h: may the gateway connect to this address?
 *
 * A name of the public DNS can lead anywhere: to the gateway's own services,
 * to its neighbours, to the metadata service of its cloud. So every answer is
 * judged before a socket is made, and the connection goes to the judged
 * address, never to the name again.
 *
 * Public is what no row of the table in address.c holds. The table has all of
 * IANA's special-purpose registries for IPv4 (RFC 6890) and IPv6, multicast,
 * and what is deprecated but still routed somewhere. Rows that IANA marks
 * globally reachable (AS112, AMT, anycast of protocols) are in it as well: no
 * server that a member could want lives there. Of IPv6 only 2000::/3 is
 * global unicast at all; the rest is refused, whatever it will become.
 *
 * Addresses that carry an IPv4 address (mapped, compatible, translated, 6to4,
 * Teredo, NAT64, ISATAP) are refused altogether, since a translator on the
 * way could deliver them to the embedded address. Where the operator allows
 * such a network (NAT64 on a host with IPv6 only), the embedded address must
 * be allowed too.
 *
 * In order of weight: an excepted endpoint passes; the machine's own addresses
 * do not; then the operator's denied networks, then the allowed ones (which
 * lift the table), then the table.
 */
#ifndef GATE_ADDRESS_H
#define GATE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ip.h"
#include "postern/status.h"

/* A block of addresses that is not public, and the document that says so. */
struct address_block {
	ip_net_t net;
	const char *name;
	const char *source; /* "RFC 1918" */
};

/* The most specific block that holds IP; NULL when IP is public. An IP that is
 * none is held by a block of its own. */
const struct address_block *address_special(const ip_t *ip) NONNULL;

/* The table, for tests and `postern check`. */
const struct address_block *address_blocks(size_t *n) NONNULL;

/* Take the IPv4 address out of an IPv6 address that carries one.
 * Out:     *out; none when there is none.
 * Returns: whether IP carries one. */
bool address_embedded(ip_t *out, const ip_t *ip) NONNULL;

/* What the operator and the machine add. The arrays belong to the caller and
 * outlive the policy; any may be empty. Read only: any thread. */
struct address_policy {
	const ip_net_t *allow; /* reachable although not public */
	size_t n_allow;
	const ip_net_t *deny; /* not reachable although public */
	size_t n_deny;
	const endpoint_t *except; /* reachable, whatever the rest says */
	size_t n_except;
	const ip_t *own; /* of this machine's interfaces */
	size_t n_own;
};

/* Judge one address with its port.
 * Returns: ST_OK; ST_TARGET_ADDRESS. */
enum status address_check(const struct address_policy *p, const ip_t *ip,
    uint16_t port) NONNULL WARN_UNUSED;

/* Judge all answers for one name: one that is not allowed condemns them all
 * (an attacker who mixes a public with a private one is waiting for the race).
 * Returns: ST_OK; ST_TARGET_ADDRESS; ST_DNS_NOT_FOUND when N is 0. */
enum status address_check_all(const struct address_policy *p, const ip_t *ips,
    size_t n, uint16_t port) NONNULL_ARGS(1) WARN_UNUSED;

/* Which versions of IP the machine can send. */
struct address_reach {
	bool ip4, ip6;
	bool prefer_ip4; /* IPv6 goes first otherwise (RFC 8305, section 4) */
};

/* Put answers into the order in which to try them, RFC 8305, section 4, over
 * what RFC 6724 needs of it here: an address of a version that the machine can
 * not send goes last (rule 1), the versions alternate, the resolver's order is
 * kept within each; repeated addresses are dropped.
 * In/Out:  ips[0 .. n).
 * Returns: how many remain. */
size_t address_order(ip_t *ips, size_t n, struct address_reach reach);

#endif
