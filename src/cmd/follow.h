/* cmd/follow.h: postern group follow: a group kept up to date from where it
 * lives, in a file that a gateway reads.
 *
 * The gateway itself fetches nothing: this is a process of its own, so that
 * TLS, JSON and whatever a server may say stay outside the walls of the one
 * that holds the keys. What they share is a file, replaced at once. Whatever
 * goes wrong here, the file stays as it is: the last good list or root is
 * kept, and the gateway sees to how long it is good for.
 *
 * Blocking; one thread.
 */
#ifndef CMD_FOLLOW_H
#define CMD_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/https.h"
#include "postern/status.h"
#include "semaphore/contract.h"
#include "semaphore/minisign.h"

#define FOLLOW_ENDPOINTS_MAX 16
#define FOLLOW_WHY_MAX 512

/* What both kinds have in common. */
struct follow {
	const char *file; /* that is written */
	const char *ca_file, *proxy; /* as https_request has them */
};

/* A list of members at a URL, with or without a signature beside it. */
struct follow_list {
	struct follow to;
	const char *url,
	    *signature_url; /* the second NULL: none is asked for */
	minisign_key_t key;
	char tag[HTTPS_TAG_MAX]; /* of what the file was made from */
};

/* A group of the Semaphore contract. */
struct follow_chain {
	struct follow to;
	struct contract_group group;
	const char *endpoints[FOLLOW_ENDPOINTS_MAX];
	size_t endpoints_n, agree; /* so many must say the same */
	uint64_t confirmations; /* blocks that a block must have behind it */
};

/* Look once, and write the file if there is something new.
 * Out:     why: what is new (ST_OK), or what is wrong; for people.
 * Returns: ST_OK; ST_DUPLICATE (nothing is new: the file is as it was, but for
 *          the time in a root file); anything else: the file is as it was. */
enum status
follow_list(struct follow_list *l, char why[static FOLLOW_WHY_MAX]) WARN_UNUSED;
enum status follow_chain(
    struct follow_chain *c, char why[static FOLLOW_WHY_MAX]) WARN_UNUSED;

#endif
