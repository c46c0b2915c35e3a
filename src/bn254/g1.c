#include "bn254/g1.h"

#include "bn254/point_flag.h"

static const fp_t three = {{0x7a17caa950ad28d7, 0x1f6ac17ae15521b9,
    0x334bea4e696bd284, 0x2a1f6744ce179d8e}};
static const fp_t nine = {{0xf60647ce410d7ff7, 0x2f3d6f4dd31bd011,
    0x2943337e3940c6d1, 0x1d9598e8a7e39857}};

const g1_t g1_infinity;
const g1_t g1_generator = {{{0xd35d438dc58f0d9d, 0x0a78eb28f5c70b3d,
			       0x666ea36f7879462c, 0x0e0a77c19a07df2f}},
    {{0xa6ba871b8b1e1b3a, 0x14f1d651eb8e167b, 0xccdd46def0f28c58,
	0x1c14ef83340fbe5e}}};

#define EC(NAME) g1_##NAME
#define EC_T g1_t
#define ECJ(NAME) g1j_##NAME
#define ECJ_T g1j_t
#define EF(NAME) fp_##NAME
#define EF_T fp_t
#define EC_B three
#define EC_B3 nine
#include "bn254/ec_impl.h"

enum status
g1_decode_var(g1_t *r, const uint8_t in[static 64])
{
	fp_t x, y;

	*r = g1_infinity;
	if (fp_from_bytes_strict(&x, in) != ST_OK ||
	    fp_from_bytes_strict(&y, in + 32) != ST_OK)
		return ST_NOT_CANONICAL;
	return g1_set_var(r, &x, &y);
}

enum status
g1_decompress_begin_var(struct g1_half *h, const uint8_t in[static 32])
{
	uint8_t bytes[32];
	enum point_flag flag = point_flag_take(bytes, in, sizeof(bytes));
	enum status s = point_flag_status(flag, bytes, sizeof(bytes));

	memset(h, 0, sizeof(*h));
	if (s != ST_OK || (s = fp_from_bytes_strict(&h->x, bytes)) != ST_OK)
		return s;
	h->larger = flag == POINT_LARGER;
	fp_sqr(&h->square, &h->x);
	fp_mul(&h->square, &h->square, &h->x);
	fp_add(&h->square, &h->square, &three);
	return ST_OK;
}

enum status
g1_decompress_end_var(
    g1_t *r, const struct g1_half *h, const fp_t *inverse_root)
{
	*r = g1_infinity;
	if (!fp_sqrt_end_var(&r->y, &h->square, inverse_root))
		return ST_NOT_ON_CURVE;
	if (fp_is_larger(&r->y) != h->larger)
		fp_neg(&r->y, &r->y);
	r->x = h->x;
	return ST_OK;
}

enum status
g1_decompress_var(g1_t *r, const uint8_t in[static 32])
{
	struct g1_half h;
	fp_t v;
	enum status s = g1_decompress_begin_var(&h, in);

	*r = g1_infinity;
	if (s != ST_OK)
		return s;
	fp_inverse_root(&v, &h.square);
	return g1_decompress_end_var(r, &h, &v);
}

void
g1_encode(uint8_t out[static 64], const g1_t *a)
{
	fp_to_bytes(out, &a->x);
	fp_to_bytes(out + 32, &a->y);
}

void
g1_compress(uint8_t out[static 32], const g1_t *a)
{
	fp_to_bytes(out, &a->x);
	out[0] |= point_flag_of(g1_is_infinity(a), fp_is_larger(&a->y));
}

/* Interleaved windows (Moller, SAC 2001), eight scalars at a time. */
void
g1_msm_var(g1j_t *r, const g1_t *a, const fr_t *k, size_t n)
{
	enum { GROUP = 8 };
	signed char digits[GROUP][WNAF_MAX];
	g1j_t table[GROUP][8], sum, p;

	g1j_set_infinity(r);
	for (size_t first = 0; first < n; first += GROUP) {
		size_t m = n - first < GROUP ? n - first : GROUP, length = 0;

		for (size_t i = 0; i < m; i++) {
			uint64_t limbs[4];
			size_t l;

			fr_to_limbs(limbs, &k[first + i]);
			l = wnaf_var(digits[i], limbs, 5);
			length = l > length ? l : length;
			g1j_from_affine(&p, &a[first + i]);
			g1j_odd_multiples(table[i], &p, 5);
		}
		g1j_set_infinity(&sum);
		while (length-- > 0) {
			g1j_dbl(&sum, &sum);
			for (size_t i = 0; i < m; i++)
				g1j_add_digit_var(
				    &sum, table[i], digits[i][length]);
		}
		g1j_add_var(r, r, &sum);
	}
}
