/* The border of the memory sanitizer: libraries that were built without it.
 *
 * The sanitizer sees what code compiled with it writes. What GMP, libsodium,
 * OpenSSL and jansson write stays undefined in its eyes, so each of their
 * functions that the pure layers or their tests call and that writes into
 * memory of ours has a wrapper here, which calls it (ld --wrap) and then calls
 * defined exactly what it has written. The libraries' own memory comes zeroed,
 * hence defined, as their macros read in it. The Makefile takes the list of
 * functions from this file; a function that is missing here shows itself by a
 * false report.
 *
 * Only programs of a SAN=memory build are linked with it.
 */
#include <gmp.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sanitizer/msan_interface.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A prototype of both, and the head of the wrapper. */
#define WRAP(TYPE, NAME, ...)            \
	TYPE __real_##NAME(__VA_ARGS__); \
	TYPE __wrap_##NAME(__VA_ARGS__); \
	TYPE __wrap_##NAME(__VA_ARGS__)

#define LIMBS(N) ((size_t)(N) * sizeof(mp_limb_t))
typedef unsigned long long ull;

static void
defined(const void *p, size_t len)
{
	if (p != NULL)
		__msan_unpoison(p, len);
}

/* --- memory --- */

static void *
zeroed(size_t size)
{
	return calloc(1, size);
}

/* What grows is not known by its old size here: all of it counts as defined. */
static void *
zeroed_again(void *old, size_t size)
{
	void *p = realloc(old, size);

	defined(p, size);
	return p;
}

static void *
gmp_again(void *old, size_t before, size_t size)
{
	(void)before;
	return zeroed_again(old, size);
}

static void
gmp_free(void *p, size_t size)
{
	(void)size;
	free(p);
}

static void *
openssl_zeroed(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return zeroed(size);
}

static void *
openssl_again(void *old, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return zeroed_again(old, size);
}

static void
openssl_free(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	free(p);
}

__attribute__((constructor)) static void
give_memory(void)
{
	mp_set_memory_functions(zeroed, gmp_again, gmp_free);
	json_set_alloc_funcs(zeroed, free);
	CRYPTO_set_mem_functions(openssl_zeroed, openssl_again, openssl_free);
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
}

/* The sanitizer looks at what these are given by the libraries too, whose
 * buffers on the stack it has not seen filled. Code of ours that reads such
 * bytes is still seen. */
const char *__msan_default_options(void);

const char *
__msan_default_options(void)
{
	return "intercept_strlen=0:intercept_strchr=0:intercept_strcmp=0:"
	       "intercept_memcmp=0";
}

/* --- libc: what clang 14 has no interceptor for --- */

WRAP(void, explicit_bzero, void *p, size_t len)
{
	__real_explicit_bzero(p, len);
	defined(p, len);
}

WRAP(int, stat64, const char *path, struct stat *st)
{
	int rc = __real_stat64(path, st);

	defined(st, sizeof(*st));
	return rc;
}

WRAP(int, fstat64, int fd, struct stat *st)
{
	int rc = __real_fstat64(fd, st);

	defined(st, sizeof(*st));
	return rc;
}

/* --- GMP: limbs --- */

WRAP(mp_limb_t, __gmpn_add_n, mp_limb_t *r, const mp_limb_t *a,
    const mp_limb_t *b, mp_size_t n)
{
	mp_limb_t carry = __real___gmpn_add_n(r, a, b, n);

	defined(r, LIMBS(n));
	return carry;
}

WRAP(mp_limb_t, __gmpn_sub_n, mp_limb_t *r, const mp_limb_t *a,
    const mp_limb_t *b, mp_size_t n)
{
	mp_limb_t borrow = __real___gmpn_sub_n(r, a, b, n);

	defined(r, LIMBS(n));
	return borrow;
}

WRAP(mp_limb_t, __gmpn_addmul_1, mp_limb_t *r, const mp_limb_t *a, mp_size_t n,
    mp_limb_t b)
{
	mp_limb_t carry = __real___gmpn_addmul_1(r, a, n, b);

	defined(r, LIMBS(n));
	return carry;
}

WRAP(void, __gmpn_mul_n, mp_limb_t *r, const mp_limb_t *a, const mp_limb_t *b,
    mp_size_t n)
{
	__real___gmpn_mul_n(r, a, b, n);
	defined(r, LIMBS(2 * n));
}

WRAP(mp_size_t, __gmpn_gcdext, mp_limb_t *g, mp_limb_t *s, mp_size_t *sn,
    mp_limb_t *u, mp_size_t un, mp_limb_t *v, mp_size_t vn)
{
	mp_size_t n = __real___gmpn_gcdext(g, s, sn, u, un, v, vn);

	defined(sn, sizeof(*sn));
	defined(g, LIMBS(n));
	defined(s, LIMBS(*sn < 0 ? -*sn : *sn));
	return n;
}

/* --- GMP: the tests' integers. What initializes one; later writes go to what
 * is defined by then. --- */

WRAP(void, __gmpz_init, mpz_ptr x)
{
	__real___gmpz_init(x);
	defined(x, sizeof(*x));
}

