/* The relay: bytes, half-closes, resets, limits, slow readers, and what a
 * tunnel holds while it does nothing. */
#include "harness.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tunnel.h"
#include "net_util.h"

#define CHUNK 16384

struct fixture {
	struct loop *loop;
	struct chunk_pool chunks;
	struct relay *relay;
	unsigned fds; /* open before the first tunnel */
};

/* A tunnel with the two applications that talk through it. */
struct route {
	struct fixture *f;
	struct tunnel tunnel;
	struct stream stream[2];
	int app[2]; /* the far ends; -1: closed */
	unsigned overs; /* times it was over */
	enum status reason;
	uint64_t moved[2]; /* as told by the tunnel */
	uint64_t grant[2]; /* what allow() still allows */
	bool granting;
	enum status close_with; /* in moved(): close it */
};

static uint64_t
on_allow(struct tunnel *t, enum tunnel_side from)
{
	struct route *r = loop_owner(t, struct route, tunnel);

	return r->granting ? r->grant[from] : UINT64_MAX;
}

static void
on_moved(struct tunnel *t, enum tunnel_side from, uint64_t bytes)
{
	struct route *r = loop_owner(t, struct route, tunnel);

	r->moved[from] += bytes;
	if (r->granting) {
		CHECK(bytes <= r->grant[from]);
		r->grant[from] -= bytes;
	}
	if (r->close_with != ST_OK)
		tunnel_close(t, r->close_with);
}

static void
on_over(struct tunnel *t, enum status reason)
{
	struct route *r = loop_owner(t, struct route, tunnel);

	r->overs++;
	r->reason = reason;
	CHECK(!stream_is_open(&r->stream[0]));
	CHECK(!stream_is_open(&r->stream[1]));
}

static const struct tunnel_ops ops = {on_allow, on_moved, on_over};
static const struct tunnel_limits no_limits;

static void
stray(struct stream *s)
{
	(void)s;
	test_fail(__FILE__, __LINE__, "called before the tunnel");
}

static void
setup(struct fixture *f, uint32_t pipes)
{
	struct relay_config c = {.pipes = pipes};

	f->loop = test_loop();
	f->fds = count_fds();
	chunk_pool_init(&f->chunks, CHUNK, 8, 2);
	CHECK_STATUS(relay_new(&f->relay, f->loop, &f->chunks, &c), ST_OK);
}

/* Everything is given back. */
static void
check_empty(struct fixture *f)
{
	CHECK_INT(relay_counts(f->relay)->tunnels, 0);
	CHECK_INT(relay_counts(f->relay)->pipes_lent, 0);
	CHECK_INT(f->chunks.lent, 0);
	CHECK_INT(count_fds() - 2 * relay_counts(f->relay)->pipes_kept, f->fds);
}

static void
teardown(struct fixture *f)
{
	check_empty(f);
	relay_free(&f->relay);
	CHECK(f->relay == NULL);
	chunk_pool_clear(&f->chunks);
	CHECK_INT(count_fds(), f->fds);
	loop_free(&f->loop);
}

enum kind { TCP, UNIX };

static void
open_route(struct route *r, struct fixture *f, enum kind kind,
    const struct tunnel_limits *limits, struct chunk *early)
{
	int pair[2];

	*r = (struct route){.f = f};
	for (int side = 0; side < 2; side++) {
		kind == TCP ? tcp_pair(pair) : unix_pair(pair);
		stream_prepare(pair[0]);
		r->app[side] = pair[1];
		CHECK_STATUS(stream_open(&r->stream[side], f->loop, pair[0],
				 stray, NULL),
		    ST_OK);
	}
	tunnel_start(&r->tunnel, f->relay, &r->stream[0], &r->stream[1], early,
	    limits, &ops);
}

static void
close_app(struct route *r, int side)
{
	if (r->app[side] >= 0)
		close(r->app[side]);
	r->app[side] = -1;
}

static void
reset_app(struct route *r, int side)
{
	const struct linger now = {1, 0};

	CHECK_INT(
	    setsockopt(r->app[side], SOL_SOCKET, SO_LINGER, &now, sizeof(now)),
	    0);
	close_app(r, side);
}

