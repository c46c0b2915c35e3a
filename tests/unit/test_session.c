/* A session in each of its states, and everything that a peer can do to it
 * there: alone and in pairs, over TCP and unix sockets, with a whole gateway
 * (world_util.h). Whatever comes, the session ends with a reason that has a
 * name and leaves nothing behind, and nothing reaches a target unproven. */
#include "world_util.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Longer than a head, a look-up or a connect may take; shorter than a silent
 * tunnel may last. */
#define A_WHILE_MS 60000

static struct world world;
static struct gateway *g;
static char *good, *bad;

/* --- the way to each state --- */

/* What brings a session there. Some states have several doors. */
enum stage {
	AT_LINE,
	AT_LINE_BEGUN,
	AT_HEAD,
	AT_HEAD_BEGUN,
	AT_HEAD_AGAIN, /* an answer has been given */
	AT_CHECK,
	AT_COUNT,
	AT_RESOLVE,
	AT_CONNECT,
	AT_GRANT,
	AT_TUNNEL,
	AT_TUNNEL_BUSY, /* bytes are on their way both ways */
	AT_DOCUMENT,
	AT_LAST, /* an answer that the client does not read */
	AT_LAST_READ, /* ... and one that it can */
	AT_OVER,
	STAGES,
};

static const struct {
	const char *name;
	enum session_state state;
	enum world_target target;
	bool stuffed, passes; /* its proof is good */
} stages[STAGES] = {
    [AT_LINE] = {"line", SESSION_LINE, 0, false, false},
    [AT_LINE_BEGUN] = {"line begun", SESSION_LINE, 0, false, false},
    [AT_HEAD] = {"head", SESSION_HEAD, 0, false, false},
    [AT_HEAD_BEGUN] = {"head begun", SESSION_HEAD, 0, false, false},
    [AT_HEAD_AGAIN] = {"head again", SESSION_HEAD, 0, false, false},
    [AT_CHECK] = {"check", SESSION_CHECK, WORLD_ECHO, false, true},
    [AT_COUNT] = {"count", SESSION_COUNT, WORLD_ECHO, false, true},
    [AT_RESOLVE] = {"resolve", SESSION_RESOLVE, WORLD_SILENT, false, true},
    [AT_CONNECT] = {"connect", SESSION_CONNECT, WORLD_DEAF, false, true},
    [AT_GRANT] = {"grant", SESSION_GRANT, WORLD_ECHO, true, true},
    [AT_TUNNEL] = {"tunnel", SESSION_TUNNEL, WORLD_HOME, false, true},
    [AT_TUNNEL_BUSY] = {"busy tunnel", SESSION_TUNNEL, WORLD_ECHO, false, true},
    [AT_DOCUMENT] = {"document", SESSION_DOCUMENT, 0, true, false},
    [AT_LAST] = {"last", SESSION_LAST, 0, true, false},
    [AT_LAST_READ] = {"last, read", SESSION_LAST, 0, false, false},
    [AT_OVER] = {"over", SESSION_OVER, 0, false, false},
};

struct play {
	enum stage stage;
	unsigned how; /* WORLD_UNIX or 0 */
	int client; /* -1: closed */
	uint64_t guests; /* of the echo, before */
	unsigned questions; /* to the name server, before */
	uint64_t ends[ST_COUNT];
};

static void
say(struct play *p, const void *bytes, size_t len)
{
	CHECK(world_send(p->client, bytes, len));
}

static void
say_text(struct play *p, const char *text)
{
	say(p, text, strlen(text));
}

static void
say_line(struct play *p)
{
	char line[128];

	say(p, line, world_line(line, 7));
}

static void
say_connect(struct play *p, const char *token)
{
	char head[4096];

	say(p, head,
	    world_head(
		head, sizeof(head), &world, stages[p->stage].target, token));
}

