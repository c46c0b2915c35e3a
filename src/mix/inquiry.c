#include "mix/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/bytes.h"
#include "base/wipe.h"

/* What a message has around a body. */
#define MESSAGE_OVERHEAD 7
#define BOX_MAX (SPHINX_MESSAGE_MAX - MESSAGE_OVERHEAD)
#define BODY_MAX (BOX_MAX - crypto_box_SEALBYTES)
#define ANSWER_MAX (EXCHANGE_BLOCKS_MAX * (size_t)SPHINX_MESSAGE_MAX)

struct inquiry {
	struct mix_client *client;
	const struct outbox *outbox;
	uint64_t timeout_ms;
	inquiry_done_fn *done;
	void *arg;
	struct mix_way there; /* of the part that is being made */
	uint8_t tag[SPHINX_KEY_SIZE], key[SPHINX_KEY_SIZE]; /* the gateway's */
	handle_t reply[EXCHANGE_BLOCKS_MAX];
	unsigned blocks, made;

	uint8_t *answer; /* NULL until the first part comes */
	uint32_t total, have;
	uint8_t flags;
	bool came[EXCHANGE_BLOCKS_MAX];
};

void
inquiry_free(struct inquiry **out)
{
	struct inquiry *f = *out;

	if (f == NULL)
		return;
	for (unsigned i = 0; i < f->made; i++)
		mix_client_forget(f->client, f->reply[i]);
	if (f->answer != NULL)
		wipe(f->answer, f->total);
	free(f->answer);
	free(f);
	*out = NULL;
}

/* --- the answer ----------------------------------------------------------- */

static void
finish(struct inquiry *f, enum status st)
{
	inquiry_done_fn *done = f->done;
	void *arg = f->arg;
	uint8_t *answer = f->answer;
	uint32_t total = f->total;
	uint8_t flags = f->flags;

	f->answer = NULL;
	inquiry_free(&f);
	if (st == ST_OK)
		done(arg, st, (enum answer_result)answer[0], flags,
		    span_of(answer + 1, total - 1));
	else
		done(arg, st, ANSWER_FAILED, 0, span_of(NULL, 0));
	if (answer != NULL)
		wipe(answer, total);
	free(answer);
}

/* Put P in its place.
 * Returns: ST_OK; ST_CORRUPT; ST_NO_MEMORY. */
static enum status
take_part(struct inquiry *f, const struct answer_part *p)
{
	size_t room =
	    (f->outbox->config.suite == SPHINX_STREAM ? SPHINX_REPLY_MAX_STREAM
						      : SPHINX_REPLY_MAX_WIDE) -
	    ANSWER_HEAD_SIZE;
	size_t at = p->part * room;

	if (f->answer == NULL) {
		if (p->total > ANSWER_MAX)
			return ST_CORRUPT;
		f->answer = malloc(p->total);
		if (f->answer == NULL)
			return ST_NO_MEMORY;
		f->total = p->total;
		f->flags = p->flags;
	}
	if (p->total != f->total || p->part >= f->blocks || at >= f->total ||
	    p->bytes.len != (f->total - at < room ? f->total - at : room) ||
	    f->came[p->part])
		return ST_CORRUPT;
	memcpy(f->answer + at, p->bytes.ptr, p->bytes.len);
	f->came[p->part] = true;
	f->have += (uint32_t)p->bytes.len;
	return ST_OK;
}

static void
on_reply(void *arg, enum status st, const uint8_t *reply, size_t len)
{
	struct inquiry *f = arg;
	struct answer_part p;

	if (st == ST_OK) {
		st = answer_part_decode(&p, span_of(reply, len));
		st = st == ST_OK ? take_part(f, &p) : ST_CORRUPT;
	}
	if (st != ST_OK)
		finish(f, st);
	else if (f->have == f->total)
		finish(f, f->answer[0] <= ANSWER_FAILED ? ST_OK : ST_CORRUPT);
}

/* --- the request ---------------------------------------------------------- */

/* Make one more reply block and write it with its length.
 * Returns: ST_OK; as mix_client_way and mix_client_surb. */
static enum status
add_block(struct inquiry *f, uint8_t *out, size_t *len)
{
	struct mix_way back;
	sphinx_surb_t surb;
	enum status st = mix_client_way(
	    f->client, &back, &f->there, mix_client_tag(f->client));

	if (st == ST_OK)
		st = mix_client_surb(f->client, &surb, &f->reply[f->made],
		    &back, f->timeout_ms, on_reply, f);
	if (st != ST_OK)
		return st;
	f->made++;
	out[0] = (uint8_t)surb.len;
	out[1] = (uint8_t)(surb.len >> 8);
	memcpy(out + 2, surb.bytes, surb.len);
	*len = 2 + surb.len;
	return ST_OK;
}

