#include "gate/gate.h"

#include <sodium.h>
#include <string.h>

#include "base/wipe.h"

/* --- set-up --- */

/* The parts of the memory, each rounded up so that the next is aligned. */
struct layout {
	size_t roots, cache, pending;
};

static size_t
aligned(size_t n)
{
	return (n + 15) & ~(size_t)15;
}

static struct layout
layout_of(const struct gate_config *c)
{
	return (struct layout){
	    .roots = aligned(roots_memory(c->roots)),
	    .cache = aligned(proof_cache_memory(c->cached)),
	    .pending = aligned(pending_memory(c->checks, c->sessions)),
	};
}

size_t
gate_memory(const struct gate_config *config)
{
	struct layout l = layout_of(config);

	return l.roots + l.cache + l.pending;
}

/* Derive KEY number N from the process's secret. */
static void
derive(uint8_t *key, size_t len, uint64_t n, const uint8_t secret[static 32])
{
	/* Fails only for lengths out of range. */
	(void)crypto_kdf_derive_from_key(key, len, n, "posterng", secret);
}

enum status
gate_init(struct gate *g, const struct gate_config *config, void *memory)
{
	struct layout l = layout_of(config);
	uint8_t *at = memory, key[LRU_HASH_KEY];

	memset(g, 0, sizeof(*g));
	if (epoch_rules_check(&config->epoch, NULL) != ST_OK ||
	    config->roots <= ROOT_GROUPS_MAX || config->cached == 0 ||
	    config->checks == 0 || config->sessions == 0 ||
	    config->ledger_chunks == 0)
		return ST_BAD_VALUE;

	g->limits[GATE_ONCE] = (struct quota_limits){
	    .requests = 1,
	    .tunnels = QUOTA_UNLIMITED,
	    .bytes_up = QUOTA_UNLIMITED,
	    .bytes_down = QUOTA_UNLIMITED,
	    .rate = {BUCKET_UNLIMITED, 0},
	};
	g->audience = config->audience;
	epoch_book_init(&g->book, &config->epoch);
	ledger_init(&g->ledger, &config->memory, config->ledger_chunks,
	    config->hold, config->floor);
	memcpy(g->member_key, config->member_key, MEMBER_KEY);
	derive(g->digest_key, sizeof(g->digest_key), 0, config->secret);

	derive(key, sizeof(key), 1, config->secret);
	roots_init(&g->roots, at, config->roots, config->root_keep, key);
	derive(key, sizeof(key), 2, config->secret);
	proof_cache_init(&g->cache, at + l.roots, config->cached, key);
	derive(key, sizeof(key), 3, config->secret);
	pending_init(&g->pending, at + l.roots + l.cache, config->checks,
	    config->sessions, key);
	wipe(key, sizeof(key));
	return ST_OK;
}

void
gate_clear(struct gate *g)
{
	ledger_clear(&g->ledger);
	wipe(g->member_key, sizeof(g->member_key));
	wipe(g->digest_key, sizeof(g->digest_key));
}

void
gate_set_limits(
    struct gate *g, uint16_t group, const struct quota_limits *limits)
{
	if (group < ROOT_GROUPS_MAX)
		g->limits[group] = *limits;
}

/* --- screening --- */

/* credential present -> token canonical */
static enum status
screen_token(struct gate_ticket *t, struct semaphore_token *kind,
    struct semaphore_fault *fault, enum status credential, span_t token)
{
	enum status s = credential;

	if (s != ST_OK)
		return s;
	s = semaphore_token_decode(
	    &t->proof, kind, token.ptr, token.len, fault);
	return s == ST_OK || s == ST_NO_MEMORY ? s : ST_CREDENTIAL_BAD;
}

