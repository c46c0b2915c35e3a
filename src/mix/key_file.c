#include "mix/key_file.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/wipe.h"

#define FILE_MAX 1024
#define HEX_SIZE (2 * SPHINX_KEY_SIZE)

static const char head[] = "# postern mix key; its id is\n# ";

/* The one line that is no comment. */
static enum status
parse(uint8_t secret[static SPHINX_KEY_SIZE], span_t text)
{
	span_t found = {NULL, 0};

	if (text.len == SPHINX_KEY_SIZE) {
		memcpy(secret, text.ptr, text.len);
		return ST_OK;
	}
	while (text.len > 0) {
		const uint8_t *end = memchr(text.ptr, '\n', text.len);
		size_t len = end ? (size_t)(end - text.ptr) : text.len;
		span_t line = span_of(text.ptr, len);
		text.ptr += len + (end != NULL);
		text.len -= len + (end != NULL);
		if (line.len > 0 && line.ptr[line.len - 1] == '\r')
			line.len--;
		if (line.len == 0 || line.ptr[0] == '#')
			continue;
		if (found.ptr != NULL)
			return ST_BAD_ENCODING;
		found = line;
	}
	if (found.len != HEX_SIZE)
		return ST_BAD_ENCODING;
	return hex_decode(secret, SPHINX_KEY_SIZE, found);
}

enum status
key_file_load(sphinx_key_t *key, const char *path, enum file_access access)
{
	uint8_t secret[SPHINX_KEY_SIZE];
	char text[FILE_MAX];
	size_t len;
	enum status st = file_read(text, sizeof(text), &len, path, access);

	memset(key, 0, sizeof(*key));
	if (st == ST_OK)
		st = parse(secret, span_of(text, len));
	if (st == ST_OK)
		sphinx_key_make(key, secret);
	wipe(text, sizeof(text));
	wipe(secret, sizeof(secret));
	return st;
}

enum status
key_file_create(const char *path, const sphinx_key_t *key)
{
	char text[sizeof(head) + 2 * HEX_SIZE + 4], *at = text;
	enum status st;

	memcpy(at, head, sizeof(head) - 1);
	at += sizeof(head) - 1;
	hex_encode(at, span_of(key->id, sizeof(key->id)));
	at += HEX_SIZE;
	*at++ = '\n';
	hex_encode(at, span_of(key->secret, sizeof(key->secret)));
	at += HEX_SIZE;
	*at++ = '\n';
	st = file_create(path, text, (size_t)(at - text), 0600);
	wipe(text, sizeof(text));
	return st;
}
