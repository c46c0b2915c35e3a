/* postern mix peel, keygen and layers, as a script runs them. */
#define PROGRAM_OUTPUT_MAX (1 << 18)
#include "program.h"

#include <sys/stat.h>

#include <jansson.h>

#include "base/text.h"
#include "postern/sphinx.h"

static struct program p;
static char folder[32];

static void
write_bytes(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	CHECK(f != NULL && fwrite(data, 1, len, f) == len && fclose(f) == 0);
}

static void
write_hex(const char *path, const char *hex)
{
	size_t len = strlen(hex) / 2;
	uint8_t *bytes = malloc(len);

	CHECK(bytes != NULL);
	CHECK_STATUS(hex_decode(bytes, len, span_str(hex)), ST_OK);
	write_bytes(path, bytes, len);
	free(bytes);
}

static json_t *
output(void)
{
	json_t *o = json_loads(p.out, JSON_REJECT_DUPLICATES, NULL);

	CHECK(o != NULL);
	return o;
}

static void
check_member(const json_t *o, const char *member, const char *want)
{
	const char *got = json_string_value(json_object_get(o, member));

	CHECK(got != NULL);
	CHECK_STR(got, want);
}

/* Each step of the network's own packets: peel shows all that the vector has,
 * and writes the packet of the next step. */
static void
test_peel_vectors(void)
{
	char *text = test_read_file("vectors/sphinx-stream.json", NULL);
	json_t *tests = json_loads(text, 0, NULL), *test, *step, *value;
	size_t t, i;
	const char *member;

	free(text);
	CHECK(json_array_size(tests) >= 4);
	program_enter(folder);
	json_array_foreach(tests, t, test)
	{
		json_t *keys = json_object_get(test, "keys");
		write_hex("packet",
		    json_string_value(json_object_get(test, "packet")));
		json_array_foreach(json_object_get(test, "steps"), i, step)
		{
			write_hex(
			    "key", json_string_value(json_array_get(keys, i)));
			RUN(&p, "mix", "peel", "--key", "key", "--suite",
			    "stream", "-o", "packet", "packet");
			CHECK_CODE(&p, 0);
			CHECK_STR(p.err, "");
			json_t *got = output();
			json_object_foreach(step, member, value) CHECK(
			    json_equal(json_object_get(got, member), value));
			check_member(got, "suite", "stream");
			json_decref(got);
		}
	}
	json_decref(tests);
	LEAVE(folder, "packet", "key");
}

/* A packet of the default suite, from hex on standard input and from a file. */
static void
test_peel_wide(void)
{
	static sphinx_packet_t packet;
	static char hex[2 * SPHINX_PACKET_SIZE + 2];
	struct sphinx *s;
	sphinx_path_t path = {.hops = 1};
	sphinx_key_t key;
	uint8_t secret[32] = {1}, seed[32] = {2};

	program_enter(folder);
	CHECK_STATUS(sphinx_new(&s, SPHINX_WIDE, SPHINX_KERNEL_AUTO), ST_OK);
	sphinx_key_make(&key, secret);
	memcpy(path.hop[0].id, key.id, 32);
	path.hop[0].delay_ms = 77;
	memcpy(path.tag, "127.0.0.1:9", 11);
	CHECK_STATUS(sphinx_build(s, &packet, &path, "hello", 5, seed), ST_OK);
	sphinx_free(s);
	write_bytes("key", secret, sizeof(secret));
	hex_encode(hex, span_of(&packet, sizeof(packet)));
	strcat(hex, "\n");
	program_run(&p, hex,
	    (const char *const[]){
		"mix", "peel", "-k", "key", "-o", "next", "-", NULL});
	CHECK_CODE(&p, 0);
	json_t *o = output();
	check_member(o, "suite", "wide");
	check_member(o, "action", "deliver");
	check_member(o, "address", "127.0.0.1:9");
	check_member(o, "message", "68656c6c6f");
	CHECK_INT(json_integer_value(json_object_get(o, "delay_ms")), 77);
	json_decref(o);
	CHECK(access("next", F_OK) != 0);

	/* Changed on the way: told, and exit 1. */
	packet.payload[100] ^= 1;
	write_bytes("packet", &packet, sizeof(packet));
	RUN(&p, "mix", "peel", "-k", "key", "packet");
	CHECK_CODE(&p, 1);
	o = output();
	check_member(o, "action", "drop");
	check_member(o, "reason", "corrupt");
	json_decref(o);
	packet.header.mac[0] ^= 1;
	write_bytes("packet", &packet, sizeof(packet));
	RUN(&p, "mix", "peel", "-k", "key", "packet");
	CHECK_CODE(&p, 1);
	CHECK_HAS(p.out, "\"bad_mac\"");
	memset(&packet, 0, 32);
	write_bytes("packet", &packet, sizeof(packet));
	RUN(&p, "mix", "peel", "-k", "key", "packet");
	CHECK_CODE(&p, 1);
	CHECK_HAS(p.out, "\"weak_key\"");
	LEAVE(folder, "key", "packet");
}

