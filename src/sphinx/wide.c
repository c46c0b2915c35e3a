/* The payload of the `wide` suite: one block of a wide-block cipher a hop.
 *
 *	zeros 16 | length u32 | message | zeros
 *
 * The cipher is HBSH (Crowley and Biggers, "Adiantum: length-preserving
 * encryption for entry-level processors", ToSC 2018(4), ePrint 2018/720) as
 * in their HPolyC: Poly1305 as the hash H, AES-256 as the block cipher E, and
 * XChaCha20 as the stream cipher S; no tweak, because a key serves one packet.
 * With the payload in two parts, L (32,368 bytes) and R (16 bytes), and sums
 * modulo 2^128, little-endian:
 *
 *	M = R + H(L)	M' = E(M)	L' = L ^ S(M')		R' = M' - H(L')
 *
 * Their theorem bounds what tells it from a random permutation of all 32,384
 * bytes by q(q - 1)/2 * (e + 2^-127) for q queries, beyond the security of
 * AES-256 and XChaCha20; e = 2^-92 is how likely a difference of two hashes
 * can be foretold (Poly1305 on 2,023 blocks). A key serves one packet: q is 1
 * for the sender and, thanks to the replay filter, 1 for the hop.
 *
 * Why this ends tagging: whatever bits of a payload change, at the next honest
 * hop they become a fresh random string, independent of what was changed and
 * of the payload that was sent. The exit finds no 16 zeros (but for 2^-128)
 * and drops it; what an adversary at both ends learns is that a packet died,
 * not where a mark came out. (`stream` would hand on the very bits flipped.)
 * Recognising one's own by zeros in front is encode-then-encipher of Bellare
 * and Rogaway, Asiacrypt 2000: authenticity comes from the permutation, so no
 * key or tag for the exit alone is needed.
 */
#include "sphinx/suite.h"

#include <string.h>

#include "base/bytes.h"
#include "base/ctime.h"
#include "base/wipe.h"

#define LEFT_SIZE (SPHINX_PAYLOAD_SIZE - AES_BLOCK_SIZE)
#define ZEROS_SIZE 16
#define MESSAGE_AT (ZEROS_SIZE + 4)

/* The hash's and the block cipher's keys, from the layer's. */
struct wide_keys {
	uint8_t aes[CIPHER_KEY_SIZE], poly[CIPHER_KEY_SIZE];
};

static enum status
expand(const struct ciphers *c, struct wide_keys *out, const uint8_t *pi)
{
	/* Byte 16 keeps it apart from every nonce of stream(). */
	static const uint8_t nonce[24] = {1};

	memset(out, 0, sizeof(*out));
	return xchacha20_xor(c, pi, nonce, (uint8_t *)out, sizeof(*out));
}

/* L ^= S(m). */
static enum status
stream(const struct ciphers *c, const uint8_t *pi,
    const uint8_t m[static AES_BLOCK_SIZE], uint8_t *left)
{
	uint8_t nonce[24] = {0};

	memcpy(nonce, m, AES_BLOCK_SIZE);
	nonce[AES_BLOCK_SIZE] = 1;
	return xchacha20_xor(c, pi, nonce, left, LEFT_SIZE);
}

/* r += H(L), or r -= H(L). */
static enum status
hash_into(const struct ciphers *c, const struct wide_keys *keys,
    uint8_t r[static AES_BLOCK_SIZE], const uint8_t *left, bool minus)
{
	uint8_t h[POLY1305_SIZE] = {0};
	uint64_t lo, hi, sum;
	enum status st = poly1305(c, h, keys->poly, left, LEFT_SIZE);

	lo = load_le64(h);
	hi = load_le64(h + 8);
	if (minus) { /* -x = ~x + 1 */
		lo = ~lo + 1;
		hi = ~hi + (lo == 0);
	}
	sum = load_le64(r) + lo;
	hi += load_le64(r + 8) + (sum < lo);
	store_le64(r, sum);
	store_le64(r + 8, hi);
	wipe(h, sizeof(h));
	return st;
}

static enum status
wide_add(const struct ciphers *c, uint8_t payload[static SPHINX_PAYLOAD_SIZE],
    const uint8_t pi[static CIPHER_KEY_SIZE])
{
	uint8_t *right = payload + LEFT_SIZE;
	struct wide_keys keys;
	enum status st;

	if ((st = expand(c, &keys, pi)) == ST_OK &&
	    (st = hash_into(c, &keys, right, payload, false)) == ST_OK &&
	    (st = aes256_block(c, keys.aes, right)) == ST_OK &&
	    (st = stream(c, pi, right, payload)) == ST_OK)
		st = hash_into(c, &keys, right, payload, true);
	wipe(&keys, sizeof(keys));
	return st;
}

static enum status
wide_remove(const struct ciphers *c,
    uint8_t payload[static SPHINX_PAYLOAD_SIZE],
    const uint8_t pi[static CIPHER_KEY_SIZE])
{
	uint8_t *right = payload + LEFT_SIZE;
	struct wide_keys keys;
	enum status st;

	if ((st = expand(c, &keys, pi)) == ST_OK &&
	    (st = hash_into(c, &keys, right, payload, false)) == ST_OK &&
	    (st = stream(c, pi, right, payload)) == ST_OK &&
	    (st = aes256_unblock(c, keys.aes, right)) == ST_OK)
		st = hash_into(c, &keys, right, payload, true);
	wipe(&keys, sizeof(keys));
	return st;
}

static enum status
wide_seal(const struct ciphers *c, uint8_t payload[static SPHINX_PAYLOAD_SIZE],
    const uint8_t key[static CIPHER_KEY_SIZE], const void *message, size_t len)
{
	(void)c;
	(void)key;
	if (len > 0)
		memmove(payload + MESSAGE_AT, message, len);
	memset(payload, 0, ZEROS_SIZE);
	store_le32(payload + ZEROS_SIZE, (uint32_t)len);
	memset(payload + MESSAGE_AT + len, 0,
	    SPHINX_PAYLOAD_SIZE - MESSAGE_AT - len);
	return ST_OK;
}

static enum status
wide_open(const struct ciphers *c, const uint8_t **message, size_t *len,
    uint8_t payload[static SPHINX_PAYLOAD_SIZE],
    const uint8_t key[static CIPHER_KEY_SIZE])
{
	static const uint8_t zeros[ZEROS_SIZE];

	(void)c;
	(void)key;
	bool good = equal_ct(payload, zeros, sizeof(zeros));
	declassify(&good, sizeof(good));
	if (!good)
		return ST_CORRUPT;
	*len = load_le32(payload + ZEROS_SIZE);
	declassify(len, sizeof(*len));
	if (*len > SPHINX_MESSAGE_MAX)
		return ST_CORRUPT;
	*message = payload + MESSAGE_AT;
	return ST_OK;
}

const struct suite suite_wide = {
    .name = "wide",
    .rho = "postern/rho",
    .mu = "postern/mu",
    .pi = "postern/pi",
    .aead = "postern/aead",
    .replay = "postern/replay",
    .bind = true,
    .add = wide_add,
    .remove = wide_remove,
    .seal = wide_seal,
    .open = wide_open,
};
