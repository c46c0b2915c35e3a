#include "tunnel_util.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

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
const struct tunnel_limits no_limits;

static void
stray(struct stream *s)
{
	(void)s;
	test_fail(__FILE__, __LINE__, "called before the tunnel");
}

void
setup(struct fixture *f, uint32_t pipes)
{
	struct relay_config c = {.pipes = pipes};

	f->loop = test_loop();
	f->fds = count_fds();
	chunk_pool_init(&f->chunks, TUNNEL_CHUNK, 8, 2);
	CHECK_STATUS(relay_new(&f->relay, f->loop, &f->chunks, &c), ST_OK);
}

void
check_empty(struct fixture *f)
{
	CHECK_INT(relay_counts(f->relay)->tunnels, 0);
	CHECK_INT(relay_counts(f->relay)->pipes_lent, 0);
	CHECK_INT(f->chunks.lent, 0);
	CHECK_INT(count_fds() - 2 * relay_counts(f->relay)->pipes_kept, f->fds);
}

void
teardown(struct fixture *f)
{
	check_empty(f);
	relay_free(&f->relay);
	CHECK(f->relay == NULL);
	chunk_pool_clear(&f->chunks);
	CHECK_INT(count_fds(), f->fds);
	loop_free(&f->loop);
}

int
open_side(struct route *r, int side, enum kind kind)
{
	int pair[2];

	kind == TCP ? tcp_pair(pair) : unix_pair(pair);
	stream_prepare(pair[0]); /* as its listener would see to */
	r->app[side] = pair[1];
	CHECK_STATUS(
	    stream_open(&r->stream[side], r->f->loop, pair[0], stray, NULL),
	    ST_OK);
	return pair[0];
}

void
start_route(
    struct route *r, const struct tunnel_limits *limits, struct chunk *early)
{
	tunnel_start(&r->tunnel, r->f->relay, &r->stream[0], &r->stream[1],
	    early, limits, &ops);
}

void
open_route(struct route *r, struct fixture *f, enum kind kind,
    const struct tunnel_limits *limits, struct chunk *early)
{
	*r = (struct route){.f = f};
	for (int side = 0; side < 2; side++)
		(void)open_side(r, side, kind);
	start_route(r, limits, early);
}

void
close_app(struct route *r, int side)
{
	if (r->app[side] >= 0)
		close(r->app[side]);
	r->app[side] = -1;
}

void
reset_app(struct route *r, int side)
{
	const struct linger now = {1, 0};

	CHECK_INT(
	    setsockopt(r->app[side], SOL_SOCKET, SO_LINGER, &now, sizeof(now)),
	    0);
	close_app(r, side);
}

void
expect_over(struct route *r, enum status reason)
{
	SPIN(r->f->loop, r->overs != 0);
	spin_for(r->f->loop, 3);
	CHECK_INT(r->overs, 1);
	CHECK_STATUS(r->reason, reason);
	close_app(r, 0);
	close_app(r, 1);
}

void
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

uint8_t buffer[1 << 18];

#define PERIOD 1000003
static uint8_t noise[PERIOD + sizeof(buffer)];

const uint8_t *
bytes_at(uint64_t n)
{
	if (noise[0] == 0) {
		test_random_bytes(noise, PERIOD);
		noise[0] = 1;
		memcpy(noise + PERIOD, noise, sizeof(buffer));
	}
	return noise + n % PERIOD;
}

void
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

bool
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
