/* The gate as a whole: screening, settling, and what a bad proof can not do.
 *
 * The proofs here are well formed and no more; whether they hold is the
 * worker's verdict, which the test gives. Real ones cross the gate in the
 * end-to-end tests. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/text.h"
#include "gate/gate.h"
#include "gate_util.h"
#include "harness.h"

#define DAY 86400
#define EPOCH 20000
#define HOLD 900 /* seconds */
#define NOON (UINT64_C(20000) * DAY + DAY / 2)

static struct gate *gate;
static void *memory;
static struct gate_ticket ticket;
static struct semaphore_fault fault;
static struct quota_left left;

static const struct quota_limits roomy = {
    .requests = 3,
    .tunnels = 100,
    .bytes_up = QUOTA_UNLIMITED,
    .bytes_down = QUOTA_UNLIMITED,
    .rate = {BUCKET_UNLIMITED, 0},
};

static void
root_bytes(uint8_t out[static 32], uint32_t n)
{
	memset(out, 0, 32);
	store_be32(out + 28, n);
}

static void
set_root(uint16_t group, uint32_t n, now_t now)
{
	struct root r = {.group = group, .depth = 10, .members = 100};

	root_bytes(r.root, n);
	CHECK_STATUS(roots_set(&gate->roots, &r, now.mono), ST_OK);
}

/* A gate with one group, whose root is 1 and whose quota is `roomy`. */
static void
open_gate(const char *realm, uint32_t slots)
{
	struct gate_config c = {
	    .epoch = {.length = DAY, .grace = 600, .early = 60, .slots = slots},
	    .audience = {.message = {[31] = 7}},
	    .root_keep = 3600 * 1000,
	    .hold = HOLD * 1000,
	    .memory = heap_chunks,
	    .ledger_chunks = 10,
	    .roots = 2 * ROOT_GROUPS_MAX,
	    .cached = 10,
	    .checks = 10,
	    .sessions = 100,
	};

	strcpy(c.epoch.realm, realm);
	gate = calloc(1, sizeof(*gate));
	memory = calloc(1, gate_memory(&c));
	CHECK(gate != NULL && memory != NULL);
	CHECK_STATUS(gate_init(gate, &c, memory), ST_OK);
	set_root(0, 1, at(NOON));
	gate_set_limits(gate, 0, &roomy);
}

static void
close_gate(void)
{
	gate_clear(gate);
	free(gate);
	free(memory);
}

/* A proof of member N for root ROOT; VARIANT changes its points alone. */
static struct semaphore_proof
make_proof(uint32_t n, uint32_t root, uint32_t variant)
{
	struct semaphore_proof p = {
	    .depth = 10,
	    .form = SEMAPHORE_AFFINE,
	    .message = {[31] = 7},
	};

	root_bytes(p.root, root);
	store_be32(p.nullifier + 4, n);
	for (unsigned i = 0; i < 8; i++)
		store_be32(p.points + 32 * i + 28, 1 + i + variant);
	epoch_scope(p.scope, &gate->book.rules, EPOCH, 0);
	return p;
}

static enum status
screen_proof(const struct semaphore_proof *p, now_t now)
{
	char json[SEMAPHORE_JSON_MAX], token[2 * SEMAPHORE_JSON_MAX];
	size_t len;

	CHECK_STATUS(semaphore_proof_to_json(json, &len, p), ST_OK);
	base64_encode(token, span_of(json, len), BASE64_URL);
	return gate_screen(
	    gate, &ticket, &fault, &left, ST_OK, span_str(token), now);
}

/* The compact token of member N. */
static enum status
screen_compact(uint32_t n, uint32_t epoch, uint16_t slot, now_t now)
{
	char token[SEMAPHORE_COMPACT_LENGTH + 1];

	make_token(token, n, epoch, slot);
	return gate_screen(
	    gate, &ticket, &fault, &left, ST_OK, span_str(token), now);
}

/* Nothing that anybody could pass with; whose limits were looked at may be
 * told. */
static void
check_no_ticket(void)
{
	struct gate_ticket none;

	memset(&none, 0, sizeof(none));
	none.group = ticket.group;
	CHECK_MEM(&ticket, &none, sizeof(none));
}

