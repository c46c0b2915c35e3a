#include "client/site.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/bytes.h"

/* A host name, and a gateway's key behind it. */
#define HASHED_MAX (256 + 32)

/* The key of the hash for PURPOSE and EPOCH. */
static void
derive(uint8_t key[static crypto_shorthash_KEYBYTES],
    const uint8_t secret[static SITE_SECRET_LENGTH], const char *purpose,
    uint64_t epoch)
{
	crypto_generichash_state state;
	uint8_t number[8];

	store_be64(number, epoch);
	crypto_generichash_init(
	    &state, secret, SITE_SECRET_LENGTH, crypto_shorthash_KEYBYTES);
	crypto_generichash_update(
	    &state, (const uint8_t *)purpose, strlen(purpose) + 1);
	crypto_generichash_update(&state, number, sizeof(number));
	crypto_generichash_final(&state, key, crypto_shorthash_KEYBYTES);
	sodium_memzero(&state, sizeof(state));
}

/* Hash HOST and the LEN bytes at EXTRA. */
static uint64_t
hash(const uint8_t key[static crypto_shorthash_KEYBYTES], span_t host,
    const uint8_t *extra, size_t len)
{
	uint8_t in[HASHED_MAX], out[crypto_shorthash_BYTES];
	size_t n = host.len < HASHED_MAX - len ? host.len : HASHED_MAX - len;

	for (size_t i = 0; i < n; i++)
		in[i] = ascii_lower(host.ptr[i]);
	if (len > 0)
		memcpy(in + n, extra, len);
	crypto_shorthash(out, in, n + len, key);
	return load_be64(out);
}

uint64_t
site_hash(const uint8_t secret[static SITE_SECRET_LENGTH], const char *purpose,
    uint64_t epoch, span_t host)
{
	uint8_t key[crypto_shorthash_KEYBYTES];
	uint64_t h;

	derive(key, secret, purpose, epoch);
	h = hash(key, host, NULL, 0);
	sodium_memzero(key, sizeof(key));
	return h;
}

uint16_t
site_slot(const uint8_t secret[static SITE_SECRET_LENGTH], uint64_t epoch,
    span_t host, uint32_t slots)
{
	/* Slots are few: the bias of the remainder is below 2^-53. */
	return (uint16_t)(site_hash(secret, "slot", epoch, host) % slots);
}

void
site_rank(unsigned order[static SITE_GATEWAYS_MAX],
    const uint8_t secret[static SITE_SECRET_LENGTH],
    const struct site_gateway *gateways, unsigned n, span_t host)
{
	double score[SITE_GATEWAYS_MAX];
	uint8_t key[crypto_shorthash_KEYBYTES];

	derive(key, secret, "gateway", 0);
	for (unsigned i = 0; i < n; i++) {
		/* u in (0, 1]; -ln(u) / w is exponential with rate w, and of
		 * several such the least is i's with a chance of w_i / sum. */
		uint64_t h = hash(key, host, gateways[i].key, 32);
		double u = ((double)(h >> 11) + 1) * 0x1p-53;
		unsigned at = i;
		score[i] = -log(u) / gateways[i].weight;
		while (at > 0 && score[order[at - 1]] > score[i]) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
	sodium_memzero(key, sizeof(key));
}

void
site_circuit(
    char out[static SITE_CIRCUIT_MAX], uint64_t hash_, uint64_t generation)
{
	snprintf(out, SITE_CIRCUIT_MAX, "%016" PRIx64 "-%" PRIx64, hash_,
	    generation);
}
