#include "mix/exit_impl.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/ssl.h>
#include <sodium.h>

#include "base/wipe.h"
#include "net/tls_client.h"

#define EXCHANGES 64
#define TIMEOUT_MS 60000
#define CONNECTIONS 128
#define MESSAGE_MS 30000
/* All answers together, and what one begins with. */
#define ANSWERS_MAX (64u << 20)
#define ANSWER_FIRST 32768

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
	/* Reply keys. */
	if (x->surbs != NULL)
		wipe(x->surbs, x->surbs_len);
	e->answers -= x->answer_cap;
	free(x->request);
	free(x->answer);
	free(x->surbs);
	wipe(x->head, sizeof(x->head));
	slab_release(&e->slab, x->self);
	if (e->inbox != NULL)
		inbox_resume(e->inbox);
}

void
exit_finish(struct exchange *x, enum answer_result result)
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

bool
exit_add_answer(struct exchange *x, const void *bytes, size_t len)
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

void
exit_fail(struct exchange *x, const char *why)
{
	if (x->answer == NULL) {
		x->exit->counts.dropped++;
		exchange_free(x);
		return;
	}
	x->answer_len = 1;
	x->flags = 0;
	exit_add_answer(x, why, strlen(why));
	exit_finish(x, ANSWER_FAILED);
}

static void
on_late(struct deadline *d)
{
	struct exchange *x = loop_owner(d, struct exchange, late);

	switch (x->state) {
	case LISTEN:
		/* What has come is better than nothing. */
		x->flags |= ANSWER_CUT;
		exit_finish(x, ANSWER_RELAYED);
		break;
	case GATHER:
	case CALL:
	case ASK:
	case HANDSHAKE:
	case SPEAK:
		exit_fail(x, "it took too long");
		break;
	}
}

/* --- parts ---------------------------------------------------------------- */

/* All parts are here: put them together and ask the gate. */
static void
begin(struct exchange *x)
{
	struct mix_exit *e = x->exit;
	size_t len = 0, room = reply_max(e) - ANSWER_HEAD_SIZE;

	for (unsigned i = 0; i < x->parts; i++)
		len += x->part_len[i];
	x->request = malloc(len + 1);
	x->answer_max = 1 + (x->surbs_n > 0 ? x->surbs_n * room - 1 : 0);
	if (x->request == NULL ||
	    grow_answer(x,
		x->answer_max < ANSWER_FIRST ? x->answer_max : ANSWER_FIRST) !=
		ST_OK) {
		exit_fail(x, "the gateway has no memory");
		return;
	}
	x->answer_len = 1;
	for (unsigned i = 0; i < x->parts; i++) {
		memcpy(x->request + x->request_len, x->part[i], x->part_len[i]);
		x->request_len += x->part_len[i];
	}
	e->counts.requests++;
	exit_talk(x);
}

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

/* The oldest of those that still miss a part; NULL: there is none. */
static struct exchange *
oldest_begun(const struct mix_exit *e)
{
	struct exchange *oldest = NULL;

	for (uint32_t i = 0; i < e->slab.capacity; i++) {
		handle_t h;
		struct exchange *x = slab_nth(&e->slab, i, &h);
		if (x != NULL && x->state == GATHER &&
		    (oldest == NULL || x->number < oldest->number))
			oldest = x;
	}
	return oldest;
}

/* Anybody can begin requests and never end them: these make room. */
static void
make_room(struct mix_exit *e)
{
	struct exchange *oldest = oldest_begun(e);

	if (oldest == NULL)
		return;
	e->counts.dropped++;
	exchange_free(oldest);
}

static struct exchange *
exchange_new(struct mix_exit *e, const struct request_part *p)
{
	struct exchange *x;
	handle_t self;
	void *object;

	if (e->slab.used == e->slab.capacity)
		make_room(e);
	if (slab_take(&e->slab, &self, &object) != ST_OK)
		return NULL;
	x = object;
	x->exit = e;
	x->self = self;
	x->number = ++e->number;
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
	/* Not realloc: it leaves what it moves behind. */
	more = malloc(x->surbs_len + p->block_bytes.len);
	if (more == NULL)
		return ST_NO_MEMORY;
	if (x->surbs != NULL) {
		memcpy(more, x->surbs, x->surbs_len);
		wipe(x->surbs, x->surbs_len);
		free(x->surbs);
	}
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
	/* All ask the gate: whoever comes next waits for one to end. */
	if (e->slab.used == e->slab.capacity && oldest_begun(e) == NULL)
		inbox_pause(e->inbox);
}

/* --- life ----------------------------------------------------------------- */

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
		st = tls_client_new(&e->tls, e->config.ca_file);
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
