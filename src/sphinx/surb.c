/* Single-use reply blocks.
 *
 *	stream	id 32 | first hop 32 | header 384 | hops u8 |
 *		layer keys 32 each | exit aead key 32 | reply key 32
 *	wide	first hop 32 | header 384 | reply key 32
 *
 * In `stream` the replier adds every layer itself and the hops take them off;
 * so it knows what the payload looks like on each link of the way back. In
 * `wide` the replier knows the reply key alone: the hops' removals are what
 * hides the payload, and the owner adds the layers again. The id travels in
 * the exit's routing block.
 */
#include "sphinx/packet.h"

#include <string.h>

#include "base/bytes.h"
#include "base/wipe.h"

enum {
	STREAM_FIRST_AT = 32,
	STREAM_HEADER_AT = 64,
	STREAM_HOPS_AT = STREAM_HEADER_AT + SPHINX_HEADER_SIZE,
	STREAM_LAYERS_AT = STREAM_HOPS_AT + 1,
	WIDE_HEADER_AT = 32,
	WIDE_KEY_AT = WIDE_HEADER_AT + SPHINX_HEADER_SIZE,
	WIDE_SIZE = WIDE_KEY_AT + CIPHER_KEY_SIZE,
	/* In front of a stream reply's sealed bytes: its kind and the id. */
	REPLY_HEAD = 1 + SPHINX_KEY_SIZE,
};

static size_t
stream_size(unsigned hops)
{
	return STREAM_LAYERS_AT + CIPHER_KEY_SIZE * (hops + 2u);
}

_Static_assert(WIDE_SIZE <= SPHINX_SURB_MAX, "a wide block fits");
_Static_assert(STREAM_LAYERS_AT + CIPHER_KEY_SIZE * (SPHINX_HOPS_MAX + 2) ==
	SPHINX_SURB_MAX,
    "the longest stream block fits exactly");

static uint8_t *
put(uint8_t *out, const void *data, size_t len)
{
	memcpy(out, data, len);
	return out + len;
}

static void
surb_write(const struct sphinx *s, sphinx_surb_t *surb,
    const sphinx_surb_owner_t *owner, const sphinx_path_t *path,
    const sphinx_header_t *header, const struct hop_keys *keys)
{
	uint8_t *out = surb->bytes;
	bool stream = s->name == SPHINX_STREAM;

	if (stream)
		out = put(out, owner->id, sizeof(owner->id));
	out = put(out, path->hop[0].id, SPHINX_KEY_SIZE);
	out = put(out, header, sizeof(*header));
	if (stream) {
		*out++ = (uint8_t)path->hops;
		for (unsigned i = 0; i < path->hops; i++)
			out = put(out, keys[i].pi, CIPHER_KEY_SIZE);
		out = put(out, keys[path->hops - 1].aead, CIPHER_KEY_SIZE);
	}
	out = put(out, owner->reply_key, sizeof(owner->reply_key));
	surb->len = (size_t)(out - surb->bytes);
}

enum status
sphinx_surb_build(struct sphinx *s, sphinx_surb_t *surb,
    sphinx_surb_owner_t *owner, const sphinx_path_t *path,
    const uint8_t seed[static SPHINX_SEED_SIZE])
{
	struct hop_keys keys[SPHINX_HOPS_MAX];
	sphinx_header_t header;
	struct material m;
	struct agreement agreed;
	enum sphinx_action last =
	    s->name == SPHINX_STREAM ? SPHINX_DELIVER : SPHINX_REPLY;
	enum status st;

	memset(surb, 0, sizeof(*surb));
	memset(owner, 0, sizeof(*owner));
	if ((st = path_check(path)) != ST_OK ||
	    (st = material_expand(&s->ciphers, &m, seed)) != ST_OK)
		return st;
	agree(s->kernel, &agreed, &m, &path, 1);
	st = header_for_path(s, &header, keys, path, &agreed, &m, last);
	if (st == ST_OK) {
		memcpy(owner->id, m.surb_id, sizeof(owner->id));
		memcpy(owner->reply_key, m.reply_key, sizeof(m.reply_key));
		owner->hops = path->hops;
		for (unsigned i = 0; i < path->hops; i++)
			memcpy(owner->layer[i], keys[i].pi, CIPHER_KEY_SIZE);
		surb_write(s, surb, owner, path, &header, keys);
	}
	wipe(keys, sizeof(keys));
	wipe(&m, sizeof(m));
	wipe(&agreed, sizeof(agreed));
	return st;
}

enum status
sphinx_surb_decode(
    const struct sphinx *s, size_t *used, const uint8_t *bytes, size_t len)
{
	bool stream = s->name == SPHINX_STREAM;
	size_t header = stream ? STREAM_HEADER_AT : WIDE_HEADER_AT, size;

	*used = 0;
	if (len < (stream ? stream_size(1) : WIDE_SIZE))
		return ST_BAD_LENGTH;
	size = WIDE_SIZE;
	if (stream) {
		unsigned hops = bytes[STREAM_HOPS_AT];
		if (hops < 1 || hops > SPHINX_HOPS_MAX)
			return ST_BAD_VALUE;
		size = stream_size(hops);
	}
	if (len < size)
		return ST_BAD_LENGTH;
	if (!x25519_is_valid(bytes + header - SPHINX_KEY_SIZE) ||
	    !x25519_is_valid(bytes + header))
		return ST_WEAK_KEY;
	*used = size;
	return ST_OK;
}

