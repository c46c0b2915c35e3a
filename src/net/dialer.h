/* net/dialer.h: connect to whichever address of a destination answers first.
 *
 * Happy Eyeballs version 2 (RFC 8305) over addresses that the caller has
 * resolved, judged, ordered (address_order of gate/address.h) and pinned: a new
 * attempt starts every DIALER_STAGGER_MS or as soon as one fails, the first to
 * connect wins and the others are closed. There is no name here, so nothing
 * can be resolved a second time to something else.
 *
 * A table counts what is open or being tried per destination, so that no
 * member can turn the gateway's address against one host: per IPv4 address,
 * per IPv6 /64. An address at its cap is skipped. The count falls when the
 * owner says so (dialer_leave) or an attempt fails.
 */
#ifndef NET_DIALER_H
#define NET_DIALER_H

#include "base/ip.h"
#include "base/slab.h"
#include "net/loop.h"

#define DIALER_ADDRESSES 16
#define DIALER_STAGGER_MS 250

struct dialer;

struct dialer_config {
	uint32_t capacity; /* dials at once, and connections counted */
	uint32_t per_destination; /* connections; 0: no cap */
	unsigned attempt_ms; /* one address may take; 0: 10000 */
	unsigned timeout_ms; /* a whole dial may take; 0: 20000 */
	unsigned stagger_ms; /* 0: DIALER_STAGGER_MS */
	ip_t source4, source6; /* bind to; none: the system's choice */
};

/* STATUS is ST_OK with FD, a connected non-blocking TCP socket that is the
 * callee's now, and the address it leads to, which the callee gives to
 * dialer_leave when it has closed FD. Otherwise FD is -1: ST_CONNECT_REFUSED,
 * _UNREACHABLE, _FAILED, _TIMEOUT (what the most telling attempt said), or
 * ST_TARGET_LIMIT (every address is at its cap), ST_OVERLOADED (no descriptor
 * left), ST_DNS_NOT_FOUND (N is 0). Never called from dialer_dial itself. */
typedef void
dialer_fn(void *arg, handle_t owner, enum status status, int fd, ip_t ip);

/* Make a dialer that answers to FN with ARG.
 * Returns: ST_OK; ST_NO_MEMORY; ST_RANDOM. */
enum status dialer_new(struct dialer **d, struct loop *l,
    const struct dialer_config *config, dialer_fn *fn, void *arg) WARN_UNUSED;

/* Drop all dials (nobody is called), free *D, null it. */
void dialer_free(struct dialer **d);

/* Connect to PORT at one of IPS (copied; at most DIALER_ADDRESSES are used) for
 * OWNER. *dial names it.
 * Returns: ST_OK (fn will be called once); ST_BUSY. */
enum status dialer_dial(struct dialer *d, handle_t *dial, handle_t owner,
    const ip_t *ips, size_t n, uint16_t port) WARN_UNUSED;

/* Forget a dial; its sockets are closed. Stale or empty: no effect. */
void dialer_cancel(struct dialer *d, handle_t dial);

/* A connection to IP that this dialer made is closed. */
void dialer_leave(struct dialer *d, ip_t ip);

/* Dials under way; connections counted. */
uint32_t dialer_pending(const struct dialer *d);
uint32_t dialer_open(const struct dialer *d);

#endif