static enum status
settle(struct gate_grant *grant, enum verdict v, now_t now)
{
	return gate_settle(gate, grant, &ticket, v, now);
}

/* --- cases --- */

static void
test_order(void)
{
	now_t now = at(NOON);
	struct gate_grant grant;
	struct semaphore_proof p;

	open_gate("", 1);
	/* What the head parser found goes first. */
	CHECK_STATUS(gate_screen(gate, &ticket, &fault, &left,
			 ST_CREDENTIAL_MISSING, span_of(NULL, 0), now),
	    ST_CREDENTIAL_MISSING);
	check_no_ticket();
	/* A token that is none: where and why is said. */
	CHECK_STATUS(gate_screen(gate, &ticket, &fault, &left, ST_OK,
			 span_str("e30"), now),
	    ST_CREDENTIAL_BAD);
	CHECK_STATUS(fault.status, ST_MISSING);
	check_no_ticket();

	/* Everything wrong at once, then mended one by one: the causes come in
	 * the order of the design. */
	p = make_proof(1, 99, 0);
	p.message[31] = 8;
	epoch_scope(p.scope, &gate->book.rules, EPOCH - 1, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_EPOCH_PAST);
	check_no_ticket();
	epoch_scope(p.scope, &gate->book.rules, EPOCH + 1, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_EPOCH_FUTURE);
	p.scope[0] = 1;
	CHECK_STATUS(screen_proof(&p, now), ST_SCOPE_UNKNOWN);
	epoch_scope(p.scope, &gate->book.rules, EPOCH, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_MESSAGE_WRONG);
	check_no_ticket();
	p.message[31] = 7;
	CHECK_STATUS(screen_proof(&p, now), ST_ROOT_UNKNOWN);
	check_no_ticket();
	set_root(1, 99, now); /* a group whose limits nobody has set */
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_QUOTA_REQUESTS);
	CHECK_STATUS(screen_proof(&p, now), ST_QUOTA_REQUESTS);
	CHECK_INT(left.retry, DAY / 2);
	check_no_ticket();
	p = make_proof(1, 99, 1); /* one that is not known */
	gate_set_limits(gate, 1, &roomy);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_INT(ticket.group, 1);
	CHECK_INT(ticket.verdict, VERDICT_NONE);
	CHECK_MEM(&ticket.proof, &p, sizeof(p));
	close_gate();
}

/* Both forms of a token name the same member; the compact one gets its message
 * and scope from the gate. */
static void
test_forms(void)
{
	now_t now = at(NOON);
	struct gate_ticket json;
	struct semaphore_proof p;

	open_gate("north", 8);
	p = make_proof(5, 1, 0);
	epoch_scope(p.scope, &gate->book.rules, EPOCH, 3);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	json = ticket;
	CHECK_INT(json.slot, 3);
	CHECK_STATUS(screen_compact(5, EPOCH, 3, now), ST_OK);
	CHECK_MEM(&ticket.member, &json.member, sizeof(json.member));
	CHECK_MEM(ticket.proof.message, p.message, 32);
	CHECK_MEM(ticket.proof.scope, p.scope, 32);
	CHECK_INT(ticket.slot, 3);
	/* Another slot is another member, with a scope of its own. */
	CHECK_STATUS(screen_compact(5, EPOCH, 4, now), ST_OK);
	CHECK(memcmp(&ticket.member, &json.member, sizeof(json.member)) != 0);
	CHECK(memcmp(ticket.proof.scope, p.scope, 32) != 0);

	CHECK_STATUS(screen_compact(5, EPOCH, 8, now), ST_SCOPE_UNKNOWN);
	CHECK_STATUS(screen_compact(5, EPOCH - 1, 0, now), ST_EPOCH_PAST);
	CHECK_STATUS(screen_compact(5, EPOCH + 1, 0, now), ST_EPOCH_FUTURE);
	CHECK_STATUS(
	    screen_compact(5, EPOCH - 1, 0, at(NOON - DAY / 2 + 599)), ST_OK);
	CHECK_INT(ticket.member.epoch, EPOCH - 1);
	CHECK_STATUS(
	    screen_compact(5, EPOCH + 1, 0, at(NOON + DAY / 2 - 60)), ST_OK);

	/* With `any`, the compact form still stands for our own message. */
	gate->audience.any = true;
	p.message[31] = 200;
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_INT(ticket.proof.message[31], 200);
	CHECK_STATUS(screen_compact(5, EPOCH, 3, now), ST_OK);
	CHECK_INT(ticket.proof.message[31], 7);
	close_gate();
}

