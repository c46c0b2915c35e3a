#include "mix/exit.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sodium.h>

#include "base/out.h"
#include "base/slab.h"
#include "base/text.h"
#include "base/wipe.h"
#include "mix/exchange.h"
#include "mix/wire.h"

#define EXCHANGES 64
#define TIMEOUT_MS 60000
#define CONNECTIONS 128
#define MESSAGE_MS 30000
/* The longest head and content of the gate's answer, and of our own head. */
#define GATE_HEAD_MAX 16384
/* All answers together, and what one begins with. */
#define ANSWERS_MAX (64u << 20)
#define ANSWER_FIRST 32768

enum exchange_state {
	GATHER, /* parts are coming */
	CALL, /* the CONNECT is being sent */
	ASK, /* the gate's answer is awaited */
	HANDSHAKE, /* TLS with the target */
	SPEAK, /* what the request has for the target is being sent */
	LISTEN, /* what the target says is coming */
};

struct exchange {
	struct mix_exit *exit;
	handle_t self;
	enum exchange_state state;
	uint8_t id[EXCHANGE_ID_SIZE];
	struct deadline late;

	/* The request. */
	uint16_t parts, have;
	uint8_t *part[EXCHANGE_PARTS_MAX];
	size_t part_len[EXCHANGE_PARTS_MAX];
	uint8_t *surbs; /* length u16 and block each */
	size_t surbs_len;
	unsigned surbs_n;
	uint8_t *request;
	size_t request_len;
	struct mix_request r;

	/* The way to the target. */
	struct wire wire;
	char head[GATE_HEAD_MAX]; /* ours, then the gate's */
	size_t head_len, sent;

	/* The answer: its first byte is the result. */
	uint8_t *answer;
	size_t answer_len, answer_cap; /* it grows as it comes */
	size_t answer_max; /* what there are reply blocks for */
	uint8_t flags;
};

struct mix_exit {
	struct outbox *outbox;
	struct mix_exit_config config;
	sphinx_key_t key;
	struct mix_exit_counts counts;
	size_t answers; /* bytes of all exchanges' answers */
	struct inbox *inbox;
	SSL_CTX *tls;
	struct slab slab;
	struct exchange *memory;
	struct slab_slot *slots;
};

/* --- answers -------------------------------------------------------------- */

static size_t
reply_max(const struct mix_exit *e)
{
	return e->outbox->config.suite == SPHINX_STREAM
	    ? SPHINX_REPLY_MAX_STREAM
	    : SPHINX_REPLY_MAX_WIDE;
}

static void
exchange_free(struct exchange *x)
{
	struct mix_exit *e = x->exit;

	deadline_stop(e->outbox->loop, &x->late);
	wire_close(&x->wire);
	for (int i = 0; i < EXCHANGE_PARTS_MAX; i++) {
		if (x->part[i] != NULL)
			wipe(x->part[i], x->part_len[i]);
		free(x->part[i]);
	}
	if (x->request != NULL)
		wipe(x->request, x->request_len);
	if (x->answer != NULL)
		wipe(x->answer, x->answer_cap);
	e->answers -= x->answer_cap;
	free(x->request);
	free(x->answer);
	free(x->surbs);
	wipe(x->head, sizeof(x->head));
	slab_release(&e->slab, x->self);
}

/* Send the answer back, as far as the reply blocks go; then it is over. */
static void
finish(struct exchange *x, enum answer_result result)
{
	struct mix_exit *e = x->exit;
	size_t room = reply_max(e) - ANSWER_HEAD_SIZE, at = 0;
	span_t blocks = span_of(x->surbs, x->surbs_len);
	uint8_t *reply = malloc(reply_max(e));

	x->answer[0] = (uint8_t)result;
	for (uint16_t part = 0; reply != NULL && at < x->answer_len; part++) {
		size_t n =
		    x->answer_len - at < room ? x->answer_len - at : room;
		struct answer_part p = {
		    part, (uint32_t)x->answer_len, x->flags, {NULL, 0}};
		span_t block = request_next_block(&blocks);
		answer_part_head(reply, &p);
		memcpy(reply + ANSWER_HEAD_SIZE, x->answer + at, n);
		/* One that can not be sent is missed by the client. */
		if (block.len == 0 ||
		    outbox_reply(e->outbox, block.ptr, block.len, reply,
			ANSWER_HEAD_SIZE + n) != ST_OK)
			break;
		at += n;
	}
	if (reply != NULL)
		wipe(reply, reply_max(e));
	free(reply);
	e->counts.relayed += result == ANSWER_RELAYED;
	e->counts.refused += result == ANSWER_REFUSED;
	e->counts.failed += result == ANSWER_FAILED;
	exchange_free(x);
}

