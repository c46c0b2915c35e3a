/* Registry, layers, paths, delays, key files: what needs no socket. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "mix/json_line.h"
#include "mix/key_file.h"
#include "mix/path.h"
#include "mix/registry.h"

/* Seven nodes, secrets 01..07 repeated, and their layers for the epoch seed
 * "2026-11-30" as hashlib and sorted() have them. */
static const struct {
	const char *id;
	unsigned layer;
} nodes[] = {
    {"a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209", 0},
    {"ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba05870e587d59", 2},
    {"5dfedd3b6bd47f6fa28ee15d969d5bb0ea53774d488bdaf9df1c6e0124b3ef22", 2},
    {"ac01b2209e86354fb853237b5de0f4fab13c7fcbf433a61c019369617fecf10b", 0},
    {"50a61409b1ddd0325e9b16b700e719e9772c07000b1bd7786e907c653d20495d", 0},
    {"f5b2d6e60f9477e310c2982daaa6c9136c108a1777c5947e448fa37d68174557", 1},
    {"13be4feaeaf204c7fd3358fc9c00721881d174278128227ec674f37f7fe97b6d", 1},
};
#define NODES (sizeof(nodes) / sizeof(nodes[0]))

static void
fill(void *ctx, void *out, size_t len)
{
	(void)ctx;
	test_random_bytes(out, len);
}

static struct mix_random
random_of_test(void)
{
	return (struct mix_random){fill, NULL};
}

/* A registry of the first N nodes; EXTRA goes into the first. */
static char *
registry_text(size_t n, const char *extra)
{
	char *text = malloc(4096);
	size_t len;

	CHECK(text != NULL);
	len = (size_t)sprintf(
	    text, "{\n  \"epoch_seed\": \"2026-11-30\",\n  \"nodes\": [\n");
	for (size_t i = 0; i < n; i++)
		len += (size_t)sprintf(text + len,
		    "    {\"id\": \"%s\",\n     \"address\": "
		    "\"192.0.2.1:%zu\",\n     \"stake\": 10%s}%s\n",
		    nodes[i].id, 9000 + i, i == 0 ? extra : "",
		    i + 1 < n ? "," : "");
	sprintf(text + len, "  ]\n}\n");
	return text;
}

static struct registry *
registry_of(size_t n, const char *extra)
{
	char *text = registry_text(n, extra);
	struct registry_fault f;
	struct registry *r;

	CHECK_STATUS(
	    registry_parse(&r, &f, text, strlen(text), SPHINX_WIDE), ST_OK);
	free(text);
	return r;
}

static void
test_layers(void)
{
	struct registry *r = registry_of(NODES, "");

	CHECK_INT(r->n, NODES);
	CHECK_INT(r->start[0], 0);
	CHECK_INT(r->start[1], 3);
	CHECK_INT(r->start[2], 5);
	CHECK_INT(r->start[3], 7);
	for (size_t i = 0; i < NODES; i++) {
		uint8_t id[32];
		CHECK_STATUS(hex_decode(id, 32, span_str(nodes[i].id)), ST_OK);
		const struct registry_node *node = registry_find(r, id);
		CHECK(node != NULL);
		CHECK_INT(node->layer, nodes[i].layer);
		CHECK_INT(node->at.port, 9000 + i);
		size_t at = (size_t)(node - r->nodes);
		CHECK(at >= r->start[node->layer] &&
		    at < r->start[node->layer + 1]);
	}
	uint8_t other[32] = {9};
	CHECK(registry_find(r, other) == NULL);
	registry_free(&r);
	CHECK(r == NULL);
}

/* The options that Erebus does not have. */
static void
test_registry_options(void)
{
	struct registry *r = registry_of(3,
	    ", \"suite\": \"stream\", \"link\": \""
	    "00000000000000000000000000000000000000000000000000000000000000ff"
	    "\", \"payout\": \"x\", \"key\": \""
	    "f5b2d6e60f9477e310c2982daaa6c9136c108a1777c5947e448fa37d68174557"
	    "\", \"next\": {\"key\": \""
	    "13be4feaeaf204c7fd3358fc9c00721881d174278128227ec674f37f7fe97b6d"
	    "\", \"from\": 1000}");
	uint8_t id[32], key[32], next[32];

	CHECK_STATUS(hex_decode(id, 32, span_str(nodes[0].id)), ST_OK);
	CHECK_STATUS(hex_decode(key, 32, span_str(nodes[5].id)), ST_OK);
	CHECK_STATUS(hex_decode(next, 32, span_str(nodes[6].id)), ST_OK);
	const struct registry_node *node = registry_find(r, id);
	CHECK(node != NULL && node == registry_find(r, key));
	CHECK(node == registry_find(r, next));
	CHECK(node->suite == SPHINX_STREAM && node->has_link);
	CHECK_INT(node->link[31], 255);
	CHECK_MEM(registry_key(node, 999), key, 32);
	CHECK_MEM(registry_key(node, 1000), next, 32);
	CHECK_STATUS(hex_decode(id, 32, span_str(nodes[1].id)), ST_OK);
	node = registry_find(r, id);
	CHECK(node->suite == SPHINX_WIDE && !node->has_link);
	CHECK_MEM(registry_key(node, INT64_MAX - 1), id, 32);
	registry_free(&r);
}