WRAP(void, __gmpz_inits, mpz_ptr x, ...)
{
	va_list more;

	va_start(more, x);
	for (; x != NULL; x = va_arg(more, mpz_ptr))
		__wrap___gmpz_init(x);
	va_end(more);
}

WRAP(void, __gmpz_init_set, mpz_ptr x, mpz_srcptr from)
{
	__real___gmpz_init_set(x, from);
	defined(x, sizeof(*x));
}

WRAP(void, __gmpz_init_set_ui, mpz_ptr x, unsigned long value)
{
	__real___gmpz_init_set_ui(x, value);
	defined(x, sizeof(*x));
}

WRAP(void, __gmpz_init_set_si, mpz_ptr x, long value)
{
	__real___gmpz_init_set_si(x, value);
	defined(x, sizeof(*x));
}

WRAP(int, __gmpz_init_set_str, mpz_ptr x, const char *text, int base)
{
	int rc = __real___gmpz_init_set_str(x, text, base);

	defined(x, sizeof(*x));
	return rc;
}

WRAP(void *, __gmpz_export, void *out, size_t *count, int order, size_t size,
    int endian, size_t nails, mpz_srcptr x)
{
	size_t words;
	void *p =
	    __real___gmpz_export(out, &words, order, size, endian, nails, x);

	defined(&words, sizeof(words));
	if (count != NULL)
		*count = words;
	defined(p, words * size);
	return p;
}

WRAP(char *, __gmpz_get_str, char *out, int base, mpz_srcptr x)
{
	char *text = __real___gmpz_get_str(out, base, x);

	defined(text, mpz_sizeinbase(x, base < 0 ? -base : base) + 2);
	return text;
}

/* --- jansson, which reads in the error too --- */

WRAP(json_t *, json_loadb, const char *text, size_t len, size_t flags,
    json_error_t *error)
{
	defined(error, sizeof(*error));
	return __real_json_loadb(text, len, flags, error);
}

WRAP(json_t *, json_loads, const char *text, size_t flags, json_error_t *error)
{
	defined(error, sizeof(*error));
	return __real_json_loads(text, flags, error);
}

/* --- libsodium --- */

WRAP(int, crypto_aead_xchacha20poly1305_ietf_encrypt, uint8_t *out,
    ull *out_len, const uint8_t *in, ull in_len, const uint8_t *ad, ull ad_len,
    const uint8_t *secret, const uint8_t *nonce, const uint8_t *key)
{
	int rc = __real_crypto_aead_xchacha20poly1305_ietf_encrypt(
	    out, out_len, in, in_len, ad, ad_len, secret, nonce, key);

	defined(out_len, sizeof(*out_len));
	defined(out, in_len + crypto_aead_xchacha20poly1305_ietf_ABYTES);
	return rc;
}

WRAP(int, crypto_aead_xchacha20poly1305_ietf_decrypt, uint8_t *out,
    ull *out_len, uint8_t *secret, const uint8_t *in, ull in_len,
    const uint8_t *ad, ull ad_len, const uint8_t *nonce, const uint8_t *key)
{
	int rc = __real_crypto_aead_xchacha20poly1305_ietf_decrypt(
	    out, out_len, secret, in, in_len, ad, ad_len, nonce, key);

	defined(out_len, sizeof(*out_len));
	/* On failure it writes zeros. */
	if (in_len >= crypto_aead_xchacha20poly1305_ietf_ABYTES)
		defined(
		    out, in_len - crypto_aead_xchacha20poly1305_ietf_ABYTES);
	return rc;
}

WRAP(int, crypto_core_hchacha20, uint8_t *out, const uint8_t *in,
    const uint8_t *key, const uint8_t *constant)
{
	int rc = __real_crypto_core_hchacha20(out, in, key, constant);

	defined(out, crypto_core_hchacha20_OUTPUTBYTES);
	return rc;
}

WRAP(int, crypto_generichash, uint8_t *out, size_t len, const uint8_t *in,
    ull in_len, const uint8_t *key, size_t key_len)
{
	int rc = __real_crypto_generichash(out, len, in, in_len, key, key_len);

	defined(out, len);
	return rc;
}

WRAP(int, crypto_generichash_blake2b_salt_personal, uint8_t *out, size_t len,
    const uint8_t *in, ull in_len, const uint8_t *key, size_t key_len,
    const uint8_t *salt, const uint8_t *personal)
{
	int rc = __real_crypto_generichash_blake2b_salt_personal(
	    out, len, in, in_len, key, key_len, salt, personal);

	defined(out, len);
	return rc;
}

WRAP(int, crypto_hash_sha256, uint8_t *out, const uint8_t *in, ull len)
{
	int rc = __real_crypto_hash_sha256(out, in, len);

	defined(out, crypto_hash_sha256_BYTES);
	return rc;
}

WRAP(int, crypto_hash_sha256_init, crypto_hash_sha256_state *state)
{
	int rc = __real_crypto_hash_sha256_init(state);

	defined(state, sizeof(*state));
	return rc;
}

