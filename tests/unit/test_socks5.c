/* SOCKS5, both sides, byte by byte. */
#include "harness.h"

#include "client/socks5.h"

/* A message as C text with its length. */
#define M(TEXT) TEXT, sizeof(TEXT) - 1

/* --- requests --------------------------------------------------------------- */

static const struct request {
	const char *name, *text;
	size_t len;
	enum status status;
	enum host_kind kind;
	const char *host; /* a name, or an address in letters */
	unsigned port;
} requests[] = {
    {"a name", M("\5\1\0\3\13example.com\1\273"), ST_OK, HOST_NAME,
	"example.com", 443},
    {"a name with its last dot", M("\5\1\0\3\14example.com.\0\120"), ST_OK,
	HOST_NAME, "example.com", 80},
    {"an address in letters", M("\5\1\0\3\011192.0.2.1\1\273"), ST_OK,
	HOST_LITERAL, "192.0.2.1", 443},
    {"an IPv6 address in letters", M("\5\1\0\3\0132001:db8::1\1\273"), ST_OK,
	HOST_LITERAL, "2001:db8::1", 443},
    {"IPv4", M("\5\1\0\1\300\0\2\1\377\377"), ST_OK, HOST_LITERAL, "192.0.2.1",
	65535},
    {"IPv6", M("\5\1\0\4\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1\0\1"), ST_OK,
	HOST_LITERAL, "2001:db8::1", 1},
    {"SOCKS 4", M("\4\1\0\120\300\0\2\1"), ST_BAD_VERSION, HOST_NONE, "", 0},
    {"BIND", M("\5\2\0\1\300\0\2\1\0\120"), ST_HTTP_METHOD, HOST_NONE, "", 0},
    {"UDP", M("\5\3\0\1\0\0\0\0\0\0"), ST_HTTP_METHOD, HOST_NONE, "", 0},
    {"an address type that is none", M("\5\1\0\2\300\0\2\1\0\120"),
	ST_WRONG_TYPE, HOST_NONE, "", 0},
    {"port 0", M("\5\1\0\3\1a\0\0"), ST_HTTP_AUTHORITY, HOST_NONE, "", 0},
    {"no name at all", M("\5\1\0\3\0\1\273"), ST_HTTP_AUTHORITY, HOST_NONE, "",
	0},
    {"a dot alone", M("\5\1\0\3\1.\1\273"), ST_HTTP_AUTHORITY, HOST_NONE, "",
	0},
    {"a line in the name", M("\5\1\0\3\4a\r\nb\1\273"), ST_HTTP_AUTHORITY,
	HOST_NONE, "", 0},
    {"a NUL in the name", M("\5\1\0\3\3a\0b\1\273"), ST_HTTP_AUTHORITY,
	HOST_NONE, "", 0},
    {"a short address", M("\5\1\0\3\0041277\1\273"), ST_HTTP_AUTHORITY,
	HOST_NONE, "", 0},
};

static void
test_requests(void)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		const struct request *r = &requests[i];
		struct authority to;
		size_t used, n = 0;
		enum status st;
		ip_t ip;

		/* Decided at its end, or at the first byte that is wrong. */
		while ((st = socks5_read_request(
			    &to, &used, span_of(r->text, n))) == ST_MORE &&
		    n < r->len) {
			CHECK(used == 0 && to.kind == HOST_NONE);
			n++;
		}
		if (st != r->status || (st == ST_OK && used != r->len))
			test_fail(__FILE__, __LINE__, "%s: %s", r->name,
			    status_info(st)->name);
		CHECK_INT(to.kind, r->kind);
		CHECK_INT(to.port, r->port);
		if (r->kind == HOST_NAME)
			CHECK(span_equal(to.host, span_str(r->host)));
		if (r->kind == HOST_LITERAL) {
			CHECK_STATUS(ip_parse(&ip, span_str(r->host)), ST_OK);
			CHECK(ip_equal(&ip, &to.ip));
		}
		/* What follows is not read. */
		if (st == ST_OK) {
			char more[64];
			memcpy(more, r->text, r->len);
			memset(more + r->len, 'x', sizeof(more) - r->len);
			CHECK_STATUS(socks5_read_request(&to, &used,
					 span_of(more, sizeof(more))),
			    ST_OK);
			CHECK_INT(used, r->len);
		}
	}
}

/* --- greeting and login -------------------------------------------------------- */

static void
test_offers(void)
{
	static const struct {
		const char *text;
		size_t len;
		bool open, password;
	} good[] = {
	    {M("\5\1\0"), true, false},
	    {M("\5\1\2"), false, true},
	    {M("\5\3\0\1\2"), true, true},
	    {M("\5\2\1\200"), false, false},
	    {M("\5\0"), false, false},
	};
	struct socks5_offer o;
	size_t used;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		for (size_t n = 0; n < good[i].len; n++)
			CHECK_STATUS(socks5_read_offer(
					 &o, &used, span_of(good[i].text, n)),
			    ST_MORE);
		CHECK_STATUS(socks5_read_offer(
				 &o, &used, span_of(good[i].text, good[i].len)),
		    ST_OK);
		CHECK_INT(used, good[i].len);
		CHECK(o.open == good[i].open);
		CHECK(o.password == good[i].password);
	}
	CHECK_STATUS(
	    socks5_read_offer(&o, &used, span_str("GET ")), ST_BAD_VERSION);
	CHECK_STATUS(
	    socks5_read_offer(&o, &used, span_of("\4", 1)), ST_BAD_VERSION);
}