/* Say what leads to the state. */
static void
approach(struct play *p)
{
	bool ended;

	if (p->stage == AT_LINE)
		return;
	if (p->stage == AT_LINE_BEGUN) {
		say_text(p, "PROXY TCP6 fc00:");
		return;
	}
	say_line(p);
	switch (p->stage) {
	case AT_HEAD_BEGUN:
		say_text(p, "CONNECT exam");
		break;
	case AT_HEAD_AGAIN:
		say_text(p, "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n");
		world_settle(&world);
		CHECK(world_drain(p->client, &ended) > 0 && !ended);
		break;
	case AT_CHECK:
		proof_cache_clear(&g->gate.cache);
		say_connect(p, good);
		break;
	case AT_DOCUMENT:
		say_text(p,
		    "GET /.well-known/postern/members HTTP/1.1\r\n"
		    "Host: x\r\n\r\n");
		break;
	case AT_LAST:
	case AT_LAST_READ:
		say_text(p, "nonsense\r\n\r\n");
		break;
	case AT_LINE:
	case AT_LINE_BEGUN:
	case AT_HEAD:
	case AT_OVER:
	case STAGES:
		break;
	case AT_COUNT:
	case AT_RESOLVE:
	case AT_CONNECT:
	case AT_GRANT:
	case AT_TUNNEL:
	case AT_TUNNEL_BUSY:
		say_connect(p, good);
		break;
	}
}

/* The guest that came in this play; -1: none. */
static int *
guest(struct play *p)
{
	static int none;

	none = -1;
	for (int i = 0; i < WORLD_GUESTS && world.guests > p->guests; i++) {
		if (world.guest[i] >= 0)
			return &world.guest[i];
	}
	return &none;
}

/* Turn, round by round, until the session is in the state; so a state that
 * lasts for one round is met as well as one that lasts. NULL: it was over
 * within a round, as when the tick of every second falls into it. */
static struct session *
arrive(struct play *p)
{
	struct session *s;
	bool there = false;
	uint64_t end = loop_clock_ns() + UINT64_C(20000000000);

	do {
		world_turn(&world);
		s = world_session(&world);
		if (s != NULL && p->stage == AT_OVER)
			session_close(s, ST_DRAINING);
		there = s != NULL && s->state == stages[p->stage].state &&
		    (p->stage < AT_HEAD_BEGUN || s->state != SESSION_HEAD ||
			conn_unread(&s->conn).len > 0 || s->attempts > 0);
		if (s != NULL && s->state > SESSION_COUNT &&
		    stages[p->stage].state <= SESSION_COUNT)
			return NULL;
		if (loop_clock_ns() > end)
			test_fail(__FILE__, __LINE__,
			    "never got there: it is in state %d",
			    s != NULL ? (int)s->state : 0);
	} while (!there);
	return s;
}

/* No socket and no question has gone to anywhere. */
static void
check_nothing_left(const struct play *p)
{
	CHECK_INT(world.guests, p->guests);
	CHECK_INT(world.dns.udp_questions, p->questions);
}

static struct session *
set_out(struct play *p, enum stage stage, unsigned how)
{
	*p = (struct play){
	    .stage = stage,
	    .how = how,
	    .guests = world.guests,
	    .questions = world.dns.udp_questions,
	};
	memcpy(p->ends, g->metrics.ends, sizeof(p->ends));
	p->client = world_connect(
	    &world, how | (stages[stage].stuffed ? WORLD_STUFFED : 0));
	approach(p);
	return arrive(p);
}

static enum status end_play(struct play *p, unsigned fds);

static void
open_play(struct play *p, enum stage stage, unsigned how)
{
	static uint8_t bytes[200000];
	struct session *s;

	while ((s = set_out(p, stage, how)) == NULL)
		(void)end_play(p, 0);
	if (s->state <= SESSION_COUNT)
		check_nothing_left(p);
	if (stage == AT_TUNNEL_BUSY) {
		while (*guest(p) < 0)
			world_turn(&world);
		(void)!send(p->client, bytes, sizeof(bytes), MSG_NOSIGNAL);
		(void)!send(*guest(p), bytes, sizeof(bytes), MSG_NOSIGNAL);
		world_turn(&world);
	}
}

/* --- what can happen there --- */

