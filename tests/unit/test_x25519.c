/* X25519: every kernel gives RFC 7748's answers, and the same as OpenSSL and
 * libsodium on random and on awkward input. */
#include "harness.h"

#include <openssl/evp.h>
#include <sodium.h>

#include "base/text.h"
#include "sphinx/x25519.h"

#define KERNELS 2

/* The kernels that this CPU runs; NULL for those it does not. */
static const struct x25519_kernel *
kernel_nth(int i)
{
	static const enum sphinx_kernel names[KERNELS] = {
	    SPHINX_KERNEL_PORTABLE, SPHINX_KERNEL_IFMA};

	return x25519_kernel(names[i]);
}

static x25519_t
from_hex(const char *hex)
{
	x25519_t x;

	CHECK_STATUS(hex_decode(x.byte, sizeof(x.byte), span_str(hex)), ST_OK);
	return x;
}

/* SCALAR * POINT gives WANT in each kernel, alone and in some lane. */
static void
check_product(x25519_t scalar, x25519_t point, x25519_t want)
{
	for (int i = 0; i < KERNELS; i++) {
		const struct x25519_kernel *k = kernel_nth(i);
		x25519_t s[X25519_LANES], p[X25519_LANES], got[X25519_LANES];
		if (k == NULL)
			continue;
		k->one(got[0].byte, scalar.byte, point.byte);
		CHECK_MEM(&got[0], &want, sizeof(want));
		test_random_bytes(s, sizeof(s));
		test_random_bytes(p, sizeof(p));
		size_t lane = test_random() % X25519_LANES;
		s[lane] = scalar;
		p[lane] = point;
		k->eight(got, s, p);
		CHECK_MEM(&got[lane], &want, sizeof(want));
	}
}

