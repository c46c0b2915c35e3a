/* OpenSSL 3 deprecates SHA256_Init and its kin in favour of EVP, which takes
 * four times as long for inputs of one block: more than half a microsecond a
 * key, and a hop derives five. They are the same code behind fewer doors. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "sphinx/cipher.h"

#include <limits.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sodium.h>

#include "base/wipe.h"

static const uint8_t zeros[32];

static enum status
make_context(EVP_CIPHER_CTX **out, const EVP_CIPHER *cipher, int encrypt)
{
	*out = EVP_CIPHER_CTX_new();
	if (*out == NULL)
		return ST_NO_MEMORY;
	/* With a key, so that all later calls only replace it. */
	if (EVP_CipherInit_ex(*out, cipher, NULL, zeros, zeros, encrypt) != 1 ||
	    EVP_CIPHER_CTX_set_padding(*out, 0) != 1)
		return ST_NOT_FOUND;
	return ST_OK;
}

static enum status
make_poly1305(EVP_MAC_CTX **out)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "POLY1305", NULL);

	if (mac == NULL)
		return ST_NOT_FOUND;
	*out = EVP_MAC_CTX_new(mac); /* keeps a reference of its own */
	EVP_MAC_free(mac);
	return *out == NULL ? ST_NO_MEMORY : ST_OK;
}

enum status
ciphers_init(struct ciphers *c)
{
	enum status st;

	memset(c, 0, sizeof(*c));
	if ((st = make_context(&c->chacha, EVP_chacha20(), 1)) != ST_OK ||
	    (st = make_context(&c->seal, EVP_chacha20_poly1305(), 1)) !=
		ST_OK ||
	    (st = make_context(&c->open, EVP_chacha20_poly1305(), 0)) !=
		ST_OK ||
	    (st = make_context(&c->block, EVP_aes_256_ecb(), 1)) != ST_OK ||
	    (st = make_context(&c->unblock, EVP_aes_256_ecb(), 0)) != ST_OK ||
	    (st = make_poly1305(&c->poly1305)) != ST_OK)
		ciphers_clear(c);
	return st;
}

void
ciphers_clear(struct ciphers *c)
{
	EVP_CIPHER_CTX_free(c->chacha);
	EVP_CIPHER_CTX_free(c->seal);
	EVP_CIPHER_CTX_free(c->open);
	EVP_CIPHER_CTX_free(c->block);
	EVP_CIPHER_CTX_free(c->unblock);
	EVP_MAC_CTX_free(c->poly1305);
	memset(c, 0, sizeof(*c));
}

void
sha256_two(uint8_t out[static 32], const void *a, size_t a_len, const void *b,
    size_t b_len)
{
	SHA256_CTX h;

	SHA256_Init(&h);
	SHA256_Update(&h, a, a_len);
	SHA256_Update(&h, b, b_len);
	SHA256_Final(out, &h); /* wipes h */
}

