/* tor/control.h: the tor beside us, over its control port.
 *
 * One connection to tor's ControlPort or ControlSocket: authenticate, learn
 * what tor is doing, be told when it restarts, close a circuit that abuses us.
 * The gateway works without it; with it, it can act on what it sees.
 *
 * Authentication is SAFECOOKIE (control-spec, 3.24): both sides prove that they
 * know the cookie by HMAC-SHA-256 over fresh nonces, so that neither shows it
 * to an impostor. With a cookie that is configured it is nothing else; with a
 * password alone, that; with neither, none if tor asks for none, or the cookie
 * that tor names. The plain COOKIE method, which hands the cookie to whoever
 * listens there, is never used. A command with a secret (control_config.add)
 * wants a unix socket or a cookie that is configured.
 *
 * The number in the PROXY line is what the control port calls a CircuitID:
 * CLOSECIRCUIT with it ends that client's circuit and no other (tried with tor
 * 0.4.9.11; the gateway's side sees the end 0.2 ms later).
 *
 * When the connection is lost it is made again with a back-off of 1 s doubling
 * to 60 s. A new connection is to the same tor process if it has the same pid
 * and began at the same time (GETINFO process/pid, uptime). If not, circuit
 * ids have begun anew, and the owner must forget what it knows of circuits.
 *
 * An onion service of our own (ADD_ONION) ends with the connection that asked
 * for it, so it is asked for on each.
 *
 * The cookie is read from a file, in the loop, once a connection; a sandbox
 * has to let that through. Circuit ids never reach a log. Callbacks come from
 * the loop; control_free may not be called in one.
 */
#ifndef TOR_CONTROL_H
#define TOR_CONTROL_H

#include "base/ip.h"
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
	bool onion_added; /* tor has taken control_config.add */
	bool onion_refused; /* ... or has refused it */
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
	const char *add; /* an ADD_ONION command (tor/onion_key.h) for each
	                  * connection, or NULL; a secret */
	const char *password; /* for HASHEDPASSWORD; NULL: none */
	const char *onion; /* 56 characters, whose descriptor counts; NULL: of
	                    * any service of this tor */
	unsigned retry_ms; /* the first back-off; 0: 1000 */
	const struct control_ops *ops;
	void *arg;
};

/* Start connecting; the result comes through ops->changed. CONFIG's strings
 * are copied.
 * Returns: ST_OK; ST_NO_MEMORY; ST_RANDOM; ST_BAD_LENGTH (a path, password, onion
 *          or command); ST_BAD_VALUE (no address); ST_PERMISSION (a command
 *          with a secret, at a port whose tor could not prove itself). */
enum status control_new(struct control **c, struct loop *l,
    const struct control_config *config) WARN_UNUSED;

void control_free(struct control **c);

const struct control_info *control_info(const struct control *c);

/* Ask tor to close circuit ID (the one of the PROXY line: tor's global
 * identifier). Fire and forget: a circuit that is gone already is fine.
 * Returns: ST_OK; ST_BUSY (not connected, or too many requests wait). */
enum status control_close_circuit(struct control *c, uint32_t id) WARN_UNUSED;

#endif
