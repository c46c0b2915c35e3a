/* tests/unit/json_util.h: JSON that a test expects to be right.
 */
#ifndef TESTS_JSON_UTIL_H
#define TESTS_JSON_UTIL_H

#include "harness.h"

#include <stdlib.h>

#include <jansson.h>

/* TEXT as JSON; the caller owns the reference. */
static inline json_t *
json_parse(const char *text)
{
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	CHECK(root != NULL);
	return root;
}

/* The file at tests/PATH as JSON; the caller owns the reference. */
static inline json_t *
json_vectors(const char *path)
{
	char *text = test_read_file(path, NULL);
	json_t *root = json_parse(text);

	free(text);
	return root;
}

/* The string MEMBER of OBJECT. */
static inline const char *
json_member(const json_t *object, const char *member)
{
	const char *s = json_string_value(json_object_get(object, member));

	CHECK(s != NULL);
	return s;
}

#endif
