#include "gate/ledger.h"

#include <string.h>

#include "base/bytes.h"

#define BUCKET_ENTRIES 6
/* Grow when there are more than 7 entries in room for 10. */
#define FILL_NUMERATOR 7
#define FILL_DENOMINATOR 10

struct entry {
	uint8_t tag[MEMBER_TAG];
	uint32_t requests;
	uint16_t tunnels;
	uint8_t full_at[6], bytes_up[6],
	    bytes_down[6]; /* 48 bits, little-endian */
};

struct bucket {
	uint32_t next; /* overflow bucket, index + 1; 0: none */
	uint32_t used; /* entries; they stand at the front */
	uint8_t pad[8];
	struct entry entries[BUCKET_ENTRIES];
};

_Static_assert(sizeof(struct entry) == LEDGER_ENTRY, "no padding");
_Static_assert(sizeof(struct bucket) == 256, "four cache lines");
#define CHUNK_BUCKETS (LEDGER_CHUNK / sizeof(struct bucket))

static uint64_t
load_48(const uint8_t in[static 6])
{
	return (uint64_t)in[5] << 40 | (uint64_t)in[4] << 32 | load_le32(in);
}

static void
store_48(uint8_t out[static 6], uint64_t v)
{
	store_le32(out, (uint32_t)v);
	out[4] = (uint8_t)(v >> 32);
	out[5] = (uint8_t)(v >> 40);
}

/* --- chunks --- */

size_t
ledger_chunks(uint64_t entries)
{
	/* Buckets at the fill above, a fifth more for overflow (measured: 0.13
	 * to 0.18), and the first chunk of each kind. */
	uint64_t buckets =
	    entries / BUCKET_ENTRIES * FILL_DENOMINATOR / FILL_NUMERATOR;
	uint64_t chunks = (buckets + buckets / 5) / CHUNK_BUCKETS + 2;

	return chunks < LEDGER_CHUNKS_MAX ? 2 * (size_t)chunks
					  : 2 * (size_t)LEDGER_CHUNKS_MAX;
}

/* Take one more chunk for T, if the ceilings allow it. */
static void *
chunk_take(struct ledger *l, const struct ledger_epoch *t)
{
	size_t own = (size_t)t->front + t->back;
	void *chunk;

	if (own >= LEDGER_CHUNKS_MAX || (own > 0 && own >= l->chunks_max / 2))
		return NULL;
	/* What is over makes room, if it has not yet. */
	if (l->chunks >= l->chunks_max)
		(void)ledger_tidy(l, 1);
	if (l->chunks >= l->chunks_max)
		return NULL;
	if ((chunk = l->memory.take(l->memory.ctx)) != NULL)
		l->chunks++;
	return chunk;
}

static void
chunk_give(struct ledger *l, void *chunk)
{
	l->memory.give(l->memory.ctx, chunk);
	l->chunks--;
}

static struct bucket *
bucket_at(const struct ledger_epoch *t, uint32_t index)
{
	struct bucket *chunk = t->chunks[index / CHUNK_BUCKETS];

	return &chunk[index % CHUNK_BUCKETS];
}

/* Overflow buckets stand in the chunks from the back. PLACE is index + 1. */
static struct bucket *
overflow_at(const struct ledger_epoch *t, uint32_t place)
{
	uint32_t index = place - 1;
	size_t which = LEDGER_CHUNKS_MAX - 1 - index / CHUNK_BUCKETS;
	struct bucket *chunk = t->chunks[which];

	return &chunk[index % CHUNK_BUCKETS];
}

static struct bucket *
bucket_next(const struct ledger_epoch *t, const struct bucket *b)
{
	return b->next != 0 ? overflow_at(t, b->next) : NULL;
}

static void
overflow_give(struct ledger_epoch *t, uint32_t place)
{
	struct bucket *b = overflow_at(t, place);

	b->used = 0;
	b->next = t->spare;
	t->spare = place;
	t->spares++;
}

/* Have at least N spare overflow buckets.
 * Returns: false when there is no memory for them. */
static bool
overflow_reserve(struct ledger *l, struct ledger_epoch *t, uint32_t n)
{
	while (t->spares < n) {
		if (t->overflow == t->back * CHUNK_BUCKETS) {
			void *chunk = chunk_take(l, t);
			if (chunk == NULL)
				return false;
			t->chunks[LEDGER_CHUNKS_MAX - 1 - t->back++] = chunk;
		}
		overflow_give(t, ++t->overflow);
	}
	return true;
}