/* epoch accepted: by number in a compact token, by scope in a proof. */
static enum status
screen_epoch(struct gate *g, struct gate_ticket *t,
    const struct semaphore_token *kind, now_t now)
{
	const struct epoch_rules *rules = &g->book.rules;

	if (kind->kind == SEMAPHORE_TOKEN_JSON)
		return epoch_find(&g->book, &t->member.epoch, &t->slot,
		    t->proof.scope, now.wall);
	if (kind->slot >= rules->slots)
		return ST_SCOPE_UNKNOWN;
	t->member.epoch = kind->epoch;
	t->slot = kind->slot;
	epoch_scope(t->proof.scope, rules, kind->epoch, kind->slot);
	memcpy(t->proof.message, g->audience.message, sizeof(t->proof.message));
	return epoch_accepts(rules, kind->epoch, now.wall);
}

/* root known: it says which group */
static enum status
screen_root(const struct gate *g, struct gate_ticket *t, uint64_t mono)
{
	struct root root;
	enum status s = roots_find(&root, &g->roots, t->proof.root, mono);

	t->root = root.serial;
	t->group = root.group;
	return s;
}

static void
say_left(const struct gate *g, struct quota_left *left, const usage_t *u,
    const member_t *member, uint16_t group, now_t now, enum status cause)
{
	quota_left(left, u, &g->limits[group],
	    epoch_end(&g->book.rules, member->epoch), now, cause);
}

/* nullifier within quota: looked at, not counted. For a proof that is known to
 * hold and for no other: whoever has somebody's nullifier from elsewhere could
 * else ask with any points what is left to them, and how many tunnels they
 * have open now. Nor where G's ledger is a copy: by now there may be more left
 * than it says, because another gateway took a count back. */
static enum status
screen_quota(const struct gate *g, const struct gate_ticket *t,
    struct quota_left *left, now_t now)
{
	usage_t u;
	enum status s = ledger_look(&u, &g->ledger, &t->member);

	/* That an epoch's accounts are closed is the same for everybody. */
	if (s != ST_OK || t->verdict != VERDICT_ACCEPT || g->counts_elsewhere)
		return s;
	s = quota_look(&u, &g->limits[t->group], now);
	if (s != ST_OK)
		say_left(g, left, &u, &t->member, t->group, now, s);
	return s;
}

/* The order of checks of the design, up to where it gets dear. */
static enum status
screen(struct gate *g, struct gate_ticket *t, struct semaphore_fault *fault,
    struct quota_left *left, enum status credential, span_t token, now_t now)
{
	struct semaphore_token kind;
	enum status s;

	if ((s = screen_token(t, &kind, fault, credential, token)) != ST_OK)
		return s;
	if ((s = screen_epoch(g, t, &kind, now)) != ST_OK)
		return s;
	if (!audience_accepts(&g->audience, t->proof.message))
		return ST_MESSAGE_WRONG;
	if ((s = screen_root(g, t, now.mono)) != ST_OK)
		return s;
	member_name(&t->member, g->member_key, t->member.epoch, t->slot,
	    t->proof.nullifier);
	proof_digest(&t->digest, g->digest_key, &t->member, &t->proof);
	t->verdict = proof_cache_has(&g->cache, &t->member, &t->digest, t->root)
	    ? VERDICT_ACCEPT
	    : VERDICT_NONE;
	return screen_quota(g, t, left, now);
}

enum status
gate_screen(struct gate *g, struct gate_ticket *t,
    struct semaphore_fault *fault, struct quota_left *left,
    enum status credential, span_t token, now_t now)
{
	enum status s;

	memset(t, 0, sizeof(*t));
	*fault = (struct semaphore_fault){0};
	*left = (struct quota_left){0};
	s = screen(g, t, fault, left, credential, token, now);
	if (s != ST_OK) {
		uint16_t group = t->group; /* whose limits are used up */
		memset(t, 0, sizeof(*t));
		t->group = group;
	}
	return s;
}

/* --- settling --- */

/* Find the ticket's root again; a list may have changed while the proof was
 * being checked. */
static enum status
find_root(const struct gate *g, struct root *root, const struct gate_ticket *t,
    uint64_t mono)
{
	enum status s = roots_find(root, &g->roots, t->proof.root, mono);

	return s == ST_OK && root->serial != t->root ? ST_ROOT_UNKNOWN : s;
}