static void
test_peel_usage(void)
{
	uint8_t bytes[100] = {0};

	program_enter(folder);
	write_bytes("short", bytes, sizeof(bytes));
	write_bytes("key", bytes, 32);
	RUN(&p, "mix", "peel", "short");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "--key");
	RUN(&p, "mix", "peel", "--key", "key");
	CHECK_CODE(&p, 2);
	RUN(&p, "mix", "peel", "--key", "key", "short");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "32768 bytes");
	RUN(&p, "mix", "peel", "--key", "short", "short");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "not a mix key");
	RUN(&p, "mix", "peel", "--key", "none", "short");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "none: No such file");
	RUN(&p, "mix", "peel", "--suite", "broad", "--key", "key", "short");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "wide and stream");
	LEAVE(folder, "short", "key");
}

static void
test_keygen(void)
{
	char id[80];
	struct stat st;

	program_enter(folder);
	RUN(&p, "mix", "keygen", "-o", "a");
	CHECK_CODE(&p, 0);
	CHECK_INT(strlen(p.out), 65);
	strcpy(id, p.out);
	CHECK(stat("a", &st) == 0 && (st.st_mode & 07777) == 0600);
	RUN(&p, "mix", "keygen", "-o", "a");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "already");
	RUN(&p, "mix", "keygen", "-o", "b");
	CHECK_CODE(&p, 0);
	CHECK(strcmp(p.out, id) != 0);
	RUN(&p, "mix", "keygen");
	CHECK_CODE(&p, 2);
	LEAVE(folder, "a", "b");
}

static void
test_layers(void)
{
	static const char good[] =
	    "{\"epoch_seed\": \"2026-11-30\", \"nodes\": [\n"
	    "{\"id\": \"a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4"
	    "409f8a209\", \"address\": \"192.0.2.1:1\", \"stake\": 1},\n"
	    "{\"id\": \"ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba058"
	    "70e587d59\", \"address\": \"192.0.2.1:2\", \"stake\": 2},\n"
	    "{\"id\": \"5dfedd3b6bd47f6fa28ee15d969d5bb0ea53774d488bdaf9df1c6e0"
	    "124b3ef22\", \"address\": \"192.0.2.1:3\", \"stake\": 3}]}";
	char bad[sizeof(good)];

	program_enter(folder);
	write_bytes("registry", good, sizeof(good) - 1);
	RUN(&p, "mix", "layers", "registry");
	CHECK_CODE(&p, 0);
	CHECK_HAS(p.out, "0  ");
	CHECK_HAS(p.out, "\n1  ");
	CHECK_HAS(p.out, "\n2  ");
	RUN(&p, "mix", "layers", "--json", "registry");
	CHECK_CODE(&p, 0);
	char *line = strtok(p.out, "\n");
	for (int i = 0; i < 3; i++, line = strtok(NULL, "\n")) {
		json_t *o = json_loads(line, 0, NULL);
		CHECK_INT(json_integer_value(json_object_get(o, "layer")), i);
		json_decref(o);
	}
	memcpy(bad, good, sizeof(good));
	memcpy(strstr(bad, "192.0.2.1:2"), "localhost:2", 11);
	write_bytes("registry", bad, sizeof(bad) - 1);
	RUN(&p, "mix", "layers", "registry");
	CHECK_CODE(&p, 2);
	CHECK_HAS(p.err, "registry:3: nodes[1].address: ");
	LEAVE(folder, "registry");
}

TESTS({"peel: the network's own packets", test_peel_vectors},
    {"peel: the default suite", test_peel_wide},
    {"peel: what it can not use", test_peel_usage}, {"keygen", test_keygen},
    {"layers", test_layers})