/* The most bytes that a block takes, with its length. */
static size_t
block_size(const struct inquiry *f)
{
	return 2 +
	    (f->outbox->config.suite == SPHINX_STREAM ? SPHINX_SURB_MAX : 448u);
}

/* How many blocks go into part PART, and how much of the request. */
struct load {
	unsigned blocks;
	size_t bytes;
};

/* Fill parts with blocks first, then with LEN bytes: the load of each.
 * Returns: how many parts; 0: more than there may be. */
static uint16_t
plan(struct load load[static EXCHANGE_PARTS_MAX], const struct inquiry *f,
    unsigned blocks, size_t len)
{
	uint16_t parts = 0;

	do {
		size_t room = BODY_MAX - REQUEST_HEAD_SIZE;
		size_t fit = room / block_size(f);
		if (parts == EXCHANGE_PARTS_MAX)
			return 0;
		struct load *l = &load[parts++];
		l->blocks = blocks < fit ? blocks : (unsigned)fit;
		blocks -= l->blocks;
		room -= l->blocks * block_size(f);
		l->bytes = len < room ? len : room;
		len -= l->bytes;
	} while (blocks > 0 || len > 0);
	return parts;
}

/* Make and send one part. BODY and BOX are room for it, open and sealed. */
static enum status
send_part(struct inquiry *f, const struct request_part *p, uint8_t *body,
    uint8_t *box, const uint8_t *bytes, size_t len)
{
	size_t at = request_part_head(body, p), n;
	enum status st = mix_client_way(f->client, &f->there, NULL, f->tag);

	for (unsigned i = 0; i < p->blocks && st == ST_OK; i++) {
		st = add_block(f, body + at, &n);
		if (st == ST_OK)
			at += n;
	}
	if (st != ST_OK)
		return st;
	memcpy(body + at, bytes, len);
	if (crypto_box_seal(box, body, at + len, f->key) != 0)
		return ST_WEAK_KEY;
	sphinx_message_t m = {.kind = SPHINX_REQUEST,
	    .body = box,
	    .body_len = at + len + crypto_box_SEALBYTES};
	return mix_client_send(f->client, &f->there, &m);
}

/* Send REQUEST in parts. */
static enum status
send_parts(struct inquiry *f, const uint8_t *request, size_t len)
{
	const struct mix_random *r = f->outbox->config.random;
	struct load load[EXCHANGE_PARTS_MAX];
	uint8_t id[EXCHANGE_ID_SIZE];
	struct request_part p = {
	    .id = id, .parts = plan(load, f, f->blocks, len)};
	uint8_t *body = malloc(BODY_MAX + BOX_MAX);
	enum status st = p.parts == 0 ? ST_NO_SPACE : ST_OK;

	if (body == NULL)
		return ST_NO_MEMORY;
	r->fill(r->ctx, id, sizeof(id));
	for (; p.part < p.parts && st == ST_OK; p.part++) {
		p.blocks = (uint8_t)load[p.part].blocks;
		st = send_part(
		    f, &p, body, body + BODY_MAX, request, load[p.part].bytes);
		request += load[p.part].bytes;
	}
	wipe(body, BODY_MAX + BOX_MAX);
	free(body);
	return st;
}

enum status
inquiry_start(struct inquiry **out, struct mix_client *c,
    const struct outbox *o, const struct inquiry_gate *gate,
    const struct mix_request *r, unsigned blocks, uint64_t timeout_ms,
    inquiry_done_fn *done, void *arg)
{
	size_t cap = EXCHANGE_PARTS_MAX * (size_t)BODY_MAX, len;
	uint8_t *request = malloc(cap);
	struct inquiry *f = calloc(1, sizeof(*f));
	enum status st = ST_NO_MEMORY;

	*out = f;
	if (f != NULL && request != NULL) {
		f->client = c;
		f->outbox = o;
		f->timeout_ms = timeout_ms;
		f->done = done;
		f->arg = arg;
		f->blocks = blocks;
		memcpy(f->key, gate->key, sizeof(f->key));
		st = blocks < 1 || blocks > EXCHANGE_BLOCKS_MAX
		    ? ST_NO_SPACE
		    : tag_make(f->tag, &gate->at);
		if (st == ST_OK)
			st = mix_request_encode(request, cap, &len, r);
		if (st == ST_OK)
			st = send_parts(f, request, len);
	}
	if (st != ST_OK)
		inquiry_free(out);
	free(request);
	return st;
}
