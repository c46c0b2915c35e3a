#include "semaphore/points.h"

#include <string.h>

#include "semaphore/codec.h"

/* The first fault of the three points. */
static enum status
conclude(struct semaphore_fault *f, enum status a, enum status b, enum status c)
{
	if (a != ST_OK)
		return fault_at(f, a, SEMAPHORE_A);
	if (b != ST_OK)
		return fault_at(f, b, SEMAPHORE_B);
	return fault_at(f, c, c != ST_OK ? SEMAPHORE_C : SEMAPHORE_WHOLE);
}

static enum status
decode(struct groth16_proof *out, const struct semaphore_proof *p,
    struct semaphore_fault *f)
{
	const uint8_t *in = p->points;
	enum status a, b, c;

	if (p->form == SEMAPHORE_AFFINE) {
		a = g1_decode_var(&out->a, in + AFFINE_A);
		b = twist_decode_var(&out->b, in + AFFINE_B);
		c = g1_decode_var(&out->c, in + AFFINE_C);
	} else if (p->form == SEMAPHORE_COMPRESSED) {
		a = g1_decompress_var(&out->a, in + COMPRESSED_A);
		b = twist_decompress_var(&out->b, in + COMPRESSED_B);
		c = g1_decompress_var(&out->c, in + COMPRESSED_C);
	} else {
		memset(out, 0, sizeof(*out));
		return fault_at(f, ST_BAD_VALUE, SEMAPHORE_WHOLE);
	}
	return conclude(f, a, b, c);
}

enum status
points_decode(struct groth16_proof *out, const struct semaphore_proof *p,
    struct semaphore_fault *f)
{
	return decode(out, p, f);
}

/* How many proofs at a time: whole bundles of eight lanes for their roots. */
#define CHUNK 16

/* Some compressed proofs on their way; the status of each point. */
struct halves {
	struct g1_half a[CHUNK], c[CHUNK];
	struct twist_half b[CHUNK];
	enum status sa[CHUNK], sb[CHUNK], sc[CHUNK];
	fp_t root[3 * CHUNK];
};

/* *s = next, unless it is a fault. A fault's half is 0 or void, and so is what
 * is made of it. */
static void
then(enum status *s, enum status next)
{
	if (*s == ST_OK)
		*s = next;
}

/* At most CHUNK proofs, all compressed. */
static void
decompress(
    const struct bn254_kernel *k, const struct points_place *at, size_t n)
{
	struct halves h;
	fp_t *r = h.root;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *in = at[i].proof->points;

		h.sa[i] = g1_decompress_begin_var(&h.a[i], in + COMPRESSED_A);
		h.sb[i] =
		    twist_decompress_begin_var(&h.b[i], in + COMPRESSED_B);
		h.sc[i] = g1_decompress_begin_var(&h.c[i], in + COMPRESSED_C);
		r[i] = h.b[i].norm;
		r[n + i] = h.a[i].square;
		r[2 * n + i] = h.c[i].square;
	}
	k->inverse_roots(r, r, 3 * n);
	for (size_t i = 0; i < n; i++) {
		struct groth16_proof *out = at[i].out;

		then(&h.sa[i],
		    g1_decompress_end_var(&out->a, &h.a[i], &r[n + i]));
		then(&h.sb[i], twist_decompress_part_var(&h.b[i], &r[i]));
		then(&h.sc[i],
		    g1_decompress_end_var(&out->c, &h.c[i], &r[2 * n + i]));
		r[i] = h.b[i].part;
	}
	k->inverse_roots(r, r, n);
	for (size_t i = 0; i < n; i++) {
		then(&h.sb[i],
		    twist_decompress_end_var(&at[i].out->b, &h.b[i], &r[i]));
		(void)conclude(at[i].fault, h.sa[i], h.sb[i], h.sc[i]);
	}
}

void
points_decode_many(
    const struct bn254_kernel *k, const struct points_place *at, size_t n)
{
	struct points_place waiting[CHUNK];
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (at[i].proof->form == SEMAPHORE_COMPRESSED)
			waiting[m++] = at[i];
		else
			decode(at[i].out, at[i].proof, at[i].fault);
		if (m == CHUNK || i + 1 == n) {
			decompress(k, waiting, m);
			m = 0;
		}
	}
}

void
points_encode(struct semaphore_proof *p, const struct groth16_proof *in,
    enum semaphore_form form)
{
	uint8_t *out = p->points;

	memset(out, 0, sizeof(p->points));
	p->form = form;
	if (form == SEMAPHORE_AFFINE) {
		g1_encode(out + AFFINE_A, &in->a);
		twist_encode(out + AFFINE_B, &in->b);
		g1_encode(out + AFFINE_C, &in->c);
	} else if (form == SEMAPHORE_COMPRESSED) {
		g1_compress(out + COMPRESSED_A, &in->a);
		twist_compress(out + COMPRESSED_B, &in->b);
		g1_compress(out + COMPRESSED_C, &in->c);
	}
}

static enum status
respell(struct semaphore_proof *p, enum semaphore_form form,
    struct semaphore_fault *f)
{
	struct groth16_proof points;

	if (p->form == form)
		return fault_at(f, ST_OK, SEMAPHORE_WHOLE);
	if (points_decode(&points, p, f) == ST_OK)
		points_encode(p, &points, form);
	return f->status;
}

enum status
semaphore_proof_compress(struct semaphore_proof *p, struct semaphore_fault *f)
{
	return respell(p, SEMAPHORE_COMPRESSED, f);
}

enum status
semaphore_proof_expand(struct semaphore_proof *p, struct semaphore_fault *f)
{
	return respell(p, SEMAPHORE_AFFINE, f);
}
