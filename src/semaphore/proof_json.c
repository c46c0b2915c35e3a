/* The official JSON of a proof, both ways: see postern/semaphore.h. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/out.h"
#include "base/text.h"
#include "bn254/fp.h"
#include "bn254/fr.h"
#include "semaphore/codec.h"
#include "semaphore/proof_json.h"

/* The members in the order in which the official library has them, and in
 * which we look at them. */
static const struct member {
	const char *name;
	enum semaphore_field field;
} members[] = {
    {"merkleTreeDepth", SEMAPHORE_DEPTH},
    {"merkleTreeRoot", SEMAPHORE_ROOT},
    {"nullifier", SEMAPHORE_NULLIFIER},
    {"message", SEMAPHORE_MESSAGE},
    {"scope", SEMAPHORE_SCOPE},
    {"points", SEMAPHORE_POINTS},
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))
#define POINTS 8

/* jansson names the member that is there twice in its text alone:
 * duplicate object key near '"nullifier"'. */
static enum semaphore_field
field_in(const char *text)
{
	char quoted[32];

	for (unsigned i = 0; i < MEMBERS; i++) {
		snprintf(quoted, sizeof(quoted), "\"%s\"", members[i].name);
		if (strstr(text, quoted) != NULL)
			return members[i].field;
	}
	return SEMAPHORE_WHOLE;
}

static enum status
parse_fault(struct semaphore_fault *f, const json_error_t *e)
{
	switch (json_error_code(e)) {
	case json_error_out_of_memory:
		return fault_at(f, ST_NO_MEMORY, SEMAPHORE_WHOLE);
	case json_error_end_of_input_expected:
		return fault_at(f, ST_TRAILING, SEMAPHORE_WHOLE);
	case json_error_duplicate_key:
		return fault_at(f, ST_DUPLICATE, field_in(e->text));
	case json_error_numeric_overflow:
		return fault_at(f, ST_BAD_VALUE, SEMAPHORE_WHOLE);
	case json_error_unknown:
	case json_error_stack_overflow:
	case json_error_invalid_argument:
	case json_error_cannot_open_file:
	case json_error_premature_end_of_input:
	case json_error_invalid_syntax:
	case json_error_invalid_format:
	case json_error_wrong_type:
	case json_error_null_character:
	case json_error_null_value:
	case json_error_null_byte_in_key:
	case json_error_invalid_utf8:
	case json_error_item_not_found:
	case json_error_index_out_of_range:
	default:
		return fault_set(f, ST_NOT_JSON, SEMAPHORE_WHOLE, -1,
		    e->position >= 0 ? e->position : 0);
	}
}

/* Read the decimal in VALUE: any number of 256 bits. */
static enum status
read_decimal(uint8_t out[static 32], const json_t *value,
    enum semaphore_field field, int index, struct semaphore_fault *f)
{
	enum status st;

	if (!json_is_string(value))
		return fault_set(f, ST_WRONG_TYPE, field, index, 0);
	/* The length is jansson's: the string may hold NULs, none of which is
	 * a digit. */
	st = decimal_decode(
	    out, span_of(json_string_value(value), json_string_length(value)));
	if (st == ST_BAD_LENGTH)
		st = ST_BAD_ENCODING; /* an empty string */
	if (st == ST_BAD_VALUE && field != SEMAPHORE_MESSAGE &&
	    field != SEMAPHORE_SCOPE)
		st = ST_NOT_CANONICAL; /* 2^256 or more: above any modulus */
	return fault_set(f, st, field, index, 0);
}

static enum status
read_scalar(uint8_t out[static 32], const json_t *value,
    enum semaphore_field field, struct semaphore_fault *f)
{
	enum status st = read_decimal(out, value, field, -1, f);

	if (st == ST_OK)
		st = fr_check_bytes(out);
	return fault_at(f, st, field);
}

static enum status
read_depth(uint32_t *depth, const json_t *value, struct semaphore_fault *f)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value))
		return fault_at(f, ST_WRONG_TYPE, SEMAPHORE_DEPTH);
	if (n < SEMAPHORE_DEPTH_MIN || n > SEMAPHORE_DEPTH_MAX)
		return fault_set(f, ST_BAD_DEPTH, SEMAPHORE_DEPTH, -1, n);
	*depth = (uint32_t)n;
	return ST_OK;
}