/* Let the answer have CAP bytes. Returns: ST_OK; ST_BUSY (all answers
 * together are too long); ST_NO_MEMORY. */
static enum status
grow_answer(struct exchange *x, size_t cap)
{
	struct mix_exit *e = x->exit;
	uint8_t *more;

	if (e->answers + cap - x->answer_cap > ANSWERS_MAX)
		return ST_BUSY;
	more = malloc(cap);
	if (more == NULL)
		return ST_NO_MEMORY;
	if (x->answer != NULL) {
		memcpy(more, x->answer, x->answer_len);
		wipe(x->answer, x->answer_cap);
		free(x->answer);
	}
	e->answers += cap - x->answer_cap;
	x->answer = more;
	x->answer_cap = cap;
	return ST_OK;
}

/* Add to the answer; what is beyond its room is cut off.
 * Returns: false when there is no room left. */
static bool
add_answer(struct exchange *x, const void *bytes, size_t len)
{
	size_t room = x->answer_max - x->answer_len, cap = x->answer_cap;

	if (len > room) {
		len = room;
		x->flags |= ANSWER_CUT;
	}
	while (cap < x->answer_len + len)
		cap = 2 * cap < x->answer_max ? 2 * cap : x->answer_max;
	if (cap > x->answer_cap && grow_answer(x, cap) != ST_OK) {
		len = 0;
		x->flags |= ANSWER_CUT;
	}
	memcpy(x->answer + x->answer_len, bytes, len);
	x->answer_len += len;
	return (x->flags & ANSWER_CUT) == 0;
}

static void
fail(struct exchange *x, const char *why)
{
	if (x->answer == NULL) {
		x->exit->counts.dropped++;
		exchange_free(x);
		return;
	}
	x->answer_len = 1;
	x->flags = 0;
	add_answer(x, why, strlen(why));
	finish(x, ANSWER_FAILED);
}

static void
on_late(struct deadline *d)
{
	struct exchange *x = loop_owner(d, struct exchange, late);

	switch (x->state) {
	case LISTEN:
		/* What has come is better than nothing. */
		x->flags |= ANSWER_CUT;
		finish(x, ANSWER_RELAYED);
		break;
	case GATHER:
	case CALL:
	case ASK:
	case HANDSHAKE:
	case SPEAK:
		fail(x, "it took too long");
		break;
	}
}

/* --- the gate ------------------------------------------------------------- */

/* Where the head in X->head ends; 0: not yet. */
static size_t
head_end(const struct exchange *x)
{
	const char *end = memmem(x->head, x->head_len, "\r\n\r\n", 4);

	return end != NULL ? (size_t)(end - x->head) + 4 : 0;
}

/* The gate's Content-Length: it always has one, but for 200. */
static size_t
content_length(const struct exchange *x, size_t head)
{
	static const char name[] = "\r\nContent-Length: ";
	const char *at = memmem(x->head, head, name, sizeof(name) - 1);
	uint64_t n = 0;

	if (at == NULL)
		return 0;
	at += sizeof(name) - 1;
	span_t digits = span_of(at, strspn(at, "0123456789"));
	return decimal_u64(&n, digits, GATE_HEAD_MAX) == ST_OK ? (size_t)n : 0;
}

/* The target's host, as TLS wants it: without port and brackets. */
static bool
host_of(char out[static 256], span_t authority)
{
	const uint8_t *colon = memrchr(authority.ptr, ':', authority.len);
	size_t len = colon != NULL ? (size_t)(colon - authority.ptr) : 0;
	const uint8_t *start = authority.ptr;

	if (len >= 2 && start[0] == '[' && start[len - 1] == ']') {
		start++;
		len -= 2;
	}
	if (len == 0 || len > 255)
		return false;
	memcpy(out, start, len);
	out[len] = '\0';
	return true;
}

/* Begin TLS with the target. */
static enum status
begin_tls(struct exchange *x)
{
	SSL *ssl = SSL_new(x->exit->tls);
	char host[256];
	ip_t ip;
	bool literal, good = false;

	if (ssl == NULL)
		return ST_NO_MEMORY;
	if (host_of(host, x->r.authority)) {
		literal = ip_parse(&ip, span_str(host)) == ST_OK;
		good = literal ? X509_VERIFY_PARAM_set1_ip_asc(
				     SSL_get0_param(ssl), host) == 1
			       : SSL_set1_host(ssl, host) == 1 &&
			SSL_set_tlsext_host_name(ssl, host) == 1;
	}
	if (!good || SSL_set_fd(ssl, x->wire.stream.fd) != 1) {
		SSL_free(ssl);
		return ST_INTERNAL;
	}
	SSL_set_connect_state(ssl);
	x->wire.ssl = ssl;
	x->state = HANDSHAKE;
	return ST_OK;
}

