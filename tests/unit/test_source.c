/* Where a group comes from besides member files: signatures of a list, the
 * contract's answers, root files. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "semaphore/contract.h"
#include "semaphore/minisign.h"
#include "semaphore/root_file.h"

/* --- minisign: made by minisign 0.11 --- */

static const char list[] = "1\n2\n3\n";
static const char key_line[] =
    "RWQDogOTpSo311DaPtXPDjz+QgYwblF18YwRcGzpDSeggno1QOPcvFDA";
static const char key_file[] =
    "untrusted comment: minisign public key D7372AA59303A203\n"
    "RWQDogOTpSo311DaPtXPDjz+QgYwblF18YwRcGzpDSeggno1QOPcvFDA\n";
static const char hashed[] =
    "untrusted comment: signature from minisign secret key\n"
    "RUQDogOTpSo317mkZGq7MaS12JxkpYFrRUoSS9r5z75aqPtcH68SExnfgLKSoNYiXSLx5stjk"
    "XiEIKJnN7ItgE9jHWuBvnur0QA=\n"
    "trusted comment: timestamp:1700000000\n"
    "OHzqEZCVZvQiV1w8gGABkqTGjrK2SPJViQwBUzcwU87yw/EaJ1NM3m967FiuCRJULUp9jpnLC"
    "XSlGWnIktDWBQ==\n";
static const char plain[] =
    "untrusted comment: signature from minisign secret key\n"
    "RWQDogOTpSo31zbptTlaZ4QjZjX9+Aos3LOCqzvLzB2vQayYXempPhKDz2ImHIw2V0fKpehcH"
    "Mdl+3EcpIsohy397XeQAq/jAww=\n"
    "trusted comment: timestamp:1700000001 file:members\n"
    "krFKmtCt5b/L+n6jjGotp8n9mFLe3P5+2EWK/JdccBKu7jfQP9LfyttcsGcfPtFOmFXNUgmLn"
    "iGRbCNiMdQdDw==\n";

static void
test_minisign_keys(void)
{
	minisign_key_t line, file;

	CHECK_STATUS(minisign_key_parse(&line, span_str(key_line)), ST_OK);
	CHECK_STATUS(minisign_key_parse(&file, span_str(key_file)), ST_OK);
	CHECK_MEM(&line, &file, sizeof(line));
	/* Minisign prints the id as a number, least byte first. */
	CHECK_MEM(line.id, "\x03\xa2\x03\x93\xa5\x2a\x37\xd7", 8);
	CHECK_STATUS(minisign_key_parse(&line, span_str("")), ST_BAD_LENGTH);
	CHECK_STATUS(
	    minisign_key_parse(&line, span_of(key_line, sizeof(key_line) - 5)),
	    ST_BAD_LENGTH);
	CHECK_STATUS(minisign_key_parse(&line,
			 span_str("RUQDogOTpSo311DaPtXPDjz+QgYwblF18YwRcGzpDSe"
				  "ggno1QOPcvFDA")),
	    ST_BAD_VERSION);
}

static void
test_minisign_good(void)
{
	minisign_key_t key;
	uint64_t time;

	CHECK_STATUS(minisign_key_parse(&key, span_str(key_line)), ST_OK);
	CHECK_STATUS(
	    minisign_verify(&time, &key, span_str(list), span_str(hashed)),
	    ST_OK);
	CHECK_INT(time, 1700000000);
	CHECK_STATUS(
	    minisign_verify(&time, &key, span_str(list), span_str(plain)),
	    ST_OK);
	CHECK_INT(time, 1700000001);
}

/* Each byte of a signature file counts, but for the first line. */
static void
each_byte(const minisign_key_t *key, const char *signature)
{
	size_t len = strlen(signature);
	size_t from = (size_t)(strchr(signature, '\n') - signature);
	char *copy = strdup(signature);
	uint64_t time;

	CHECK(copy != NULL);
	for (size_t i = 0; i < len - 1; i++) {
		copy[i] ^= 1;
		enum status st = minisign_verify(
		    &time, key, span_str(list), span_of(copy, len));
		if (i < from)
			CHECK_STATUS(st, ST_OK);
		else
			CHECK(st != ST_OK && time == 0);
		copy[i] ^= 1;
	}
	for (size_t i = 0; i < len - 1; i++)
		CHECK(minisign_verify(&time, key, span_str(list),
			  span_of(signature, i)) != ST_OK);
	free(copy);
}