WRAP(int, crypto_hash_sha256_final, crypto_hash_sha256_state *state,
    uint8_t *out)
{
	int rc = __real_crypto_hash_sha256_final(state, out);

	defined(out, crypto_hash_sha256_BYTES);
	return rc;
}

WRAP(int, crypto_kdf_derive_from_key, uint8_t *out, size_t len, uint64_t id,
    const char *context, const uint8_t *key)
{
	int rc = __real_crypto_kdf_derive_from_key(out, len, id, context, key);

	defined(out, len);
	return rc;
}

WRAP(int, crypto_pwhash, uint8_t *out, ull len, const char *password,
    ull password_len, const uint8_t *salt, ull ops, size_t memory, int kind)
{
	int rc = __real_crypto_pwhash(
	    out, len, password, password_len, salt, ops, memory, kind);

	defined(out, len);
	return rc;
}

WRAP(int, crypto_scalarmult, uint8_t *out, const uint8_t *n, const uint8_t *p)
{
	int rc = __real_crypto_scalarmult(out, n, p);

	defined(out, crypto_scalarmult_BYTES);
	return rc;
}

WRAP(int, crypto_scalarmult_base, uint8_t *out, const uint8_t *n)
{
	int rc = __real_crypto_scalarmult_base(out, n);

	defined(out, crypto_scalarmult_BYTES);
	return rc;
}

WRAP(int, crypto_shorthash, uint8_t *out, const uint8_t *in, ull len,
    const uint8_t *key)
{
	int rc = __real_crypto_shorthash(out, in, len, key);

	defined(out, crypto_shorthash_BYTES);
	return rc;
}

WRAP(int, sodium_base642bin, uint8_t *out, size_t cap, const char *text,
    size_t len, const char *ignore, size_t *out_len, const char **end,
    int variant)
{
	int rc = __real_sodium_base642bin(
	    out, cap, text, len, ignore, out_len, end, variant);

	defined(out_len, sizeof(*out_len));
	defined(end, sizeof(*end));
	if (rc == 0 && out_len != NULL)
		defined(out, *out_len);
	return rc;
}

WRAP(char *, sodium_bin2base64, char *out, size_t cap, const uint8_t *in,
    size_t len, int variant)
{
	char *text = __real_sodium_bin2base64(out, cap, in, len, variant);

	defined(out, cap); /* it fills the rest with zeros */
	return text;
}

/* --- OpenSSL --- */

WRAP(int, SHA256_Init, SHA256_CTX *x)
{
	int rc = __real_SHA256_Init(x);

	defined(x, sizeof(*x));
	return rc;
}

WRAP(int, SHA256_Final, uint8_t *out, SHA256_CTX *x)
{
	int rc = __real_SHA256_Final(out, x);

	defined(out, SHA256_DIGEST_LENGTH);
	return rc;
}

WRAP(int, EVP_CIPHER_CTX_ctrl, EVP_CIPHER_CTX *x, int what, int n, void *p)
{
	int rc = __real_EVP_CIPHER_CTX_ctrl(x, what, n, p);

	if (what == EVP_CTRL_AEAD_GET_TAG && rc == 1)
		defined(p, (size_t)n);
	return rc;
}

WRAP(int, EVP_EncryptUpdate, EVP_CIPHER_CTX *x, uint8_t *out, int *len,
    const uint8_t *in, int in_len)
{
	int rc = __real_EVP_EncryptUpdate(x, out, len, in, in_len);

	defined(len, sizeof(*len));
	if (rc == 1)
		defined(out, (size_t)*len);
	return rc;
}

WRAP(int, EVP_DecryptUpdate, EVP_CIPHER_CTX *x, uint8_t *out, int *len,
    const uint8_t *in, int in_len)
{
	int rc = __real_EVP_DecryptUpdate(x, out, len, in, in_len);

	defined(len, sizeof(*len));
	if (rc == 1)
		defined(out, (size_t)*len);
	return rc;
}

WRAP(int, EVP_EncryptFinal_ex, EVP_CIPHER_CTX *x, uint8_t *out, int *len)
{
	int rc = __real_EVP_EncryptFinal_ex(x, out, len);

	defined(len, sizeof(*len));
	if (rc == 1)
		defined(out, (size_t)*len);
	return rc;
}

WRAP(int, EVP_DecryptFinal_ex, EVP_CIPHER_CTX *x, uint8_t *out, int *len)
{
	int rc = __real_EVP_DecryptFinal_ex(x, out, len);

	defined(len, sizeof(*len));
	if (rc == 1)
		defined(out, (size_t)*len);
	return rc;
}

WRAP(int, EVP_MAC_final, EVP_MAC_CTX *x, uint8_t *out, size_t *len, size_t cap)
{
	int rc = __real_EVP_MAC_final(x, out, len, cap);

	defined(len, sizeof(*len));
	if (rc == 1 && len != NULL)
		defined(out, *len);
	return rc;
}

WRAP(int, EVP_PKEY_derive, EVP_PKEY_CTX *x, uint8_t *out, size_t *len)
{
	int rc = __real_EVP_PKEY_derive(x, out, len);

	defined(len, sizeof(*len));
	if (rc == 1)
		defined(out, *len);
	return rc;
}