/* The gate has said something.
 * Returns: ST_OK (granted: TLS begins); ST_MORE; ST_CLOSED (refused: the
 *          exchange is over); ST_CORRUPT; ST_NO_MEMORY. */
static enum status
read_gate(struct exchange *x)
{
	size_t n, head, all;
	enum status st;

	for (;;) {
		if ((head = head_end(x)) != 0) {
			if (memcmp(x->head, "HTTP/1.1 200", 12) == 0)
				/* Nothing else comes before we speak. */
				return head == x->head_len ? begin_tls(x)
							   : ST_CORRUPT;
			all = head + content_length(x, head);
			if (all > sizeof(x->head))
				return ST_CORRUPT;
			if (x->head_len >= all) {
				add_answer(x, x->head, all);
				finish(x, ANSWER_REFUSED);
				return ST_CLOSED;
			}
		}
		if (x->head_len + 1 >= sizeof(x->head))
			return ST_CORRUPT;
		st = wire_read(&x->wire, x->head + x->head_len,
		    sizeof(x->head) - 1 - x->head_len, &n);
		if (st != ST_OK)
			return st == ST_MORE ? ST_MORE : ST_CORRUPT;
		x->head_len += n;
		x->head[x->head_len] = '\0';
	}
}

/* Send what is left of LEN bytes. Returns: ST_OK (all); ST_MORE; ST_RESET. */
static enum status
send_rest(struct exchange *x, const void *bytes, size_t len)
{
	size_t n;
	enum status st = ST_OK;

	while (x->sent < len && st == ST_OK) {
		st = wire_write(&x->wire, (const uint8_t *)bytes + x->sent,
		    len - x->sent, &n);
		x->sent += n;
	}
	return st;
}

/* The CONNECT that asks for what the request wants. */
static enum status
write_connect(struct exchange *x)
{
	struct out o = out_to(x->head, sizeof(x->head));

	out_str(&o, "CONNECT ");
	out_span(&o, x->r.authority);
	out_str(&o, " HTTP/1.1\r\nHost: ");
	out_span(&o, x->r.authority);
	out_str(&o, "\r\nProxy-Authorization: Semaphore ");
	out_span(&o, x->r.token);
	out_str(&o, "\r\n\r\n");
	return out_status(&o, &x->head_len);
}

/* --- the target ----------------------------------------------------------- */

static const char *
tls_problem(const struct exchange *x)
{
	long result = SSL_get_verify_result(x->wire.ssl);

	return result == X509_V_OK ? "the target does not speak TLS"
				   : X509_verify_cert_error_string(result);
}

/* Returns: ST_OK; ST_MORE; ST_RESET. */
static enum status
shake_hands(struct exchange *x)
{
	int r = SSL_do_handshake(x->wire.ssl);
	int error = r == 1 ? SSL_ERROR_NONE : SSL_get_error(x->wire.ssl, r);

	ERR_clear_error();
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return ST_MORE;
	if (error != SSL_ERROR_NONE)
		return ST_RESET;
	x->sent = 0;
	x->state = SPEAK;
	return ST_OK;
}

/* Returns: ST_MORE; ST_CLOSED (it has ended, or there is no room for more). */
static enum status
listen_to(struct exchange *x)
{
	uint8_t bytes[4096];
	size_t n;
	enum status st;

	while ((st = wire_read(&x->wire, bytes, sizeof(bytes), &n)) == ST_OK) {
		if (!add_answer(x, bytes, n))
			return ST_CLOSED;
	}
	if (st == ST_MORE)
		return ST_MORE;
	if (st == ST_RESET)
		x->flags |= ANSWER_UNCLEAN;
	return ST_CLOSED;
}

/* --- the course of an exchange -------------------------------------------- */

/* One step in the present state.
 * Returns: ST_OK: there is another; ST_MORE: wait; ST_CLOSED: the exchange is
 *          over and gone; anything else: it has failed. */
