/* client/trouble.h: why a program does not get its connection, in words for
 * the one who sits in front of it, and in those of HTTP and SOCKS.
 *
 * What a gateway answers has its own table (postern/status.h); here is what
 * can go wrong on the way to it, and on this machine.
 */
#ifndef CLIENT_TROUBLE_H
#define CLIENT_TROUBLE_H

#include "client/socks5.h"
#include "postern/status.h"

enum trouble {
	TROUBLE_NONE = 0,

	/* The way to the gateway. */
	TROUBLE_NO_TOR, /* nobody at tor's SOCKS port */
	TROUBLE_NOT_TOR, /* somebody else there */
	TROUBLE_ONION, /* tor does not reach the onion service */
	TROUBLE_TIMEOUT,
	TROUBLE_NOT_GATEWAY, /* the service speaks, and it is no gateway */
	TROUBLE_NO_FACTS, /* a gateway that does not describe itself */
	TROUBLE_AUDIENCE, /* it wants proofs for another name than its own */
	TROUBLE_CLOCK, /* it is in another epoch than this machine */

	/* The membership. */
	TROUBLE_NO_LIST, /* no member list is published, none was given */
	TROUBLE_LIST, /* it can not be read */
	TROUBLE_OLD_LIST, /* its root is none of the gateway's */
	TROUBLE_NOT_MEMBER,
	TROUBLE_MINT, /* no proof could be made */

	/* This machine. */
	TROUBLE_TOKEN, /* a program without the token */
	TROUBLE_BUSY, /* too many connections here */

	/* The gateway's own word: a status says which. */
	TROUBLE_ANSWER,
	TROUBLE_COUNT
};

struct trouble_info {
	const char *label; /* [a-z_]+, for programs */
	const char *text; /* lower case, no full stop */
	const char *cure; /* an imperative */
	int http;
	enum socks5_reply socks;
};

/* Look T up; never NULL. */
const struct trouble_info *trouble_info(enum trouble t);

/* The status that an answer of a gateway calls LABEL, whose code is CODE; one
 * that is not known counts as what its code says. */
enum status trouble_status_of(const char *label, unsigned code);

/* How SOCKS says S, the status of an answer. */
enum socks5_reply trouble_socks(enum status s);

#endif