static void
test_minisign_bad(void)
{
	minisign_key_t key, other;
	char text[] = "1\n2\n3\n";
	uint64_t time;

	CHECK_STATUS(minisign_key_parse(&key, span_str(key_line)), ST_OK);
	each_byte(&key, hashed);
	each_byte(&key, plain);
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		text[i] ^= 1;
		CHECK_STATUS(minisign_verify(
				 &time, &key, span_str(text), span_str(hashed)),
		    ST_BAD_MAC);
		CHECK_STATUS(minisign_verify(
				 &time, &key, span_str(text), span_str(plain)),
		    ST_BAD_MAC);
		text[i] ^= 1;
	}
	other = key;
	other.id[0] ^= 1;
	CHECK_STATUS(
	    minisign_verify(&time, &other, span_str(list), span_str(hashed)),
	    ST_FOREIGN);
	other = key;
	other.key[3] ^= 1;
	CHECK_STATUS(
	    minisign_verify(&time, &other, span_str(list), span_str(hashed)),
	    ST_BAD_MAC);
}

/* --- contract --- */

static struct contract_group
a_group(void)
{
	struct contract_group g = {.group = {[31] = 42}};

	CHECK_STATUS(
	    contract_address(g.address,
		span_str("0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0")),
	    ST_OK);
	return g;
}

/* The calls' data is what ethers 6 makes of the same functions. */
static void
test_questions(void)
{
	static const char *const want[CONTRACT_QUESTIONS] = {
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"eth_blockNumber\","
	    "\"params\":[]}",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_getBlockByNumber\","
	    "\"params\":[\"0x1f\",false]}",
#define CALL(ID, DATA)                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":" ID                                    \
	",\"method\":\"eth_call\",\"params\":[{\"to\":"                      \
	"\"0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0\",\"data\":\"0x" DATA  \
	"000000000000000000000000000000000000000000000000000000000000002a\"" \
	"},\"0x1f\"]}"
	    CALL("2", "dabc4d51"),
	    CALL("3", "6389e107"),
	    CALL("4", "7ee35a0c"),
#undef CALL
	};
	struct contract_group g = a_group();
	char text[CONTRACT_REQUEST_MAX + 1];
	size_t len;

	for (int q = 0; q < CONTRACT_QUESTIONS; q++) {
		struct out o = out_to(text, CONTRACT_REQUEST_MAX);
		contract_ask(&o, (enum contract_question)q, &g, 31);
		CHECK_STATUS(out_status(&o, &len), ST_OK);
		text[len] = '\0';
		CHECK_STR(text, want[q]);
	}
	/* The longest there is. */
	struct out o = out_to(text, CONTRACT_REQUEST_MAX);
	contract_ask(&o, CONTRACT_DEPTH, &g, UINT64_MAX);
	CHECK_STATUS(out_status(&o, &len), ST_OK);
	CHECK(contract_address(g.address, span_str("0x12")) != ST_OK);
	CHECK(contract_address(g.address,
		  span_str("1x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0")) !=
	    ST_OK);
}

#define WORD "0000000000000000000000000000000000000000000000000000000000000"

