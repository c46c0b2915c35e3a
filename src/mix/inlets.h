/* mix/inlets.h: the way in: connections that carry frames of 32,768 bytes.
 *
 * Each frame is read into a parcel of its own, which is taken when its first
 * byte comes and handed over when its last has: a connection that says nothing
 * holds no memory. A frame that is begun has to be completed in time. What a
 * connection leaves unfinished is dropped and counted.
 *
 * Anybody may connect; who it is is not asked. Connections are bounded, and for
 * one more another makes room (net/guests.h), so that nobody keeps the others
 * out by holding many.
 *
 * Threads: the loop.
 */
#ifndef MIX_INLETS_H
#define MIX_INLETS_H

#include "mix/parcel.h"
#include "mix/tls.h"
#include "net/listener.h"

struct inlets;

struct inlets_config {
	uint32_t capacity; /* connections at once */
	uint64_t frame_ms; /* a frame must be complete within */
	const struct tls *tls; /* NULL: plain */
	struct parcel_pool *pool;
	struct mix_counts *counts;
	/* A whole frame; P is the callee's. */
	void (*received)(void *arg, struct parcel *p);
	void *arg;
};

/* Listen at AT (port 0: the kernel's choice).
 * Returns: ST_OK; ST_NO_MEMORY; ST_SYS (errno). *i is NULL on failure. */
enum status inlets_new(struct inlets **i, struct loop *l, const endpoint_t *at,
    const struct inlets_config *config) NONNULL WARN_UNUSED;

/* Close all, free *I and null it. */
void inlets_free(struct inlets **i) NONNULL;

/* The port it listens at; connections that are open. */
uint16_t inlets_port(const struct inlets *i) NONNULL;
uint32_t inlets_open(const struct inlets *i) NONNULL;

#endif
