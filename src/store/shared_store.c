#include "store/shared_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/wipe.h"
#include "store/shared_impl.h"

#define TIMEOUT_MS 2000
#define LEASE_MS 30000
/* Looks at the clock in one time-out. */
#define LOOKS 8
/* Counts that may be owed, while the server is away. */
#define OWED_MAX 65536
/* Ops that are nobody's: signs of life, waits. */
#define OPS_SPARE 16
/* How long the end may take, to tell the server the last of it. */
#define LAST_WORDS_MS 2000

static struct shared_store *
shared(struct ledger_store *s)
{
	return (struct shared_store *)(void *)s;
}

now_t
shared_now(const struct shared_store *l)
{
	return (now_t){
	    .wall = (uint64_t)(loop_wall(l->loop) / 1000),
	    .mono = loop_now(l->loop),
	};
}

/* The clock looks while there is something that can be late. */
static void
wind_up(struct shared_store *l)
{
	if (!deadline_is_running(&l->clock))
		deadline_start(l->loop, &l->clock, l->timeout_ms / LOOKS + 1);
}

/* --- answers --- */

/* OP is answered; nothing of it is used afterwards. */
static void
answer(struct shared_store *l, struct op *op, enum status status,
    const struct gate_grant *grant)
{
	handle_t who = op->who;

	l->waiting--;
	shared_op_free(l, op);
	l->store.settled(l->store.ctx, who, status, grant);
}

void
shared_refuse(struct shared_store *l, struct op *op, enum status status,
    const usage_t *usage)
{
	struct gate_grant grant = {0};

	if (usage != NULL)
		status = gate_adopt(l->gate, &grant, &op->member, op->group,
		    usage, status, shared_now(l));
	answer(l, op, status, &grant);
}

void
shared_confirm(struct shared_store *l, struct op *op, const usage_t *usage)
{
	struct gate_grant grant;
	enum status st = gate_adopt(l->gate, &grant, &op->member, op->group,
	    usage, ST_OK, shared_now(l));

	if (st == ST_OK)
		l->open++;
	else
		shared_take_back(l, op);
	answer(l, op, st, &grant);
}

/* Answers that were ready at once, told at the end of the round. */
static void
on_tell(struct task *t)
{
	struct shared_store *l = loop_owner(t, struct shared_store, tell);
	/* What is asked from inside an answer is answered next time. */
	uint32_t n = l->told_n;

	while (n-- > 0) {
		struct told told = l->told[l->told_first];
		l->told_first = (l->told_first + 1) % l->told_cap;
		l->told_n--;
		l->store.settled(
		    l->store.ctx, told.who, told.status, &told.grant);
	}
	if (l->told_n > 0)
		task_defer(l->loop, &l->tell);
}

/* --- counting without the server --- */

/* There is an op to undo whatever count is on its way, to end each tunnel, and
 * one more. */
static bool
has_room(const struct shared_store *l)
{
	uint64_t kept = l->waiting + l->open + OPS_SPARE;

	return l->ops.capacity - l->ops.used > kept;
}

/* Count here, and owe it to the server.
 * Out:     *grant.
 * Returns: ST_OK, as gate_count; ST_LEDGER_UNREACHABLE (too much is owed). */
static enum status
count_here(struct shared_store *l, struct gate_grant *grant,
    const member_t *member, uint16_t group)
{
	enum status st = ST_LEDGER_UNREACHABLE;

	*grant = (struct gate_grant){0};
	if (!has_room(l) || l->owed >= OWED_MAX)
		return st;
	st = gate_count(l->gate, grant, member, group, shared_now(l));
	if (st != ST_OK)
		return st;
	l->open++;
	shared_owe(l, member, 1, 1, 0, 0);
	return ST_OK;
}

/* Nobody waits for OP any more. */
static void
abandon(struct shared_store *l, struct op *op, bool queued)
{
	l->waiting--;
	op->late = true;
	if (queued && !op->tried)
		shared_op_free(l, op);
	else if (queued)
		op->kind = OP_CANCEL;
}

