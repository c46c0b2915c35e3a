/* mix/inquiry.h: the member's end of an exchange with a gateway (mix/exchange.h).
 *
 * The request is cut into parts; each goes by a way of its own, with reply
 * blocks whose ways back differ too. The answer's parts come in any order and
 * are put together.
 *
 * Threads: the loop.
 */
#ifndef MIX_INQUIRY_H
#define MIX_INQUIRY_H

#include "mix/client.h"
#include "mix/exchange.h"

struct inquiry;

/* It is over: ST_OK with the answer, its result and flags; ST_IDLE: not all of
 * it came in time; ST_CORRUPT: the parts do not fit together. F is freed when
 * this returns. */
typedef void inquiry_done_fn(void *arg, enum status st,
    enum answer_result result, uint8_t flags, span_t bytes);

/* A gateway, as its members know it. */
struct inquiry_gate {
	endpoint_t at; /* where nodes deliver to it */
	uint8_t key[SPHINX_KEY_SIZE]; /* what requests are sealed for */
};

/* Ask GATE for R, with BLOCKS reply blocks: room for so many packets of answer.
 * Returns: ST_OK: DONE will be called once; ST_NO_SPACE (longer than
 *          EXCHANGE_PARTS_MAX packets, or BLOCKS out of range); as
 *          mix_client_surb and mix_client_send. *f is NULL on failure. */
enum status
inquiry_start(struct inquiry **f, struct mix_client *c, const struct outbox *o,
    const struct inquiry_gate *gate, const struct mix_request *r,
    unsigned blocks, uint64_t timeout_ms, inquiry_done_fn *done, void *arg)
    NONNULL_ARGS(1, 2, 3, 4, 5, 8) WARN_UNUSED;

/* Give it up: DONE is not called. NULL: nothing. */
void inquiry_free(struct inquiry **f) NONNULL;

#endif