static void
test_registry_faults(void)
{
	/* What is replaced by what, and where the fault is found. */
	static const struct {
		const char *from, *to;
		enum status want;
		unsigned line;
		const char *member;
	} faults[] = {
	    {"\"epoch_seed\"", "\"seed\"", ST_MISSING, 1, "epoch_seed"},
	    {"\"2026-11-30\"", "20261130", ST_WRONG_TYPE, 1, "epoch_seed"},
	    {"\"nodes\"", "\"notes\"", ST_MISSING, 1, "nodes"},
	    {"\"id\": \"ce8d3ad1", "\"id\": \"ce8d3ad", ST_BAD_ENCODING, 7,
		"nodes[1].id"},
	    {"\"id\": \"ce8d3ad1", "\"id\": \"xx8d3ad1", ST_BAD_ENCODING, 7,
		"nodes[1].id"},
	    {"\"id\": \"ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba058"
	     "70e587d59\"",
		"\"id\": "
		"\"00000000000000000000000000000000000000000000000000000"
		"00000000000\"",
		ST_WEAK_KEY, 7, "nodes[1].id"},
	    {"\"id\": \"ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba058"
	     "70e587d59\"",
		"\"id\": "
		"\"a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2"
		"b4409f8a209\"",
		ST_DUPLICATE, 7, "nodes[1].id"},
	    {"\"id\": \"ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba058"
	     "70e587d59\"",
		"\"id\": 7", ST_WRONG_TYPE, 7, "nodes[1].id"},
	    {"\"id\": \"ce8d3ad1", "\"it\": \"ce8d3ad1", ST_MISSING, 7,
		"nodes[1].id"},
	    {"\"192.0.2.1:9002\"", "\"host:9002\"", ST_BAD_ENCODING, 11,
		"nodes[2].address"},
	    {"\"192.0.2.1:9002\"", "\"192.0.2.1\"", ST_BAD_ENCODING, 11,
		"nodes[2].address"},
	    {"\"192.0.2.1:9002\"", "[]", ST_WRONG_TYPE, 11, "nodes[2].address"},
	    {"10, \"x\": 1", "-1", ST_BAD_VALUE, 6, "nodes[0].stake"},
	    {"10, \"x\": 1", "1.5", ST_WRONG_TYPE, 6, "nodes[0].stake"},
	    {"10, \"x\": 1", "1, \"suite\": \"tall\"", ST_UNKNOWN, 6,
		"nodes[0].suite"},
	    {"10, \"x\": 1", "1, \"suite\": 2", ST_UNKNOWN, 6,
		"nodes[0].suite"},
	    {"10, \"x\": 1", "1,\n\n \"next\": {}", ST_WRONG_TYPE, 8,
		"nodes[0].next"},
	    {"10, \"x\": 1", "1, \"next\": {\"key\": \"00\", \"from\": 3}",
		ST_BAD_ENCODING, 6, "nodes[0].next"},
	    {"10, \"x\": 1", "1, \"link\": \"00\"", ST_BAD_ENCODING, 6,
		"nodes[0].link"},
	    {"10, \"x\": 1", "10, \"stake\": 10", ST_NOT_JSON, 6, ""},
	    {"  ]\n}", "  ]\n", ST_NOT_JSON, 15, ""},
	    {"]\n}", ", 5]\n}", ST_WRONG_TYPE, 13, "nodes[3]"},
	};
	struct registry_fault f;
	struct registry *r;

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		char *text = registry_text(3, ", \"x\": 1"), *bad, *at;
		size_t from = strlen(faults[i].from);
		bad = malloc(8192);
		CHECK(bad != NULL);
		at = strstr(text, faults[i].from);
		CHECK(at != NULL);
		sprintf(bad, "%.*s%s%s", (int)(at - text), text, faults[i].to,
		    at + from);
		enum status st =
		    registry_parse(&r, &f, bad, strlen(bad), SPHINX_WIDE);
		if (st != faults[i].want || f.line != faults[i].line)
			printf("    case %zu: %s:%u %s\n", i,
			    status_info(st)->name, f.line, f.member);
		CHECK_STATUS(st, faults[i].want);
		CHECK(r == NULL && f.what != NULL);
		CHECK_INT(f.line, faults[i].line);
		CHECK_STR(f.member, faults[i].member);
		free(text);
		free(bad);
	}
	/* Two nodes leave a layer empty. */
	char *text = registry_text(2, "");
	CHECK_STATUS(registry_parse(&r, &f, text, strlen(text), SPHINX_WIDE),
	    ST_MISSING);
	CHECK_INT(f.line, 4);
	free(text);
	CHECK_STATUS(
	    registry_parse(&r, &f, "[]", 2, SPHINX_WIDE), ST_WRONG_TYPE);
	CHECK_STATUS(registry_parse(&r, &f, "", 0, SPHINX_WIDE), ST_NOT_JSON);
}

