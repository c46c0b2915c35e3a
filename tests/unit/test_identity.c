/* Baby Jubjub, identities and their files. */
#include "json_util.h"

#include <sodium.h>

#include "base/text.h"
#include "postern/identity.h"
#include "semaphore/babyjub.h"

/* Argon2id at its cheapest: the format is tested here, not the cost. */
static const struct identity_cost cheap = {.operations = 1, .kibibytes = 8};

static void
check_decimal(const uint8_t got[static 32], const char *want)
{
	char text[DECIMAL_MAX];

	decimal_encode(text, got);
	CHECK_STR(text, want);
}

/* Every identity of the official library is reproduced, by key and by
 * export. */
static void
test_vectors(void)
{
	json_t *all = json_vectors("vectors/identities.json"), *one;
	size_t i;

	json_array_foreach(all, i, one)
	{
		struct identity id;
		char export[IDENTITY_EXPORT_MAX];
		uint8_t key[64];
		size_t len;
		const char *hex =
		    json_string_value(json_object_get(one, "privateKeyHex"));
		if (hex != NULL) {
			len = strlen(hex) / 2;
			CHECK(len <= sizeof(key));
			CHECK_STATUS(
			    hex_decode(key, len, span_str(hex)), ST_OK);
		} else {
			const char *text = json_member(one, "privateKeyText");
			len = strlen(text);
			CHECK(len <= sizeof(key));
			memcpy(key, text, len);
		}
		for (unsigned way = 0; way < 2; way++) {
			const char *b64 = json_member(one, "export");
			if (way == 0)
				CHECK_STATUS(
				    identity_derive(&id, key, len), ST_OK);
			else
				CHECK_STATUS(
				    identity_import(&id, b64, strlen(b64)),
				    ST_OK);
			CHECK_INT(id.key_len, len);
			CHECK_MEM(id.key, key, len);
			check_decimal(
			    id.secret, json_member(one, "secretScalar"));
			check_decimal(
			    id.commitment, json_member(one, "commitment"));
			json_t *public = json_object_get(one, "publicKey");
			check_decimal(id.public_x,
			    json_string_value(json_array_get(public, 0)));
			check_decimal(id.public_y,
			    json_string_value(json_array_get(public, 1)));
			identity_export(export, &id);
			CHECK_STR(export, b64);
			identity_clear(&id);
			for (size_t b = 0; b < sizeof(id); b++)
				CHECK(((uint8_t *)&id)[b] == 0);
		}
	}
	CHECK_INT(i, 17);
	json_decref(all);
}

static void
test_import_refuses(void)
{
	static const struct {
		const char *text;
		enum status want;
	} cases[] = {
	    {"YWxpY2U", ST_BAD_LENGTH}, /* no padding */
	    {"YWxpY2V=", ST_BAD_ENCODING}, /* spare bits that are not 0 */
	    {"YWxp Y2U", ST_BAD_ENCODING},
	    {"YWxpY2U\n", ST_BAD_ENCODING},
	    {"YWxp-2U=", ST_BAD_ENCODING}, /* base64url */
	    {"YWxp====", ST_BAD_ENCODING},
	    {"====", ST_BAD_ENCODING},
	    {"Y===", ST_BAD_ENCODING},
	    {"YW=pY2U=", ST_BAD_ENCODING},
	    {"\316\316\316\316", ST_BAD_ENCODING},
	};
	struct identity id;
	char text[IDENTITY_EXPORT_MAX + 8];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&id, 0xaa, sizeof(id));
		CHECK_STATUS(
		    identity_import(&id, cases[i].text, strlen(cases[i].text)),
		    cases[i].want);
		CHECK(id.key_len == 0 && id.secret[31] == 0);
	}
	/* 1024 bytes are the most, 1025 one too many. */
	uint8_t key[IDENTITY_KEY_MAX + 1];
	test_random_bytes(key, sizeof(key));
	base64_encode(text, span_of(key, IDENTITY_KEY_MAX), BASE64_STANDARD);
	CHECK_STATUS(identity_import(&id, text, strlen(text)), ST_OK);
	CHECK_MEM(id.key, key, IDENTITY_KEY_MAX);
	base64_encode(text, span_of(key, sizeof(key)), BASE64_STANDARD);
	CHECK_STATUS(identity_import(&id, text, strlen(text)), ST_NO_SPACE);
	CHECK_STATUS(identity_derive(&id, key, sizeof(key)), ST_BAD_LENGTH);
}

