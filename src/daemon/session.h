/* daemon/session.h: one client's connection, from accept to close.
 *
 *	LINE      the PROXY line is awaited, where the listener wants it
 *	HEAD      a request head is awaited
 *	CHECK     a worker has the proof
 *	COUNT     the request is being counted, durably
 *	RESOLVE   the target's name is being looked up
 *	CONNECT   the target is being dialled
 *	GRANT     the 200 waits for the client to take it
 *	TUNNEL    bytes go both ways
 *	DOCUMENT  a well-known document is being sent
 *	LAST      the last answer is being delivered
 *	OVER      closed; the slot goes back at the end of the round
 *
 * The order is that of the design: nothing leaves the machine, no look-up and
 * no socket, before COUNT has said yes. After an answer that leaves the
 * connection usable the session is in HEAD again, a limited number of times.
 *
 * A request counts once, when it reaches COUNT and a verdict was good; what
 * becomes of it after that does not change the count.
 *
 * A session dies in one function, session_close, which may be called from
 * anywhere and any number of times, and records the first reason. Its slot in
 * the slab is released in a task, so that no caller loses the ground under it.
 * Answers of workers, resolver, dialer and store find their session by its
 * handle, and drop what they bring when it is gone.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_SESSION_H
#define DAEMON_SESSION_H

#include "daemon/gateway.h"

/* Bytes of a session: what the slab is made of. */
size_t session_size(void);

/* Take over FD, which listener LS accepted; refuse it if there is no room. */
void session_accept(struct listener *ls, int fd, void *gateway);

/* The same with what comes from inside (daemon/mix_gate.h), for a request with
 * this ID: one that was here before ends without an answer. */
void session_accept_inside(
    struct gateway *g, int fd, const uint8_t id[static GATE_ONCE_ID]);

/* The pool in which proofs are checked. Returns: as pool_new. */
enum status session_pool_new(struct gateway *g, unsigned workers) WARN_UNUSED;

/* Answers, for the modules that give them: see resolver_fn, dialer_fn,
 * ledger_settled_fn. */
void session_resolved(
    void *gateway, handle_t who, enum status status, const ip_t *ips, size_t n);
void session_dialed(
    void *gateway, handle_t who, enum status status, int fd, ip_t ip);
void session_settled(void *gateway, handle_t who, enum status status,
    const struct gate_grant *grant);

/* The gateway drains: close those who are not in a request or a tunnel. */
void sessions_drain(struct gateway *g);

/* Close all, now. */
void sessions_close(struct gateway *g, enum status reason);

#endif