/* Wait for the end, for this reason. */
static void
expect_over(struct route *r, enum status reason)
{
	SPIN(r->f->loop, r->overs != 0);
	spin_for(r->f->loop, 3);
	CHECK_INT(r->overs, 1);
	CHECK_STATUS(r->reason, reason);
	close_app(r, 0);
	close_app(r, 1);
}

/* End a tunnel in order. */
static void
finish(struct route *r)
{
	for (int side = 0; side < 2; side++)
		CHECK_INT(shutdown(r->app[side], SHUT_WR), 0);
	for (int side = 0; side < 2; side++) {
		while (recv_end(r->f->loop, r->app[side]) > 0)
			;
	}
	expect_over(r, ST_CLOSED);
}

/* --- bytes --- */

static uint8_t buffer[1 << 18];

/* What is sent: noise, with a period that no buffer's size divides. */
#define PERIOD 1000003
static uint8_t noise[PERIOD + sizeof(buffer)];

static const uint8_t *
bytes_at(uint64_t n)
{
	if (noise[0] == 0) {
		test_random_bytes(noise, PERIOD);
		noise[0] = 1;
		memcpy(noise + PERIOD, noise, sizeof(buffer));
	}
	return noise + n % PERIOD;
}

/* One direction: from app[side] to the other. */
struct flow {
	int from, to; /* descriptors */
	uint64_t total, sent, received;
	size_t chunk; /* of one send or recv */
	bool ended; /* shutdown sent */
};

static void
push(struct flow *f)
{
	while (f->sent < f->total) {
		size_t n = f->chunk;
		if (n > f->total - f->sent)
			n = (size_t)(f->total - f->sent);
		ssize_t k = send(f->from, bytes_at(f->sent), n, MSG_NOSIGNAL);
		if (k < 0) {
			CHECK_INT(errno, EAGAIN);
			return;
		}
		f->sent += (uint64_t)k;
	}
	if (!f->ended) {
		f->ended = true;
		CHECK_INT(shutdown(f->from, SHUT_WR), 0);
	}
}

/* True at the end of the stream. */
static bool
pull(struct flow *f)
{
	ssize_t k;

	while ((k = recv(f->to, buffer, f->chunk, 0)) > 0) {
		CHECK_MEM(buffer, bytes_at(f->received), (size_t)k);
		f->received += (uint64_t)k;
	}
	if (k < 0)
		CHECK_INT(errno, EAGAIN);
	return k == 0;
}

static void
check_transfer(
    uint32_t pipes, enum kind kind, uint64_t up, uint64_t down, size_t chunk)
{
	struct fixture f;
	struct route r;

	setup(&f, pipes);
	open_route(&r, &f, kind, &no_limits, NULL);
	struct flow a = {r.app[0], r.app[1], up, 0, 0, chunk, false};
	struct flow b = {r.app[1], r.app[0], down, 0, 0, chunk, false};
	bool a_over = false, b_over = false;
	while (!a_over || !b_over) {
		push(&a);
		push(&b);
		CHECK_STATUS(loop_turn(f.loop, 1), ST_OK);
		a_over = a_over || pull(&a);
		b_over = b_over || pull(&b);
	}
	CHECK_INT(a.received, up);
	CHECK_INT(b.received, down);
	expect_over(&r, ST_CLOSED);
	CHECK_INT(tunnel_bytes(&r.tunnel, TUNNEL_CLIENT), up);
	CHECK_INT(tunnel_bytes(&r.tunnel, TUNNEL_TARGET), down);
	CHECK_INT(r.moved[0], up);
	CHECK_INT(r.moved[1], down);
	CHECK_INT(relay_counts(f.relay)->bytes[1], down);
	/* The large ones went through pipes, if there were any. */
	CHECK((relay_counts(f.relay)->pipes_kept != 0) ==
	    (pipes != 0 && down > (1 << 20)));
	teardown(&f);
}

static void
test_100_megabytes(void)
{
	check_transfer(4, TCP, 36000001, 64000003, sizeof(buffer));
}

