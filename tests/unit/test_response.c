/* The head of an answer, as the client reads it. */
#include "harness.h"

#include <stdlib.h>

#include "http/answer.h"
#include "http/response.h"

static const struct good {
	const char *name, *text;
	unsigned code;
	bool keep, has_length;
	uint64_t length, retry_after;
	const char *etag, *rate_limit;
} good[] = {
    {"connected", "HTTP/1.1 200 Connection established\r\n\r\n", 200, true,
	false, 0, 0, "", ""},
    {"with what is left",
	"HTTP/1.1 200 Connection established\r\n"
	"RateLimit-Policy: \"requests\";q=100;w=86400\r\n"
	"RateLimit: \"requests\";r=57;t=32400\r\n\r\n",
	200, true, false, 0, 0, "", "\"requests\";r=57;t=32400"},
    {"a refusal",
	"HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n"
	"Retry-After: 32400\r\nContent-Length: 399\r\n\r\n",
	429, false, true, 399, 32400, "", ""},
    {"no phrase", "HTTP/1.1 504 \r\nCONTENT-LENGTH:\t0 \r\n\r\n", 504, true,
	true, 0, 0, "", ""},
    {"close in a list", "HTTP/1.1 400 x\r\nConnection: a , cLoSe\r\n\r\n", 400,
	false, false, 0, 0, "", ""},
    {"a date to come back at",
	"HTTP/1.1 503 x\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n\r\n",
	503, true, false, 0, 0, "", ""},
    {"an ETag", "HTTP/1.1 304 Not Modified\r\nETag: \"abc\"\r\n\r\n", 304, true,
	false, 0, 0, "\"abc\"", ""},
};

static const struct bad {
	const char *name, *text;
	enum status status;
} bad[] = {
    {"not HTTP", "SSH-2.0-OpenSSH_9.2p1\r\n", ST_HTTP_SYNTAX},
    {"a request", "GET / HTTP/1.1\r\n", ST_HTTP_SYNTAX},
    {"HTTP/1.0", "HTTP/1.0 200 OK\r\n", ST_HTTP_VERSION},
    {"HTTP/2", "HTTP/2 200 \r\n", ST_HTTP_VERSION},
    {"no code", "HTTP/1.1 OK\r\n", ST_HTTP_SYNTAX},
    {"no space behind the code", "HTTP/1.1 200\r\n", ST_HTTP_SYNTAX},
    {"four digits", "HTTP/1.1 2000 OK\r\n", ST_HTTP_SYNTAX},
    {"600", "HTTP/1.1 600 x\r\n", ST_HTTP_SYNTAX},
    {"an interim answer", "HTTP/1.1 100 Continue\r\n", ST_HTTP_SYNTAX},
    {"a code with a sign", "HTTP/1.1 +20 x\r\n", ST_HTTP_SYNTAX},
    {"a bare LF", "HTTP/1.1 200 OK\n", ST_HTTP_SYNTAX},
    {"a bare CR", "HTTP/1.1 200 OK\rX", ST_HTTP_SYNTAX},
    {"a control character", "HTTP/1.1 200 \1", ST_HTTP_SYNTAX},
    {"a folded line", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n", ST_HTTP_SYNTAX},
    {"a space before the colon", "HTTP/1.1 200 OK\r\nA : b\r\n",
	ST_HTTP_SYNTAX},
    {"no colon", "HTTP/1.1 200 OK\r\nA\r\n", ST_HTTP_SYNTAX},
    {"two lengths",
	"HTTP/1.1 403 x\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
	ST_HTTP_BODY},
    {"a length that is none", "HTTP/1.1 403 x\r\nContent-Length: 1, 1\r\n",
	ST_HTTP_BODY},
    {"a length with a sign", "HTTP/1.1 403 x\r\nContent-Length: +1\r\n",
	ST_HTTP_BODY},
    {"chunks", "HTTP/1.1 403 x\r\nTransfer-Encoding: chunked\r\n",
	ST_HTTP_BODY},
};

/* Feed TEXT byte by byte, in memory that is elsewhere each time and not a byte
 * too long. Out: r, *used, *at (when it was told), *copy, which r points into
 * and the caller frees. */
static enum status
feed(
    struct response *r, size_t *used, size_t *at, char **copy, const char *text)
{
	struct response_parser p;
	enum status st = ST_MORE;
	size_t n = 0;

	*copy = NULL;
	response_parser_init(&p);
	while (st == ST_MORE && n < strlen(text)) {
		char *last = *copy;
		*copy = malloc(++n);
		CHECK(*copy != NULL);
		memcpy(*copy, text, n);
		free(last);
		st = response_parse(&p, r, used, span_of(*copy, n));
	}
	*at = n;
	return st;
}

static void
test_good(void)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct good *g = &good[i];
		struct response whole, r;
		struct response_parser p;
		size_t used, at;
		char *copy;

		response_parser_init(&p);
		CHECK_STATUS(
		    response_parse(&p, &whole, &used, span_str(g->text)),
		    ST_OK);
		CHECK_INT(used, strlen(g->text));
		if (whole.code != g->code || whole.keep != g->keep ||
		    whole.has_length != g->has_length ||
		    whole.length != g->length ||
		    whole.retry_after != g->retry_after ||
		    !span_equal(whole.etag, span_str(g->etag)) ||
		    !span_equal(whole.rate_limit, span_str(g->rate_limit)))
			test_fail(__FILE__, __LINE__, "%s", g->name);
		CHECK_STATUS(feed(&r, &used, &at, &copy, g->text), ST_OK);
		CHECK_INT(at, strlen(g->text));
		CHECK(r.code == whole.code && r.length == whole.length);
		CHECK(span_equal(r.rate_limit, whole.rate_limit));
		free(copy);
	}
}

