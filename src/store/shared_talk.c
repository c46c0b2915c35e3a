#include "store/shared_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "store/shared_script.h"

/* How long a member's counts stay after the end of their epoch, beside one
 * more epoch: longer than any grace, and than a wrong clock goes unnoticed. */
#define KEEP_MS GATE_HOLD_DEFAULT
/* What gateways have in common is kept for so long without any of them. */
#define DIGEST_KEEP_MS (UINT64_C(7) * 86400 * 1000)
/* Signs of life in one lease. */
#define BEATS 6
/* Commands on the way at a time. What the server remembers of a member's grows
 * with those that it may see again. */
#define WINDOW 256
/* When there is no memory for a command: try again. */
#define BUSY_MS 50

/* --- ops --- */

struct op *
shared_op_new(struct shared_store *l, enum op_kind kind)
{
	struct op *op;
	void *object;
	handle_t self;

	if (slab_take(&l->ops, &self, &object) != ST_OK)
		return NULL;
	op = object;
	op->self = self;
	op->kind = kind;
	op->seq = ++l->seq;
	list_init(&op->node);
	list_append(&l->queued, &op->node);
	if (l->phase == SHARED_UP)
		task_defer(l->loop, &l->send);
	return op;
}

void
shared_op_free(struct shared_store *l, struct op *op)
{
	if (op->kind == OP_ADD && op->requests > 0)
		l->owed -= (uint64_t)op->requests;
	list_remove(&op->node);
	slab_release(&l->ops, op->self);
}

/* An op for differences of MEMBER's; NULL, and lost, if there is none left. */
static struct op *
owe(struct shared_store *l, const member_t *member)
{
	struct op *op = shared_op_new(l, OP_ADD);

	if (op == NULL)
		l->lost++;
	else
		op->member = *member;
	return op;
}

void
shared_owe(struct shared_store *l, const member_t *member, int32_t requests,
    int32_t tunnels, uint64_t up, uint64_t down)
{
	struct op *op = owe(l, member);

	if (op == NULL)
		return;
	op->requests = requests;
	op->tunnels = tunnels;
	op->up = up;
	op->down = down;
	if (requests > 0)
		l->owed += (uint64_t)requests;
}

void
shared_take_back(struct shared_store *l, const struct op *counted)
{
	struct op *op = owe(l, &counted->member);

	if (op == NULL)
		return;
	op->group = counted->group;
	op->requests = op->tunnels = -1;
}

static struct op *
first_of(struct list_node *list)
{
	return list_empty(list) ? NULL
				: list_entry(list->next, struct op, node);
}

/* No number up to this one will be repeated. */
static uint64_t
acked(struct shared_store *l)
{
	struct list_node *const lists[] = {&l->held, &l->sent, &l->queued};

	for (size_t i = 0; i < 3; i++) {
		struct op *op = first_of(lists[i]);
		if (op != NULL)
			return op->seq - 1;
	}
	return l->seq;
}

/* --- commands --- */

#define WORDS_MAX 24

/* A command as it is being put together: words of TEXT, or from elsewhere. */
struct command {
	const char *words[WORDS_MAX];
	size_t lengths[WORDS_MAX];
	size_t n;
	char text[640];
	size_t used;
};

static void
say(struct command *c, const char *word)
{
	c->words[c->n] = word;
	c->lengths[c->n++] = strlen(word);
}

static void
say_number(struct command *c, int64_t n)
{
	char *at = c->text + c->used;
	int len = snprintf(at, sizeof(c->text) - c->used, "%" PRId64, n);

	/* At most 20 digits each: the text has room for all words. */
	say(c, at);
	c->used += (size_t)len + 1;
}

/* A limit of a quota, as the script wants it; MAX is where a usage ends. */
static void
say_limit(struct command *c, uint64_t limit, uint64_t max)
{
	if (limit == QUOTA_UNLIMITED)
		say(c, "-1");
	else
		say_number(c, (int64_t)(limit < max ? limit : max));
}

static void
say_key(struct command *c, const struct shared_store *l, const char *name)
{
	char *at = c->text + c->used;
	int len =
	    snprintf(at, sizeof(c->text) - c->used, "%s:%s", l->prefix, name);

	say(c, at);
	c->used += (size_t)len + 1;
}

