/* Whole sessions of a whole gateway, with peers who follow a script.
 *
 * The input is the script (struct of it: see `deeds`): clients who connect,
 * say bytes, heads or parts of them, end, go, cut, fall silent; targets who do
 * the same; the operator who reloads and drains. The gateway is the real one
 * of tests/unit/world_util.h, with its workers, journal and resolver, and lives
 * as long as the process; a script begins and ends with nobody there.
 *
 * What must hold is judged by what went over the sockets, not by what the
 * gateway says of it:
 * - a target sees no connection and the name server no question but for a good
 *   proof that somebody has sent, and no byte but those behind such a head;
 * - a client without a good proof gets no byte of a target;
 * - every session ends, once, for a reason that has a name;
 * - nothing is held when the last is over, and no descriptor is open that was
 *   not at the start. */
#include "fuzz.h"

#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

#include "postern/semaphore.h"
#include "world_util.h"

#define CLIENTS 4
#define DEEDS_MAX 96
#define TRANSCRIPT 16384

struct transcript {
	size_t len;
	uint8_t bytes[TRANSCRIPT];
};

struct client {
	int fd; /* -1: none */
	bool stuffed;
	struct transcript said, heard;
	char rest[4096]; /* of a head that was said in part */
	size_t rest_len;
};

/* A client who goes makes room for another; what was said stays. */
struct script {
	span_t in;
	struct client client[2 * CLIENTS];
	struct client *at[CLIENTS]; /* NULL: nobody */
	unsigned clients;
	struct transcript seen[WORLD_GUESTS]; /* by the guest in that place */
	uint64_t guests, connections, refused, ends[ST_COUNT];
	unsigned questions;
	bool deaf; /* guests do not read */
};

const bool fuzz_sets_up = true;

static struct world world;
static struct gateway *g;
static unsigned open_fds;

/* --- proofs --- */

#define GOOD_TOKENS 4

/* The first ones pass. */
static const char *const names[] = {"member 0", "member 1", "again 0",
    "member 0", "other 0", "past", "future", "wrong message", "smaller 0",
    "slot 0", "member 2"};
#define TOKENS (sizeof(names) / sizeof(names[0]))
#define COMPACT 3
#define FORGED (TOKENS - 1)
static char *tokens[TOKENS];

static void
make_compact(void)
{
	static char out[SEMAPHORE_COMPACT_LENGTH + 1];
	struct semaphore_proof p;
	struct semaphore_token t;
	struct semaphore_fault f;
	uint64_t epoch = epoch_at(&g->gate.book.rules, gateway_now(g).wall);

	FUZZ_CHECK(semaphore_token_decode(
		       &p, &t, tokens[0], strlen(tokens[0]), &f) == ST_OK);
	FUZZ_CHECK(semaphore_proof_compress(&p, &f) == ST_OK);
	FUZZ_CHECK(
	    semaphore_token_compact(out, &p, (uint32_t)epoch, 0) == ST_OK);
	free(tokens[COMPACT]);
	tokens[COMPACT] = out;
}

/* Another's points. */
static void
forge(void)
{
	json_t *own = json_object_get(world.proofs, names[FORGED]);
	json_t *other = json_object_get(world.proofs, names[1]);

	json_object_set(own, "points", json_object_get(other, "points"));
}

/* The end of the first good token in T; NULL: there is none. */
static const uint8_t *
find_good(const struct transcript *t)
{
	const uint8_t *first = NULL;

	for (int i = 0; i < GOOD_TOKENS; i++) {
		size_t len = strlen(tokens[i]);
		const uint8_t *at = memmem(t->bytes, t->len, tokens[i], len);
		if (at != NULL && (first == NULL || at + len < first))
			first = at + len;
	}
	return first;
}

static unsigned
count_good(const struct transcript *t)
{
	unsigned n = 0;

	for (int i = 0; i < GOOD_TOKENS; i++) {
		size_t len = strlen(tokens[i]);
		const uint8_t *end = t->bytes + t->len, *at = t->bytes;
		while ((at = memmem(at, (size_t)(end - at), tokens[i], len)) !=
		    NULL) {
			n++;
			at += len;
		}
	}
	return n;
}

/* --- life --- */

void
test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

/* What the name server's nonsense is made of: the same every time. */
uint64_t
test_random(void)
{
	static uint64_t state = 1;

	return state = state * 6364136223846793005u + 1442695040888963407u;
}

