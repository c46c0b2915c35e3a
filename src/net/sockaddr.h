/* net/sockaddr.h: our addresses as the socket calls want them.
 *
 * Private to net, store and tor.
 */
#ifndef NET_SOCKADDR_H
#define NET_SOCKADDR_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/ip.h"
#include "postern/status.h"

union sockaddr_any {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* Write AT; returns its length, 0 when it is no address. */
socklen_t sockaddr_of_ip(union sockaddr_any *out, const endpoint_t *at);

/* Write the path of an AF_UNIX socket.
 * Returns: ST_OK; ST_BAD_LENGTH. */
enum status sockaddr_of_path(
    union sockaddr_any *out, socklen_t *len, const char *path) WARN_UNUSED;

/* The port in A; 0 when it has none. */
uint16_t sockaddr_port(const union sockaddr_any *a);

#endif
