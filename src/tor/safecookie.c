#include "tor/safecookie.h"

#include <sodium.h>
#include <string.h>

#include "base/wipe.h"

static void
hash(uint8_t out[static SAFECOOKIE_SIZE], const char *key,
    const struct safecookie *s)
{
	crypto_auth_hmacsha256_state state;

	crypto_auth_hmacsha256_init(
	    &state, (const unsigned char *)key, strlen(key));
	crypto_auth_hmacsha256_update(&state, s->cookie, sizeof(s->cookie));
	crypto_auth_hmacsha256_update(
	    &state, s->client_nonce, sizeof(s->client_nonce));
	crypto_auth_hmacsha256_update(
	    &state, s->server_nonce, sizeof(s->server_nonce));
	crypto_auth_hmacsha256_final(&state, out);
	wipe(&state, sizeof(state));
}

void
safecookie_server_hash(
    uint8_t out[static SAFECOOKIE_SIZE], const struct safecookie *s)
{
	hash(
	    out, "Tor safe cookie authentication server-to-controller hash", s);
}

void
safecookie_client_hash(
    uint8_t out[static SAFECOOKIE_SIZE], const struct safecookie *s)
{
	hash(
	    out, "Tor safe cookie authentication controller-to-server hash", s);
}
