/* daemon/onion_service.h: the onion service that the gateway asks tor for, if
 * its configuration has a key for one (tor.onion_key): its key, who may find it
 * (tor.onion_clients), and its defence against a rush (tor.onion_pow).
 *
 * Threads: the loop, or a command.
 */
#ifndef DAEMON_ONION_SERVICE_H
#define DAEMON_ONION_SERVICE_H

#include "daemon/config.h"
#include "tor/onion_key.h"

/* Write the command for C's service (a secret), whose key is there, and a NUL.
 * Returns: ST_OK; else with a finding in F, and out is "". */
enum status onion_service_command(char out[static ONION_KEY_COMMAND_MAX],
    const struct config *c, struct findings *f) WARN_UNUSED;

/* Look at the file of clients, if C names one.
 * Returns: ST_OK; else with a finding in F. */
enum status
onion_service_check(const struct config *c, struct findings *f) WARN_UNUSED;

#endif