enum deed {
	NOTHING,
	SAY, /* bytes that are no head */
	ASK, /* a whole request behind the first */
	URGENT, /* urgent data (TCP) */
	FIN, /* a half-close */
	CLOSE,
	RESET,
	READ, /* the client takes what there is */
	TARGET_SAY,
	TARGET_URGENT,
	TARGET_FIN,
	TARGET_CLOSE,
	TARGET_RESET,
	SILENCE, /* nothing, for longer than any head may take */
	DRAIN, /* the gateway is to end */
	CUT, /* ... at once */
	RELOAD,
	RESTART, /* tor has: circuits are numbered anew */
	DEEDS,
};

static const char *const deed_names[DEEDS] = {"nothing", "say", "ask", "urgent",
    "fin", "close", "reset", "read", "target says", "target says urgently",
    "target fin", "target closes", "target resets", "silence", "drain", "cut",
    "reload", "restart"};

static void
at_client(struct play *p, enum deed deed)
{
	char head[4096];
	bool ended;
	size_t len;

	if (p->client < 0)
		return;
	switch ((int)deed) {
	case SAY:
		(void)!world_send(p->client, "0123456789", 10);
		break;
	case ASK:
		len = world_head(head, sizeof(head), &world, WORLD_SHUT, bad);
		(void)!world_send(p->client, head, len);
		break;
	case URGENT:
		(void)!send(p->client, "!", 1, MSG_OOB | MSG_NOSIGNAL);
		break;
	case FIN:
		(void)shutdown(p->client, SHUT_WR);
		break;
	case CLOSE:
		close(p->client);
		p->client = -1;
		break;
	case RESET:
		world_reset(p->client);
		p->client = -1;
		break;
	case READ:
		(void)world_drain(p->client, &ended);
		break;
	default:
		break;
	}
}

static void
at_target(struct play *p, enum deed deed)
{
	int *fd = guest(p);

	if (*fd < 0)
		return;
	switch ((int)deed) {
	case TARGET_SAY:
		(void)!world_send(*fd, "0123456789", 10);
		break;
	case TARGET_URGENT:
		(void)!send(*fd, "!", 1, MSG_OOB | MSG_NOSIGNAL);
		break;
	case TARGET_FIN:
		(void)shutdown(*fd, SHUT_WR);
		break;
	case TARGET_CLOSE:
		close(*fd);
		*fd = -1;
		break;
	case TARGET_RESET:
		world_reset(*fd);
		*fd = -1;
		break;
	default:
		break;
	}
}

static void
happen(struct play *p, enum deed deed)
{
	struct findings f = {0};

	at_client(p, deed);
	at_target(p, deed);
	switch ((int)deed) {
	case SILENCE:
		world_wait(&world, A_WHILE_MS);
		break;
	case DRAIN:
		g->phase = GATEWAY_DRAINING;
		sessions_drain(g);
		break;
	case CUT:
		sessions_close(g, ST_DRAINING);
		break;
	case RELOAD:
		if (g->next == NULL)
			CHECK_STATUS(gateway_reload(g, &f), ST_OK);
		findings_clear(&f);
		break;
	case RESTART:
		circuits_forget(&g->circuits);
		break;
	default:
		break;
	}
}

/* --- how it ends --- */

/* Peers go; then the session must be over, once, for the reason that is
 * returned, with nothing left behind and nothing let through unproven. FDS are
 * the descriptors that were open before; 0: not known yet. */
static enum status
end_play(struct play *p, unsigned fds)
{
	enum status reason = ST_OK;
	uint64_t ended = 0;
	bool any;

	world_settle(&world);
	if (p->client >= 0)
		(void)world_drain(p->client, &any);
	at_client(p, CLOSE);
	world_settle(&world);
	for (int i = 0; i < WORLD_GUESTS; i++) {
		if (world.guest[i] < 0)
			continue;
		(void)world_drain(world.guest[i], &any);
		close(world.guest[i]);
		world.guest[i] = -1;
	}
	g->phase = GATEWAY_OPEN;
	CHECK(world_empty(&world));
	if (!stages[p->stage].passes)
		check_nothing_left(p);
	if (fds != 0)
		CHECK_INT(world_fds(&world), fds);
	for (int i = 0; i < ST_COUNT; i++) {
		uint64_t n = g->metrics.ends[i] - p->ends[i];
		ended += n;
		if (n != 0)
			reason = (enum status)i;
	}
	CHECK_INT(ended, 1);
	CHECK(reason != ST_OK && reason != ST_INTERNAL);
	return reason;
}