void
hmac_sha256_16(uint8_t out[static 16],
    const uint8_t key[static CIPHER_KEY_SIZE], const void *data, size_t len)
{
	uint8_t pad[64], digest[32];

	/* RFC 2104, for a key shorter than a block. */
	memset(pad, 0x36, sizeof(pad));
	for (size_t i = 0; i < CIPHER_KEY_SIZE; i++)
		pad[i] ^= key[i];
	sha256_two(digest, pad, sizeof(pad), data, len);
	for (size_t i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36 ^ 0x5c;
	sha256_two(digest, pad, sizeof(pad), digest, sizeof(digest));
	memcpy(out, digest, 16);
	wipe(pad, sizeof(pad));
	wipe(digest, sizeof(digest));
}

/* IV is as OpenSSL has it: block counter, then nonce. */
static enum status
chacha20_iv(const struct ciphers *c, const uint8_t *key, const uint8_t iv[16],
    uint8_t *data, size_t len)
{
	int done;

	if (len > INT_MAX ||
	    EVP_EncryptInit_ex(c->chacha, NULL, NULL, key, iv) != 1 ||
	    EVP_EncryptUpdate(c->chacha, data, &done, data, (int)len) != 1 ||
	    (size_t)done != len)
		return ST_INTERNAL;
	return ST_OK;
}

enum status
chacha20_xor(const struct ciphers *c, const uint8_t key[static CIPHER_KEY_SIZE],
    const uint8_t *nonce, uint8_t *data, size_t len)
{
	uint8_t iv[16] = {0};

	if (nonce != NULL)
		memcpy(iv + 4, nonce, 12);
	return chacha20_iv(c, key, iv, data, len);
}

enum status
xchacha20_xor(const struct ciphers *c,
    const uint8_t key[static CIPHER_KEY_SIZE], const uint8_t nonce[static 24],
    uint8_t *data, size_t len)
{
	uint8_t subkey[CIPHER_KEY_SIZE], iv[16] = {0};
	enum status st;

	crypto_core_hchacha20(subkey, nonce, key, NULL);
	memcpy(iv + 8, nonce + 16, 8);
	st = chacha20_iv(c, subkey, iv, data, len);
	wipe(subkey, sizeof(subkey));
	return st;
}

enum status
aead_seal(const struct ciphers *c, const uint8_t key[static CIPHER_KEY_SIZE],
    uint8_t *data, size_t len)
{
	int done, rest;

	if (len > INT_MAX ||
	    EVP_EncryptInit_ex(c->seal, NULL, NULL, key, zeros) != 1 ||
	    EVP_EncryptUpdate(c->seal, data, &done, data, (int)len) != 1 ||
	    (size_t)done != len ||
	    EVP_EncryptFinal_ex(c->seal, data + len, &rest) != 1 ||
	    EVP_CIPHER_CTX_ctrl(
		c->seal, EVP_CTRL_AEAD_GET_TAG, POLY1305_SIZE, data + len) != 1)
		return ST_INTERNAL;
	return ST_OK;
}

enum status
aead_open(const struct ciphers *c, const uint8_t key[static CIPHER_KEY_SIZE],
    uint8_t *data, size_t len)
{
	int done, rest;

	if (len > INT_MAX ||
	    EVP_DecryptInit_ex(c->open, NULL, NULL, key, zeros) != 1 ||
	    EVP_CIPHER_CTX_ctrl(c->open, EVP_CTRL_AEAD_SET_TAG, POLY1305_SIZE,
		data + len) != 1 ||
	    EVP_DecryptUpdate(c->open, data, &done, data, (int)len) != 1 ||
	    (size_t)done != len)
		return ST_INTERNAL;
	return EVP_DecryptFinal_ex(c->open, data + len, &rest) == 1
	    ? ST_OK
	    : ST_CORRUPT;
}

enum status
poly1305(const struct ciphers *c, uint8_t out[static POLY1305_SIZE],
    const uint8_t key[static CIPHER_KEY_SIZE], const void *data, size_t len)
{
	size_t done;

	if (EVP_MAC_init(c->poly1305, key, CIPHER_KEY_SIZE, NULL) != 1 ||
	    EVP_MAC_update(c->poly1305, data, len) != 1 ||
	    EVP_MAC_final(c->poly1305, out, &done, POLY1305_SIZE) != 1 ||
	    done != POLY1305_SIZE)
		return ST_INTERNAL;
	return ST_OK;
}

enum status
aes256_block(const struct ciphers *c, const uint8_t key[static CIPHER_KEY_SIZE],
    uint8_t block[static AES_BLOCK_SIZE])
{
	int done;

	if (EVP_EncryptInit_ex(c->block, NULL, NULL, key, NULL) != 1 ||
	    EVP_EncryptUpdate(c->block, block, &done, block, AES_BLOCK_SIZE) !=
		1 ||
	    done != AES_BLOCK_SIZE)
		return ST_INTERNAL;
	return ST_OK;
}

enum status
aes256_unblock(const struct ciphers *c,
    const uint8_t key[static CIPHER_KEY_SIZE],
    uint8_t block[static AES_BLOCK_SIZE])
{
	int done;

	if (EVP_DecryptInit_ex(c->unblock, NULL, NULL, key, NULL) != 1 ||
	    EVP_DecryptUpdate(
		c->unblock, block, &done, block, AES_BLOCK_SIZE) != 1 ||
	    done != AES_BLOCK_SIZE)
		return ST_INTERNAL;
	return ST_OK;
}
