/* daemon/checkup.h: would the gateway run on this machine, and well?
 *
 * What `postern check` does once the configuration has been read: it looks at
 * everything that start-up will touch, and at what an operator may have
 * forgotten around it, and adds a finding for each thing that is not as it
 * should be. An error is what would stop `postern run`; the rest is advice.
 *
 * Nothing is changed: no file is made, no lock is kept, no tor is asked for
 * more than whether it is there. A configuration with errors is looked at as
 * far as it goes, so that these and the machine's faults are told at once. When
 * a gateway is running already with this configuration, what it holds (its
 * addresses, its journal) is not a fault; nor is a folder that the unit makes.
 *
 * Blocking; for a command, not for the loop.
 */
#ifndef DAEMON_CHECKUP_H
#define DAEMON_CHECKUP_H

#include "daemon/config.h"
#include "daemon/finding.h"

#define CHECKUP_TORRC "/etc/tor/torrc"

/* The user and the folders of conf/postern.service. */
#define CHECKUP_UNIT_USER "postern"
#define CHECKUP_UNIT_RUN "/run/postern"
#define CHECKUP_UNIT_STATE "/var/lib/postern"

/* Who will run a gateway with C, if that is somebody else than who asks:
 * run.user, or the unit's user for the unit's configuration. NULL: nobody that
 * is known of. Borrowed from C, or static. */
const char *checkup_user(const struct config *c);

/* Add to F what is to be said of C and this machine. TORRC is the file that
 * tor is configured by. USER is whose permissions count, which takes root to
 * tell; NULL: those of who asks. */
void checkup(const struct config *c, struct findings *f, const char *torrc,
    const char *user);

/* The parts, for tests. */

/* Tor's configuration TEXT of the file NAME, held against C. */
void checkup_torrc(const struct config *c, struct findings *f, const char *name,
    const char *text);

/* Tor's VERSION, as its control port tells it. */
void checkup_tor_version(
    const struct config *c, struct findings *f, const char *version);

/* Whether there is a way to the addresses of either family. */
void checkup_families(const struct config *c, struct findings *f);

/* Whether C's shared ledger can be used, and keeps what it is told. */
void checkup_ledger(const struct config *c, struct findings *f);

#endif
