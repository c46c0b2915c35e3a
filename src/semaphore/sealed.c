/* Secrets under a passphrase: see semaphore/sealed.h. */
#include "semaphore/sealed.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/wipe.h"

#define OPERATIONS_MAX 16
#define KIBIBYTES_MIN 8
#define KIBIBYTES_MAX (1024 * 1024)

/* What is sealed: length, secret, zeros up to a multiple of 64, so that the
 * file does not tell one kind of secret from another by its length. */
#define SEALED_UNIT 64
#define PLAIN_MAX (SEALED_SECRET_MAX + 2)
#define TAG crypto_aead_xchacha20poly1305_ietf_ABYTES

/* The three lines, but for the base64 of the box. */
#define LINES_MAX 192

_Static_assert((PLAIN_MAX + TAG + 2) / 3 * 4 + LINES_MAX < SEALED_TEXT_MAX,
    "the longest text fits");
_Static_assert(PLAIN_MAX % SEALED_UNIT == 0, "in whole units");
_Static_assert(IDENTITY_SALT_LENGTH == crypto_pwhash_SALTBYTES, "Argon2id");
_Static_assert(
    IDENTITY_NONCE_LENGTH == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    "XChaCha20");

static bool
cost_is_allowed(struct identity_cost cost)
{
	return cost.operations >= 1 && cost.operations <= OPERATIONS_MAX &&
	    cost.kibibytes >= KIBIBYTES_MIN && cost.kibibytes <= KIBIBYTES_MAX;
}

static enum status
stretch(uint8_t key[static crypto_aead_xchacha20poly1305_ietf_KEYBYTES],
    span_t passphrase, struct identity_cost cost,
    const uint8_t salt[static IDENTITY_SALT_LENGTH])
{
	if (crypto_pwhash(key, crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
		(const char *)passphrase.ptr, passphrase.len, salt,
		cost.operations, (size_t)cost.kibibytes * 1024,
		crypto_pwhash_ALG_ARGON2ID13) != 0)
		return ST_NO_MEMORY;
	return ST_OK;
}

/* Write the two lines in front of the box; returns their length. */
static size_t
write_head(char out[static SEALED_TEXT_MAX], const char *first,
    struct identity_cost cost, const uint8_t salt[static IDENTITY_SALT_LENGTH])
{
	char hex[2 * IDENTITY_SALT_LENGTH + 1];

	hex_encode(hex, span_of(salt, IDENTITY_SALT_LENGTH));
	return (size_t)snprintf(out, SEALED_TEXT_MAX, "%sargon2id %u %u %s\n",
	    first, (unsigned)cost.operations, (unsigned)cost.kibibytes, hex);
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
sealed_write(char out[static SEALED_TEXT_MAX], size_t *len, const char *first,
    span_t secret, span_t passphrase, struct identity_cost cost,
    const uint8_t salt[static IDENTITY_SALT_LENGTH],
    const uint8_t nonce[static IDENTITY_NONCE_LENGTH])
{
	uint8_t key[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
	uint8_t plain[PLAIN_MAX] = {0}, box[PLAIN_MAX + TAG];
	size_t plain_len =
	    (2 + secret.len + SEALED_UNIT - 1) / SEALED_UNIT * SEALED_UNIT;
	enum status st;

	*len = 0;
	out[0] = '\0';
	if (!cost_is_allowed(cost))
		return ST_BAD_VALUE;
	if (passphrase.len == 0 || secret.len > SEALED_SECRET_MAX)
		return ST_BAD_LENGTH;
	st = stretch(key, passphrase, cost, salt);
	if (st != ST_OK)
		return st;
	*len = write_head(out, first, cost, salt);
	store_be16(plain, (uint16_t)secret.len);
	memcpy(plain + 2, secret.ptr, secret.len);
	crypto_aead_xchacha20poly1305_ietf_encrypt(box, NULL, plain, plain_len,
	    (const uint8_t *)out, *len, NULL, nonce, key);
	wipe(key, sizeof(key));
	wipe(plain, sizeof(plain));
	*len += write_box(out + *len, nonce, span_of(box, plain_len + TAG));
	return ST_OK;
}

/* Take the word WANT and the space behind it off LINE. */
static bool
take_word(span_t *line, const char *want)
{
	span_t word;

	return span_take_until(line, &word, ' ') &&
	    span_equal(word, span_str(want));
}

static bool
take_number(span_t *line, uint32_t *out)
{
	span_t word;
	uint64_t value;

	*out = 0;
	if (!span_take_until(line, &word, ' ') ||
	    decimal_u64(&value, word, UINT32_MAX) != ST_OK)
		return false;
	*out = (uint32_t)value;
	return true;
}

struct sealed {
	struct identity_cost cost;
	uint8_t salt[IDENTITY_SALT_LENGTH];
	uint8_t nonce[IDENTITY_NONCE_LENGTH];
	uint8_t box[PLAIN_MAX + TAG];
	size_t box_len;
	span_t associated;
};

static enum status
read_lines(struct sealed *e, span_t text, unsigned *line)
{
	span_t rest = text, row, nonce;

	*line = 2;
	/* The first line is known; the second is read here.
	 * NOLINTNEXTLINE(misc-redundant-expression) */
	if (!span_take_until(&rest, &row, '\n') ||
	    !span_take_until(&rest, &row, '\n') ||
	    !take_word(&row, "argon2id") ||
	    !take_number(&row, &e->cost.operations) ||
	    !take_number(&row, &e->cost.kibibytes) ||
	    hex_decode(e->salt, sizeof(e->salt), row) != ST_OK)
		return ST_BAD_ENCODING;
	if (!cost_is_allowed(e->cost))
		return ST_BAD_VALUE;
	e->associated = span_of(text.ptr, text.len - rest.len);
	*line = 3;
	if (!span_take_until(&rest, &row, '\n') ||
	    !take_word(&row, "xchacha20poly1305") ||
	    !span_take_until(&row, &nonce, ' ') ||
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
decrypt(uint8_t out[static SEALED_SECRET_MAX], size_t *len,
    const struct sealed *e, span_t passphrase)
{
	uint8_t key[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
	uint8_t plain[PLAIN_MAX];
	enum status st;

	if (passphrase.len == 0)
		return ST_BAD_PASSPHRASE; /* none is written with an empty one */
	st = stretch(key, passphrase, e->cost, e->salt);
	if (st != ST_OK)
		return st;
	if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL,
		e->box, e->box_len, e->associated.ptr, e->associated.len,
		e->nonce, key) != 0)
		st = ST_BAD_PASSPHRASE;
	wipe(key, sizeof(key));
	if (st == ST_OK) {
		size_t n = load_be16(plain);
		/* Only we could have written it, so this is our own fault. */
		if (2 + n > e->box_len - TAG)
			st = ST_CORRUPT;
		else
			memcpy(out, plain + 2, *len = n);
	}
	wipe(plain, sizeof(plain));
	return st;
}

enum status
sealed_read(uint8_t out[static SEALED_SECRET_MAX], size_t *len,
    const char *first, span_t text, span_t passphrase, unsigned *line)
{
	struct sealed e;
	enum status st = ST_BAD_ENCODING;

	*len = 0;
	*line = 1;
	if (span_begins(text, first))
		st = read_lines(&e, text, line);
	if (st == ST_OK) {
		*line = 0;
		st = decrypt(out, len, &e, passphrase);
	}
	return st;
}
