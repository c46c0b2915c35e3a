/* The key of an onion service: tor's format, the address, the command. */
#include <stdio.h>

#include "base/text.h"
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

#define BASE32_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_LINE "descriptor:x25519:"
/* 9 and one more as keys, and the points of small order 0, 1 and p - 1. */
#define NINE KEY_LINE "beaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define TEN KEY_LINE "bIaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ONE KEY_LINE "aeaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LAST KEY_LINE "5t7777777777777777777777777777777777777777777777757q"

/* Whether TEXT is refused as WANT at LINE. */
static void
clients_refused(const char *text, enum status want, unsigned line)
{
	static struct onion_clients c;
	unsigned at = 99;

	CHECK_STATUS(onion_clients_parse(&c, &at, span_str(text)), want);
	CHECK_INT(at, line);
	CHECK_INT(c.n, 0);
}

static void
test_clients(void)
{
	static struct onion_clients c;
	unsigned line = 99;

	CHECK_STATUS(onion_clients_parse(
			 &c, &line, span_str("# two\r\n" NINE "\r\n\n" TEN)),
	    ST_OK);
	CHECK_INT(line, 0);
	CHECK_INT(c.n, 2);
	CHECK_INT(c.key[0][0], 9);
	CHECK_INT(c.key[1][0], 10);
	CHECK_INT(c.key[1][31], 0);
	clients_refused("", ST_MISSING, 0);
	clients_refused("# nobody\n\n", ST_MISSING, 0);
	clients_refused(NINE "\n" TEN "\n" NINE "\n", ST_DUPLICATE, 3);
	clients_refused(KEY_LINE BASE32_A, ST_WEAK_KEY, 1);
	clients_refused(NINE "\n" ONE "\n", ST_WEAK_KEY, 2);
	clients_refused(LAST, ST_WEAK_KEY, 1);
	clients_refused(NINE " ", ST_BAD_ENCODING, 1);
	clients_refused("\n" BASE32_A, ST_BAD_ENCODING, 2);
	clients_refused(KEY_LINE, ST_BAD_ENCODING, 1);
	/* A spare bit, a digit that base32 does not have, another type. */
	clients_refused(KEY_LINE
	    "beaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
	    ST_BAD_ENCODING, 1);
	clients_refused(KEY_LINE
	    "b1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    ST_BAD_ENCODING, 1);
	clients_refused("descriptor:ed25519:"
			"beaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    ST_BAD_ENCODING, 1);
}

/* As many as there may be, and one more. */
static void
test_many_clients(void)
{
	static struct onion_clients c;
	static char text[(ONION_CLIENTS_MAX + 1) * 72];
	uint8_t key[ONION_CLIENT_KEY] = {9};
	size_t at = 0;
	unsigned line;

	for (unsigned i = 0; i <= ONION_CLIENTS_MAX; i++) {
		char word[ONION_CLIENT_TEXT + 1];
		key[1] = (uint8_t)i;
		base32_encode(word, span_of(key, sizeof(key)));
		if (i == ONION_CLIENTS_MAX) {
			CHECK_STATUS(
			    onion_clients_parse(&c, &line, span_of(text, at)),
			    ST_OK);
			CHECK_INT(c.n, ONION_CLIENTS_MAX);
			CHECK_MEM(c.key[7], "\11\7", 3);
		}
		at += (size_t)snprintf(
		    text + at, sizeof(text) - at, KEY_LINE "%s\n", word);
	}
	clients_refused(text, ST_NO_SPACE, ONION_CLIENTS_MAX + 1);
}

#define COMMAND                                                            \
	"ADD_ONION ED25519-V3:"                                            \
	"CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAA" \
	"AAAAAAAAAAAAAAAAAAAAAA== Flags=DiscardPK,MaxStreamsCloseCircuit"

static void
test_command(void)
{
	struct onion_key k = {.expanded = {8, [31] = 64}};
	static struct onion_clients clients = {
	    .n = 2, .key = {[0] = {9}, [1] = {10}}};
	struct onion_service s = {
	    .target = "127.0.0.1:8080", .port = 80, .streams = 64};
	char text[ONION_KEY_COMMAND_MAX];
	struct out o = out_to(text, sizeof(text));
	size_t len;

	onion_key_add(&o, &k, &s);
	CHECK_STATUS(out_status(&o, &len), ST_OK);
	text[len] = '\0';
	CHECK_STR(text, COMMAND " MaxStreams=64 Port=80,127.0.0.1:8080\r\n");
	s.clients = &clients;
	s.pow = true;
	s.pow_rate = 250;
	s.pow_burst = 2500;
	o = out_to(text, sizeof(text));
	onion_key_add(&o, &k, &s);
	CHECK_STATUS(out_status(&o, &len), ST_OK);
	text[len] = '\0';
	CHECK_STR(text,
	    COMMAND ",V3Auth MaxStreams=64 PoWDefensesEnabled=1 "
		    "PoWQueueRate=250 PoWQueueBurst=2500 Port=80,127.0.0.1:8080"
		    " ClientAuthV3=beaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaa"
		    " ClientAuthV3=biaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaa\r\n");
}

/* The longest of all fits. */
static void
test_longest_command(void)
{
	struct onion_key k = {.expanded = {8, [31] = 64}};
	static struct onion_clients clients = {.n = ONION_CLIENTS_MAX};
	char target[130];
	struct onion_service s = {.target = target,
	    .clients = &clients,
	    .port = 65535,
	    .streams = 65535,
	    .pow = true,
	    .pow_rate = 1000000,
	    .pow_burst = 1000000};
	static char text[ONION_KEY_COMMAND_MAX];
	struct out o = out_to(text, sizeof(text) - 1);
	size_t len;

	memset(target, 'a', sizeof(target) - 1);
	target[sizeof(target) - 1] = '\0';
	onion_key_add(&o, &k, &s);
	CHECK_STATUS(out_status(&o, &len), ST_OK);
}

TESTS({"made of a seed", test_make}, {"tor's file", test_file},
    {"clients", test_clients}, {"many clients", test_many_clients},
    {"the command", test_command}, {"the longest", test_longest_command})
