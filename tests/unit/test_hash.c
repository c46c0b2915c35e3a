/* keccak-256, BLAKE-512, SHA-256. */
#include "harness.h"

#include <sodium.h>
#include <stdlib.h>

#include "base/text.h"
#include "hash/blake512.h"
#include "hash/keccak256.h"
#include "hash/sha256.h"
#include "postern/status.h"

static void
check_hex(const uint8_t *got, size_t len, const char *want)
{
	char text[129];

	CHECK(len <= 64);
	hex_encode(text, span_of(got, len));
	CHECK_STR(text, want);
}

/* Examples from the papers themselves, and Ethereum's well-known hash of
 * nothing. */
static void
test_published(void)
{
	static const uint8_t zeros[144];
	uint8_t out[64];

	keccak256(out, span_of(NULL, 0));
	check_hex(out, 32,
	    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
	keccak256(out, span_str("abc"));
	check_hex(out, 32,
	    "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45");
	/* FIPS 202's examples: nothing and "abc". */
	sha3_256(out, span_of(NULL, 0));
	check_hex(out, 32,
	    "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a");
	sha3_256(out, span_str("abc"));
	check_hex(out, 32,
	    "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
	/* BLAKE, version 1.3, appendix: 1 and 144 zero bytes. */
	blake512(out, span_of(zeros, 1));
	check_hex(out, 64,
	    "97961587f6d970faba6d2478045de6d1fabd09b61ae50932054d52bc29d31be4"
	    "ff9102b9f69e2bbdb83be13d4b9c06091e5fa0b48bd081b634058be0ec49beb3");
	blake512(out, span_of(zeros, 144));
	check_hex(out, 64,
	    "313717d608e9cf758dcb1eb0f0c3cf9fc150b2d500fb33f51c52afc99d358a2f"
	    "1374b8a38bba7974e7f6ef79cab16f22ce1e649d6e01ad9589c213045d545dde");
}

/* Lengths around each block and padding boundary. */
static void
test_lengths(void)
{
	char *text = test_read_file("vectors/hashes.txt", NULL);
	unsigned n = 0;
	char *rest = text;

	for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
		char hash[16], digest[129];
		uint8_t in[512], out[64];
		unsigned len;
		if (line[0] == '#')
			continue;
		CHECK_INT(sscanf(line, "%15s %u %128s", hash, &len, digest), 3);
		CHECK(len <= sizeof(in));
		for (unsigned i = 0; i < len; i++)
			in[i] = (uint8_t)(7 * i + 1);
		if (strcmp(hash, "keccak256") == 0) {
			keccak256(out, span_of(in, len));
			check_hex(out, 32, digest);
		} else {
			CHECK_STR(hash, "blake512");
			blake512(out, span_of(in, len));
			check_hex(out, 64, digest);
		}
		n++;
	}
	CHECK_INT(n, 28);
	free(text);
}

/* The output may take the input's place. */
static void
test_in_place(void)
{
	uint8_t a[64], b[64];

	test_random_bytes(a, sizeof(a));
	memcpy(b, a, sizeof(b));
	uint8_t out[64];
	blake512(out, span_of(a, sizeof(a)));
	blake512(b, span_of(b, sizeof(b)));
	CHECK_MEM(b, out, 64);
	keccak256(out, span_of(a, sizeof(a)));
	keccak256(a, span_of(a, sizeof(a)));
	CHECK_MEM(a, out, 32);
}

/* FIPS 180-4's own example, and libsodium's code at each length. */
static void
test_sha256(void)
{
	uint8_t in[300], out[32], want[32];

	sha256(out, span_str("abc"));
	CHECK_STATUS(hex_decode(want, 32,
			 span_str("ba7816bf8f01cfea414140de5dae2223"
				  "b00361a396177a9cb410ff61f20015ad")),
	    ST_OK);
	CHECK_MEM(out, want, 32);
	test_random_bytes(in, sizeof(in));
	for (size_t len = 0; len <= sizeof(in); len++) {
		sha256(out, span_of(in, len));
		crypto_hash_sha256(want, in, len);
		CHECK_MEM(out, want, 32);
	}
	crypto_hash_sha256(want, in, 32);
	sha256(in, span_of(in, 32));
	CHECK_MEM(in, want, 32);
}

TESTS({"SHA-256", test_sha256}, {"hash: published examples", test_published},
    {"hash: lengths around the block boundaries", test_lengths},
    {"hash: output over input", test_in_place})
