/* The two kinds of identity file: see postern/identity.h. */
#include <string.h>

#include "base/span.h"
#include "base/text.h"
#include "base/wipe.h"
#include "postern/identity.h"
#include "semaphore/sealed.h"

#define FIRST "postern identity "
#define FIRST_PLAIN "postern identity 1 plain\n"
#define FIRST_ENCRYPTED "postern identity 1 encrypted\n"

_Static_assert(IDENTITY_KEY_MAX <= SEALED_SECRET_MAX, "the longest key fits");

void
identity_file_plain(
    char out[static IDENTITY_FILE_MAX], size_t *len, const struct identity *id)
{
	static const char head[] = FIRST_PLAIN "key ";
	size_t at = sizeof(head) - 1;

	/* No printf: it would look for the end of the key. */
	memcpy(out, head, at);
	identity_export(out + at, id);
	at += base64_length(id->key_len, BASE64_STANDARD);
	out[at++] = '\n';
	out[at] = '\0';
	*len = at;
}

enum status
identity_file_encrypt(char out[static IDENTITY_FILE_MAX], size_t *len,
    const struct identity *id, const void *passphrase, size_t passphrase_len,
    struct identity_cost cost, const uint8_t salt[static IDENTITY_SALT_LENGTH],
    const uint8_t nonce[static IDENTITY_NONCE_LENGTH])
{
	return sealed_write(out, len, FIRST_ENCRYPTED,
	    span_of(id->key, id->key_len), span_of(passphrase, passphrase_len),
	    cost, salt, nonce);
}

enum status
identity_file_kind(enum identity_file_kind *kind, const void *text, size_t len)
{
	span_t in = span_of(text, len);

	*kind = (enum identity_file_kind)0;
	if (span_begins(in, FIRST_PLAIN))
		*kind = IDENTITY_FILE_PLAIN;
	else if (span_begins(in, FIRST_ENCRYPTED))
		*kind = IDENTITY_FILE_ENCRYPTED;
	else if (!span_begins(in, FIRST) || span_begins(in, FIRST "1 "))
		return ST_BAD_ENCODING;
	else
		return ST_BAD_VERSION;
	return ST_OK;
}

/* The lines behind the first. */
static enum status
read_plain(struct identity *id, span_t rest, unsigned *line)
{
	static const char word[] = "key ";
	size_t n = sizeof(word) - 1;
	span_t key;

	*line = 2;
	if (!span_take_until(&rest, &key, '\n') || !span_begins(key, word) ||
	    identity_import(id, key.ptr + n, key.len - n) != ST_OK)
		return ST_BAD_ENCODING;
	*line = 3;
	return rest.len == 0 ? ST_OK : ST_TRAILING;
}

static enum status
read_encrypted(
    struct identity *id, span_t text, span_t passphrase, unsigned *line)
{
	uint8_t key[SEALED_SECRET_MAX];
	size_t len;
	enum status st =
	    sealed_read(key, &len, FIRST_ENCRYPTED, text, passphrase, line);

	if (st == ST_OK)
		st = identity_derive(id, key, len);
	wipe(key, sizeof(key));
	return st;
}

enum status
identity_file_read(struct identity *id, const void *text, size_t len,
    const void *passphrase, size_t passphrase_len, unsigned *line)
{
	enum identity_file_kind kind;
	span_t in = span_of(text, len);
	unsigned at = 1;
	enum status st = identity_file_kind(&kind, text, len);

	identity_clear(id);
	if (st == ST_OK && kind == IDENTITY_FILE_PLAIN) {
		size_t first = strlen(FIRST_PLAIN);
		st = read_plain(
		    id, span_of(in.ptr + first, in.len - first), &at);
	} else if (st == ST_OK) {
		st = read_encrypted(
		    id, in, span_of(passphrase, passphrase_len), &at);
	}
	if (st != ST_OK)
		identity_clear(id);
	if (line != NULL)
		*line = st != ST_OK ? at : 0;
	return st;
}
