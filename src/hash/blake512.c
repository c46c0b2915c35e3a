#include "hash/blake512.h"

#include <string.h>

#include "base/bytes.h"
#include "base/wipe.h"

#define BLOCK 128
#define ROUNDS 16

/* The initial value, which is SHA-512's: specification, section 2.2.1. */
static const uint64_t initial[8] = {UINT64_C(0x6a09e667f3bcc908),
    UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
    UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1),
    UINT64_C(0x9b05688c2b3e6c1f), UINT64_C(0x1f83d9abfb41bd6b),
    UINT64_C(0x5be0cd19137e2179)};

/* The constants: the first digits of pi. Section 2.2.1. */
static const uint64_t pi[16] = {UINT64_C(0x243f6a8885a308d3),
    UINT64_C(0x13198a2e03707344), UINT64_C(0xa4093822299f31d0),
    UINT64_C(0x082efa98ec4e6c89), UINT64_C(0x452821e638d01377),
    UINT64_C(0xbe5466cf34e90c6c), UINT64_C(0xc0ac29b7c97c50dd),
    UINT64_C(0x3f84d5b5b5470917), UINT64_C(0x9216d5d98979fb1b),
    UINT64_C(0xd1310ba698dfb5ac), UINT64_C(0x2ffd72dbd01adfb7),
    UINT64_C(0xb8e1afed6a267e96), UINT64_C(0xba7c9045f12c7f99),
    UINT64_C(0x24a19947b3916cf7), UINT64_C(0x0801f2e2858efc16),
    UINT64_C(0x636920d871574e69)};

/* The permutations sigma: table 2.1. Round r takes row r mod 10. */
static const uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint64_t
rotate_right(uint64_t v, unsigned n)
{
	return v >> n | v << (64 - n);
}

/* G: section 2.2.2. X and Y are the message words, each with the other's
 * constant. */
static void
mix(uint64_t v[static 16], const unsigned at[static 4], uint64_t x, uint64_t y)
{
	uint64_t a = v[at[0]], b = v[at[1]], c = v[at[2]], d = v[at[3]];

	a += b + x;
	d = rotate_right(d ^ a, 32);
	c += d;
	b = rotate_right(b ^ c, 25);
	a += b + y;
	d = rotate_right(d ^ a, 16);
	c += d;
	b = rotate_right(b ^ c, 11);
	v[at[0]] = a;
	v[at[1]] = b;
	v[at[2]] = c;
	v[at[3]] = d;
}

/* Chain BLOCK into H. BITS: how many message bits there are up to the end of
 * this block, 0 for a block of padding alone. */
static void
compress(uint64_t h[static 8], const uint8_t block[static BLOCK], uint64_t bits)
{
	static const unsigned at[8][4] = {{0, 4, 8, 12}, {1, 5, 9, 13},
	    {2, 6, 10, 14}, {3, 7, 11, 15}, {0, 5, 10, 15}, {1, 6, 11, 12},
	    {2, 7, 8, 13}, {3, 4, 9, 14}};
	uint64_t m[16], v[16];

	for (unsigned i = 0; i < 16; i++)
		m[i] = load_be64(block + 8 * i);
	memcpy(v, h, 8 * sizeof(v[0]));
	memcpy(v + 8, pi, 8 * sizeof(v[0])); /* the salt is zero */
	v[12] ^= bits;
	v[13] ^= bits; /* v[14], v[15]: the counter's high word, zero here */
	for (unsigned r = 0; r < ROUNDS; r++) {
		const uint8_t *s = sigma[r % 10];
		for (unsigned i = 0; i < 8; i++) {
			unsigned j = s[2 * i], k = s[2 * i + 1];
			mix(v, at[i], m[j] ^ pi[k], m[k] ^ pi[j]);
		}
	}
	for (unsigned i = 0; i < 8; i++)
		h[i] ^= v[i] ^ v[i + 8];
	wipe(m, sizeof(m));
	wipe(v, sizeof(v));
}

void
blake512(uint8_t out[static 64], span_t in)
{
	uint64_t h[8];
	uint8_t last[2 * BLOCK] = {0};
	uint64_t bits = 8 * (uint64_t)in.len, done = 0;
	/* Padding: a 1 bit, zeros, a 1 bit, the length in 128 bits. */
	size_t rest = in.len % BLOCK;
	size_t padded = rest < BLOCK - 16 ? BLOCK : 2 * BLOCK;

	memcpy(h, initial, sizeof(h));
	for (; in.len >= BLOCK; in.ptr += BLOCK, in.len -= BLOCK)
		compress(h, in.ptr, done += 8 * BLOCK);
	if (rest != 0)
		memcpy(last, in.ptr, rest);
	last[rest] = 0x80;
	last[padded - 17] |= 0x01;
	store_be64(last + padded - 8, bits);
	compress(h, last, rest != 0 ? bits : 0);
	if (padded > BLOCK)
		compress(h, last + BLOCK, 0);
	for (unsigned i = 0; i < 8; i++)
		store_be64(out + 8 * i, h[i]);
	wipe(h, sizeof(h));
	wipe(last, sizeof(last));
}
