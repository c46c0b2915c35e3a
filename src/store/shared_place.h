/* store/shared_place.h: where a shared ledger is, as an operator writes it.
 *
 *	redis://HOST[:PORT][/DATABASE]	in the clear: for this machine, or a
 *					network that nobody else is on
 *	rediss://HOST[:PORT][/DATABASE]	in TLS, with a certificate for HOST
 *	unix:/PATH[?db=DATABASE]	a socket of this machine
 *
 * HOST is a name or an address, an IPv6 address in brackets. User and password
 * are not part of it: what stands in a configuration is read by many.
 */
#ifndef STORE_SHARED_PLACE_H
#define STORE_SHARED_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/sockaddr.h"
#include "postern/attr.h"
#include "postern/status.h"

#define SHARED_PORT 6379
#define SHARED_HOST_MAX 256
#define SHARED_PATH_MAX 108

struct shared_place {
	bool tls;
	char host[SHARED_HOST_MAX]; /* "" with a path; no brackets */
	char path[SHARED_PATH_MAX];
	uint16_t port;
	uint32_t database;
};

/* Read TEXT.
 * Out:     *p; *why, on failure: a phrase that says what is wrong with it.
 * Returns: ST_OK; ST_BAD_ENCODING; ST_BAD_VALUE. */
enum status shared_place_parse(struct shared_place *p, const char **why,
    const char *text) NONNULL WARN_UNUSED;

/* The address of P. A name is asked for, which may take seconds: at start-up.
 * Out:     *why, on failure: what the resolver said.
 * Returns: ST_OK; ST_DNS_FAILED. */
enum status shared_place_address(union sockaddr_any *out, socklen_t *len,
    const char **why, const struct shared_place *p) NONNULL WARN_UNUSED;

#endif
