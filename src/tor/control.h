/* tor/control.h: the tor beside us, over its control port.
 *
 * One connection to tor's ControlPort or ControlSocket: authenticate, learn
 * what tor is doing, be told when it restarts, close a circuit that abuses us.
 * The gateway works without it; with it, it can act on what it sees.
 *
 * Authentication is SAFECOOKIE (control-spec 3.24): both sides prove that they
 * know the cookie by HMAC-SHA-256 over fresh nonces, so that neither shows it
 * to an impostor. NULL authentication and HASHEDPASSWORD are used where that
 * is what PROTOCOLINFO offers and the configuration allows.
 *
 * When the connection is lost it is made again with a back-off of 1 s doubling
 * to 60 s. Each new connection tells whether it is the same tor process as
 * before (GETINFO process/pid and the order of circuit ids): after a restart
 * circuit ids begin anew, and the owner must forget what it knows of circuits.
 *
 * Circuit ids never reach a log.
 */
#ifndef TOR_CONTROL_H
#define TOR_CONTROL_H

#include "base/ip.h"
#include "base/span.h"
#include "net/loop.h"

struct control;

enum control_state {
	CONTROL_DOWN, /* not connected; trying */
	CONTROL_GREETING, /* connected, not authenticated yet */
	CONTROL_UP,
};

/* What is known of tor; strings are empty when not. */
struct control_info {
	enum control_state state;
	enum status why_down; /* ST_OK, or why the last connection ended:
	                       * ST_SYS, ST_PERMISSION, ST_FOREIGN (it failed
	                       * to prove the cookie), ST_BAD_ENCODING... */
	char version[64];
	bool circuit_established; /* status/circuit-established */
	int bootstrap; /* per cent; -1: not known */
	bool onion_published; /* a descriptor was uploaded (HS_DESC UPLOADED) */
	uint32_t pid; /* of tor; 0: not known */
	uint64_t connects; /* times the connection came up */
	uint64_t circuits_closed; /* by us */
};

struct control_ops {
	/* Something in control_info changed. */
	void (*changed)(void *arg);
	/* tor restarted (or may have): circuit ids have a new meaning. */
	void (*restarted)(void *arg);
	/* Circuit ID is gone (only if events are asked for). May be NULL. */
	void (*circuit_gone)(void *arg, uint32_t id);
};

struct control_config {
	const char *path; /* a unix socket, or NULL */
	endpoint_t at; /* or, without a path, an address */
	const char *cookie_path; /* NULL: what PROTOCOLINFO says */
	const char *password; /* for HASHEDPASSWORD; NULL: none */
	const struct control_ops *ops;
	void *arg;
};

/* Start connecting; the result comes through ops->changed. CONFIG's strings
 * are copied. Returns: ST_OK; ST_NO_MEMORY; ST_BAD_LENGTH (a path). */
enum status control_new(struct control **c, struct loop *l,
    const struct control_config *config) WARN_UNUSED;

void control_free(struct control **c);

const struct control_info *control_info(const struct control *c);

/* Ask tor to close circuit ID (the one of the PROXY line: tor's global
 * identifier). Fire and forget: a circuit that is gone already is fine.
 * Returns: ST_OK; ST_BUSY (not connected, or too many requests wait). */
enum status control_close_circuit(struct control *c, uint32_t id) WARN_UNUSED;

#endif
