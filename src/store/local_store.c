#include "store/local_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/slab.h"

/* An answer that is still to come. */
struct answer {
	handle_t who;
	struct gate_grant grant;
};

struct local_store {
	struct ledger_store store; /* first: what the caller holds */
	struct gate *gate;
	struct journal *journal; /* NULL: memory only */

	struct slab answers;
	void *answer_memory;
	struct slab_slot *answer_slots;

	/* Without a journal: answers that are ready, in order. */
	int event_fd;
	handle_t *ready;
	uint32_t ready_cap;
	uint64_t told, asked; /* marks in the ring; only grow */

	/* Compaction, and where its walk over the ledger stands. */
	bool compacting, wanted;
	struct ledger_cursor cursor;
	struct ledger_record records[JOURNAL_COMPACT_MAX];
};

static struct local_store *
local(struct ledger_store *s)
{
	return (struct local_store *)(void *)s;
}

/* --- compaction --- */

static uint64_t
live_records(const struct local_store *l)
{
	struct ledger_stats stats;

	ledger_stats(&stats, &l->gate->ledger);
	return stats.entries;
}

/* Hand the journal the next part of the ledger, as it is at this moment. If
 * there is no room for it, it is read again later: a record that comes after a
 * newer one would take its place.
 * Returns: as the journal. ST_OK: there may be more. */
static enum status
compact_part(struct local_store *l)
{
	struct ledger_cursor next = l->cursor;
	enum status s;
	size_t n;

	ledger_walk(
	    l->records, &n, JOURNAL_COMPACT_MAX, &next, &l->gate->ledger);
	if (n == 0) {
		if ((s = journal_compact_end(l->journal)) == ST_OK)
			l->compacting = false;
		return s;
	}
	if ((s = journal_compact_add(l->journal, l->records, n)) == ST_OK)
		l->cursor = next;
	return s;
}

/* Move a compaction on, as far as the journal goes along. */
static void
compact_on(struct local_store *l)
{
	enum status s = ST_OK;

	while (l->compacting && s == ST_OK)
		s = compact_part(l);
	if (s != ST_OK && s != ST_BUSY) {
		l->compacting = false;
		l->wanted = true;
	}
}

static void
compact_if_wanted(struct local_store *l)
{
	if (l->compacting || l->journal == NULL)
		return;
	if (!l->wanted &&
	    !journal_wants_compaction(l->journal, live_records(l)))
		return;
	if (journal_compact(l->journal, l->gate->ledger.floor) != ST_OK)
		return;
	l->compacting = true;
	l->wanted = false;
	l->cursor = (struct ledger_cursor){0};
	compact_on(l);
}

/* --- the journal --- */

/* Write something down that nobody waits for. If that fails now, the whole
 * ledger is written when it works again. */
static void
note(struct local_store *l, const struct journal_entry *e)
{
	if (l->journal != NULL &&
	    journal_append(l->journal, e, (handle_t){0}) != ST_OK)
		l->wanted = true;
}

static void
note_count(struct local_store *l, const struct ledger_record *r)
{
	const struct journal_entry e = {.kind = JOURNAL_COUNT, .count = *r};

	note(l, &e);
}

/* The disk may be well again: see. */
static void
probe(struct local_store *l)
{
	const struct journal_entry mark = {.kind = JOURNAL_MARK};
	struct journal_health h;

	if (l->journal == NULL)
		return;
	journal_health(l->journal, &h);
	if (h.status != ST_OK)
		(void)!journal_append(l->journal, &mark, (handle_t){0});
}

/* --- the calls --- */

static void
answer(struct local_store *l, handle_t h, enum status s)
{
	struct answer *at = slab_at(&l->answers, h);
	struct answer a;

	if (at == NULL)
		return;
	a = *at;
	slab_release(&l->answers, h);
	if (s != ST_OK) {
		gate_refund(l->gate, &a.grant.tunnel);
		a.grant = (struct gate_grant){0};
	}
	l->store.settled(l->store.ctx, a.who, s, &a.grant);
}