enum status
gate_approve(struct gate *g, const struct gate_ticket *t, enum verdict verdict,
    now_t now)
{
	struct root root;
	enum status s;

	if (verdict != VERDICT_ACCEPT)
		return ST_PROOF_INVALID;
	s = epoch_accepts(&g->book.rules, t->member.epoch, now.wall);
	if (s != ST_OK)
		return s;
	if ((s = find_root(g, &root, t, now.mono)) != ST_OK)
		return s;
	if (t->group != GATE_ONCE)
		proof_cache_add(&g->cache, &t->member, &t->digest, t->root);
	return ST_OK;
}

/* The tag is a secret's, so that no ID makes of it the name of a member. */
struct gate_ticket
gate_once(const struct gate *g, const struct gate_ticket *t,
    const uint8_t id[static GATE_ONCE_ID])
{
	struct gate_ticket once = *t;
	uint8_t name[MEMBER_TAG + GATE_ONCE_ID];

	memcpy(name, t->member.tag, MEMBER_TAG);
	memcpy(name + MEMBER_TAG, id, GATE_ONCE_ID);
	member_name(
	    &once.member, g->member_key, t->member.epoch, t->slot, name);
	once.group = GATE_ONCE;
	return once;
}

static void
say_record(struct ledger_record *out, const member_t *m, const usage_t *u)
{
	*out = (struct ledger_record){
	    .member = *m,
	    .requests = u->requests,
	    .bytes_up = u->bytes_up,
	    .bytes_down = u->bytes_down,
	};
}

static void
open_tunnel(struct gate_grant *grant, const member_t *member, uint16_t group,
    const usage_t *u)
{
	grant->tunnel = (struct gate_tunnel){
	    .member = *member,
	    .group = group,
	    .open = true,
	};
	say_record(&grant->record, member, u);
}

enum status
gate_count(struct gate *g, struct gate_grant *grant, const member_t *member,
    uint16_t group, now_t now)
{
	usage_t u;
	enum status s;

	*grant = (struct gate_grant){0};
	if ((s = ledger_look(&u, &g->ledger, member)) != ST_OK)
		return s;
	s = quota_count(&u, &g->limits[group], now);
	say_left(g, &grant->left, &u, member, group, now, s);
	if (s != ST_OK)
		return s;
	if ((s = ledger_keep(&g->ledger, member, &u)) != ST_OK) {
		*grant = (struct gate_grant){0};
		return s;
	}
	open_tunnel(grant, member, group, &u);
	return ST_OK;
}

enum status
gate_settle(struct gate *g, struct gate_grant *grant,
    const struct gate_ticket *t, enum verdict verdict, now_t now)
{
	enum status s = gate_approve(g, t, verdict, now);

	*grant = (struct gate_grant){0};
	if (s != ST_OK)
		return s;
	return gate_count(g, grant, &t->member, t->group, now);
}

/* --- a ledger elsewhere --- */

static uint64_t
larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* MINE is what was known here; of bytes some may be known here only. */
static void
hear(usage_t *mine, const usage_t *u)
{
	mine->requests = u->requests;
	mine->full_at = u->full_at;
	mine->bytes_up = larger(mine->bytes_up, u->bytes_up);
	mine->bytes_down = larger(mine->bytes_down, u->bytes_down);
}

enum status
gate_adopt(struct gate *g, struct gate_grant *grant, const member_t *member,
    uint16_t group, const usage_t *u, enum status cause, now_t now)
{
	usage_t mine;
	enum status s;

	*grant = (struct gate_grant){0};
	if ((s = ledger_look(&mine, &g->ledger, member)) != ST_OK)
		return cause == ST_OK ? s : cause;
	hear(&mine, u);
	if (cause == ST_OK && mine.tunnels == USAGE_TUNNELS_MAX)
		return ST_QUOTA_TUNNELS;
	if (cause == ST_OK)
		mine.tunnels++;
	s = ledger_keep(&g->ledger, member, &mine);
	if (cause == ST_OK && s != ST_OK)
		return s;
	say_left(g, &grant->left, u, member, group, now, cause);
	if (cause == ST_OK)
		open_tunnel(grant, member, group, &mine);
	return cause;
}