static enum status
step(struct exchange *x)
{
	enum status st = ST_MORE;

	switch (x->state) {
	case CALL:
		st = send_rest(x, x->head, x->head_len);
		if (st == ST_OK) {
			/* From here on it is the gate's head. */
			wipe(x->head, x->head_len);
			x->head_len = 0;
			x->state = ASK;
		}
		break;
	case ASK:
		st = read_gate(x);
		break;
	case HANDSHAKE:
		st = shake_hands(x);
		break;
	case SPEAK:
		st = send_rest(x, x->r.bytes.ptr, x->r.bytes.len);
		if (st == ST_OK)
			x->state = LISTEN;
		break;
	case LISTEN:
		st = listen_to(x);
		if (st == ST_CLOSED)
			finish(x, ANSWER_RELAYED);
		break;
	case GATHER:
		break;
	}
	return st;
}

/* What to say when a step has failed. */
static const char *
problem(const struct exchange *x)
{
	switch (x->state) {
	case HANDSHAKE:
		return tls_problem(x);
	case SPEAK:
	case LISTEN:
		return "the target closed the connection";
	case GATHER:
	case CALL:
	case ASK:
		break;
	}
	return "the gate does not answer";
}

static void
advance(struct exchange *x)
{
	enum status st;

	do
		st = step(x);
	while (st == ST_OK);
	if (st != ST_MORE && st != ST_CLOSED)
		fail(x, problem(x));
}

static void
on_ready(struct wire *w)
{
	advance(loop_owner(w, struct exchange, wire));
}

/* All parts are here: put them together and ask the gate. */
static void
begin(struct exchange *x)
{
	struct mix_exit *e = x->exit;
	size_t len = 0, room = reply_max(e) - ANSWER_HEAD_SIZE;
	int fd;

	for (unsigned i = 0; i < x->parts; i++)
		len += x->part_len[i];
	x->request = malloc(len + 1);
	x->answer_max = 1 + (x->surbs_n > 0 ? x->surbs_n * room - 1 : 0);
	if (x->request == NULL ||
	    grow_answer(x,
		x->answer_max < ANSWER_FIRST ? x->answer_max : ANSWER_FIRST) !=
		ST_OK) {
		fail(x, "the gateway has no memory");
		return;
	}
	x->answer_len = 1;
	for (unsigned i = 0; i < x->parts; i++) {
		memcpy(x->request + x->request_len, x->part[i], x->part_len[i]);
		x->request_len += x->part_len[i];
	}
	e->counts.requests++;
	if (mix_request_decode(&x->r, span_of(x->request, x->request_len)) !=
		ST_OK ||
	    write_connect(x) != ST_OK) {
		fail(x, "the request is malformed");
		return;
	}
	x->state = CALL;
	fd = e->config.connect(e->config.arg);
	if (fd < 0 ||
	    wire_open(&x->wire, e->outbox->loop, fd, NULL, NULL, on_ready) !=
		ST_OK)
		fail(x, "the gateway is overloaded");
}

/* --- parts ---------------------------------------------------------------- */

static struct exchange *
find(const struct mix_exit *e, const uint8_t id[static EXCHANGE_ID_SIZE])
{
	for (uint32_t i = 0; i < e->slab.capacity; i++) {
		handle_t h;
		struct exchange *x = slab_nth(&e->slab, i, &h);
		if (x != NULL && memcmp(x->id, id, EXCHANGE_ID_SIZE) == 0)
			return x;
	}
	return NULL;
}

static struct exchange *
exchange_new(struct mix_exit *e, const struct request_part *p)
{
	struct exchange *x;
	handle_t self;
	void *object;

	if (slab_take(&e->slab, &self, &object) != ST_OK)
		return NULL;
	x = object;
	x->exit = e;
	x->self = self;
	x->state = GATHER;
	x->parts = p->parts;
	memcpy(x->id, p->id, sizeof(x->id));
	wire_init(&x->wire);
	deadline_init(&x->late, on_late);
	deadline_start(e->outbox->loop, &x->late, e->config.timeout_ms);
	return x;
}

/* Keep the blocks of P. Returns: ST_OK; ST_NO_SPACE; ST_NO_MEMORY. */
static enum status
keep_blocks(struct exchange *x, const struct request_part *p)
{
	uint8_t *more;

	if (p->blocks == 0)
		return ST_OK;
	if (x->surbs_n + p->blocks > EXCHANGE_BLOCKS_MAX)
		return ST_NO_SPACE;
	more = realloc(x->surbs, x->surbs_len + p->block_bytes.len);
	if (more == NULL)
		return ST_NO_MEMORY;
	memcpy(more + x->surbs_len, p->block_bytes.ptr, p->block_bytes.len);
	x->surbs = more;
	x->surbs_len += p->block_bytes.len;
	x->surbs_n += p->blocks;
	return ST_OK;
}

