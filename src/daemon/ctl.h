/* daemon/ctl.h: the operator's socket, which `postern ctl` speaks to.
 *
 * A unix socket that only its owner can connect to (mode 0600; and the peer's
 * credentials are looked at: the gateway's own user, or root). A request is a
 * JSON object on one line, an answer another:
 *
 *	{"version":1,"command":"status"}
 *	{"version":1,"ok":true,"result":{...}}
 *	{"version":1,"ok":false,"error":"what is wrong","findings":[...]}
 *
 * CONTROL.md has all of it, for other programs. Several may follow each other on
 * one connection. A version that is not known
 * is refused; unknown members are ignored. The commands are in one table, from
 * which `postern ctl --help` prints them.
 *
 * Nothing that is told names a member, a target or a circuit. Threads: the
 * loop.
 */
#ifndef DAEMON_CTL_H
#define DAEMON_CTL_H

#include <jansson.h>

#include "daemon/finding.h"
#include "daemon/gateway.h"

#define CTL_VERSION 1
/* The argument of a command that is about one group. */
#define CTL_GROUP "GROUP"

struct ctl_command {
	const char *name; /* NULL ends the table */
	const char *arg; /* the name of its argument; NULL: it takes none */
	const char *help;
	/* Do it. ARGUMENT is a string or NULL. Returns the result, or NULL
	 * with *error set (a constant, or in f). */
	json_t *(*run)(struct gateway *g, const char *argument,
	    const char **error, struct findings *f);
};

extern const struct ctl_command ctl_commands[];

/* Listen where G's configuration says; without such a place *c is NULL.
 * Returns: ST_OK; else with a finding. */
enum status
ctl_new(struct ctl **c, struct gateway *g, struct findings *f) WARN_UNUSED;

/* Close all; *c is NULL afterwards. */
void ctl_free(struct ctl **c);

/* Answer REQUEST (one line, without its end) as JSON that the caller frees;
 * NULL: no memory. For the socket and for tests. */
char *ctl_answer(struct gateway *g, const char *request, size_t len);

#endif
