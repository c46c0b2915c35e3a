#include "sphinx/header.h"

#include <string.h>

#include "base/bytes.h"
#include "base/ctime.h"
#include "base/wipe.h"

/* kind u8 | delay u32 | element 32 | next 32 | zeros 27 */
#define DELAY_AT 1
#define ELEMENT_AT 5
#define NEXT_AT 37
#define ZEROS_AT 69

static void
routing_encode(uint8_t out[static ROUTING_SIZE], const struct routing *r)
{
	memset(out, 0, ROUTING_SIZE);
	out[0] = (uint8_t)r->action;
	store_le32(out + DELAY_AT, r->delay_ms);
	memcpy(out + ELEMENT_AT, r->element, sizeof(r->element));
	memcpy(out + NEXT_AT, r->next, sizeof(r->next));
}

/* Returns: ST_OK; ST_BAD_ENCODING: only the sender's own doing, for the MAC
 * was right. */
static enum status
routing_decode(struct routing *r, const uint8_t in[static ROUTING_SIZE])
{
	static const uint8_t zeros[32];

	if (in[0] < SPHINX_FORWARD || in[0] > SPHINX_REPLY)
		return ST_BAD_ENCODING;
	r->action = (enum sphinx_action)in[0];
	r->delay_ms = load_le32(in + DELAY_AT);
	memcpy(r->element, in + ELEMENT_AT, sizeof(r->element));
	memcpy(r->next, in + NEXT_AT, sizeof(r->next));
	if (memcmp(in + ZEROS_AT, zeros, ROUTING_SIZE - ZEROS_AT) != 0)
		return ST_BAD_ENCODING;
	if (r->action == SPHINX_FORWARD && !x25519_is_valid(r->element))
		return ST_BAD_ENCODING;
	if (r->action == SPHINX_DELIVER &&
	    memcmp(r->element, zeros, sizeof(zeros)) != 0)
		return ST_BAD_ENCODING;
	return ST_OK;
}

/* What the zeros that the first HOPS - 1 hops append will have become. */
static enum status
make_filler(const struct ciphers *c, uint8_t *filler,
    const struct hop_keys *keys, unsigned hops)
{
	uint8_t stream[STREAM_SIZE];
	size_t len = 0;
	enum status st = ST_OK;

	for (unsigned i = 0; i + 1 < hops && st == ST_OK; i++) {
		memset(filler + len, 0, BLOCK_SIZE);
		len += BLOCK_SIZE;
		memset(stream, 0, sizeof(stream));
		st = chacha20_xor(c, keys[i].rho, NULL, stream, sizeof(stream));
		for (size_t j = 0; j < len; j++)
			filler[j] ^= stream[sizeof(stream) - len + j];
	}
	wipe(stream, sizeof(stream));
	return st;
}

enum status
header_build(const struct ciphers *c, sphinx_header_t *header,
    const struct hop_keys *keys, const struct routing *routing, unsigned hops,
    const uint8_t pad[static PAD_MAX])
{
	size_t filler_len = BLOCK_SIZE * (hops - 1);
	size_t own = SPHINX_BETA_SIZE - filler_len;
	uint8_t *beta = header->beta;
	enum status st = make_filler(c, beta + own, keys, hops);

	for (unsigned i = hops; i-- > 0 && st == ST_OK;) {
		if (i == hops - 1) {
			memcpy(beta + ROUTING_SIZE, pad, own - ROUTING_SIZE);
		} else {
			own = SPHINX_BETA_SIZE;
			memmove(beta + BLOCK_SIZE, beta, own - BLOCK_SIZE);
			memcpy(
			    beta + ROUTING_SIZE, header->mac, SPHINX_MAC_SIZE);
		}
		routing_encode(beta, &routing[i]);
		st = chacha20_xor(c, keys[i].rho, NULL, beta, own);
		hmac_sha256_16(header->mac, keys[i].mu, beta, SPHINX_BETA_SIZE);
	}
	return st;
}

enum status
header_peel(const struct ciphers *c, struct routing *out,
    sphinx_header_t *header, const struct hop_keys *keys)
{
	uint8_t mac[SPHINX_MAC_SIZE], plain[STREAM_SIZE];
	enum status st;

	hmac_sha256_16(mac, keys->mu, header->beta, SPHINX_BETA_SIZE);
	bool good = equal_ct(mac, header->mac, sizeof(mac));
	declassify(&good, sizeof(good));
	if (!good)
		return ST_BAD_MAC;
	memcpy(plain, header->beta, SPHINX_BETA_SIZE);
	memset(plain + SPHINX_BETA_SIZE, 0, BLOCK_SIZE);
	st = chacha20_xor(c, keys->rho, NULL, plain, sizeof(plain));
	/* What this hop is told decides what it does. */
	declassify(plain, sizeof(plain));
	if (st == ST_OK)
		st = routing_decode(out, plain);
	if (st == ST_OK && out->action == SPHINX_FORWARD) {
		memcpy(header->element, out->element, sizeof(out->element));
		memcpy(header->beta, plain + BLOCK_SIZE, SPHINX_BETA_SIZE);
		memcpy(header->mac, plain + ROUTING_SIZE, SPHINX_MAC_SIZE);
	}
	wipe(plain, sizeof(plain));
	return st;
}