/* RFC 7748, section 5.2, and Bob's side of section 6.1. */
static void
test_rfc7748(void)
{
	static const char *const v[][3] = {
	    {"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
		"e6db6867583030db3594c1a424b15f7c"
		"726624ec26b3353b10a903a6d0ab1c4c",
		"c3da55379de9c6908e94ea4df28d084f"
		"32eccf03491c71f754b4075577a28552"},
	    {"4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
		"e5210f12786811d3f4b7959d0538ae2c"
		"31dbe7106fc03c3efc4cd549c715a493",
		"95cbde9476e8907d7aade45cb4b873f8"
		"8b595a68799fa152e6f8f7647aac7957"},
	    {"5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
		"09000000000000000000000000000000"
		"00000000000000000000000000000000",
		"de9edb7d7b7dc1b4d35b61c2ece43537"
		"3f8343c85b78674dadfc7e146f882b4f"},
	    {"5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
		"8520f0098930a754748b7ddcb43ef75a"
		"0dbf3a0d26381af4eba4a98eaa9b4e6a",
		"4a5d9d5ba4ce2de1728e3bf480350f25"
		"e07e21c947d19e3376f09b3c1e161742"},
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		check_product(
		    from_hex(v[i][0]), from_hex(v[i][1]), from_hex(v[i][2]));
}

/* RFC 7748, section 5.2: a chain of products, k and u from the one before. */
static void
test_rfc7748_chain(void)
{
	x25519_t once = from_hex("422c8e7a6227d7bca1350b3e2bb7279f"
				 "7897b87bb6854b783c60e80311ae3079");
	x25519_t thousand = from_hex("684cf59ba83309552800ef566f2f4d3c"
				     "1c3887c49360e3875f2eb94d99532c51");

	for (int i = 0; i < KERNELS; i++) {
		const struct x25519_kernel *k = kernel_nth(i);
		x25519_t s[X25519_LANES], p[X25519_LANES], r[X25519_LANES];
		x25519_t scalar = x25519_base, point = x25519_base, next;
		if (k == NULL)
			continue;
		for (int lane = 0; lane < X25519_LANES; lane++)
			s[lane] = p[lane] = x25519_base;
		for (int n = 1; n <= 1000; n++) {
			k->one(next.byte, scalar.byte, point.byte);
			k->eight(r, s, p);
			point = scalar;
			scalar = next;
			memcpy(p, s, sizeof(p));
			memcpy(s, r, sizeof(s));
			if (n == 1)
				CHECK_MEM(&scalar, &once, sizeof(once));
		}
		CHECK_MEM(&scalar, &thousand, sizeof(thousand));
		for (int lane = 0; lane < X25519_LANES; lane++)
			CHECK_MEM(&s[lane], &thousand, sizeof(thousand));
	}
}

/* Points where limbs and carries are extreme: around 0 and p, around 2^255,
 * every limb (51 bits) and word (64 bits) full or empty, small order, and the
 * spellings above p. */
static size_t
awkward(x25519_t *out, size_t cap)
{
	static const char *const fixed[] = {
	    "0000000000000000000000000000000000000000000000000000000000000000",
	    "0100000000000000000000000000000000000000000000000000000000000000",
	    "0200000000000000000000000000000000000000000000000000000000000000",
	    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
	    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
	    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	    "ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	    "0000000000000000000000000000000000000000000000000000000000000080",
	    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	    "0000000000000000000000000000000000000000000000000000000000000040",
	};
	size_t n = 0;

	for (; n < sizeof(fixed) / sizeof(*fixed); n++)
		out[n] = from_hex(fixed[n]);
	/* Runs of ones between any two of these bits. */
	for (unsigned from = 0; from < 255; from += 17) {
		for (unsigned to = from + 17; to <= 255 && n < cap; to += 17) {
			memset(&out[n], 0, sizeof(out[n]));
			for (unsigned bit = from; bit < to; bit++)
				out[n].byte[bit / 8] |= (uint8_t)(1 << bit % 8);
			n++;
		}
	}
	return n;
}

static x25519_t
by_openssl(x25519_t scalar, x25519_t point)
{
	EVP_PKEY *own = EVP_PKEY_new_raw_private_key(
	    EVP_PKEY_X25519, NULL, scalar.byte, sizeof(scalar.byte));
	EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(
	    EVP_PKEY_X25519, NULL, point.byte, sizeof(point.byte));
	EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(own, NULL);
	x25519_t out = {{0}};
	size_t len = sizeof(out.byte);

	CHECK(EVP_PKEY_derive_init(c) == 1 &&
	    EVP_PKEY_derive_set_peer(c, peer) == 1);
	/* It refuses a result of zeros, which is then what out holds. */
	if (EVP_PKEY_derive(c, out.byte, &len) != 1)
		memset(&out, 0, sizeof(out));
	EVP_PKEY_CTX_free(c);
	EVP_PKEY_free(peer);
	EVP_PKEY_free(own);
	return out;
}

static void
test_awkward(void)
{
	x25519_t input[160];
	size_t n = awkward(input, 160);

	for (size_t i = 0; i < n; i++) {
		x25519_t scalar;
		test_random_bytes(&scalar, sizeof(scalar));
		check_product(scalar, input[i], by_openssl(scalar, input[i]));
		check_product(
		    input[i], x25519_base, by_openssl(input[i], x25519_base));
		check_product(input[i], input[n - 1 - i],
		    by_openssl(input[i], input[n - 1 - i]));
	}
}

/* Every kernel against libsodium: 16,000 products. */
static void
test_random_products(void)
{
	x25519_t s[X25519_LANES], p[X25519_LANES], got[X25519_LANES];

	for (int i = 0; i < KERNELS; i++) {
		const struct x25519_kernel *k = kernel_nth(i);
		if (k == NULL)
			continue;
		for (int round = 0; round < 1000; round++) {
			test_random_bytes(s, sizeof(s));
			test_random_bytes(p, sizeof(p));
			k->eight(got, s, p);
			for (int j = 0; j < X25519_LANES; j++) {
				x25519_t want, one;
				CHECK(crypto_scalarmult(want.byte, s[j].byte,
					  p[j].byte) == 0);
				CHECK_MEM(&got[j], &want, sizeof(want));
				k->one(one.byte, s[j].byte, p[j].byte);
				CHECK_MEM(&one, &want, sizeof(want));
			}
		}
	}
}

/* Any number of products, and results that replace the input. */
static void
test_many(void)
{
	enum { MAX = 27 };
	x25519_t s[MAX], p[MAX], out[MAX];

	for (int i = 0; i < KERNELS; i++) {
		const struct x25519_kernel *k = kernel_nth(i);
		if (k == NULL)
			continue;
		for (size_t n = 0; n < MAX; n++) {
			test_random_bytes(s, sizeof(s));
			test_random_bytes(p, sizeof(p));
			memcpy(out, p, sizeof(out));
			x25519_many(k, out, s, out, n);
			for (size_t j = 0; j < MAX; j++) {
				x25519_t want = p[j];
				if (j < n)
					CHECK(crypto_scalarmult(want.byte,
						  s[j].byte, p[j].byte) == 0);
				CHECK_MEM(&out[j], &want, sizeof(want));
			}
			x25519_many(k, s, s, p, n);
			CHECK_MEM(s, out, n * sizeof(*s));
		}
	}
}

/* Valid exactly when below p and no scalar makes zero of it. */
static void
test_valid(void)
{
	x25519_t input[160], p;
	size_t n = awkward(input, 160), refused = 0;

	for (size_t i = 0; i < n; i++) {
		x25519_t scalar, out, again;
		test_random_bytes(&scalar, sizeof(scalar));
		out = by_openssl(scalar, input[i]);
		/* A canonical point comes back from unpack and pack. */
		uint64_t limb[5];
		x25519_unpack(limb, input[i].byte);
		x25519_pack(again.byte, limb);
		bool canonical = memcmp(&again, &input[i], sizeof(p)) == 0;
		CHECK(x25519_is_valid(input[i].byte) ==
		    (canonical && !x25519_is_zero(out.byte)));
		refused += !x25519_is_valid(input[i].byte);
	}
	/* Five of small order; p, p + 1, 2^255 - 1 (twice); three with the top
	 * bit. */
	CHECK_INT(refused, 12);
	for (int i = 0; i < 1000; i++) {
		x25519_t scalar;
		test_random_bytes(&scalar, sizeof(scalar));
		CHECK(crypto_scalarmult_base(p.byte, scalar.byte) == 0);
		CHECK(x25519_is_valid(p.byte));
	}
}

static void
test_kernels(void)
{
	const struct x25519_kernel *best = x25519_kernel(SPHINX_KERNEL_AUTO);

	CHECK(x25519_kernel(SPHINX_KERNEL_PORTABLE)->name ==
	    SPHINX_KERNEL_PORTABLE);
	CHECK(best->name != SPHINX_KERNEL_AUTO);
	if (x25519_kernel(SPHINX_KERNEL_IFMA) != NULL)
		CHECK(best->name == SPHINX_KERNEL_IFMA);
	printf("    this CPU: %s\n",
	    best->name == SPHINX_KERNEL_IFMA ? "ifma" : "portable");
}

TESTS({"kernels are chosen by the CPU", test_kernels},
    {"RFC 7748 products", test_rfc7748},
    {"RFC 7748 chain of 1,000", test_rfc7748_chain},
    {"awkward scalars and points, as OpenSSL", test_awkward},
    {"random products, as libsodium", test_random_products},
    {"any number of products", test_many},
    {"which points are valid", test_valid})
