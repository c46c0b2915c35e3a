#include "hash/keccak256.h"

#include <string.h>

#include "base/bytes.h"

#define RATE 136 /* bytes: (1600 - 512) / 8 */
#define ROUNDS 24

/* The round constants of iota: The Keccak reference, section 1.2. */
static const uint64_t iota[ROUNDS] = {UINT64_C(0x0000000000000001),
    UINT64_C(0x0000000000008082), UINT64_C(0x800000000000808a),
    UINT64_C(0x8000000080008000), UINT64_C(0x000000000000808b),
    UINT64_C(0x0000000080000001), UINT64_C(0x8000000080008081),
    UINT64_C(0x8000000000008009), UINT64_C(0x000000000000008a),
    UINT64_C(0x0000000000000088), UINT64_C(0x0000000080008009),
    UINT64_C(0x000000008000000a), UINT64_C(0x000000008000808b),
    UINT64_C(0x800000000000008b), UINT64_C(0x8000000000008089),
    UINT64_C(0x8000000000008003), UINT64_C(0x8000000000008002),
    UINT64_C(0x8000000000000080), UINT64_C(0x000000000000800a),
    UINT64_C(0x800000008000000a), UINT64_C(0x8000000080008081),
    UINT64_C(0x8000000000008080), UINT64_C(0x0000000080000001),
    UINT64_C(0x8000000080008008)};

/* rho and pi as one walk: lane 1 goes, rotated by turn[0], to where[0]; what
 * was there goes, rotated by turn[1], to where[1]; and so on around. */
static const uint8_t turn[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27,
    41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
static const uint8_t where[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15,
    23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};

static uint64_t
rotate(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

static void
theta(uint64_t a[static 25])
{
	uint64_t c[5];

	for (unsigned x = 0; x < 5; x++)
		c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
	for (unsigned x = 0; x < 5; x++) {
		uint64_t d = c[(x + 4) % 5] ^ rotate(c[(x + 1) % 5], 1);
		for (unsigned y = 0; y < 25; y += 5)
			a[y + x] ^= d;
	}
}

static void
rho_pi(uint64_t a[static 25])
{
	uint64_t moving = a[1];

	for (unsigned i = 0; i < 24; i++) {
		uint64_t next = a[where[i]];
		a[where[i]] = rotate(moving, turn[i]);
		moving = next;
	}
}

static void
chi(uint64_t a[static 25])
{
	for (unsigned y = 0; y < 25; y += 5) {
		uint64_t row[5];
		memcpy(row, a + y, sizeof(row));
		for (unsigned x = 0; x < 5; x++)
			a[y + x] ^= ~row[(x + 1) % 5] & row[(x + 2) % 5];
	}
}

static void
absorb(uint64_t a[static 25], const uint8_t block[static RATE])
{
	for (unsigned i = 0; i < RATE / 8; i++)
		a[i] ^= load_le64(block + 8 * i);
	for (unsigned r = 0; r < ROUNDS; r++) {
		theta(a);
		rho_pi(a);
		chi(a);
		a[0] ^= iota[r];
	}
}

/* PADDING is the domain's bits and the first 1 of pad10*1. */
static void
sponge(uint8_t out[static 32], span_t in, uint8_t padding)
{
	uint64_t a[25] = {0};
	uint8_t last[RATE] = {0};

	for (; in.len >= RATE; in.ptr += RATE, in.len -= RATE)
		absorb(a, in.ptr);
	if (in.len != 0)
		memcpy(last, in.ptr, in.len);
	last[in.len] = padding;
	last[RATE - 1] |= 0x80;
	absorb(a, last);
	for (unsigned i = 0; i < 4; i++)
		store_le64(out + 8 * i, a[i]);
}

void
keccak256(uint8_t out[static 32], span_t in)
{
	sponge(out, in, 0x01);
}

void
sha3_256(uint8_t out[static 32], span_t in)
{
	sponge(out, in, 0x06);
}