/* --- Baby Jubjub --- */

static bool
same_point(const babyjub_t *p, const babyjub_t *q)
{
	return fr_eq(&p->x, &q->x) && fr_eq(&p->y, &q->y);
}

/* The affine law of EIP-2494, with an inversion for each coordinate: the
 * independent oracle of the projective formulas. */
static void
slow_add(babyjub_t *out, const babyjub_t *p, const babyjub_t *q)
{
	fr_t a, d, x1y2, y1x2, x1x2, y1y2, t, below;

	fr_from_u64(&a, BABYJUB_A);
	fr_from_u64(&d, BABYJUB_D);
	fr_mul(&x1y2, &p->x, &q->y);
	fr_mul(&y1x2, &p->y, &q->x);
	fr_mul(&x1x2, &p->x, &q->x);
	fr_mul(&y1y2, &p->y, &q->y);
	fr_mul(&t, &x1x2, &y1y2);
	fr_mul(&t, &t, &d);
	fr_add(&below, &fr_one, &t);
	fr_inv(&below, &below);
	fr_add(&out->x, &x1y2, &y1x2);
	fr_mul(&out->x, &out->x, &below);
	fr_sub(&below, &fr_one, &t);
	fr_inv(&below, &below);
	fr_mul(&a, &a, &x1x2);
	fr_sub(&out->y, &y1y2, &a);
	fr_mul(&out->y, &out->y, &below);
}

/* n * P by double and add from the bottom: not how the product does it. */
static void
slow_mul(babyjub_t *out, const babyjub_t *p, const uint8_t n[static 32])
{
	babyjub_t power = *p;

	out->x = fr_zero;
	out->y = fr_one;
	for (unsigned i = 0; i < 256; i++) {
		if (n[31 - i / 8] >> (i % 8) & 1)
			slow_add(out, out, &power);
		slow_add(&power, &power, &power);
	}
}

static void
test_curve(void)
{
	babyjub_t p, q, sum, want, neutral = {fr_zero, fr_one};
	uint8_t n[32] = {0};

	CHECK(babyjub_is_on_curve(&babyjub_base8));
	slow_mul(&p, &babyjub_base8, babyjub_order);
	CHECK(same_point(&p, &neutral));
	babyjub_mul_base8(&p, n);
	CHECK(same_point(&p, &neutral));
	babyjub_mul_base8(&p, babyjub_order);
	CHECK(same_point(&p, &neutral));
	for (unsigned i = 1; i < 20; i++) {
		n[31] = (uint8_t)i;
		slow_mul(&want, &babyjub_base8, n);
		babyjub_mul_base8(&p, n);
		CHECK(same_point(&p, &want));
	}
	for (unsigned i = 0; i < 30; i++) {
		uint8_t m[32];
		test_random_bytes(n, sizeof(n));
		test_random_bytes(m, sizeof(m));
		n[0] &= 0x0f; /* below 2^252 */
		m[0] &= 0x0f;
		if (i == 0) {
			memset(n, 0xff, sizeof(n));
			n[0] = 0x0f;
		}
		babyjub_mul_base8(&p, n);
		CHECK(babyjub_is_on_curve(&p));
		slow_mul(&want, &babyjub_base8, n);
		CHECK(same_point(&p, &want));
		babyjub_mul_base8(&q, m);
		babyjub_add(&sum, &p, &q);
		slow_add(&want, &p, &q);
		CHECK(same_point(&sum, &want));
		babyjub_add(&sum, &p, &p);
		slow_add(&want, &p, &p);
		CHECK(same_point(&sum, &want));
		babyjub_add(&sum, &p, &neutral);
		CHECK(same_point(&sum, &p));
	}
	fr_add(&p.x, &p.x, &fr_one);
	CHECK(!babyjub_is_on_curve(&p));
}