/* Answer whoever waits for OP without the server. */
static void
help_otherwise(struct shared_store *l, struct op *op, bool queued)
{
	struct gate_grant grant = {0};
	enum status st = ST_LEDGER_UNREACHABLE;
	handle_t who = op->who;
	member_t member = op->member;
	uint16_t group = op->group;

	abandon(l, op, queued);
	if (l->fall_back)
		st = count_here(l, &grant, &member, group);
	if (st == ST_LEDGER_UNREACHABLE)
		l->timeouts++;
	l->store.settled(l->store.ctx, who, st, &grant);
}

/* Help whoever waits in LIST since UNTIL or longer. An answer can do no more
 * to the lists than to add to the end of the queue. */
static void
help_list(struct shared_store *l, struct list_node *list, uint64_t until)
{
	struct list_node *n = list->next, *next;
	uint64_t last = l->seq;

	for (; n != list; n = next) {
		struct op *op = list_entry(n, struct op, node);
		next = n->next;
		if (op->seq > last)
			return;
		if (op->kind == OP_COUNT && !op->late && op->since <= until)
			help_otherwise(l, op, list == &l->queued);
	}
}

void
shared_lost_touch(struct shared_store *l)
{
	/* They would wait in vain; else they may be lucky yet. */
	if (l->fall_back)
		help_list(l, &l->queued, UINT64_MAX);
}

static void
on_clock(struct deadline *d)
{
	struct shared_store *l = loop_owner(d, struct shared_store, clock);
	uint64_t now = loop_now(l->loop);

	shared_look_at_clock(l, now);
	if (now >= l->timeout_ms) {
		help_list(l, &l->held, now - l->timeout_ms);
		help_list(l, &l->sent, now - l->timeout_ms);
		help_list(l, &l->queued, now - l->timeout_ms);
	}
	shared_send(l);
	if (!list_empty(&l->held) || !list_empty(&l->sent) ||
	    (!list_empty(&l->queued) && l->phase != SHARED_DOWN) ||
	    l->waiting > 0)
		wind_up(l);
}

static void
on_send(struct task *t)
{
	struct shared_store *l = loop_owner(t, struct shared_store, send);

	shared_send(l);
	wind_up(l);
}

/* --- the calls --- */

/* The server has not been there for so long that waiting is in vain. */
static bool
is_away(const struct shared_store *l, uint64_t mono)
{
	return l->phase != SHARED_UP &&
	    (l->connects == 0 || mono - l->phase_at >= l->timeout_ms);
}

static enum status
settle_here(struct shared_store *l, struct gate_grant *grant,
    const struct gate_ticket *t, handle_t who)
{
	struct told *told;
	enum status st;

	if (l->told_n == l->told_cap)
		return ST_OVERLOADED;
	st = count_here(l, grant, &t->member, t->group);
	if (st != ST_OK)
		return st;
	told = &l->told[(l->told_first + l->told_n++) % l->told_cap];
	*told = (struct told){.who = who, .status = ST_OK, .grant = *grant};
	/* The tunnel comes with the answer, and only then. */
	grant->tunnel = (struct gate_tunnel){0};
	task_defer(l->loop, &l->tell);
	return ST_OK;
}

static enum status
shared_settle(struct ledger_store *s, struct gate_grant *grant,
    const struct gate_ticket *t, enum verdict verdict, handle_t who, now_t now)
{
	struct shared_store *l = shared(s);
	enum status st = gate_approve(l->gate, t, verdict, now);
	struct op *op;

	*grant = (struct gate_grant){0};
	if (st != ST_OK)
		return st;
	if (l->phase != SHARED_UP && l->fall_back)
		return settle_here(l, grant, t, who);
	if (is_away(l, now.mono))
		return ST_LEDGER_UNREACHABLE;
	if (!has_room(l) || (op = shared_op_new(l, OP_COUNT)) == NULL)
		return ST_OVERLOADED;
	l->waiting++;
	op->since = now.mono;
	op->member = t->member;
	op->group = t->group;
	op->who = who;
	wind_up(l);
	return ST_OK;
}

