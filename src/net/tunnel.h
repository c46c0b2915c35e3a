/* net/tunnel.h: the relay between two streams.
 *
 * A tunnel is two ends that point at each other; all code moves bytes from an
 * end to its peer and does not know which of them is the client. An end that
 * is finished sending has this forwarded (half-close: shutdown(SHUT_WR) on the
 * peer); when both are, the tunnel is over with ST_CLOSED. If one resets, or
 * the tunnel is cut for any other reason, both are reset: a truncated stream
 * must not look like a whole one.
 *
 * A tunnel owns no buffer. Bytes stay in the kernel until the other side has
 * room for them: they are looked at (MSG_PEEK) in a scratch buffer that all
 * tunnels share, sent as far as the peer takes them, and only what was taken
 * is removed. Under load the bytes do not even enter the process: a direction
 * that moves much borrows a pipe and splices, and gives it back when it falls
 * silent. The pool of pipes is bounded; who gets none looks and sends. So the
 * high-water mark is the kernel's socket buffers plus one pipe, back-pressure
 * is TCP's own, and an idle tunnel costs sizeof(struct tunnel) and two
 * streams, some 700 bytes.
 *
 * No tunnel may hold the loop for more than a slice (TUNNEL_SLICE bytes a
 * direction); then it queues for the next round.
 *
 * It ends in one function, tunnel_close, which is idempotent, records the
 * first reason, and lets `over` be called from a task.
 */
#ifndef NET_TUNNEL_H
#define NET_TUNNEL_H

#include "net/chunk.h"
#include "net/stream.h"

struct tunnel;
struct relay;
struct relay_pipe;

/* What moves before others get a turn. */
#define TUNNEL_SLICE (512 * 1024)

/* end[TUNNEL_CLIENT] and end[TUNNEL_TARGET]: names for the outside only. */
enum tunnel_side {
	TUNNEL_CLIENT = 0,
	TUNNEL_TARGET = 1,
};

struct tunnel_ops {
	/* How many bytes may pass from side FROM now; 0 ends the tunnel with
	 * ST_QUOTA_BYTES once there is a byte to move. Asked before each move,
	 * so that not one byte more passes. NULL: no limit but the ceilings. */
	uint64_t (*allow)(struct tunnel *t, enum tunnel_side from);
	/* BYTES more have passed from side FROM. NULL: nobody counts. May call
	 * tunnel_close. */
	void (*moved)(struct tunnel *t, enum tunnel_side from, uint64_t bytes);
	/* The tunnel is over and the streams are closed. Called once, from a
	 * task: T may be freed here. */
	void (*over)(struct tunnel *t, enum status reason);
};

struct tunnel_limits {
	uint64_t idle_ms; /* no byte either way for so long; 0: for ever */
	uint64_t lifetime_ms; /* open for so long; 0: for ever */
	uint64_t up_max, down_max; /* bytes from client, from target; 0: any */
};

struct tunnel_end {
	struct tunnel_end *peer;
	struct tunnel *tunnel;
	struct stream *stream;
	struct chunk *early; /* read before the tunnel was: goes first */
	struct relay_pipe *pipe; /* borrowed while this end sends much */
	uint64_t moved; /* bytes that came from here and went to the peer */
	uint64_t ceiling; /* of moved */
	bool eof; /* it will send no more */
	bool shut; /* and its peer has been told */
	bool bulk; /* it sends much: splice */
};

struct tunnel {
	struct tunnel_end end[2];
	struct relay *relay;
	const struct tunnel_ops *ops;
	struct deadline deadline; /* the nearer of idle and lifetime */
	struct task task; /* the next slice, or the end */
	uint64_t born, last; /* when it began, when a byte last moved */
	uint64_t idle_ms, lifetime_ms;
	enum status reason; /* ST_OK while it lives */
};

struct relay_config {
	uint32_t pipes; /* at most so many, two descriptors each; 0: none */
	uint32_t pipe_size; /* bytes; 0: 256 KiB */
	uint32_t scratch_size; /* bytes; 0: 256 KiB */
};

/* What the tunnels of a loop share. CHUNKS is where early bytes came from.
 * The process ignores SIGPIPE from now on: splice has no MSG_NOSIGNAL.
 * Returns: ST_OK; ST_NO_MEMORY. */
enum status relay_new(struct relay **r, struct loop *l,
    struct chunk_pool *chunks, const struct relay_config *config) WARN_UNUSED;

/* Free *R and null it; every tunnel is over. */
void relay_free(struct relay **r);

struct relay_counts {
	uint32_t tunnels; /* open */
	uint32_t pipes_lent, pipes_kept;
	uint64_t bytes[2]; /* by the side they came from */
};

const struct relay_counts *relay_counts(struct relay *r);

/* Join CLIENT and TARGET, both open, whose handlers are taken over and which
 * stay in their owner's memory until `over`. EARLY (NULL: none) are bytes of
 * the client that go first; the tunnel owns the chunk now. Nothing is called
 * back from here; the first bytes move in this round's tasks. */
void tunnel_start(struct tunnel *t, struct relay *r, struct stream *client,
    struct stream *target, struct chunk *early,
    const struct tunnel_limits *limits, const struct tunnel_ops *ops);

/* End T for REASON: ST_CLOSED, ST_RESET, ST_IDLE, ST_LIFETIME,
 * ST_QUOTA_BYTES, ST_DRAINING, ST_SYS... Both streams are closed here, with
 * RST unless REASON is ST_CLOSED; `over` follows from a task. The first reason
 * counts; later calls do nothing. */
void tunnel_close(struct tunnel *t, enum status reason);

/* Bytes that passed from side FROM: what was taken out of its stream. */
uint64_t tunnel_bytes(const struct tunnel *t, enum tunnel_side from);

#endif
