/* tests/unit/proof_util.h: the official proofs of tests/vectors, as JSON text
 * in parts that a test can spoil.
 */
#ifndef TESTS_PROOF_UTIL_H
#define TESTS_PROOF_UTIL_H

#include "json_util.h"

#include <stdarg.h>
#include <stddef.h>

#include "postern/semaphore.h"

#define PROOFS 64

/* The members of a proof as raw JSON, in the official order; NULL leaves one
 * out. points is made of point[0] to point[count - 1] unless given raw. */
struct draft {
	char *depth, *root, *nullifier, *message, *scope, *points;
	char *point[10];
	unsigned count;
	char *extra; /* raw members behind the others: ",\"x\":1" */
};

/* All official proofs, kept. */
static inline json_t *
proofs_load(void)
{
	static json_t *all;

	all = json_vectors("vectors/proofs.json");
	CHECK(json_array_size(all) == PROOFS);
	return all;
}

/* Memory of LEN bytes, zero, that lasts as long as the case, which is a process
 * of its own: no test frees it. */
static inline void *
kept(size_t len)
{
	struct piece {
		struct piece *next;
		max_align_t bytes[];
	};
	static struct piece *pieces;
	struct piece *p = calloc(1, sizeof(*p) + len);

	CHECK(p != NULL);
	p->next = pieces;
	pieces = p;
	return p->bytes;
}

/* Printed text, kept. */
static inline char *PRINTF_LIKE(1, 2) text_of(const char *fmt, ...)
{
	va_list ap;
	char *out;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	CHECK(len >= 0);
	out = kept((size_t)len + 1);
	va_start(ap, fmt);
	vsnprintf(out, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return out;
}

/* VALUE as JSON text, kept. */
static inline char *
json_text(const json_t *value, size_t flags)
{
	char *dumped = json_dumps(value, flags), *out;

	CHECK(dumped != NULL);
	out = text_of("%s", dumped);
	free(dumped);
	return out;
}

/* Official proof number I, as a draft that is right. */
static inline struct draft
draft_of(const json_t *all, size_t i)
{
	json_t *proof = json_object_get(json_array_get(all, i), "proof");
	json_t *points = json_object_get(proof, "points");
	struct draft d = {.count = 8};

	d.depth = text_of("%d",
	    (int)json_integer_value(json_object_get(proof, "merkleTreeDepth")));
	d.root = text_of("\"%s\"", json_member(proof, "merkleTreeRoot"));
	d.nullifier = text_of("\"%s\"", json_member(proof, "nullifier"));
	d.message = text_of("\"%s\"", json_member(proof, "message"));
	d.scope = text_of("\"%s\"", json_member(proof, "scope"));
	for (unsigned k = 0; k < 8; k++)
		d.point[k] = text_of(
		    "\"%s\"", json_string_value(json_array_get(points, k)));
	return d;
}

static inline void
draft_put(char **text, const char *name, const char *raw)
{
	if (raw != NULL)
		*text = text_of("%s%s\"%s\":%s", *text,
		    strcmp(*text, "{") == 0 ? "" : ",", name, raw);
}

/* The JSON of D, kept. */
static inline char *
draft_text(const struct draft *d)
{
	char *text = text_of("{"), *points = text_of("[");

	draft_put(&text, "merkleTreeDepth", d->depth);
	draft_put(&text, "merkleTreeRoot", d->root);
	draft_put(&text, "nullifier", d->nullifier);
	draft_put(&text, "message", d->message);
	draft_put(&text, "scope", d->scope);
	for (unsigned k = 0; k < d->count; k++)
		points =
		    text_of("%s%s%s", points, k != 0 ? "," : "", d->point[k]);
	draft_put(&text, "points",
	    d->points != NULL ? d->points : text_of("%s]", points));
	return text_of("%s%s}", text, d->extra != NULL ? d->extra : "");
}

#endif
