/* Every answer of the gateway, taken apart by readers that are not its own. */
#include "harness.h"

#include <jansson.h>

#include "http/answer.h"
#include "postern/status.h"
#include "response.h"

/* The answer table of the design, written down a second time: whoever changes
 * an answer changes it here as well. */
static const struct expected {
	enum status st;
	int code;
	bool closes;
	const char *label, *proxy_error;
} expected[] = {
    {ST_HTTP_SYNTAX, 400, false, "http_syntax", "http_request_error"},
    {ST_HTTP_VERSION, 400, false, "http_version", "http_request_error"},
    {ST_HTTP_FORM, 400, false, "http_form", "http_request_error"},
    {ST_HTTP_AUTHORITY, 400, false, "http_authority", "http_request_error"},
    {ST_HTTP_HOST, 400, false, "http_host", "http_request_error"},
    {ST_HTTP_BODY, 400, false, "http_body", "http_request_error"},
    {ST_CREDENTIAL_TWICE, 400, false, "credential_twice", "http_request_error"},
    {ST_TARGET_PORT, 403, false, "target_port", "http_request_denied"},
    {ST_TARGET_NAME, 403, false, "target_name", "http_request_denied"},
    {ST_TARGET_ONION, 403, false, "target_onion", "http_request_denied"},
    {ST_TARGET_LITERAL, 403, false, "target_literal", "http_request_denied"},
    {ST_TARGET_ADDRESS, 403, false, "target_address",
	"destination_ip_prohibited"},
    {ST_HTTP_PATH, 404, false, "http_path", "http_request_denied"},
    {ST_HTTP_METHOD, 405, false, "http_method", "http_request_denied"},
    {ST_CREDENTIAL_MISSING, 407, false, "credential_missing",
	"http_request_denied"},
    {ST_CREDENTIAL_BAD, 407, false, "credential_bad", "http_request_denied"},
    {ST_PROOF_INVALID, 407, false, "proof_invalid", "http_request_denied"},
    {ST_EPOCH_PAST, 407, false, "epoch_past", "http_request_denied"},
    {ST_EPOCH_FUTURE, 407, false, "epoch_future", "http_request_denied"},
    {ST_SCOPE_UNKNOWN, 407, false, "scope_unknown", "http_request_denied"},
    {ST_MESSAGE_WRONG, 407, false, "message_wrong", "http_request_denied"},
    {ST_ROOT_UNKNOWN, 407, false, "root_unknown", "http_request_denied"},
    {ST_HTTP_TIMEOUT, 408, true, "http_timeout", "http_request_error"},
    {ST_QUOTA_REQUESTS, 429, false, "quota_requests", "http_request_denied"},
    {ST_QUOTA_TUNNELS, 429, false, "quota_tunnels", "http_request_denied"},
    {ST_QUOTA_BYTES, 429, false, "quota_bytes", "http_request_denied"},
    {ST_QUOTA_RATE, 429, false, "quota_rate", "http_request_denied"},
    {ST_CIRCUIT_LIMIT, 429, false, "circuit_limit", "http_request_denied"},
    {ST_HTTP_TOO_LARGE, 431, true, "http_too_large", "http_request_error"},
    {ST_INTERNAL, 500, true, "internal", "proxy_internal_error"},
    {ST_DNS_FAILED, 502, false, "dns_failed", "dns_error"},
    {ST_DNS_NOT_FOUND, 502, false, "dns_not_found", "dns_error"},
    {ST_CONNECT_REFUSED, 502, false, "connect_refused", "connection_refused"},
    {ST_CONNECT_UNREACHABLE, 502, false, "connect_unreachable",
	"destination_ip_unroutable"},
    {ST_CONNECT_FAILED, 502, false, "connect_failed",
	"destination_unavailable"},
    {ST_LEDGER_FULL, 503, false, "ledger_full", "proxy_internal_error"},
    {ST_JOURNAL_FAILED, 503, false, "journal_failed", "proxy_internal_error"},
    {ST_LEDGER_UNREACHABLE, 503, false, "ledger_unreachable",
	"proxy_internal_error"},
    {ST_OVERLOADED, 503, false, "overloaded", "connection_limit_reached"},
    {ST_DRAINING, 503, false, "draining", "connection_limit_reached"},
    {ST_TARGET_LIMIT, 503, false, "target_limit", "connection_limit_reached"},
    {ST_DNS_TIMEOUT, 504, false, "dns_timeout", "dns_timeout"},
    {ST_CONNECT_TIMEOUT, 504, false, "connect_timeout", "connection_timeout"},
};