/* Hang one of the spare buckets, of which there must be one, behind LAST. */
static struct bucket *
overflow_append(struct ledger_epoch *t, struct bucket *last)
{
	uint32_t place = t->spare;
	struct bucket *b = overflow_at(t, place);

	t->spare = b->next;
	t->spares--;
	b->next = 0;
	last->next = place;
	return b;
}

/* --- epochs --- */

/* Where EPOCH's table is; LEDGER_EPOCHS when it has none. */
static unsigned
epoch_index(const struct ledger *l, uint64_t epoch)
{
	unsigned i = 0;

	while (i < LEDGER_EPOCHS &&
	    (l->epochs[i].state != LEDGER_LIVE || l->epochs[i].epoch != epoch))
		i++;
	return i;
}

/* Make an empty table for EPOCH; NULL when there is no room for one. */
static struct ledger_epoch *
epoch_new(struct ledger *l, uint64_t epoch)
{
	for (unsigned i = 0; i < LEDGER_EPOCHS; i++) {
		struct ledger_epoch *t = &l->epochs[i];
		if (t->state != LEDGER_FREE)
			continue;
		memset(t, 0, sizeof(*t));
		if ((t->chunks[0] = chunk_take(l, t)) == NULL)
			return NULL;
		t->state = LEDGER_LIVE;
		t->epoch = epoch;
		t->front = 1;
		t->buckets = CHUNK_BUCKETS;
		t->mask = 2 * CHUNK_BUCKETS - 1;
		return t;
	}
	return NULL;
}

void
ledger_init(struct ledger *l, const struct ledger_memory *memory,
    size_t chunks_max, uint64_t hold, uint64_t floor)
{
	memset(l, 0, sizeof(*l));
	l->memory = *memory;
	l->chunks_max = chunks_max;
	l->hold = hold;
	l->floor = floor;
}

void
ledger_clear(struct ledger *l)
{
	for (unsigned i = 0; i < LEDGER_EPOCHS; i++) {
		if (l->epochs[i].state == LEDGER_LIVE)
			l->epochs[i].state = LEDGER_DYING;
	}
	while (ledger_tidy(l, LEDGER_CHUNKS_MAX))
		;
}

void
ledger_close(struct ledger *l, uint64_t epoch, uint64_t floor)
{
	unsigned i = epoch_index(l, epoch);

	if (i < LEDGER_EPOCHS)
		l->epochs[i].state = LEDGER_DYING;
	if (l->floor < floor)
		l->floor = floor;
}

/* T has been out of reach, from FIRST to LAST, for long enough. */
static bool
is_away(const struct ledger *l, struct ledger_epoch *t, uint64_t first,
    uint64_t last, uint64_t mono)
{
	bool away = t->epoch < first || t->epoch > last + 1;

	if (away && !t->away)
		t->since = mono;
	t->away = away;
	return away && mono - t->since >= l->hold;
}

bool
ledger_turn(struct ledger *l, uint64_t *closed, uint64_t first, uint64_t last,
    uint64_t mono)
{
	const struct ledger_epoch *over = NULL, *farthest = NULL;
	bool full = true;

	*closed = 0;
	for (unsigned i = 0; i < LEDGER_EPOCHS; i++) {
		struct ledger_epoch *t = &l->epochs[i];
		full = full && t->state == LEDGER_LIVE;
		if (t->state != LEDGER_LIVE ||
		    !is_away(l, t, first, last, mono))
			continue;
		if (t->epoch < first)
			over = t;
		else if (farthest == NULL || t->epoch > farthest->epoch)
			farthest = t;
	}
	if (over != NULL) {
		*closed = over->epoch;
		ledger_close(l, over->epoch, over->epoch + 1);
	} else if (full && farthest != NULL) {
		/* What lies below it is not over: the floor stays. */
		*closed = farthest->epoch;
		ledger_close(l, farthest->epoch, 0);
	}
	return over != NULL || (full && farthest != NULL);
}

bool
ledger_tidy(struct ledger *l, size_t chunks)
{
	for (unsigned i = 0; i < LEDGER_EPOCHS; i++) {
		struct ledger_epoch *t = &l->epochs[i];
		if (t->state != LEDGER_DYING)
			continue;
		for (; t->front + t->back > 0; chunks--) {
			if (chunks == 0)
				return true;
			size_t at = t->front > 0
			    ? --t->front
			    : LEDGER_CHUNKS_MAX - (size_t)t->back--;
			chunk_give(l, t->chunks[at]);
			t->chunks[at] = NULL;
		}
		t->state = LEDGER_FREE;
	}
	return false;
}

