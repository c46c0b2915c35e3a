#include "tor/onion_clients.h"

#include <string.h>

#include <sodium.h>

#include "base/text.h"

static const char head[] = "descriptor:x25519:";

/* A point of small order gives zero with any scalar (RFC 7748, 6.1). */
static bool
is_weak(const uint8_t key[static ONION_CLIENT_KEY])
{
	static const uint8_t scalar[crypto_scalarmult_SCALARBYTES] = {1};
	uint8_t product[crypto_scalarmult_BYTES];

	return crypto_scalarmult(product, scalar, key) != 0;
}

static enum status
read_line(struct onion_clients *c, span_t line)
{
	size_t n = sizeof(head) - 1;
	uint8_t key[ONION_CLIENT_KEY];

	if (line.len > 0 && line.ptr[line.len - 1] == '\r')
		line.len--;
	if (line.len == 0 || line.ptr[0] == '#')
		return ST_OK;
	if (line.len != n + ONION_CLIENT_TEXT ||
	    memcmp(line.ptr, head, n) != 0 ||
	    base32_decode(key, sizeof(key),
		span_of(line.ptr + n, ONION_CLIENT_TEXT)) != ST_OK)
		return ST_BAD_ENCODING;
	if (is_weak(key))
		return ST_WEAK_KEY;
	for (size_t i = 0; i < c->n; i++) {
		if (memcmp(c->key[i], key, sizeof(key)) == 0)
			return ST_DUPLICATE;
	}
	if (c->n == ONION_CLIENTS_MAX)
		return ST_NO_SPACE;
	memcpy(c->key[c->n++], key, sizeof(key));
	return ST_OK;
}

enum status
onion_clients_parse(struct onion_clients *c, unsigned *line, span_t text)
{
	enum status st = ST_OK;

	memset(c, 0, sizeof(*c));
	*line = 0;
	while (st == ST_OK && text.len > 0) {
		++*line;
		st = read_line(c, span_take_line(&text));
	}
	if (st == ST_OK) {
		*line = 0;
		st = c->n > 0 ? ST_OK : ST_MISSING;
	}
	if (st != ST_OK)
		c->n = 0;
	return st;
}
