/* src/http/PROTOCOL.md says what the program does: its tables and examples are
 * read and compared. */
#include "harness.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/text.h"
#include "http/head.h"
#include "postern/semaphore.h"
#include "response.h"

static char *
document(void)
{
	return test_read_file("../src/http/PROTOCOL.md", NULL);
}

/* The text behind MARK, where the document must have it. */
static char *
behind(char *text, const char *mark)
{
	char *at = strstr(text, mark);

	if (at == NULL)
		test_fail(__FILE__, __LINE__, "no \"%s\"", mark);
	return at + strlen(mark);
}

/* The indented block that follows AT: its lines, each without its indent and
 * with EOL at its end, in OUT. */
static size_t
block(char *out, size_t cap, const char *at, const char *eol)
{
	size_t n = 0;

	at = strstr(at, "\n    ");
	for (; at != NULL && strncmp(at, "\n    ", 5) == 0;) {
		const char *end = strchr(at + 5, '\n');
		size_t len = (size_t)(end - at) - 5;
		CHECK(n + len + 3 < cap);
		memcpy(out + n, at + 5, len);
		n += len;
		memcpy(out + n, eol, strlen(eol));
		n += strlen(eol);
		at = end;
	}
	CHECK(n > 0);
	out[n] = '\0';
	return n;
}

/* Cut the row of a table at *AT into its cells, without blanks and backquotes
 * around them; false when it is no row. *at is the next line's start. */
static bool
row(char *cells[static 8], size_t *n, char **at)
{
	char *p = *at, *end = strchr(p, '\n');

	*n = 0;
	if (*p != '|' || end == NULL)
		return false;
	*end = '\0';
	*at = end + 1;
	for (p = strtok(p + 1, "|"); p != NULL && *n < 8;
	     p = strtok(NULL, "|")) {
		while (*p == ' ' || *p == '`')
			p++;
		size_t len = strlen(p);
		while (len > 0 && (p[len - 1] == ' ' || p[len - 1] == '`'))
			p[--len] = '\0';
		cells[(*n)++] = p;
	}
	return true;
}

static void
test_answer_table(void)
{
	char *text = document();
	char *at = behind(text, "| code | error |");
	char *cells[8];
	size_t n, rows = 0;

	at = strstr(at, "\n| 4");
	CHECK(at != NULL);
	at++;
	bool told[ST_COUNT] = {false};
	while (row(cells, &n, &at)) {
		int s = 0;
		while (s < ST_COUNT &&
		    strcmp(status_info((enum status)s)->label, cells[1]) != 0)
			s++;
		if (s == ST_COUNT || n != 5)
			test_fail(__FILE__, __LINE__, "row of %s", cells[1]);
		const struct status_info *info = status_info((enum status)s);
		CHECK_INT(atoi(cells[0]), info->http);
		CHECK_STR(cells[2], info->text);
		CHECK_STR(cells[3], info->proxy_status);
		CHECK_STR(cells[4], info->cure != NULL ? info->cure : "");
		CHECK(!told[s]);
		told[s] = true;
		rows++;
	}
	for (int s = 1; s < ST_COUNT; s++) {
		if (status_info((enum status)s)->http != 0 && !told[s])
			test_fail(__FILE__, __LINE__, "%s is not in the table",
			    status_info((enum status)s)->name);
	}
	CHECK(rows > 40);
	free(text);
}

static void
test_requests(void)
{
	static const char *const marks[] = {
	    "## 2. The request", "## 5. What the gateway says of itself"};
	char *text = document(), head[1024];
	struct head_parser p;
	struct head h;
	size_t used;

	for (size_t i = 0; i < 2; i++) {
		size_t n = block(
		    head, sizeof(head) - 2, behind(text, marks[i]), "\r\n");
		/* Names stand in angle brackets. */
		char *onion = strstr(head, "<onion>");
		if (onion != NULL)
			memcpy(onion, "a.onion", 7);
		memcpy(head + n, "\r\n", 3);
		head_parser_init(&p, NULL);
		CHECK_STATUS(head_parse(&p, &h, &used, span_str(head)), ST_OK);
		CHECK_INT(used, n + 2);
		CHECK_INT(h.method, i == 0 ? HTTP_CONNECT : HTTP_GET);
		/* "<token>" itself is no token68 */
		CHECK_STATUS(h.credential,
		    i == 0 ? ST_CREDENTIAL_BAD : ST_CREDENTIAL_MISSING);
	}
	free(text);
}

/* Y, an element of Fp, is larger than p - Y: 2 Y > p, and p is odd. */
static bool
is_larger(const uint8_t y[static 32])
{
	static const char p[] = "3064 4e72 e131 a029 b850 45b6 8181 585d"
				"9781 6a91 6871 ca8d 3c20 8c16 d87c fd47";
	uint8_t doubled[32], modulus[32];
	unsigned carry = 0, n = 0;
	char hex[65];

	for (const char *at = p; *at != '\0'; at++) {
		if (*at != ' ')
			hex[n++] = *at;
	}
	CHECK_STATUS(hex_decode(modulus, 32, span_of(hex, n)), ST_OK);
	for (int i = 31; i >= 0; i--) {
		carry += 2u * y[i];
		doubled[i] = (uint8_t)carry;
		carry >>= 8;
	}
	CHECK_INT(carry, 0);
	return memcmp(doubled, modulus, 32) > 0;
}

