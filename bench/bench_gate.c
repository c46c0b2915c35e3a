/* The gate's own costs: what a request pays besides the pairing.
 *
 * The ledger at three sizes (its look-up must not grow), the cache of proofs,
 * screening a token, and a count that becomes durable, alone and in company
 * (the journal is in the folder where the bench runs: BENCH_DIR or the
 * present one). */
#include "bench.h"

#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"
#include "gate/gate.h"
#include "store/journal.h"

#define EPOCH 20000
#define NOON (UINT64_C(20000) * 86400 + 43200)

static void
must(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "bench_gate: %s\n", what);
		exit(1);
	}
}

static void *
take(void *ctx)
{
	(void)ctx;
	return calloc(1, LEDGER_CHUNK);
}

static void
give(void *ctx, void *chunk)
{
	(void)ctx;
	free(chunk);
}

/* --- the ledger --- */

static struct ledger ledger;

struct lookups {
	uint64_t members, next;
};

static member_t
member(uint64_t n)
{
	static const uint8_t key[MEMBER_KEY] = {1};
	uint8_t nullifier[32] = {0};
	member_t m;

	store_be64(nullifier, n);
	member_name(&m, key, 1, 0, nullifier);
	return m;
}

static bool
run_look(void *ctx)
{
	struct lookups *l = ctx;
	usage_t u;
	/* Far apart, so that neither cache nor prefetch help. */
	uint64_t n = (l->next += UINT64_C(0x9e3779b97f4a7c15)) % l->members;
	member_t m = member(n);

	return ledger_look(&u, &ledger, &m) == ST_OK &&
	    u.requests == (uint32_t)n;
}

static bool
run_name(void *ctx)
{
	uint64_t *n = ctx;
	member_t m = member((*n)++);

	return m.epoch == 1;
}

static void
bench_ledger(const struct bench *b)
{
	static const struct {
		const char *name;
		uint64_t members;
	} sizes[] = {{"ledger/look/10k", 10000}, {"ledger/look/1M", 1000000},
	    {"ledger/look/8M", 8000000}};
	const struct ledger_memory memory = {take, give, NULL};
	uint64_t n = 0, names = 0;

	bench_run(b,
	    &(struct bench_spec){
		.name = "member/name", .run = run_name, .ctx = &names},
	    NULL);
	ledger_init(&ledger, &memory, ledger_chunks(8000000), 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		struct lookups l = {.members = sizes[i].members};
		if (!bench_wants(b, sizes[i].name))
			continue;
		for (; n < l.members; n++) {
			member_t m = member(n);
			usage_t u = {.requests = (uint32_t)n};
			must(ledger_keep(&ledger, &m, &u) == ST_OK, "full");
		}
		bench_run(b,
		    &(struct bench_spec){.name = sizes[i].name,
			.run = run_look,
			.ctx = &l,
			.warmup = 10000},
		    NULL);
	}
	ledger_clear(&ledger);
}

/* --- screening --- */

struct screening {
	struct gate *gate;
	char token[SEMAPHORE_COMPACT_LENGTH + 1];
	enum verdict want;
	struct gate_ticket ticket;
	proof_digest_t digest;
};

static bool
run_screen(void *ctx)
{
	struct screening *s = ctx;
	struct semaphore_fault fault;
	struct quota_left left;
	const now_t now = {NOON, 1000};

	return gate_screen(s->gate, &s->ticket, &fault, &left, ST_OK,
		   span_str(s->token), now) == ST_OK &&
	    s->ticket.verdict == s->want;
}

static bool
run_digest(void *ctx)
{
	struct screening *s = ctx;

	proof_digest(&s->digest, s->gate->digest_key, &s->ticket.member,
	    &s->ticket.proof);
	return memcmp(&s->digest, &s->ticket.digest, sizeof(s->digest)) == 0;
}

static bool
run_cache(void *ctx)
{
	struct screening *s = ctx;

	return proof_cache_has(&s->gate->cache, &s->ticket.member,
	    &s->ticket.digest, s->ticket.root);
}

static bool
run_settle(void *ctx)
{
	struct screening *s = ctx;
	struct gate_grant grant;
	struct ledger_record r;
	const now_t now = {NOON, 1000};
	bool good = gate_settle(s->gate, &grant, &s->ticket, VERDICT_ACCEPT,
			now) == ST_OK;

	(void)gate_tunnel_close(s->gate, &grant.tunnel, &r);
	return good;
}

