/* client/peer.h: whose program is at the other end of a connection on this
 * machine.
 *
 * The kernel knows which user owns a socket; sock_diag(7) tells it to anybody,
 * for loopback TCP as SO_PEERCRED does for unix sockets. So a browser, which
 * has no place for a proxy's password on its command line, can be let in while
 * the other users of the machine stay out.
 *
 * The answer holds for the moment of asking: a socket can be handed on, as a
 * token can be.
 */
#ifndef CLIENT_PEER_H
#define CLIENT_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "postern/attr.h"

/* The other end of FD, a connected TCP or unix socket, belongs to the user who
 * runs this process. False also when that can not be found out. Blocks for a
 * question to the kernel, some microseconds. */
bool peer_is_us(int fd) WARN_UNUSED;

#endif
