#include "mix/exchange.h"

#include "base/bytes.h"

#define VERSION 1

static uint16_t
load_le16(const uint8_t in[static 2])
{
	return (uint16_t)((unsigned)in[1] << 8 | in[0]);
}

static void
store_le16(uint8_t out[static 2], uint16_t v)
{
	out[0] = (uint8_t)v;
	out[1] = (uint8_t)(v >> 8);
}

/* Take N bytes off the front of *IN; false when there are fewer. */
static bool
take(span_t *out, span_t *in, size_t n)
{
	if (in->len < n)
		return false;
	*out = span_of(in->ptr, n);
	in->ptr += n;
	in->len -= n;
	return true;
}

/* Take a length (u16) and so many bytes. */
static bool
take_counted(span_t *out, span_t *in)
{
	span_t length;

	return take(&length, in, 2) && take(out, in, load_le16(length.ptr));
}

enum status
request_part_decode(struct request_part *p, span_t in)
{
	span_t head, block, start;

	*p = (struct request_part){.id = NULL};
	if (!take(&head, &in, REQUEST_HEAD_SIZE))
		return ST_BAD_LENGTH;
	if (head.ptr[0] != VERSION)
		return ST_BAD_VERSION;
	start = in;
	for (unsigned i = 0; i < head.ptr[REQUEST_HEAD_SIZE - 1]; i++) {
		if (!take_counted(&block, &in))
			return ST_BAD_LENGTH;
	}
	p->id = head.ptr + 1;
	p->part = load_le16(head.ptr + 1 + EXCHANGE_ID_SIZE);
	p->parts = load_le16(head.ptr + 3 + EXCHANGE_ID_SIZE);
	p->blocks = head.ptr[REQUEST_HEAD_SIZE - 1];
	p->block_bytes = span_of(start.ptr, start.len - in.len);
	p->bytes = in;
	if (p->parts < 1 || p->parts > EXCHANGE_PARTS_MAX ||
	    p->part >= p->parts)
		return ST_BAD_VALUE;
	return ST_OK;
}

span_t
request_next_block(span_t *blocks)
{
	span_t block;

	return take_counted(&block, blocks) ? block : span_of(NULL, 0);
}

size_t
request_part_head(
    uint8_t out[static REQUEST_HEAD_SIZE], const struct request_part *p)
{
	out[0] = VERSION;
	memcpy(out + 1, p->id, EXCHANGE_ID_SIZE);
	store_le16(out + 1 + EXCHANGE_ID_SIZE, p->part);
	store_le16(out + 3 + EXCHANGE_ID_SIZE, p->parts);
	out[REQUEST_HEAD_SIZE - 1] = p->blocks;
	return REQUEST_HEAD_SIZE;
}

/* A word that may stand in a line of a head. */
static bool
is_word(span_t s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] <= ' ' || s.ptr[i] > '~')
			return false;
	}
	return s.len > 0;
}

enum status
mix_request_decode(struct mix_request *r, span_t in)
{
	*r = (struct mix_request){.token = {NULL, 0}};
	if (!take_counted(&r->token, &in) || !take_counted(&r->authority, &in))
		return ST_BAD_LENGTH;
	r->bytes = in;
	return is_word(r->token) && is_word(r->authority) ? ST_OK
							  : ST_BAD_ENCODING;
}

static uint8_t *
put_counted(uint8_t *out, span_t s)
{
	store_le16(out, (uint16_t)s.len);
	memcpy(out + 2, s.ptr, s.len);
	return out + 2 + s.len;
}

enum status
mix_request_encode(
    uint8_t *out, size_t cap, size_t *len, const struct mix_request *r)
{
	*len = 0;
	if (r->token.len > UINT16_MAX || r->authority.len > UINT16_MAX ||
	    r->bytes.len > cap ||
	    4 + r->token.len + r->authority.len + r->bytes.len > cap)
		return ST_NO_SPACE;
	*len = 4 + r->token.len + r->authority.len + r->bytes.len;
	out = put_counted(put_counted(out, r->token), r->authority);
	if (r->bytes.len > 0)
		memcpy(out, r->bytes.ptr, r->bytes.len);
	return ST_OK;
}

enum status
answer_part_decode(struct answer_part *p, span_t in)
{
	*p = (struct answer_part){.part = 0};
	if (in.len < ANSWER_HEAD_SIZE)
		return ST_BAD_LENGTH;
	p->part = load_le16(in.ptr);
	p->total = load_le32(in.ptr + 2);
	p->flags = in.ptr[6];
	p->bytes =
	    span_of(in.ptr + ANSWER_HEAD_SIZE, in.len - ANSWER_HEAD_SIZE);
	if (p->total == 0 || (p->flags & ~(ANSWER_CUT | ANSWER_UNCLEAN)) != 0 ||
	    p->bytes.len > p->total)
		return ST_BAD_VALUE;
	return ST_OK;
}

void
answer_part_head(
    uint8_t out[static ANSWER_HEAD_SIZE], const struct answer_part *p)
{
	store_le16(out, p->part);
	store_le32(out + 2, p->total);
	out[6] = p->flags;
}
