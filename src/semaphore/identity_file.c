/* The two kinds of identity file: see postern/identity.h. */
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/bytes.h"
#include "base/span.h"
#include "base/text.h"
#include "base/wipe.h"
#include "postern/identity.h"

#define OPERATIONS_MAX 16
#define KIBIBYTES_MIN 8
#define KIBIBYTES_MAX (1024 * 1024)

#define FIRST "postern identity "
#define FIRST_PLAIN "postern identity 1 plain\n"
#define FIRST_ENCRYPTED "postern identity 1 encrypted\n"

/* The sealed text: length, key, zeros up to a multiple of 64, so that the file
 * does not tell a passphrase-made key from a random one by its length. */
#define SEALED_UNIT 64
#define SEALED_MAX 1088
#define TAG crypto_aead_xchacha20poly1305_ietf_ABYTES

/* The three lines, but for the base64 of the box. */
#define LINES_MAX 192

_Static_assert((SEALED_MAX + TAG + 2) / 3 * 4 + LINES_MAX < IDENTITY_FILE_MAX,
    "the longest file fits");
_Static_assert(2 + IDENTITY_KEY_MAX <= SEALED_MAX, "the longest key fits");
_Static_assert(SEALED_MAX % SEALED_UNIT == 0, "in whole units");
_Static_assert(IDENTITY_SALT_LENGTH == crypto_pwhash_SALTBYTES, "Argon2id");
_Static_assert(
    IDENTITY_NONCE_LENGTH == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    "XChaCha20");

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

static bool
cost_is_allowed(struct identity_cost cost)
{
	return cost.operations >= 1 && cost.operations <= OPERATIONS_MAX &&
	    cost.kibibytes >= KIBIBYTES_MIN && cost.kibibytes <= KIBIBYTES_MAX;
}

static enum status
stretch(uint8_t key[static crypto_aead_xchacha20poly1305_ietf_KEYBYTES],
    const void *passphrase, size_t len, struct identity_cost cost,
    const uint8_t salt[static IDENTITY_SALT_LENGTH])
{
	if (crypto_pwhash(key, crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
		passphrase, len, salt, cost.operations,
		(size_t)cost.kibibytes * 1024,
		crypto_pwhash_ALG_ARGON2ID13) != 0)
		return ST_NO_MEMORY;
	return ST_OK;
}

/* Write the two lines in front of the box; returns their length. */
static size_t
write_head(char out[static IDENTITY_FILE_MAX], struct identity_cost cost,
    const uint8_t salt[static IDENTITY_SALT_LENGTH])
{
	char hex[2 * IDENTITY_SALT_LENGTH + 1];

	hex_encode(hex, span_of(salt, IDENTITY_SALT_LENGTH));
	return (size_t)snprintf(out, IDENTITY_FILE_MAX,
	    FIRST_ENCRYPTED "argon2id %u %u %s\n", (unsigned)cost.operations,
	    (unsigned)cost.kibibytes, hex);
}

/* Write the line of the box; returns its length. */
static size_t
write_box(
    char *out, const uint8_t nonce[static IDENTITY_NONCE_LENGTH], span_t box)
{
	char hex[2 * IDENTITY_NONCE_LENGTH + 1];
	size_t n;

	hex_encode(hex, span_of(nonce, IDENTITY_NONCE_LENGTH));
	n = (size_t)snprintf(out, LINES_MAX, "xchacha20poly1305 %s ", hex);
	base64_encode(out + n, box, BASE64_STANDARD);
	n += base64_length(box.len, BASE64_STANDARD);
	out[n++] = '\n';
	out[n] = '\0';
	return n;
}

