/* The payload of the `stream` suite: ChaCha20 a hop, an AEAD at the exit.
 *
 *	length u32 | message | zeros | tag 16
 */
#include "sphinx/suite.h"

#include <string.h>

#include "base/bytes.h"
#include "base/ctime.h"

#define PLAIN_SIZE (SPHINX_PAYLOAD_SIZE - POLY1305_SIZE)
#define MESSAGE_AT 4

static enum status
stream_xor(const struct ciphers *c, uint8_t payload[static SPHINX_PAYLOAD_SIZE],
    const uint8_t pi[static CIPHER_KEY_SIZE])
{
	return chacha20_xor(c, pi, NULL, payload, SPHINX_PAYLOAD_SIZE);
}

static enum status
stream_seal(const struct ciphers *c,
    uint8_t payload[static SPHINX_PAYLOAD_SIZE],
    const uint8_t key[static CIPHER_KEY_SIZE], const void *message, size_t len)
{
	if (len > 0)
		memmove(payload + MESSAGE_AT, message, len);
	store_le32(payload, (uint32_t)len);
	memset(payload + MESSAGE_AT + len, 0, PLAIN_SIZE - MESSAGE_AT - len);
	return aead_seal(c, key, payload, PLAIN_SIZE);
}

static enum status
stream_open(const struct ciphers *c, const uint8_t **message, size_t *len,
    uint8_t payload[static SPHINX_PAYLOAD_SIZE],
    const uint8_t key[static CIPHER_KEY_SIZE])
{
	enum status st = aead_open(c, key, payload, PLAIN_SIZE);

	if (st != ST_OK)
		return st;
	*len = load_le32(payload);
	declassify(len, sizeof(*len));
	if (*len > SPHINX_MESSAGE_MAX)
		return ST_CORRUPT;
	*message = payload + MESSAGE_AT;
	return ST_OK;
}

const struct suite suite_stream = {
    .name = "stream",
    .rho = "erebus/rho",
    .mu = "erebus/mu",
    .pi = "erebus/pi",
    .aead = "erebus/aead",
    .replay = "erebus/replay",
    .bind = false,
    .add = stream_xor,
    .remove = stream_xor,
    .seal = stream_seal,
    .open = stream_open,
};
