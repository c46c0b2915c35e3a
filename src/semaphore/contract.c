#include "semaphore/contract.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/text.h"
#include "bn254/fr.h"
#include "hash/keccak256.h"
#include "semaphore/root_file.h"

/* The view functions of ISemaphoreGroups, each of the group's number. */
static const char *const signatures[CONTRACT_QUESTIONS] = {
    [CONTRACT_ROOT] = "getMerkleTreeRoot(uint256)",
    [CONTRACT_DEPTH] = "getMerkleTreeDepth(uint256)",
    [CONTRACT_SIZE] = "getMerkleTreeSize(uint256)",
};

enum status
contract_address(uint8_t out[static CONTRACT_ADDRESS_SIZE], span_t text)
{
	if (text.len < 2 || memcmp(text.ptr, "0x", 2) != 0)
		return ST_BAD_ENCODING;
	return hex_decode(
	    out, CONTRACT_ADDRESS_SIZE, span_of(text.ptr + 2, text.len - 2));
}

/* --- questions --- */

static void
out_hex(struct out *o, span_t bytes)
{
	char hex[2 * 32 + 1];

	hex_encode(hex, bytes);
	out_str(o, hex);
}

/* A quantity: hex without leading zeros. */
static void
out_quantity(struct out *o, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "\"0x%llx\"", (unsigned long long)v);
	out_str(o, text);
}

/* The first four bytes of the hash of the signature, then the argument. */
static void
out_call(struct out *o, const char *signature, const struct contract_group *g)
{
	uint8_t hash[32];

	keccak256(hash, span_str(signature));
	out_str(o, "{\"to\":\"0x");
	out_hex(o, span_of(g->address, sizeof(g->address)));
	out_str(o, "\",\"data\":\"0x");
	out_hex(o, span_of(hash, 4));
	out_hex(o, span_of(g->group, sizeof(g->group)));
	out_str(o, "\"},");
}

void
contract_ask(struct out *o, enum contract_question q,
    const struct contract_group *g, uint64_t block)
{
	out_str(o, "{\"jsonrpc\":\"2.0\",\"id\":");
	out_decimal(o, (uint64_t)q);
	if (q == CONTRACT_NEWEST) {
		out_str(o, ",\"method\":\"eth_blockNumber\",\"params\":[");
	} else if (q == CONTRACT_BLOCK) {
		out_str(o, ",\"method\":\"eth_getBlockByNumber\",\"params\":[");
		out_quantity(o, block);
		out_str(o, ",false");
	} else {
		out_str(o, ",\"method\":\"eth_call\",\"params\":[");
		out_call(o, signatures[q], g);
		out_quantity(o, block);
	}
	out_str(o, "]}");
}

/* --- answers --- */

static enum status
explain(char why[static CONTRACT_WHY_MAX], const char *what)
{
	snprintf(why, CONTRACT_WHY_MAX, "%s", what);
	return ST_BAD_VALUE;
}

/* The string VALUE without its "0x"; empty when it is none. */
static span_t
hex_digits(const json_t *value)
{
	const char *text = json_string_value(value);

	if (text == NULL || strncmp(text, "0x", 2) != 0)
		return span_of("", 0);
	return span_of(text + 2, json_string_length(value) - 2);
}

/* Returns: ST_OK; ST_BAD_VALUE. */
static enum status
read_quantity(uint64_t *out, const json_t *value)
{
	span_t digits = hex_digits(value);
	char padded[17] = "0000000000000000";
	uint8_t bytes[8];

	*out = 0;
	if (digits.len == 0 || digits.len > 16 ||
	    (digits.len > 1 && digits.ptr[0] == '0'))
		return ST_BAD_VALUE;
	memcpy(padded + 16 - digits.len, digits.ptr, digits.len);
	if (hex_decode(bytes, sizeof(bytes), span_of(padded, 16)) != ST_OK)
		return ST_BAD_VALUE;
	*out = load_be64(bytes);
	return ST_OK;
}

/* Returns: ST_OK; ST_BAD_VALUE. */
static enum status
read_word(uint8_t out[static 32], const json_t *value)
{
	return hex_decode(out, 32, hex_digits(value)) == ST_OK ? ST_OK
							       : ST_BAD_VALUE;
}