enum status
identity_file_encrypt(char out[static IDENTITY_FILE_MAX], size_t *len,
    const struct identity *id, const void *passphrase, size_t passphrase_len,
    struct identity_cost cost, const uint8_t salt[static IDENTITY_SALT_LENGTH],
    const uint8_t nonce[static IDENTITY_NONCE_LENGTH])
{
	uint8_t key[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
	uint8_t sealed[SEALED_MAX] = {0}, box[SEALED_MAX + TAG];
	size_t sealed_len =
	    (2 + id->key_len + SEALED_UNIT - 1) / SEALED_UNIT * SEALED_UNIT;
	enum status st;

	*len = 0;
	out[0] = '\0';
	if (!cost_is_allowed(cost))
		return ST_BAD_VALUE;
	if (passphrase_len == 0)
		return ST_BAD_LENGTH;
	st = stretch(key, passphrase, passphrase_len, cost, salt);
	if (st != ST_OK)
		return st;
	*len = write_head(out, cost, salt);
	store_be16(sealed, (uint16_t)id->key_len);
	memcpy(sealed + 2, id->key, id->key_len);
	crypto_aead_xchacha20poly1305_ietf_encrypt(box, NULL, sealed,
	    sealed_len, (const uint8_t *)out, *len, NULL, nonce, key);
	wipe(key, sizeof(key));
	wipe(sealed, sizeof(sealed));
	*len += write_box(out + *len, nonce, span_of(box, sealed_len + TAG));
	return ST_OK;
}

static bool
begins(span_t text, const char *with)
{
	size_t n = strlen(with);

	return text.len >= n && memcmp(text.ptr, with, n) == 0;
}

enum status
identity_file_kind(enum identity_file_kind *kind, const void *text, size_t len)
{
	span_t in = span_of(text, len);

	*kind = (enum identity_file_kind)0;
	if (begins(in, FIRST_PLAIN))
		*kind = IDENTITY_FILE_PLAIN;
	else if (begins(in, FIRST_ENCRYPTED))
		*kind = IDENTITY_FILE_ENCRYPTED;
	else if (!begins(in, FIRST) || begins(in, FIRST "1 "))
		return ST_BAD_ENCODING;
	else
		return ST_BAD_VERSION;
	return ST_OK;
}

/* Take the text up to END (not with it) off the front of IN; false when there
 * is no END. */
static bool
take(span_t *in, span_t *out, char end)
{
	const uint8_t *at = in->len != 0 ? memchr(in->ptr, end, in->len) : NULL;

	*out = span_of(NULL, 0);
	if (at == NULL)
		return false;
	*out = span_of(in->ptr, (size_t)(at - in->ptr));
	*in = span_of(at + 1, in->len - out->len - 1);
	return true;
}

/* Take the word WANT and the space behind it off LINE. */
static bool
take_word(span_t *line, const char *want)
{
	span_t word;

	return take(line, &word, ' ') && span_equal(word, span_str(want));
}

static bool
take_number(span_t *line, uint32_t *out)
{
	span_t word;
	uint64_t value;

	*out = 0;
	if (!take(line, &word, ' ') ||
	    decimal_u64(&value, word, UINT32_MAX) != ST_OK)
		return false;
	*out = (uint32_t)value;
	return true;
}

static enum status
read_plain(struct identity *id, span_t rest, unsigned *line)
{
	span_t key;

	*line = 2;
	if (!take(&rest, &key, '\n') || !take_word(&key, "key"))
		return ST_BAD_ENCODING;
	enum status st = identity_import(id, key.ptr, key.len);
	if (st != ST_OK)
		return ST_BAD_ENCODING;
	*line = 3;
	return rest.len == 0 ? ST_OK : ST_TRAILING;
}

struct encrypted {
	struct identity_cost cost;
	uint8_t salt[IDENTITY_SALT_LENGTH];
	uint8_t nonce[IDENTITY_NONCE_LENGTH];
	uint8_t box[SEALED_MAX + TAG];
	size_t box_len;
	span_t associated;
};

static enum status
read_encrypted(struct encrypted *e, span_t text, unsigned *line)
{
	span_t rest = text, row, nonce;

	*line = 2;
	/* The first line has been looked at; the second is read here.
	 * NOLINTNEXTLINE(misc-redundant-expression) */
	if (!take(&rest, &row, '\n') || !take(&rest, &row, '\n') ||
	    !take_word(&row, "argon2id") ||
	    !take_number(&row, &e->cost.operations) ||
	    !take_number(&row, &e->cost.kibibytes) ||
	    hex_decode(e->salt, sizeof(e->salt), row) != ST_OK)
		return ST_BAD_ENCODING;
	if (!cost_is_allowed(e->cost))
		return ST_BAD_VALUE;
	e->associated = span_of(text.ptr, text.len - rest.len);
	*line = 3;
	if (!take(&rest, &row, '\n') || !take_word(&row, "xchacha20poly1305") ||
	    !take(&row, &nonce, ' ') ||
	    hex_decode(e->nonce, sizeof(e->nonce), nonce) != ST_OK ||
	    base64_decode(e->box, sizeof(e->box), &e->box_len, row,
		BASE64_STANDARD) != ST_OK ||
	    e->box_len < SEALED_UNIT + TAG ||
	    (e->box_len - TAG) % SEALED_UNIT != 0)
		return ST_BAD_ENCODING;
	*line = 4;
	return rest.len == 0 ? ST_OK : ST_TRAILING;
}

static enum status
decrypt(struct identity *id, const struct encrypted *e, const void *passphrase,
    size_t passphrase_len)
{
	uint8_t key[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
	uint8_t sealed[SEALED_MAX];
	enum status st;

	if (passphrase_len == 0)
		return ST_BAD_PASSPHRASE; /* none is written with an empty one */
	st = stretch(key, passphrase, passphrase_len, e->cost, e->salt);
	if (st != ST_OK)
		return st;
	if (crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, NULL, NULL,
		e->box, e->box_len, e->associated.ptr, e->associated.len,
		e->nonce, key) != 0)
		st = ST_BAD_PASSPHRASE;
	wipe(key, sizeof(key));
	if (st == ST_OK) {
		size_t len = load_be16(sealed);
		/* Only we could have written it, so this is our own fault. */
		st = 2 + len <= e->box_len - TAG
		    ? identity_derive(id, sealed + 2, len)
		    : ST_CORRUPT;
	}
	wipe(sealed, sizeof(sealed));
	return st;
}

enum status
identity_file_read(struct identity *id, const void *text, size_t len,
    const void *passphrase, size_t passphrase_len, unsigned *line)
{
	struct encrypted e;
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
		st = read_encrypted(&e, in, &at);
		if (st == ST_OK) {
			at = 0;
			st = decrypt(id, &e, passphrase, passphrase_len);
		}
	}
	if (st != ST_OK)
		identity_clear(id);
	if (line != NULL)
		*line = st != ST_OK ? at : 0;
	return st;
}
