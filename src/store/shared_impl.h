/* store/shared_impl.h: what shared_store.c and shared_talk.c share.
 *
 * shared_store.c   the calls of ledger_store.h, answers, falling back, life
 * shared_talk.c    commands to the server and what it says
 *
 * An op is one command that changes something. Ops are in three lists, always
 * in the order of their numbers from the first of `held` to the last of
 * `queued`:
 *
 *	queued	to be sent
 *	sent	the answers come in this order
 *	held	counted, and waiting until replicas have it
 *
 * When the connection is lost all of them are queued again, in their order.
 */
#ifndef STORE_SHARED_IMPL_H
#define STORE_SHARED_IMPL_H

#include <openssl/sha.h>

#include "base/list.h"
#include "base/slab.h"
#include "store/shared_store.h"

enum op_kind {
	OP_COUNT, /* a request; somebody waits, unless late */
	OP_ADD, /* differences */
	OP_CANCEL, /* the count with this number, if it was made */
	OP_BEAT, /* we are alive */
	OP_WAIT, /* until replicas have all that was sent before */
};

struct op {
	struct list_node node;
	handle_t self;
	enum op_kind kind;
	bool tried; /* sent before, on a connection that was lost */
	bool late; /* nobody waits for this count any more */
	uint16_t group;
	uint64_t seq;
	uint64_t since; /* of a count: when it was asked for (mono) */
	uint64_t sent_at; /* (mono) */
	member_t member;
	handle_t who;
	/* Differences, of OP_ADD; when requests are taken back, so is what they
	 * took of GROUP's rate. */
	int32_t requests, tunnels;
	uint64_t up, down;
	usage_t usage; /* of a count that is held */
};

/* An answer that is ready before the server has said anything. */
struct told {
	handle_t who;
	enum status status;
	struct gate_grant grant;
};

enum shared_phase {
	SHARED_DOWN,
	SHARED_LOADING, /* the script */
	SHARED_HELLO,
	SHARED_UP,
};

struct shared_store {
	struct ledger_store store; /* first: what the caller holds */
	struct loop *loop;
	struct gate *gate;
	struct redis_link *link;
	char prefix[SHARED_PREFIX_MAX];
	char id[17], digest[65]; /* hexadecimal */
	char script[2 * SHA_DIGEST_LENGTH + 1];
	unsigned timeout_ms, lease_ms;
	uint32_t replicas;
	bool fall_back;

	enum shared_phase phase;
	uint64_t phase_at; /* mono */
	char why_down[REDIS_LINK_WHY_MAX];
	uint64_t beat_at; /* mono */

	struct slab ops;
	void *op_memory;
	struct slab_slot *op_slots;
	struct list_node queued, sent, held;
	uint32_t on_the_way; /* in `sent` */
	uint64_t seq; /* the last number */
	bool wait_wanted; /* a count was sent since the last OP_WAIT */
	struct task send;
	struct deadline clock;

	struct told *told; /* a ring */
	uint32_t told_cap, told_first, told_n;
	struct task tell;

	uint64_t waiting; /* counts that somebody waits for */
	uint64_t open; /* tunnels, each of which will need an op to close */
	uint64_t owed, lost, connects, timeouts;
};

/* --- shared_talk.c --- */

extern const struct redis_link_ops shared_link_ops;

/* Put a new op at the end of the queue.
 * Returns: NULL when there is none left. */
struct op *shared_op_new(struct shared_store *l, enum op_kind kind);
void shared_op_free(struct shared_store *l, struct op *op);

/* Queue differences for MEMBER; there is an op for it by the account that
 * shared_store.c keeps. If there is none after all, it is counted as lost. */
void shared_owe(struct shared_store *l, const member_t *member,
    int32_t requests, int32_t tunnels, uint64_t up, uint64_t down);

/* The same for a request that COUNTED has counted, and all that came with it. */
void shared_take_back(struct shared_store *l, const struct op *counted);

/* Send what is queued, as far as it can be. */
void shared_send(struct shared_store *l);

/* What goes wrong with time: the server's silence. */
void shared_look_at_clock(struct shared_store *l, uint64_t mono);

/* --- shared_store.c --- */

now_t shared_now(const struct shared_store *l);

/* OP, a count that somebody waits for, has its answer; OP is gone. */
void shared_refuse(struct shared_store *l, struct op *op, enum status status,
    const usage_t *usage);
void
shared_confirm(struct shared_store *l, struct op *op, const usage_t *usage);

/* The server is not to be had: whoever can be helped otherwise, is. */
void shared_lost_touch(struct shared_store *l);

#endif