static enum status
shared_add(struct ledger_store *s, struct gate_tunnel *tunnel, uint64_t up,
    uint64_t down)
{
	struct shared_store *l = shared(s);
	uint64_t sum_up = tunnel->unnoted_up + up;
	uint64_t sum_down = tunnel->unnoted_down + down;
	struct ledger_record r;
	bool due;
	enum status st = gate_tunnel_add(l->gate, tunnel, &r, &due, up, down);

	if (!due)
		return st;
	if (l->phase == SHARED_UP && has_room(l)) {
		shared_owe(l, &tunnel->member, 0, 0, sum_up, sum_down);
	} else {
		/* Later, or when the tunnel closes. */
		tunnel->unnoted_up = sum_up;
		tunnel->unnoted_down = sum_down;
	}
	return st;
}

static void
shared_close(struct ledger_store *s, struct gate_tunnel *tunnel)
{
	struct shared_store *l = shared(s);
	struct ledger_record r;

	if (tunnel->open) {
		l->open--;
		shared_owe(l, &tunnel->member, 0, -1, tunnel->unnoted_up,
		    tunnel->unnoted_down);
	}
	(void)gate_tunnel_close(l->gate, tunnel, &r);
}

static int
shared_fd(const struct ledger_store *s)
{
	(void)s;
	return -1;
}

static void
shared_dispatch(struct ledger_store *s)
{
	(void)s;
}

static void
shared_tick(struct ledger_store *s, now_t now)
{
	struct shared_store *l = shared(s);
	uint64_t closed;

	(void)gate_tick(l->gate, &closed, now);
	shared_look_at_clock(l, now.mono);
}

static void
shared_health(struct ledger_store *s, struct ledger_store_health *out)
{
	struct shared_store *l = shared(s);
	bool away = is_away(l, loop_now(l->loop));

	*out = (struct ledger_store_health){
	    .status = away && !l->fall_back ? ST_LEDGER_UNREACHABLE : ST_OK,
	    .pending = l->waiting + l->told_n,
	    .shared = true,
	    .up = !away,
	    .why_down = l->why_down,
	    .connects = l->connects,
	    .timeouts = l->timeouts,
	    .owed = l->owed,
	    .lost = l->lost,
	};
}

/* --- life --- */

static void
release(struct shared_store *l)
{
	deadline_stop(l->loop, &l->clock);
	task_drop(&l->send);
	task_drop(&l->tell);
	redis_link_free(&l->link);
	free(l->op_memory);
	free(l->op_slots);
	free(l->told);
	free(l);
}

static bool
is_quiet(const struct shared_store *l)
{
	return list_empty(&l->queued) && list_empty(&l->sent) &&
	    list_empty(&l->held);
}

static void
shared_free(struct ledger_store *s)
{
	struct shared_store *l = shared(s);
	uint64_t until = loop_now(l->loop) + LAST_WORDS_MS;

	on_tell(&l->tell);
	l->fall_back = false;
	while (!is_quiet(l) && l->phase == SHARED_UP &&
	    loop_now(l->loop) < until &&
	    loop_turn(l->loop, l->timeout_ms / LOOKS + 1) == ST_OK)
		;
	help_list(l, &l->held, UINT64_MAX);
	help_list(l, &l->sent, UINT64_MAX);
	help_list(l, &l->queued, UINT64_MAX);
	release(l);
}

static const struct ledger_store_ops shared_ops = {
    .settle = shared_settle,
    .add = shared_add,
    .close = shared_close,
    .fd = shared_fd,
    .dispatch = shared_dispatch,
    .tick = shared_tick,
    .health = shared_health,
    .free = shared_free,
};

