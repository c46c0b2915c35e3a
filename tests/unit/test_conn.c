/* The head phase: bytes come in pieces, answers go out whole. */
#include "harness.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/conn.h"
#include "net_util.h"

#define CHUNK 1024

/* Something that reads lines, as a session reads heads. */
struct reader {
	struct loop *loop;
	struct chunk_pool chunks;
	struct stream stream;
	struct conn conn;
	int app; /* the far end */
	/* What was called, a letter each: d f e r o. */
	char calls[64];
	unsigned n;
	size_t unread; /* at the last data() */
	size_t take; /* data() consumes so many */
	bool pause; /* data() pauses */
	bool close; /* whatever is called closes */
	enum status why;
};

static void
call(struct conn *c, char letter)
{
	struct reader *r = loop_owner(c, struct reader, conn);

	CHECK(r->n < sizeof(r->calls) - 1);
	r->calls[r->n++] = letter;
	r->calls[r->n] = '\0';
	if (r->close)
		conn_close(c, STREAM_ORDERLY);
}

static void
on_data(struct conn *c)
{
	struct reader *r = loop_owner(c, struct reader, conn);

	r->unread = conn_unread(c).len;
	CHECK(r->unread != 0);
	conn_consume(c, r->take);
	if (r->pause)
		conn_pause(c);
	call(c, 'd');
}

static void
on_full(struct conn *c)
{
	call(c, 'f');
}

static void
on_eof(struct conn *c)
{
	call(c, 'e');
}

static void
on_drained(struct conn *c)
{
	call(c, 'r');
}

static void
on_over(struct conn *c, enum status why)
{
	struct reader *r = loop_owner(c, struct reader, conn);

	CHECK(!stream_is_open(&r->stream));
	r->why = why;
	call(c, 'o');
}

static const struct conn_ops ops = {
    on_data, on_full, on_eof, on_drained, on_over};

static void
setup(struct reader *r, uint32_t chunks)
{
	int pair[2];

	*r = (struct reader){.loop = test_loop()};
	chunk_pool_init(&r->chunks, CHUNK, chunks, 1);
	tcp_pair(pair);
	r->app = pair[1];
	CHECK_STATUS(
	    conn_open(&r->conn, r->loop, &r->chunks, &r->stream, pair[0], &ops),
	    ST_OK);
}

static void
teardown(struct reader *r)
{
	conn_close(&r->conn, STREAM_ORDERLY);
	conn_close(&r->conn, STREAM_ORDERLY);
	CHECK(!stream_is_open(&r->stream));
	CHECK_INT(r->chunks.lent, 0);
	chunk_pool_clear(&r->chunks);
	if (r->app >= 0)
		close(r->app);
	loop_free(&r->loop);
}

static void
say(struct reader *r, const char *text)
{
	send_all(NULL, r->app, text, strlen(text));
}

/* --- reading --- */

static void
test_pieces(void)
{
	struct reader r;

	setup(&r, 2);
	say(&r, "GET");
	spin_for(r.loop, 10);
	CHECK_STR(r.calls, ""); /* it starts paused, and reads ahead */
	CHECK_INT(conn_unread(&r.conn).len, 3);
	conn_resume(&r.conn);
	CHECK_STR(r.calls, ""); /* never from within */
	SPIN(r.loop, r.n == 1);
	spin_for(r.loop, 10);
	CHECK_STR(r.calls, "d"); /* once: nothing more came */
	say(&r, " /");
	SPIN(r.loop, r.n == 2);
	CHECK_INT(r.unread, 5);
	CHECK(span_equal(conn_unread(&r.conn), span_str("GET /")));
	r.take = 4;
	say(&r, "x");
	SPIN(r.loop, r.n == 3);
	CHECK(span_equal(conn_unread(&r.conn), span_str("/x")));
	/* What is left is no news, until it is asked for. */
	spin_for(r.loop, 10);
	CHECK_INT(r.n, 3);
	r.take = 2;
	conn_resume(&r.conn);
	SPIN(r.loop, r.n == 4);
	CHECK_INT(r.unread, 2);
	CHECK_INT(r.chunks.lent, 0); /* nothing unread, nothing held */
	teardown(&r);
}