/* A bad proof, of a member whose nullifier is known, any number of times. */
static void
test_bad_proof_costs_nothing(void)
{
	now_t now = at(NOON);
	struct gate_grant grant;
	struct ledger_stats stats;
	struct semaphore_proof p;

	open_gate("", 1);
	for (uint32_t i = 0; i < 1000; i++) {
		p = make_proof(1, 1, i);
		CHECK_STATUS(screen_proof(&p, now), ST_OK);
		CHECK_INT(ticket.verdict, VERDICT_NONE);
		CHECK_STATUS(
		    settle(&grant, i % 2 ? VERDICT_REJECT : VERDICT_NONE, now),
		    ST_PROOF_INVALID);
		CHECK(!grant.tunnel.open);
	}
	ledger_stats(&stats, &gate->ledger);
	CHECK_INT(stats.entries, 0);
	/* Not even in the cache. */
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_INT(ticket.verdict, VERDICT_NONE);
	/* The member comes: the whole quota is there. */
	p = make_proof(1, 1, 5000);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_OK);
	CHECK_INT(grant.left.requests, 2);
	/* A forgotten ticket lets nobody pass. */
	memset(&ticket, 0, sizeof(ticket));
	CHECK(settle(&grant, VERDICT_ACCEPT, now) != ST_OK);
	CHECK(!grant.tunnel.open);
	close_gate();
}