/* A word that is a number of at most MAX. */
static enum status
read_small(uint64_t *out, const json_t *value, uint64_t max)
{
	static const uint8_t zeros[24];
	uint8_t word[32];

	*out = 0;
	if (read_word(word, value) != ST_OK || memcmp(word, zeros, 24) != 0 ||
	    load_be64(word + 24) > max)
		return ST_BAD_VALUE;
	*out = load_be64(word + 24);
	return ST_OK;
}

static enum status
read_result(struct contract_state *s, char why[static CONTRACT_WHY_MAX],
    enum contract_question q, const json_t *result)
{
	uint64_t depth;
	enum status st = ST_BAD_VALUE;

	if (q > CONTRACT_BLOCK && json_is_string(result) &&
	    json_string_length(result) == 2)
		return explain(why,
		    "there is no Semaphore contract at this "
		    "address, or no such group");
	switch (q) {
	case CONTRACT_NEWEST:
		st = read_quantity(&s->newest, result);
		break;
	case CONTRACT_BLOCK:
		if (json_is_null(result))
			return explain(why, "it does not have the block");
		st =
		    read_quantity(&s->block, json_object_get(result, "number"));
		if (st == ST_OK)
			st = read_quantity(
			    &s->time, json_object_get(result, "timestamp"));
		if (st == ST_OK)
			st =
			    read_word(s->hash, json_object_get(result, "hash"));
		break;
	case CONTRACT_ROOT:
		st = read_word(s->root, result);
		break;
	case CONTRACT_DEPTH:
		st = read_small(&depth, result, GROUP_DEPTH_MAX);
		s->depth = (uint32_t)depth;
		break;
	case CONTRACT_SIZE:
		st = read_small(
		    &s->size, result, UINT64_C(1) << GROUP_DEPTH_MAX);
		break;
	case CONTRACT_QUESTIONS:
		break;
	}
	return st == ST_OK ? ST_OK : explain(why, "the result is malformed");
}

/* What the node gives as its reason. */
static enum status
explain_error(char why[static CONTRACT_WHY_MAX], const json_t *error)
{
	const char *message =
	    json_string_value(json_object_get(error, "message"));
	int n = snprintf(why, CONTRACT_WHY_MAX, "the node answers: ");

	text_printable(why + n, CONTRACT_WHY_MAX - (size_t)n,
	    span_str(message != NULL ? message : "an error"));
	return ST_BAD_VALUE;
}

enum status
contract_hear(struct contract_state *s, char why[static CONTRACT_WHY_MAX],
    enum contract_question q, span_t text)
{
	json_error_t fault;
	json_t *answer = json_loadb(
	    (const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &fault);
	const json_t *id, *error, *result;
	enum status st;

	why[0] = '\0';
	if (answer == NULL) {
		if (json_error_code(&fault) == json_error_out_of_memory)
			return ST_NO_MEMORY;
		explain(why, "the answer is not JSON");
		return ST_NOT_JSON;
	}
	id = json_object_get(answer, "id");
	error = json_object_get(answer, "error");
	result = json_object_get(answer, "result");
	if (error != NULL && !json_is_null(error))
		st = explain_error(why, error);
	else if (!json_is_integer(id) || json_integer_value(id) != (int)q ||
	    result == NULL)
		st = explain(why, "the answer is to another question");
	else
		st = read_result(s, why, q, result);
	json_decref(answer);
	return st;
}

/* --- states --- */

enum status
contract_state_check(const struct contract_state *s)
{
	fr_t root;

	if (fr_from_bytes_strict(&root, s->root) != ST_OK)
		return ST_NOT_CANONICAL;
	/* Zero is also the root of one member who was removed. */
	if (s->size == 0 && !fr_is_zero(&root))
		return ST_BAD_VALUE;
	return root_depth_fits(s->depth, s->size) ? ST_OK : ST_BAD_VALUE;
}

bool
contract_state_equal(
    const struct contract_state *a, const struct contract_state *b)
{
	return a->block == b->block && a->time == b->time &&
	    a->depth == b->depth && a->size == b->size &&
	    memcmp(a->hash, b->hash, sizeof(a->hash)) == 0 &&
	    memcmp(a->root, b->root, sizeof(a->root)) == 0;
}
