#include "bn254/msm_kernel.h"

#include "base/bytes.h"
#include "base/wipe.h"
#include "bn254/limbs.h"

const struct msm_kernel *
msm_kernel_nth(unsigned i)
{
	static const struct msm_kernel *const kernels[] = {
#ifdef __x86_64__
	    &msm_kernel_ifma,
	    &msm_kernel_adx,
#endif
	    &msm_kernel_one,
	};

	for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
		if (kernels[k]->supported() && i-- == 0)
			return kernels[k];
	}
	return NULL;
}

const char *
msm_kernel_name(const struct msm_kernel *k)
{
	return k->name;
}

/* r, as plain limbs. */
static const uint64_t order[4] = {0x43e1f593f0000001, 0x2833e84879b97091,
    0xb85045b68181585d, 0x30644e72e131a029};

/* An odd k below 2^255 is the sum of d[i] 16^i with
 *	d[i] = ((k >> 4 i | 1) mod 32) - 16, and k >> 252 | 1 at the top:
 * all odd, and from -15 to 15 (Joye, Tunstall, section 3.2). An even scalar
 * becomes odd with r, which is odd, added. */
void
msm_digits(uint8_t *out, size_t stride, const uint64_t scalar[static 4])
{
	uint64_t k[4], odd[4];
	uint64_t even = mask_of(1 - (scalar[0] & 1));

	for (int i = 0; i < 4; i++)
		odd[i] = order[i] & even;
	limbs_add(k, scalar, odd);
	for (size_t i = 0; i < 4; i++) {
		uint64_t word = k[i], next = i < 3 ? k[i + 1] : 1;
		for (size_t j = 0; j < 16; j++, out += stride) {
			/* u = d + 16, odd, from 1 to 31: bit 4 says plus. */
			unsigned u = (unsigned)(word | 1) & 31;
			if (j == 15)
				u = (u & 15) | (unsigned)(next & 1) << 4;
			unsigned minus = 1 - (u >> 4);
			/* |d| = u - 16 if plus, else 16 - u = (~u & 15) + 1 */
			unsigned size = ((u & 15) ^ ((0 - minus) & 15)) + minus;
			*out = (uint8_t)(size >> 1 | minus * MSM_DIGIT_MINUS);
			word >>= 4;
		}
	}
	wipe(k, sizeof(k));
}

void
msm_digits_bit(uint8_t *out, size_t stride, const uint64_t scalar[static 4])
{
	out[0] = (uint8_t)(scalar[0] & 1);
	out[stride] = 0;
}

/* --- the sums that a kernel can not do -------------------------------------- */

static void
slow_g1(g1j_t *r, const struct msm_terms *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const uint8_t *at = t->points + 64 * (size_t)t->index[i];
		g1_t p;
		g1j_t q;
		for (int j = 0; j < 4; j++) {
			p.x.l[j] = load_le64(at + 8 * j);
			p.y.l[j] = load_le64(at + 32 + 8 * j);
		}
		g1j_from_affine(&q, &p);
		g1j_mul(&q, &q, t->scalars[t->index[i]]);
		g1j_add(r, r, &q);
	}
}

static void
slow_g2(twistj_t *r, const struct msm_terms *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const uint8_t *at = t->points + 128 * (size_t)t->index[i];
		twist_t p;
		twistj_t q;
		for (int j = 0; j < 4; j++) {
			p.x.c0.l[j] = load_le64(at + 8 * j);
			p.x.c1.l[j] = load_le64(at + 32 + 8 * j);
			p.y.c0.l[j] = load_le64(at + 64 + 8 * j);
			p.y.c1.l[j] = load_le64(at + 96 + 8 * j);
		}
		twistj_from_affine(&q, &p);
		twistj_mul(&q, &q, t->scalars[t->index[i]]);
		twistj_add(r, r, &q);
	}
}

void
msm_g1(g1j_t *r, const struct msm_kernel *k, const struct msm_terms *t,
    void *memory)
{
	g1_t sum;

	g1j_set_infinity(r);
	if (t->n >= k->lanes && k->g1(&sum, t, memory))
		g1j_from_affine(r, &sum);
	else
		slow_g1(r, t);
}

void
msm_g2(twistj_t *r, const struct msm_kernel *k, const struct msm_terms *t,
    void *memory)
{
	twist_t sum;

	twistj_set_infinity(r);
	if (t->n >= k->lanes && k->g2(&sum, t, memory))
		twistj_from_affine(r, &sum);
	else
		slow_g2(r, t);
}
