/* client/client_impl.h: what the parts of the client share. Private to the
 * folder.
 */
#ifndef CLIENT_CLIENT_IMPL_H
#define CLIENT_CLIENT_IMPL_H

#include "base/slab.h"
#include "client/client.h"
#include "client/purse.h"
#include "client/roster.h"
#include "net/chunk.h"
#include "net/dialer.h"
#include "net/listener.h"
#include "net/pool.h"
#include "net/tunnel.h"

/* Circuits that are remembered, by the hash of what they are for. */
#define CLIENT_CIRCUITS 1024

/* Input and output of the worker that reads member lists. */
struct roster_job {
	const char *text; /* the door's; NULL: hands.load gets it */
	size_t len;
	char proxy[ENDPOINT_TEXT_MAX + SITE_CIRCUIT_MAX + 16];
	uint8_t commitment[32];

	enum status status;
	struct roster roster;
	char why[CLIENT_WHY_MAX];
};

/* Input and output of the worker that makes proofs. */
struct mint_job {
	struct group_proof path;
	uint32_t depth; /* of the tree */
	uint64_t epoch, ends;
	uint16_t slot;
	bool compact; /* the token may leave out message and scope */
	uint8_t scope[32], message[32];

	enum status status;
	char token[PURSE_TOKEN_MAX + 1];
	uint64_t ns; /* that it took */
};

/* What streams for one purpose are isolated by. */
struct circuit {
	uint64_t hash, generation;
	uint64_t opened, used; /* loop_now; 0: not yet */
};

struct door;

struct client {
	struct loop *loop;
	struct client_config config;
	struct purse purse;
	struct chunk_pool chunks;
	struct relay *relay;
	struct dialer *dialer;
	struct pool *readers, *minters;

	struct door *doors; /* config.n_gateways of them */
	struct slab errands, hops;
	void *errand_memory, *hop_memory;
	struct slab_slot *errand_slots, *hop_slots;

	struct listener *listeners[CLIENT_LISTENERS_MAX];
	struct listener *status_listener;
	struct circuit circuits[CLIENT_CIRCUITS];
	uint64_t generation; /* of the next fresh circuit */

	bool ready_told;
	uint64_t requests, opened, refused, tunnels;
	struct task wake; /* errands that wait for a proof ask again */
};

/* Tell the user. */
void client_note(struct client *c, enum client_note kind, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* Something has changed at a door: let errands that wait look again, and tell
 * ready() or failed(). */
void client_changed(struct client *c);

/* The circuit for HASH, which is begun when it is not there; a fresh one, when
 * the last did not work. */
struct circuit *client_circuit(struct client *c, uint64_t hash);
struct circuit *client_fresh_circuit(struct client *c, uint64_t hash);

#endif
