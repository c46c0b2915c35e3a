#include "postern/identity.h"

#include <string.h>

#include <sodium.h>

#include "base/wipe.h"
#include "hash/blake512.h"
#include "hash/poseidon.h"
#include "semaphore/babyjub.h"

enum status
identity_derive(struct identity *id, const uint8_t *key, size_t len)
{
	uint8_t hash[64];
	babyjub_t point;
	fr_t commitment;

	memset(id, 0, sizeof(*id));
	if (len > IDENTITY_KEY_MAX)
		return ST_BAD_LENGTH;
	if (len != 0)
		memcpy(id->key, key, len);
	id->key_len = len;
	blake512(hash, span_of(id->key, len));
	babyjub_scalar(id->secret, hash);
	wipe(hash, sizeof(hash));
	babyjub_mul_base8(&point, id->secret);
	poseidon_pair(&commitment, &point.x, &point.y);
	fr_to_bytes(id->public_x, &point.x);
	fr_to_bytes(id->public_y, &point.y);
	fr_to_bytes(id->commitment, &commitment);
	return ST_OK;
}

void
identity_clear(struct identity *id)
{
	wipe(id, sizeof(*id));
}

void
identity_export(char out[static IDENTITY_EXPORT_MAX], const struct identity *id)
{
	sodium_bin2base64(out, IDENTITY_EXPORT_MAX, id->key, id->key_len,
	    sodium_base64_VARIANT_ORIGINAL);
}

enum status
identity_import(struct identity *id, const void *text, size_t len)
{
	uint8_t key[IDENTITY_KEY_MAX];
	size_t key_len = 0, pad = 0;
	const char *end = text;
	enum status st = ST_OK;
	uint8_t high = 0;

	memset(id, 0, sizeof(*id));
	if (len % 4 != 0)
		return ST_BAD_LENGTH;
	while (
	    pad < 2 && pad < len && ((const char *)text)[len - 1 - pad] == '=')
		pad++;
	if (len / 4 * 3 - pad > IDENTITY_KEY_MAX)
		return ST_NO_SPACE;
	/* libsodium's is constant time, base/text's is not; but 1.0.18 takes
	 * some bytes above ASCII, as negative chars, for letters. */
	for (size_t i = 0; i < len; i++)
		high |= ((const uint8_t *)text)[i];
	if (high > 0x7f)
		st = ST_BAD_ENCODING;
	else if (len != 0 &&
	    (sodium_base642bin(key, sizeof(key), text, len, NULL, &key_len,
		 &end, sodium_base64_VARIANT_ORIGINAL) != 0 ||
		end != (const char *)text + len))
		st = ST_BAD_ENCODING;
	if (st == ST_OK)
		st = identity_derive(id, key, key_len);
	wipe(key, sizeof(key));
	return st;
}