static void
test_logins(void)
{
	static const char text[] = "\1\7postern\6secret";
	const size_t len = sizeof(text) - 1;
	span_t user, password;
	size_t used;

	for (size_t n = 0; n < len; n++) {
		CHECK_STATUS(socks5_read_login(
				 &user, &password, &used, span_of(text, n)),
		    ST_MORE);
		CHECK(used == 0 && user.len == 0 && password.len == 0);
	}
	CHECK_STATUS(
	    socks5_read_login(&user, &password, &used, span_of(text, len)),
	    ST_OK);
	CHECK(span_equal(user, span_str("postern")));
	CHECK(span_equal(password, span_str("secret")));
	CHECK_INT(used, len);
	CHECK_STATUS(
	    socks5_read_login(&user, &password, &used, span_of("\1\0\0", 3)),
	    ST_OK);
	CHECK_INT(used, 3);
	CHECK_STATUS(
	    socks5_read_login(&user, &password, &used, span_of("\5\1a", 3)),
	    ST_BAD_VERSION);
}

/* --- towards tor ------------------------------------------------------------------ */

/* What one side writes, the other reads. */
static void
test_both_sides(void)
{
	uint8_t m[SOCKS5_MESSAGE_MAX];
	struct socks5_offer offer;
	enum socks5_method method;
	struct authority to;
	span_t user, password;
	char longest[256];
	uint8_t code;
	size_t n, used;

	memset(longest, 'u', 255);
	n = socks5_write_offer(m);
	CHECK_STATUS(socks5_read_offer(&offer, &used, span_of(m, n)), ST_OK);
	CHECK(used == n && offer.password && !offer.open);
	n = socks5_write_login(m, span_of(longest, 255), span_of(longest, 255));
	CHECK_INT(n, SOCKS5_MESSAGE_MAX);
	CHECK_STATUS(
	    socks5_read_login(&user, &password, &used, span_of(m, n)), ST_OK);
	CHECK(used == n && user.len == 255 && password.len == 255);
	n = socks5_write_connect(m, span_str("a.example"), 8080);
	CHECK_STATUS(socks5_read_request(&to, &used, span_of(m, n)), ST_OK);
	CHECK(used == n && to.port == 8080);
	CHECK(span_equal(to.host, span_str("a.example")));

	socks5_write_choice(m, SOCKS5_PASSWORD);
	CHECK_STATUS(socks5_read_choice(&method, &used, span_of(m, 2)), ST_OK);
	CHECK_INT(method, SOCKS5_PASSWORD);
	socks5_write_login_reply(m, true);
	CHECK_STATUS(socks5_read_login_reply(&used, span_of(m, 2)), ST_OK);
	socks5_write_login_reply(m, false);
	CHECK_STATUS(
	    socks5_read_login_reply(&used, span_of(m, 2)), ST_PERMISSION);
	socks5_write_reply(m, SOCKS5_REFUSED);
	CHECK_STATUS(
	    socks5_read_reply(&code, &used, span_of(m, SOCKS5_REPLY_LENGTH)),
	    ST_OK);
	CHECK_INT(code, SOCKS5_REFUSED);
	CHECK_INT(used, SOCKS5_REPLY_LENGTH);
}

static void
test_replies(void)
{
	/* Tor's own code for an onion service that is not known. */
	static const char text[] = "\5\xf0\0\1\0\0\0\0\0\0";
	uint8_t code;
	size_t used;
	enum socks5_method method;

	for (size_t n = 0; n < 10; n++)
		CHECK_STATUS(
		    socks5_read_reply(&code, &used, span_of(text, n)), ST_MORE);
	CHECK_STATUS(socks5_read_reply(&code, &used, span_of(text, 10)), ST_OK);
	CHECK_INT(code, 0xf0);
	CHECK_STATUS(socks5_read_reply(&code, &used, span_str("HTTP/1.1 400")),
	    ST_BAD_VERSION);
	CHECK_STATUS(socks5_read_reply(&code, &used, span_of("\5\0\0\7\0", 5)),
	    ST_WRONG_TYPE);
	CHECK_STATUS(
	    socks5_read_choice(&method, &used, span_of("\5\377", 2)), ST_OK);
	CHECK_INT(method, SOCKS5_NO_METHOD);
	CHECK_STATUS(
	    socks5_read_choice(&method, &used, span_of("\5", 1)), ST_MORE);
	CHECK_STATUS(socks5_read_choice(&method, &used, span_of("H", 1)),
	    ST_BAD_VERSION);
}

TESTS({"requests", test_requests}, {"offers", test_offers},
    {"logins", test_logins},
    {"what one side writes the other reads", test_both_sides},
    {"replies", test_replies}, )