static void
test_answers(void)
{
	static const struct {
		enum contract_question q;
		const char *text, *why; /* why NULL: good */
	} cases[] = {
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":\"0x1f\"}", NULL},
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":\"0x0\"}", NULL},
	    {CONTRACT_NEWEST,
		"{\"id\":0,\"error\":null,\"result\":\"0xffffffffffffffff\"}",
		NULL},
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":\"0x\"}", "malformed"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":\"0x01\"}", "malformed"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":\"1f\"}", "malformed"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":\"0x1g\"}", "malformed"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":31}", "malformed"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":null}", "malformed"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":\"0x10000000000000000\"}",
		"malformed"},
	    {CONTRACT_NEWEST, "{\"id\":1,\"result\":\"0x1f\"}", "question"},
	    {CONTRACT_NEWEST, "{\"id\":\"0\",\"result\":\"0x1f\"}", "question"},
	    {CONTRACT_NEWEST, "{\"result\":\"0x1f\"}", "question"},
	    {CONTRACT_NEWEST, "{\"id\":0}", "question"},
	    {CONTRACT_NEWEST, "[]", "question"},
	    {CONTRACT_NEWEST, "", "not JSON"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"result\":\"0x1\"}x", "not JSON"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"id\":0,\"result\":\"0x1\"}",
		"not JSON"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"error\":{\"message\":\"a\\nb\"}}",
		"answers: a?b"},
	    {CONTRACT_NEWEST, "{\"id\":0,\"error\":1,\"result\":\"0x1\"}",
		"answers: an error"},
	    {CONTRACT_BLOCK,
		"{\"id\":1,\"result\":{\"number\":\"0x1f\",\"timestamp\":"
		"\"0x65\",\"hash\":\"0x" WORD "abc\"}}",
		NULL},
	    {CONTRACT_BLOCK, "{\"id\":1,\"result\":null}", "have the block"},
	    {CONTRACT_BLOCK, "{\"id\":1,\"result\":{}}", "malformed"},
	    {CONTRACT_BLOCK,
		"{\"id\":1,\"result\":{\"number\":\"0x1f\",\"timestamp\":"
		"\"0x65\",\"hash\":\"0x" WORD "ab\"}}",
		"malformed"},
	    {CONTRACT_ROOT, "{\"id\":2,\"result\":\"0x" WORD "abc\"}", NULL},
	    {CONTRACT_ROOT, "{\"id\":2,\"result\":\"0x\"}", "no Semaphore"},
	    {CONTRACT_ROOT, "{\"id\":2,\"result\":\"0x" WORD "abcd\"}",
		"malformed"},
	    {CONTRACT_DEPTH, "{\"id\":3,\"result\":\"0x" WORD "020\"}", NULL},
	    {CONTRACT_DEPTH, "{\"id\":3,\"result\":\"0x" WORD "021\"}",
		"malformed"},
	    {CONTRACT_DEPTH, "{\"id\":3,\"result\":\"0x1" WORD "01\"}",
		"malformed"},
	    {CONTRACT_SIZE, "{\"id\":4,\"result\":\"0x" WORD "fff\"}", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct contract_state s = {0};
		char why[CONTRACT_WHY_MAX];
		enum status st =
		    contract_hear(&s, why, cases[i].q, span_str(cases[i].text));
		if (cases[i].why == NULL)
			CHECK_STATUS(st, ST_OK);
		else if (st == ST_OK || strstr(why, cases[i].why) == NULL)
			test_fail(__FILE__, __LINE__, "%s: %s, \"%s\"",
			    cases[i].text, status_info(st)->name, why);
	}
}

static void
test_answers_values(void)
{
	struct contract_state s = {0}, other;
	char why[CONTRACT_WHY_MAX];

#define HEAR(Q, TEXT) \
	CHECK_STATUS(contract_hear(&s, why, Q, span_str(TEXT)), ST_OK)
	HEAR(CONTRACT_NEWEST, "{\"id\":0,\"result\":\"0x12345\"}");
	HEAR(CONTRACT_BLOCK,
	    "{\"id\":1,\"result\":{\"number\":\"0x1f\",\"timestamp\":\"0x65\","
	    "\"hash\":\"0x" WORD "abc\"}}");
	HEAR(CONTRACT_ROOT, "{\"id\":2,\"result\":\"0x" WORD "def\"}");
	HEAR(CONTRACT_DEPTH, "{\"id\":3,\"result\":\"0x" WORD "003\"}");
	HEAR(CONTRACT_SIZE, "{\"id\":4,\"result\":\"0x" WORD "005\"}");
#undef HEAR
	CHECK_INT(s.newest, 0x12345);
	CHECK_INT(s.block, 31);
	CHECK_INT(s.time, 101);
	CHECK(s.hash[30] == 0x0a && s.hash[31] == 0xbc && s.hash[0] == 0);
	CHECK(s.root[30] == 0x0d && s.root[31] == 0xef);
	CHECK_INT(s.depth, 3);
	CHECK_INT(s.size, 5);
	CHECK_STATUS(contract_state_check(&s), ST_OK);

	other = s;
	other.newest++;
	CHECK(contract_state_equal(&s, &other));
	other.size = 6;
	CHECK(!contract_state_equal(&s, &other));
	other = s, other.hash[5] = 1;
	CHECK(!contract_state_equal(&s, &other));
	other = s, other.root[5] = 1;
	CHECK(!contract_state_equal(&s, &other));
	other = s, other.time++;
	CHECK(!contract_state_equal(&s, &other));

	other = s, other.size = 9;
	CHECK_STATUS(contract_state_check(&other), ST_BAD_VALUE);
	other = s, other.size = 4;
	CHECK_STATUS(contract_state_check(&other), ST_BAD_VALUE);
	other = s, other.size = 0, other.depth = 0;
	CHECK_STATUS(contract_state_check(&other), ST_BAD_VALUE);
	memset(other.root, 0, 32);
	CHECK_STATUS(contract_state_check(&other), ST_OK);
	memset(other.root, 0xff, 32);
	CHECK_STATUS(contract_state_check(&other), ST_NOT_CANONICAL);
}

