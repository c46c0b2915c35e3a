/* daemon/onion_key_file.h: the file of the onion service's key (tor.onion_key).
 *
 * It has tor's own format or, with tor.onion_key_passphrase_file, is sealed
 * (semaphore/sealed.h) under the first line of that file: then neither a backup
 * nor a lost disk gives the address away.
 *
 * Threads: the loop, or a command.
 */
#ifndef DAEMON_ONION_KEY_FILE_H
#define DAEMON_ONION_KEY_FILE_H

#include "daemon/config.h"
#include "tor/onion_key.h"

/* Read the key that C names. MAKE it if there is none, and seal it if it is to
 * be and is not.
 * Out:     k, to be wiped; zero on failure.
 * Returns: ST_OK; else with a finding in F. */
enum status onion_key_load(struct onion_key *k, const struct config *c,
    bool make, struct findings *f) WARN_UNUSED;

#endif