static void
on_written(void *ctx, handle_t h, enum status s)
{
	answer(ctx, h, s);
}

/* Have R written at the next flush, or say at once that it is. */
static enum status
make_durable(struct local_store *l, const struct ledger_record *r, handle_t h)
{
	const struct journal_entry e = {.kind = JOURNAL_COUNT, .count = *r};

	if (l->journal != NULL)
		return journal_queue(l->journal, &e, h);
	l->ready[l->asked++ % l->ready_cap] = h;
	(void)!eventfd_write(l->event_fd, 1);
	return ST_OK;
}

static enum status
local_settle(struct ledger_store *s, struct gate_grant *grant,
    const struct gate_ticket *t, enum verdict verdict, handle_t who, now_t now)
{
	struct local_store *l = local(s);
	struct answer *a;
	void *slot;
	handle_t h;
	enum status st;

	*grant = (struct gate_grant){0};
	if (slab_take(&l->answers, &h, &slot) != ST_OK)
		return ST_OVERLOADED;
	if ((st = gate_settle(l->gate, grant, t, verdict, now)) != ST_OK) {
		slab_release(&l->answers, h);
		return st;
	}
	a = slot;
	*a = (struct answer){.who = who, .grant = *grant};
	if ((st = make_durable(l, &grant->record, h)) == ST_OK) {
		/* The tunnel comes with the answer, and only then. */
		grant->tunnel = (struct gate_tunnel){0};
		return ST_OK;
	}
	gate_refund(l->gate, &grant->tunnel);
	slab_release(&l->answers, h);
	*grant = (struct gate_grant){0};
	return st == ST_BUSY ? ST_OVERLOADED : st;
}

static enum status
local_add(struct ledger_store *s, struct gate_tunnel *tunnel, uint64_t up,
    uint64_t down)
{
	struct local_store *l = local(s);
	struct ledger_record r;
	bool due;
	enum status st = gate_tunnel_add(l->gate, tunnel, &r, &due, up, down);

	if (due)
		note_count(l, &r);
	return st;
}

static void
local_close(struct ledger_store *s, struct gate_tunnel *tunnel)
{
	struct local_store *l = local(s);
	struct ledger_record r;

	if (gate_tunnel_close(l->gate, tunnel, &r))
		note_count(l, &r);
}

static void
local_flush(struct ledger_store *s)
{
	struct local_store *l = local(s);

	if (l->journal != NULL)
		journal_wake(l->journal);
}

static int
local_fd(const struct ledger_store *s)
{
	const struct local_store *l =
	    (const struct local_store *)(const void *)s;

	return l->journal != NULL ? journal_fd(l->journal) : l->event_fd;
}

static void
local_dispatch(struct ledger_store *s)
{
	struct local_store *l = local(s);
	uint64_t until = l->asked;
	eventfd_t ignored;

	if (l->journal != NULL) {
		journal_dispatch(l->journal, on_written, l);
		compact_on(l);
		return;
	}
	(void)!eventfd_read(l->event_fd, &ignored);
	/* What is asked from inside an answer is answered next time. */
	while (l->told < until)
		answer(l, l->ready[l->told++ % l->ready_cap], ST_OK);
}

static void
local_tick(struct ledger_store *s, now_t now)
{
	struct local_store *l = local(s);
	struct journal_entry e = {.kind = JOURNAL_CLOSE};

	if (gate_tick(l->gate, &e.closed, now)) {
		e.floor = l->gate->ledger.floor;
		note(l, &e);
		/* A new file, without the tags of that epoch. */
		l->wanted = true;
	}
	probe(l);
	compact_if_wanted(l);
	compact_on(l);
}