/* The reply becomes a message of its own, sealed and layered as a sender
 * would. */
static enum status
stream_use(const struct ciphers *c, uint8_t *payload, const uint8_t *surb,
    const void *reply, size_t len)
{
	unsigned hops = surb[STREAM_HOPS_AT];
	const uint8_t *layer = surb + STREAM_LAYERS_AT;
	const uint8_t *aead = layer + CIPHER_KEY_SIZE * hops;
	const uint8_t *reply_key = aead + CIPHER_KEY_SIZE;
	uint8_t *message = payload;
	enum status st;

	message[0] = SPHINX_REPLIED;
	memcpy(message + 1, surb, SPHINX_KEY_SIZE);
	if (len > 0)
		memcpy(message + REPLY_HEAD, reply, len);
	st = aead_seal(c, reply_key, message + REPLY_HEAD, len);
	if (st == ST_OK)
		st = suite_stream.seal(c, payload, aead, message,
		    REPLY_HEAD + len + POLY1305_SIZE);
	for (unsigned i = hops; i-- > 0 && st == ST_OK;)
		st = suite_stream.add(c, payload, layer + CIPHER_KEY_SIZE * i);
	return st;
}

static enum status
wide_use(const struct ciphers *c, uint8_t *payload, const uint8_t *surb,
    const void *reply, size_t len)
{
	const uint8_t *key = surb + WIDE_KEY_AT;
	enum status st = suite_wide.seal(c, payload, key, reply, len);

	return st == ST_OK ? suite_wide.add(c, payload, key) : st;
}

enum status
sphinx_surb_use(struct sphinx *s, sphinx_packet_t *packet,
    uint8_t first[static SPHINX_KEY_SIZE], const uint8_t *surb, size_t len,
    const void *reply, size_t reply_len)
{
	bool stream = s->name == SPHINX_STREAM;
	size_t header = stream ? STREAM_HEADER_AT : WIDE_HEADER_AT, used;
	enum status st = sphinx_surb_decode(s, &used, surb, len);

	memset(first, 0, SPHINX_KEY_SIZE);
	if (st == ST_OK && used != len)
		st = ST_TRAILING;
	if (st == ST_OK &&
	    reply_len >
		(stream ? SPHINX_REPLY_MAX_STREAM : SPHINX_REPLY_MAX_WIDE))
		st = ST_BAD_LENGTH;
	if (st == ST_OK)
		st = (stream ? stream_use : wide_use)(
		    &s->ciphers, packet->payload, surb, reply, reply_len);
	if (st != ST_OK) {
		wipe(packet, sizeof(*packet));
		return st;
	}
	memcpy(&packet->header, surb + header, sizeof(packet->header));
	memcpy(first, surb + header - SPHINX_KEY_SIZE, SPHINX_KEY_SIZE);
	return ST_OK;
}

static enum status
wide_open_reply(const struct ciphers *c, const uint8_t **reply,
    size_t *reply_len, const sphinx_surb_owner_t *owner, uint8_t *sealed,
    size_t len)
{
	enum status st = len == SPHINX_PAYLOAD_SIZE ? ST_OK : ST_BAD_LENGTH;

	for (unsigned i = owner->hops; i-- > 0 && st == ST_OK;)
		st = suite_wide.add(c, sealed, owner->layer[i]);
	if (st == ST_OK)
		st = suite_wide.remove(c, sealed, owner->reply_key);
	if (st == ST_OK)
		st = suite_wide.open(
		    c, reply, reply_len, sealed, owner->reply_key);
	return st;
}

static enum status
stream_open_reply(const struct ciphers *c, const uint8_t **reply,
    size_t *reply_len, const sphinx_surb_owner_t *owner, uint8_t *sealed,
    size_t len)
{
	enum status st;

	if (len < POLY1305_SIZE)
		return ST_BAD_LENGTH;
	st = aead_open(c, owner->reply_key, sealed, len - POLY1305_SIZE);
	if (st == ST_OK) {
		*reply = sealed;
		*reply_len = len - POLY1305_SIZE;
	}
	return st;
}

enum status
sphinx_surb_open(struct sphinx *s, const uint8_t **reply, size_t *reply_len,
    const sphinx_surb_owner_t *owner, uint8_t *sealed, size_t len)
{
	enum status st;

	*reply = NULL;
	*reply_len = 0;
	st = (s->name == SPHINX_STREAM ? stream_open_reply : wide_open_reply)(
	    &s->ciphers, reply, reply_len, owner, sealed, len);
	if (st != ST_OK)
		wipe(sealed, len);
	return st;
}
