/* tests/unit/bn254_vectors.h: read tests/vectors/bn254.txt, which the slow
 * oracle made (tests/vectors/make-bn254 says what its lines mean).
 */
#ifndef TESTS_BN254_VECTORS_H
#define TESTS_BN254_VECTORS_H

#include <stdlib.h>

#include "base/bytes.h"
#include "base/text.h"
#include "bn254/g1.h"
#include "bn254/g2.h"
#include "harness.h"

#define VECTOR_FIELDS 20

/* One line, cut at its spaces. */
struct vector {
	char *field[VECTOR_FIELDS];
	size_t n;
};

static inline void
vector_split(struct vector *v, char *line)
{
	char *save = NULL;

	v->n = 0;
	for (char *f = strtok_r(line, " ", &save); f != NULL;
	     f = strtok_r(NULL, " ", &save)) {
		CHECK(v->n < VECTOR_FIELDS);
		v->field[v->n++] = f;
	}
}

/* Call TEST with each line that begins with NAME; returns how many. */
static inline size_t
vectors_each(
    const char *name, void (*test)(const struct vector *, void *), void *ctx)
{
	char *text = test_read_file("vectors/bn254.txt", NULL), *save = NULL;
	size_t count = 0;
	struct vector v;

	for (char *line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		vector_split(&v, line);
		if (v.n == 0 || strcmp(v.field[0], name) != 0)
			continue;
		test(&v, ctx);
		count++;
	}
	free(text);
	CHECK(count > 0);
	return count;
}

static inline void
vector_bytes(uint8_t *out, size_t len, const struct vector *v, size_t i)
{
	CHECK(i < v->n);
	CHECK_STATUS(hex_decode(out, len, span_str(v->field[i])), ST_OK);
}

static inline void
vector_limbs(uint64_t out[static 4], const struct vector *v, size_t i)
{
	uint8_t bytes[32];

	vector_bytes(bytes, sizeof(bytes), v, i);
	for (int j = 0; j < 4; j++)
		out[3 - j] = load_be64(bytes + 8 * j);
}

static inline void
vector_fp(fp_t *out, const struct vector *v, size_t i)
{
	uint8_t bytes[32];

	vector_bytes(bytes, sizeof(bytes), v, i);
	CHECK_STATUS(fp_from_bytes_strict(out, bytes), ST_OK);
}

static inline void
vector_fp2(fp2_t *out, const struct vector *v, size_t i)
{
	vector_fp(&out->c0, v, i);
	vector_fp(&out->c1, v, i + 1);
}

/* A point of G1: two fields. */
static inline void
vector_g1(g1_t *out, const struct vector *v, size_t i)
{
	fp_t x, y;

	vector_fp(&x, v, i);
	vector_fp(&y, v, i + 1);
	CHECK_STATUS(g1_set_var(out, &x, &y), ST_OK);
}

/* A point of the twist: four fields. */
static inline void
vector_twist(twist_t *out, const struct vector *v, size_t i)
{
	fp2_t x, y;

	vector_fp2(&x, v, i);
	vector_fp2(&y, v, i + 2);
	CHECK_STATUS(twist_set_var(out, &x, &y), ST_OK);
}

#endif