static void
say_member(
    struct command *c, const struct shared_store *l, const member_t *member)
{
	char name[24 + 2 * MEMBER_TAG + 1];
	int n = snprintf(name, sizeof(name), "%" PRIu64 ":", member->epoch);

	hex_encode(name + n, span_of(member->tag, MEMBER_TAG));
	say_key(c, l, name);
}

static enum status
send_command(struct shared_store *l, const struct command *c)
{
	return redis_link_send(l->link, c->n, c->words, c->lengths);
}

static void
begin_script(struct command *c, const struct shared_store *l)
{
	*c = (struct command){.n = 0};
	say(c, "EVALSHA");
	say(c, l->script);
	say(c, "2");
}

static enum status
send_hello(struct shared_store *l)
{
	struct command c;

	begin_script(&c, l);
	say_key(&c, l, "key");
	say_key(&c, l, "gateways");
	say(&c, "hello");
	say(&c, l->id);
	say(&c, l->digest);
	say_number(&c, l->lease_ms);
	say_number(&c, (int64_t)DIGEST_KEEP_MS);
	l->beat_at = loop_now(l->loop);
	return send_command(l, &c);
}

static enum status
send_wait(struct shared_store *l)
{
	struct command c = {.n = 0};

	say(&c, "WAIT");
	say_number(&c, l->replicas);
	say_number(&c, l->timeout_ms / 2 + 1);
	return send_command(l, &c);
}

/* When the counts of EPOCH go, in ms: the same at every gateway. */
static int64_t
end_ms(const struct shared_store *l, uint64_t epoch)
{
	const struct epoch_rules *rules = &l->gate->book.rules;

	return (int64_t)((epoch_end(rules, epoch) + rules->length) * 1000 +
	    KEEP_MS);
}

static void
say_limits(struct command *c, const struct quota_limits *q)
{
	bucket_times_t t;

	say_limit(c, q->requests, USAGE_REQUESTS_MAX);
	say_limit(c, q->tunnels, USAGE_TUNNELS_MAX);
	say_limit(c, q->bytes_up, USAGE_BYTES_MAX);
	say_limit(c, q->bytes_down, USAGE_BYTES_MAX);
	if (q->rate.count == BUCKET_UNLIMITED)
		return;
	t = bucket_times(&q->rate);
	say_number(c, (int64_t)t.token);
	say_number(c, (int64_t)t.whole);
}

/* What the request that OP takes back took of its group's rate. */
static void
say_token(struct command *c, const struct shared_store *l, const struct op *op)
{
	const bucket_rate_t *rate = &l->gate->limits[op->group].rate;

	say_number(c,
	    rate->count != BUCKET_UNLIMITED ? (int64_t)bucket_times(rate).token
					    : 0);
}

static enum status
send_op(struct shared_store *l, const struct op *op)
{
	static const char *const names[] = {
	    [OP_COUNT] = "count", [OP_ADD] = "add", [OP_CANCEL] = "cancel"};
	struct command c;

	if (op->kind == OP_BEAT)
		return send_hello(l);
	if (op->kind == OP_WAIT)
		return send_wait(l);
	begin_script(&c, l);
	say_member(&c, l, &op->member);
	say_key(&c, l, "gateways");
	say(&c, names[op->kind]);
	say(&c, l->id);
	say_number(&c, (int64_t)op->seq);
	say_number(&c, (int64_t)acked(l));
	say_number(&c, end_ms(l, op->member.epoch));
	if (op->kind == OP_COUNT) {
		say_limits(&c, &l->gate->limits[op->group]);
	} else if (op->kind == OP_CANCEL) {
		say_token(&c, l, op);
	} else if (op->kind == OP_ADD) {
		say_number(&c, op->requests);
		say_number(&c, op->tunnels);
		say_number(&c, (int64_t)op->up);
		say_number(&c, (int64_t)op->down);
		if (op->requests < 0)
			say_token(&c, l, op);
	}
	return send_command(l, &c);
}

/* Send what is queued, and ask at the end of it whether replicas have it. */
void
shared_send(struct shared_store *l)
{
	struct op *op;

	while (l->phase == SHARED_UP && l->on_the_way < WINDOW &&
	    (op = first_of(&l->queued)) != NULL) {
		if (send_op(l, op) != ST_OK) {
			deadline_start(l->loop, &l->clock, BUSY_MS);
			return;
		}
		op->sent_at = loop_now(l->loop);
		list_remove(&op->node);
		list_append(&l->sent, &op->node);
		l->on_the_way++;
		l->wait_wanted |= op->kind == OP_COUNT && l->replicas > 0;
		if (l->wait_wanted && list_empty(&l->queued))
			l->wait_wanted = shared_op_new(l, OP_WAIT) == NULL;
	}
}