static void
test_bad(void)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct response r;
		size_t used, at;
		char *copy;
		enum status st = feed(&r, &used, &at, &copy, bad[i].text);

		if (st != bad[i].status || at != strlen(bad[i].text))
			test_fail(__FILE__, __LINE__, "%s: %s at %zu",
			    bad[i].name, status_info(st)->name, at);
		CHECK(used == 0 && r.code == 0);
		free(copy);
	}
}

static void
test_too_large(void)
{
	static const char line[] = "X: y\r\n";
	char *text = malloc(RESPONSE_BYTES_MAX + 64);
	struct response_parser p;
	struct response r;
	size_t used, n = 0;

	CHECK(text != NULL);
	n += (size_t)sprintf(text, "HTTP/1.1 200 OK\r\n");
	for (unsigned i = 0; i <= RESPONSE_FIELDS_MAX; i++)
		n += (size_t)sprintf(text + n, "%s", line);
	response_parser_init(&p);
	CHECK_STATUS(
	    response_parse(&p, &r, &used, span_of(text, n)), ST_HTTP_TOO_LARGE);
	/* One field less is not too many. */
	response_parser_init(&p);
	CHECK_STATUS(
	    response_parse(&p, &r, &used, span_of(text, n - strlen(line))),
	    ST_MORE);
	memset(text, 'a', RESPONSE_BYTES_MAX);
	memcpy(text, "HTTP/1.1 200 ", 13);
	response_parser_init(&p);
	CHECK_STATUS(response_parse(
			 &p, &r, &used, span_of(text, RESPONSE_BYTES_MAX - 1)),
	    ST_MORE);
	CHECK_STATUS(
	    response_parse(&p, &r, &used, span_of(text, RESPONSE_BYTES_MAX)),
	    ST_HTTP_TOO_LARGE);
	free(text);
}

/* What the gateway writes is what the client reads. */
static void
test_our_own(void)
{
	const struct answer_limit limits[] = {
	    {"requests", ANSWER_REQUESTS, 100, 86400, 57, 32400},
	    {"tunnels", ANSWER_TUNNELS, 8, 0, 7, 0},
	};

	for (enum status s = ST_OK; s < ST_COUNT; s++) {
		struct answer a = {.status = s,
		    .limits = limits,
		    .n_limits = 2,
		    .retry_after = 77};
		struct response_parser p;
		struct response r;
		char text[ANSWER_MAX];
		uint64_t left, reset;
		size_t len, used;

		if (status_info(s)->http == 0)
			continue;
		CHECK_STATUS(answer_write(text, sizeof(text), &len, &a), ST_OK);
		response_parser_init(&p);
		CHECK_STATUS(
		    response_parse(&p, &r, &used, span_of(text, len)), ST_OK);
		CHECK_INT(r.code, status_info(s)->http);
		CHECK(r.keep == !answer_closes(&a) || r.code == 200);
		CHECK(r.code == 200 || used + r.length == len);
		CHECK_INT(
		    r.retry_after, r.code == 429 || r.code == 503 ? 77 : 0);
		CHECK_STATUS(
		    response_limit(&left, &reset, r.rate_limit, "requests"),
		    ST_OK);
		CHECK(left == 57 && reset == 32400);
		CHECK_STATUS(
		    response_limit(&left, &reset, r.rate_limit, "tunnels"),
		    ST_OK);
		CHECK(left == 7 && reset == 0);
	}
}

static void
test_limits(void)
{
	static const struct {
		const char *value;
		enum status status;
		uint64_t left, reset;
	} cases[] = {
	    {"\"a\";r=1;t=2", ST_OK, 1, 2},
	    {"\"b\";r=9,\"a\";t=2;r=1", ST_OK, 1, 2},
	    {" \"a\" ; r=0 ", ST_OK, 0, 0},
	    {"\"a\";r=3;x=?1", ST_OK, 3, 0},
	    {"", ST_NOT_FOUND, 0, 0},
	    {"\"aa\";r=1", ST_NOT_FOUND, 0, 0},
	    {"a;r=1", ST_BAD_ENCODING, 0, 0},
	    {"\"a\"", ST_BAD_ENCODING, 0, 0},
	    {"\"a\";r=-1", ST_BAD_ENCODING, 0, 0},
	    {"\"a\";r=1000000000000000", ST_BAD_ENCODING, 0, 0},
	    {"\"a\";t=1", ST_BAD_ENCODING, 0, 0},
	    {"\";r=1", ST_BAD_ENCODING, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t left, reset;
		CHECK_STATUS(response_limit(
				 &left, &reset, span_str(cases[i].value), "a"),
		    cases[i].status);
		CHECK(left == cases[i].left && reset == cases[i].reset);
	}
}

TESTS({"good heads", test_good}, {"bad heads", test_bad},
    {"too large", test_too_large}, {"our own answers", test_our_own},
    {"limits", test_limits}, )