/* Why a session ends that is left alone, in each state, over TCP and a unix
 * socket, until its client goes. TCP can not tell that from a half-close, and
 * the gateway finds out when it has something to say. */
static const enum status left_alone[STAGES][2] = {
    [AT_LINE] = {ST_CLOSED, ST_CLOSED},
    [AT_LINE_BEGUN] = {ST_CLOSED, ST_CLOSED},
    [AT_HEAD] = {ST_CLOSED, ST_CLOSED},
    [AT_HEAD_BEGUN] = {ST_CLOSED, ST_CLOSED},
    [AT_HEAD_AGAIN] = {ST_CLOSED, ST_CLOSED},
    [AT_CHECK] = {ST_CLOSED, ST_CLOSED},
    [AT_COUNT] = {ST_CLOSED, ST_CLOSED},
    [AT_RESOLVE] = {ST_DNS_TIMEOUT, ST_RESET},
    [AT_CONNECT] = {ST_CONNECT_TIMEOUT, ST_RESET},
    [AT_GRANT] = {ST_IDLE, ST_RESET},
    [AT_TUNNEL] = {ST_CLOSED, ST_CLOSED},
    [AT_TUNNEL_BUSY] = {ST_CLOSED, ST_CLOSED},
    [AT_DOCUMENT] = {ST_IDLE, ST_RESET},
    [AT_LAST] = {ST_HTTP_SYNTAX, ST_HTTP_SYNTAX},
    [AT_LAST_READ] = {ST_HTTP_SYNTAX, ST_HTTP_SYNTAX},
    [AT_OVER] = {ST_DRAINING, ST_DRAINING},
};

/* Where one deed makes that another reason. */
static const struct {
	enum stage stage;
	enum deed deed;
	enum status reason[2];
} turns[] = {
    {AT_LINE, SAY, {ST_PROXY_LINE, ST_PROXY_LINE}},
    {AT_LINE, ASK, {ST_PROXY_LINE, ST_PROXY_LINE}},
    {AT_LINE, URGENT, {ST_PROXY_LINE, ST_PROXY_LINE}},
    {AT_LINE, RESET, {ST_RESET, ST_CLOSED}},
    {AT_LINE, SILENCE, {ST_IDLE, ST_IDLE}},
    {AT_LINE, DRAIN, {ST_DRAINING, ST_DRAINING}},
    {AT_LINE_BEGUN, ASK, {ST_PROXY_LINE, ST_PROXY_LINE}},
    {AT_LINE_BEGUN, URGENT, {ST_PROXY_LINE, ST_PROXY_LINE}},
    {AT_LINE_BEGUN, RESET, {ST_RESET, ST_CLOSED}},
    {AT_LINE_BEGUN, SILENCE, {ST_IDLE, ST_IDLE}},
    {AT_LINE_BEGUN, DRAIN, {ST_DRAINING, ST_DRAINING}},
    {AT_HEAD, RESET, {ST_RESET, ST_CLOSED}},
    {AT_HEAD, SILENCE, {ST_HTTP_TIMEOUT, ST_HTTP_TIMEOUT}},
    {AT_HEAD, DRAIN, {ST_DRAINING, ST_DRAINING}},
    {AT_HEAD_BEGUN, ASK, {ST_HTTP_SYNTAX, ST_HTTP_SYNTAX}},
    {AT_HEAD_BEGUN, RESET, {ST_RESET, ST_CLOSED}},
    {AT_HEAD_BEGUN, SILENCE, {ST_HTTP_TIMEOUT, ST_HTTP_TIMEOUT}},
    {AT_HEAD_AGAIN, RESET, {ST_RESET, ST_CLOSED}},
    {AT_HEAD_AGAIN, SILENCE, {ST_IDLE, ST_IDLE}},
    {AT_HEAD_AGAIN, DRAIN, {ST_DRAINING, ST_DRAINING}},
    {AT_CHECK, CLOSE, {ST_RESET, ST_RESET}},
    {AT_CHECK, RESET, {ST_RESET, ST_RESET}},
    {AT_COUNT, CLOSE, {ST_RESET, ST_RESET}},
    {AT_COUNT, RESET, {ST_RESET, ST_RESET}},
    {AT_RESOLVE, RESET, {ST_RESET, ST_RESET}},
    {AT_RESOLVE, SILENCE, {ST_CLOSED, ST_CLOSED}},
    {AT_CONNECT, RESET, {ST_RESET, ST_RESET}},
    {AT_CONNECT, SILENCE, {ST_CLOSED, ST_CLOSED}},
    {AT_GRANT, CLOSE, {ST_RESET, ST_RESET}},
    {AT_GRANT, RESET, {ST_RESET, ST_RESET}},
    {AT_GRANT, READ, {ST_IDLE, ST_CLOSED}},
    {AT_GRANT, SILENCE, {ST_IDLE, ST_IDLE}},
    {AT_TUNNEL, CLOSE, {ST_RESET, ST_RESET}},
    {AT_TUNNEL, RESET, {ST_RESET, ST_RESET}},
    {AT_TUNNEL, TARGET_RESET, {ST_RESET, ST_RESET}},
    {AT_TUNNEL_BUSY, CLOSE, {ST_RESET, ST_RESET}},
    {AT_TUNNEL_BUSY, RESET, {ST_RESET, ST_RESET}},
    {AT_TUNNEL_BUSY, TARGET_CLOSE, {ST_RESET, ST_RESET}},
    {AT_TUNNEL_BUSY, TARGET_RESET, {ST_RESET, ST_RESET}},
    {AT_DOCUMENT, CLOSE, {ST_RESET, ST_RESET}},
    {AT_DOCUMENT, RESET, {ST_RESET, ST_RESET}},
    {AT_DOCUMENT, READ, {ST_IDLE, ST_CLOSED}},
    {AT_DOCUMENT, SILENCE, {ST_IDLE, ST_IDLE}},
};

