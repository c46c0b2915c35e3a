/* daemon/config_check.h: what a configuration says as a whole.
 *
 * Each value has been read by its type already. Here the words of lists are
 * read (addresses, patterns, networks), and the keys are held against each
 * other. Files that a value names are looked at elsewhere (`postern check`,
 * and start-up): this looks at nothing but the configuration.
 */
#ifndef DAEMON_CONFIG_CHECK_H
#define DAEMON_CONFIG_CHECK_H

#include "daemon/config.h"

/* Add a finding to F for each fault and contradiction of C. */
void config_check(const struct config *c, struct findings *f);

#endif
