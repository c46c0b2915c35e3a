#include "semaphore/minisign.h"

#include <string.h>

#include <sodium.h>

#include "base/text.h"

#define ALGORITHM_SIZE 2
#define ID_SIZE 8
#define HEAD_SIZE (ALGORITHM_SIZE + ID_SIZE)
#define SIGNATURE_SIZE crypto_sign_BYTES
#define HASH_SIZE 64

static const char trusted[] = "trusted comment: ";
static const char stamp[] = "timestamp:";

/* Take a line off the front of REST, without a carriage return. */
static span_t
take_line(span_t *rest)
{
	span_t line = span_take_line(rest);

	if (line.len > 0 && line.ptr[line.len - 1] == '\r')
		line.len--;
	return line;
}

/* Read LINE as the base64 of exactly LEN bytes. */
static enum status
read_base64(uint8_t *out, size_t len, span_t line)
{
	size_t got;
	enum status st = base64_decode(out, len, &got, line, BASE64_STANDARD);

	if (st == ST_OK && got == len)
		return ST_OK;
	return st == ST_BAD_ENCODING ? ST_BAD_ENCODING : ST_BAD_LENGTH;
}

enum status
minisign_key_parse(minisign_key_t *key, span_t text)
{
	uint8_t bytes[HEAD_SIZE + crypto_sign_PUBLICKEYBYTES];
	span_t line = take_line(&text);
	enum status st;

	memset(key, 0, sizeof(*key));
	/* The line before the key in a .pub file. */
	if (text.len > 0)
		line = take_line(&text);
	st = read_base64(bytes, sizeof(bytes), line);
	if (st != ST_OK)
		return st;
	if (memcmp(bytes, "Ed", ALGORITHM_SIZE) != 0)
		return ST_BAD_VERSION;
	memcpy(key->id, bytes + ALGORITHM_SIZE, ID_SIZE);
	memcpy(key->key, bytes + HEAD_SIZE, sizeof(key->key));
	return ST_OK;
}

/* The parts of a signature file. */
struct parts {
	uint8_t head[HEAD_SIZE + SIGNATURE_SIZE];
	uint8_t whole[SIGNATURE_SIZE];
	span_t comment;
};

static enum status
read_parts(struct parts *p, span_t file)
{
	span_t line;
	size_t n = sizeof(trusted) - 1;

	take_line(&file);
	line = take_line(&file);
	if (read_base64(p->head, sizeof(p->head), line) != ST_OK)
		return ST_BAD_ENCODING;
	line = take_line(&file);
	if (line.len < n || memcmp(line.ptr, trusted, n) != 0)
		return ST_BAD_ENCODING;
	p->comment = span_of(line.ptr + n, line.len - n);
	line = take_line(&file);
	return read_base64(p->whole, sizeof(p->whole), line) == ST_OK
	    ? ST_OK
	    : ST_BAD_ENCODING;
}

/* The signature of the list itself. */
static bool
list_holds(const struct parts *p, const minisign_key_t *key, span_t text)
{
	uint8_t hash[HASH_SIZE];
	const uint8_t *signature = p->head + HEAD_SIZE;

	if (memcmp(p->head, "Ed", ALGORITHM_SIZE) == 0)
		return crypto_sign_verify_detached(
			   signature, text.ptr, text.len, key->key) == 0;
	crypto_generichash(hash, sizeof(hash), text.ptr, text.len, NULL, 0);
	return crypto_sign_verify_detached(
		   signature, hash, sizeof(hash), key->key) == 0;
}

/* The signature of the signature and the trusted comment. */
static bool
comment_holds(const struct parts *p, const minisign_key_t *key)
{
	uint8_t bytes[SIGNATURE_SIZE + MINISIGN_MAX];

	if (p->comment.len > MINISIGN_MAX)
		return false;
	memcpy(bytes, p->head + HEAD_SIZE, SIGNATURE_SIZE);
	memcpy(bytes + SIGNATURE_SIZE, p->comment.ptr, p->comment.len);
	return crypto_sign_verify_detached(p->whole, bytes,
		   SIGNATURE_SIZE + p->comment.len, key->key) == 0;
}

/* The number behind "timestamp:" in COMMENT; 0: there is none. */
static uint64_t
time_in(span_t comment)
{
	size_t n = sizeof(stamp) - 1, len = 0;
	const uint8_t *at = memmem(comment.ptr, comment.len, stamp, n);
	uint64_t time;

	if (at == NULL)
		return 0;
	at += n;
	size_t left = comment.len - (size_t)(at - comment.ptr);
	while (len < left && at[len] >= '0' && at[len] <= '9')
		len++;
	return decimal_u64(&time, span_of(at, len), INT64_MAX) == ST_OK ? time
									: 0;
}

enum status
minisign_verify(
    uint64_t *time, const minisign_key_t *key, span_t text, span_t signature)
{
	struct parts p;

	*time = 0;
	if (read_parts(&p, signature) != ST_OK)
		return ST_BAD_ENCODING;
	if (memcmp(p.head, "Ed", ALGORITHM_SIZE) != 0 &&
	    memcmp(p.head, "ED", ALGORITHM_SIZE) != 0)
		return ST_BAD_VERSION;
	if (memcmp(p.head + ALGORITHM_SIZE, key->id, ID_SIZE) != 0)
		return ST_FOREIGN;
	if (!list_holds(&p, key, text) || !comment_holds(&p, key))
		return ST_BAD_MAC;
	*time = time_in(p.comment);
	return ST_OK;
}
