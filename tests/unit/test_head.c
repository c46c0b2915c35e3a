/* The request head, the authority in it, and the PROXY line before it. */
#include "harness.h"

#include <stdlib.h>

#include "http/head.h"
#include "http/proxy_line.h"

#define AUTH "Proxy-Authorization: "
#define CONNECT(FIELDS)                        \
	"CONNECT example.com:443 HTTP/1.1\r\n" \
	"Host: example.com:443\r\n" FIELDS "\r\n"
#define GET(TARGET) "GET " TARGET " HTTP/1.1\r\nHost: a.onion\r\n\r\n"

/* --- good heads ------------------------------------------------------------ */

static const struct good {
	const char *name, *text;
	enum http_method method;
	const char *host; /* of CONNECT; else NULL */
	unsigned port;
	const char *path, *query; /* of GET and HEAD */
	enum status credential;
	const char *token;
	bool close;
} good[] = {
    {"as curl sends it",
	"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n"
	"User-Agent: curl/7.88.1\r\nProxy-Connection: Keep-Alive\r\n" AUTH
	"Semaphore eyJhIjoxfQ\r\n\r\n",
	HTTP_CONNECT, "example.com", 443, "", "", ST_OK, "eyJhIjoxfQ", false},
    {"no credential", CONNECT(""), HTTP_CONNECT, "example.com", 443, "", "",
	ST_CREDENTIAL_MISSING, "", false},
    {"scheme in another case, two spaces", CONNECT(AUTH "sEMAPHORE  abc\r\n"),
	HTTP_CONNECT, "example.com", 443, "", "", ST_OK, "abc", false},
    {"all characters of token68",
	CONNECT(AUTH "Semaphore \tAZaz09-._~+/==\t \r\n"), HTTP_CONNECT,
	"example.com", 443, "", "", ST_CREDENTIAL_BAD, "", false},
    {"blanks around the value",
	CONNECT(AUTH "\t Semaphore AZaz09-._~+/==\t \r\n"), HTTP_CONNECT,
	"example.com", 443, "", "", ST_OK, "AZaz09-._~+/==", false},
    {"another scheme", CONNECT(AUTH "Basic dXNlcjpwYXNz\r\n"), HTTP_CONNECT,
	"example.com", 443, "", "", ST_CREDENTIAL_MISSING, "", false},
    {"a longer scheme", CONNECT(AUTH "Semaphores abc\r\n"), HTTP_CONNECT,
	"example.com", 443, "", "", ST_CREDENTIAL_MISSING, "", false},
    {"an empty credential", CONNECT(AUTH "\r\n"), HTTP_CONNECT, "example.com",
	443, "", "", ST_CREDENTIAL_MISSING, "", false},
    {"a scheme alone", CONNECT(AUTH "Semaphore\r\n"), HTTP_CONNECT,
	"example.com", 443, "", "", ST_CREDENTIAL_BAD, "", false},
    {"two tokens", CONNECT(AUTH "Semaphore a b\r\n"), HTTP_CONNECT,
	"example.com", 443, "", "", ST_CREDENTIAL_BAD, "", false},
    {"parameters in place of a token",
	CONNECT(AUTH "Semaphore proof=\"x\"\r\n"), HTTP_CONNECT, "example.com",
	443, "", "", ST_CREDENTIAL_BAD, "", false},
    {"padding alone", CONNECT(AUTH "Semaphore ==\r\n"), HTTP_CONNECT,
	"example.com", 443, "", "", ST_CREDENTIAL_BAD, "", false},
    {"padding inside", CONNECT(AUTH "Semaphore a=b\r\n"), HTTP_CONNECT,
	"example.com", 443, "", "", ST_CREDENTIAL_BAD, "", false},
    {"Host without the usual port",
	"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
	HTTP_CONNECT, "example.com", 443, "", "", ST_CREDENTIAL_MISSING, "",
	false},
    {"Host in another case, a trailing dot",
	"CONNECT Example.COM.:443 HTTP/1.1\r\nhOsT:eXAMPLE.com:443\r\n\r\n",
	HTTP_CONNECT, "Example.COM", 443, "", "", ST_CREDENTIAL_MISSING, "",
	false},
    {"an IPv4 literal",
	"CONNECT 192.0.2.1:8080 HTTP/1.1\r\nHost: 192.0.2.1:8080\r\n\r\n",
	HTTP_CONNECT, "192.0.2.1", 8080, "", "", ST_CREDENTIAL_MISSING, "",
	false},
    {"an IPv6 literal, spelt in two ways",
	"CONNECT [2001:db8::1]:443 HTTP/1.1\r\n"
	"Host: [2001:DB8:0:0::1]:443\r\n\r\n",
	HTTP_CONNECT, "2001:db8::1", 443, "", "", ST_CREDENTIAL_MISSING, "",
	false},
    {"Connection: close", CONNECT("Connection: x, CLOSE ,y\r\n"), HTTP_CONNECT,
	"example.com", 443, "", "", ST_CREDENTIAL_MISSING, "", true},
    {"Connection: something like close", CONNECT("Connection: closed\r\n"),
	HTTP_CONNECT, "example.com", 443, "", "", ST_CREDENTIAL_MISSING, "",
	false},
    {"bytes above ASCII in a value", CONNECT("X-Name: \xc3\xa9\xff\r\n"),
	HTTP_CONNECT, "example.com", 443, "", "", ST_CREDENTIAL_MISSING, "",
	false},
    {"an empty value and every token character",
	CONNECT("!#$%&'*+-.^_`|~09azAZ:\r\n"), HTTP_CONNECT, "example.com", 443,
	"", "", ST_CREDENTIAL_MISSING, "", false},
    {"GET", GET("/.well-known/postern"), HTTP_GET, NULL, 0,
	"/.well-known/postern", "", ST_CREDENTIAL_MISSING, "", false},
    {"GET with a query", GET("/a%2fb;c?x=1?&y"), HTTP_GET, NULL, 0, "/a%2fb;c",
	"x=1?&y", ST_CREDENTIAL_MISSING, "", false},
    {"GET with an escape at its end", GET("/%2F"), HTTP_GET, NULL, 0, "/%2F",
	"", ST_CREDENTIAL_MISSING, "", false},
    {"HEAD", "HEAD / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", HTTP_HEAD, NULL, 0,
	"/", "", ST_CREDENTIAL_MISSING, "", false},
    {"POST, whose body closes the connection",
	"POST /x HTTP/1.1\r\nHost: a.b\r\nContent-Length: 3\r\n\r\nabc",
	HTTP_OTHER, NULL, 0, "", "", ST_CREDENTIAL_MISSING, "", true},
    {"OPTIONS", "OPTIONS * HTTP/1.1\r\nHost: a.b\r\n\r\n", HTTP_OTHER, NULL, 0,
	"", "", ST_CREDENTIAL_MISSING, "", false},
    {"a method in lower case is another one",
	"connect example.com:443 HTTP/1.1\r\nHost: a.b\r\n\r\n", HTTP_OTHER,
	NULL, 0, "", "", ST_CREDENTIAL_MISSING, "", false},
};