static enum status
expected(enum stage stage, enum deed deed, unsigned how)
{
	bool answered = stage == AT_LAST || stage == AT_LAST_READ;

	if (deed == CUT && !answered)
		return ST_DRAINING;
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		if (turns[i].stage == stage && turns[i].deed == deed)
			return turns[i].reason[how];
	}
	return left_alone[stage][how];
}

static void
check_reason(const struct play *p, enum deed deed, enum status reason)
{
	enum status want = expected(p->stage, deed, p->how);
	/* When TCP sends what it has kept for a full peer is its own affair:
	 * before the clock is moved, or after. */
	bool either = stages[p->stage].stuffed && p->how != WORLD_UNIX &&
	    want != ST_HTTP_SYNTAX && want != ST_DRAINING;

	if (either)
		CHECK(reason == ST_IDLE || reason == ST_RESET ||
		    reason == ST_CLOSED);
	else
		CHECK_STATUS(reason, want);
}

/* --- the tests --- */

/* What is made when it is first needed has been made afterwards.
 * Returns: the descriptors that stay open. */
static unsigned
begin(void)
{
	struct play p;

	world_open(&world);
	g = world.gateway;
	good = world_token(&world, "member 0");
	bad = world_token(&world, "wrong message");
	for (enum stage stage = 0; stage < STAGES; stage++) {
		open_play(&p, stage, 0);
		(void)end_play(&p, 0);
	}
	return world_fds(&world);
}

static void
end(void)
{
	free(good);
	free(bad);
	world_close(&world);
}

static void
test_each_deed(void)
{
	unsigned fds = begin();
	struct play p;

	for (enum stage stage = 0; stage < STAGES; stage++) {
		for (unsigned i = 0; i < 2 * DEEDS; i++) {
			enum deed deed = i / 2;
			test_note("%s (%u): %s", stages[stage].name, i % 2,
			    deed_names[deed]);
			open_play(&p, stage, i % 2);
			happen(&p, deed);
			world_turn(&world);
			check_reason(&p, deed, end_play(&p, fds));
		}
	}
	end();
}