bool
shared_prefix_is_good(const char *text)
{
	size_t n = strlen(text);

	return n >= 1 && n < SHARED_PREFIX_MAX &&
	    strspn(text,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789._-") == n;
}

/* What gateways that share a ledger must have in common: the key that makes
 * members' names, and what makes epochs and nullifiers. */
static void
make_digest(struct shared_store *l)
{
	static const char label[] = "postern/shared";
	const struct epoch_rules *rules = &l->gate->book.rules;
	uint8_t digest[32], numbers[8];
	crypto_generichash_state h;

	store_be32(numbers, rules->length);
	store_be32(numbers + 4, rules->slots);
	/* Fails only for lengths out of range. */
	(void)crypto_generichash_init(
	    &h, l->gate->member_key, MEMBER_KEY, sizeof(digest));
	(void)crypto_generichash_update(
	    &h, (const uint8_t *)label, sizeof(label));
	(void)crypto_generichash_update(&h, numbers, sizeof(numbers));
	(void)crypto_generichash_update(
	    &h, (const uint8_t *)rules->realm, sizeof(rules->realm));
	(void)crypto_generichash_final(&h, digest, sizeof(digest));
	wipe(&h, sizeof(h));
	hex_encode(l->digest, span_of(digest, sizeof(digest)));
}

static enum status
make_memory(struct shared_store *l, const struct shared_store_config *c)
{
	/* Two for each session (a count and its undoing, a tunnel's end), and
	 * what may be owed. */
	uint32_t n =
	    2 * c->pending + (c->fall_back ? OWED_MAX : 0) + 2 * OPS_SPARE;

	l->op_memory = calloc(n, sizeof(struct op));
	l->op_slots = calloc(n, sizeof(struct slab_slot));
	l->told = calloc(c->pending, sizeof(*l->told));
	l->told_cap = c->pending;
	if (l->op_memory == NULL || l->op_slots == NULL || l->told == NULL)
		return ST_NO_MEMORY;
	slab_init(&l->ops, l->op_memory, l->op_slots, sizeof(struct op), n);
	return ST_OK;
}

static void
set_up(struct shared_store *l, const struct shared_store_config *c)
{
	uint8_t id[8];

	l->timeout_ms = c->timeout_ms != 0 ? c->timeout_ms : TIMEOUT_MS;
	l->lease_ms = c->lease_ms != 0 ? c->lease_ms : LEASE_MS;
	l->replicas = c->replicas;
	l->fall_back = c->fall_back;
	snprintf(l->prefix, sizeof(l->prefix), "%s", c->prefix);
	randombytes_buf(id, sizeof(id));
	hex_encode(l->id, span_of(id, sizeof(id)));
	make_digest(l);
	list_init(&l->queued);
	list_init(&l->sent);
	list_init(&l->held);
	task_init(&l->send, on_send);
	task_init(&l->tell, on_tell);
	deadline_init(&l->clock, on_clock);
	snprintf(l->why_down, sizeof(l->why_down), "not connected yet");
}

enum status
shared_store_new(struct ledger_store **store, struct loop *loop,
    struct gate *gate, const struct shared_store_config *config,
    ledger_settled_fn *settled, void *ctx, char why[static REDIS_LINK_WHY_MAX])
{
	struct redis_link_config link = config->link;
	struct shared_store *l;
	enum status st;

	*store = NULL;
	snprintf(why, REDIS_LINK_WHY_MAX, "out of memory");
	if (!shared_prefix_is_good(config->prefix)) {
		snprintf(why, REDIS_LINK_WHY_MAX, "no such prefix is possible");
		return ST_BAD_VALUE;
	}
	if (config->pending == 0 || (l = calloc(1, sizeof(*l))) == NULL)
		return ST_NO_MEMORY;
	l->store = (struct ledger_store){&shared_ops, settled, ctx};
	l->loop = loop;
	l->gate = gate;
	gate->counts_elsewhere = true;
	set_up(l, config);
	link.ops = &shared_link_ops;
	link.ctx = l;
	if (link.timeout_ms == 0)
		link.timeout_ms = l->timeout_ms;
	st = make_memory(l, config);
	if (st == ST_OK)
		st = redis_link_new(&l->link, loop, &link, why);
	if (st != ST_OK) {
		release(l);
		return st;
	}
	why[0] = '\0';
	*store = &l->store;
	return ST_OK;
}