static void
test_100_megabytes_looking(void)
{
	check_transfer(0, TCP, 64000001, 36000003, 100000);
}

static void
test_unix(void)
{
	check_transfer(4, UNIX, 8000001, 16000003, 65536);
	check_transfer(0, UNIX, 8000001, 16000003, 65536);
}

static void
test_small_pieces(void)
{
	check_transfer(4, TCP, 5000, 7000, 1);
	check_transfer(4, UNIX, 5000, 7000, 3);
}

/* Empty streams end as well. */
static void
test_nothing(void)
{
	check_transfer(4, TCP, 0, 0, 1);
	check_transfer(4, UNIX, 0, 1, 1);
}

/* --- early bytes --- */

static struct chunk *
early_chunk(struct fixture *f, size_t n)
{
	struct chunk *c;

	CHECK_STATUS(chunk_take(&f->chunks, &c), ST_OK);
	CHECK_STATUS(chunk_append(c, span_of(bytes_at(0), n)), ST_OK);
	return c;
}

static void
test_early(void)
{
	struct fixture f;
	struct route r;
	struct flow a = {.chunk = sizeof(buffer)};

	setup(&f, 2);
	open_route(&r, &f, TCP, &no_limits, early_chunk(&f, CHUNK));
	/* The rest comes through the socket, and behind. */
	a.from = r.app[0];
	a.to = r.app[1];
	a.sent = CHUNK;
	a.total = CHUNK + 100000;
	push(&a);
	while (!pull(&a))
		CHECK_STATUS(loop_turn(f.loop, 1), ST_OK);
	CHECK_INT(a.received, a.total);
	CHECK_INT(r.moved[0], a.total);
	CHECK_INT(f.chunks.lent, 0); /* given back as soon as it was empty */
	CHECK_INT(shutdown(r.app[1], SHUT_WR), 0);
	CHECK_INT(recv_end(f.loop, r.app[0]), 0);
	expect_over(&r, ST_CLOSED);

	/* Given back as well when the tunnel dies before it moved. */
	open_route(&r, &f, TCP, &no_limits, early_chunk(&f, 10));
	tunnel_close(&r.tunnel, ST_DRAINING);
	expect_over(&r, ST_DRAINING);
	teardown(&f);
}

/* A target that takes nothing yet: early bytes wait, and nothing overtakes. */
static void
test_early_blocked(void)
{
	struct fixture f;
	struct route r;
	int small = 4096, pair[2];
	struct flow a = {.chunk = 1000, .total = CHUNK + 5000, .sent = CHUNK};

	setup(&f, 2);
	r = (struct route){.f = &f};
	unix_pair(pair);
	r.app[0] = pair[1];
	CHECK_STATUS(
	    stream_open(&r.stream[0], f.loop, pair[0], stray, NULL), ST_OK);
	unix_pair(pair);
	CHECK_INT(
	    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)),
	    0);
	r.app[1] = pair[1];
	CHECK_STATUS(
	    stream_open(&r.stream[1], f.loop, pair[0], stray, NULL), ST_OK);
	tunnel_start(&r.tunnel, f.relay, &r.stream[0], &r.stream[1],
	    early_chunk(&f, CHUNK), &no_limits, &ops);
	a.from = r.app[0];
	a.to = r.app[1];
	push(&a);
	spin_for(f.loop, 20);
	CHECK_INT(f.chunks.lent, 1);
	CHECK(r.moved[0] < CHUNK);
	while (!pull(&a))
		CHECK_STATUS(loop_turn(f.loop, 1), ST_OK);
	CHECK_INT(a.received, a.total);
	close_app(&r, 1);
	expect_over(&r, ST_CLOSED);
	teardown(&f);
}

/* --- ends --- */