/* --- entries --- */

static uint32_t
address(const struct ledger_epoch *t, const uint8_t tag[static MEMBER_TAG])
{
	uint32_t at = load_le32(tag) & t->mask;

	return at < t->buckets ? at : at & t->mask >> 1;
}

/* Out: *probes, how many buckets were visited. */
static struct entry *
entry_find(const struct ledger_epoch *t, const member_t *m, unsigned *probes)
{
	struct bucket *b = bucket_at(t, address(t, m->tag));

	for (*probes = 0; b != NULL; b = bucket_next(t, b)) {
		++*probes;
		for (uint32_t i = 0; i < b->used; i++) {
			if (memcmp(b->entries[i].tag, m->tag, MEMBER_TAG) == 0)
				return &b->entries[i];
		}
	}
	return NULL;
}

/* Put a copy of E into the chain that begins with B. There must be a spare
 * bucket if the chain is full. */
static struct entry *
chain_add(struct ledger_epoch *t, struct bucket *b, const struct entry *e)
{
	while (b->used == BUCKET_ENTRIES) {
		struct bucket *next = bucket_next(t, b);
		b = next != NULL ? next : overflow_append(t, b);
	}
	b->entries[b->used] = *e;
	return &b->entries[b->used++];
}

static bool
chain_is_full(const struct ledger_epoch *t, const struct bucket *b)
{
	for (; b != NULL; b = bucket_next(t, b)) {
		if (b->used < BUCKET_ENTRIES)
			return false;
	}
	return true;
}

static uint32_t
chain_length(const struct ledger_epoch *t, const struct bucket *b)
{
	uint32_t n = 0;

	for (; b != NULL; b = bucket_next(t, b))
		n++;
	return n;
}

/* Split the next bucket in turn: its entries whose next bit is set move to a
 * new one at the end. Without memory for that nothing happens; the table is
 * then as right as before and a little slower. */
static void
table_grow(struct ledger *l, struct ledger_epoch *t)
{
	uint32_t to = t->buckets, from = to & t->mask >> 1;

	if (to / CHUNK_BUCKETS == t->front) {
		void *chunk = chunk_take(l, t);
		if (chunk == NULL)
			return;
		t->chunks[t->front++] = chunk;
	}

	/* Both new chains together need as many overflow buckets as the old one
	 * had, and one more. */
	struct bucket *b = bucket_at(t, from);
	if (!overflow_reserve(l, t, chain_length(t, b)))
		return;
	if (++t->buckets == t->mask + 1)
		t->mask = 2 * t->mask + 1;

	struct bucket old = *b;
	b->used = b->next = 0;
	for (uint32_t place = 0;;) {
		for (uint32_t i = 0; i < old.used; i++) {
			const struct entry *e = &old.entries[i];
			chain_add(t, bucket_at(t, address(t, e->tag)), e);
		}
		if (place != 0)
			overflow_give(t, place);
		if ((place = old.next) == 0)
			break;
		old = *overflow_at(t, place);
	}
}

static enum status
entry_add(struct ledger *l, struct ledger_epoch *t, struct entry **out,
    const member_t *m)
{
	struct entry e = {0};
	struct bucket *b;

	*out = NULL;
	memcpy(e.tag, m->tag, MEMBER_TAG);
	if ((t->entries + 1) * FILL_DENOMINATOR >
	    (uint64_t)t->buckets * BUCKET_ENTRIES * FILL_NUMERATOR)
		table_grow(l, t);
	b = bucket_at(t, address(t, m->tag));
	if (chain_is_full(t, b) && !overflow_reserve(l, t, 1))
		return ST_LEDGER_FULL;
	*out = chain_add(t, b, &e);
	t->entries++;
	return ST_OK;
}

enum status
ledger_look(usage_t *u, const struct ledger *l, const member_t *m)
{
	unsigned i = epoch_index(l, m->epoch), probes;
	const struct entry *e;

	*u = (usage_t){0};
	if (m->epoch < l->floor)
		return ST_EPOCH_PAST;
	if (i == LEDGER_EPOCHS ||
	    (e = entry_find(&l->epochs[i], m, &probes)) == NULL)
		return ST_OK;
	*u = (usage_t){
	    .requests = e->requests,
	    .tunnels = e->tunnels,
	    .bytes_up = load_48(e->bytes_up),
	    .bytes_down = load_48(e->bytes_down),
	    .full_at = load_48(e->full_at),
	};
	return ST_OK;
}

