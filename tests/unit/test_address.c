/* The address policy: which addresses the gateway may connect to, and in which
 * order. */
#include "harness.h"

#include "gate/address.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof(*(ARRAY)))

static ip_t
ip(const char *text)
{
	ip_t out;

	if (ip_parse(&out, span_str(text)) != ST_OK)
		test_fail(__FILE__, __LINE__, "%s is no address", text);
	return out;
}

/* The registries once more, as text, with the first and the last address of
 * each block and the name that the table must give. */
static const struct {
	const char *first, *last, *name;
} special[] = {
    {"0.0.0.0", "0.0.0.0", "this host on this network"},
    {"0.0.0.1", "0.255.255.255", "this network"},
    {"10.0.0.0", "10.255.255.255", "private use"},
    {"100.64.0.0", "100.127.255.255", "shared address space"},
    {"127.0.0.0", "127.255.255.255", "loopback"},
    {"169.254.0.0", "169.254.255.255", "link local"},
    {"172.16.0.0", "172.31.255.255", "private use"},
    {"192.0.0.0", "192.0.0.7", "IPv4 service continuity"},
    {"192.0.0.8", "192.0.0.8", "IPv4 dummy address"},
    {"192.0.0.9", "192.0.0.9", "port control protocol anycast"},
    {"192.0.0.10", "192.0.0.10", "TURN anycast"},
    {"192.0.0.11", "192.0.0.169", "IETF protocol assignments"},
    {"192.0.0.170", "192.0.0.171", "NAT64/DNS64 discovery"},
    {"192.0.0.172", "192.0.0.255", "IETF protocol assignments"},
    {"192.0.2.0", "192.0.2.255", "documentation"},
    {"192.31.196.0", "192.31.196.255", "AS112"},
    {"192.52.193.0", "192.52.193.255", "AMT"},
    {"192.88.99.3", "192.88.99.255", "6to4 relay anycast, deprecated"},
    {"192.88.99.2", "192.88.99.2", "6a44 relay anycast"},
    {"192.168.0.0", "192.168.255.255", "private use"},
    {"192.175.48.0", "192.175.48.255", "AS112 direct delegation"},
    {"198.18.0.0", "198.19.255.255", "benchmarking"},
    {"198.51.100.0", "198.51.100.255", "documentation"},
    {"203.0.113.0", "203.0.113.255", "documentation"},
    {"224.0.0.0", "239.255.255.255", "multicast"},
    {"240.0.0.0", "255.255.255.254", "reserved"},
    {"255.255.255.255", "255.255.255.255", "limited broadcast"},

    {"::", "::", "unspecified"},
    {"::1", "::1", "loopback"},
    {"::2", "::ffff:ffff", "IPv4-compatible, deprecated"},
    {"::1:0:0", "::fffe:ffff:ffff", "not global unicast"},
    {"::ffff:0.0.0.0", "::ffff:255.255.255.255", "IPv4-mapped"},
    {"::ffff:0:0.0.0.0", "::ffff:0:255.255.255.255",
	"IPv4-translated, deprecated"},
    {"64:ff9b::", "64:ff9b::ffff:ffff", "NAT64"},
    {"64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "NAT64, local use"},
    {"64:ff9b:2::", "ff:ffff::", "not global unicast"},
    {"100::", "100::ffff:ffff:ffff:ffff", "discard only"},
    {"100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", "dummy prefix"},
    {"100:0:0:2::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	"not global unicast"},
    {"2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo"},
    {"2001:1::1", "2001:1::1", "port control protocol anycast"},
    {"2001:1::2", "2001:1::2", "TURN anycast"},
    {"2001:1::3", "2001:1::3", "DNS-SD service registration anycast"},
    {"2001:1::4", "2001:1:ffff::", "IETF protocol assignments"},
    {"2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", "benchmarking"},
    {"2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", "AMT"},
    {"2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff", "AS112"},
    {"2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff",
	"ORCHID, deprecated"},
    {"2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHIDv2"},
    {"2001:30::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff",
	"drone remote identification"},
    {"2001:40::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
	"IETF protocol assignments"},
    {"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
    {"2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4"},
    {"2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff",
	"AS112 direct delegation"},
    {"3ffe::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6bone, returned"},
    {"3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
    {"4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "not global unicast"},
    {"5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	"SRv6 segment identifiers"},
    {"5f01::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "not global unicast"},
    {"fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "unique local"},
    {"fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "not global unicast"},
    {"fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link local"},
    {"fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	"site local, deprecated"},
    {"ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"},

    /* by its interface identifier */
    {"2600::5efe:10.0.0.1", "2600::200:5efe:192.0.2.1", "ISATAP"},
};

/* Public: the neighbours of the blocks above, and some that everyone knows. */
static const char *const public[] = {"1.0.0.0", "9.255.255.255", "11.0.0.0",
    "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
    "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.31.195.255",
    "192.31.197.0", "192.52.192.255", "192.52.194.0", "192.88.98.255",
    "192.88.100.0", "192.167.255.255", "192.169.0.0", "192.175.47.255",
    "192.175.49.0", "198.17.255.255", "198.20.0.0", "198.51.99.255",
    "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
    "1.1.1.1", "8.8.8.8", "9.9.9.9",

    "2000::", "2001:200::", "2001:db7:ffff::", "2001:db9::", "2003::",
    "2620:4f:7fff::", "2620:4f:8001::", "3ffd:ffff::", "3fff:1000::",
    "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450::",
    /* almost ISATAP */
    "2600::5eff:10.0.0.1", "2600::100:5efe:10.0.0.1", "2600::5efe:0:10.0.0.1"};

static const struct address_policy plain;

static void
check_special(const char *text, const char *name)
{
	ip_t a = ip(text);
	const struct address_block *block = address_special(&a);

	if (block == NULL)
		test_fail(__FILE__, __LINE__, "%s is public", text);
	if (strcmp(block->name, name) != 0)
		test_fail(__FILE__, __LINE__, "%s is of %s, not %s", text,
		    block->name, name);
	CHECK(strlen(block->source) > 0);
	CHECK_STATUS(address_check(&plain, &a, 443), ST_TARGET_ADDRESS);
}

static void
test_special(void)
{
	for (size_t i = 0; i < COUNT(special); i++) {
		check_special(special[i].first, special[i].name);
		check_special(special[i].last, special[i].name);
	}
	for (size_t i = 0; i < COUNT(public); i++) {
		ip_t a = ip(public[i]);
		if (address_special(&a) != NULL)
			test_fail(
			    __FILE__, __LINE__, "%s is not public", public[i]);
		CHECK_STATUS(address_check(&plain, &a, 443), ST_OK);
	}
	CHECK(address_special(&(ip_t){0}) != NULL);
	CHECK_STATUS(address_check(&plain, &(ip_t){0}, 443), ST_TARGET_ADDRESS);
}

/* The table is well formed: prefixes without stray bits, a name, a source, no
 * row twice; the three blocks around 2000::/3 are there. */
static void
test_table(void)
{
	size_t n;
	const struct address_block *b = address_blocks(&n);

	CHECK(n > 50);
	for (size_t i = 0; i < n; i++) {
		unsigned most = b[i].net.ip.version == 4 ? 32 : 128;
		CHECK(b[i].net.ip.version == 4 || b[i].net.ip.version == 6);
		CHECK(b[i].net.bits > 0 && b[i].net.bits <= most);
		for (unsigned k = b[i].net.bits; k < 128; k++)
			CHECK((b[i].net.ip.bytes[k / 8] & 0x80 >> k % 8) == 0);
		CHECK(b[i].name[0] != '\0' && b[i].source[0] != '\0');
		for (size_t j = 0; j < i; j++)
			CHECK(b[i].net.bits != b[j].net.bits ||
			    !ip_equal(&b[i].net.ip, &b[j].net.ip));
	}
	/* Of IPv6, nothing outside 2000::/3 is public. */
	for (unsigned i = 0; i < 200000; i++) {
		ip_t a = {.version = 6};
		test_random_bytes(a.bytes, 16);
		if (a.bytes[0] >> 5 != 1)
			CHECK(address_special(&a) != NULL);
	}
}

static void
test_embedded(void)
{
	static const struct {
		const char *ip6, *ip4;
	} cases[] = {
	    {"::ffff:10.1.2.3", "10.1.2.3"},
	    {"::ffff:210.1.2.3", "210.1.2.3"},
	    {"::210.1.2.3", "210.1.2.3"},
	    {"64:ff9b::210.1.2.3", "210.1.2.3"},
	    {"::10.1.2.3", "10.1.2.3"},
	    {"::ffff:0:10.1.2.3", "10.1.2.3"},
	    {"64:ff9b::10.1.2.3", "10.1.2.3"},
	    {"64:ff9b:1::10.1.2.3", "10.1.2.3"},
	    {"2002:0a01:0203::1", "10.1.2.3"},
	    /* RFC 4380: the client's address, inverted */
	    {"2001:0:4136:e378:8000:63bf:3fff:fdd2", "192.0.2.45"},
	    {"2600::5efe:10.1.2.3", "10.1.2.3"},
	    {"2600::200:5efe:10.1.2.3", "10.1.2.3"},
	    {"2606:4700::1", NULL},
	    {"64:ff9b:2::10.1.2.3", NULL},
	    {"10.1.2.3", NULL},
	};
	ip_t out;

	for (size_t i = 0; i < COUNT(cases); i++) {
		ip_t a = ip(cases[i].ip6);
		CHECK_INT(address_embedded(&out, &a), cases[i].ip4 != NULL);
		ip_t want = cases[i].ip4 != NULL ? ip(cases[i].ip4) : (ip_t){0};
		CHECK(ip_equal(&out, &want));
	}
}

static void
check_policy(const struct address_policy *p, const char *text, unsigned port,
    enum status want)
{
	ip_t a = ip(text);
	enum status st = address_check(p, &a, (uint16_t)port);

	if (st != want)
		test_fail(__FILE__, __LINE__, "%s port %u: %s", text, port,
		    status_info(st)->name);
}

static void
test_policy(void)
{
	ip_net_t allow[3], deny[2];
	endpoint_t except[2];
	ip_t own[2] = {ip("9.9.9.1"), ip("10.0.0.1")};
	struct address_policy p = {allow, 3, deny, 2, except, 2, own, 2};

	CHECK_STATUS(ip_net_parse(&allow[0], span_str("10.0.0.0/8")), ST_OK);
	CHECK_STATUS(ip_net_parse(&allow[1], span_str("64:ff9b::/96")), ST_OK);
	CHECK_STATUS(ip_net_parse(&allow[2], span_str("127.0.0.0/8")), ST_OK);
	CHECK_STATUS(ip_net_parse(&deny[0], span_str("10.5.0.0/16")), ST_OK);
	CHECK_STATUS(ip_net_parse(&deny[1], span_str("9.9.0.0/16")), ST_OK);
	CHECK_STATUS(
	    endpoint_parse(&except[0], span_str("127.0.0.1:8443")), ST_OK);
	CHECK_STATUS(
	    endpoint_parse(&except[1], span_str("10.5.0.9:443")), ST_OK);

	check_policy(&p, "8.8.8.8", 443, ST_OK);
	/* allowed although not public, but not beyond the network */
	check_policy(&p, "10.1.2.3", 443, ST_OK);
	check_policy(&p, "192.168.0.1", 443, ST_TARGET_ADDRESS);
	/* denied although public, and denied although allowed */
	check_policy(&p, "9.9.9.9", 443, ST_TARGET_ADDRESS);
	check_policy(&p, "10.5.0.1", 443, ST_TARGET_ADDRESS);
	/* an exception beats the denial, for its port alone */
	check_policy(&p, "10.5.0.9", 443, ST_OK);
	check_policy(&p, "10.5.0.9", 444, ST_TARGET_ADDRESS);
	/* own addresses, public or allowed */
	check_policy(&p, "9.9.9.1", 443, ST_TARGET_ADDRESS);
	check_policy(&p, "10.0.0.1", 443, ST_TARGET_ADDRESS);
	/* loopback */
	check_policy(&p, "127.0.0.1", 8443, ST_OK);
	check_policy(&p, "::ffff:127.0.0.1", 8443, ST_TARGET_ADDRESS);
	check_policy(&p, "::1", 8443, ST_TARGET_ADDRESS);
	/* NAT64 is allowed as far as what it leads to is */
	check_policy(&p, "64:ff9b::8.8.8.8", 443, ST_OK);
	check_policy(&p, "64:ff9b::10.1.2.3", 443, ST_OK);
	check_policy(&p, "64:ff9b::10.5.0.1", 443, ST_TARGET_ADDRESS);
	check_policy(&p, "64:ff9b::192.168.0.1", 443, ST_TARGET_ADDRESS);
	check_policy(&p, "64:ff9b::9.9.9.1", 443, ST_TARGET_ADDRESS);
	check_policy(&p, "64:ff9b::169.254.169.254", 443, ST_TARGET_ADDRESS);
	check_policy(&p, "64:ff9b:1::8.8.8.8", 443, ST_TARGET_ADDRESS);
	/* without a policy none of it */
	check_policy(&plain, "64:ff9b::8.8.8.8", 443, ST_TARGET_ADDRESS);
	check_policy(&plain, "127.0.0.1", 8443, ST_TARGET_ADDRESS);
}

static void
test_all_answers(void)
{
	ip_t ips[3] = {ip("8.8.8.8"), ip("2606:4700::1"), ip("10.0.0.1")};

	CHECK_STATUS(address_check_all(&plain, ips, 2, 443), ST_OK);
	CHECK_STATUS(address_check_all(&plain, ips, 3, 443), ST_TARGET_ADDRESS);
	CHECK_STATUS(
	    address_check_all(&plain, ips + 2, 1, 443), ST_TARGET_ADDRESS);
	CHECK_STATUS(address_check_all(&plain, NULL, 0, 443), ST_DNS_NOT_FOUND);
}

static void
check_order(const char *in, struct address_reach reach, const char *want)
{
	char words[512], got[512] = "";
	ip_t ips[16];
	size_t n = 0;

	snprintf(words, sizeof(words), "%s", in);
	for (char *p = strtok(words, " "); p != NULL; p = strtok(NULL, " "))
		ips[n++] = ip(p);
	n = address_order(ips, n, reach);
	for (size_t i = 0; i < n; i++) {
		char text[IP_TEXT_MAX];
		ip_format(text, &ips[i]);
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s",
		    i != 0 ? " " : "", text);
	}
	CHECK_STR(got, want);
}

static void
test_order(void)
{
	struct address_reach both = {.ip4 = true, .ip6 = true};
	struct address_reach old = {
	    .ip4 = true, .ip6 = true, .prefer_ip4 = true};
	struct address_reach only4 = {.ip4 = true};
	struct address_reach only6 = {.ip6 = true, .prefer_ip4 = true};

	check_order("", both, "");
	check_order("1.1.1.1", both, "1.1.1.1");
	check_order("1.1.1.1 1.1.1.2 2600::1 2600::2", both,
	    "2600::1 1.1.1.1 2600::2 1.1.1.2");
	check_order("1.1.1.1 1.1.1.2 1.1.1.3 2600::1", both,
	    "2600::1 1.1.1.1 1.1.1.2 1.1.1.3");
	check_order("2600::1 2600::2 2600::3 1.1.1.1", both,
	    "2600::1 1.1.1.1 2600::2 2600::3");
	check_order("2600::1 1.1.1.1 2600::2 1.1.1.2", old,
	    "1.1.1.1 2600::1 1.1.1.2 2600::2");
	/* what can not be sent goes last, in its order */
	check_order("2600::1 1.1.1.1 2600::2 1.1.1.2", only4,
	    "1.1.1.1 1.1.1.2 2600::1 2600::2");
	check_order("1.1.1.1 2600::1 1.1.1.2 2600::2", only6,
	    "2600::1 2600::2 1.1.1.1 1.1.1.2");
	check_order(
	    "1.1.1.1 2600::1", (struct address_reach){0}, "2600::1 1.1.1.1");
	/* repeated answers are one */
	check_order("1.1.1.1 1.1.1.1 2600::1 1.1.1.1 2600::1 1.1.1.2", both,
	    "2600::1 1.1.1.1 1.1.1.2");
}

TESTS({"special and public addresses", test_special},
    {"the table is well formed", test_table},
    {"embedded IPv4 addresses", test_embedded},
    {"policy of operator and machine", test_policy},
    {"all answers for a name", test_all_answers},
    {"order of attempts", test_order})
