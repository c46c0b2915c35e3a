#include "sphinx/x25519.h"

#include <sodium.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctime.h"
#include "base/cpu.h"
#include "base/wipe.h"

#define LIMB_MASK ((UINT64_C(1) << 51) - 1)

const x25519_t x25519_base = {{9}};

void
x25519_unpack(uint64_t limb[static 5], const uint8_t in[static X25519_SIZE])
{
	uint64_t w[4];

	for (int i = 0; i < 4; i++)
		w[i] = load_le64(in + 8 * i);
	limb[0] = w[0] & LIMB_MASK;
	limb[1] = (w[0] >> 51 | w[1] << 13) & LIMB_MASK;
	limb[2] = (w[1] >> 38 | w[2] << 26) & LIMB_MASK;
	limb[3] = (w[2] >> 25 | w[3] << 39) & LIMB_MASK;
	limb[4] = w[3] >> 12 & LIMB_MASK;
}

/* Carry from limb to limb, the last into the first times 19. */
static void
carry(uint64_t h[static 5])
{
	for (int i = 0; i < 4; i++) {
		h[i + 1] += h[i] >> 51;
		h[i] &= LIMB_MASK;
	}
	h[0] += 19 * (h[4] >> 51);
	h[4] &= LIMB_MASK;
}

void
x25519_pack(uint8_t out[static X25519_SIZE], const uint64_t limb[static 5])
{
	uint64_t h[5], q;

	memcpy(h, limb, sizeof(h));
	/* Twice: then h < 2^255 but for a last carry that cannot be, as h[0]
	 * is below 2^51 or small when it wraps. */
	carry(h);
	carry(h);
	/* q = (h + 19) >> 255 is 1 exactly when h >= p. */
	q = (h[0] + 19) >> 51;
	for (int i = 1; i < 5; i++)
		q = (h[i] + q) >> 51;
	h[0] += 19 * q;
	for (int i = 0; i < 4; i++) {
		h[i + 1] += h[i] >> 51;
		h[i] &= LIMB_MASK;
	}
	h[4] &= LIMB_MASK;
	store_le64(out, h[0] | h[1] << 51);
	store_le64(out + 8, h[1] >> 13 | h[2] << 38);
	store_le64(out + 16, h[2] >> 26 | h[3] << 25);
	store_le64(out + 24, h[3] >> 39 | h[4] << 12);
	wipe(h, sizeof(h));
}

bool
x25519_is_zero(const uint8_t shared[static X25519_SIZE])
{
	bool zero = sodium_is_zero(shared, X25519_SIZE) == 1;

	declassify(&zero, sizeof(zero));
	return zero;
}

bool
x25519_is_valid(const uint8_t point[static X25519_SIZE])
{
	/* The u of the points of order 1, 2, 4 and 8; 4's other u = p - 1 is
	 * that of the twist's. RFC 7748, section 6.1, leaves this to us. */
	static const uint8_t small[][X25519_SIZE] = {
	    {0},
	    {1},
	    {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3,
		0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c,
		0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8,
		0x00},
	    {0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1,
		0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58,
		0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11,
		0x57},
	    {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x7f},
	};
	uint64_t top = load_le64(point + 24);

	if (top > UINT64_C(0x7fffffffffffffff))
		return false;
	if (top == UINT64_C(0x7fffffffffffffff) &&
	    load_le64(point + 16) == UINT64_MAX &&
	    load_le64(point + 8) == UINT64_MAX &&
	    load_le64(point) >= UINT64_MAX - 18)
		return false;
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++) {
		if (memcmp(point, small[i], X25519_SIZE) == 0)
			return false;
	}
	return true;
}

static void
portable_one(uint8_t *out, const uint8_t *scalar, const uint8_t *point)
{
	x25519_t r; /* crypto_scalarmult's output may not be its input */

	/* It refuses points of small order; their product is zero. That is
	 * the point's doing and no secret. */
	int refused = crypto_scalarmult(r.byte, scalar, point);
	declassify(&refused, sizeof(refused));
	if (refused != 0)
		memset(&r, 0, sizeof(r));
	memcpy(out, &r, sizeof(r));
	wipe(&r, sizeof(r));
}

static void
portable_eight(x25519_t out[X25519_LANES], const x25519_t scalar[X25519_LANES],
    const x25519_t point[X25519_LANES])
{
	for (int i = 0; i < X25519_LANES; i++)
		portable_one(out[i].byte, scalar[i].byte, point[i].byte);
}

static const struct x25519_kernel portable = {
    SPHINX_KERNEL_PORTABLE, portable_one, portable_eight, X25519_LANES + 1};

#if defined(__x86_64__)

/* `eight` takes as long as about three of `one`. */
static const struct x25519_kernel ifma = {
    SPHINX_KERNEL_IFMA, x25519_ifma_one, x25519_ifma_eight, 4};

#endif

const struct x25519_kernel *
x25519_kernel(enum sphinx_kernel name)
{
#if defined(__x86_64__)
	if (name != SPHINX_KERNEL_PORTABLE && cpu_has_ifma())
		return &ifma;
#endif
	return name == SPHINX_KERNEL_IFMA ? NULL : &portable;
}

void
x25519_many(const struct x25519_kernel *k, x25519_t *out,
    const x25519_t *scalar, const x25519_t *point, size_t n)
{
	x25519_t s[X25519_LANES], p[X25519_LANES], r[X25519_LANES];
	size_t i = 0;

	for (; n - i >= k->worth;
	     i += n - i < X25519_LANES ? n - i : X25519_LANES) {
		size_t m = n - i < X25519_LANES ? n - i : X25519_LANES;
		for (size_t j = 0; j < X25519_LANES; j++) {
			size_t from = j < m ? i + j : i;
			s[j] = scalar[from];
			p[j] = point[from];
		}
		k->eight(r, s, p);
		memcpy(out + i, r, m * sizeof(*r));
	}
	for (; i < n; i++)
		k->one(out[i].byte, scalar[i].byte, point[i].byte);
	wipe(s, sizeof(s));
	wipe(r, sizeof(r));
}
