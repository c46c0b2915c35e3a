#include "store/redis_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/ssl.h>
#include <sodium.h>

#include "base/wipe.h"
#include "net/connecting.h"
#include "net/tls_client.h"
#include "net/wire.h"

#define TIMEOUT_MS 2000
#define RETRY_MS 100
#define RETRY_MAX_MS 5000
/* To the next place, as long as there is one that has not been tried. */
#define NEXT_MS 10
/* A connection that has held for so long was a good one. */
#define SETTLED_MS 5000
#define PASSWORD_MAX 512
/* What may wait to be sent: far more than the owner may have on the way. */
#define OUT_MAX ((size_t)16 << 20)
#define OUT_MIN 4096
/* The longest answer that is ours; what ROLE says of many replicas is a few
 * KiB. What is read of it takes memory before it is whole. */
#define ANSWER_MAX ((size_t)64 << 10)
/* The longest list in one: hiredis makes room for all of it at its head. */
#define ELEMENTS_MAX 1024

#if HIREDIS_MAJOR >= 1
typedef size_t elements_t;
#else
typedef int elements_t;
#endif

enum link_state {
	LINK_DOWN, /* the clock says when to try again */
	LINK_CONNECTING,
	LINK_SECURING, /* TLS */
	LINK_GREETING, /* its answers to what we say first are awaited */
	LINK_UP,
};

enum greeting { GREET_AUTH, GREET_SELECT, GREET_ROLE };

struct place {
	struct shared_place at;
	union sockaddr_any address;
	socklen_t address_len;
};

struct redis_link {
	struct loop *loop;
	const struct redis_link_ops *ops;
	void *ctx;
	struct place places[REDIS_LINK_PLACES];
	size_t places_n, place; /* which one we are at */
	size_t tried; /* since the last back-off */
	uint64_t up_at; /* mono */
	char user[PASSWORD_MAX], password[PASSWORD_MAX];
	SSL_CTX *tls;
	unsigned timeout_ms, retry_ms, backoff_ms;

	enum link_state state;
	struct connecting connecting;
	struct wire wire;
	struct deadline clock; /* the next try, or the end of patience */
	struct task flush;
	redisReader *reader;
	redisReplyObjectFunctions made_by; /* hiredis's, but for lists */
	void *(*make_list)(const redisReadTask *t, elements_t n);
	size_t unanswered; /* bytes of an answer that is not whole */
	enum greeting greetings[3];
	size_t greetings_n, greeted;

	char *out; /* a ring would save nothing: it empties all the time */
	size_t out_cap, out_len, out_sent;
};

/* --- the connection's end --- */

static void
drop(struct redis_link *l)
{
	connecting_stop(&l->connecting);
	wire_close(&l->wire);
	deadline_stop(l->loop, &l->clock);
	task_drop(&l->flush);
	redisReaderFree(l->reader);
	l->reader = NULL;
	/* The password may be in it. */
	if (l->out_len > 0)
		wipe(l->out, l->out_len);
	l->out_len = l->out_sent = 0;
	l->state = LINK_DOWN;
}

/* Half of MS at least, and MS at most. */
static unsigned
jittered(unsigned ms)
{
	return ms / 2 + randombytes_uniform(ms / 2 + 1);
}

void
redis_link_give_up(struct redis_link *l)
{
	unsigned wait = NEXT_MS;

	if (l->state == LINK_DOWN)
		return;
	/* One that falls at once has the same trouble again. */
	if (l->state == LINK_UP && loop_now(l->loop) - l->up_at >= SETTLED_MS) {
		l->tried = 0;
		l->backoff_ms = l->retry_ms;
	}
	drop(l);
	l->place = (l->place + 1) % l->places_n;
	if (++l->tried >= l->places_n) {
		wait = jittered(l->backoff_ms);
		l->tried = 0;
		l->backoff_ms *= 2;
		if (l->backoff_ms > RETRY_MAX_MS)
			l->backoff_ms = RETRY_MAX_MS;
	}
	deadline_start(l->loop, &l->clock, wait);
}

static void
down(struct redis_link *l, const char *why)
{
	redis_link_give_up(l);
	l->ops->down(l->ctx, why);
}

/* --- sending --- */

static enum status
make_room(struct redis_link *l, size_t n)
{
	size_t cap = l->out_cap != 0 ? l->out_cap : OUT_MIN;
	char *more;

	if (n > OUT_MAX - l->out_len)
		return ST_NO_MEMORY;
	while (cap < l->out_len + n)
		cap *= 2;
	if (cap == l->out_cap)
		return ST_OK;
	if ((more = realloc(l->out, cap)) == NULL)
		return ST_NO_MEMORY;
	l->out = more;
	l->out_cap = cap;
	return ST_OK;
}

