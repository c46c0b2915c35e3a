/* store/redis_link.h: a connection to a Redis or Valkey server that is kept up.
 *
 * The link knows several places where the server may be, and goes round them
 * until one answers as a master: that is how it follows when a replica has
 * been promoted. It authenticates, chooses the database, and then carries
 * commands, any number of them on the way at a time; answers come in the order
 * of the commands (RESP, https://redis.io/docs/reference/protocol-spec). When
 * the connection is lost, what has not been answered never will be: the owner
 * is told, and knows best what to ask again. A new attempt is made after a
 * back-off that doubles, with some randomness in it so that many gateways do
 * not come back at the same moment.
 *
 * hiredis writes the commands and reads the answers; the sockets are ours,
 * because Debian's hiredis has no TLS. Nothing blocks. A server is trusted with
 * the counts and with nothing else: a word of what it says may reach the log
 * (the first of an error, capitals), no more.
 *
 * Threads: the loop. Callbacks come from the loop and never from inside a call
 * here; of these, redis_link_free alone may not be called in one.
 */
#ifndef STORE_REDIS_LINK_H
#define STORE_REDIS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "net/loop.h"
#include "postern/attr.h"
#include "postern/status.h"
#include "store/shared_place.h"

#define REDIS_LINK_PLACES 8
#define REDIS_LINK_WHY_MAX 96

struct redis_link;

struct redis_link_ops {
	/* There is a master, and commands can be sent. */
	void (*up)(void *ctx);
	/* The answer to the oldest command that has none. R is the link's. */
	void (*reply)(void *ctx, const redisReply *r);
	/* Commands without an answer get none: the connection is lost, or was
	 * not to be had. WHY: for people, [A-Za-z0-9 ,;:'()-]. */
	void (*down)(void *ctx, const char *why);
};

struct redis_link_config {
	const struct shared_place *places; /* 1 to REDIS_LINK_PLACES; copied */
	size_t places_n;
	const char *user, *password; /* NULL: none; copied */
	const char *ca_file; /* for places in TLS */
	unsigned timeout_ms; /* to connect and to be let in; 0: 2000 */
	unsigned retry_ms; /* the first back-off; 0: 100 */
	const struct redis_link_ops *ops;
	void *ctx;
};

/* Make a link. Names are looked up here and now; nothing is connected before
 * the loop turns.
 * Out:     why: on failure, what is wrong.
 * Returns: ST_OK; ST_NO_MEMORY; ST_DNS_FAILED; ST_BAD_LENGTH (a password too
 *          long); ST_NOT_FOUND (no certificate in ca_file). */
enum status redis_link_new(struct redis_link **link, struct loop *l,
    const struct redis_link_config *config,
    char why[static REDIS_LINK_WHY_MAX]) NONNULL WARN_UNUSED;

void redis_link_free(struct redis_link **link) NONNULL;

/* Send a command of N words. Only while up.
 * Returns: ST_OK; ST_NO_MEMORY: not sent. */
enum status redis_link_send(struct redis_link *link, size_t n,
    const char *const *words, const size_t *lengths) NONNULL WARN_UNUSED;

/* Give this connection up, and go on to the next place. Down is not called. No
 * effect on a link that is down. */
void redis_link_give_up(struct redis_link *link) NONNULL;

bool redis_link_is_up(const struct redis_link *link) NONNULL;

/* The first word of an error, if it is in capitals; else "an error". */
void redis_error_word(char out[static 32], const redisReply *r) NONNULL;

#endif