/* --- root files --- */

static void
test_root_files(void)
{
	static const struct {
		const char *text;
		enum status want;
		size_t line;
	} cases[] = {
	    {"root 5\ndepth 3\nsize 8\ntime 9\n", ST_OK, 0},
	    {"# x\r\n\r\ntime 9\r\nsize 8\r\nroot 5\r\ndepth 3", ST_OK, 0},
	    {"root 0\ndepth 0\nsize 0\ntime 9\n", ST_OK, 0},
	    {"root 5\ndepth 3\nsize 8\n", ST_MISSING, 0},
	    {"", ST_MISSING, 0},
	    {"root 5\ndepth 3\nsize 8\ntime 9\nroot 5\n", ST_DUPLICATE, 5},
	    {"root 5\ndepth 3\nsize 8\ntime 9\nname x\n", ST_BAD_ENCODING, 5},
	    {"root 5\ndepth 3\nsize 8\ntime 9\n root 5\n", ST_BAD_ENCODING, 5},
	    {"root  5\ndepth 3\nsize 8\ntime 9\n", ST_BAD_ENCODING, 1},
	    {"root 05\ndepth 3\nsize 8\ntime 9\n", ST_BAD_ENCODING, 1},
	    {"root\ndepth 3\nsize 8\ntime 9\n", ST_BAD_ENCODING, 1},
	    {"root 5\ndepth -3\nsize 8\ntime 9\n", ST_BAD_ENCODING, 2},
	    {"root 5\ndepth 33\nsize 8\ntime 9\n", ST_BAD_VALUE, 2},
	    {"root 5\ndepth 2\nsize 8\ntime 9\n", ST_BAD_VALUE, 2},
	    {"root 5\ndepth 4\nsize 8\ntime 9\n", ST_BAD_VALUE, 2},
	    /* r itself */
	    {"root "
	     "2188824287183927522224640574525727508854836440041603434369820"
	     "4186575808495617\ndepth 3\nsize 8\ntime 9\n",
		ST_NOT_CANONICAL, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct root_file r;
		struct members_fault fault;
		enum status st =
		    root_file_parse(&r, &fault, span_str(cases[i].text));
		if (st != cases[i].want || fault.status != st ||
		    fault.line != cases[i].line)
			test_fail(__FILE__, __LINE__, "case %zu: %s, line %zu",
			    i, status_info(st)->name, fault.line);
		if (st != ST_OK)
			CHECK(r.time == 0 && r.root.size == 0);
	}
}

static void
test_root_file_round(void)
{
	struct root_file r = {.root = {.depth = 32, .size = UINT64_C(1) << 32},
	    .time = UINT64_MAX};
	struct root_file back;
	struct members_fault fault;
	char text[ROOT_FILE_MAX];
	size_t len;

	CHECK_STATUS(decimal_decode(r.root.root,
			 span_str("218882428718392752222464057452572750885483"
				  "64400416034343698204186575808495616")),
	    ST_OK);
	struct out o = out_to(text, sizeof(text));
	root_file_write(&o, &r);
	CHECK_STATUS(out_status(&o, &len), ST_OK);
	CHECK_STATUS(root_file_parse(&back, &fault, span_of(text, len)), ST_OK);
	CHECK_MEM(back.root.root, r.root.root, 32);
	CHECK_INT(back.root.depth, 32);
	CHECK(back.root.size == r.root.size && back.time == r.time);
}

TESTS({"minisign: keys", test_minisign_keys},
    {"minisign: its own signatures", test_minisign_good},
    {"minisign: every byte counts", test_minisign_bad},
    {"contract: questions", test_questions},
    {"contract: answers", test_answers},
    {"contract: what they say", test_answers_values},
    {"root file: good and bad", test_root_files},
    {"root file: there and back", test_root_file_round})