/* RFC 9209, section 2.3. */
static const char *const proxy_errors[] = {"dns_timeout", "dns_error",
    "destination_not_found", "destination_unavailable",
    "destination_ip_prohibited", "destination_ip_unroutable",
    "connection_refused", "connection_terminated", "connection_timeout",
    "connection_read_timeout", "connection_write_timeout",
    "connection_limit_reached", "tls_protocol_error", "tls_certificate_error",
    "tls_alert_received", "http_request_error", "http_request_denied",
    "http_response_incomplete", "http_response_header_section_size",
    "http_response_header_size", "http_response_body_size",
    "http_response_trailer_section_size", "http_response_trailer_size",
    "http_response_transfer_coding", "http_response_content_coding",
    "http_response_timeout", "http_upgrade_failed", "http_protocol_error",
    "proxy_internal_response", "proxy_internal_error",
    "proxy_configuration_error", "proxy_loop_detected"};

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof(*(ARRAY)))

static const struct answer_limit some_limits[] = {
    {"epoch", ANSWER_REQUESTS, 100, 86400, 50, 30},
    {"bytes", ANSWER_BYTES, 1000000, 86400, 0, 30},
    {"tunnels", ANSWER_TUNNELS, 8, 0, 3, 0},
};

static const struct answer_challenge some_challenge = {
    .realm = "west \"gate\"",
    .scope = "20000",
    .message = "12345678901234567890",
    .expires = 1728086400,
    .slots = 4,
};

static char text[ANSWER_MAX];

/* Write A and take it apart. */
static void
respond(struct response *r, const struct answer *a)
{
	size_t len;

	memset(text, 0, sizeof(text));
	CHECK_STATUS(answer_write(text, sizeof(text), &len, a), ST_OK);
	CHECK(response_parse(r, span_of(text, len)));
}

static void
check_field(const struct response *r, const char *name, const char *want)
{
	const char *got = response_field(r, name);

	if (got == NULL)
		test_fail(__FILE__, __LINE__, "no %s, or more than one", name);
	CHECK_STR(got, want);
}