static void
test_json_lines(void)
{
	span_t text = span_str("{\"a\": [1, \"]\\\"[\", {\"x\": {}}],\n"
			       "\"list\":\n[{\n\"m\": 1}, 2,\n[3, [4]],\n"
			       "{\"k\": {\"m\": 0},\n\"m\":\n5}]}");

	CHECK_INT(json_line_of(text, "list", 0, "m"), 4);
	CHECK_INT(json_line_of(text, "list", 0, "none"), 3);
	CHECK_INT(json_line_of(text, "list", 1, "m"), 4);
	CHECK_INT(json_line_of(text, "list", 2, NULL), 5);
	CHECK_INT(json_line_of(text, "list", 3, NULL), 6);
	CHECK_INT(json_line_of(text, "list", 3, "m"), 8);
	CHECK_INT(json_line_of(text, "list", 4, "m"), 3);
	CHECK_INT(json_line_of(text, "none", 0, "m"), 1);
	CHECK_INT(json_line_of(text, "a", 2, "x"), 1);
	/* Not JSON at all: an answer, and no reading beyond the end. */
	CHECK_INT(json_line_of(span_str("{\"list"), "list", 0, "m"), 1);
	CHECK_INT(json_line_of(span_str(""), "list", 0, "m"), 1);
	CHECK_INT(json_line_of(span_str("{\"list\":[\""), "list", 1, "m"), 1);
}

/* Each node of a layer about as often as the others; the way back avoids
 * those of the way out, except where there is no other. */
static void
test_paths(void)
{
	enum { DRAWS = 12000 };
	struct registry *r = registry_of(NODES, "");
	struct mix_random random = random_of_test();
	struct path_choice from = {r, &random, SPHINX_WIDE, 50, 0};
	unsigned count[NODES] = {0};
	uint8_t tag[32] = {1};
	sphinx_path_t path;
	path_nodes_t out, back;

	for (int i = 0; i < DRAWS; i++) {
		CHECK_STATUS(path_choose(&path, &out, &from, NULL, tag), ST_OK);
		CHECK_INT(path.hops, 3);
		CHECK_MEM(path.tag, tag, 32);
		for (unsigned l = 0; l < 3; l++) {
			CHECK_INT(r->nodes[out.node[l]].layer, l);
			CHECK_MEM(
			    path.hop[l].id, r->nodes[out.node[l]].key, 32);
			count[out.node[l]]++;
		}
		CHECK_STATUS(
		    path_choose(&path, &back, &from, &out, tag), ST_OK);
		for (unsigned l = 0; l < 3; l++)
			CHECK(back.node[l] != out.node[l]);
	}
	for (size_t i = 0; i < NODES; i++) {
		double share = 1.0 / (i < 3 ? 3 : 2), n = DRAWS;
		double sigma = sqrt(n * share * (1 - share));
		CHECK(fabs(count[i] - n * share) < 6 * sigma);
	}
	registry_free(&r);

	/* Three nodes: the way back has no choice. */
	r = registry_of(3, "");
	from.registry = r;
	CHECK_STATUS(path_choose(&path, &out, &from, NULL, tag), ST_OK);
	CHECK_STATUS(path_choose(&path, &back, &from, &out, tag), ST_OK);
	CHECK_MEM(&out, &back, sizeof(out));
	from.suite = SPHINX_STREAM;
	CHECK_STATUS(path_choose(&path, &out, &from, NULL, tag), ST_MISSING);
	registry_free(&r);
}

