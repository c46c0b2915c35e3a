/* The key of an onion service: tor's format, the address, the command. */
#include "gate/audience.h"
#include "harness.h"
#include "tor/onion_key.h"

/* RFC 8032, 7.1, test 1: the seed and its public key. */
static const uint8_t seed[ONION_KEY_SEED] = {0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd,
    0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49,
    0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae,
    0x7f, 0x60};
static const uint8_t public_key[32] = {0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a,
    0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1, 0x72,
    0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51,
    0x1a};

static void
test_make(void)
{
	struct onion_key k;
	char name[ONION_LENGTH + 1];
	uint8_t key[32];

	onion_key_make(&k, seed);
	CHECK_MEM(k.public_key, public_key, 32);
	onion_encode(name, k.public_key);
	CHECK_STATUS(onion_decode(key, span_str(name)), ST_OK);
	CHECK_MEM(key, public_key, 32);
}

static void
test_file(void)
{
	struct onion_key k, back;
	uint8_t file[ONION_KEY_FILE_SIZE];

	onion_key_make(&k, seed);
	onion_key_write(file, &k);
	CHECK_MEM(file, "== ed25519v1-secret: type0 ==\0\0\0", 32);
	CHECK_STATUS(onion_key_parse(&back, file, sizeof(file)), ST_OK);
	CHECK_MEM(&back, &k, sizeof(k));
	CHECK_STATUS(
	    onion_key_parse(&back, file, sizeof(file) - 1), ST_BAD_LENGTH);
	file[3] ^= 1;
	CHECK_STATUS(
	    onion_key_parse(&back, file, sizeof(file)), ST_BAD_VERSION);
	file[3] ^= 1;
	file[32] |= 1; /* not a multiple of eight */
	CHECK_STATUS(onion_key_parse(&back, file, sizeof(file)), ST_WEAK_KEY);
	memset(file + 32, 0, 64);
	CHECK_STATUS(onion_key_parse(&back, file, sizeof(file)), ST_WEAK_KEY);
	for (size_t i = 0; i < sizeof(back); i++)
		CHECK(((const uint8_t *)&back)[i] == 0);
}

static void
test_command(void)
{
	struct onion_key k = {.expanded = {8, [31] = 64}};
	char text[ONION_KEY_COMMAND_MAX];
	struct out o = out_to(text, sizeof(text));
	size_t len;

	onion_key_add(&o, &k, 80, "127.0.0.1:8080", 64);
	CHECK_STATUS(out_status(&o, &len), ST_OK);
	text[len] = '\0';
	CHECK_STR(text,
	    "ADD_ONION ED25519-V3:"
	    "CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAA"
	    "AAAAAAAAAAAAAAAAAAAAAA=="
	    " Flags=DiscardPK,MaxStreamsCloseCircuit MaxStreams=64"
	    " Port=80,127.0.0.1:8080\r\n");
}

TESTS({"made of a seed", test_make}, {"tor's file", test_file},
    {"the command", test_command})