/* RFC 9110, section 15, and RFC 6585. */
static const struct {
	int code;
	const char *phrase;
} phrases[] = {{400, "Bad Request"}, {403, "Forbidden"}, {404, "Not Found"},
    {405, "Method Not Allowed"}, {407, "Proxy Authentication Required"},
    {408, "Request Timeout"}, {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"}, {500, "Internal Server Error"},
    {502, "Bad Gateway"}, {503, "Service Unavailable"},
    {504, "Gateway Timeout"}};

static const char *
phrase_of(int code)
{
	for (size_t i = 0; i < COUNT(phrases); i++) {
		if (phrases[i].code == code)
			return phrases[i].phrase;
	}
	return "none";
}

static const struct expected *
expected_of(enum status st)
{
	for (size_t i = 0; i < COUNT(expected); i++) {
		if (expected[i].st == st)
			return &expected[i];
	}
	return NULL;
}

static void
check_proxy_status(
    const struct response *r, const char *error, const char *details)
{
	static struct sf_item item;
	size_t n;
	const char *value = response_field(r, "Proxy-Status");
	bool registered = false;

	CHECK(value != NULL && sf_list(&item, &n, 1, value));
	CHECK_INT(item.value.kind, SF_TOKEN);
	CHECK_STR(item.value.text, "postern");
	CHECK_INT(item.n, 2);
	CHECK_INT(sf_param(&item, "error")->kind, SF_TOKEN);
	CHECK_STR(sf_param(&item, "error")->text, error);
	CHECK_INT(sf_param(&item, "details")->kind, SF_STRING);
	CHECK_STR(sf_param(&item, "details")->text, details);
	for (size_t i = 0; i < COUNT(proxy_errors); i++)
		registered = registered || strcmp(proxy_errors[i], error) == 0;
	CHECK(registered);
}

static void
check_problem(
    const struct response *r, const struct expected *e, const char *detail)
{
	json_error_t why;
	json_t *root = json_loadb((const char *)r->content.ptr, r->content.len,
	    JSON_REJECT_DUPLICATES, &why);
	char length[24];

	if (root == NULL)
		test_fail(__FILE__, __LINE__, "%s", why.text);
	CHECK_STR(
	    json_string_value(json_object_get(root, "type")), "about:blank");
	CHECK_STR(json_string_value(json_object_get(root, "title")), r->phrase);
	CHECK_INT(json_integer_value(json_object_get(root, "status")), e->code);
	CHECK_STR(json_string_value(json_object_get(root, "detail")), detail);
	CHECK_STR(json_string_value(json_object_get(root, "error")), e->label);
	const char *cure = status_info(e->st)->cure;
	CHECK((json_object_get(root, "cure") != NULL) == (cure != NULL));
	json_decref(root);
	snprintf(length, sizeof(length), "%zu", r->content.len);
	check_field(r, "Content-Length", length);
	check_field(r, "Content-Type", "application/problem+json");
}

static void
test_every_status(void)
{
	static struct response r;
	size_t answers = 0;

	for (int s = 0; s < ST_COUNT; s++) {
		const struct expected *e = expected_of((enum status)s);
		struct answer a = {
		    .status = (enum status)s, .challenge = &some_challenge};
		if (s == ST_OK)
			continue;
		if (status_info((enum status)s)->http == 0) {
			/* Not for clients: if it leaks out, it is our bug. */
			CHECK(e == NULL);
			e = expected_of(ST_INTERNAL);
		} else {
			answers++;
		}
		if (e == NULL)
			test_fail(__FILE__, __LINE__, "%s is not expected",
			    status_info((enum status)s)->name);
		respond(&r, &a);
		CHECK_INT(r.code, e->code);
		CHECK_STR(r.phrase, phrase_of(e->code));
		CHECK_INT(answer_closes(&a), e->closes);
		check_field(
		    &r, "Connection", e->closes ? "close" : "keep-alive");
		check_field(&r, "Cache-Control", "no-store");
		const char *what = status_text(e->st);
		check_proxy_status(&r, e->proxy_error, what);
		check_problem(&r, e, what);
		CHECK(
		    (response_field(&r, "Allow") != NULL) == (e->code == 405));
		CHECK((response_field(&r, "Proxy-Authenticate") != NULL) ==
		    (e->code == 407));
		CHECK((response_field(&r, "Retry-After") != NULL) ==
		    (e->code == 429 || e->code == 503));
		CHECK(response_field(&r, "Date") == NULL);
		CHECK(response_field(&r, "Server") == NULL);
		CHECK(response_field(&r, "RateLimit") == NULL);
	}
	CHECK_INT(answers, COUNT(expected));
}

static void
test_tunnel(void)
{
	struct answer a = {
	    .status = ST_OK, .limits = some_limits, .n_limits = 3};
	static struct response r;

	respond(&r, &a);
	CHECK_INT(r.code, 200);
	/* RFC 9110, 9.3.6: no content, and neither of these fields. */
	CHECK_INT(r.content.len, 0);
	CHECK(response_field(&r, "Content-Length") == NULL);
	CHECK(response_field(&r, "Transfer-Encoding") == NULL);
	CHECK(!answer_closes(&a));
	CHECK_INT(r.n, 2);
	check_field(&r, "RateLimit-Policy",
	    "\"epoch\";q=100;w=86400, "
	    "\"bytes\";q=1000000;qu=\"content-bytes\";w=86400, "
	    "\"tunnels\";q=8;qu=\"concurrent-requests\"");
	check_field(&r, "RateLimit",
	    "\"epoch\";r=50;t=30, \"bytes\";r=0;t=30, \"tunnels\";r=3");

	a.n_limits = 0;
	respond(&r, &a);
	CHECK_INT(r.n, 0);
}

static void
test_limits_syntax(void)
{
	struct answer_limit big = {"a\"b\\c\r\nd\xff", ANSWER_REQUESTS,
	    UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	struct answer_limit many[6] = {big, big, big, big, big, big};
	struct answer a = {.status = ST_OK, .limits = many, .n_limits = 6};
	static struct sf_item items[8];
	static struct response r;
	size_t n;

	respond(&r, &a);
	CHECK(sf_list(items, &n, 8, response_field(&r, "RateLimit-Policy")));
	CHECK_INT(n, ANSWER_LIMITS_MAX);
	CHECK_STR(items[0].value.text, "a\"b\\c??d?");
	CHECK_INT(sf_param(&items[0], "q")->number, 999999999999999);
	CHECK_INT(sf_param(&items[0], "w")->number, 999999999999999);
	CHECK(sf_list(items, &n, 8, response_field(&r, "RateLimit")));
	CHECK_INT(n, ANSWER_LIMITS_MAX);
	CHECK_INT(sf_param(&items[3], "r")->number, 999999999999999);
	CHECK_INT(sf_param(&items[3], "t")->number, 999999999999999);
}

static void
test_challenge(void)
{
	struct answer a = {
	    .status = ST_EPOCH_PAST, .challenge = &some_challenge};
	static struct response r;
	static struct sf_item c;

	respond(&r, &a);
	CHECK(response_challenge(&c, response_field(&r, "Proxy-Authenticate")));
	CHECK_STR(c.value.text, "Semaphore");
	CHECK_INT(c.n, 6);
	CHECK_STR(sf_param(&c, "realm")->text, "west \"gate\"");
	CHECK_INT(sf_param(&c, "realm")->kind, SF_STRING);
	CHECK_STR(sf_param(&c, "scope")->text, "20000");
	CHECK_STR(sf_param(&c, "message")->text, "12345678901234567890");
	CHECK_INT(sf_param(&c, "expires")->number, 1728086400);
	CHECK_INT(sf_param(&c, "slots")->number, 4);
	CHECK_STR(sf_param(&c, "error")->text, "epoch_past");

	/* Without anything to say there is still a challenge (RFC 9110,
	 * 15.5.8: a 407 has one). */
	a.challenge = NULL;
	respond(&r, &a);
	CHECK(response_challenge(&c, response_field(&r, "Proxy-Authenticate")));
	CHECK_STR(sf_param(&c, "realm")->text, "");
	struct answer_challenge no_realm = some_challenge;
	no_realm.realm = NULL;
	a.challenge = &no_realm;
	respond(&r, &a);
	CHECK(response_challenge(&c, response_field(&r, "Proxy-Authenticate")));
	CHECK_STR(sf_param(&c, "realm")->text, "");
}

static void
test_quota(void)
{
	struct answer a = {.status = ST_QUOTA_REQUESTS,
	    .limits = some_limits,
	    .n_limits = 1,
	    .violated = "epoch",
	    .retry_after = 30};
	static struct response r;

	respond(&r, &a);
	CHECK_INT(r.code, 429);
	check_field(&r, "Retry-After", "30");
	check_field(&r, "RateLimit", "\"epoch\";r=50;t=30");
	json_t *root = json_loadb((const char *)r.content.ptr, r.content.len,
	    JSON_REJECT_DUPLICATES, NULL);
	CHECK(root != NULL);
	CHECK_STR(json_string_value(json_object_get(root, "type")),
	    "https://iana.org/assignments/http-problem-types#quota-exceeded");
	json_t *violated = json_object_get(root, "violated-policies");
	CHECK_INT(json_array_size(violated), 1);
	CHECK_STR(json_string_value(json_array_get(violated, 0)), "epoch");
	CHECK_INT(json_integer_value(json_object_get(root, "retry-after")), 30);
	json_decref(root);

	a.retry_after = 0; /* never "at once" */
	respond(&r, &a);
	check_field(&r, "Retry-After", "1");
}

static void
test_connection_and_head(void)
{
	struct answer a = {.status = ST_HTTP_PATH};
	static struct response r, without;
	char length[24];

	respond(&r, &a);
	a.no_content = true;
	respond(&without, &a);
	/* RFC 9110, 9.3.2: the fields of HEAD are those of GET. */
	CHECK_INT(without.content.len, 0);
	CHECK_INT(without.n, r.n);
	snprintf(length, sizeof(length), "%zu", r.content.len);
	check_field(&without, "Content-Length", length);
	a.close = true;
	CHECK(answer_closes(&a));
	respond(&r, &a);
	check_field(&r, "Connection", "close");
	a.status = ST_HTTP_METHOD;
	respond(&r, &a);
	check_field(&r, "Allow", "CONNECT, GET, HEAD");
}

/* A text that comes from a request ends no line and no string. */
static void
test_untrusted_text(void)
{
	static const char evil[] = "\"; error=ok\r\nX-Evil: 1\r\n\r\n<b>\\\x7f"
				   "\xff\xc3\xa9{\"a\":1}";
	struct answer a = {.status = ST_CREDENTIAL_BAD,
	    .detail = evil,
	    .challenge = &some_challenge};
	char detail[128];
	static struct response r;

	respond(&r, &a);
	CHECK(response_field(&r, "X-Evil") == NULL);
	check_proxy_status(&r, "http_request_denied",
	    "malformed proof: \"; error=ok?"
	    "?X-Evil: 1?"
	    "?"
	    "?"
	    "?<b>\\?"
	    "?"
	    "?"
	    "?"
	    "{\"a\":1}");
	snprintf(detail, sizeof(detail), "malformed proof: %s", evil);
	json_t *root =
	    json_loadb((const char *)r.content.ptr, r.content.len, 0, NULL);
	CHECK(root != NULL);
	const char *got = json_string_value(json_object_get(root, "detail"));
	/* What is no UTF-8 is replaced (U+FFFD), the rest is as it was. */
	char *ff = strchr(detail, '\xff');
	CHECK_INT(strncmp(got, detail, (size_t)(ff - detail)), 0);
	CHECK_STR(got + (ff - detail), "\xef\xbf\xbd\xc3\xa9{\"a\":1}");
	json_decref(root);
}

static void
test_longest(void)
{
	static char worst[4096];
	struct answer_limit limit = {worst, ANSWER_TUNNELS, UINT64_MAX,
	    UINT64_MAX, UINT64_MAX, UINT64_MAX};
	struct answer_limit limits[4] = {limit, limit, limit, limit};
	char number[79];
	struct answer_challenge challenge = {
	    worst, number, number, UINT64_MAX, UINT32_MAX};
	static const char fill[] = {'\x01', '"', '\xff'};
	size_t len;

	memset(number, '9', sizeof(number) - 1);
	number[sizeof(number) - 1] = '\0';
	for (size_t f = 0; f < sizeof(fill); f++) {
		memset(worst, fill[f], sizeof(worst) - 1);
		for (int s = 0; s < ST_COUNT; s++) {
			struct answer a = {.status = (enum status)s,
			    .detail = worst,
			    .challenge = &challenge,
			    .limits = limits,
			    .n_limits = 4,
			    .violated = worst,
			    .retry_after = UINT32_MAX};
			CHECK_STATUS(
			    answer_write(text, sizeof(text), &len, &a), ST_OK);
			CHECK(len > 0 && len <= ANSWER_MAX);
		}
	}
}

/* Whatever the room, nothing is written beyond it and no half answer told. */
static void
test_small_rooms(void)
{
	struct answer a = {.status = ST_PROOF_INVALID,
	    .challenge = &some_challenge,
	    .limits = some_limits,
	    .n_limits = 3};
	struct answer_document d = {
	    .type = "application/json", .length = 3, .etag = "x"};
	size_t full, len;

	CHECK_STATUS(answer_write(text, sizeof(text), &full, &a), ST_OK);
	for (size_t cap = 0; cap < full; cap++) {
		memset(text, '#', sizeof(text));
		CHECK_STATUS(answer_write(text, cap, &len, &a), ST_NO_SPACE);
		CHECK(len == 0 && text[cap] == '#');
	}
	CHECK_STATUS(answer_document(text, sizeof(text), &full, &d), ST_OK);
	for (size_t cap = 0; cap < full; cap++) {
		memset(text, '#', sizeof(text));
		CHECK_STATUS(answer_document(text, cap, &len, &d), ST_NO_SPACE);
		CHECK(len == 0 && text[cap] == '#');
	}
}

static void
test_documents(void)
{
	struct answer_document d = {.type = "application/json",
	    .length = 1234567890123,
	    .etag = "5f-1",
	    .max_age = 60};
	static struct response r;
	size_t len;

	CHECK_STATUS(answer_document(text, sizeof(text), &len, &d), ST_OK);
	CHECK(response_parse(&r, span_of(text, len)));
	CHECK_INT(r.code, 200);
	CHECK_INT(r.content.len, 0);
	check_field(&r, "Content-Type", "application/json");
	check_field(&r, "Content-Length", "1234567890123");
	check_field(&r, "ETag", "\"5f-1\"");
	check_field(&r, "Cache-Control", "max-age=60");
	check_field(&r, "Connection", "keep-alive");

	d.not_modified = d.close = true;
	d.max_age = 0;
	CHECK_STATUS(answer_document(text, sizeof(text), &len, &d), ST_OK);
	CHECK(response_parse(&r, span_of(text, len)));
	CHECK_INT(r.code, 304);
	CHECK(response_field(&r, "Content-Length") == NULL);
	check_field(&r, "ETag", "\"5f-1\"");
	check_field(&r, "Cache-Control", "no-cache");
	check_field(&r, "Connection", "close");
}

static void
test_etags(void)
{
	static const struct {
		const char *value;
		bool matches;
	} cases[] = {
	    {"", false},
	    {"*", true},
	    {"\"a\"", true},
	    {"W/\"a\"", true},
	    {"\"b\"", false},
	    {"\"A\"", false},
	    {"\"b\", \"a\"", true},
	    {" ,\t\"b\",, W/\"a\" ,", true},
	    {"a", false},
	    {"\"a", false},
	    {"W/", false},
	    {"W/a", false},
	    {"\"\"", false},
	    {"\"\", \"a\"", true},
	    {"x/\"a\"", false},
	    {"xa\"", false},
	    {"\"b\" junk \"a\"", false},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_INT(answer_etag_matches(span_str(cases[i].value), "a"),
		    cases[i].matches);
	CHECK(!answer_etag_matches(span_of(NULL, 0), "a"));
}

TESTS({"every status has its answer", test_every_status},
    {"200 to CONNECT", test_tunnel}, {"rate limits", test_limits_syntax},
    {"the challenge", test_challenge}, {"a quota used up", test_quota},
    {"Connection, HEAD, Allow", test_connection_and_head},
    {"text from elsewhere", test_untrusted_text},
    {"the longest answer fits", test_longest},
    {"too little room", test_small_rooms}, {"documents", test_documents},
    {"entity tags", test_etags})
