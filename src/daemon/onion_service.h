/* daemon/onion_service.h: the onion service that the gateway asks tor for, if
 * its configuration has a key for one (tor.onion_key).
 *
 * Threads: the loop, or a command.
 */
#ifndef DAEMON_ONION_SERVICE_H
#define DAEMON_ONION_SERVICE_H

#include "daemon/config.h"
#include "gate/audience.h"
#include "tor/onion_key.h"

/* Read the key that C names; MAKE it if there is none.
 * Out:     k, to be wiped; zero on failure.
 * Returns: ST_OK; else with a finding in F. */
enum status onion_service_key(struct onion_key *k, const struct config *c,
    bool make, struct findings *f) WARN_UNUSED;

/* Write the command for C's service (a secret), whose key is there, and a NUL.
 * Returns: ST_OK; else with a finding in F, and out is "". */
enum status onion_service_command(char out[static ONION_KEY_COMMAND_MAX],
    const struct config *c, struct findings *f) WARN_UNUSED;

#endif