/* The remainder by repeated doubling, bit by bit from the top. */
static void
test_scalar(void)
{
	for (unsigned i = 0; i < 2000; i++) {
		uint8_t hash[32], got[32], value[32], rest[32] = {0};
		test_random_bytes(hash, sizeof(hash));
		if (i < 4)
			memset(hash, i & 1 ? 0xff : 0, 32);
		babyjub_scalar(got, hash);
		for (unsigned k = 0; k < 32; k++)
			value[k] = hash[31 - k];
		value[31] &= 0xf8;
		value[0] = (uint8_t)((value[0] & 0x7f) | 0x40);
		for (unsigned bit = 0; bit < 253; bit++) {
			unsigned carry = value[bit / 8] >> (7 - bit % 8) & 1;
			for (unsigned k = 32; k-- > 0;) {
				carry |= (unsigned)rest[k] << 1;
				rest[k] = (uint8_t)carry;
				carry >>= 8;
			}
			if (memcmp(rest, babyjub_order, 32) < 0)
				continue;
			int borrow = 0;
			for (unsigned k = 32; k-- > 0;) {
				int d = rest[k] - babyjub_order[k] - borrow;
				borrow = d < 0;
				rest[k] = (uint8_t)d;
			}
		}
		CHECK_MEM(got, rest, 32);
	}
}

/* --- files --- */

static void
make_identity(struct identity *id, size_t len)
{
	uint8_t key[IDENTITY_KEY_MAX];

	test_random_bytes(key, len);
	CHECK_STATUS(identity_derive(id, key, len), ST_OK);
}

static void
encrypt(char out[static IDENTITY_FILE_MAX], size_t *len,
    const struct identity *id, const char *passphrase)
{
	uint8_t salt[IDENTITY_SALT_LENGTH], nonce[IDENTITY_NONCE_LENGTH];

	test_random_bytes(salt, sizeof(salt));
	test_random_bytes(nonce, sizeof(nonce));
	CHECK_STATUS(identity_file_encrypt(out, len, id, passphrase,
			 strlen(passphrase), cheap, salt, nonce),
	    ST_OK);
	CHECK_INT(strlen(out), *len);
}

static void
test_plain_file(void)
{
	static const size_t lengths[] = {0, 1, 32, 1023, 1024};
	struct identity id, back;
	enum identity_file_kind kind;
	char text[IDENTITY_FILE_MAX];
	size_t len;

	for (unsigned i = 0; i < 5; i++) {
		make_identity(&id, lengths[i]);
		identity_file_plain(text, &len, &id);
		CHECK_INT(strlen(text), len);
		CHECK_STATUS(identity_file_kind(&kind, text, len), ST_OK);
		CHECK_INT(kind, IDENTITY_FILE_PLAIN);
		CHECK_STATUS(
		    identity_file_read(&back, text, len, NULL, 0, NULL), ST_OK);
		CHECK_MEM(&back, &id, sizeof(id));
	}
	CHECK_STATUS(identity_import(&id, "YWxpY2U=", 8), ST_OK);
	identity_file_plain(text, &len, &id);
	CHECK_STR(text, "postern identity 1 plain\nkey YWxpY2U=\n");
}