static void
check_half_close(int first)
{
	struct fixture f;
	struct route r;
	char got[6];

	setup(&f, 1);
	open_route(&r, &f, TCP, &no_limits, NULL);
	send_all(f.loop, r.app[first], "ask", 3);
	CHECK_INT(shutdown(r.app[first], SHUT_WR), 0);
	recv_all(f.loop, r.app[1 - first], got, 3);
	CHECK_INT(recv_end(f.loop, r.app[1 - first]), 0);
	/* The other direction lives on for as long as it likes. */
	for (int i = 0; i < 3; i++) {
		send_all(f.loop, r.app[1 - first], "answer", 6);
		recv_all(f.loop, r.app[first], got, 6);
		CHECK_MEM(got, "answer", 6);
	}
	CHECK_INT(r.overs, 0);
	CHECK_INT(shutdown(r.app[1 - first], SHUT_WR), 0);
	CHECK_INT(recv_end(f.loop, r.app[first]), 0);
	expect_over(&r, ST_CLOSED);
	teardown(&f);
}

static void
test_half_close(void)
{
	check_half_close(0);
	check_half_close(1);
}

/* A reset of one side is a reset for the other, in every state. */
static void
check_reset(int side, bool half_closed, bool other_half_closed)
{
	struct fixture f;
	struct route r;
	int other = 1 - side;

	setup(&f, 1);
	open_route(&r, &f, TCP, &no_limits, NULL);
	send_all(f.loop, r.app[side], "x", 1);
	CHECK_INT(recv_end(f.loop, r.app[other]), 1);
	if (half_closed) {
		CHECK_INT(shutdown(r.app[side], SHUT_WR), 0);
		CHECK_INT(recv_end(f.loop, r.app[other]), 0);
	}
	if (other_half_closed) {
		CHECK_INT(shutdown(r.app[other], SHUT_WR), 0);
		CHECK_INT(recv_end(f.loop, r.app[side]), 0);
	}
	if (half_closed && other_half_closed) {
		expect_over(&r, ST_CLOSED);
		teardown(&f);
		return;
	}
	reset_app(&r, side);
	SPIN(f.loop, r.overs != 0);
	CHECK_STATUS(r.reason, ST_RESET);
	/* One that has been told of the end already keeps that; the
	 * connection is gone for it all the same. */
	int end = recv_end(f.loop, r.app[other]);
	CHECK(end == -ECONNRESET || (half_closed && end == 0));
	CHECK_INT(send(r.app[other], "y", 1, MSG_NOSIGNAL), -1);
	expect_over(&r, ST_RESET);
	teardown(&f);
}

static void
test_reset(void)
{
	for (unsigned i = 0; i < 8; i++)
		check_reset(i & 1, (i & 2) != 0, (i & 4) != 0);
}

/* A reset behind a peer that takes nothing is noticed, too. */
static void
test_reset_behind_block(void)
{
	struct fixture f;
	struct route r;
	struct flow a = {.chunk = 65536, .total = UINT64_MAX};

	setup(&f, 1);
	open_route(&r, &f, TCP, &no_limits, NULL);
	a.from = r.app[1];
	uint64_t last = 1;
	while (a.sent != last) { /* until no more goes in */
		last = a.sent;
		push(&a);
		spin_for(f.loop, 20);
	}
	reset_app(&r, 1);
	expect_over(&r, ST_RESET);
	teardown(&f);
}

/* --- limits --- */

static void
test_idle(void)
{
	struct fixture f;
	struct route r;
	const struct tunnel_limits limits = {.idle_ms = 120};
	uint64_t started = loop_clock_ns();

	setup(&f, 1);
	open_route(&r, &f, TCP, &limits, NULL);
	/* Traffic either way keeps it open for longer than that. */
	for (int i = 0; i < 8; i++) {
		spin_for(f.loop, 40);
		send_all(f.loop, r.app[i % 2], "x", 1);
		CHECK_INT(recv_end(f.loop, r.app[1 - i % 2]), 1);
	}
	CHECK_INT(r.overs, 0);
	CHECK((loop_clock_ns() - started) / 1000000 >= 320);
	started = loop_clock_ns();
	SPIN(f.loop, r.overs != 0);
	CHECK((loop_clock_ns() - started) / 1000000 >= 115);
	/* Cut short: not to be taken for an end. */
	CHECK_INT(recv_end(f.loop, r.app[0]), -ECONNRESET);
	CHECK_INT(recv_end(f.loop, r.app[1]), -ECONNRESET);
	expect_over(&r, ST_IDLE);
	teardown(&f);
}

