/* store/ledger_store.h: who counts, and when a count is safe.
 *
 * The session asks one question, "may this request pass, and is that written
 * down?", and the answer may take a while: a disk has to sync, another machine
 * to reply. So counting is an asynchronous call with a few implementations
 * behind one table of functions: local_store.h (the gate's own ledger, with a
 * journal or without) and shared_store.h (one that several gateways share).
 *
 * The rule of the house: a request is served only after `settled` has been
 * told ST_OK. Answers come from ledger_store_dispatch, or, with a store that
 * has no descriptor, from the loop; never from inside the call that asked, so
 * the caller's state does not change under its feet.
 *
 * Threads: the loop.
 */
#ifndef STORE_LEDGER_STORE_H
#define STORE_LEDGER_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "gate/gate.h"
#include "postern/attr.h"
#include "postern/status.h"

struct ledger_store;

/* The answer for WHO, exactly once for each call that gave ST_OK.
 * STATUS is ST_OK: durable, serve the client; the tunnel in GRANT is open and
 * is to be closed with ledger_store_close, by the callee at once if the
 * session is gone. Any other status: not counted (any more), no tunnel;
 * ST_JOURNAL_FAILED, ST_LEDGER_UNREACHABLE, ST_EPOCH_PAST, ST_QUOTA_* (then
 * GRANT says what is left), ST_LEDGER_FULL. */
typedef void ledger_settled_fn(void *ctx, handle_t who, enum status status,
    const struct gate_grant *grant);

/* How it is doing: for readiness, status and metrics. */
struct ledger_store_health {
	enum status status; /* ST_OK, or why requests are refused now */
	int error; /* errno of the cause; 0: none */
	uint64_t pending; /* answers that are still to come */
	uint64_t records, bytes; /* in the journal; 0 without one */
	uint64_t synced; /* records that a crash of the machine spares */
	uint64_t syncs, failures, compactions; /* so far */
	bool compacting;
	/* Of a ledger that gateways share; zero of another. */
	bool shared, up; /* up: it is there, and counts */
	const char *why_down; /* for people; "" when it is up */
	uint64_t connects; /* times it came up */
	uint64_t timeouts; /* requests refused because no answer came */
	uint64_t owed; /* counted here, and not told it yet */
	uint64_t lost; /* that it will never be told */
};

struct ledger_store_ops {
	enum status (*settle)(struct ledger_store *s, struct gate_grant *grant,
	    const struct gate_ticket *t, enum verdict verdict, handle_t who,
	    now_t now);
	enum status (*add)(struct ledger_store *s, struct gate_tunnel *tunnel,
	    uint64_t up, uint64_t down);
	void (*close)(struct ledger_store *s, struct gate_tunnel *tunnel);
	void (*flush)(struct ledger_store *s); /* NULL: nothing waits for it */
	int (*fd)(const struct ledger_store *s);
	void (*dispatch)(struct ledger_store *s);
	void (*tick)(struct ledger_store *s, now_t now);
	void (*health)(struct ledger_store *s, struct ledger_store_health *out);
	void (*compact)(struct ledger_store *s); /* NULL: there is none */
	void (*free)(struct ledger_store *s);
};

struct ledger_store {
	const struct ledger_store_ops *ops;
	ledger_settled_fn *settled;
	void *ctx; /* its first argument */
};

/* Count one request of ticket T, whose proof got VERDICT, for WHO.
 * Out:     *grant: what is left, for the statuses of gate_settle that set it;
 *          never a tunnel.
 * Returns: ST_OK: an answer will come, after ledger_store_flush. Anything else
 *          is the answer, and nothing was counted: as gate_settle, and ST_JOURNAL_FAILED (can not
 *          be written down now), ST_LEDGER_UNREACHABLE, ST_OVERLOADED (too
 *          many are waiting). */
static inline enum status WARN_UNUSED
ledger_store_settle(struct ledger_store *s, struct gate_grant *grant,
    const struct gate_ticket *t, enum verdict verdict, handle_t who, now_t now)
{
	return s->ops->settle(s, grant, t, verdict, who, now);
}

/* What has been asked is all for now: have it written down. Once a round of the
 * loop, so that a journal's writer wakes once for all the requests of it. */
static inline void
ledger_store_flush(struct ledger_store *s)
{
	if (s->ops->flush != NULL)
		s->ops->flush(s);
}

/* A tunnel has carried bytes.
 * Returns: ST_OK; ST_QUOTA_BYTES, ST_EPOCH_PAST (as gate_tunnel_add): close it. */
static inline enum status WARN_UNUSED
ledger_store_add(struct ledger_store *s, struct gate_tunnel *tunnel,
    uint64_t up, uint64_t down)
{
	return s->ops->add(s, tunnel, up, down);
}

/* A tunnel has closed; *tunnel is none afterwards. */
static inline void
ledger_store_close(struct ledger_store *s, struct gate_tunnel *tunnel)
{
	s->ops->close(s, tunnel);
}

/* The descriptor to watch for reading; when it is readable, dispatch. -1:
 * there is none, and nothing to dispatch. */
static inline int
ledger_store_fd(const struct ledger_store *s)
{
	return s->ops->fd(s);
}

/* Give the answers that are ready. */
static inline void
ledger_store_dispatch(struct ledger_store *s)
{
	s->ops->dispatch(s);
}

/* To be called every second or so: epochs end, the journal is compacted and,
 * after a failure, tried again. Includes gate_tick. */
static inline void
ledger_store_tick(struct ledger_store *s, now_t now)
{
	s->ops->tick(s, now);
}

static inline void
ledger_store_health(struct ledger_store *s, struct ledger_store_health *out)
{
	s->ops->health(s, out);
}

/* Rewrite the journal without what is over, soon, though it is not long yet.
 * Returns: false: this ledger has nothing to compact. */
static inline bool
ledger_store_compact(struct ledger_store *s)
{
	if (s->ops->compact == NULL)
		return false;
	s->ops->compact(s);
	return true;
}

/* End it: what has been counted is written and synced first; answers that are
 * still to come are given, then nothing more is. *s is NULL afterwards. */
static inline void
ledger_store_free(struct ledger_store **s)
{
	if (*s != NULL)
		(*s)->ops->free(*s);
	*s = NULL;
}

#endif
