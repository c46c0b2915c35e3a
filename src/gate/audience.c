#include "gate/audience.h"

#include <string.h>

#include "base/text.h"
#include "hash/keccak256.h"

#define KEY 32
#define CHECKSUM 2
#define VERSION 3
#define BASE32_LENGTH 56 /* 35 bytes, no padding */

static const char suffix[] = ".onion";
static const char prefix[] = ".onion checksum";

struct onion {
	uint8_t key[KEY], checksum[CHECKSUM], version;
};
_Static_assert(sizeof(struct onion) * 8 == BASE32_LENGTH * 5, "no padding");

static void
onion_checksum(uint8_t out[static CHECKSUM], const struct onion *o)
{
	uint8_t in[sizeof(prefix) - 1 + KEY + 1], digest[32];

	memcpy(in, prefix, sizeof(prefix) - 1);
	memcpy(in + sizeof(prefix) - 1, o->key, KEY);
	in[sizeof(in) - 1] = o->version;
	sha3_256(digest, span_of(in, sizeof(in)));
	memcpy(out, digest, CHECKSUM);
}

enum status
onion_decode(uint8_t key[static 32], span_t name)
{
	struct onion o;
	uint8_t checksum[CHECKSUM];
	enum status st;

	memset(key, 0, KEY);
	if (name.len != ONION_LENGTH)
		return ST_BAD_LENGTH;
	if (!span_ends_nocase(name, span_str(suffix)))
		return ST_BAD_ENCODING;
	st = base32_decode(
	    (uint8_t *)&o, sizeof(o), span_of(name.ptr, BASE32_LENGTH));
	if (st != ST_OK)
		return st;
	if (o.version != VERSION)
		return ST_BAD_VERSION;
	onion_checksum(checksum, &o);
	if (memcmp(checksum, o.checksum, CHECKSUM) != 0)
		return ST_CORRUPT;
	memcpy(key, o.key, KEY);
	return ST_OK;
}

void
onion_encode(char out[static ONION_LENGTH + 1], const uint8_t key[static 32])
{
	struct onion o = {.version = VERSION};

	memcpy(o.key, key, KEY);
	onion_checksum(o.checksum, &o);
	base32_encode(out, span_of(&o, sizeof(o)));
	memcpy(out + BASE32_LENGTH, suffix, sizeof(suffix));
}

enum status
audience_parse(struct audience *a, span_t text, span_t name)
{
	*a = (struct audience){0};
	if (text.len == 0 && name.len == 0)
		return ST_MISSING;
	if (span_equal(text, span_str("any"))) {
		if (name.len != 0) {
			enum status s = onion_decode(a->message, name);
			if (s != ST_OK)
				return s;
		}
		a->any = true;
		return ST_OK;
	}
	if (text.len == 0)
		return onion_decode(a->message, name);

	enum status s = decimal_decode(a->message, text);
	if (s != ST_OK)
		memset(a->message, 0, sizeof(a->message));
	return s;
}

bool
audience_accepts(const struct audience *a, const uint8_t message[static 32])
{
	return a->any || memcmp(a->message, message, sizeof(a->message)) == 0;
}