/* --- the connection's end --- */

/* All that had no answer is to be said again, in its order; but for what is
 * good on one connection only. */
static void
queue_again(struct shared_store *l)
{
	struct list_node all, *n;

	list_init(&all);
	l->on_the_way = 0;
	list_splice(&all, &l->held);
	list_splice(&all, &l->sent);
	for (n = all.next; n != &all;) {
		struct op *op = list_entry(n, struct op, node);
		n = n->next;
		op->tried = true;
		if (op->kind == OP_BEAT || op->kind == OP_WAIT)
			shared_op_free(l, op);
		else if (op->kind == OP_COUNT && op->late)
			op->kind = OP_CANCEL;
	}
	list_splice(&all, &l->queued);
	list_splice(&l->queued, &all);
	l->wait_wanted = false;
}

static void
set_phase(struct shared_store *l, enum shared_phase phase)
{
	l->phase = phase;
	l->phase_at = loop_now(l->loop);
}

static void
on_down(void *ctx, const char *why)
{
	struct shared_store *l = ctx;

	if (l->phase != SHARED_DOWN || l->phase_at == 0)
		set_phase(l, SHARED_DOWN);
	snprintf(l->why_down, sizeof(l->why_down), "%s", why);
	queue_again(l);
	shared_lost_touch(l);
}

/* This connection is of no use. */
static void
give_up(struct shared_store *l, const char *why)
{
	redis_link_give_up(l->link);
	on_down(l, why);
}

/* --- its beginning --- */

static void
on_up(void *ctx)
{
	const char *const words[] = {"SCRIPT", "LOAD", shared_script};
	const size_t lengths[] = {6, 4, strlen(shared_script)};
	struct shared_store *l = ctx;

	set_phase(l, SHARED_LOADING);
	deadline_start(l->loop, &l->clock, l->timeout_ms);
	if (redis_link_send(l->link, 3, words, lengths) != ST_OK)
		give_up(l, "out of memory");
}

static void
say_error(struct shared_store *l, const redisReply *r)
{
	char why[REDIS_LINK_WHY_MAX], word[32];

	redis_error_word(word, r);
	snprintf(why, sizeof(why), "it refuses to count: %s", word);
	give_up(l, why);
}

static void
take_loaded(struct shared_store *l, const redisReply *r)
{
	if (r->type != REDIS_REPLY_STRING || r->len != sizeof(l->script) - 1) {
		say_error(l, r);
		return;
	}
	memcpy(l->script, r->str, sizeof(l->script));
	set_phase(l, SHARED_HELLO);
	if (send_hello(l) != ST_OK)
		give_up(l, "out of memory");
}

static void
take_hello(struct shared_store *l, const redisReply *r)
{
	if (r->type != REDIS_REPLY_INTEGER) {
		say_error(l, r);
		return;
	}
	if (r->integer != 1) {
		give_up(l,
		    "gateways with another key, realm, epoch or slots "
		    "count there");
		return;
	}
	if (l->phase == SHARED_UP)
		return;
	set_phase(l, SHARED_UP);
	l->why_down[0] = '\0';
	l->connects++;
	task_defer(l->loop, &l->send);
}

/* --- answers --- */

static uint64_t
bounded(long long n, uint64_t max)
{
	if (n < 0)
		return 0;
	return (uint64_t)n < max ? (uint64_t)n : max;
}

/* What the script says.
 * Returns: false: it is nothing of the kind. */
static bool
read_usage(struct shared_store *l, enum shared_cause *cause, usage_t *u,
    const redisReply *r)
{
	long long n[6];

	if (r->type != REDIS_REPLY_ARRAY || r->elements != 6)
		return false;
	for (size_t i = 0; i < 6; i++) {
		if (r->element[i]->type != REDIS_REPLY_INTEGER)
			return false;
		n[i] = r->element[i]->integer;
	}
	if (n[0] < 0 || n[0] >= SHARED_CAUSES)
		return false;
	*cause = (enum shared_cause)n[0];
	*u = (usage_t){
	    .requests = (uint32_t)bounded(n[1], USAGE_REQUESTS_MAX),
	    .tunnels = (uint16_t)bounded(n[2], USAGE_TUNNELS_MAX),
	    .bytes_up = bounded(n[3], USAGE_BYTES_MAX),
	    .bytes_down = bounded(n[4], USAGE_BYTES_MAX),
	    .full_at = loop_now(l->loop) * 1000 + bounded(n[5], INT64_MAX),
	};
	return true;
}

