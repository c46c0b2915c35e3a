/* daemon/well_known.h: what a client learns before it has a proof.
 *
 * /.well-known/postern is JSON with all that is needed to make one: scope and
 * message, when the epoch ends, the roots with their depth, and what each group
 * may do. /.well-known/postern/members is the member list of the first group
 * (as a member file, which the client makes its Merkle proof from), and
 * /.well-known/postern/members/NAME that of the group NAME. Each can be
 * switched off. src/http/PROTOCOL.md has the members of the JSON.
 *
 * Nothing in them comes from a request. Threads: the loop.
 */
#ifndef DAEMON_WELL_KNOWN_H
#define DAEMON_WELL_KNOWN_H

#include "base/span.h"
#include "daemon/gateway.h"

#define WELL_KNOWN_PATH "/.well-known/postern"

/* Find what PATH names.
 * Out:     *d, a reference of the caller's; NULL on failure.
 * Returns: ST_OK; ST_HTTP_PATH (nothing here, or switched off);
 *          ST_OVERLOADED (no memory). */
enum status well_known_find(
    struct gateway *g, struct document **d, span_t path) WARN_UNUSED;

/* Something in the document has changed: make it anew when it is asked for. */
void well_known_stale(struct gateway *g);

/* The JSON as it is now; for tests and `postern ctl`. */
enum status well_known_write(struct buffer *b, struct gateway *g) WARN_UNUSED;

#endif
