#include "mix/tls.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sodium.h>

#include "base/wipe.h"

struct tls {
	SSL_CTX *client, *server; /* server: NULL when it only connects */
};

/* Where a session keeps its pin. */
#define PIN_SLOT 0

static EVP_PKEY *
link_key(const uint8_t secret[static SPHINX_KEY_SIZE])
{
	static const char label[] = "postern/link";
	uint8_t seed[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state h;
	EVP_PKEY *key;

	crypto_hash_sha256_init(&h);
	crypto_hash_sha256_update(
	    &h, (const uint8_t *)label, sizeof(label) - 1);
	crypto_hash_sha256_update(&h, secret, SPHINX_KEY_SIZE);
	crypto_hash_sha256_final(&h, seed);
	wipe(&h, sizeof(h));
	key = EVP_PKEY_new_raw_private_key(
	    EVP_PKEY_ED25519, NULL, seed, sizeof(seed));
	wipe(seed, sizeof(seed));
	return key;
}

enum status
tls_pin_of(uint8_t pin[static TLS_PIN_SIZE],
    const uint8_t secret[static SPHINX_KEY_SIZE])
{
	EVP_PKEY *key = link_key(secret);
	size_t len = TLS_PIN_SIZE;
	int good = key != NULL && EVP_PKEY_get_raw_public_key(key, pin, &len);

	EVP_PKEY_free(key);
	return good == 1 && len == TLS_PIN_SIZE ? ST_OK : ST_INTERNAL;
}

/* A certificate that says nothing but the key. */
static X509 *
certificate(EVP_PKEY *key)
{
	X509 *x = X509_new();

	if (x != NULL && X509_set_version(x, X509_VERSION_3) == 1 &&
	    ASN1_INTEGER_set(X509_get_serialNumber(x), 1) == 1 &&
	    ASN1_TIME_set_string(X509_getm_notBefore(x), "700101000000Z") ==
		1 &&
	    ASN1_TIME_set_string(X509_getm_notAfter(x), "99991231235959Z") ==
		1 &&
	    X509_set_pubkey(x, key) == 1 && X509_sign(x, key, NULL) > 0)
		return x;
	X509_free(x);
	return NULL;
}

/* Instead of any other check: the peer's key is the session's pin. */
static int
check_pin(X509_STORE_CTX *store, void *arg)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(
	    store, SSL_get_ex_data_X509_STORE_CTX_idx());
	X509 *x = X509_STORE_CTX_get0_cert(store);
	EVP_PKEY *key = x != NULL ? X509_get0_pubkey(x) : NULL;
	const uint8_t *pin =
	    ssl != NULL ? SSL_get_ex_data(ssl, PIN_SLOT) : NULL;
	uint8_t got[TLS_PIN_SIZE];
	size_t len = sizeof(got);

	(void)arg;
	return pin != NULL && key != NULL &&
	    EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 &&
	    EVP_PKEY_get_raw_public_key(key, got, &len) == 1 &&
	    len == sizeof(got) && equal_ct(got, pin, sizeof(got));
}

static SSL_CTX *
make_context(const SSL_METHOD *method)
{
	/* Not const: the macros below cast. */
	char groups[] = "X25519", sigalgs[] = "ed25519";
	SSL_CTX *c = SSL_CTX_new(method);

	if (c == NULL)
		return NULL;
	SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(c,
	    SSL_MODE_ENABLE_PARTIAL_WRITE |
		SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	if (SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_max_proto_version(c, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_num_tickets(c, 0) != 1 ||
	    SSL_CTX_set1_groups_list(c, groups) != 1 ||
	    SSL_CTX_set1_sigalgs_list(c, sigalgs) != 1) {
		SSL_CTX_free(c);
		return NULL;
	}
	return c;
}

static enum status
make_server(struct tls *t, const uint8_t secret[static SPHINX_KEY_SIZE])
{
	EVP_PKEY *key = link_key(secret);
	X509 *x = key != NULL ? certificate(key) : NULL;
	bool good = false;

	t->server = make_context(TLS_server_method());
	if (t->server != NULL && x != NULL)
		good = SSL_CTX_use_certificate(t->server, x) == 1 &&
		    SSL_CTX_use_PrivateKey(t->server, key) == 1;
	X509_free(x);
	EVP_PKEY_free(key);
	return good ? ST_OK : ST_INTERNAL;
}

enum status
tls_new(struct tls **out, const uint8_t *secret)
{
	struct tls *t = calloc(1, sizeof(*t));
	enum status st = ST_OK;

	*out = t;
	if (t == NULL)
		return ST_NO_MEMORY;
	t->client = make_context(TLS_client_method());
	if (t->client == NULL) {
		st = ST_INTERNAL;
	} else {
		SSL_CTX_set_verify(t->client, SSL_VERIFY_PEER, NULL);
		SSL_CTX_set_cert_verify_callback(t->client, check_pin, NULL);
	}
	if (st == ST_OK && secret != NULL)
		st = make_server(t, secret);
	if (st != ST_OK)
		tls_free(out);
	ERR_clear_error();
	return st;
}

void
tls_free(struct tls **t)
{
	if (*t == NULL)
		return;
	SSL_CTX_free((*t)->client);
	SSL_CTX_free((*t)->server);
	free(*t);
	*t = NULL;
}

SSL *
tls_connect(const struct tls *t, int fd, const uint8_t pin[static TLS_PIN_SIZE])
{
	SSL *ssl = SSL_new(t->client);

	if (ssl == NULL)
		return NULL;
	/* The pin outlives the session: it is in the link. */
	if (SSL_set_fd(ssl, fd) != 1 ||
	    /* const is cast away. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	    SSL_set_ex_data(ssl, PIN_SLOT, (void *)(uintptr_t)pin) != 1) {
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_connect_state(ssl);
	return ssl;
}

SSL *
tls_accept(const struct tls *t, int fd)
{
	SSL *ssl = t->server != NULL ? SSL_new(t->server) : NULL;

	if (ssl == NULL)
		return NULL;
	if (SSL_set_fd(ssl, fd) != 1) {
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_accept_state(ssl);
	return ssl;
}
