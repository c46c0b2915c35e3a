/* tests/fuzz/fuzz.h: what the harnesses share. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/span.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Defined, and true, by a harness whose first input takes long: replay.c then
 * gives it all inputs in one process. */
extern const bool fuzz_sets_up;

/* A finding: say which and crash, so that the fuzzer keeps the input. */
#define FUZZ_CHECK(COND)                                                       \
	do {                                                                   \
		if (!(COND)) {                                                 \
			fprintf(                                               \
			    stderr, "%s:%d: %s\n", __FILE__, __LINE__, #COND); \
			abort();                                               \
		}                                                              \
	} while (0)

/* PART lies within WHOLE. */
static inline bool
fuzz_within(span_t part, span_t whole)
{
	return part.len == 0 ||
	    (part.ptr >= whole.ptr &&
		part.ptr + part.len <= whole.ptr + whole.len);
}

/* Memory of exactly LEN bytes, so that a sanitizer sees what reads beyond. */
static inline uint8_t *
fuzz_copy(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len != 0 ? len : 1);

	if (copy == NULL)
		abort();
	if (len != 0)
		memcpy(copy, data, len);
	return copy;
}

#endif
