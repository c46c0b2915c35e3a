#include "semaphore/points.h"

#include <string.h>

#include "semaphore/codec.h"

enum status
points_decode(struct groth16_proof *out, const struct semaphore_proof *p,
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
	if (a != ST_OK)
		return fault_at(f, a, SEMAPHORE_A);
	if (b != ST_OK)
		return fault_at(f, b, SEMAPHORE_B);
	return fault_at(f, c, c != ST_OK ? SEMAPHORE_C : SEMAPHORE_WHOLE);
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
