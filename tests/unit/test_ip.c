/* Addresses, networks and endpoints as text; the bounded writer. */
#include "harness.h"

#include <arpa/inet.h>

#include "base/ip.h"
#include "base/out.h"

static const char *const good[][2] = {
    /* text, canonical text */
    {"0.0.0.0", "0.0.0.0"},
    {"255.255.255.255", "255.255.255.255"},
    {"192.0.2.10", "192.0.2.10"},
    {"::", "::"},
    {"::1", "::1"},
    {"1::", "1::"},
    {"2001:DB8::1", "2001:db8::1"},
    {"2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"},
    {"fc00:dead:beef:4dad::0:17", "fc00:dead:beef:4dad::17"},
    /* RFC 5952, 4.2.2: one group is not shortened. */
    {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
    {"2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
    /* 4.2.3: the longest run; the first of equals. */
    {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
    {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
    {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
    {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
    {"1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"},
    {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
    {"::ffff:c000:201", "::ffff:192.0.2.1"},
    {"64:ff9b::192.0.2.1", "64:ff9b::c000:201"},
    {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
};

static const char *const bad[] = {
    /* IPv4 in other spellings */
    "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3", "256.0.0.1",
    "1.2.3.999", "01.2.3.4", "1.2.3.00", "0x1.2.3.4", "1.2.3.4 ", " 1.2.3.4",
    "1.2.3.-4", "1.2.3.+4", "2130706433", "1.2.3.4/32", "1.2.3.4:80",
    /* IPv6: groups, gaps, dots, zones */
    ":", ":::", ":1", "1:", "::1:", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1::2::3",
    "12345::", "g::", "::1.2.3", "::1.2.3.4.5", "::01.2.3.4",
    "1.2.3.4::", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "fe80::1%eth0",
    "[::1]", "::1 ", "0::0:00001", "\xef\xbc\x91.2.3.4"};

static void
test_addresses(void)
{
	char text[IP_TEXT_MAX];
	ip_t ip, again;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		CHECK_STATUS(ip_parse(&ip, span_str(good[i][0])), ST_OK);
		CHECK_INT(ip_format(text, &ip), strlen(text));
		CHECK_STR(text, good[i][1]);
		CHECK_STATUS(ip_parse(&again, span_str(text)), ST_OK);
		CHECK(ip_equal(&ip, &again));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (ip_parse(&ip, span_str(bad[i])) != ST_BAD_ENCODING)
			test_fail(__FILE__, __LINE__, "%s", bad[i]);
		CHECK_INT(ip.version, 0);
	}
	CHECK(ip4_parse(&ip, span_str("::1")) != ST_OK);
	CHECK(ip6_parse(&ip, span_str("127.0.0.1")) != ST_OK);
	/* An embedded NUL is a byte like any other. */
	CHECK(ip_parse(&ip, span_of("1.2.3.4\0", 8)) != ST_OK);
	CHECK_INT(ip_format(text, &(ip_t){0}), 1);
	CHECK_STR(text, "-");
}

/* A hundred thousand addresses, with many zero groups, against libc. */
static void
test_addresses_as_libc(void)
{
	char want[INET6_ADDRSTRLEN], text[IP_TEXT_MAX];

	for (unsigned i = 0; i < 100000; i++) {
		ip_t ip = {.version = 6}, again;
		test_random_bytes(ip.bytes, 16);
		for (uint64_t r = test_random(), k = 0; k < 8; k++, r >>= 2) {
			if ((r & 3) != 0)
				ip.bytes[2 * k] = ip.bytes[2 * k + 1] = 0;
		}
		/* libc dots IPv4-compatible addresses, RFC 5952 does not. */
		if (memcmp(ip.bytes, (uint8_t[12]){0}, 12) == 0)
			continue;
		CHECK(inet_ntop(AF_INET6, ip.bytes, want, sizeof(want)));
		ip_format(text, &ip);
		CHECK_STR(text, want);
		CHECK_STATUS(ip_parse(&again, span_str(text)), ST_OK);
		CHECK(ip_equal(&ip, &again));
	}
}

static void
test_networks(void)
{
	static const struct {
		const char *net, *ip;
		bool has;
	} cases[] = {
	    {"10.0.0.0/8", "10.255.255.255", true},
	    {"10.0.0.0/8", "11.0.0.0", false},
	    {"0.0.0.0/0", "192.0.2.1", true},
	    {"0.0.0.0/0", "::", false},
	    {"192.0.2.1", "192.0.2.1", true},
	    {"192.0.2.1", "192.0.2.2", false},
	    {"100.64.0.0/10", "100.127.255.255", true},
	    {"100.64.0.0/10", "100.128.0.0", false},
	    {"2001:db8::/32", "2001:db8:ffff::1", true},
	    {"2001:db8::/32", "2001:db9::", false},
	    {"::/0", "ffff::", true},
	    {"::/0", "1.2.3.4", false},
	    {"fe80::/10", "febf::1", true},
	    {"fe80::/10", "fec0::1", false},
	    {"::1/128", "::1", true},
	};
	static const char *const ill[] = {"", "/8", "10.0.0.0/", "10.0.0.0/33",
	    "10.0.0.0/08", "10.0.0.0/8/8", "10.0.0/8", "::/129", "::/-1",
	    "10.0.0.0/8 "};
	ip_net_t net;
	ip_t ip;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CHECK_STATUS(ip_net_parse(&net, span_str(cases[i].net)), ST_OK);
		CHECK_STATUS(ip_parse(&ip, span_str(cases[i].ip)), ST_OK);
		CHECK_INT(ip_net_has(&net, &ip), cases[i].has);
	}
	for (size_t i = 0; i < sizeof(ill) / sizeof(*ill); i++) {
		CHECK_STATUS(
		    ip_net_parse(&net, span_str(ill[i])), ST_BAD_ENCODING);
		CHECK(!ip_net_has(&net, &ip));
	}
	CHECK_STATUS(ip_net_parse(&net, span_str("10.0.0.1/8")), ST_BAD_VALUE);
	CHECK_STATUS(ip_net_parse(&net, span_str("::1/127")), ST_BAD_VALUE);
	CHECK(!ip_net_has(&(ip_net_t){0}, &(ip_t){0}));
}

static void
test_endpoints(void)
{
	static const char *const fine[] = {
	    "127.0.0.1:1", "192.0.2.1:20907", "[::1]:443"};
	static const char *const ill[] = {"", ":", ":1", "127.0.0.1",
	    "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:01",
	    "[127.0.0.1]:1", "::1:1", "[::1]", "[::1]1", "[::1:1", "::1]:1",
	    "a.b:1", "[]:1"};
	char text[ENDPOINT_TEXT_MAX];
	endpoint_t e, list[3];

	for (size_t i = 0; i < 3; i++) {
		CHECK_STATUS(endpoint_parse(&e, span_str(fine[i])), ST_OK);
		CHECK_INT(endpoint_format(text, &e), strlen(text));
		CHECK_STR(text, fine[i]);
		list[i] = e;
	}
	for (size_t i = 0; i < sizeof(ill) / sizeof(*ill); i++) {
		CHECK_STATUS(
		    endpoint_parse(&e, span_str(ill[i])), ST_BAD_ENCODING);
		CHECK_INT(e.ip.version, 0);
	}
	CHECK(endpoints_have(list, 3, &list[2].ip, 443));
	CHECK(!endpoints_have(list, 3, &list[2].ip, 444));
	CHECK(!endpoints_have(list, 2, &list[2].ip, 443));
	/* The longest of all fits. */
	e = (endpoint_t){{6, {0}}, 65535};
	memset(e.ip.bytes, 0xff, 16);
	CHECK_INT(endpoint_format(text, &e), 39 + 2 + 6);
}

static void
test_out(void)
{
	char text[64];
	struct out o = out_to(text, 10);
	size_t len;

	out_str(&o, "12345");
	out_decimal(&o, 678);
	CHECK_STATUS(out_status(&o, &len), ST_OK);
	CHECK_INT(len, 8);
	CHECK_MEM(text, "12345678", 8);
	memset(text, '#', sizeof(text));
	out_str(&o, "abc"); /* does not fit: dropped as a whole */
	out_char(&o, 'x'); /* and nothing comes after it */
	CHECK_STATUS(out_status(&o, &len), ST_NO_SPACE);
	CHECK_INT(len, 0);
	CHECK(text[8] == '#' && text[9] == '#');

	static const struct {
		uint64_t v;
		const char *text;
	} numbers[] = {{0, "0"}, {9, "9"}, {10, "10"},
	    {UINT64_MAX, "18446744073709551615"}};
	for (size_t i = 0; i < 4; i++) {
		o = out_to(text, sizeof(text));
		out_decimal(&o, numbers[i].v);
		text[o.len] = '\0';
		CHECK_STR(text, numbers[i].text);
	}
}

static void
test_out_escapes(void)
{
	static const struct {
		const char *in, *json, *quoted;
	} cases[] = {
	    {"", "\"\"", "\"\""},
	    {"plain", "\"plain\"", "\"plain\""},
	    {"a\"b\\c", "\"a\\\"b\\\\c\"", "\"a\\\"b\\\\c\""},
	    {"a\r\nb\t", "\"a\\r\\nb\\t\"", "\"a??b?\""},
	    {"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"", "\"???\""},
	    {"\xc3\xa9", "\"\xc3\xa9\"", "\"??\""},
	    {"\xf0\x9f\x9a\xaa", "\"\xf0\x9f\x9a\xaa\"", "\"????\""},
	    /* cut short, overlong, surrogate, too high, stray */
	    {"\xc3", "\"\\ufffd\"", "\"?\""},
	    {"\xc0\xaf", "\"\\ufffd\\ufffd\"", "\"??\""},
	    {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"", "\"???\""},
	    {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"",
		"\"????\""},
	    {"\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"", "\"???\""},
	    {"\x80x", "\"\\ufffdx\"", "\"?x\""},
	};
	char text[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct out o = out_to(text, sizeof(text));
		out_json(&o, span_str(cases[i].in));
		text[o.len] = '\0';
		CHECK_STR(text, cases[i].json);
		o = out_to(text, sizeof(text));
		out_quoted(&o, span_str(cases[i].in));
		text[o.len] = '\0';
		CHECK_STR(text, cases[i].quoted);
	}
}

TESTS({"addresses as text", test_addresses},
    {"addresses as libc has them", test_addresses_as_libc},
    {"networks", test_networks}, {"endpoints", test_endpoints},
    {"the writer keeps to its memory", test_out},
    {"the writer escapes", test_out_escapes})