static int
compare_double(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov: delays are exponential. They are whole
 * milliseconds, so a mean of many makes rounding small. */
static void
test_delays(void)
{
	enum { N = 20000 };
	static double x[N];
	struct mix_random random = random_of_test();
	double mean = 5000, worst = 0;

	for (int i = 0; i < N; i++)
		x[i] = mix_random_delay(&random, mean, UINT32_MAX);
	qsort(x, N, sizeof(x[0]), compare_double);
	for (int i = 0; i < N; i++) {
		double cdf = 1 - exp(-x[i] / mean);
		worst = fmax(worst, fabs(cdf - (double)i / N));
		worst = fmax(worst, fabs(cdf - (double)(i + 1) / N));
	}
	/* 1.95 / sqrt(N) is exceeded by chance once in a thousand runs, this
	 * once in ten million. */
	CHECK(worst < 2.9 / sqrt(N));
	CHECK_INT(mix_random_delay(&random, 0, 100), 0);
	for (int i = 0; i < 1000; i++)
		CHECK(mix_random_delay(&random, 1e9, 70) <= 70);
}

static void
test_random_bounds(void)
{
	struct mix_random random = random_of_test();
	unsigned count[6] = {0};

	for (int i = 0; i < 6000; i++)
		count[mix_random_below(&random, 6)]++;
	for (int i = 0; i < 6; i++)
		CHECK(count[i] > 800 && count[i] < 1200);
	CHECK_INT(mix_random_below(&random, 1), 0);
	CHECK(mix_random_below(&random, UINT64_MAX) < UINT64_MAX);
}

static void
test_tags(void)
{
	uint8_t tag[32];
	endpoint_t at, again;

	CHECK_STATUS(endpoint_parse(&at, span_str("127.0.0.1:9100")), ST_OK);
	CHECK_STATUS(tag_make(tag, &at), ST_OK);
	CHECK_MEM(
	    tag, "127.0.0.1:9100\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
	CHECK_STATUS(tag_read(&again, tag), ST_OK);
	CHECK(ip_equal(&at.ip, &again.ip) && at.port == again.port);
	CHECK_STATUS(endpoint_parse(&at,
			 span_str("[2001:db8:1111:2222:3333:4444:5:6]:9100")),
	    ST_OK);
	CHECK_STATUS(tag_make(tag, &at), ST_BAD_LENGTH);
	memset(tag, 0, sizeof(tag));
	CHECK_STATUS(tag_read(&again, tag), ST_BAD_ENCODING);
	memcpy(tag, "example.com:80", 14);
	CHECK_STATUS(tag_read(&again, tag), ST_BAD_ENCODING);
}

static void
write_file(const char *path, const void *text, size_t len, mode_t mode)
{
	FILE *f = fopen(path, "wb");

	CHECK(f != NULL && fwrite(text, 1, len, f) == len);
	CHECK(fclose(f) == 0 && chmod(path, mode) == 0);
}

static void
test_key_files(void)
{
	char dir[] = "/tmp/postern-test-XXXXXX", path[64];
	static const char *const good[] = {
	    "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
	    "# x\r\n0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d"
	    "1e1f20\r\n\n# y",
	    "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24\25\26\27\30"
	    "\31\32\33\34\35\36\37 "};
	static const char *const bad[] = {"",
	    "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
	    "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2x",
	    ("0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
	     "\n"
	     "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2"
	     "0"),
	    "# nothing"};
	uint8_t secret[32];
	sphinx_key_t key, made, zero = {{0}, {0}};

	for (size_t i = 0; i < 32; i++)
		secret[i] = (uint8_t)(i + 1);
	sphinx_key_make(&key, secret);
	CHECK(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/key", dir);
	CHECK_STATUS(key_file_create(path, &key), ST_OK);
	CHECK_STATUS(key_file_create(path, &key), ST_DUPLICATE);
	CHECK_STATUS(key_file_load(&made, path, FILE_OWNER), ST_OK);
	CHECK_MEM(&made, &key, sizeof(key));
	struct stat st;
	CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
	for (size_t i = 0; i < 3; i++) {
		write_file(path, good[i], strlen(good[i]), 0644);
		CHECK_STATUS(key_file_load(&made, path, FILE_ANYBODY), ST_OK);
		CHECK_MEM(&made, &key, sizeof(key));
		CHECK_STATUS(
		    key_file_load(&made, path, FILE_OWNER), ST_PERMISSION);
		CHECK_MEM(&made, &zero, sizeof(zero));
	}
	for (size_t i = 0; i < 5; i++) {
		write_file(path, bad[i], strlen(bad[i]), 0600);
		CHECK_STATUS(
		    key_file_load(&made, path, FILE_OWNER), ST_BAD_ENCODING);
	}
	CHECK(unlink(path) == 0);
	CHECK_STATUS(key_file_load(&made, path, FILE_OWNER), ST_SYS);
	CHECK(rmdir(dir) == 0);
}

TESTS({"layers by rank", test_layers},
    {"registry: suite, link, keys", test_registry_options},
    {"registry faults have line and member", test_registry_faults},
    {"lines of JSON values", test_json_lines},
    {"paths are uniform and ways differ", test_paths},
    {"delays are exponential", test_delays},
    {"random numbers below a bound", test_random_bounds},
    {"delivery tags", test_tags}, {"key files", test_key_files})
