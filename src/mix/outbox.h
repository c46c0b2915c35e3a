/* mix/outbox.h: what everybody needs who sends packets: memory for them, links,
 * the registry that says where nodes are, and the packet's ciphers.
 *
 * A node, a client and a service each have one.
 *
 * Threads: the loop.
 */
#ifndef MIX_OUTBOX_H
#define MIX_OUTBOX_H

#include "mix/links.h"
#include "mix/parcel.h"
#include "mix/path.h"

struct outbox_config {
	enum sphinx_suite suite;
	size_t parcels; /* at once, in and out; 0: 2048 (64 MiB) */
	uint32_t links; /* at once; 0: 256 */
	uint32_t queue_max; /* parcels a link; 0: half of all */
	const struct mix_random *random; /* NULL: the system's */
	const uint8_t *tls_secret; /* to accept TLS too; NULL: only connect */
};

struct outbox {
	struct loop *loop;
	struct outbox_config config;
	struct sphinx *sphinx;
	struct tls *tls;
	struct parcel_pool pool;
	struct links *links;
	struct registry *registry; /* owned; NULL until it is set */
	struct mix_counts counts;
};

/* Set O up; ARG is what parcel_hold's `released` gets.
 * Returns: ST_OK; ST_NO_MEMORY; ST_RANDOM; as sphinx_new and tls_new. On
 *          failure O is clear. */
enum status outbox_init(struct outbox *o, struct loop *l,
    const struct outbox_config *config, void *arg)
    NONNULL_ARGS(1, 2, 3) WARN_UNUSED;

/* Close links, drop parcels, free the registry. */
void outbox_clear(struct outbox *o) NONNULL;

/* Take over R instead of the registry there is. */
void outbox_set_registry(struct outbox *o, struct registry *r) NONNULL;

/* Unix time in seconds, by the loop. */
int64_t outbox_now(const struct outbox *o) NONNULL;

/* Send P's packet to the node with this ID or key.
 * Returns: ST_OK; ST_NOT_FOUND: not in the registry; P is dropped, counted. */
enum status outbox_post(struct outbox *o, struct parcel *p,
    const uint8_t id[static SPHINX_KEY_SIZE]) NONNULL WARN_UNUSED;

/* Choose a path whose last hop hands over to TAG, avoiding AVOID (or NULL).
 * Returns: ST_OK; ST_MISSING (no registry, or a layer without our suite). */
enum status outbox_path(const struct outbox *o, sphinx_path_t *path,
    path_nodes_t *nodes, double mean_ms, const path_nodes_t *avoid,
    const uint8_t tag[static SPHINX_KEY_SIZE])
    NONNULL_ARGS(1, 2, 3, 6) WARN_UNUSED;

/* Build a packet with MESSAGE for PATH and send it.
 * Returns: ST_OK; ST_BUSY (no parcel); as sphinx_build and outbox_post. */
enum status outbox_send(struct outbox *o, const sphinx_path_t *path,
    const void *message, size_t len) NONNULL_ARGS(1, 2) WARN_UNUSED;

/* Send REPLY back along SURB. Returns: as outbox_send, sphinx_surb_use. */
enum status outbox_reply(struct outbox *o, const uint8_t *surb, size_t surb_len,
    const void *reply, size_t len) NONNULL_ARGS(1, 2) WARN_UNUSED;

#endif