static void
bench_screen(const struct bench *b)
{
	struct gate_config c = {
	    .epoch = {.length = 86400, .slots = 1},
	    .memory = {take, give, NULL},
	    .ledger_chunks = 10,
	    .roots = 2 * ROOT_GROUPS_MAX,
	    .cached = 65536,
	    .checks = 100,
	    .sessions = 100,
	};
	const struct quota_limits limits = {
	    .requests = QUOTA_UNLIMITED,
	    .tunnels = QUOTA_UNLIMITED,
	    .bytes_up = QUOTA_UNLIMITED,
	    .bytes_down = QUOTA_UNLIMITED,
	    .rate = {BUCKET_UNLIMITED, 0},
	};
	struct semaphore_proof p = {
	    .depth = 10, .form = SEMAPHORE_COMPRESSED, .root = {[31] = 1}};
	struct screening s = {.gate = calloc(1, sizeof(struct gate))};
	void *memory = calloc(1, gate_memory(&c));
	struct root root = {.root = {[31] = 1}};

	p.points[0] = p.points[32] = p.points[96] = 0x80;
	p.points[31] = p.points[95] = p.points[127] = 1;
	must(s.gate != NULL && memory != NULL, "out of memory");
	must(gate_init(s.gate, &c, memory) == ST_OK, "gate_init");
	must(roots_set(&s.gate->roots, &root, 0) == ST_OK, "roots_set");
	must(semaphore_token_compact(s.token, &p, EPOCH, 0) == ST_OK, "token");
	gate_set_limits(s.gate, 0, &limits);

	bench_run(b,
	    &(struct bench_spec){
		.name = "gate/screen/first", .run = run_screen, .ctx = &s},
	    NULL);
	must(run_screen(&s), "screen");
	bench_run(b,
	    &(struct bench_spec){
		.name = "gate/settle", .run = run_settle, .ctx = &s},
	    NULL);
	must(run_settle(&s), "settle");
	bench_run(b,
	    &(struct bench_spec){
		.name = "proof/digest", .run = run_digest, .ctx = &s},
	    NULL);
	bench_run(b,
	    &(struct bench_spec){
		.name = "proof/cache", .run = run_cache, .ctx = &s},
	    NULL);
	s.want = VERDICT_ACCEPT;
	bench_run(b,
	    &(struct bench_spec){
		.name = "gate/screen/again", .run = run_screen, .ctx = &s},
	    NULL);
	gate_clear(s.gate);
	free(s.gate);
	free(memory);
}

/* --- the journal --- */

enum { COMPANY = 200 };

struct writing {
	struct journal *journal;
	unsigned together, told;
	bool failed;
};

static enum status
on_replay(void *ctx, const struct journal_entry *e)
{
	(void)ctx;
	(void)e;
	return ST_OK;
}

static void
on_done(void *ctx, handle_t who, enum status s)
{
	struct writing *w = ctx;

	(void)who;
	w->told++;
	w->failed |= s != ST_OK;
}

/* So many requests ask at once; until all are durable. */
static bool
run_append(void *ctx)
{
	struct writing *w = ctx;
	struct journal_entry e = {.kind = JOURNAL_COUNT};
	struct pollfd p = {.fd = journal_fd(w->journal), .events = POLLIN};

	w->told = 0;
	for (unsigned i = 0; i < w->together; i++) {
		if (journal_append(w->journal, &e, (handle_t){1, 1}) != ST_OK)
			return false;
	}
	while (w->told < w->together && poll(&p, 1, 10000) == 1)
		journal_dispatch(w->journal, on_done, w);
	return w->told == w->together && !w->failed;
}

static void
bench_journal(const struct bench *b)
{
	static const struct {
		const char *name;
		enum journal_sync sync;
		unsigned together;
	} kinds[] = {
	    {"journal/always/alone", JOURNAL_SYNC_ALWAYS, 1},
	    {"journal/always/200", JOURNAL_SYNC_ALWAYS, COMPANY},
	    {"journal/interval/alone", JOURNAL_SYNC_INTERVAL, 1},
	    {"journal/interval/200", JOURNAL_SYNC_INTERVAL, COMPANY},
	};
	static const char path[] = "bench-journal";
	char why[JOURNAL_WHY_MAX];

	if (getenv("BENCH_DIR") != NULL)
		must(chdir(getenv("BENCH_DIR")) == 0, "BENCH_DIR");
	for (unsigned i = 0; i < 4; i++) {
		struct journal_options o = {
		    .path = path, .sync = kinds[i].sync, .interval = 1000};
		struct writing w = {.together = kinds[i].together};
		struct journal_replayed r;
		if (!bench_wants(b, kinds[i].name))
			continue;
		must(journal_open(&w.journal, &o, why) == ST_OK, why);
		must(journal_replay(w.journal, &r, on_replay, NULL, why) ==
			ST_OK,
		    why);
		bench_run(b,
		    &(struct bench_spec){.name = kinds[i].name,
			.run = run_append,
			.ctx = &w,
			.batch = kinds[i].together},
		    NULL);
		journal_close(&w.journal, NULL, NULL);
		unlink(path);
		unlink("bench-journal.lock");
	}
}

int
main(int argc, char **argv)
{
	struct bench b;

	must(sodium_init() >= 0, "libsodium");
	bench_begin(&b, argc, argv);
	bench_ledger(&b);
	bench_screen(&b);
	bench_journal(&b);
	return 0;
}
