/* client/client.h: a member's local proxy: from a program on this machine
 * through tor and a gateway to the clearnet.
 *
 * Programs ask by HTTP CONNECT or by SOCKS5 (with names: nothing is resolved
 * here), at the same ports: the first byte tells which. For each connection
 *
 *   - the destination's gateway, slot and circuit are found (client/site.h)
 *   - the proof for this epoch and slot is taken, or awaited if it is still
 *     being made (client/door.h)
 *   - the gateway's onion service is dialled through tor (client/hop.h) and
 *     asked with CONNECT
 *   - the two are joined (net/tunnel.h), or it is tried on a fresh circuit, at
 *     another gateway, or the program is told what is wrong (client/reply.h)
 *
 * Who may ask: whoever knows the token (as the password of a proxy user), or
 * everybody who can open the unix socket that it listens at, or, if so
 * configured, every program of the user who runs it. So no other user of the
 * machine can spend the member's quota, or act in its name.
 *
 * The member's secret is not here: proofs are made by a function that the
 * caller brings. No destination, token or nullifier is in a note or in the
 * status. One object, on one loop; its workers run nothing else than
 * roster_read and the caller's hands.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ip.h"
#include "client/site.h"
#include "gate/audience.h"
#include "net/listener.h"
#include "net/loop.h"
#include "postern/group.h"
#include "postern/semaphore.h"
#include "postern/status.h"

#define CLIENT_LISTENERS_MAX 8
/* Longest token of the local port, and the length of one that we make. */
#define CLIENT_TOKEN_MAX 128
/* Longest explanation, with its NUL. */
#define CLIENT_WHY_MAX 256

struct client;

/* How destinations share circuits. */
enum client_isolation {
	CLIENT_PER_HOST, /* a circuit for each host name */
	CLIENT_PER_CONNECTION, /* and for each connection to it */
	CLIENT_SHARED, /* one for all */
};

/* A gateway. */
struct client_gateway {
	char onion[ONION_LENGTH + 1];
	uint16_t port;
	unsigned weight; /* 1 or more */
};

/* What the client leaves to its caller: secrets, files, TLS. Called on worker
 * threads, each function on one, a call at a time. */
struct client_hands {
	void *self;
	/* Prove that PATH leads to its root, for a circuit of DEPTH or more.
	 * P is affine. What goes wrong has been said to the user. */
	enum status (*mint)(void *self, struct semaphore_proof *p,
	    const struct group_proof *path, uint32_t depth,
	    const uint8_t scope[static 32], const uint8_t message[static 32]);
	/* Get the text of the member list, at most MAX bytes, if it is not the
	 * gateway's. PROXY, as in socks5h://USER:PASSWORD@HOST:PORT, is tor and
	 * a circuit of its own: who serves the list is not to learn who reads
	 * it. Out: *text, to be freed; NULL on failure, and why, for people.
	 * NULL where `own_list` is false. */
	enum status (*load)(void *self, char **text, size_t *len, size_t max,
	    char why[static CLIENT_WHY_MAX], const char *proxy);
};

enum client_note {
	NOTE_PROGRESS, /* what is being done; ends with the next note */
	NOTE_NEWS,
	NOTE_PROBLEM,
};

/* All strings and arrays stay as they are as long as the client lives. */
struct client_config {
	const char *listen[CLIENT_LISTENERS_MAX]; /* see listener_parse; a unix
	                                           * socket gets mode 0600 */
	size_t n_listen;
	endpoint_t tor; /* its SOCKS port */
	struct client_gateway gateways[SITE_GATEWAYS_MAX];
	unsigned n_gateways;
	bool own_list; /* hands.load gets the member list; else it is taken as
	                * the gateway publishes it */
	const char *token; /* NULL: none is good */
	bool same_user; /* let our own user's programs in without it */
	enum client_isolation isolation;
	const char *purse; /* a file (client/purse.h); NULL: in memory only */
	const char *status; /* a unix socket that tells client_status to whoever
	                     * connects; NULL: none */
	bool has_audience;
	uint8_t audience[32]; /* instead of the key in the onion address */
	uint8_t commitment[32];
	unsigned capacity; /* connections at once; 0: 256 */
	struct client_hands hands;

	/* In the loop. TEXT is for the user and has no line's end. */
	void *arg;
	void (*note)(void *arg, enum client_note kind, const char *text);
	/* A gateway can be used (told once), or none can for now. */
	void (*ready)(void *arg);
	void (*failed)(void *arg, const char *text);
};

/* Make a client and let it listen.
 * Out:     *c, for client_free; NULL on failure. *what, for people: a place
 *          that could not be listened at, or a file; "" for none.
 * Returns: ST_OK; ST_SYS with errno; ST_NO_MEMORY; ST_RANDOM; ST_PERMISSION
 *          (the purse); ST_BAD_VALUE, ST_BAD_ENCODING (an address to listen
 *          at). */
enum status client_new(struct client **c, struct loop *l,
    const struct client_config *config, const char **what) WARN_UNUSED;

/* Close all connections, wait for the workers, release; *C is NULL. */
void client_free(struct client **c);

/* The port of listener number I; 0 for a unix socket. */
uint16_t client_port(const struct client *c, size_t i);

/* All there is to know, as a JSON object, to be freed; NULL: no memory. */
char *client_status(const struct client *c);

#endif
