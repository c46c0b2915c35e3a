/* The message layer: what is inside a delivered packet.
 *
 *	1 request: version u8 = 1 | flags u8 | [u16 length | reply block] |
 *		u32 length | body
 *	2 reply: reply block's id 32 | sealed bytes
 *	3 probe: id 32
 */
#include "postern/sphinx.h"

#include <string.h>

#include "base/bytes.h"

#define VERSION 1
#define FLAGS (SPHINX_FLAG_SURB | SPHINX_FLAG_COVER)
#define ID_SIZE 32
#define REQUEST_HEAD 3 /* kind, version, flags */

static uint16_t
load_le16(const uint8_t in[static 2])
{
	return (uint16_t)((unsigned)in[1] << 8 | in[0]);
}

static size_t
encoded_size(const sphinx_message_t *m)
{
	switch (m->kind) {
	case SPHINX_REQUEST:
		return REQUEST_HEAD + (m->surb != NULL ? 2 + m->surb_len : 0) +
		    4 + m->body_len;
	case SPHINX_REPLIED:
		return 1 + ID_SIZE + m->body_len;
	case SPHINX_PROBE:
		return 1 + ID_SIZE;
	default:
		return 0;
	}
}

static uint8_t *
put(uint8_t *out, const void *data, size_t len)
{
	if (len > 0)
		memcpy(out, data, len);
	return out + len;
}

enum status
sphinx_message_encode(
    uint8_t *out, size_t cap, size_t *len, const sphinx_message_t *m)
{
	size_t size = encoded_size(m);
	uint8_t word[4];

	*len = 0;
	if (size == 0 || (m->flags & ~FLAGS) != 0 ||
	    ((m->flags & SPHINX_FLAG_SURB) != 0) != (m->surb != NULL) ||
	    (m->surb != NULL && m->surb_len > UINT16_MAX) ||
	    (m->kind != SPHINX_REQUEST && m->flags != 0))
		return ST_BAD_VALUE;
	/* The parts first: their sum must not wrap. */
	if (m->body_len > cap || size > cap || m->body_len > UINT32_MAX)
		return ST_NO_SPACE;
	*len = size;
	*out++ = (uint8_t)m->kind;
	if (m->kind != SPHINX_REQUEST) {
		out = put(out, m->id, ID_SIZE);
		if (m->kind == SPHINX_REPLIED)
			put(out, m->body, m->body_len);
		return ST_OK;
	}
	*out++ = VERSION;
	*out++ = m->flags;
	if (m->surb != NULL) {
		*out++ = (uint8_t)m->surb_len;
		*out++ = (uint8_t)(m->surb_len >> 8);
		out = put(out, m->surb, m->surb_len);
	}
	store_le32(word, (uint32_t)m->body_len);
	out = put(out, word, sizeof(word));
	put(out, m->body, m->body_len);
	return ST_OK;
}

/* BYTES begin after the kind. */
static enum status
decode_request(sphinx_message_t *m, const uint8_t *bytes, size_t len)
{
	if (len < 2)
		return ST_BAD_LENGTH;
	if (bytes[0] != VERSION)
		return ST_BAD_VERSION;
	m->flags = bytes[1];
	if ((m->flags & ~FLAGS) != 0)
		return ST_BAD_VALUE;
	bytes += 2;
	len -= 2;
	if ((m->flags & SPHINX_FLAG_SURB) != 0) {
		if (len < 2 || len - 2 < load_le16(bytes))
			return ST_BAD_LENGTH;
		m->surb_len = load_le16(bytes);
		m->surb = bytes + 2;
		bytes += 2 + m->surb_len;
		len -= 2 + m->surb_len;
	}
	if (len < 4 || len - 4 < load_le32(bytes))
		return ST_BAD_LENGTH;
	m->body_len = load_le32(bytes);
	m->body = bytes + 4;
	return len - 4 == m->body_len ? ST_OK : ST_TRAILING;
}

static enum status
decode_id(sphinx_message_t *m, const uint8_t *bytes, size_t len)
{
	if (len < ID_SIZE)
		return ST_BAD_LENGTH;
	m->id = bytes;
	if (m->kind == SPHINX_PROBE)
		return len == ID_SIZE ? ST_OK : ST_TRAILING;
	m->body = bytes + ID_SIZE;
	m->body_len = len - ID_SIZE;
	return ST_OK;
}

enum status
sphinx_message_decode(sphinx_message_t *m, const uint8_t *bytes, size_t len)
{
	enum status st;

	memset(m, 0, sizeof(*m));
	if (len < 1)
		return ST_BAD_LENGTH;
	if (bytes[0] < SPHINX_REQUEST || bytes[0] > SPHINX_PROBE)
		return ST_UNKNOWN;
	m->kind = (enum sphinx_kind)bytes[0];
	st = (m->kind == SPHINX_REQUEST ? decode_request : decode_id)(
	    m, bytes + 1, len - 1);
	if (st != ST_OK)
		memset(m, 0, sizeof(*m));
	return st;
}