static void
test_lifetime(void)
{
	struct fixture f;
	struct route r;
	const struct tunnel_limits limits = {
	    .idle_ms = 100, .lifetime_ms = 150};
	uint64_t started = loop_clock_ns();

	setup(&f, 1);
	open_route(&r, &f, TCP, &limits, NULL);
	while (r.overs == 0) {
		(void)!send(r.app[0], "x", 1, MSG_NOSIGNAL);
		spin_for(f.loop, 10);
	}
	CHECK((loop_clock_ns() - started) / 1000000 >= 149);
	expect_over(&r, ST_LIFETIME);
	teardown(&f);
}

/* Exactly so many bytes pass, whichever way they are moved. */
static void
check_ceiling(int side, uint64_t ceiling, uint64_t total, bool by_grant)
{
	struct fixture f;
	struct route r;
	struct tunnel_limits limits = {0};

	setup(&f, 2);
	if (!by_grant)
		*(side == 0 ? &limits.up_max : &limits.down_max) = ceiling;
	open_route(&r, &f, TCP, &limits, NULL);
	r.granting = by_grant;
	r.grant[side] = ceiling;
	r.grant[1 - side] = UINT64_MAX;
	struct flow a = {.from = r.app[side],
	    .to = r.app[1 - side],
	    .total = total,
	    .chunk = sizeof(buffer)};
	while (r.overs == 0) {
		if (a.sent < total && r.tunnel.reason == ST_OK)
			push(&a);
		CHECK_STATUS(loop_turn(f.loop, 1), ST_OK);
		/* An end for want of quota resets, and takes with it what
		 * was not read yet. */
		if (total == ceiling)
			(void)pull(&a);
		else
			(void)!recv(a.to, buffer, sizeof(buffer), 0);
		if (total == ceiling && a.received == total &&
		    shutdown(r.app[1 - side], SHUT_WR) == 0)
			(void)recv_end(f.loop, r.app[side]);
	}
	CHECK_INT(r.moved[side], total < ceiling ? total : ceiling);
	expect_over(&r, total > ceiling ? ST_QUOTA_BYTES : ST_CLOSED);
	teardown(&f);
}

static void
test_ceilings(void)
{
	for (int side = 0; side < 2; side++) {
		for (int grant = 0; grant < 2; grant++) {
			check_ceiling(side, 1000, 1001, grant);
			check_ceiling(side, 1000, 1000, grant);
			check_ceiling(side, 3000000, 9000000, grant);
		}
	}
}

static void
test_early_ceiling(void)
{
	struct fixture f;
	struct route r;
	const struct tunnel_limits limits = {.up_max = 50};

	setup(&f, 1);
	open_route(&r, &f, TCP, &limits, early_chunk(&f, 100));
	expect_over(&r, ST_QUOTA_BYTES);
	CHECK_INT(r.moved[0], 50);
	teardown(&f);
}

/* The first reason counts, over() comes once, and may come from within. */
static void
test_close(void)
{
	struct fixture f;
	struct route r;

	setup(&f, 1);
	open_route(&r, &f, TCP, &no_limits, NULL);
	tunnel_close(&r.tunnel, ST_DRAINING);
	CHECK_INT(r.overs, 0); /* not from within the call */
	tunnel_close(&r.tunnel, ST_RESET);
	expect_over(&r, ST_DRAINING);
	tunnel_close(&r.tunnel, ST_RESET);
	spin_for(f.loop, 5);
	CHECK_INT(r.overs, 1);

	open_route(&r, &f, TCP, &no_limits, NULL);
	r.close_with = ST_QUOTA_RATE;
	send_all(f.loop, r.app[0], "x", 1);
	expect_over(&r, ST_QUOTA_RATE);
	teardown(&f);
}

/* --- memory --- */

static size_t
heap(void)
{
	return mallinfo2().uordblks;
}

/* Somebody who does not read holds up who writes, and costs no memory: what
 * waits is in the kernel, and bounded there. */