static void
local_health(struct ledger_store *s, struct ledger_store_health *out)
{
	struct local_store *l = local(s);
	struct journal_health h = {0};

	if (l->journal != NULL)
		journal_health(l->journal, &h);
	*out = (struct ledger_store_health){
	    .status = h.status,
	    .error = h.error,
	    .pending = l->answers.used,
	    .records = h.records,
	    .bytes = h.bytes,
	    .synced = h.synced,
	    .syncs = h.syncs,
	    .failures = h.failures,
	    .compactions = h.compactions,
	    .compacting = h.compacting,
	};
}

static void
release(struct local_store *l)
{
	if (l->event_fd >= 0)
		close(l->event_fd);
	free(l->answer_memory);
	free(l->answer_slots);
	free(l->ready);
	free(l);
}

static void
local_free(struct ledger_store *s)
{
	struct local_store *l = local(s);

	if (l->journal != NULL)
		journal_close(&l->journal, on_written, l);
	else
		local_dispatch(s);
	release(l);
}

static void
local_compact(struct ledger_store *s)
{
	local(s)->wanted = true;
}

static const struct ledger_store_ops local_ops = {
    .settle = local_settle,
    .add = local_add,
    .close = local_close,
    .flush = local_flush,
    .fd = local_fd,
    .dispatch = local_dispatch,
    .tick = local_tick,
    .health = local_health,
    .compact = local_compact,
    .free = local_free,
};

/* --- start-up --- */

static enum status
on_replay(void *ctx, const struct journal_entry *e)
{
	struct local_store *l = ctx;
	struct ledger *ledger = &l->gate->ledger;

	if (e->kind == JOURNAL_COUNT)
		return ledger_restore(ledger, &e->count);
	if (e->kind == JOURNAL_CLOSE) {
		ledger_close(ledger, e->closed, e->floor);
		while (ledger_tidy(ledger, LEDGER_CHUNKS_MAX))
			;
		/* Its names are still in the file. */
		l->wanted = true;
	}
	return ST_OK;
}

static enum status
replay(struct local_store *l, struct journal_replayed *out, char *why)
{
	enum status s = journal_replay(l->journal, out, on_replay, l, why);

	if (s == ST_LEDGER_FULL)
		snprintf(why, JOURNAL_WHY_MAX,
		    "the journal has more members than the ledger may hold "
		    "(raise the limit of entries to what it was)");
	return s;
}

enum status
local_store_new(struct ledger_store **store, struct journal_replayed *replayed,
    struct gate *gate, struct journal *journal, uint32_t pending,
    ledger_settled_fn *settled, void *ctx, char why[static JOURNAL_WHY_MAX])
{
	struct local_store *l = calloc(1, sizeof(*l));
	enum status s = ST_NO_MEMORY;

	*store = NULL;
	*replayed = (struct journal_replayed){0};
	snprintf(why, JOURNAL_WHY_MAX, "out of memory");
	if (l == NULL) {
		journal_close(&journal, NULL, NULL);
		return s;
	}
	l->store = (struct ledger_store){&local_ops, settled, ctx};
	l->gate = gate;
	l->journal = journal;
	l->event_fd = -1;
	l->ready_cap = pending;
	l->answer_memory = calloc(pending, sizeof(struct answer));
	l->answer_slots = calloc(pending, sizeof(struct slab_slot));
	l->ready = calloc(pending, sizeof(*l->ready));
	if (pending == 0 || l->answer_memory == NULL ||
	    l->answer_slots == NULL || l->ready == NULL)
		goto out;
	slab_init(&l->answers, l->answer_memory, l->answer_slots,
	    sizeof(struct answer), pending);
	if (journal != NULL) {
		s = replay(l, replayed, why);
	} else if ((l->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0) {
		s = ST_SYS;
		snprintf(why, JOURNAL_WHY_MAX,
		    "eventfd: %s (raise the limit of descriptors)",
		    strerror(errno));
	} else {
		s = ST_OK;
	}
out:
	if (s != ST_OK) {
		journal_close(&l->journal, NULL, NULL);
		release(l);
		return s;
	}
	why[0] = '\0';
	*store = &l->store;
	return ST_OK;
}
