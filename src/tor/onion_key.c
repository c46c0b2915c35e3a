#include "tor/onion_key.h"

#include <string.h>

#include <sodium.h>

#include "base/text.h"
#include "base/wipe.h"

#define HEAD_SIZE 32

static const char head[HEAD_SIZE] = "== ed25519v1-secret: type0 ==";

/* The public half. Returns: ST_OK; ST_WEAK_KEY. */
static enum status
derive(struct onion_key *k)
{
	const uint8_t *s = k->expanded;

	/* RFC 8032, 5.1.5: a multiple of eight, bit 254 the highest. */
	if ((s[0] & 7) != 0 || (s[31] & 0xc0) != 0x40 ||
	    crypto_scalarmult_ed25519_base_noclamp(k->public_key, s) != 0) {
		wipe(k, sizeof(*k));
		return ST_WEAK_KEY;
	}
	return ST_OK;
}

void
onion_key_make(struct onion_key *k, const uint8_t seed[static ONION_KEY_SEED])
{
	crypto_hash_sha512(k->expanded, seed, ONION_KEY_SEED);
	k->expanded[0] &= 248;
	k->expanded[31] &= 63;
	k->expanded[31] |= 64;
	(void)!derive(k); /* what is clamped is never weak */
}

enum status
onion_key_parse(struct onion_key *k, const void *file, size_t len)
{
	const uint8_t *p = file;

	memset(k, 0, sizeof(*k));
	if (len != ONION_KEY_FILE_SIZE)
		return ST_BAD_LENGTH;
	if (memcmp(p, head, HEAD_SIZE) != 0)
		return ST_BAD_VERSION;
	memcpy(k->expanded, p + HEAD_SIZE, ONION_KEY_SIZE);
	return derive(k);
}

void
onion_key_write(
    uint8_t file[static ONION_KEY_FILE_SIZE], const struct onion_key *k)
{
	memcpy(file, head, HEAD_SIZE);
	memcpy(file + HEAD_SIZE, k->expanded, ONION_KEY_SIZE);
}

static void
add_number(struct out *o, const char *name, uint32_t n)
{
	out_str(o, name);
	out_decimal(o, n);
}

static void
add_clients(struct out *o, const struct onion_clients *clients)
{
	char text[ONION_CLIENT_TEXT + 1];

	for (size_t i = 0; i < clients->n; i++) {
		base32_encode(text, span_of(clients->key[i], ONION_CLIENT_KEY));
		out_str(o, " ClientAuthV3=");
		out_str(o, text);
	}
}

void
onion_key_add(
    struct out *o, const struct onion_key *k, const struct onion_service *s)
{
	char text[96];

	base64_encode(
	    text, span_of(k->expanded, ONION_KEY_SIZE), BASE64_STANDARD);
	out_str(o, "ADD_ONION ED25519-V3:");
	out_str(o, text);
	wipe(text, sizeof(text));
	out_str(o, " Flags=DiscardPK,MaxStreamsCloseCircuit");
	/* Tor refuses the flag without a client. */
	out_str(o, s->clients != NULL ? ",V3Auth" : "");
	add_number(o, " MaxStreams=", s->streams);
	if (s->pow) {
		add_number(
		    o, " PoWDefensesEnabled=1 PoWQueueRate=", s->pow_rate);
		add_number(o, " PoWQueueBurst=", s->pow_burst);
	}
	add_number(o, " Port=", s->port);
	out_str(o, ",");
	out_str(o, s->target);
	if (s->clients != NULL)
		add_clients(o, s->clients);
	out_str(o, "\r\n");
}
