#include "client/purse.h"

#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/wipe.h"
#include "store/file.h"

#define PURSE_VERSION 1
#define FILE_MAX ((size_t)4 << 20)
#define FILE_MODE 0600

/* --- the list -------------------------------------------------------------- */

static void
forget(struct purse *p, size_t i)
{
	wipe(p->proofs[i].token, strlen(p->proofs[i].token));
	free(p->proofs[i].token);
	p->n--;
	memmove(&p->proofs[i], &p->proofs[i + 1],
	    (p->n - i) * sizeof(p->proofs[0]));
}

static size_t
find(const struct purse *p, const uint8_t gateway[static 32],
    const uint8_t scope[static 32])
{
	size_t i = 0;

	while (i < p->n &&
	    (memcmp(p->proofs[i].gateway, gateway, 32) != 0 ||
		memcmp(p->proofs[i].scope, scope, 32) != 0))
		i++;
	return i;
}

static void
expire(struct purse *p, uint64_t now)
{
	for (size_t i = p->n; i-- > 0;) {
		if (p->proofs[i].ends <= now)
			forget(p, i);
	}
}

static enum status
add(struct purse *p, const struct purse_proof *proof)
{
	struct purse_proof *grown;
	char *token;

	if (strlen(proof->token) > PURSE_TOKEN_MAX)
		return ST_BAD_LENGTH;
	if (p->n == PURSE_MAX)
		forget(p, 0);
	if (p->n == p->cap) {
		size_t cap = p->cap != 0 ? 2 * p->cap : 8;
		grown = realloc(p->proofs, cap * sizeof(p->proofs[0]));
		if (grown == NULL)
			return ST_NO_MEMORY;
		p->proofs = grown;
		p->cap = cap;
	}
	if ((token = strdup(proof->token)) == NULL)
		return ST_NO_MEMORY;
	p->proofs[p->n] = *proof;
	p->proofs[p->n++].token = token;
	return ST_OK;
}

/* --- the file -------------------------------------------------------------- */

static json_t *
hex_json(const uint8_t *bytes, size_t len)
{
	char text[65];

	hex_encode(text, span_of(bytes, len));
	return json_string(text);
}

static bool
read_hex(uint8_t *out, size_t len, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s != NULL && hex_decode(out, len, span_str(s)) == ST_OK;
}

static json_t *
proof_json(const struct purse_proof *proof)
{
	json_t *o = json_object();

	json_object_set_new(o, "gateway", hex_json(proof->gateway, 32));
	json_object_set_new(o, "scope", hex_json(proof->scope, 32));
	json_object_set_new(o, "root", hex_json(proof->root, 32));
	json_object_set_new(o, "ends", json_integer((json_int_t)proof->ends));
	json_object_set_new(o, "token", json_string(proof->token));
	return o;
}

static enum status
save(const struct purse *p)
{
	json_t *o = json_object(), *list = json_array();
	enum status st = ST_NO_MEMORY;
	char *text;

	if (p->path == NULL) {
		json_decref(list);
		json_decref(o);
		return ST_OK;
	}
	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(list, proof_json(&p->proofs[i]));
	json_object_set_new(o, "version", json_integer(PURSE_VERSION));
	json_object_set_new(o, "commitment", hex_json(p->commitment, 32));
	json_object_set_new(
	    o, "secret", hex_json(p->secret, sizeof(p->secret)));
	json_object_set_new(o, "proofs", list);
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	if (text != NULL) {
		st = file_replace(p->path, text, strlen(text), FILE_MODE);
		wipe(text, strlen(text));
	}
	free(text);
	return st;
}

static void
read_proofs(struct purse *p, const json_t *list)
{
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o)
	{
		struct purse_proof proof = {0};
		const char *token =
		    json_string_value(json_object_get(o, "token"));
		json_int_t ends =
		    json_integer_value(json_object_get(o, "ends"));
		char copy[PURSE_TOKEN_MAX + 1];

		if (!read_hex(proof.gateway, 32, o, "gateway") ||
		    !read_hex(proof.scope, 32, o, "scope") ||
		    !read_hex(proof.root, 32, o, "root") || ends < 0 ||
		    token == NULL || strlen(token) > PURSE_TOKEN_MAX)
			continue;
		memcpy(copy, token, strlen(token) + 1);
		proof.ends = (uint64_t)ends;
		proof.token = copy;
		if (add(p, &proof) != ST_OK)
			return;
	}
}

/* Read TEXT; false when it is not a purse of ours. */
static bool
read_text(struct purse *p, const char *text, size_t len)
{
	uint8_t commitment[32], secret[SITE_SECRET_LENGTH];
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	bool ours = json_integer_value(json_object_get(o, "version")) ==
		PURSE_VERSION &&
	    read_hex(commitment, sizeof(commitment), o, "commitment") &&
	    memcmp(commitment, p->commitment, sizeof(commitment)) == 0 &&
	    read_hex(secret, sizeof(secret), o, "secret");

	if (ours) {
		memcpy(p->secret, secret, sizeof(secret));
		read_proofs(p, json_object_get(o, "proofs"));
	}
	wipe(secret, sizeof(secret));
	json_decref(o);
	return ours;
}

/* --- the purse ------------------------------------------------------------- */

enum status
purse_open(
    struct purse *p, const char *path, const uint8_t commitment[static 32])
{
	char *text;
	size_t len;
	enum status st;

	*p = (struct purse){0};
	memcpy(p->commitment, commitment, 32);
	randombytes_buf(p->secret, sizeof(p->secret));
	if (path == NULL)
		return ST_OK;
	if ((p->path = strdup(path)) == NULL)
		return ST_NO_MEMORY;
	st = file_load(&text, &len, path, FILE_MAX, FILE_OWNER);
	if (st == ST_PERMISSION || st == ST_NO_MEMORY)
		return st;
	if (st == ST_OK) {
		(void)read_text(p, text, len); /* or it is begun anew */
		wipe(text, len);
		free(text);
	}
	return ST_OK;
}

void
purse_close(struct purse *p)
{
	while (p->n > 0)
		forget(p, p->n - 1);
	free(p->proofs);
	free(p->path);
	wipe(p, sizeof(*p));
}

const struct purse_proof *
purse_find(const struct purse *p, const uint8_t gateway[static 32],
    const uint8_t scope[static 32])
{
	size_t i = find(p, gateway, scope);

	return i < p->n ? &p->proofs[i] : NULL;
}

enum status
purse_put(struct purse *p, const struct purse_proof *proof, uint64_t now)
{
	size_t i = find(p, proof->gateway, proof->scope);
	enum status st;

	if (i < p->n)
		forget(p, i);
	expire(p, now);
	st = add(p, proof);
	return st == ST_OK ? save(p) : st;
}

void
purse_drop(struct purse *p, const uint8_t gateway[static 32],
    const uint8_t scope[static 32])
{
	size_t i = find(p, gateway, scope);

	if (i < p->n)
		forget(p, i);
}