/* C is X, of LEN bytes, with the flags that the point's first y coordinate
 * (y, or y1 of an element of Fp2, not 0 here) asks for. */
static void
check_compressed(
    const uint8_t *c, const uint8_t *x, size_t len, const uint8_t *y)
{
	CHECK_INT(c[0] >> 6, is_larger(y) ? 3 : 2);
	CHECK_INT(c[0] & 0x3f, x[0]);
	CHECK_MEM(c + 1, x + 1, len - 1);
}

/* What the document shows of one proof: JSON, bytes and token are the same. */
static void
test_token(void)
{
	char *text = document();
	char json[4096], bytes[2048], token[512], hex[512];
	uint8_t raw[256];
	size_t len, n = 0;
	struct semaphore_proof from_json, from_token;
	struct semaphore_token t;
	struct semaphore_fault f;

	len = block(json, sizeof(json), behind(text, "### JSON"), "\n");
	CHECK_STATUS(
	    semaphore_proof_from_json(&from_json, json, len, &f), ST_OK);
	block(bytes, sizeof(bytes), behind(text, "byte by byte:"), " ");
	block(token, sizeof(token), behind(text, "and as a token:"), "");
	/* name, hex, name, hex ... */
	for (char *word = strtok(bytes, " "); word != NULL;
	     word = strtok(NULL, " ")) {
		char *digits = strtok(NULL, " ");
		CHECK(digits != NULL && n + strlen(digits) < sizeof(hex));
		strcpy(hex + n, digits);
		n += strlen(digits);
	}
	CHECK_STATUS(
	    base64_decode(raw, sizeof(raw), &len, span_str(token), BASE64_URL),
	    ST_OK);
	CHECK_INT(len, 200);
	char again[401];
	hex_encode(again, span_of(raw, len));
	CHECK_STR(again, hex);
	CHECK_INT(strlen(token), SEMAPHORE_COMPACT_LENGTH);
	CHECK_STATUS(
	    semaphore_token_decode(&from_token, &t, token, strlen(token), &f),
	    ST_OK);
	CHECK_INT(t.kind, SEMAPHORE_TOKEN_COMPACT);
	CHECK(t.epoch == 20612 && t.slot == 0);
	CHECK_INT(from_token.depth, from_json.depth);
	CHECK_MEM(from_token.root, from_json.root, 32);
	CHECK_MEM(from_token.nullifier, from_json.nullifier, 32);
	/* x and y in the JSON's order, x in the token's. */
	const uint8_t *affine = from_json.points, *c = from_token.points;
	check_compressed(c, affine, 32, affine + 32);
	check_compressed(c + 32, affine + 64, 64, affine + 128);
	check_compressed(c + 96, affine + 192, 32, affine + 224);
	free(text);
}

/* The examples of answers follow the grammar that they are to show. */
static void
test_examples(void)
{
	static const char *const marks[] = {"### 200", "Of each:", "### 407"};
	static const int codes[] = {200, 429, 407};
	static struct response r;
	static struct sf_item items[4];
	char *text = document(), head[2048];
	size_t n;

	for (size_t i = 0; i < 3; i++) {
		n = block(
		    head, sizeof(head) - 2, behind(text, marks[i]), "\r\n");
		memcpy(head + n, "\r\n", 3);
		CHECK(response_parse(&r, span_str(head)));
		CHECK_INT(r.code, codes[i]);
		if (codes[i] == 407) {
			CHECK(response_challenge(
			    items, response_field(&r, "Proxy-Authenticate")));
			continue;
		}
		CHECK(sf_list(
		    items, &n, 4, response_field(&r, "RateLimit-Policy")));
		CHECK(sf_list(items, &n, 4, response_field(&r, "RateLimit")));
	}
	free(text);
}

/* Every member that the daemon writes into the well-known document is named in
 * this one. */
static void
test_members(void)
{
	static const char call[] = "json_object_set_new(";
	char *text = document();
	char *source = test_read_file("../src/daemon/well_known.c", NULL);
	char name[64];
	size_t n = 0;

	for (char *p = source; (p = strstr(p, call)) != NULL; n++) {
		char *quote = strchr(p, '"'), *end = strchr(p, ';');
		CHECK(quote != NULL && quote < end);
		size_t len = strcspn(quote + 1, "\"");
		snprintf(name, sizeof(name), "`%.*s`", (int)len, quote + 1);
		if (strstr(text, name) == NULL)
			test_fail(
			    __FILE__, __LINE__, "%s is not described", name);
		p = end;
	}
	CHECK(n > 20);
	free(source);
	free(text);
}

TESTS({"the answer table", test_answer_table}, {"the requests", test_requests},
    {"the token, in all its forms", test_token},
    {"the members of the well-known document", test_members},
    {"the examples of answers", test_examples})
