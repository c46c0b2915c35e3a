/* mix/service.h: a destination service: what the last node hands messages to.
 *
 * A request with a reply block gets one reply. Where the reply comes from:
 *
 *	echo	"echo: " and the body
 *	command	the body goes to a process's standard input, and what that
 *		writes to its standard output comes back
 *	socket	the same with a connection to an AF_UNIX socket
 *
 * Without a reply block the body is handed on all the same and the answer is
 * dropped. Cover traffic is dropped. Requests that are being worked on are
 * bounded in number and time, and their replies in length.
 *
 * Threads: the loop.
 */
#ifndef MIX_SERVICE_H
#define MIX_SERVICE_H

#include "mix/inbox.h"
#include "mix/outbox.h"

struct service;

enum service_kind { SERVICE_ECHO, SERVICE_COMMAND, SERVICE_SOCKET };

struct service_config {
	endpoint_t listen; /* port 0: the kernel's choice */
	enum service_kind kind;
	const char *target; /* the command, for a shell, or the path; outlives
			     * the service */
	uint32_t capacity; /* requests at once; 0: 64 */
	uint64_t timeout_ms; /* of a request; 0: 30 s */
};

struct service_counts {
	uint64_t requests, replies, cover;
	uint64_t bad; /* no messages, or no requests */
	uint64_t refused; /* too many at once */
	uint64_t failed; /* timed out, or could not be handed on */
};

/* Serve, sending replies through O.
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS. *s is NULL on failure. */
enum status service_new(struct service **s, struct outbox *o,
    const struct service_config *config) NONNULL WARN_UNUSED;

/* Drop what is being worked on, free *S and null it. */
void service_free(struct service **s) NONNULL;

uint16_t service_port(const struct service *s) NONNULL;
struct service_counts service_counts(const struct service *s) NONNULL;

#endif