void
test_random_bytes(void *out, size_t len)
{
	memset(out, 0xa5, len);
}

static void
end_world(void)
{
	for (size_t i = 0; i < TOKENS; i++) {
		if (i != COMPACT)
			free(tokens[i]);
	}
	world_close(&world);
}

static void
begin_world(void)
{
	world_open(&world);
	g = world.gateway;
	/* These signals are the fuzzer's. */
	trap_stop(&g->on_term);
	trap_stop(&g->on_int);
	trap_stop(&g->on_hup);
	g->traps = false;
	forge();
	for (size_t i = 0; i < TOKENS; i++)
		tokens[i] = world_token(&world, names[i]);
	make_compact();
	atexit(end_world);
}

/* --- reading the script --- */

static uint8_t
take(struct script *s)
{
	uint8_t b = 0;

	if (s->in.len != 0) {
		b = s->in.ptr[0];
		s->in = span_of(s->in.ptr + 1, s->in.len - 1);
	}
	return b;
}

static span_t
take_bytes(struct script *s, size_t n)
{
	span_t out = span_of(s->in.ptr, n < s->in.len ? n : s->in.len);

	s->in = span_of(s->in.ptr + out.len, s->in.len - out.len);
	return out;
}

static void
note(struct transcript *t, const void *bytes, size_t len)
{
	FUZZ_CHECK(len <= TRANSCRIPT - t->len);
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
}

/* --- clients --- */

static void
say(struct client *c, const void *bytes, size_t len, int flags)
{
	ssize_t n;

	if (len > TRANSCRIPT - c->said.len)
		len = TRANSCRIPT - c->said.len;
	if (len == 0)
		return;
	n = send(c->fd, bytes, len, flags | MSG_NOSIGNAL);
	if (n > 0)
		note(&c->said, bytes, (size_t)n);
}

static void
hear(struct client *c)
{
	uint8_t buf[4096];
	ssize_t n;

	while ((n = recv(c->fd, buf, sizeof(buf), 0)) > 0) {
		size_t room = TRANSCRIPT - c->heard.len;
		note(&c->heard, buf, (size_t)n < room ? (size_t)n : room);
	}
}

static void
leave(struct script *s, unsigned who, bool rude)
{
	struct client *c = s->at[who];

	hear(c);
	if (rude)
		world_reset(c->fd);
	else
		close(c->fd);
	c->fd = -1;
	s->at[who] = NULL;
}

static void
arrive(struct script *s, unsigned who, uint8_t how)
{
	struct client *c;
	char line[128];

	if (s->at[who] != NULL || s->clients == 2 * CLIENTS)
		return;
	c = s->at[who] = &s->client[s->clients++];
	/* Stuffed pairs of TCP take long to make. */
	c->stuffed = (how & WORLD_STUFFED) != 0;
	c->fd = world_connect(
	    &world, (how & 7) | (c->stuffed || how % 8 == 4 ? WORLD_UNIX : 0));
	if ((how & 8) == 0 && (how & WORLD_INSIDE) == 0)
		say(c, line, world_line(line, how >> 4), 0);
}

/* A CONNECT, of which a part is left for later where CUT is not zero. */
static void
say_head(struct client *c, uint8_t token, uint8_t target, uint8_t cut)
{
	char head[4096];
	const char *t = token % 16 < TOKENS ? tokens[token % 16] : NULL;
	size_t len = world_head(head, sizeof(head), &world,
	    (enum world_target)(target % WORLD_TARGETS), t);
	size_t now = cut == 0 ? len : len * cut / 256;

	say(c, head, now, 0);
	c->rest_len = len - now;
	memcpy(c->rest, head + now, c->rest_len);
}

static void
say_get(struct client *c, uint8_t which)
{
	static const char *const paths[] = {"/.well-known/postern",
	    "/.well-known/postern/members", "/", "/metrics"};
	static const char *const methods[] = {"GET", "HEAD", "POST", "get"};
	char text[128];
	int len = snprintf(text, sizeof(text),
	    "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n", methods[which / 4 % 4],
	    paths[which % 4], (which & 16) != 0 ? "Connection: close\r\n" : "");

	say(c, text, (size_t)len, 0);
}

/* --- targets --- */