static void
take_part(struct mix_exit *e, const struct request_part *p)
{
	struct exchange *x = find(e, p->id);
	uint8_t *copy;

	if (x == NULL)
		x = exchange_new(e, p);
	if (x == NULL) {
		e->counts.dropped++;
		return;
	}
	/* One that came twice, or of another request with the same id. */
	if (x->state != GATHER || p->parts != x->parts ||
	    x->part[p->part] != NULL) {
		e->counts.bad++;
		return;
	}
	copy = malloc(p->bytes.len + 1);
	if (copy == NULL || keep_blocks(x, p) != ST_OK) {
		free(copy);
		e->counts.dropped++;
		exchange_free(x);
		return;
	}
	memcpy(copy, p->bytes.ptr, p->bytes.len);
	x->part[p->part] = copy;
	x->part_len[p->part] = p->bytes.len;
	if (++x->have == x->parts)
		begin(x);
}

/* Open the sealed box BOX; the part within is taken. */
static void
open_part(struct mix_exit *e, span_t box)
{
	size_t len =
	    box.len > crypto_box_SEALBYTES ? box.len - crypto_box_SEALBYTES : 0;
	uint8_t *plain = malloc(len + 1);
	struct request_part p;

	if (plain != NULL && len > 0 &&
	    crypto_box_seal_open(
		plain, box.ptr, box.len, e->key.id, e->key.secret) == 0 &&
	    request_part_decode(&p, span_of(plain, len)) == ST_OK)
		take_part(e, &p);
	else
		e->counts.bad++;
	if (plain != NULL)
		wipe(plain, len);
	free(plain);
}

static void
on_message(void *arg, uint8_t *bytes, size_t len)
{
	struct mix_exit *e = arg;
	sphinx_message_t m;

	if (sphinx_message_decode(&m, bytes, len) != ST_OK ||
	    m.kind != SPHINX_REQUEST) {
		e->counts.bad++;
		return;
	}
	if ((m.flags & SPHINX_FLAG_COVER) != 0)
		return;
	open_part(e, span_of(m.body, m.body_len));
}

/* --- life ----------------------------------------------------------------- */

static enum status
make_tls(struct mix_exit *e)
{
	e->tls = SSL_CTX_new(TLS_client_method());
	if (e->tls == NULL)
		return ST_NO_MEMORY;
	SSL_CTX_set_verify(e->tls, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_session_cache_mode(e->tls, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(e->tls,
	    SSL_MODE_ENABLE_PARTIAL_WRITE |
		SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (SSL_CTX_set_min_proto_version(e->tls, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_load_verify_file(e->tls, e->config.ca_file) != 1) {
		ERR_clear_error();
		return ST_NOT_FOUND;
	}
	return ST_OK;
}

enum status
mix_exit_new(struct mix_exit **out, struct outbox *o,
    const struct mix_exit_config *config)
{
	struct mix_exit *e = calloc(1, sizeof(*e));
	struct inbox_config inbox = {CONNECTIONS, MESSAGE_MS, on_message, e};
	uint32_t capacity =
	    config->exchanges != 0 ? config->exchanges : EXCHANGES;
	enum status st = ST_NO_MEMORY;

	*out = e;
	if (e == NULL)
		return ST_NO_MEMORY;
	e->outbox = o;
	e->config = *config;
	e->key = *config->key;
	e->config.key = NULL;
	if (e->config.timeout_ms == 0)
		e->config.timeout_ms = TIMEOUT_MS;
	e->memory = calloc(capacity, sizeof(*e->memory));
	e->slots = calloc(capacity, sizeof(*e->slots));
	if (e->memory != NULL && e->slots != NULL) {
		slab_init(&e->slab, e->memory, e->slots, sizeof(*e->memory),
		    capacity);
		st = make_tls(e);
	}
	if (st == ST_OK)
		st = inbox_new(&e->inbox, o->loop, &config->listen, &inbox);
	if (st != ST_OK)
		mix_exit_free(out);
	return st;
}

void
mix_exit_free(struct mix_exit **out)
{
	struct mix_exit *e = *out;

	if (e == NULL)
		return;
	inbox_free(&e->inbox);
	for (uint32_t i = 0; i < e->slab.capacity; i++) {
		handle_t h;
		struct exchange *x = slab_nth(&e->slab, i, &h);
		if (x != NULL)
			exchange_free(x);
	}
	SSL_CTX_free(e->tls);
	wipe(&e->key, sizeof(e->key));
	free(e->memory);
	free(e->slots);
	free(e);
	*out = NULL;
}

uint16_t
mix_exit_port(const struct mix_exit *e)
{
	return inbox_port(e->inbox);
}

struct mix_exit_counts
mix_exit_counts(const struct mix_exit *e)
{
	return e->counts;
}
