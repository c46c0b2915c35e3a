/* Tunnels in every order of events: two parties that say, shout, end, cut,
 * leave and read. */
#include "harness.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tunnel_util.h"

/* What one side can do. */
enum act { SAY, SHOUT, END, CUT, LEAVE, READ, ACTS };

struct party {
	struct flow out; /* to the other */
	bool ended, gone, saw_end;
};

struct play {
	struct fixture f;
	struct route r;
	struct party party[2];
	bool cut; /* somebody was rude: bytes may be lost */
};

static void
party_read(struct play *p, int side)
{
	struct flow *in = &p->party[1 - side].out;
	ssize_t k;

	if (p->party[side].gone)
		return;
	while ((k = recv(p->r.app[side], buffer, sizeof(buffer), 0)) > 0) {
		CHECK_MEM(buffer, bytes_at(in->received), (size_t)k);
		in->received += (uint64_t)k;
	}
	if (k == 0)
		p->party[side].saw_end = true;
	/* An orderly end must be one that the other side meant, and carry
	 * everything it said. */
	if (k == 0 && !p->cut) {
		CHECK(p->party[1 - side].ended);
		CHECK_INT(in->received, in->sent);
	}
	if (k < 0 && errno != EAGAIN)
		CHECK(p->cut);
}

static void
party_say(struct play *p, int side, size_t n)
{
	struct party *me = &p->party[side];

	if (me->ended || me->gone)
		return;
	ssize_t k =
	    send(p->r.app[side], bytes_at(me->out.sent), n, MSG_NOSIGNAL);
	if (k > 0)
		me->out.sent += (uint64_t)k;
	else
		CHECK(errno == EAGAIN || p->cut);
}

static void
party_act(struct play *p, int side, enum act act)
{
	struct party *me = &p->party[side];

	switch (act) {
	case SAY:
		party_say(p, side, 10);
		break;
	case SHOUT:
		party_say(p, side, sizeof(buffer));
		break;
	case END:
		if (!me->gone && !me->ended)
			(void)shutdown(p->r.app[side], SHUT_WR);
		me->ended = true;
		break;
	case CUT:
		if (!me->gone)
			reset_app(&p->r, side);
		p->cut = me->gone = true;
		break;
	case LEAVE:
		/* Without having read everything this is as good as a cut. */
		p->cut = p->cut || !me->saw_end;
		close_app(&p->r, side);
		me->gone = me->ended = true;
		break;
	case READ:
		party_read(p, side);
		break;
	case ACTS:
		break;
	}
}

/* Play the acts, each a side and what it does, with a turn of the loop between
 * where the low bit of TURNS says so; then bring it to an end. */
static void
play(struct play *p, enum kind kind, const unsigned *acts, unsigned n,
    unsigned turns)
{
	uint64_t end;

	p->party[0] = p->party[1] = (struct party){0};
	p->cut = false;
	open_route(&p->r, &p->f, kind, &no_limits, NULL);
	for (unsigned i = 0; i < n; i++) {
		party_act(p, (int)(acts[i] / ACTS), acts[i] % ACTS);
		if ((turns >> i & 1) != 0)
			CHECK_STATUS(loop_turn(p->f.loop, 0), ST_OK);
	}
	for (int side = 0; side < 2; side++)
		party_act(p, side, END);
	end = loop_clock_ns() + UINT64_C(10000000000);
	while (p->r.overs == 0) {
		CHECK_STATUS(loop_turn(p->f.loop, 1), ST_OK);
		for (int side = 0; side < 2; side++)
			party_read(p, side);
		CHECK(loop_clock_ns() < end);
	}
	if (!p->cut) {
		for (int side = 0; side < 2; side++)
			party_read(p, side);
		CHECK_STATUS(p->r.reason, ST_CLOSED);
		CHECK_INT(p->party[0].out.received, p->party[0].out.sent);
		CHECK_INT(p->party[1].out.received, p->party[1].out.sent);
	} else {
		CHECK(p->r.reason == ST_RESET || p->r.reason == ST_CLOSED);
	}
	close_app(&p->r, 0);
	close_app(&p->r, 1);
	CHECK_STATUS(loop_turn(p->f.loop, 0), ST_OK);
	CHECK_INT(p->r.overs, 1);
	check_empty(&p->f);
}

static void
check_orders(enum kind kind, unsigned scripts)
{
	static struct play p;
	unsigned acts[10];

	setup(&p.f, 1);
	/* Every pair of acts, with and without a turn between. */
	for (unsigned i = 0; i < 4 * ACTS * 2 * ACTS; i++) {
		acts[0] = i / 2 / (2 * ACTS) % (2 * ACTS);
		acts[1] = i / 2 % (2 * ACTS);
		play(&p, kind, acts, 2, i % 2 != 0 ? 3 : 0);
	}
	for (unsigned i = 0; i < scripts; i++) {
		unsigned n = 3 + (unsigned)(test_random() % 8);
		for (unsigned j = 0; j < n; j++)
			acts[j] = (unsigned)(test_random() % (2 * ACTS));
		play(&p, kind, acts, n, (unsigned)test_random());
	}
	teardown(&p.f);
}

static void
test_orders(void)
{
	check_orders(TCP, 1500);
}

static void
test_orders_unix(void)
{
	check_orders(UNIX, 500);
}
TESTS({"every order of events, TCP", test_orders},
    {"every order of events, AF_UNIX", test_orders_unix})
