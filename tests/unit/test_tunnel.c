/* The relay: bytes, half-closes, resets, limits, slow readers, and what a
 * tunnel holds while it does nothing. */
#include "harness.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tunnel_util.h"

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
	open_route(&r, &f, TCP, &no_limits, early_chunk(&f, TUNNEL_CHUNK));
	/* The rest comes through the socket, and behind. */
	a.from = r.app[0];
	a.to = r.app[1];
	a.sent = TUNNEL_CHUNK;
	a.total = TUNNEL_CHUNK + 100000;
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
	int small = 4096;
	struct flow a = {
	    .chunk = 1000, .total = TUNNEL_CHUNK + 5000, .sent = TUNNEL_CHUNK};

	setup(&f, 2);
	r = (struct route){.f = &f};
	(void)open_side(&r, 0, UNIX);
	int fd = open_side(&r, 1, UNIX);
	CHECK_INT(
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	start_route(&r, &no_limits, early_chunk(&f, TUNNEL_CHUNK));
	a.from = r.app[0];
	a.to = r.app[1];
	push(&a);
	spin_for(f.loop, 20);
	CHECK_INT(f.chunks.lent, 1);
	CHECK(r.moved[0] < TUNNEL_CHUNK);
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
check_urgent(enum kind kind, uint32_t pipes)
{
	struct fixture f;
	struct route r;
	struct flow a;

	setup(&f, pipes);
	open_route(&r, &f, kind, &no_limits, NULL);
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
	check_urgent(TCP, 0);
	check_urgent(TCP, 2);
	check_urgent(UNIX, 0);
	check_urgent(UNIX, 2);
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
    {"nobody holds the loop", test_fair})
