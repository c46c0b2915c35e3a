/* mix/exit_impl.h: what exit.c and exit_talk.c share.
 *
 * exit.c        parts, answers, life
 * exit_talk.c   the gate and the target
 */
#ifndef MIX_EXIT_IMPL_H
#define MIX_EXIT_IMPL_H

#include <openssl/types.h>

#include "base/slab.h"
#include "mix/exchange.h"
#include "mix/exit.h"
#include "net/wire.h"

/* The longest head and content of the gate's answer, and of our own head. */
#define GATE_HEAD_MAX 16384

_Static_assert(EXCHANGE_ID_SIZE == MIX_EXIT_ID, "one id for both");

enum exchange_state {
	GATHER, /* parts are coming */
	CALL, /* the CONNECT is being sent */
	ASK, /* the gate's answer is awaited */
	HANDSHAKE, /* TLS with the target */
	SPEAK, /* what the request has for the target is being sent */
	LISTEN, /* what the target says is coming */
};

struct exchange {
	struct mix_exit *exit;
	handle_t self;
	uint64_t number; /* the later, the larger */
	enum exchange_state state;
	uint8_t id[EXCHANGE_ID_SIZE];
	struct deadline late;

	/* The request. */
	uint16_t parts, have;
	uint8_t *part[EXCHANGE_PARTS_MAX];
	size_t part_len[EXCHANGE_PARTS_MAX];
	uint8_t *surbs; /* length u16 and block each */
	size_t surbs_len;
	unsigned surbs_n;
	uint8_t *request;
	size_t request_len;
	struct mix_request r;

	/* The way to the target. */
	struct wire wire;
	char head[GATE_HEAD_MAX]; /* ours, then the gate's */
	size_t head_len, sent;

	/* The answer: its first byte is the result. */
	uint8_t *answer;
	size_t answer_len, answer_cap; /* it grows as it comes */
	size_t answer_max; /* what there are reply blocks for */
	uint8_t flags;
};

struct mix_exit {
	struct outbox *outbox;
	struct mix_exit_config config;
	sphinx_key_t key;
	struct mix_exit_counts counts;
	uint64_t number; /* of the last exchange */
	size_t answers; /* bytes of all exchanges' answers */
	struct inbox *inbox;
	SSL_CTX *tls;
	struct slab slab;
	struct exchange *memory;
	struct slab_slot *slots;
};

/* Add to the answer; what is beyond its room is cut off.
 * Returns: false when there is no room left. */
bool exit_add_answer(struct exchange *x, const void *bytes, size_t len) NONNULL;

/* Send the answer back, as far as the reply blocks go; then X is gone. */
void exit_finish(struct exchange *x, enum answer_result result) NONNULL;

/* X has failed, and WHY for people; X is gone. */
void exit_fail(struct exchange *x, const char *why) NONNULL;

/* Ask the gate for what X's request wants and go on from there. X may be gone
 * when this returns. */
void exit_talk(struct exchange *x) NONNULL;

#endif