/* Append a command; it goes out at the end of the round, with those that come
 * until then. */
static enum status
append(struct redis_link *l, size_t n, const char *const *words,
    const size_t *lengths)
{
	char *text = NULL;
	/* hiredis takes pointers that are not const, and does not write. */
	int len = redisFormatCommandArgv(&text, (int)n,
	    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	    (const char **)(uintptr_t)words, lengths);
	enum status st;

	if (len < 0)
		return ST_NO_MEMORY;
	if ((st = make_room(l, (size_t)len)) == ST_OK) {
		memcpy(l->out + l->out_len, text, (size_t)len);
		l->out_len += (size_t)len;
		task_defer(l->loop, &l->flush);
	}
	wipe(text, (size_t)len);
	redisFreeCommand(text);
	return st;
}

/* Send what there is.
 * Returns: ST_OK; ST_RESET. */
static enum status
write_out(struct redis_link *l)
{
	enum status st = ST_OK;
	size_t n;

	while (l->out_sent < l->out_len && st == ST_OK) {
		st = wire_write(&l->wire, l->out + l->out_sent,
		    l->out_len - l->out_sent, &n);
		l->out_sent += n;
	}
	if (l->out_sent == l->out_len)
		l->out_len = l->out_sent = 0;
	return st == ST_MORE ? ST_OK : st;
}

static void
on_flush(struct task *t)
{
	struct redis_link *l = loop_owner(t, struct redis_link, flush);

	if (write_out(l) != ST_OK)
		down(l, "the connection was lost");
}

enum status
redis_link_send(struct redis_link *l, size_t n, const char *const *words,
    const size_t *lengths)
{
	return append(l, n, words, lengths);
}

bool
redis_link_is_up(const struct redis_link *l)
{
	return l->state == LINK_UP;
}

/* --- being let in --- */

static enum status
greet(struct redis_link *l, enum greeting what, size_t n,
    const char *const *words)
{
	size_t lengths[3];

	for (size_t i = 0; i < n; i++)
		lengths[i] = strlen(words[i]);
	l->greetings[l->greetings_n++] = what;
	return append(l, n, words, lengths);
}

static enum status
greet_all(struct redis_link *l)
{
	const char *const login[] = {"AUTH", l->user, l->password};
	const char *const simple[] = {"AUTH", l->password};
	const char *const role[] = {"ROLE"};
	char number[16];
	const char *const choose[] = {"SELECT", number};
	uint32_t database = l->places[l->place].at.database;
	enum status st = ST_OK;

	l->greetings_n = l->greeted = 0;
	snprintf(number, sizeof(number), "%u", (unsigned)database);
	if (l->user[0] != '\0')
		st = greet(l, GREET_AUTH, 3, login);
	else if (l->password[0] != '\0')
		st = greet(l, GREET_AUTH, 2, simple);
	if (st == ST_OK && database != 0)
		st = greet(l, GREET_SELECT, 2, choose);
	if (st == ST_OK)
		st = greet(l, GREET_ROLE, 1, role);
	return st;
}