/* A client who resets is noticed, wherever the session waits: also behind its
 * half-close, and when more of it has come than is read. */
static void
test_gone_at_once(void)
{
	static const enum deed before[] = {NOTHING, FIN, SAY, ASK};
	static const uint8_t much[20000];
	unsigned fds = begin();
	struct play p;

	for (enum stage stage = 0; stage < STAGES; stage++) {
		for (unsigned i = 0; i < 8; i++) {
			test_note("%s, %s, reset", stages[stage].name,
			    deed_names[before[i % 4]]);
			open_play(&p, stage, 0);
			if (i >= 4)
				(void)!send(
				    p.client, much, sizeof(much), MSG_NOSIGNAL);
			happen(&p, before[i % 4]);
			world_turn(&world);
			happen(&p, RESET);
			world_settle(&world);
			CHECK(world_session(&world) == NULL);
			(void)end_play(&p, fds);
		}
	}
	end();
}

/* A tunnel whose 200 was long in leaving lasts as long as any other. */
static void
test_late_grant(void)
{
	unsigned fds = begin();
	struct play p;
	bool ended;

	open_play(&p, AT_GRANT, WORLD_UNIX);
	world_wait(&world, 1000);
	CHECK_INT(world_session(&world)->state, SESSION_GRANT);
	(void)world_drain(p.client, &ended);
	world_settle(&world);
	CHECK_INT(world_session(&world)->state, SESSION_TUNNEL);
	happen(&p, SILENCE);
	world_settle(&world);
	CHECK(world_drain(p.client, &ended) > 0 && !ended);
	CHECK_INT(world_session(&world)->state, SESSION_TUNNEL);
	CHECK_STATUS(end_play(&p, fds), ST_CLOSED);
	end();
}

/* N deeds, with a turn of the loop between where the low bit of TURNS is. */
static void
play(enum stage stage, unsigned how, const enum deed *deeds, unsigned n,
    unsigned turn, unsigned fds)
{
	struct play p;

	char what[256] = "";
	size_t len = 0;

	for (unsigned i = 0; i < n && len < sizeof(what); i++)
		len += (size_t)snprintf(what + len, sizeof(what) - len, " %s%s",
		    deed_names[deeds[i]], (turn >> i & 1) != 0 ? ";" : ",");
	test_note("%s (%u):%s", stages[stage].name, how, what);
	open_play(&p, stage, how);
	for (unsigned i = 0; i < n; i++) {
		happen(&p, deeds[i]);
		if ((turn >> i & 1) != 0)
			world_turn(&world);
	}
	(void)end_play(&p, fds);
}

static void
test_each_pair(void)
{
	unsigned fds = begin();
	/* Builds that check more are slower, and take every other one. */
	unsigned step = VERIFY_BUILD ? 2 : 1;

	for (enum stage stage = 0; stage < STAGES; stage++) {
		unsigned i = (unsigned)test_random() % step;
		for (; i < DEEDS * DEEDS; i += step) {
			enum deed deeds[2] = {i / DEEDS, i % DEEDS};
			if (deeds[0] != NOTHING && deeds[1] != NOTHING)
				play(stage, 0, deeds, 2,
				    (unsigned)test_random(), fds);
		}
	}
	end();
}

static void
test_scripts(void)
{
	unsigned fds = begin();

	for (unsigned i = 0; i < 1000; i++) {
		enum deed deeds[12];
		unsigned n = 3 + (unsigned)(test_random() % 10);
		enum stage stage = (enum stage)(test_random() % STAGES);
		for (unsigned k = 0; k < n; k++)
			deeds[k] = (enum deed)(test_random() % DEEDS);
		play(stage, (unsigned)(test_random() % 2), deeds, n,
		    (unsigned)test_random(), fds);
	}
	end();
}

TESTS({"each deed in each state", test_each_deed},
    {"each pair of deeds in each state", test_each_pair},
    {"long scripts in each state", test_scripts},
    {"a reset is noticed at once", test_gone_at_once},
    {"a grant that was late", test_late_grant})
