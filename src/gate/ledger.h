/* gate/ledger.h: what each member has used, in each epoch that is live.
 *
 * A table per epoch; in it 40 bytes for each member who has come. A request
 * must never wait for the table to grow: so it is a linear hash table (Litwin,
 * VLDB 1980; Larson, CACM 31, 1988) that grows by one bucket at a time, each
 * time it holds 70 % of its room, and never moves more than that bucket's
 * entries. A bucket is 256 bytes, four cache lines, with six entries; what
 * does not fit overflows into further buckets. Memory comes in chunks of
 * 1 MiB from an allocator that the caller gives, up to a ceiling over all
 * epochs, and goes back when an epoch is over, a few chunks at a time.
 *
 * The address in the table is the tag itself (gate/member.h): keyed, uniform,
 * not to be foreseen by anybody outside.
 *
 * Nothing is ever forgotten that could still be asked for: an epoch's counts
 * go only when the epoch has been out of reach for `hold` ms of the steady
 * clock, so that a calendar that jumps a day forward and back finds them as
 * they were; and once they are gone the epoch is closed for good (`floor`),
 * so that no clock can open it for a second, empty quota.
 *
 * Look-up, count and everything else that a request needs is constant time on
 * average, flat in the number of entries. Threads: the loop.
 */
#ifndef GATE_LEDGER_H
#define GATE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate/member.h"
#include "gate/now.h"
#include "gate/quota.h"
#include "postern/attr.h"
#include "postern/status.h"

#define LEDGER_CHUNK ((size_t)1 << 20)
#define LEDGER_CHUNKS_MAX 4096 /* of one epoch: about 65 million entries */
#define LEDGER_EPOCHS 8 /* live at one time, with those on hold */
#define LEDGER_ENTRY 40 /* bytes */

/* Where chunks come from. */
struct ledger_memory {
	/* LEDGER_CHUNK zero bytes, aligned to 64; NULL when there are none. */
	void *(*take)(void *ctx);
	void (*give)(void *ctx, void *chunk);
	void *ctx;
};

/* What a member has used so far, as the journal keeps it: a plain value.
 * Absolute, not a difference: writing it twice does no harm. */
struct ledger_record {
	member_t member;
	uint32_t requests;
	uint64_t bytes_up, bytes_down;
};

/* One epoch's table. Private to ledger.c, and here so that a ledger is one
 * object of known size. */
struct ledger_epoch {
	enum {
		LEDGER_FREE = 0,
		LEDGER_LIVE,
		LEDGER_DYING, /* over; its memory is going back */
	} state;
	bool away; /* out of reach, since: */
	uint64_t since; /* mono */
	uint64_t epoch;
	uint64_t entries;
	uint32_t buckets; /* that tags lead to: 2^n to 2^(n+1) - 1 of them */
	uint32_t mask; /* 2^(n+1) - 1 */
	uint32_t spare; /* first free overflow bucket, index + 1 */
	uint32_t spares, overflow; /* how many are free; how many there are */
	uint32_t front, back; /* chunks taken from either end of: */
	void *chunks[LEDGER_CHUNKS_MAX]; /* front: buckets; back: overflow */
};

struct ledger {
	struct ledger_memory memory;
	size_t chunks, chunks_max; /* taken; ceiling */
	uint64_t hold; /* ms */
	uint64_t floor; /* epochs below it are closed for good */
	struct ledger_epoch epochs[LEDGER_EPOCHS];
};

/* How many chunks it takes to hold ENTRIES in each of two epochs. */
size_t ledger_chunks(uint64_t entries);

/* Set up L, empty.
 * In:  chunks_max, the ceiling in chunks; one epoch gets half of it at most,
 *      so that a full one leaves room for the next.
 *      hold, in ms; floor, from a journal or 0. */
void ledger_init(struct ledger *l, const struct ledger_memory *memory,
    size_t chunks_max, uint64_t hold, uint64_t floor);

/* Give all memory back. */
void ledger_clear(struct ledger *l);

/* What member M has used. Changes nothing.
 * Out:     *u; zero for one who has not come yet.
 * Returns: ST_OK; ST_EPOCH_PAST when the epoch is closed. */
enum status
ledger_look(usage_t *u, const struct ledger *l, const member_t *m) WARN_UNUSED;

/* Keep U as what M has used.
 * Returns: ST_OK; ST_LEDGER_FULL when there is no room for a new member (one
 *          who is there always finds room); ST_EPOCH_PAST. Then nothing has
 *          changed. */
enum status
ledger_keep(struct ledger *l, const member_t *m, const usage_t *u) WARN_UNUSED;

/* Take over a record of the journal: tunnels and bucket are as new.
 * Returns: as ledger_keep; records of closed epochs are dropped, with ST_OK. */
enum status
ledger_restore(struct ledger *l, const struct ledger_record *r) WARN_UNUSED;

/* Close EPOCH and let the floor be FLOOR if it was lower: as ledger_turn does,
 * for a journal that tells of it. */
void ledger_close(struct ledger *l, uint64_t epoch, uint64_t floor);

/* Close one epoch that has been out of reach for long enough. FIRST and LAST
 * are the epochs that can be asked for now. Those still to come are kept (the
 * calendar was ahead for a while, or is behind now, and their counts will be
 * wanted); the farthest goes only when there is no place for another epoch.
 * Out:     *closed, which one.
 * Returns: true if there was one: the journal must hear of it. */
bool ledger_turn(struct ledger *l, uint64_t *closed, uint64_t first,
    uint64_t last, uint64_t mono);

/* Give back at most CHUNKS chunks of what is over.
 * Returns: true when there is more to give. */
bool ledger_tidy(struct ledger *l, size_t chunks);

/* Where a walk stands: zero at first. */
struct ledger_cursor {
	uint64_t epoch;
	uint64_t bucket;
	bool done;
};

/* Copy at most CAP (at least LEDGER_WALK_MIN) records from where C stands, and
 * move it on. Counting may go on between the calls: whoever was there at the
 * begin and is there at the end is copied at least once.
 * Out:     out, *n; c->done after the last. */
#define LEDGER_WALK_MIN 1024
void ledger_walk(struct ledger_record *out, size_t *n, size_t cap,
    struct ledger_cursor *c, const struct ledger *l);

struct ledger_stats {
	uint64_t entries, buckets, overflow; /* of all live epochs */
	size_t chunks, chunks_max;
	unsigned epochs; /* live */
};

void ledger_stats(struct ledger_stats *out, const struct ledger *l);

/* How many buckets a look-up of M visits: for tests and figures. */
unsigned ledger_probes(const struct ledger *l, const member_t *m);

#endif
