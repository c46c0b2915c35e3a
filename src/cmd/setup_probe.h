/* cmd/setup_probe.h: does an onion service answer through tor?
 *
 * Blocking, with a time limit on every step: for a command that has nothing
 * else to do.
 */
#ifndef CMD_SETUP_PROBE_H
#define CMD_SETUP_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "postern/attr.h"

/* Ask ONION for /.well-known/postern by tor's SOCKS port at HOST:PORT (IPv4).
 * Returns: it answered 200. */
bool setup_probe(
    const char *host, uint16_t port, const char *onion) NONNULL WARN_UNUSED;

#endif
