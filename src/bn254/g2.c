#include "bn254/g2.h"

#include "bn254/constants.h"
#include "bn254/kernels.h"
#include "bn254/point_flag.h"

const twist_t twist_infinity;
const g2_t g2_generator = {{{{{0x8e83b5d102bc2026, 0xdceb1935497b0172,
				 0xfbb8264797811adf, 0x19573841af96503b}},
				{{0xafb4737da84c6140, 0x6043dd5a5802d8c4,
				    0x09e950fc52a02f86, 0x14fef0833aea7b6b}}},
    {{{0x619dfa9d886be9f6, 0xfe7fd297f59e9b78, 0xff9e1a62231b7dfe,
	 0x28fd7eebae9e4206}},
	{{0x64095b56c71856ee, 0xdc57f922327d3cbb, 0x55f935be33351076,
	    0x0da4a0e693fd6482}}}}};

#define EC(NAME) twist_##NAME
#define EC_T twist_t
#define ECJ(NAME) twistj_##NAME
#define ECJ_T twistj_t
#define EF(NAME) fp2_##NAME
#define EF_T fp2_t
#define EC_B twist_b
#define EC_B3 twist_b3
#include "bn254/ec_impl.h"

/* c1, then c0. */
static enum status
fp2_from_bytes(fp2_t *r, const uint8_t in[static 64])
{
	enum status s = fp_from_bytes_strict(&r->c1, in);

	return s != ST_OK ? s : fp_from_bytes_strict(&r->c0, in + 32);
}

static void
fp2_to_bytes(uint8_t out[static 64], const fp2_t *a)
{
	fp_to_bytes(out, &a->c1);
	fp_to_bytes(out + 32, &a->c0);
}

enum status
twist_decode_var(twist_t *r, const uint8_t in[static 128])
{
	fp2_t x, y;

	*r = twist_infinity;
	if (fp2_from_bytes(&x, in) != ST_OK ||
	    fp2_from_bytes(&y, in + 64) != ST_OK)
		return ST_NOT_CANONICAL;
	return twist_set_var(r, &x, &y);
}

enum status
twist_decompress_begin_var(struct twist_half *h, const uint8_t in[static 64])
{
	uint8_t bytes[64];
	enum point_flag flag = point_flag_take(bytes, in, sizeof(bytes));
	enum status s = point_flag_status(flag, bytes, sizeof(bytes));

	memset(h, 0, sizeof(*h));
	if (s != ST_OK || (s = fp2_from_bytes(&h->x, bytes)) != ST_OK)
		return s;
	h->larger = flag == POINT_LARGER;
	fp2_sqr(&h->square, &h->x);
	fp2_mul(&h->square, &h->square, &h->x);
	fp2_add(&h->square, &h->square, &twist_b);
	fp2_norm(&h->norm, &h->square);
	return ST_OK;
}

enum status
twist_decompress_part_var(struct twist_half *h, const fp_t *inverse_root)
{
	return fp2_sqrt_part_var(&h->part, &h->square, &h->norm, inverse_root)
	    ? ST_OK
	    : ST_NOT_ON_CURVE;
}

enum status
twist_decompress_end_var(
    twist_t *r, const struct twist_half *h, const fp_t *inverse_root)
{
	*r = twist_infinity;
	if (!fp2_sqrt_end_var(&r->y, &h->square, &h->part, inverse_root))
		return ST_NOT_ON_CURVE;
	if (fp2_is_larger(&r->y) != h->larger)
		fp2_neg(&r->y, &r->y);
	r->x = h->x;
	return ST_OK;
}

enum status
twist_decompress_var(twist_t *r, const uint8_t in[static 64])
{
	struct twist_half h;
	fp_t v;
	enum status s = twist_decompress_begin_var(&h, in);

	*r = twist_infinity;
	if (s != ST_OK)
		return s;
	fp_inverse_root(&v, &h.norm);
	if ((s = twist_decompress_part_var(&h, &v)) != ST_OK)
		return s;
	fp_inverse_root(&v, &h.part);
	return twist_decompress_end_var(r, &h, &v);
}

void
twist_encode(uint8_t out[static 128], const twist_t *a)
{
	fp2_to_bytes(out, &a->x);
	fp2_to_bytes(out + 64, &a->y);
}

void
twist_compress(uint8_t out[static 64], const twist_t *a)
{
	fp2_to_bytes(out, &a->x);
	out[0] |= point_flag_of(twist_is_infinity(a), fp2_is_larger(&a->y));
}

enum status
g2_check_var(g2_t *r, const twist_t *a)
{
	memset(r, 0, sizeof(*r));
	if (twist_is_infinity(a))
		return ST_INFINITY;
	if (!twist_on_curve(a))
		return ST_NOT_ON_CURVE;
	if (!bn254_kernel_c64.in_group(a))
		return ST_NOT_IN_GROUP;
	r->point = *a;
	return ST_OK;
}
