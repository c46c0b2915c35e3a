#include "semaphore/vkey_json.h"

#include <string.h>

#include "base/text.h"
#include "semaphore/proof_json.h"

/* Read the decimal VALUE, below p or not. */
static enum status
read_decimal(uint8_t out[static 32], const json_t *value)
{
	enum status st;

	if (!json_is_string(value))
		return value == NULL ? ST_MISSING : ST_WRONG_TYPE;
	st = decimal_decode(
	    out, span_of(json_string_value(value), json_string_length(value)));
	if (st == ST_BAD_LENGTH)
		return ST_BAD_ENCODING;
	return st == ST_BAD_VALUE ? ST_NOT_CANONICAL : st;
}

/* VALUE is an array of N elements. */
static enum status
check_array(const json_t *value, size_t n)
{
	if (value == NULL)
		return ST_MISSING;
	if (!json_is_array(value))
		return ST_WRONG_TYPE;
	return json_array_size(value) == n ? ST_OK : ST_BAD_LENGTH;
}

/* VALUE is the decimal of WANT, 0 or 1: part of a z coordinate. */
static enum status
check_small(const json_t *value, unsigned want)
{
	uint8_t bytes[32], wanted[32] = {0};
	enum status st = read_decimal(bytes, value);

	wanted[31] = (uint8_t)want;
	if (st == ST_OK && memcmp(bytes, wanted, 32) != 0)
		st = ST_BAD_VALUE;
	return st;
}

static enum status
read_g1(g1_t *out, const json_t *point)
{
	uint8_t bytes[64];
	enum status st = check_array(point, 3);

	for (size_t i = 0; i < 2 && st == ST_OK; i++)
		st = read_decimal(bytes + 32 * i, json_array_get(point, i));
	if (st == ST_OK)
		st = check_small(json_array_get(point, 2), 1);
	return st == ST_OK ? g1_decode_var(out, bytes) : st;
}

/* An element of Fp2, real part first, as bytes with the imaginary one first.
 */
static enum status
read_fp2(uint8_t out[static 64], const json_t *pair)
{
	enum status st = check_array(pair, 2);

	if (st == ST_OK)
		st = read_decimal(out + 32, json_array_get(pair, 0));
	return st == ST_OK ? read_decimal(out, json_array_get(pair, 1)) : st;
}

static enum status
read_g2(g2_t *out, const json_t *point)
{
	uint8_t bytes[128];
	twist_t twist;
	enum status st = check_array(point, 3);

	for (size_t i = 0; i < 2 && st == ST_OK; i++)
		st = read_fp2(bytes + 64 * i, json_array_get(point, i));
	if (st == ST_OK)
		st = check_array(json_array_get(point, 2), 2);
	for (size_t i = 0; i < 2 && st == ST_OK; i++)
		st = check_small(
		    json_array_get(json_array_get(point, 2), i), i == 0);
	if (st == ST_OK)
		st = twist_decode_var(&twist, bytes);
	return st == ST_OK ? g2_check_var(out, &twist) : st;
}

static enum status
read_ic(g1_t *out, size_t n, const json_t *array)
{
	enum status st = check_array(array, n);

	for (size_t i = 0; i < n && st == ST_OK; i++)
		st = read_g1(&out[i], json_array_get(array, i));
	return st;
}

/* VALUE is the string WANT. */
static enum status
check_name(const json_t *value, const char *want)
{
	if (value == NULL)
		return ST_MISSING;
	if (!json_is_string(value))
		return ST_WRONG_TYPE;
	return span_equal(
		   span_of(json_string_value(value), json_string_length(value)),
		   span_str(want))
	    ? ST_OK
	    : ST_FOREIGN;
}

static enum status
check_inputs(const json_t *value, size_t inputs)
{
	if (value == NULL)
		return ST_MISSING;
	if (!json_is_integer(value))
		return ST_WRONG_TYPE;
	return json_integer_value(value) == (json_int_t)inputs ? ST_OK
							       : ST_FOREIGN;
}

/* The members in the order in which they are looked at. */
enum member { PROTOCOL, CURVE, INPUTS, ALPHA, BETA, GAMMA, DELTA, IC, MEMBERS };

static const char *const members[MEMBERS] = {"protocol", "curve", "nPublic",
    "vk_alpha_1", "vk_beta_2", "vk_gamma_2", "vk_delta_2", "IC"};

static enum status
read_member(
    struct groth16_vk *vk, size_t inputs, enum member m, const json_t *value)
{
	switch (m) {
	case PROTOCOL:
		return check_name(value, "groth16");
	case CURVE:
		return check_name(value, "bn128");
	case INPUTS:
		return check_inputs(value, inputs);
	case ALPHA:
		return read_g1(&vk->alpha, value);
	case BETA:
		return read_g2(&vk->beta, value);
	case GAMMA:
		return read_g2(&vk->gamma, value);
	case DELTA:
		return read_g2(&vk->delta, value);
	case IC:
		return read_ic(vk->ic, inputs + 1, value);
	case MEMBERS:
	default:
		return ST_INTERNAL;
	}
}

static enum status
read_key(
    struct groth16_vk *vk, size_t inputs, const json_t *key, const char **where)
{
	enum status st;

	if (!json_is_object(key))
		return ST_WRONG_TYPE;
	for (unsigned m = 0; m < MEMBERS; m++) {
		*where = members[m];
		st = read_member(vk, inputs, (enum member)m,
		    json_object_get(key, members[m]));
		if (st != ST_OK)
			return st;
	}
	*where = "";
	vk->inputs = inputs;
	return ST_OK;
}

enum status
vkey_from_json(struct groth16_vk *vk, size_t inputs, const void *text,
    size_t len, const char **where)
{
	struct semaphore_fault f;
	json_t *key;
	enum status st;

	memset(vk, 0, sizeof(*vk));
	*where = "";
	if (inputs > GROTH16_INPUTS_MAX)
		return ST_FOREIGN;
	st = semaphore_json_load(&key, text, len, &f);
	if (st != ST_OK)
		return st;
	st = read_key(vk, inputs, key, where);
	json_decref(key);
	if (st != ST_OK)
		memset(vk, 0, sizeof(*vk));
	return st;
}