static void
test_count(void)
{
	now_t now = at(NOON);
	struct gate_grant grant[4];
	struct semaphore_proof p;
	struct ledger_record r;
	bool note;

	open_gate("", 1);
	p = make_proof(1, 1, 0);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_STATUS(screen_proof(&p, now), ST_OK);
		/* Verified once, known from then on. */
		CHECK_INT(
		    ticket.verdict, i == 0 ? VERDICT_NONE : VERDICT_ACCEPT);
		CHECK_STATUS(settle(&grant[i], VERDICT_ACCEPT, now), ST_OK);
		CHECK(grant[i].tunnel.open);
		CHECK_INT(grant[i].record.requests, i + 1);
		CHECK_INT(grant[i].left.requests, 2 - i);
		CHECK_INT(grant[i].left.tunnels, 99 - i);
		CHECK_INT(grant[i].left.reset, DAY / 2);
	}
	CHECK_STATUS(screen_proof(&p, now), ST_QUOTA_REQUESTS);
	check_no_ticket();
	/* Another member is not affected. */
	p = make_proof(2, 1, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	/* Nor does a forgery of the first's learn what is left to them: it
	 * looks as it did before they came. */
	p = make_proof(1, 1, 1);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_INT(ticket.verdict, VERDICT_NONE);
	CHECK_INT(left.requests, 0);
	CHECK_STATUS(settle(&grant[3], VERDICT_REJECT, now), ST_PROOF_INVALID);
	CHECK_INT(grant[3].left.requests, 0);

	/* A count that could not be written down is taken back. */
	gate_refund(gate, &grant[2].tunnel);
	CHECK(!grant[2].tunnel.open);
	gate_refund(gate, &grant[2].tunnel);
	p = make_proof(1, 1, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_STATUS(settle(&grant[3], VERDICT_ACCEPT, now), ST_OK);
	CHECK_INT(grant[3].left.requests, 0);
	CHECK_INT(grant[3].left.tunnels, 97);

	/* Bytes: the journal hears of them now and then, and at the end. */
	CHECK_STATUS(
	    gate_tunnel_add(gate, &grant[0].tunnel, &r, &note, 1000, 2000),
	    ST_OK);
	CHECK(!note);
	CHECK_STATUS(gate_tunnel_add(
			 gate, &grant[1].tunnel, &r, &note, 0, GATE_NOTE_BYTES),
	    ST_OK);
	CHECK(note);
	CHECK_INT(r.bytes_up, 1000);
	CHECK_INT(r.bytes_down, 2000 + GATE_NOTE_BYTES);
	CHECK_INT(r.requests, 3);
	CHECK(gate_tunnel_close(gate, &grant[0].tunnel, &r));
	CHECK(!gate_tunnel_close(gate, &grant[0].tunnel, &r));
	CHECK(!gate_tunnel_close(gate, &grant[1].tunnel, &r));

	/* A byte limit that comes with a reload holds for open tunnels. */
	struct quota_limits tight = roomy;
	tight.bytes_down = 10000;
	gate_set_limits(gate, 0, &tight);
	CHECK_STATUS(gate_tunnel_add(gate, &grant[3].tunnel, &r, &note, 1, 0),
	    ST_QUOTA_BYTES);
	CHECK(note);
	close_gate();
}

/* What has an id of its own is counted once, whoever delivers it how often; the
 * member's quota is another matter. */
static void
test_once(void)
{
	now_t now = at(NOON);
	struct gate_grant grant;
	struct gate_ticket mark;
	struct ledger_record r;
	uint8_t id[GATE_ONCE_ID] = {1};
	struct semaphore_proof p;

	open_gate("", 1);
	for (uint32_t m = 1; m <= 2; m++) {
		p = make_proof(m, 1, 0);
		CHECK_STATUS(screen_proof(&p, now), ST_OK);
		for (id[1] = 0; id[1] < 5; id[1]++) {
			mark = gate_once(gate, &ticket, id);
			CHECK_STATUS(gate_settle(gate, &grant, &mark,
					 VERDICT_REJECT, now),
			    ST_PROOF_INVALID);
			CHECK_STATUS(gate_settle(gate, &grant, &mark,
					 VERDICT_ACCEPT, now),
			    ST_OK);
			CHECK(!gate_tunnel_close(gate, &grant.tunnel, &r));
			for (int again = 0; again < 2; again++)
				CHECK_STATUS(gate_settle(gate, &grant, &mark,
						 VERDICT_ACCEPT, now),
				    ST_QUOTA_REQUESTS);
		}
		/* All of the quota is there. */
		CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_OK);
		CHECK_INT(grant.left.requests, 2);
		CHECK_INT(grant.left.tunnels, 99);
	}
	/* Nobody's proof is known by it. */
	p = make_proof(3, 1, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	mark = gate_once(gate, &ticket, id);
	CHECK_STATUS(
	    gate_settle(gate, &grant, &mark, VERDICT_ACCEPT, now), ST_OK);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_INT(ticket.verdict, VERDICT_NONE);
	close_gate();
}

/* Fifty circuits show one good proof at once; all pass the screen; the
 * verdicts come in any order; exactly the quota passes. Members and bad proofs
 * are mixed in. */
static void
test_race(void)
{
	enum { circuits = 50 };
	static struct gate_ticket tickets[3][circuits];
	now_t now = at(NOON);
	unsigned passed[3] = {0};
	struct quota_limits twenty = roomy;
	struct gate_grant grant;

	open_gate("", 1);
	twenty.requests = 20;
	gate_set_limits(gate, 0, &twenty);
	for (uint32_t m = 0; m < 3; m++) {
		for (uint32_t i = 0; i < circuits; i++) {
			struct semaphore_proof p = make_proof(m, 1, i % 7);
			CHECK_STATUS(screen_proof(&p, now), ST_OK);
			tickets[m][i] = ticket;
		}
	}
	for (unsigned n = 0; n < 3 * circuits; n++) {
		/* 67 is prime to 150: every ticket once, in a scattered order. */
		unsigned k = n * 67 % (3 * circuits);
		unsigned m = k % 3, i = k / 3;
		/* Somebody guesses the third member's nullifier. */
		enum verdict v =
		    m == 2 && i % 2 ? VERDICT_REJECT : VERDICT_ACCEPT;
		enum status s =
		    gate_settle(gate, &grant, &tickets[m][i], v, now);
		if (s == ST_OK)
			passed[m]++;
		else if (v == VERDICT_ACCEPT)
			CHECK_STATUS(s, ST_QUOTA_REQUESTS);
		else
			CHECK_STATUS(s, ST_PROOF_INVALID);
	}
	CHECK_INT(passed[0], 20);
	CHECK_INT(passed[1], 20);
	CHECK_INT(passed[2], 20);
	close_gate();
}

/* Between screen and verdict the world changes. */
static void
test_changes_while_checking(void)
{
	now_t now = at(NOON);
	struct gate_grant grant;
	struct semaphore_proof p;

	open_gate("", 1);
	/* The list changes: the old root lives on for a time. */
	p = make_proof(1, 1, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	set_root(0, 2, now);
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_OK);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_INT(ticket.verdict, VERDICT_ACCEPT);
	CHECK_STATUS(
	    settle(&grant, VERDICT_ACCEPT, at(NOON + 3600)), ST_ROOT_UNKNOWN);
	CHECK_STATUS(screen_proof(&p, at(NOON + 3600)), ST_ROOT_UNKNOWN);
	/* The operator drops it at once; cached or not, it is out. */
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	roots_drop_replaced(&gate->roots, 0);
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_ROOT_UNKNOWN);
	CHECK_STATUS(screen_proof(&p, now), ST_ROOT_UNKNOWN);
	/* It comes back: what was cached under it is not believed. */
	set_root(0, 1, now);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_INT(ticket.verdict, VERDICT_NONE);
	/* It goes and comes back in the meantime: a ticket of before is void. */
	roots_drop_group(&gate->roots, 0);
	set_root(0, 1, now);
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_ROOT_UNKNOWN);

	/* The epoch ends, grace included, while the proof is checked. */
	CHECK_STATUS(screen_proof(&p, at(NOON + DAY / 2 + 599)), ST_OK);
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, at(NOON + DAY / 2 + 600)),
	    ST_EPOCH_PAST);
	close_gate();
}