static void
check_slow_reader(enum kind kind, uint32_t pipes)
{
	struct fixture f;
	struct route r;
	int small = 65536;

	setup(&f, pipes);
	open_route(&r, &f, kind, &no_limits, NULL);
	for (int i = 0; i < 2; i++) {
		for (int option = SO_SNDBUF; option <= SO_RCVBUF; option++) {
			CHECK_INT(setsockopt(r.app[i], SOL_SOCKET, option,
				      &small, sizeof(small)),
			    0);
			CHECK_INT(setsockopt(r.stream[i].fd, SOL_SOCKET, option,
				      &small, sizeof(small)),
			    0);
		}
	}
	struct flow a = {.from = r.app[1],
	    .to = r.app[0],
	    .total = 20000000,
	    .chunk = sizeof(buffer)};
	size_t before = heap();
	uint64_t last = 1;
	while (a.sent != last) {
		last = a.sent;
		push(&a);
		spin_for(f.loop, 20);
	}
	/* Four socket buffers, which the kernel doubles, and one pipe. */
	CHECK(a.sent <= 4 * 2 * 65536 + (pipes != 0 ? 262144 : 0) + 65536);
	CHECK(heap() <= before + 2048);
	CHECK_INT(f.chunks.lent, 0);
	/* It does not spin while it waits. */
	int turns = 0;
	uint64_t start = loop_clock_ns();
	while (loop_clock_ns() - start < 60000000) {
		CHECK_STATUS(loop_turn(f.loop, 30), ST_OK);
		turns++;
	}
	CHECK(turns <= 4);
	/* And all of it arrives once it is read. */
	while (!pull(&a)) {
		push(&a);
		CHECK_STATUS(loop_turn(f.loop, 1), ST_OK);
	}
	CHECK_INT(a.received, a.total);
	close_app(&r, 0);
	expect_over(&r, ST_CLOSED);
	teardown(&f);
}

static void
test_slow_reader(void)
{
	check_slow_reader(TCP, 0);
	check_slow_reader(TCP, 2);
	check_slow_reader(UNIX, 0);
	check_slow_reader(UNIX, 2);
}

/* An idle tunnel owns itself, two streams, and what libevent keeps of its two
 * descriptors. */
static void
test_idle_memory(void)
{
	enum { N = 300 };
	struct fixture f;
	struct route *r = calloc(N, sizeof(*r));

	setup(&f, 8);
	CHECK(r != NULL);
	size_t before = heap();
	for (int i = 0; i < N; i++) {
		open_route(&r[i], &f, TCP, &no_limits, NULL);
		send_all(f.loop, r[i].app[0], "hello", 5);
		CHECK_INT(recv_end(f.loop, r[i].app[1]), 5);
	}
	size_t each = sizeof(struct tunnel) + 2 * sizeof(struct stream) +
	    (heap() - before) / N;
	printf("    %zu bytes a tunnel, %zu of them its own\n", each,
	    sizeof(struct tunnel) + 2 * sizeof(struct stream));
	CHECK(each <= 1024);
	CHECK_INT(relay_counts(f.relay)->tunnels, N);
	for (int i = 0; i < N; i++) {
		tunnel_close(&r[i].tunnel, ST_DRAINING);
		close_app(&r[i], 0);
		close_app(&r[i], 1);
	}
	loop_settle(f.loop);
	for (int i = 0; i < N; i++)
		CHECK_INT(r[i].overs, 1);
	free(r);
	teardown(&f);
}

/* With all pipes taken by those who do not read, the others still move. */
static void
test_no_pipe_left(void)
{
	struct fixture f;
	struct route slow, r;
	struct flow a, b;

	setup(&f, 1);
	open_route(&slow, &f, TCP, &no_limits, NULL);
	a = (struct flow){.from = slow.app[1],
	    .to = slow.app[0],
	    .total = UINT64_MAX,
	    .chunk = sizeof(buffer)};
	uint64_t last = 1;
	while (a.sent != last) {
		last = a.sent;
		push(&a);
		spin_for(f.loop, 20);
	}
	open_route(&r, &f, TCP, &no_limits, NULL);
	b = (struct flow){.from = r.app[0],
	    .to = r.app[1],
	    .total = 8000000,
	    .chunk = sizeof(buffer)};
	do {
		push(&b);
		CHECK_STATUS(loop_turn(f.loop, 1), ST_OK);
	} while (!pull(&b));
	CHECK_INT(b.received, b.total);
	close_app(&r, 1);
	expect_over(&r, ST_CLOSED);
	reset_app(&slow, 0);
	expect_over(&slow, ST_RESET);
	/* A pipe with somebody's bytes in it is not kept. */
	CHECK_INT(relay_counts(f.relay)->pipes_kept, 0);
	teardown(&f);
}