static void
test_pause(void)
{
	struct reader r;

	setup(&r, 2);
	conn_resume(&r.conn);
	r.pause = true;
	r.take = 2;
	say(&r, "ab");
	SPIN(r.loop, r.n == 1);
	say(&r, "early");
	SPIN(r.loop, conn_unread(&r.conn).len == 5);
	CHECK_STR(r.calls, "d");
	r.pause = false;
	conn_resume(&r.conn);
	SPIN(r.loop, r.n == 2);
	CHECK_INT(r.unread, 5);
	teardown(&r);
}

/* A head that fills the chunk is told; consuming makes room again. */
static void
test_full(void)
{
	static char text[3 * CHUNK + 1];
	struct reader r;

	memset(text, 'x', sizeof(text) - 1);
	setup(&r, 2);
	conn_resume(&r.conn);
	say(&r, text);
	SPIN(r.loop, r.n >= 2);
	spin_for(r.loop, 10);
	CHECK_STR(r.calls, "df");
	CHECK_INT(conn_unread(&r.conn).len, CHUNK);
	CHECK_INT(r.chunks.lent, 1);
	/* The rest waited in the kernel, without an event to come for it. */
	r.take = CHUNK;
	conn_consume(&r.conn, CHUNK);
	SPIN(r.loop, r.n == 4);
	spin_for(r.loop, 10);
	CHECK_STR(r.calls, "dfdd");
	CHECK_INT(conn_unread(&r.conn).len, 0);
	teardown(&r);
}

static void
test_eof(void)
{
	struct reader r;

	setup(&r, 2);
	conn_resume(&r.conn);
	say(&r, "last");
	CHECK_INT(shutdown(r.app, SHUT_WR), 0);
	SPIN(r.loop, r.n == 2);
	spin_for(r.loop, 10);
	CHECK_STR(r.calls, "de"); /* the bytes first, and the end once */
	CHECK_STATUS(conn_write(&r.conn, span_str("bye")), ST_OK);
	char got[3];
	recv_all(r.loop, r.app, got, 3);
	teardown(&r);

	setup(&r, 2); /* while paused as well */
	CHECK_INT(shutdown(r.app, SHUT_WR), 0);
	SPIN(r.loop, r.n == 1);
	CHECK_STR(r.calls, "e");
	CHECK_INT(r.chunks.lent, 0);
	teardown(&r);
}

