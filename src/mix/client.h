/* mix/client.h: send messages into the mixnet and wait for replies.
 *
 * A client has an inbox, the address that its reply blocks lead to. A reply
 * block is made for one reply; the client keeps what opens it until the reply
 * comes or its time is over.
 *
 * Loops, messages to the client's own inbox, are sent the same way and look
 * the same to everybody else (mix/loops.h).
 *
 * Threads: the loop.
 */
#ifndef MIX_CLIENT_H
#define MIX_CLIENT_H

#include "base/slab.h"
#include "mix/inbox.h"
#include "mix/outbox.h"

struct mix_client;

/* What a reply block came to: ST_OK with the reply, valid until this returns;
 * ST_IDLE: nothing came in time; ST_CORRUPT: something came and does not
 * open (it was changed on its way). */
typedef void
mix_reply_fn(void *arg, enum status st, const uint8_t *reply, size_t len);

struct mix_client_config {
	endpoint_t listen; /* of the inbox; port 0: the kernel's choice */
	endpoint_t address; /* as nodes reach it; port 0: the inbox's port */
	double mean_ms; /* of each hop's delay */
	uint32_t replies; /* reply blocks that may be out at once; 0: 256 */
	/* A message other than a reply, delivered to this inbox; NULL: they are
	 * dropped. */
	void (*message)(void *arg, const sphinx_message_t *m);
	void *arg;
};

/* Make a client that sends through O.
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS; ST_BAD_LENGTH (the address does not
 *          fit a tag). *c is NULL on failure. */
enum status mix_client_new(struct mix_client **c, struct outbox *o,
    const struct mix_client_config *config) NONNULL WARN_UNUSED;

/* Forget what is out (nobody is called), free *C and null it. */
void mix_client_free(struct mix_client **c) NONNULL;

/* The tag of the client's own inbox. */
const uint8_t *mix_client_tag(const struct mix_client *c) NONNULL;
uint16_t mix_client_port(const struct mix_client *c) NONNULL;

/* A way there, and what it asks of its hops. */
struct mix_way {
	sphinx_path_t path;
	path_nodes_t nodes;
	uint64_t delay_ms; /* of all hops together */
};

/* Choose a way to TAG that avoids AVOID's nodes (or NULL).
 * Returns: as outbox_path. */
enum status mix_client_way(struct mix_client *c, struct mix_way *way,
    const struct mix_way *avoid, const uint8_t tag[static SPHINX_KEY_SIZE])
    NONNULL_ARGS(1, 2, 4) WARN_UNUSED;

/* Make a reply block along WAY, which leads to this client's tag. FN is called
 * once, within TIMEOUT_MS.
 * Out:     *reply names it, for mix_client_forget.
 * Returns: ST_OK; ST_BUSY (too many are out); as sphinx_surb_build. */
enum status mix_client_surb(struct mix_client *c, sphinx_surb_t *surb,
    handle_t *reply, const struct mix_way *way, uint64_t timeout_ms,
    mix_reply_fn *fn, void *arg) NONNULL_ARGS(1, 2, 3, 4, 6) WARN_UNUSED;

/* Do not wait for a reply any more: FN is not called. */
void mix_client_forget(struct mix_client *c, handle_t reply) NONNULL;

/* Send M along WAY. Returns: as outbox_send; ST_NO_SPACE (too long). */
enum status mix_client_send(struct mix_client *c, const struct mix_way *way,
    const sphinx_message_t *m) NONNULL WARN_UNUSED;

/* Send BODY as a request to the service at TO and wait for its reply.
 * Returns: as the functions above. */
enum status mix_client_ask(struct mix_client *c, const endpoint_t *to,
    const void *body, size_t len, uint64_t timeout_ms, mix_reply_fn *fn,
    void *arg) NONNULL_ARGS(1, 2, 6) WARN_UNUSED;

#endif