/* --- oddities --- */

/* Urgent data is ordinary data: none is lost, nothing stops, nothing spins,
 * whether it is looked at or spliced. */
static void
check_urgent(uint32_t pipes)
{
	struct fixture f;
	struct route r;
	struct flow a;

	setup(&f, pipes);
	open_route(&r, &f, TCP, &no_limits, NULL);
	a = (struct flow){.from = r.app[0],
	    .to = r.app[1],
	    .total = 6000000,
	    .chunk = sizeof(buffer)};
	int round = 0;
	while (a.received < a.total) {
		/* A few urgent bytes between large pieces. */
		if (round++ % 3 == 0 && a.sent < a.total) {
			if (send(a.from, bytes_at(a.sent), 1,
				MSG_OOB | MSG_NOSIGNAL) == 1)
				a.sent++;
		}
		if (!a.ended)
			push(&a);
		CHECK_STATUS(loop_turn(f.loop, 1), ST_OK);
		(void)pull(&a);
		CHECK(round < 200000);
	}
	CHECK_INT(r.overs, 0);
	finish(&r);
	teardown(&f);
}

static void
test_urgent(void)
{
	check_urgent(0);
	check_urgent(2);
}

/* Someone who pushes without end leaves the others their turns. */
static void
test_fair(void)
{
	struct fixture f;
	struct route busy, quiet;
	struct flow a;
	char c;

	setup(&f, 2);
	open_route(&busy, &f, TCP, &no_limits, NULL);
	open_route(&quiet, &f, TCP, &no_limits, NULL);
	a = (struct flow){.from = busy.app[0],
	    .to = busy.app[1],
	    .total = UINT64_MAX,
	    .chunk = sizeof(buffer)};
	for (int i = 0; i < 20; i++) {
		push(&a);
		send_all(f.loop, quiet.app[0], "x", 1);
		int turns = 0;
		while (recv(quiet.app[1], &c, 1, 0) != 1) {
			CHECK_STATUS(loop_turn(f.loop, 10), ST_OK);
			CHECK(++turns <= 3);
		}
		uint64_t before = a.received;
		(void)pull(&a);
		CHECK(a.received - before <=
		    4 * (uint64_t)TUNNEL_SLICE + (8 << 20));
	}
	finish(&quiet);
	reset_app(&busy, 0);
	expect_over(&busy, ST_RESET);
	teardown(&f);
}

/* --- every order of events --- */

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

TESTS({"100 MB both ways, spliced", test_100_megabytes},
    {"100 MB both ways, looked at", test_100_megabytes_looking},
    {"AF_UNIX", test_unix}, {"small pieces", test_small_pieces},
    {"empty streams", test_nothing}, {"early bytes go first", test_early},
    {"early bytes wait", test_early_blocked},
    {"half-close, either side first", test_half_close},
    {"resets, in every state", test_reset},
    {"a reset behind a reader that is stuck", test_reset_behind_block},
    {"idle", test_idle}, {"lifetime", test_lifetime},
    {"byte ceilings are exact", test_ceilings},
    {"early bytes count", test_early_ceiling},
    {"closed once, for the first reason", test_close},
    {"a slow reader costs no memory", test_slow_reader},
    {"memory of an idle tunnel", test_idle_memory},
    {"pipes are bounded, and never lent with bytes", test_no_pipe_left},
    {"urgent data is harmless", test_urgent},
    {"nobody holds the loop", test_fair},
    {"every order of events, TCP", test_orders},
    {"every order of events, AF_UNIX", test_orders_unix})