static void
guest_reads(struct script *s, unsigned i)
{
	uint8_t buf[4096];
	ssize_t n;

	while ((n = recv(world.guest[i], buf, sizeof(buf), 0)) > 0) {
		size_t room = TRANSCRIPT - s->seen[i].len;
		note(&s->seen[i], buf, (size_t)n < room ? (size_t)n : room);
	}
}

/* What guest I has seen was said behind a good proof. */
static void
judge_guest(const struct script *s, unsigned i)
{
	const struct transcript *seen = &s->seen[i];
	bool said = seen->len == 0;

	for (unsigned k = 0; k < s->clients && !said; k++) {
		const struct transcript *t = &s->client[k].said;
		const uint8_t *from = find_good(t), *end = t->bytes + t->len;
		said = from != NULL &&
		    memmem(from, (size_t)(end - from), seen->bytes,
			seen->len) != NULL;
	}
	FUZZ_CHECK(said);
}

static void
guest_leaves(struct script *s, unsigned i, bool rude)
{
	guest_reads(s, i);
	judge_guest(s, i);
	s->seen[i].len = 0;
	if (rude)
		world_reset(world.guest[i]);
	else
		close(world.guest[i]);
	world.guest[i] = -1;
}

/* --- deeds --- */

/* One byte: the deed below, times four, plus who does it. */
enum {
	ARRIVE, /* u8: WORLD_ flags, 8: no PROXY line, 16...: its circuit */
	BYTES, /* u8 n, n bytes */
	HEAD, /* u8 token, u8 target, u8 part */
	REST, /* of the head */
	GET, /* u8 path, method, end */
	FIN,
	CLOSE,
	RESET,
	URGENT, /* u8 */
	READ,
	TURN,
	SETTLE,
	WAIT, /* u8: 2^n ms */
	TARGET_SAYS, /* u8: 16 n bytes */
	TARGET_ECHO, /* says what it has seen */
	TARGET_FIN,
	TARGET_CLOSE,
	TARGET_RESET,
	TARGET_URGENT,
	TARGET_DEAF, /* or not any more */
	FORGET, /* the proofs that were checked */
	RELOAD,
	DRAIN, /* those who ask for nothing */
	DRAINING, /* all, from now on */
	RESTART, /* tor's */
	CUT, /* all */
	DEEDS,
};

static void
client_does(struct script *s, unsigned who, unsigned deed)
{
	struct client *c = s->at[who];
	span_t bytes;
	uint8_t arg[3];

	switch (deed) {
	case BYTES:
		bytes = take_bytes(s, take(s));
		say(c, bytes.ptr, bytes.len, 0);
		break;
	case HEAD:
		for (int i = 0; i < 3; i++)
			arg[i] = take(s);
		say_head(c, arg[0], arg[1], arg[2]);
		break;
	case REST:
		say(c, c->rest, c->rest_len, 0);
		c->rest_len = 0;
		break;
	case GET:
		say_get(c, take(s));
		break;
	case FIN:
		(void)shutdown(c->fd, SHUT_WR);
		break;
	case CLOSE:
	case RESET:
		leave(s, who, deed == RESET);
		break;
	case URGENT:
		arg[0] = take(s);
		say(c, arg, 1, MSG_OOB);
		break;
	case READ:
		hear(c);
		break;
	default:
		break;
	}
}

static void
target_does(struct script *s, unsigned who, unsigned deed)
{
	uint8_t bytes[4096];
	int fd = world.guest[who];
	size_t len;

	switch (deed) {
	case TARGET_SAYS:
		len = take(s) * (size_t)16;
		memset(bytes, 0xfa, len);
		(void)!send(fd, bytes, len, MSG_NOSIGNAL);
		break;
	case TARGET_ECHO:
		guest_reads(s, who);
		(void)!send(
		    fd, s->seen[who].bytes, s->seen[who].len, MSG_NOSIGNAL);
		break;
	case TARGET_FIN:
		(void)shutdown(fd, SHUT_WR);
		break;
	case TARGET_CLOSE:
	case TARGET_RESET:
		guest_leaves(s, who, deed == TARGET_RESET);
		break;
	case TARGET_URGENT:
		(void)!send(fd, "\xfb", 1, MSG_OOB | MSG_NOSIGNAL);
		break;
	default:
		break;
	}
}

static void
turn(struct script *s)
{
	world_turn(&world);
	for (unsigned i = 0; i < WORLD_GUESTS && !s->deaf; i++) {
		if (world.guest[i] >= 0)
			guest_reads(s, i);
	}
}