static enum status
status_of(enum shared_cause cause)
{
	static const enum status of[SHARED_CAUSES] = {
	    [SHARED_COUNTED] = ST_OK,
	    [SHARED_REQUESTS] = ST_QUOTA_REQUESTS,
	    [SHARED_BYTES] = ST_QUOTA_BYTES,
	    [SHARED_RATE] = ST_QUOTA_RATE,
	    [SHARED_TUNNELS] = ST_QUOTA_TUNNELS,
	    [SHARED_PAST] = ST_EPOCH_PAST,
	};

	return of[cause];
}

static void
take_count(
    struct shared_store *l, struct op *op, enum shared_cause cause, usage_t *u)
{
	if (op->late) {
		if (cause == SHARED_COUNTED)
			shared_take_back(l, op);
		shared_op_free(l, op);
	} else if (cause != SHARED_COUNTED) {
		shared_refuse(l, op, status_of(cause), u);
	} else if (l->replicas > 0) {
		op->usage = *u;
		list_remove(&op->node);
		list_append(&l->held, &op->node);
	} else {
		shared_confirm(l, op, u);
	}
}

/* Replicas have what was sent before, or have not. */
static void
take_wait(struct shared_store *l, const redisReply *r)
{
	bool safe = r->type == REDIS_REPLY_INTEGER &&
	    r->integer >= (long long)l->replicas;
	struct op *op;

	while ((op = first_of(&l->held)) != NULL) {
		usage_t u = op->usage;
		if (!op->late && safe) {
			shared_confirm(l, op, &u);
			continue;
		}
		shared_take_back(l, op);
		if (op->late)
			shared_op_free(l, op);
		else
			shared_refuse(l, op, ST_LEDGER_UNREACHABLE, NULL);
	}
}

static void
take_op(struct shared_store *l, struct op *op, const redisReply *r)
{
	enum shared_cause cause;
	usage_t u;

	if (!read_usage(l, &cause, &u, r)) {
		say_error(l, r);
		return;
	}
	if (op->kind == OP_COUNT) {
		take_count(l, op, cause, &u);
		return;
	}
	if (cause == SHARED_COUNTED)
		gate_hear(l->gate, &op->member, &u);
	shared_op_free(l, op);
}

static void
on_reply(void *ctx, const redisReply *r)
{
	struct shared_store *l = ctx;
	struct op *op;

	if (l->phase == SHARED_LOADING) {
		take_loaded(l, r);
		return;
	}
	if (l->phase == SHARED_HELLO) {
		take_hello(l, r);
		return;
	}
	if ((op = first_of(&l->sent)) == NULL) {
		give_up(l, "what it answers is not understood");
		return;
	}
	l->on_the_way--;
	if (!list_empty(&l->queued))
		task_defer(l->loop, &l->send);
	if (op->kind == OP_BEAT) {
		shared_op_free(l, op);
		take_hello(l, r);
	} else if (op->kind == OP_WAIT) {
		shared_op_free(l, op);
		take_wait(l, r);
	} else {
		take_op(l, op, r);
	}
}

const struct redis_link_ops shared_link_ops = {
    .up = on_up,
    .reply = on_reply,
    .down = on_down,
};

/* --- time --- */

void
shared_look_at_clock(struct shared_store *l, uint64_t mono)
{
	struct op *op = first_of(&l->sent);

	if ((l->phase == SHARED_LOADING || l->phase == SHARED_HELLO) &&
	    mono - l->phase_at >= l->timeout_ms)
		give_up(l, "it does not answer");
	else if (op != NULL && mono - op->sent_at >= l->timeout_ms)
		give_up(l, "it does not answer");
	else if (l->phase == SHARED_UP &&
	    mono - l->beat_at >= l->lease_ms / BEATS) {
		l->beat_at = mono;
		(void)shared_op_new(l, OP_BEAT);
	}
}