/* --- bad heads, by what is wrong ------------------------------------------- */

#define REQUEST(LINE) LINE "\r\nHost: example.com:443\r\n\r\n"
#define TO(TARGET) "CONNECT " TARGET " HTTP/1.1\r\nHost: " TARGET "\r\n\r\n"
#define L63 "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"

static const struct {
	enum status st;
	const char *text;
} bad[] = {
    /* line ends and control characters */
    {ST_HTTP_SYNTAX, "CONNECT example.com:443 HTTP/1.1\nHost: a\r\n\r\n"},
    {ST_HTTP_SYNTAX, CONNECT("X: a\nY: b\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X: a\rY: b\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X: a\r\r\n")},
    {ST_HTTP_SYNTAX, "CONNECT example.com:443 HTTP/1.1\r\nHost: a\n\n"},
    {ST_HTTP_SYNTAX, CONNECT("X: \x01\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X: \x1b[0m\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X: \x7f\r\n")},
    {ST_HTTP_SYNTAX, "\x16\x03\x01\x02"},
    /* the request line */
    {ST_HTTP_SYNTAX, "\r\n" CONNECT("")},
    {ST_HTTP_SYNTAX, " " CONNECT("")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT  example.com:443 HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT example.com:443  HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT example.com:443 HTTP/1.1 ")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT\texample.com:443\tHTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT example.com:443")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT ")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT  HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("CO(NNECT example.com:443 HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT ex\xc3\xa9mple.com:443 HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT example.com:443 HTTPS/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT example.com:443 http/1.1")},
    {ST_HTTP_SYNTAX, "SSH-2.0-OpenSSH_9.2\r\n"},
    {ST_HTTP_SYNTAX,
	"PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23 80\r\n" CONNECT("")},
    /* the version */
    {ST_HTTP_VERSION, REQUEST("CONNECT example.com:443 HTTP/1.0")},
    {ST_HTTP_VERSION, REQUEST("CONNECT example.com:443 HTTP/1.2")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT example.com:443 HTTP/1.1.1")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT example.com:443 HTTP/01.1")},
    {ST_HTTP_SYNTAX, REQUEST("CONNECT example.com:443 HTTP/1.1\t")},
    {ST_HTTP_VERSION, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
    {ST_HTTP_VERSION, REQUEST("GET / HTTP/9.9")},
    /* the form of the target */
    {ST_HTTP_FORM, REQUEST("GET http://example.com/ HTTP/1.1")},
    {ST_HTTP_FORM, REQUEST("GET example.com:443 HTTP/1.1")},
    {ST_HTTP_FORM, REQUEST("HEAD * HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("GET /# HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("GET /% HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("GET /%2 HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("GET /%g0 HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("GET /\" HTTP/1.1")},
    {ST_HTTP_SYNTAX, REQUEST("GET /\\ HTTP/1.1")},
    /* the authority: its form */
    {ST_HTTP_AUTHORITY, TO("https://example.com:443")},
    {ST_HTTP_AUTHORITY, TO("/")},
    {ST_HTTP_AUTHORITY, TO("*")},
    {ST_HTTP_AUTHORITY, TO("example.com:443/")},
    {ST_HTTP_AUTHORITY, TO("example.com:443?")},
    {ST_HTTP_AUTHORITY, TO("user@example.com:443")},
    {ST_HTTP_AUTHORITY, TO("user:secret@example.com:443")},
    {ST_HTTP_AUTHORITY, TO("example.com,example.org:443")},
    /* ... its port */
    {ST_HTTP_AUTHORITY, TO("example.com")},
    {ST_HTTP_AUTHORITY, TO("example.com:")},
    {ST_HTTP_AUTHORITY, TO("example.com:0")},
    {ST_HTTP_AUTHORITY, TO("example.com:00443")},
    {ST_HTTP_AUTHORITY, TO("example.com:65536")},
    {ST_HTTP_AUTHORITY, TO("example.com:4294967739")},
    {ST_HTTP_AUTHORITY, TO("example.com:18446744073709552059")},
    {ST_HTTP_AUTHORITY, TO("example.com:+443")},
    {ST_HTTP_AUTHORITY, TO("example.com:-443")},
    {ST_HTTP_AUTHORITY, TO("example.com:0x1bb")},
    {ST_HTTP_AUTHORITY, TO("example.com:https")},
    {ST_HTTP_AUTHORITY, TO("example.com:443:443")},
    {ST_HTTP_AUTHORITY, TO(":443")},
    /* ... its name */
    {ST_HTTP_AUTHORITY, TO(".:443")},
    {ST_HTTP_AUTHORITY, TO("..:443")},
    {ST_HTTP_AUTHORITY, TO(".example.com:443")},
    {ST_HTTP_AUTHORITY, TO("example..com:443")},
    {ST_HTTP_AUTHORITY, TO("example.com..:443")},
    {ST_HTTP_AUTHORITY, TO("-example.com:443")},
    {ST_HTTP_AUTHORITY, TO("example-.com:443")},
    {ST_HTTP_AUTHORITY, TO("example.-com:443")},
    {ST_HTTP_AUTHORITY, TO("exam_ple.com:443")},
    {ST_HTTP_AUTHORITY, TO("*.example.com:443")},
    {ST_HTTP_AUTHORITY, TO("exam%70le.com:443")},
    {ST_HTTP_AUTHORITY, TO("a" L63 ".com:443")},
    {ST_HTTP_AUTHORITY, TO(L63 "." L63 "." L63 "." L63 ":443")},
    /* ... numbers that resolvers take for IPv4 addresses */
    {ST_HTTP_AUTHORITY, TO("127.1:443")},
    {ST_HTTP_AUTHORITY, TO("2130706433:443")},
    {ST_HTTP_AUTHORITY, TO("0177.0.0.1:443")},
    {ST_HTTP_AUTHORITY, TO("127.0.0.01:443")},
    {ST_HTTP_AUTHORITY, TO("0x7f.0.0.1:443")},
    {ST_HTTP_AUTHORITY, TO("0x7f000001:443")},
    {ST_HTTP_AUTHORITY, TO("1.2.3.4.5:443")},
    {ST_HTTP_AUTHORITY, TO("127.0.0.1.:443")},
    {ST_HTTP_AUTHORITY, TO("256.256.256.256:443")},
    {ST_HTTP_AUTHORITY, TO("example.0X1F:443")},
    /* ... IPv6 */
    {ST_HTTP_AUTHORITY, TO("::1:443")},
    {ST_HTTP_AUTHORITY, TO("[::1]")},
    {ST_HTTP_AUTHORITY, TO("[::1]443")},
    {ST_HTTP_AUTHORITY, TO("[]:443")},
    {ST_HTTP_AUTHORITY, TO("[::1:443")},
    {ST_HTTP_AUTHORITY, TO("[fe80::1%25eth0]:443")},
    {ST_HTTP_AUTHORITY, TO("[v1.a]:443")},
    {ST_HTTP_AUTHORITY, TO("[1.2.3.4]:443")},
    {ST_HTTP_AUTHORITY, TO("[example.com]:443")},
    /* Host */
    {ST_HTTP_HOST, "CONNECT example.com:443 HTTP/1.1\r\n\r\n"},
    {ST_HTTP_HOST, "GET / HTTP/1.1\r\n\r\n"},
    {ST_HTTP_HOST, "OPTIONS * HTTP/1.1\r\n\r\n"},
    {ST_HTTP_HOST, "GET / HTTP/1.1\r\nHost:\r\n\r\n"},
    {ST_HTTP_HOST, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
    {ST_HTTP_HOST, "GET / HTTP/1.1\r\nHost: a.b, c.d\r\n\r\n"},
    {ST_HTTP_HOST, "GET / HTTP/1.1\r\nHost: a.b:\r\n\r\n"},
    {ST_HTTP_HOST, CONNECT("Host: example.com:443\r\n")},
    {ST_HTTP_HOST, "CONNECT a.b:443 HTTP/1.1\r\nHost: a.c:443\r\n\r\n"},
    {ST_HTTP_HOST, "CONNECT a.b:443 HTTP/1.1\r\nHost: a.b:444\r\n\r\n"},
    {ST_HTTP_HOST, "CONNECT a.b:8443 HTTP/1.1\r\nHost: a.b\r\n\r\n"},
    {ST_HTTP_HOST, "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::2]:443\r\n\r\n"},
    {ST_HTTP_HOST, "CONNECT 1.2.3.4:443 HTTP/1.1\r\nHost: a.b:443\r\n\r\n"},
    /* fields */
    {ST_HTTP_SYNTAX, CONNECT("X: a\r\n b\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X: a\r\n\tb\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X : a\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X\t: a\r\n")},
    {ST_HTTP_SYNTAX, CONNECT(": a\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X Y: a\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("(X): a\r\n")},
    {ST_HTTP_SYNTAX, CONNECT("X\xc3\xa9: a\r\n")},
    /* bodies */
    {ST_HTTP_BODY, CONNECT("Content-Length: 0\r\n")},
    {ST_HTTP_BODY, CONNECT("content-length: 5\r\n")},
    {ST_HTTP_BODY, CONNECT("Transfer-Encoding: chunked\r\n")},
    {ST_HTTP_BODY, "GET / HTTP/1.1\r\nHost: a.b\r\nContent-Length: 1\r\n\r\nx"},
    /* credentials */
    {ST_CREDENTIAL_TWICE,
	CONNECT(AUTH "Semaphore a\r\n" AUTH "Semaphore a\r\n")},
    {ST_CREDENTIAL_TWICE,
	CONNECT(AUTH "Basic a\r\nPROXY-authorization: Semaphore a\r\n")},
};

/* --- feeding ---------------------------------------------------------------- */

/* Offer TEXT in pieces of STEP bytes, each time in memory of its own size. */
static enum status
feed(struct head *head, size_t *used, uint8_t **memory, span_t text,
    size_t step, const struct head_limits *limits)
{
	struct head_parser p;
	enum status st;
	size_t n = 0;

	head_parser_init(&p, limits);
	*memory = NULL;
	do {
		uint8_t *old = *memory;
		n = text.len - n > step ? n + step : text.len;
		CHECK((*memory = malloc(n + 1)) != NULL);
		memcpy(*memory, text.ptr, n);
		free(old);
		st = head_parse(&p, head, used, span_of(*memory, n));
	} while (st == ST_MORE && n < text.len);
	return st;
}

static void
check_good(const struct good *g, const struct head *h)
{
	CHECK_INT(h->method, g->method);
	CHECK_INT(h->keep, !g->close);
	CHECK_STATUS(h->credential, g->credential);
	CHECK(span_equal(h->token, span_str(g->token)));
	CHECK(span_equal(h->path, span_str(g->path)));
	CHECK(span_equal(h->query, span_str(g->query)));
	CHECK_INT(h->target.port, g->port);
	CHECK((h->target.kind != HOST_NONE) == (g->host != NULL));
	if (g->host != NULL)
		CHECK(span_equal(h->target.host, span_str(g->host)));
}

static void
test_good_heads(void)
{
	static const char tail[] = "\x16\x03\x01 what comes behind \r\n\r\n";
	struct head h;
	uint8_t *memory;
	size_t used;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		const struct good *g = &good[i];
		const char *end = strstr(g->text, "\r\n\r\n");
		size_t len = (size_t)(end - g->text) + 4;
		char text[1024];
		memcpy(text, g->text, len);
		memcpy(text + len, tail, sizeof(tail));
		for (size_t step = 1; step < len + sizeof(tail); step++) {
			enum status st = feed(&h, &used, &memory,
			    span_of(text, len + sizeof(tail)), step, NULL);
			if (st != ST_OK)
				test_fail(__FILE__, __LINE__, "%s: %s", g->name,
				    status_info(st)->name);
			CHECK_INT(used, len);
			check_good(g, &h);
			free(memory);
		}
	}
}

/* Refused for what it means: its end is known. */
static bool
by_meaning(enum status st)
{
	return st == ST_HTTP_FORM || st == ST_HTTP_AUTHORITY ||
	    st == ST_HTTP_HOST || st == ST_CREDENTIAL_TWICE;
}

static void
check_refused(span_t text, enum status want)
{
	struct head h;
	uint8_t *memory;
	size_t used;

	for (size_t step = text.len + 1; step > 0;
	     step = step > 7 ? 7 : step - 1) {
		enum status st = feed(&h, &used, &memory, text, step, NULL);
		if (st != want)
			test_fail(__FILE__, __LINE__, "%s, not %s: %.*s",
			    status_info(st)->name, status_info(want)->name,
			    (int)text.len, (const char *)text.ptr);
		CHECK_INT(used, by_meaning(want) ? text.len : 0);
		CHECK_INT(h.keep, by_meaning(want));
		CHECK_INT(h.method != HTTP_NONE, by_meaning(want));
		CHECK_INT(h.target.kind, HOST_NONE);
		CHECK_INT(h.token.len, 0);
		free(memory);
	}
}

static void
test_bad_heads(void)
{
	static const char nul[] = CONNECT("X: a\0b\r\n");

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		check_refused(span_str(bad[i].text), bad[i].st);
	check_refused(span_of(nul, sizeof(nul) - 1), ST_HTTP_SYNTAX);
}

static void
test_every_beginning_needs_more(void)
{
	static const char text[] = CONNECT(AUTH "Semaphore abc\r\n");
	struct head_parser p;
	struct head h;
	size_t used;

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		head_parser_init(&p, NULL);
		CHECK_STATUS(
		    head_parse(&p, &h, &used, span_of(text, n)), ST_MORE);
		CHECK_INT(used, 0);
	}
}

/* Every single byte of a good head, replaced by every other byte: no crash,
 * and never a line that ends early or a field that is lost. */
static void
test_every_byte_replaced(void)
{
	static const char text[] = CONNECT(AUTH "Semaphore abc\r\n");
	char copy[sizeof(text)];
	struct head_parser p;
	struct head h;
	size_t used;

	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		for (unsigned c = 0; c < 256; c++) {
			memcpy(copy, text, sizeof(text));
			copy[i] = (char)c;
			head_parser_init(&p, NULL);
			enum status st = head_parse(
			    &p, &h, &used, span_of(copy, sizeof(text) - 1));
			if (st == ST_OK)
				CHECK_INT(used, sizeof(text) - 1);
			if (c < ' ' && c != '\t' && copy[i] != text[i])
				CHECK(st != ST_OK);
		}
	}
}

static size_t
with_fields(char *text, unsigned n)
{
	size_t len = (size_t)sprintf(
	    text, "CONNECT a.b:443 HTTP/1.1\r\nHost: a.b:443\r\n");

	for (unsigned i = 1; i < n; i++)
		len += (size_t)sprintf(text + len, "F%u: x\r\n", i);
	return len + (size_t)sprintf(text + len, "\r\n");
}

/* For the programs of one's own machine; never by default. */
static void
test_old(void)
{
	static const char text[] =
	    "CONNECT a.example:443 HTTP/1.0\r\n" AUTH "Basic YTpi\r\n\r\n";
	static const char two[] = "CONNECT a.example:443 HTTP/1.0\r\n"
				  "Host: b.example:443\r\n\r\n";
	static const char none[] = "CONNECT a.example:443 HTTP/1.1\r\n\r\n";
	const struct head_limits limits = {
	    .bytes = 1000, .fields = 9, .old = true};
	struct head_parser p;
	struct head h;
	size_t used;

	head_parser_init(&p, NULL);
	CHECK_STATUS(
	    head_parse(&p, &h, &used, span_str(text)), ST_HTTP_VERSION);
	head_parser_init(&p, &limits);
	CHECK_STATUS(head_parse(&p, &h, &used, span_str(text)), ST_OK);
	CHECK(h.target.port == 443 && !h.keep);
	CHECK(span_equal(h.target.host, span_str("a.example")));
	CHECK_STATUS(h.credential, ST_CREDENTIAL_MISSING);
	CHECK(span_equal(h.authorization, span_str("Basic YTpi")));
	/* A Host that is there has to be right, and 1.1 has to have one. */
	head_parser_init(&p, &limits);
	CHECK_STATUS(head_parse(&p, &h, &used, span_str(two)), ST_HTTP_HOST);
	head_parser_init(&p, &limits);
	CHECK_STATUS(head_parse(&p, &h, &used, span_str(none)), ST_HTTP_HOST);
}

static void
test_limits(void)
{
	struct head_limits limits = {.fields = HEAD_FIELDS_DEFAULT};
	struct head h;
	uint8_t *memory;
	size_t used;
	static char text[HEAD_BYTES_DEFAULT * 2];

	/* Exactly as many fields as allowed, and one more. */
	for (unsigned n = 64; n <= 65; n++) {
		size_t len = with_fields(text, n);
		for (size_t step = 1; step <= len; step += len - 1) {
			CHECK_STATUS(feed(&h, &used, &memory,
					 span_of(text, len), step, NULL),
			    n == 64 ? ST_OK : ST_HTTP_TOO_LARGE);
			free(memory);
		}
	}
	/* Exactly as many bytes, and one more; with more bytes behind. */
	size_t len = with_fields(text, 5);
	memset(text + len, 'x', 100);
	for (uint32_t most = 0; most <= len + 2; most++) {
		limits.bytes = most;
		for (size_t step = 1; step <= len + 100; step += len + 99) {
			CHECK_STATUS(
			    feed(&h, &used, &memory, span_of(text, len + 100),
				step, &limits),
			    most < len ? ST_HTTP_TOO_LARGE : ST_OK);
			free(memory);
		}
	}
	/* A line that never ends is refused at the limit, not later. */
	memset(text, 'x', sizeof(text));
	CHECK_STATUS(
	    feed(&h, &used, &memory, span_of(text, sizeof(text)), 1000, NULL),
	    ST_HTTP_TOO_LARGE);
	free(memory);
	CHECK_STATUS(feed(&h, &used, &memory,
			 span_of(text, HEAD_BYTES_DEFAULT - 1), 1000, NULL),
	    ST_MORE);
	free(memory);
}

/* After a head whose meaning is wrong the next one is read; of two faults the
 * first is told, but a fault of syntax ends it all. */
static void
test_going_on(void)
{
	static const char both[] = "GET http://a.b/ HTTP/1.1\r\nHost: a.b\r\n"
				   "Host: a.b\r\n\r\n" GET("/next");
	static const char close[] = "CONNECT a.b:0 HTTP/1.1\r\nHost: a.b:0\r\n"
				    "Connection: close\r\n\r\n";
	static const char broken[] = "GET http://a.b/ HTTP/1.1\r\n"
				     "Host: a.b\r\nX : y\r\n\r\n";
	struct head_parser p;
	struct head h;
	size_t used;

	head_parser_init(&p, NULL);
	CHECK_STATUS(head_parse(&p, &h, &used, span_str(both)), ST_HTTP_FORM);
	CHECK(h.keep && h.method == HTTP_GET && used < sizeof(both));
	head_parser_init(&p, NULL);
	CHECK_STATUS(head_parse(&p, &h, &used, span_str(both + used)), ST_OK);
	CHECK(span_equal(h.path, span_str("/next")));
	head_parser_init(&p, NULL);
	CHECK_STATUS(
	    head_parse(&p, &h, &used, span_str(close)), ST_HTTP_AUTHORITY);
	CHECK(!h.keep && used == sizeof(close) - 1);
	head_parser_init(&p, NULL);
	CHECK_STATUS(
	    head_parse(&p, &h, &used, span_str(broken)), ST_HTTP_SYNTAX);
	CHECK(!h.keep && used == 0);
}

static void
test_requests_in_a_row(void)
{
	static const char text[] = CONNECT(AUTH "Semaphore one\r\n") GET("/two")
	    CONNECT(AUTH "Semaphore three\r\n");
	span_t rest = span_of(text, sizeof(text) - 1);
	struct head_parser p;
	struct head h;
	size_t used;

	head_parser_init(&p, NULL);
	CHECK_STATUS(head_parse(&p, &h, &used, rest), ST_OK);
	CHECK(span_equal(h.token, span_str("one")));
	rest = span_of(rest.ptr + used, rest.len - used);
	head_parser_init(&p, NULL);
	CHECK_STATUS(head_parse(&p, &h, &used, rest), ST_OK);
	CHECK(span_equal(h.path, span_str("/two")));
	rest = span_of(rest.ptr + used, rest.len - used);
	head_parser_init(&p, NULL);
	CHECK_STATUS(head_parse(&p, &h, &used, rest), ST_OK);
	CHECK(span_equal(h.token, span_str("three")));
	CHECK_INT(used, rest.len);
}

static void
test_if_none_match(void)
{
	static const char one[] = "GET / HTTP/1.1\r\nHost: a.b\r\n"
				  "If-None-Match: \"x\", W/\"y\"\r\n\r\n";
	static const char two[] = "GET / HTTP/1.1\r\nHost: a.b\r\n"
				  "If-None-Match: \"x\"\r\n"
				  "If-None-Match: \"y\"\r\n\r\n";
	struct head_parser p;
	struct head h;
	size_t used;

	head_parser_init(&p, NULL);
	CHECK_STATUS(head_parse(&p, &h, &used, span_str(one)), ST_OK);
	CHECK(span_equal(h.if_none_match, span_str("\"x\", W/\"y\"")));
	head_parser_init(&p, NULL);
	CHECK_STATUS(head_parse(&p, &h, &used, span_str(two)), ST_OK);
	CHECK_INT(h.if_none_match.len, 0);
}

static void
test_longest_names(void)
{
	/* 253 characters in all, each label of 63 or less. */
	static const char name[] = L63 "." L63 "." L63 "."
				       "abcdefghijabcdefghijabcdefghijabcdefghi"
				       "jabcdefghijabcdefghija";
	char text[300];
	struct authority a;

	CHECK_INT(sizeof(name) - 1, HOST_NAME_MAX_LEN);
	CHECK(host_is_name(span_str(name)));
	snprintf(text, sizeof(text), "%s.:65535", name);
	CHECK_STATUS(authority_parse(&a, span_str(text)), ST_OK);
	CHECK_INT(a.host.len, HOST_NAME_MAX_LEN);
	snprintf(text, sizeof(text), "%sa:1", name);
	CHECK_STATUS(authority_parse(&a, span_str(text)), ST_HTTP_AUTHORITY);
	CHECK(host_is_name(span_str("a")) && host_is_name(span_str("1a")));
	CHECK(host_is_name(span_str("3com.com")));
	CHECK(host_is_name(span_str("xn--bcher-kva.example")));
	CHECK(host_is_name(span_str("0xg")) && !host_is_name(span_str("0x")));
	CHECK(!host_is_name(span_of(NULL, 0)));
	/* No host is the same as no host. */
	struct authority none = {0};
	CHECK(!authority_same_host(&none, &none));
	CHECK(!authority_same_host(&a, &a));
}

/* --- the PROXY line ---------------------------------------------------------- */

static const struct {
	const char *text;
	uint32_t circuit;
	unsigned port;
} good_lines[] = {
    {"PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23 80\r\n", 0x17, 80},
    {"PROXY TCP6 fc00:dead:beef:4dad::ffff:ffff ::1 65535 42\r\n", 0xffffffff,
	42},
    {"PROXY TCP6 fc00:dead:beef:4dad::1:0 ::1 0 65535\r\n", 0x10000, 65535},
    {"PROXY TCP6 fc00:dead:beef:4dad::0:0 ::1 1 0\r\n", 0, 0},
    {"PROXY TCP6 fc00:dead:beef:4dad:0:0:ab:CD 0:0:0:0:0:0:0:1 2 443\r\n",
	0xab00cd, 443},
};

static const char *const bad_lines[] = {
    /* other forms of the protocol, and other protocols */
    "PROXY UNKNOWN\r\n", "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
    "proxy TCP6 fc00:dead:beef:4dad::0:17 ::1 23 80\r\n",
    "\r\n\r\n\0\r\nQUIT\n", "CONNECT example.com:443 HTTP/1.1\r\n\r\n",
    /* the source */
    "PROXY TCP6 fc00:dead:beef:4dae::0:17 ::1 23 80\r\n",
    "PROXY TCP6 fc00:dead:beef:4dad:1::17 ::1 23 80\r\n",
    "PROXY TCP6 ::1 ::1 23 80\r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:10017 ::1 23 80\r\n",
    "PROXY TCP6 127.0.0.1 ::1 23 80\r\n",
    /* the rest */
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 127.0.0.1 23 80\r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23 65536\r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 65536 80\r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 023 80\r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23 \r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23\r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23 80 80\r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17  ::1 23 80\r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23 80 \r\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17\t::1\t23\t80\r\n",
    /* its end */
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23 80\n",
    "PROXY TCP6 fc00:dead:beef:4dad::0:17 ::1 23 80\r\r\n"};

static void
test_good_lines(void)
{
	static const char tail[] = CONNECT("");
	struct proxy_line line;
	size_t used;
	char text[256];

	for (size_t i = 0; i < sizeof(good_lines) / sizeof(*good_lines); i++) {
		size_t len = strlen(good_lines[i].text);
		snprintf(text, sizeof(text), "%s%s", good_lines[i].text, tail);
		for (size_t n = 0; n < strlen(text); n++) {
			CHECK_STATUS(
			    proxy_line_parse(&line, &used, span_of(text, n)),
			    n < len ? ST_MORE : ST_OK);
			CHECK_INT(used, n < len ? 0 : len);
			CHECK_INT(circuit_number(line.circuit),
			    n < len ? 0 : good_lines[i].circuit);
			CHECK_INT(
			    line.onion_port, n < len ? 0 : good_lines[i].port);
		}
	}
}

static void
test_bad_lines(void)
{
	struct proxy_line line;
	size_t used;

	for (size_t i = 0; i < sizeof(bad_lines) / sizeof(*bad_lines); i++) {
		span_t text = span_str(bad_lines[i]);
		enum status st = ST_MORE;
		CHECK_STATUS(
		    proxy_line_parse(&line, &used, text), ST_PROXY_LINE);
		CHECK_INT(used, 0);
		for (size_t n = 0; n <= text.len && st == ST_MORE; n++)
			st = proxy_line_parse(
			    &line, &used, span_of(text.ptr, n));
		CHECK_STATUS(st, ST_PROXY_LINE);
	}
	/* The first byte that can not belong ends it: no waiting for a line. */
	CHECK_STATUS(
	    proxy_line_parse(&line, &used, span_str("C")), ST_PROXY_LINE);
}

static void
test_line_length(void)
{
	char text[200];
	struct proxy_line line;
	size_t used;

	/* 107 bytes with the CRLF are a line, 108 are not. */
	for (int zeros = 30; zeros < 60; zeros++) {
		int len = snprintf(text, sizeof(text),
		    "PROXY TCP6 fc00:dead:beef:4dad::0:17 "
		    "0000:0000:0000:0000:0000:0000:%0*d:0001 65535 65535\r\n",
		    zeros, 0);
		/* Too many digits of a group in any case; what matters is when
		 * that is said. */
		enum status st = proxy_line_parse(
		    &line, &used, span_of(text, (size_t)len - 2));
		CHECK_STATUS(
		    st, len - 2 < PROXY_LINE_MAX ? ST_MORE : ST_PROXY_LINE);
	}
	int len = snprintf(text, sizeof(text),
	    "PROXY TCP6 fc00:dead:beef:4dad:0000:0000:ffff:ffff "
	    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n");
	CHECK(len <= PROXY_LINE_MAX);
	CHECK_STATUS(
	    proxy_line_parse(&line, &used, span_of(text, (size_t)len)), ST_OK);
	CHECK_INT(used, len);
}

TESTS({"good heads, in pieces of every size", test_good_heads},
    {"bad heads, each with its reason", test_bad_heads},
    {"every beginning of a head needs more", test_every_beginning_needs_more},
    {"every byte of a head replaced", test_every_byte_replaced},
    {"limits of a head", test_limits},
    {"HTTP/1.0, where it is taken", test_old},
    {"requests in a row", test_requests_in_a_row},
    {"going on after a refusal", test_going_on},
    {"If-None-Match", test_if_none_match},
    {"the longest names", test_longest_names},
    {"good PROXY lines, in pieces", test_good_lines},
    {"bad PROXY lines", test_bad_lines},
    {"how long a PROXY line may be", test_line_length})
