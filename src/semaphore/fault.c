#include <stdbool.h>
#include <stdio.h>

#include "postern/semaphore.h"

static const char *const names[SEMAPHORE_FIELDS] = {
    [SEMAPHORE_WHOLE] = NULL,
    [SEMAPHORE_DEPTH] = "merkleTreeDepth",
    [SEMAPHORE_ROOT] = "merkleTreeRoot",
    [SEMAPHORE_NULLIFIER] = "nullifier",
    [SEMAPHORE_MESSAGE] = "message",
    [SEMAPHORE_SCOPE] = "scope",
    [SEMAPHORE_POINTS] = "points",
    [SEMAPHORE_A] = "A",
    [SEMAPHORE_B] = "B",
    [SEMAPHORE_C] = "C",
};

static bool
is_point(const struct semaphore_fault *f)
{
	return f->field == SEMAPHORE_A || f->field == SEMAPHORE_B ||
	    f->field == SEMAPHORE_C;
}

/* "not a ...": what the field should have been. */
static const char *
wrong_type(const struct semaphore_fault *f)
{
	if (f->field == SEMAPHORE_WHOLE)
		return "not a JSON object";
	if (f->field == SEMAPHORE_DEPTH)
		return "not an integer";
	if (f->field == SEMAPHORE_POINTS && f->index < 0)
		return "not an array";
	return "not a string";
}

static const char *
wrong_encoding(const struct semaphore_fault *f)
{
	if (f->field == SEMAPHORE_WHOLE)
		return "not base64url";
	return is_point(f) ? "not a compressed point"
			   : "not a canonical decimal";
}

static const char *
not_below(const struct semaphore_fault *f)
{
	return is_point(f) || f->field == SEMAPHORE_POINTS
	    ? "not below the field modulus"
	    : "not below the scalar modulus";
}

static const char *
wrong_value(const struct semaphore_fault *f)
{
	return f->field == SEMAPHORE_MESSAGE || f->field == SEMAPHORE_SCOPE
	    ? "not below 2^256"
	    : "a number beyond 64 bits";
}

/* Most statuses speak for themselves; these say more where a field is known.
 */
static const char *
cause(const struct semaphore_fault *f)
{
	if (f->status == ST_WRONG_TYPE)
		return wrong_type(f);
	if (f->status == ST_BAD_ENCODING)
		return wrong_encoding(f);
	if (f->status == ST_NOT_CANONICAL)
		return not_below(f);
	if (f->status == ST_BAD_VALUE)
		return wrong_value(f);
	if (f->status == ST_DUPLICATE)
		return "given twice";
	if (f->status == ST_BAD_VERSION)
		return "neither JSON nor a compact token of this version";
	return status_text(f->status);
}

const char *
semaphore_fault_text(
    char out[static SEMAPHORE_FAULT_MAX], const struct semaphore_fault *f)
{
	const char *field =
	    (unsigned)f->field < SEMAPHORE_FIELDS ? names[f->field] : NULL;
	char text[SEMAPHORE_FAULT_MAX];

	if (f->status == ST_BAD_DEPTH)
		snprintf(text, sizeof(text), "%lld is not within %d to %d",
		    (long long)f->value, SEMAPHORE_DEPTH_MIN,
		    SEMAPHORE_DEPTH_MAX);
	else if (f->status == ST_BAD_LENGTH && f->field == SEMAPHORE_POINTS)
		snprintf(text, sizeof(text), "%lld values, not 8",
		    (long long)f->value);
	else if (f->status == ST_NOT_JSON)
		snprintf(text, sizeof(text), "not JSON, at byte %lld",
		    (long long)f->value);
	else
		snprintf(text, sizeof(text), "%s", cause(f));

	if (field == NULL)
		snprintf(out, SEMAPHORE_FAULT_MAX, "%s", text);
	else if (f->index >= 0)
		snprintf(out, SEMAPHORE_FAULT_MAX, "%s[%d]: %.70s", field,
		    f->index, text);
	else
		snprintf(out, SEMAPHORE_FAULT_MAX, "%s: %.70s", field, text);
	return out;
}
