/* client/hop.h: a connection to an onion service through tor's SOCKS port.
 *
 * The handshake goes step by step, each answer awaited before the next message
 * is sent: tor drops its first reply when a client sends ahead. User and
 * password name the circuit (tor's IsolateSOCKSAuth, on by default): streams
 * with other names never share one.
 *
 * A hop lives in a slab of the client's. Before it is open its owner only
 * waits; then the owner reads and writes hop->conn, and may hand the stream to
 * a tunnel. It ends with `gone` (it has closed itself then, and the owner
 * forgets it) or with hop_close.
 */
#ifndef CLIENT_HOP_H
#define CLIENT_HOP_H

#include "base/slab.h"
#include "client/site.h"
#include "client/trouble.h"
#include "gate/audience.h"
#include "net/conn.h"
#include "net/dialer.h"
#include "net/tunnel.h"

struct client;
struct hop;

struct hop_ops {
	/* The onion service is there: write to h->conn. */
	void (*open)(struct hop *h);
	/* There is more in conn_unread(&h->conn). */
	void (*data)(struct hop *h);
	/* It has ended, and h is not to be used any more. WHY says what kept
	 * it from opening; TROUBLE_NOT_GATEWAY after that. DETAIL: more for
	 * people, "" for nothing. */
	void (*gone)(struct hop *h, enum trouble why, const char *detail);
	/* All that was written has left. NULL: nobody asks. */
	void (*drained)(struct hop *h);
};

enum hop_state {
	HOP_DIAL = 1,
	HOP_CHOICE,
	HOP_LOGIN,
	HOP_REPLY,
	HOP_OPEN,
	HOP_OVER,
};

struct hop {
	struct client *client;
	handle_t self, dial;
	enum hop_state state;
	const struct hop_ops *ops;
	void *owner;
	struct stream stream;
	struct conn conn;
	struct deadline deadline;
	struct task release;
	ip_t tor; /* counted by the dialer while `dialled` */
	bool dialled;
	char circuit[SITE_CIRCUIT_MAX];
	char onion[ONION_LENGTH + 1];
	uint16_t port;
};

/* Connect to PORT of ONION on the circuit CIRCUIT (both copied) for OWNER.
 * Returns: ST_OK (ops will be called); ST_BUSY. */
enum status
hop_start(struct hop **h, struct client *c, const char *onion, uint16_t port,
    const char *circuit, const struct hop_ops *ops, void *owner) WARN_UNUSED;

/* Close *H and null it; nobody is called. NULL is nothing. */
void hop_close(struct hop **h);

/* What the client's dialer tells. */
dialer_fn hop_dialled;

#endif