static enum status
read_points(
    uint8_t out[static 256], const json_t *value, struct semaphore_fault *f)
{
	if (!json_is_array(value))
		return fault_at(f, ST_WRONG_TYPE, SEMAPHORE_POINTS);
	if (json_array_size(value) != POINTS)
		return fault_set(f, ST_BAD_LENGTH, SEMAPHORE_POINTS, -1,
		    (int64_t)json_array_size(value));
	for (int i = 0; i < POINTS; i++) {
		enum status st = read_decimal(out + 32 * i,
		    json_array_get(value, (size_t)i), SEMAPHORE_POINTS, i, f);
		if (st == ST_OK)
			st = fp_check_bytes(out + 32 * i);
		if (st != ST_OK)
			return fault_set(f, st, SEMAPHORE_POINTS, i, 0);
	}
	return ST_OK;
}

static enum status
read_member(struct semaphore_proof *p, enum semaphore_field field,
    const json_t *value, struct semaphore_fault *f)
{
	if (value == NULL)
		return fault_at(f, ST_MISSING, field);
	if (field == SEMAPHORE_DEPTH)
		return read_depth(&p->depth, value, f);
	if (field == SEMAPHORE_ROOT)
		return read_scalar(p->root, value, field, f);
	if (field == SEMAPHORE_NULLIFIER)
		return read_scalar(p->nullifier, value, field, f);
	if (field == SEMAPHORE_MESSAGE)
		return read_decimal(p->message, value, field, -1, f);
	if (field == SEMAPHORE_SCOPE)
		return read_decimal(p->scope, value, field, -1, f);
	return read_points(p->points, value, f);
}

enum status
semaphore_proof_from_value(
    struct semaphore_proof *p, const json_t *object, struct semaphore_fault *f)
{
	enum status st = ST_OK;

	memset(p, 0, sizeof(*p));
	if (!json_is_object(object))
		return fault_at(f, ST_WRONG_TYPE, SEMAPHORE_WHOLE);
	for (unsigned i = 0; i < MEMBERS && st == ST_OK; i++)
		st = read_member(p, members[i].field,
		    json_object_get(object, members[i].name), f);
	if (st != ST_OK) {
		memset(p, 0, sizeof(*p));
		return st;
	}
	p->form = SEMAPHORE_AFFINE;
	return fault_at(f, ST_OK, SEMAPHORE_WHOLE);
}

enum status
semaphore_json_load(
    json_t **out, const void *text, size_t len, struct semaphore_fault *f)
{
	json_error_t e;

	*out = json_loadb(text, len,
	    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &e);
	return *out != NULL ? fault_at(f, ST_OK, SEMAPHORE_WHOLE)
			    : parse_fault(f, &e);
}

enum status
semaphore_proof_from_json(struct semaphore_proof *p, const void *text,
    size_t len, struct semaphore_fault *f)
{
	json_t *object;

	memset(p, 0, sizeof(*p));
	if (semaphore_json_load(&object, text, len, f) != ST_OK)
		return f->status;
	enum status st = semaphore_proof_from_value(p, object, f);
	json_decref(object);
	return st;
}

/* Write the decimal of IN in quotes, then AFTER. */
static void
put_decimal(struct out *o, const uint8_t in[static 32], const char *after)
{
	char digits[DECIMAL_MAX];

	decimal_encode(digits, in);
	out_char(o, '"');
	out_str(o, digits);
	out_char(o, '"');
	out_str(o, after);
}

enum status
semaphore_proof_to_json(char out[static SEMAPHORE_JSON_MAX], size_t *len,
    const struct semaphore_proof *p)
{
	struct out o = out_to(out, SEMAPHORE_JSON_MAX);

	*len = 0;
	out[0] = '\0';
	if (p->form != SEMAPHORE_AFFINE)
		return ST_BAD_VALUE;
	out_str(&o, "{\"merkleTreeDepth\":");
	out_decimal(&o, p->depth);
	out_str(&o, ",\"merkleTreeRoot\":");
	put_decimal(&o, p->root, ",\"nullifier\":");
	put_decimal(&o, p->nullifier, ",\"message\":");
	put_decimal(&o, p->message, ",\"scope\":");
	put_decimal(&o, p->scope, ",\"points\":[");
	for (unsigned i = 0; i < POINTS; i++)
		put_decimal(
		    &o, p->points + 32 * i, i < POINTS - 1 ? "," : "]}");
	out_char(&o, '\0');
	if (out_status(&o, len) != ST_OK)
		return ST_INTERNAL; /* SEMAPHORE_JSON_MAX is enough */
	--*len;
	return ST_OK;
}