/* The turn of an epoch: a new quota, the old one remembered while it can be
 * asked for, and then closed. */
static void
test_turn(void)
{
	const uint64_t midnight = NOON + DAY / 2;
	struct gate_grant old, new;
	struct ledger_record r;
	uint64_t closed, t;
	bool note;

	open_gate("", 1);
	for (int i = 0; i < 3; i++) {
		CHECK_STATUS(screen_compact(1, EPOCH, 0, at(NOON)), ST_OK);
		CHECK_STATUS(settle(&old, VERDICT_ACCEPT, at(NOON)), ST_OK);
	}
	for (t = NOON; t < midnight + 600; t += 300)
		CHECK(!gate_tick(gate, &closed, at(t)));
	CHECK_STATUS(
	    screen_compact(1, EPOCH, 0, at(midnight + 1)), ST_QUOTA_REQUESTS);
	CHECK_INT(left.retry, 0); /* with a proof of the new epoch, at once */
	CHECK_STATUS(screen_compact(1, EPOCH + 1, 0, at(midnight)), ST_OK);
	CHECK_STATUS(settle(&new, VERDICT_ACCEPT, at(midnight)), ST_OK);
	CHECK_INT(new.left.requests, 2);

	/* Out of reach from the end of the grace time; then the hold. */
	t = midnight + 600;
	CHECK(!gate_tick(gate, &closed, at(t)));
	CHECK(!gate_tick(gate, &closed, at(t + HOLD - 1)));
	CHECK_STATUS(
	    gate_tunnel_add(gate, &old.tunnel, &r, &note, 1, 1), ST_OK);
	CHECK(gate_tick(gate, &closed, at(t + HOLD)));
	CHECK_INT(closed, EPOCH);
	CHECK(!gate_tick(gate, &closed, at(t + HOLD + 1)));
	/* The clock goes back: no second quota in the old epoch. */
	CHECK_STATUS(
	    screen_compact(1, EPOCH, 0, at(midnight - 10)), ST_EPOCH_PAST);
	/* A tunnel of then is not metered any more: it goes on only where
	 * bytes are free. */
	CHECK_STATUS(
	    gate_tunnel_add(gate, &old.tunnel, &r, &note, 1, 1), ST_OK);
	struct quota_limits metered = roomy;
	metered.bytes_up = 1 << 30;
	gate_set_limits(gate, 0, &metered);
	CHECK_STATUS(
	    gate_tunnel_add(gate, &old.tunnel, &r, &note, 1, 1), ST_EPOCH_PAST);
	CHECK(!gate_tunnel_close(gate, &old.tunnel, &r));
	CHECK_STATUS(
	    gate_tunnel_add(gate, &new.tunnel, &r, &note, 1, 1), ST_OK);
	close_gate();
}