static void
gateway_does(unsigned deed)
{
	struct findings f = {0};

	switch (deed) {
	case FORGET:
		proof_cache_clear(&g->gate.cache);
		break;
	case RELOAD:
		if (g->next == NULL)
			FUZZ_CHECK(gateway_reload(g, &f) == ST_OK);
		findings_clear(&f);
		break;
	case DRAINING:
	case DRAIN:
		if (deed == DRAINING)
			g->phase = GATEWAY_DRAINING;
		sessions_drain(g);
		break;
	case RESTART:
		circuits_forget(&g->circuits);
		break;
	case CUT:
		sessions_close(g, ST_DRAINING);
		break;
	default:
		break;
	}
}

static void
one_deed(struct script *s)
{
	uint8_t b = take(s);
	unsigned who = b % CLIENTS, deed = b / CLIENTS % DEEDS;

	if (deed == ARRIVE)
		arrive(s, who, take(s));
	else if (deed <= READ && s->at[who] != NULL)
		client_does(s, who, deed);
	else if (deed == TURN)
		turn(s);
	else if (deed == SETTLE)
		world_settle(&world);
	else if (deed == WAIT)
		world_wait(&world, UINT64_C(1) << take(s) % 26);
	else if (deed == TARGET_DEAF)
		s->deaf = !s->deaf;
	else if (deed >= TARGET_SAYS && deed <= TARGET_URGENT &&
	    world.guest[who] >= 0)
		target_does(s, who, deed);
	else
		gateway_does(deed);
}

/* --- the end --- */

static void
everybody_leaves(struct script *s)
{
	world_settle(&world);
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (s->at[i] != NULL)
			leave(s, i, false);
	}
	world_settle(&world);
	for (unsigned i = 0; i < WORLD_GUESTS; i++) {
		if (world.guest[i] >= 0)
			guest_leaves(s, i, false);
	}
	g->phase = GATEWAY_OPEN;
	FUZZ_CHECK(world_empty(&world));
	/* Who was let in after that, by a proof that waited. */
	for (unsigned i = 0; i < WORLD_GUESTS; i++) {
		if (world.guest[i] >= 0)
			guest_leaves(s, i, false);
	}
}

static void
judge(const struct script *s)
{
	uint64_t good = 0, ended = 0;

	for (unsigned i = 0; i < s->clients; i++) {
		const struct client *c = &s->client[i];
		unsigned n = count_good(&c->said);
		good += n;
		if (n == 0)
			FUZZ_CHECK(memchr(c->heard.bytes, 0xfa, c->heard.len) ==
				NULL &&
			    memchr(c->heard.bytes, 0xfb, c->heard.len) == NULL);
		if (!c->stuffed)
			FUZZ_CHECK(
			    memcmp(c->heard.bytes, "HTTP/1.1 ",
				c->heard.len < 9 ? c->heard.len : 9) == 0);
	}
	FUZZ_CHECK(world.guests - s->guests <= good);
	FUZZ_CHECK(good > 0 || world.dns.udp_questions == s->questions);
	for (int i = 0; i < ST_COUNT; i++)
		ended += g->metrics.ends[i] - s->ends[i];
	FUZZ_CHECK(ended ==
	    g->metrics.connections - s->connections -
		(g->metrics.refused - s->refused));
	FUZZ_CHECK(g->metrics.ends[ST_OK] == 0);
	FUZZ_CHECK(g->metrics.ends[ST_INTERNAL] == 0);
	FUZZ_CHECK(g->metrics.answers[ST_INTERNAL] == 0);
	/* What is made when it is first needed has been made after some. */
	static unsigned more;
	unsigned fds = world_fds(&world);
	FUZZ_CHECK(open_fds == 0 || fds <= open_fds || ++more < 4);
	if (fds > open_fds)
		open_fds = fds;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct script s;

	if (g == NULL)
		begin_world();
	s = (struct script){
	    .in = span_of(data, size),
	    .guests = world.guests,
	    .connections = g->metrics.connections,
	    .refused = g->metrics.refused,
	    .questions = world.dns.udp_questions,
	};
	memcpy(s.ends, g->metrics.ends, sizeof(s.ends));
	for (int i = 0; i < DEEDS_MAX && s.in.len != 0; i++)
		one_deed(&s);
	everybody_leaves(&s);
	judge(&s);
	return 0;
}
