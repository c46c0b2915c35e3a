/* daemon/admin.h: metrics and health, for those who look after the gateway.
 *
 *	GET /          a page for people (status_page.h)
 *	GET /metrics   Prometheus text
 *	GET /healthz   200 while the loop turns
 *	GET /readyz    200 while requests can be served, else 503 and why
 *
 * On loopback or unix sockets only (config_check sees to it), apart from the
 * listeners of clients. A connection carries one request. A few can be open at
 * a time; one more is closed at once.
 *
 * Threads: the loop.
 */
#ifndef DAEMON_ADMIN_H
#define DAEMON_ADMIN_H

#include "daemon/finding.h"
#include "daemon/gateway.h"

/* Listen where G's configuration says; without such a place *a is NULL.
 * Returns: ST_OK; else with a finding. */
enum status
admin_new(struct admin **a, struct gateway *g, struct findings *f) WARN_UNUSED;

/* Close all; *a is NULL afterwards. */
void admin_free(struct admin **a);

#endif