/* A day forward and back: refused meanwhile, and all is as it was. */
static void
test_clock_jumps(void)
{
	struct gate_grant grant;
	uint64_t closed;
	now_t now = at(NOON);

	open_gate("", 1);
	for (int i = 0; i < 2; i++) {
		CHECK_STATUS(screen_compact(1, EPOCH, 0, now), ST_OK);
		CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_OK);
	}
	for (int jump = 0; jump < 5; jump++) {
		now.mono += 60000;
		now.wall = NOON + DAY;
		CHECK(!gate_tick(gate, &closed, now));
		CHECK_STATUS(screen_compact(1, EPOCH, 0, now), ST_EPOCH_PAST);
		now.mono += 60000;
		now.wall = NOON - DAY;
		CHECK(!gate_tick(gate, &closed, now));
		CHECK_STATUS(screen_compact(1, EPOCH, 0, now), ST_EPOCH_FUTURE);
		now.mono += 60000;
		now.wall = NOON;
		CHECK(!gate_tick(gate, &closed, now));
		CHECK_STATUS(screen_compact(1, EPOCH, 0, now), ST_OK);
	}
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_OK);
	CHECK_INT(grant.left.requests, 0);
	CHECK_STATUS(screen_compact(1, EPOCH, 0, now), ST_QUOTA_REQUESTS);
	close_gate();
}

/* One identity in two groups has one usage, measured by the group shown. */
static void
test_groups(void)
{
	now_t now = at(NOON);
	struct gate_grant grant;
	struct quota_limits one = roomy;
	struct semaphore_proof p;

	open_gate("", 1);
	one.requests = 1;
	set_root(7, 70, now);
	gate_set_limits(gate, 7, &one);
	p = make_proof(1, 70, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_INT(ticket.group, 7);
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_OK);
	CHECK_INT(grant.left.requests, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_QUOTA_REQUESTS);
	p = make_proof(1, 1, 0);
	CHECK_STATUS(screen_proof(&p, now), ST_OK);
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_OK);
	CHECK_INT(grant.left.requests, 1);
	close_gate();
}

/* The ledger is full: a clear refusal, and nobody gets in uncounted. */
static void
test_ledger_full(void)
{
	now_t now = at(NOON);
	struct gate_grant grant;
	enum status s = ST_OK;
	uint32_t n = 0;

	open_gate("", 1);
	gate->ledger.chunks_max = 4;
	while (s == ST_OK) {
		CHECK_STATUS(screen_compact(n, EPOCH, 0, now), ST_OK);
		s = settle(&grant, VERDICT_ACCEPT, now);
		n++;
	}
	CHECK_STATUS(s, ST_LEDGER_FULL);
	CHECK(!grant.tunnel.open);
	CHECK(n > 24000);
	/* Who is counted goes on. */
	CHECK_STATUS(screen_compact(0, EPOCH, 0, now), ST_OK);
	CHECK_STATUS(settle(&grant, VERDICT_ACCEPT, now), ST_OK);
	close_gate();
}

TESTS({"gate: the order of checks", test_order},
    {"gate: both forms of a token", test_forms},
    {"gate: a bad proof costs its victim nothing",
	test_bad_proof_costs_nothing},
    {"gate: counting, refunds, bytes", test_count},
    {"gate: what is counted once", test_once},
    {"gate: not one more than the quota", test_race},
    {"gate: what changes while a proof is checked",
	test_changes_while_checking},
    {"gate: the turn of an epoch", test_turn},
    {"gate: a clock that jumps", test_clock_jumps},
    {"gate: groups", test_groups}, {"gate: a full ledger", test_ledger_full})