void
redis_error_word(char out[static 32], const redisReply *r)
{
	size_t n = 0;

	if (r->type == REDIS_REPLY_ERROR)
		n = strspn(r->str, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	if (n > 1 && n < 32)
		snprintf(out, 32, "%.*s", (int)n, r->str);
	else
		snprintf(out, 32, "an error");
}

/* What is wrong with R, the answer to WHAT; "" if nothing is. */
static void
judge_greeting(char why[static REDIS_LINK_WHY_MAX], enum greeting what,
    const redisReply *r)
{
	static const char *const said[] = {
	    [GREET_AUTH] = "user or password is refused",
	    [GREET_SELECT] = "the database is refused",
	    [GREET_ROLE] = "the server answers with an error",
	};
	char word[32];

	why[0] = '\0';
	if (r->type == REDIS_REPLY_ERROR) {
		redis_error_word(word, r);
		snprintf(why, REDIS_LINK_WHY_MAX, "%s: %s", said[what], word);
		return;
	}
	if (what != GREET_ROLE)
		return;
	if (r->type != REDIS_REPLY_ARRAY || r->elements == 0 ||
	    r->element[0]->type != REDIS_REPLY_STRING)
		snprintf(why, REDIS_LINK_WHY_MAX, "it is no such server");
	else if (strcmp(r->element[0]->str, "master") != 0)
		snprintf(why, REDIS_LINK_WHY_MAX,
		    "it is a replica, and no master is to be found");
}

static void
take_greeting(struct redis_link *l, const redisReply *r)
{
	char why[REDIS_LINK_WHY_MAX];

	judge_greeting(why, l->greetings[l->greeted++], r);
	if (why[0] != '\0') {
		down(l, why);
		return;
	}
	if (l->greeted < l->greetings_n)
		return;
	deadline_stop(l->loop, &l->clock);
	l->state = LINK_UP;
	l->up_at = loop_now(l->loop);
	l->ops->up(l->ctx);
}

/* --- receiving --- */

static void
take_reply(struct redis_link *l, const redisReply *r)
{
	if (l->state == LINK_GREETING)
		take_greeting(l, r);
	else
		l->ops->reply(l->ctx, r);
}

/* Give the answers that are whole. The link may be down afterwards: the reader
 * is another one then, or none.
 * Returns: ST_OK; ST_CORRUPT (not the protocol). */
static enum status
take_replies(struct redis_link *l)
{
	redisReader *reader = l->reader;
	void *raw;

	while (l->reader == reader && reader != NULL) {
		if (redisReaderGetReply(reader, &raw) != REDIS_OK)
			return ST_CORRUPT;
		if (raw == NULL)
			return l->unanswered < ANSWER_MAX ? ST_OK : ST_CORRUPT;
		l->unanswered = reader->len - reader->pos;
		take_reply(l, raw);
		freeReplyObject(raw);
	}
	return ST_OK;
}

static enum status
read_in(struct redis_link *l)
{
	char bytes[4096];
	const redisReader *reader = l->reader;
	enum status st;
	size_t n;

	for (;;) {
		st = wire_read(&l->wire, bytes, sizeof(bytes), &n);
		if (st != ST_OK)
			return st;
		if (redisReaderFeed(l->reader, bytes, n) != REDIS_OK)
			return ST_NO_MEMORY;
		l->unanswered += n;
		if ((st = take_replies(l)) != ST_OK)
			return st;
		/* One that was lost meanwhile has told so. */
		if (l->reader != reader || reader == NULL)
			return ST_MORE;
	}
}

static const char *
why_lost(const struct redis_link *l, enum status st)
{
	if (st == ST_CORRUPT)
		return "what it answers is not understood";
	if (st == ST_NO_MEMORY)
		return "there is no memory for its answer";
	return l->state == LINK_UP ? "the connection was lost"
				   : "it closes the connection";
}

static void
talk(struct redis_link *l)
{
	enum status st = read_in(l);

	if (st == ST_MORE && l->state >= LINK_GREETING)
		st = write_out(l);
	if (st != ST_OK && st != ST_MORE)
		down(l, why_lost(l, st));
}

static void
secure(struct redis_link *l)
{
	enum status st = wire_handshake(&l->wire);
	const char *why;
	char text[REDIS_LINK_WHY_MAX];

	if (st == ST_MORE)
		return;
	if (st != ST_OK) {
		why = tls_client_problem(l->wire.ssl);
		snprintf(text, sizeof(text), "%s%s",
		    why != NULL ? "its certificate: " : "it does not speak TLS",
		    why != NULL ? why : "");
		down(l, text);
		return;
	}
	l->state = LINK_GREETING;
	if (greet_all(l) != ST_OK)
		down(l, "out of memory");
}

static void
on_ready(struct wire *w)
{
	struct redis_link *l = loop_owner(w, struct redis_link, wire);

	if (l->state == LINK_SECURING)
		secure(l);
	if (l->state >= LINK_GREETING)
		talk(l);
}

/* --- connecting --- */

/* A list of N, the privdata of T being the link; none of ours is longer than
 * ELEMENTS_MAX. */
static void *
make_list(const redisReadTask *t, elements_t n)
{
	const struct redis_link *l = t->privdata;

	return n <= ELEMENTS_MAX ? l->make_list(t, n) : NULL;
}

static enum status
make_reader(struct redis_link *l)
{
	l->unanswered = 0;
	if ((l->reader = redisReaderCreate()) == NULL)
		return ST_NO_MEMORY;
	l->made_by = *l->reader->fn;
	l->make_list = l->made_by.createArray;
	l->made_by.createArray = make_list;
	l->reader->fn = &l->made_by;
	l->reader->privdata = l;
	return ST_OK;
}

static enum status
begin_talk(struct redis_link *l, int fd)
{
	const struct shared_place *at = &l->places[l->place].at;
	enum status st = wire_open(&l->wire, l->loop, fd, on_ready);

	if (st == ST_OK)
		st = make_reader(l);
	if (st != ST_OK || !at->tls) {
		l->state = LINK_GREETING;
		return st == ST_OK ? greet_all(l) : st;
	}
	l->state = LINK_SECURING;
	return wire_secure(&l->wire, tls_client_session(l->tls, fd, at->host));
}

static void
on_connected(struct connecting *c, enum status st, int fd)
{
	struct redis_link *l = loop_owner(c, struct redis_link, connecting);

	if (st != ST_OK) {
		down(l, "it can not be reached: connection refused");
		return;
	}
	if (begin_talk(l, fd) != ST_OK)
		down(l, "out of memory or descriptors");
	else if (l->state == LINK_SECURING)
		secure(l);
}

static void
begin(struct redis_link *l)
{
	const struct place *p = &l->places[l->place];
	enum status st;

	l->state = LINK_CONNECTING;
	deadline_start(l->loop, &l->clock, l->timeout_ms);
	st = connecting_start(
	    &l->connecting, l->loop, &p->address, p->address_len);
	if (st != ST_OK)
		down(l,
		    st == ST_PERMISSION
			? "this user may not connect to it"
			: "it can not be reached: connection refused");
}

static void
on_clock(struct deadline *d)
{
	struct redis_link *l = loop_owner(d, struct redis_link, clock);

	if (l->state == LINK_DOWN)
		begin(l);
	else
		down(l, "it does not answer");
}

/* --- life --- */

static enum status
copy_secret(char out[static PASSWORD_MAX], const char *in)
{
	size_t n = in != NULL ? strlen(in) : 0;

	if (n >= PASSWORD_MAX)
		return ST_BAD_LENGTH;
	memcpy(out, in != NULL ? in : "", n + 1);
	return ST_OK;
}

static enum status
add_place(struct redis_link *l, const struct shared_place *at, char *why)
{
	struct place *p = &l->places[l->places_n];
	const char *said;
	enum status st;

	p->at = *at;
	st = shared_place_address(&p->address, &p->address_len, &said, at);
	if (st == ST_OK)
		l->places_n++;
	else
		snprintf(why, REDIS_LINK_WHY_MAX, "no address for it: %s",
		    said[0] != '\0' ? said : status_text(st));
	return st;
}

static enum status
set_up(struct redis_link *l, const struct redis_link_config *c, char *why)
{
	enum status st = ST_OK;
	bool tls = false;

	for (size_t i = 0; i < c->places_n && st == ST_OK; i++) {
		st = add_place(l, &c->places[i], why);
		tls |= c->places[i].tls;
	}
	if (st == ST_OK && (st = copy_secret(l->user, c->user)) == ST_OK)
		st = copy_secret(l->password, c->password);
	if (st == ST_BAD_LENGTH)
		snprintf(why, REDIS_LINK_WHY_MAX,
		    "user or password is longer than %d bytes",
		    PASSWORD_MAX - 1);
	if (st == ST_OK && tls &&
	    (st = tls_client_new(&l->tls, c->ca_file)) != ST_OK)
		snprintf(why, REDIS_LINK_WHY_MAX,
		    "no certificate of an authority can be read");
	return st;
}

enum status
redis_link_new(struct redis_link **link, struct loop *loop,
    const struct redis_link_config *config, char why[static REDIS_LINK_WHY_MAX])
{
	struct redis_link *l = calloc(1, sizeof(*l));
	enum status st;

	*link = l;
	snprintf(why, REDIS_LINK_WHY_MAX, "out of memory");
	if (l == NULL)
		return ST_NO_MEMORY;
	l->loop = loop;
	l->ops = config->ops;
	l->ctx = config->ctx;
	l->timeout_ms =
	    config->timeout_ms != 0 ? config->timeout_ms : TIMEOUT_MS;
	l->retry_ms = config->retry_ms != 0 ? config->retry_ms : RETRY_MS;
	l->backoff_ms = l->retry_ms;
	connecting_init(&l->connecting, on_connected);
	wire_init(&l->wire);
	deadline_init(&l->clock, on_clock);
	task_init(&l->flush, on_flush);
	if ((st = set_up(l, config, why)) != ST_OK) {
		redis_link_free(link);
		return st;
	}
	why[0] = '\0';
	deadline_start(loop, &l->clock, 0);
	return ST_OK;
}

void
redis_link_free(struct redis_link **link)
{
	struct redis_link *l = *link;

	if (l == NULL)
		return;
	drop(l);
	SSL_CTX_free(l->tls);
	wipe(l->password, sizeof(l->password));
	free(l->out);
	free(l);
	*link = NULL;
}