static void
test_encrypted_file(void)
{
	static const size_t lengths[] = {0, 32, 61, 62, 63, 1024};
	struct identity id, back;
	enum identity_file_kind kind;
	char text[IDENTITY_FILE_MAX], commitment[DECIMAL_MAX], secret[65];
	size_t len;

	for (unsigned i = 0; i < 6; i++) {
		make_identity(&id, lengths[i]);
		encrypt(text, &len, &id, "correct horse");
		CHECK_STATUS(identity_file_kind(&kind, text, len), ST_OK);
		CHECK_INT(kind, IDENTITY_FILE_ENCRYPTED);
		CHECK_STATUS(identity_file_read(
				 &back, text, len, "correct horse", 13, NULL),
		    ST_OK);
		CHECK_MEM(&back, &id, sizeof(id));
		CHECK_STATUS(identity_file_read(
				 &back, text, len, "correct horsf", 13, NULL),
		    ST_BAD_PASSPHRASE);
		CHECK(back.key_len == 0 && back.secret[31] == 0);
		CHECK_STATUS(
		    identity_file_read(&back, text, len, NULL, 0, NULL),
		    ST_BAD_PASSPHRASE);
		/* Nothing in it names the member. */
		decimal_encode(commitment, id.commitment);
		hex_encode(secret, span_of(id.secret, 32));
		CHECK(strstr(text, commitment) == NULL);
		CHECK(strstr(text, secret) == NULL);
	}
	/* Keys of up to 62 bytes are sealed to the same length. */
	size_t other;
	make_identity(&id, 5);
	encrypt(text, &len, &id, "x");
	make_identity(&id, 62);
	encrypt(text, &other, &id, "x");
	CHECK_INT(other, len);
}

/* The format by hand, with libsodium as Python would call it: our writer and
 * our reader can not both be wrong in the same way. */
static void
test_encrypted_by_hand(void)
{
	static const char head[] = "postern identity 1 encrypted\n"
				   "argon2id 2 64 "
				   "000102030405060708090a0b0c0d0e0f\n";
	uint8_t salt[16], nonce[24], key[32], box[80];
	uint8_t sealed[64] = {0, 5, 'a', 'l', 'i', 'c', 'e'};
	char text[IDENTITY_FILE_MAX];
	struct identity id;

	for (unsigned i = 0; i < 16; i++)
		salt[i] = (uint8_t)i;
	memset(nonce, 0xab, sizeof(nonce));
	CHECK(crypto_pwhash(key, 32, "secret", 6, salt, 2, 65536,
		  crypto_pwhash_ALG_ARGON2ID13) == 0);
	crypto_aead_xchacha20poly1305_ietf_encrypt(box, NULL, sealed, 64,
	    (const uint8_t *)head, strlen(head), NULL, nonce, key);
	strcpy(text, head);
	strcat(text, "xchacha20poly1305 ");
	hex_encode(text + strlen(text), span_of(nonce, 24));
	strcat(text, " ");
	base64_encode(text + strlen(text), span_of(box, 80), BASE64_STANDARD);
	strcat(text, "\n");
	CHECK_STATUS(
	    identity_file_read(&id, text, strlen(text), "secret", 6, NULL),
	    ST_OK);
	CHECK_INT(id.key_len, 5);
	check_decimal(id.commitment,
	    "2555421963140221735275512320391495596269358914510400924262397781"
	    "120877297287");
	/* A length that reaches beyond the box. */
	sealed[1] = 63;
	crypto_aead_xchacha20poly1305_ietf_encrypt(box, NULL, sealed, 64,
	    (const uint8_t *)head, strlen(head), NULL, nonce, key);
	base64_encode(text + strlen(head) + 18 + 48 + 1, span_of(box, 80),
	    BASE64_STANDARD);
	strcat(text, "\n");
	CHECK_STATUS(
	    identity_file_read(&id, text, strlen(text), "secret", 6, NULL),
	    ST_CORRUPT);
}

/* Every byte of an encrypted file counts, and every truncation is refused. */
static void
test_tampering(void)
{
	struct identity id, back;
	char text[IDENTITY_FILE_MAX], copy[IDENTITY_FILE_MAX + 1];
	size_t len;

	make_identity(&id, 32);
	encrypt(text, &len, &id, "pass");
	for (size_t i = 0; i < len; i++) {
		memcpy(copy, text, len);
		copy[i] ^= 1;
		CHECK(identity_file_read(&back, copy, len, "pass", 4, NULL) !=
		    ST_OK);
		CHECK(back.key_len == 0);
		CHECK(identity_file_read(&back, text, i, "pass", 4, NULL) !=
		    ST_OK);
	}
	memcpy(copy, text, len);
	copy[len] = '\n';
	CHECK_STATUS(identity_file_read(&back, copy, len + 1, "pass", 4, NULL),
	    ST_TRAILING);
}

