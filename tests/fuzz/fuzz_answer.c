/* Answers with any text in them: still one response, with nothing added. */
#include "fuzz.h"

#include <jansson.h>

#include "http/answer.h"
#include "response.h"

/* The input: a status, then the texts, each until a zero byte. */
static const char *
take_text(const char **at, const char *end)
{
	const char *text = *at;

	if (text == end)
		return NULL;
	*at = memchr(text, '\0', (size_t)(end - text));
	*at = *at != NULL ? *at + 1 : end;
	return text;
}

static void
check_content(const struct response *r)
{
	json_t *root = json_loadb((const char *)r->content.ptr, r->content.len,
	    JSON_REJECT_DUPLICATES, NULL);

	FUZZ_CHECK(root != NULL && json_is_object(root));
	FUZZ_CHECK(
	    json_integer_value(json_object_get(root, "status")) == r->code);
	json_decref(root);
	FUZZ_CHECK(strtoul(response_field(r, "Content-Length"), NULL, 10) ==
	    r->content.len);
}

static void
check_fields(const struct response *r, size_t n_limits)
{
	static struct sf_item items[ANSWER_LIMITS_MAX];
	const char *policy = response_field(r, "RateLimit-Policy");
	const char *state = response_field(r, "RateLimit");
	size_t n;

	FUZZ_CHECK((policy != NULL) == (n_limits > 0));
	FUZZ_CHECK((state != NULL) == (n_limits > 0));
	if (n_limits > 0) {
		FUZZ_CHECK(sf_list(items, &n, ANSWER_LIMITS_MAX, policy));
		FUZZ_CHECK(n == n_limits);
		FUZZ_CHECK(sf_list(items, &n, ANSWER_LIMITS_MAX, state));
		FUZZ_CHECK(n == n_limits);
	}
	if (r->code == 200)
		return;
	FUZZ_CHECK(sf_list(items, &n, 1, response_field(r, "Proxy-Status")));
	FUZZ_CHECK(items[0].n == 2);
	if (r->code == 407)
		FUZZ_CHECK(response_challenge(
		    items, response_field(r, "Proxy-Authenticate")));
}

/* A document with any entity tag, and a list of tags that may name it. */
static void
check_document(const char *etag, const char *list)
{
	static char text[ANSWER_MAX];
	struct answer_document d = {
	    .type = "application/json", .length = 7, .max_age = 1};
	char exact[64];
	size_t len;
	bool known;

	if (etag == NULL || strlen(etag) > 32)
		etag = "0123456789abcdef";
	for (const char *p = etag; *p != '\0'; p++) {
		if (*p < '0' || *p > 'z')
			etag = "fedcba9876543210";
	}
	known = list != NULL && answer_etag_matches(span_str(list), etag);
	FUZZ_CHECK(
	    !known || strstr(list, etag) != NULL || strchr(list, '*') != NULL);
	snprintf(exact, sizeof(exact), "\"x\", W/\"%s\"", etag);
	FUZZ_CHECK(answer_etag_matches(span_str(exact), etag));
	d.etag = known ? NULL : etag;
	d.not_modified = known;
	FUZZ_CHECK(answer_document(text, sizeof(text), &len, &d) == ST_OK);
	FUZZ_CHECK(
	    memcmp(text, known ? "HTTP/1.1 304" : "HTTP/1.1 200", 12) == 0);
	FUZZ_CHECK(memcmp(text + len - 4, "\r\n\r\n", 4) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[ANSWER_MAX];
	static struct response r;
	char *copy;
	size_t len;

	if (size < 2)
		return 0;
	/* A zero byte behind it all ends the last text. */
	copy = calloc(1, size);
	FUZZ_CHECK(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	const char *at = copy, *end = copy + size - 1;
	struct answer_limit limits[2] = {
	    {.name = take_text(&at, end), .quota = size, .window = size},
	    {.name = take_text(&at, end), .unit = ANSWER_BYTES}};
	struct answer_challenge challenge = {
	    .realm = take_text(&at, end), .scope = "1", .message = "2"};
	struct answer a = {
	    .status = (enum status)(data[0] % ST_COUNT),
	    .violated = take_text(&at, end),
	    .detail = take_text(&at, end),
	    .challenge = size % 3 != 0 ? &challenge : NULL,
	    .limits = limits,
	    .n_limits = size % 3,
	};
	FUZZ_CHECK(answer_write(text, sizeof(text), &len, &a) == ST_OK);
	FUZZ_CHECK(response_parse(&r, span_of(text, len)));
	if (r.code == 200)
		FUZZ_CHECK(r.content.len == 0);
	else
		check_content(&r);
	check_fields(&r, a.n_limits);
	check_document(a.violated, a.detail);
	free(copy);
	return 0;
}
