/* net/resolver.h: names to addresses, without waiting.
 *
 * A stub resolver on the loop: c-ares speaks to the configured name servers
 * (UDP with EDNS, TCP when an answer is truncated), asking for AAAA and A at
 * once. Every other source is off, because each would be a way round the
 * gate's policy or a surprise: no hosts file, no search domains, no aliases,
 * no environment, no special names. CNAMEs are followed as the name server
 * gives them; what counts is where they end.
 *
 * The caller gets every address (up to RESOLVER_ADDRESSES of each family, IPv6 first) and
 * judges them; nothing is filtered here, so that "it leads to a private
 * address" can be told from "it leads nowhere". If one family answers and the
 * other stays silent, the answer is given after RESOLVER_GRACE_MS (RFC 8305,
 * section 3): a name server that drops AAAA does not slow everybody down.
 *
 * A sandbox has to let it open /dev/urandom and /dev/null, for reading, at any
 * time (and /etc/resolv.conf, where that is its source, at a reload): c-ares
 * seeds a channel's identifiers from the first, and would fall back to rand()
 * without it. We refuse to ask then.
 *
 * No cache: what a member asks for is forgotten when it is answered, and the
 * name server has one. Names are wiped. A channel is retired after
 * RESOLVER_ROTATE questions, so that source ports change (RFC 5452); that is
 * also how a change of name servers takes effect.
 */
#ifndef NET_RESOLVER_H
#define NET_RESOLVER_H

#include "base/ip.h"
#include "base/slab.h"
#include "base/span.h"
#include "net/loop.h"

#define RESOLVER_ADDRESSES 16
#define RESOLVER_GRACE_MS 50
#define RESOLVER_ROTATE 64
/* The longest host name, with its NUL. */
#define RESOLVER_NAME_MAX 254

struct resolver;

struct resolver_config {
	/* "192.0.2.1", "192.0.2.1:5353", "[2001:db8::1]:53", comma separated
	 * (at most 8); NULL: what /etc/resolv.conf says, read again by
	 * resolver_reload. */
	const char *servers;
	unsigned timeout_ms; /* of the first try with a server; 0: 2000 */
	unsigned tries; /* of each server; 0: 2 */
	unsigned deadline_ms; /* of a whole look-up; 0: 10000 */
	uint32_t capacity; /* look-ups at once; 0: 1024 */
	bool no_ipv4, no_ipv6; /* do not ask for this family */
};

/* STATUS is ST_OK with N >= 1 addresses, ST_DNS_NOT_FOUND (no such name, or no
 * address), ST_DNS_TIMEOUT, or ST_DNS_FAILED (SERVFAIL, refused, nonsense).
 * IPS is valid until it returns. Never called from resolver_query itself. */
typedef void resolver_fn(
    void *arg, handle_t owner, enum status status, const ip_t *ips, size_t n);

/* Make a resolver that answers to FN with ARG.
 * Returns: ST_OK; ST_NO_MEMORY; ST_BAD_VALUE (servers); ST_SYS; ST_RANDOM. */
enum status resolver_new(struct resolver **r, struct loop *l,
    const struct resolver_config *config, resolver_fn *fn,
    void *arg) WARN_UNUSED;

/* Drop all look-ups (nobody is called), free *R, null it. */
void resolver_free(struct resolver **r);

/* Ask for NAME (at most 253 characters, no NUL inside) for OWNER. *query names
 * the look-up.
 * Returns: ST_OK (fn will be called once); ST_BUSY; ST_NO_MEMORY; ST_RANDOM;
 *          ST_BAD_LENGTH; ST_BAD_ENCODING (no host name). */
enum status resolver_query(struct resolver *r, handle_t *query, handle_t owner,
    span_t name) WARN_UNUSED;

/* Forget a look-up: fn will not be called. Stale or empty: no effect. */
void resolver_cancel(struct resolver *r, handle_t query);

/* Use other servers (or read /etc/resolv.conf again) for new look-ups.
 * Returns: as resolver_new; on failure the old ones stay. */
enum status
resolver_reload(struct resolver *r, const char *servers) WARN_UNUSED;

/* Look-ups under way. */
uint32_t resolver_pending(const struct resolver *r);

#endif