void
gate_hear(struct gate *g, const member_t *member, const usage_t *u)
{
	usage_t mine;

	/* Somebody who is not there has no tunnel that it matters to. */
	if (ledger_look(&mine, &g->ledger, member) != ST_OK ||
	    mine.requests == 0)
		return;
	hear(&mine, u);
	(void)!ledger_keep(&g->ledger, member, &mine);
}

/* --- tunnels --- */

/* Change what a tunnel's member has used. Of an epoch that has been closed in
 * the meantime nothing is left to change. */
static bool
account(struct gate *g, usage_t *u, const struct gate_tunnel *tunnel)
{
	return tunnel->open &&
	    ledger_look(u, &g->ledger, &tunnel->member) == ST_OK &&
	    u->requests > 0;
}

/* The member is in the table, so that it has room. */
static void
put_back(struct gate *g, const usage_t *u, const struct gate_tunnel *tunnel)
{
	(void)!ledger_keep(&g->ledger, &tunnel->member, u);
}

void
gate_refund(struct gate *g, struct gate_tunnel *tunnel)
{
	usage_t u;

	if (account(g, &u, tunnel)) {
		quota_uncount(&u, &g->limits[tunnel->group]);
		put_back(g, &u, tunnel);
	}
	*tunnel = (struct gate_tunnel){0};
}

static bool
is_metered(const struct quota_limits *l)
{
	return l->bytes_up != QUOTA_UNLIMITED ||
	    l->bytes_down != QUOTA_UNLIMITED;
}

enum status
gate_tunnel_add(struct gate *g, struct gate_tunnel *tunnel,
    struct ledger_record *record, bool *note, uint64_t up, uint64_t down)
{
	const struct quota_limits *l = &g->limits[tunnel->group];
	usage_t u;
	enum status s;

	*record = (struct ledger_record){0};
	*note = false;
	if (!tunnel->open)
		return ST_OK;
	if (!account(g, &u, tunnel))
		return is_metered(l) ? ST_EPOCH_PAST : ST_OK;
	s = quota_add_bytes(&u, l, up, down);
	put_back(g, &u, tunnel);
	tunnel->unnoted_up += up;
	tunnel->unnoted_down += down;
	if (tunnel->unnoted_up + tunnel->unnoted_down >= GATE_NOTE_BYTES ||
	    s != ST_OK) {
		tunnel->unnoted_up = tunnel->unnoted_down = 0;
		*note = true;
		say_record(record, &tunnel->member, &u);
	}
	return s;
}

bool
gate_tunnel_close(
    struct gate *g, struct gate_tunnel *tunnel, struct ledger_record *record)
{
	bool note = false;
	usage_t u;

	*record = (struct ledger_record){0};
	if (account(g, &u, tunnel)) {
		quota_close(&u);
		put_back(g, &u, tunnel);
		note = tunnel->unnoted_up + tunnel->unnoted_down > 0;
		if (note)
			say_record(record, &tunnel->member, &u);
	}
	*tunnel = (struct gate_tunnel){0};
	return note;
}

/* --- time --- */

/* Chunks that go back at one tick: some ms of the kernel's time. */
#define TIDY_CHUNKS 64

bool
gate_tick(struct gate *g, uint64_t *closed, now_t now)
{
	const struct epoch_rules *rules = &g->book.rules;
	uint64_t current = epoch_at(rules, now.wall);
	uint64_t first = current, last = current;

	roots_tidy(&g->roots, now.mono);
	ledger_tidy(&g->ledger, TIDY_CHUNKS);
	if (current > 0 && epoch_accepts(rules, current - 1, now.wall) == ST_OK)
		first--;
	if (epoch_accepts(rules, current + 1, now.wall) == ST_OK)
		last++;
	return ledger_turn(&g->ledger, closed, first, last, now.mono);
}