static void
reset_app(struct reader *r)
{
	const struct linger now = {1, 0};

	CHECK_INT(
	    setsockopt(r->app, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
	close(r->app);
	r->app = -1;
}

/* A peer that vanishes is noticed in every state. */
static void
test_reset(void)
{
	static char text[2 * CHUNK + 1];
	struct reader r;

	memset(text, 'x', sizeof(text) - 1);
	for (int state = 0; state < 4; state++) {
		setup(&r, 2);
		if (state == 1)
			conn_resume(&r.conn);
		if (state == 2) { /* paused, with a full chunk */
			say(&r, text);
			SPIN(r.loop, conn_unread(&r.conn).len == CHUNK);
		}
		if (state == 3) { /* after its end */
			CHECK_INT(shutdown(r.app, SHUT_WR), 0);
			SPIN(r.loop, r.n == 1);
			r.n = 0;
		}
		reset_app(&r);
		SPIN(r.loop, r.n == 1);
		CHECK_STR(r.calls, "o");
		CHECK_STATUS(r.why, ST_RESET);
		CHECK_STATUS(conn_write(&r.conn, span_str("x")), ST_RESET);
		conn_resume(&r.conn); /* all harmless now */
		conn_finish(&r.conn, 5);
		spin_for(r.loop, 10);
		CHECK_INT(r.n, 1);
		teardown(&r);
	}
}

/* Closing within any callback is fine. */
static void
test_close_within(void)
{
	static char text[CHUNK + 1];
	struct reader r;

	memset(text, 'x', sizeof(text) - 1);
	setup(&r, 2);
	conn_resume(&r.conn);
	r.close = true;
	say(&r, text);
	SPIN(r.loop, r.n == 1);
	spin_for(r.loop, 10);
	CHECK_STR(r.calls, "d");
	CHECK_INT(r.chunks.lent, 0);
	teardown(&r);
}

static void
test_no_chunk(void)
{
	struct reader r;
	struct chunk *other;

	setup(&r, 1);
	CHECK_STATUS(chunk_take(&r.chunks, &other), ST_OK);
	conn_resume(&r.conn);
	say(&r, "x");
	SPIN(r.loop, r.n == 1);
	CHECK_STR(r.calls, "o");
	CHECK_STATUS(r.why, ST_BUSY);
	chunk_give(&r.chunks, &other);
	CHECK(other == NULL);
	teardown(&r);
}

/* --- writing --- */

/* Make the near end's send buffer small, and fill it and the far end's. */
static void
choke(struct reader *r)
{
	static char text[CHUNK];
	int small = 4096;

	CHECK_INT(setsockopt(r->stream.fd, SOL_SOCKET, SO_SNDBUF, &small,
		      sizeof(small)),
	    0);
	while (conn_waiting(&r->conn) == 0)
		CHECK_STATUS(
		    conn_write(&r->conn, span_of(text, sizeof(text))), ST_OK);
	spin_for(r->loop, 5);
}

static void
test_write(void)
{
	static char text[CHUNK + 1];
	struct reader r;
	char got[5];

	setup(&r, 2);
	CHECK_STATUS(conn_write(&r.conn, span_str("hello")), ST_OK);
	recv_all(r.loop, r.app, got, 5);
	CHECK_MEM(got, "hello", 5);
	CHECK_INT(r.chunks.lent, 0);
	CHECK_STATUS(
	    conn_write(&r.conn, span_of(text, CHUNK + 1)), ST_NO_SPACE);
	choke(&r);
	CHECK(conn_waiting(&r.conn) <= CHUNK);
	CHECK_INT(r.chunks.lent, 1);
	CHECK_STATUS(conn_write(&r.conn, span_of(text, CHUNK)), ST_NO_SPACE);
	CHECK_STR(r.calls, "");
	struct chunk *early;
	CHECK_STATUS(conn_detach(&r.conn, &early), ST_BUSY);
	SPIN(r.loop,
	    recv(r.app, text, CHUNK, 0) < 0 && conn_waiting(&r.conn) == 0);
	CHECK_STR(r.calls, "r");
	CHECK_INT(r.chunks.lent, 0);
	teardown(&r);

	/* Nothing to wait in. */
	setup(&r, 0);
	int small = 4096;
	CHECK_INT(setsockopt(r.stream.fd, SOL_SOCKET, SO_SNDBUF, &small,
		      sizeof(small)),
	    0);
	enum status s;
	do
		s = conn_write(&r.conn, span_of(text, CHUNK));
	while (s == ST_OK);
	CHECK_STATUS(s, ST_BUSY);
	teardown(&r);
}

/* The answer arrives whole, although the client goes on talking and none of
 * that is read: without the wait its bytes would be answered by RST. */
static void
test_finish(void)
{
	struct reader r;
	char got[6];

	setup(&r, 2);
	conn_resume(&r.conn);
	say(&r, "bad head");
	SPIN(r.loop, r.n == 1);
	CHECK_STATUS(conn_write(&r.conn, span_str("answer")), ST_OK);
	conn_finish(&r.conn, 5000);
	for (int i = 0; i < 20; i++) {
		say(&r, "more and more and more");
		CHECK_STATUS(loop_turn(r.loop, 1), ST_OK);
	}
	recv_all(r.loop, r.app, got, 6);
	CHECK_MEM(got, "answer", 6);
	CHECK_INT(recv_end(r.loop, r.app), 0); /* and its end, not a reset */
	CHECK_STR(r.calls, "d");
	CHECK_INT(shutdown(r.app, SHUT_WR), 0);
	SPIN(r.loop, r.n == 2);
	CHECK_STR(r.calls, "do");
	CHECK_STATUS(r.why, ST_CLOSED);
	teardown(&r);
}

static void
test_finish_linger(void)
{
	struct reader r;

	setup(&r, 2); /* it stays: not for longer than we like */
	CHECK_STATUS(conn_write(&r.conn, span_str("answer")), ST_OK);
	uint64_t start = loop_clock_ns();
	conn_finish(&r.conn, 60);
	SPIN(r.loop, r.n == 1);
	CHECK((loop_clock_ns() - start) / 1000000 >= 59);
	CHECK_STR(r.calls, "o");
	CHECK_STATUS(r.why, ST_CLOSED);
	teardown(&r);

	setup(&r, 2); /* it talks without end: neither */
	static char text[65537];
	memset(text, 'x', sizeof(text) - 1);
	conn_finish(&r.conn, 60000);
	say(&r, text);
	SPIN(r.loop, r.n == 1);
	CHECK_STATUS(r.why, ST_CLOSED);
	teardown(&r);

	setup(&r, 2); /* it resets instead of saying goodbye */
	CHECK_STATUS(conn_write(&r.conn, span_str("answer")), ST_OK);
	conn_finish(&r.conn, 60000);
	reset_app(&r);
	SPIN(r.loop, r.n == 1);
	CHECK_STR(r.calls, "o");
	teardown(&r);
}

/* What waits is delivered before the end is. */
static void
test_finish_choked(void)
{
	struct reader r;
	static char text[4 * CHUNK];
	ssize_t n;

	setup(&r, 2);
	choke(&r);
	conn_finish(&r.conn, 5000);
	SPIN(r.loop, (n = recv(r.app, text, sizeof(text), 0)) == 0);
	CHECK_STR(r.calls, "");
	close(r.app);
	r.app = -1;
	SPIN(r.loop, r.n == 1);
	CHECK_STATUS(r.why, ST_CLOSED);
	teardown(&r);
}

/* --- detaching --- */

static void
test_detach(void)
{
	struct reader r;
	struct chunk *early, *kept;

	setup(&r, 2);
	conn_resume(&r.conn);
	r.take = 4;
	r.pause = true;
	say(&r, "headhello");
	SPIN(r.loop, r.n == 1);
	CHECK_STATUS(conn_detach(&r.conn, &early), ST_OK);
	CHECK(span_equal(chunk_bytes(early), span_str("hello")));
	kept = early;
	CHECK(stream_is_open(&r.stream));
	conn_close(&r.conn, STREAM_ABORT); /* not its own any more */
	CHECK(stream_is_open(&r.stream));
	CHECK_STATUS(conn_detach(&r.conn, &early), ST_BUSY);
	CHECK(early == NULL);
	stream_close(&r.stream, STREAM_ORDERLY);
	chunk_give(&r.chunks, &kept);
	teardown(&r);
}

/* Chunks are wiped: nothing of a head is left for the next. */
static void
test_chunk_wiped(void)
{
	struct chunk_pool p;
	struct chunk *a, *b;

	chunk_pool_init(&p, 64, 2, 2);
	CHECK_STATUS(chunk_take(&p, &a), ST_OK);
	CHECK_STATUS(chunk_append(a, span_str("secret token")), ST_OK);
	chunk_consume(a, 100);
	CHECK_INT(chunk_bytes(a).len, 0);
	CHECK_STATUS(chunk_append(a, span_str("x")), ST_OK);
	chunk_give(&p, &a);
	CHECK_STATUS(chunk_take(&p, &a), ST_OK);
	for (int i = 0; i < 64; i++)
		CHECK(i >= 12 || a->data[i] == 0);
	CHECK_STATUS(chunk_take(&p, &b), ST_OK);
	struct chunk *c;
	CHECK_STATUS(chunk_take(&p, &c), ST_BUSY);
	CHECK(c == NULL);
	/* Room is found behind and in front. */
	CHECK_STATUS(chunk_append(a, span_of("0123456789", 10)), ST_OK);
	chunk_consume(a, 4);
	CHECK_INT(chunk_room(a), 58);
	CHECK(span_equal(chunk_bytes(a), span_str("456789")));
	uint8_t big[59] = {0};
	CHECK_STATUS(chunk_append(a, span_of(big, 59)), ST_NO_SPACE);
	CHECK_STATUS(chunk_append(a, span_of(big, 58)), ST_OK);
	chunk_give(&p, &a);
	chunk_give(&p, &b);
	chunk_give(&p, &b); /* null: nothing */
	CHECK_INT(p.kept, 2);
	chunk_pool_clear(&p);
}

TESTS({"a head in pieces", test_pieces}, {"paused", test_pause},
    {"a full chunk", test_full}, {"the end", test_eof},
    {"resets in every state", test_reset},
    {"closed within a callback", test_close_within},
    {"no chunk left", test_no_chunk}, {"writing", test_write},
    {"the answer arrives", test_finish},
    {"goodbyes are bounded", test_finish_linger},
    {"what waits goes first", test_finish_choked},
    {"handing over", test_detach}, {"chunks", test_chunk_wiped})