static void
test_file_refuses(void)
{
#define ENC "postern identity 1 encrypted\n"
#define SALT "000102030405060708090a0b0c0d0e0f"
	static const struct {
		const char *text;
		enum status want;
		unsigned line;
	} cases[] = {
	    {"", ST_BAD_ENCODING, 1},
	    {"postern identity 1 plain", ST_BAD_ENCODING, 1},
	    {"postern identity 1 naked\nkey YQ==\n", ST_BAD_ENCODING, 1},
	    {"postern identity 2 plain\nkey YQ==\n", ST_BAD_VERSION, 1},
	    {"postern identity 1 plain\r\nkey YQ==\r\n", ST_BAD_ENCODING, 1},
	    {"postern identity 1 plain\n", ST_BAD_ENCODING, 2},
	    {"postern identity 1 plain\nkey YQ==", ST_BAD_ENCODING, 2},
	    {"postern identity 1 plain\nKey YQ==\n", ST_BAD_ENCODING, 2},
	    {"postern identity 1 plain\nkey  YQ==\n", ST_BAD_ENCODING, 2},
	    {"postern identity 1 plain\nkey YR==\n", ST_BAD_ENCODING, 2},
	    {"postern identity 1 plain\nkey YQ==\n\n", ST_TRAILING, 3},
	    {ENC, ST_BAD_ENCODING, 2},
	    {ENC "argon2i 1 8 " SALT "\n", ST_BAD_ENCODING, 2},
	    {ENC "argon2id 0 8 " SALT "\n", ST_BAD_VALUE, 2},
	    {ENC "argon2id 17 8 " SALT "\n", ST_BAD_VALUE, 2},
	    {ENC "argon2id 1 7 " SALT "\n", ST_BAD_VALUE, 2},
	    {ENC "argon2id 1 1048577 " SALT "\n", ST_BAD_VALUE, 2},
	    {ENC "argon2id 4294967297 8 " SALT "\n", ST_BAD_ENCODING, 2},
	    {ENC "argon2id 01 8 " SALT "\n", ST_BAD_ENCODING, 2},
	    {ENC "argon2id 1 8 " SALT "00\n", ST_BAD_ENCODING, 2},
	    {ENC "argon2id 1 8 " SALT "\nxchacha20 00 YQ==\n", ST_BAD_ENCODING,
		3},
	    {ENC "argon2id 1 8 " SALT "\nxchacha20poly1305 00 YQ==\n",
		ST_BAD_ENCODING, 3},
	};
	struct identity id;
	unsigned line;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&id, 0xaa, sizeof(id));
		enum status got = identity_file_read(&id, cases[i].text,
		    strlen(cases[i].text), "pass", 4, &line);
		if (got != cases[i].want || line != cases[i].line)
			test_fail(__FILE__, __LINE__, "case %u: %s, line %u", i,
			    status_info(got)->name, line);
		CHECK(id.key_len == 0 && id.secret[0] == 0);
	}
	/* What would not be safe is not written. */
	char text[IDENTITY_FILE_MAX];
	uint8_t salt[16] = {0}, nonce[24] = {0};
	size_t len;
	make_identity(&id, 32);
	CHECK_STATUS(
	    identity_file_encrypt(text, &len, &id, "", 0, cheap, salt, nonce),
	    ST_BAD_LENGTH);
	CHECK_INT(len, 0);
	struct identity_cost dear = {.operations = 1, .kibibytes = 1 << 21};
	CHECK_STATUS(
	    identity_file_encrypt(text, &len, &id, "x", 1, dear, salt, nonce),
	    ST_BAD_VALUE);
}

TESTS({"identity: the official ones", test_vectors},
    {"identity: exports that are refused", test_import_refuses},
    {"babyjub: against the affine law", test_curve},
    {"babyjub: the secret scalar", test_scalar},
    {"identity file: plain", test_plain_file},
    {"identity file: encrypted", test_encrypted_file},
    {"identity file: made by hand", test_encrypted_by_hand},
    {"identity file: tampering", test_tampering},
    {"identity file: refused", test_file_refuses})