enum status
ledger_keep(struct ledger *l, const member_t *m, const usage_t *u)
{
	unsigned i = epoch_index(l, m->epoch), probes;
	struct ledger_epoch *t;
	struct entry *e;

	if (m->epoch < l->floor)
		return ST_EPOCH_PAST;
	t = i < LEDGER_EPOCHS ? &l->epochs[i] : epoch_new(l, m->epoch);
	if (t == NULL)
		return ST_LEDGER_FULL;
	if ((e = entry_find(t, m, &probes)) == NULL) {
		enum status s = entry_add(l, t, &e, m);
		if (s != ST_OK)
			return s;
	}
	e->requests = u->requests;
	e->tunnels = u->tunnels;
	store_48(e->bytes_up, u->bytes_up);
	store_48(e->bytes_down, u->bytes_down);
	store_48(e->full_at, u->full_at);
	return ST_OK;
}

enum status
ledger_restore(struct ledger *l, const struct ledger_record *r)
{
	usage_t u = {
	    .requests = r->requests,
	    .bytes_up = r->bytes_up,
	    .bytes_down = r->bytes_down,
	};

	if (r->member.epoch < l->floor)
		return ST_OK;
	return ledger_keep(l, &r->member, &u);
}

/* --- looking at all of it --- */

/* The live epoch with the lowest number from FIRST on. */
static const struct ledger_epoch *
epoch_from(const struct ledger *l, uint64_t first)
{
	const struct ledger_epoch *found = NULL;

	for (unsigned i = 0; i < LEDGER_EPOCHS; i++) {
		const struct ledger_epoch *t = &l->epochs[i];
		if (t->state == LEDGER_LIVE && t->epoch >= first &&
		    (found == NULL || t->epoch < found->epoch))
			found = t;
	}
	return found;
}

static size_t
chain_copy(struct ledger_record *out, const struct ledger_epoch *t,
    const struct bucket *b)
{
	size_t n = 0;

	for (; b != NULL; b = bucket_next(t, b)) {
		for (uint32_t i = 0; i < b->used; i++) {
			const struct entry *e = &b->entries[i];
			struct ledger_record *r = &out[n++];
			r->member.epoch = t->epoch;
			memcpy(r->member.tag, e->tag, MEMBER_TAG);
			r->requests = e->requests;
			r->bytes_up = load_48(e->bytes_up);
			r->bytes_down = load_48(e->bytes_down);
		}
	}
	return n;
}

void
ledger_walk(struct ledger_record *out, size_t *n, size_t cap,
    struct ledger_cursor *c, const struct ledger *l)
{
	const struct ledger_epoch *t;

	*n = 0;
	while (!c->done) {
		if ((t = epoch_from(l, c->epoch)) == NULL) {
			c->done = true;
			return;
		}
		if (t->epoch != c->epoch) {
			c->epoch = t->epoch;
			c->bucket = 0;
		}
		/* A split moves entries to the end alone: none is missed. */
		for (; c->bucket < t->buckets; c->bucket++) {
			const struct bucket *b =
			    bucket_at(t, (uint32_t)c->bucket);
			if (*n + (size_t)chain_length(t, b) * BUCKET_ENTRIES >
			    cap)
				return;
			*n += chain_copy(out + *n, t, b);
		}
		if (c->epoch == UINT64_MAX)
			c->done = true;
		c->epoch++;
		c->bucket = 0;
	}
}

void
ledger_stats(struct ledger_stats *out, const struct ledger *l)
{
	*out = (struct ledger_stats){
	    .chunks = l->chunks,
	    .chunks_max = l->chunks_max,
	};
	for (unsigned i = 0; i < LEDGER_EPOCHS; i++) {
		const struct ledger_epoch *t = &l->epochs[i];
		if (t->state != LEDGER_LIVE)
			continue;
		out->epochs++;
		out->entries += t->entries;
		out->buckets += t->buckets;
		out->overflow += t->overflow - t->spares;
	}
}

unsigned
ledger_probes(const struct ledger *l, const member_t *m)
{
	unsigned i = epoch_index(l, m->epoch), probes = 0;

	if (i < LEDGER_EPOCHS)
		(void)entry_find(&l->epochs[i], m, &probes);
	return probes;
}
