/* The egress rules of groups, from the configuration's words to decisions. */
#include "daemon/policy.h"
#include "harness.h"

#define HEAD "[gateway]\naudience = 1\n[ledger]\njournal = /j\n"

static struct config *config;
static struct policy_set set;

static void
make(const char *text)
{
	struct findings f = {0};
	char whole[2048];

	snprintf(whole, sizeof(whole), HEAD "%s", text);
	enum status st =
	    config_parse(&config, &f, "test", whole, strlen(whole), NULL, 0);
	findings_print(&f, stdout);
	CHECK_STATUS(st, ST_OK);
	CHECK_STATUS(policy_set_make(&set, config), ST_OK);
	CHECK_INT(set.n, config->groups_n);
	findings_clear(&f);
}

static void
drop(void)
{
	policy_set_clear(&set);
	CHECK(set.n == 0 && set.policies == NULL);
	config_unref(&config);
}

/* What group number N says of TARGET. */
static enum status
ask(size_t n, const char *target)
{
	struct authority to;

	CHECK_STATUS(authority_parse(&to, span_str(target)), ST_OK);
	return target_check(set.policies[n].target, &to);
}

static enum status
ask_address(size_t n, const char *text, uint16_t port)
{
	const struct own_addresses own = {0};
	ip_t ip;

	CHECK_STATUS(ip_parse(&ip, span_str(text)), ST_OK);
	return policy_check_addresses(&set.policies[n], &own, &ip, 1, port);
}

static void
absent_rules_deny(void)
{
	make("[group g]\nmembers = /m\nrequests = 1\n");
	CHECK_STATUS(ask(0, "example.com:443"), ST_TARGET_NAME);
	CHECK_STATUS(ask(0, "192.0.43.8:443"), ST_TARGET_LITERAL);
	CHECK_STATUS(ask(0, "example.com:80"), ST_TARGET_PORT);
	drop();
	make("[group g]\nmembers = /m\nrequests = 1\n"
	     "[egress]\nallow = *\nports =\n");
	CHECK_STATUS(ask(0, "example.com:443"), ST_TARGET_PORT);
	drop();
}

/* allow, ports and allow_networks of a group stand instead of the gateway's;
 * deny and deny_networks besides. */
static void
groups_have_their_own(void)
{
	make("[egress]\nallow = *\nports = 443\ndeny = .bad.com\n"
	     "allow_networks = 10.1.0.0/16\ndeny_networks = 192.0.43.0/24\n"
	     "[group a]\nmembers = /a\nrequests = 1\n"
	     "[group b]\nmembers = /b\nrequests = 1\nallow = only.org\n"
	     "ports = 22 8000-8010\ndeny = worse.only.org\n"
	     "allow_networks = 10.2.0.0/16\ndeny_networks = 192.0.44.0/24\n"
	     "[group c]\nmembers = /c\nrequests = 1\nallow =\n");
	CHECK_STATUS(ask(0, "x.org:443"), ST_OK);
	CHECK_STATUS(ask(0, "x.bad.com:443"), ST_TARGET_NAME);
	CHECK_STATUS(ask(0, "only.org:22"), ST_TARGET_PORT);
	CHECK_STATUS(ask(1, "only.org:22"), ST_OK);
	CHECK_STATUS(ask(1, "only.org:8010"), ST_OK);
	CHECK_STATUS(ask(1, "only.org:443"), ST_TARGET_PORT);
	CHECK_STATUS(ask(1, "x.org:22"), ST_TARGET_NAME);
	/* An empty line is a rule: nothing. */
	CHECK_STATUS(ask(2, "x.org:443"), ST_TARGET_NAME);

	CHECK_STATUS(ask_address(0, "10.1.2.3", 443), ST_OK);
	CHECK_STATUS(ask_address(0, "10.2.2.3", 443), ST_TARGET_ADDRESS);
	CHECK_STATUS(ask_address(0, "192.0.43.8", 443), ST_TARGET_ADDRESS);
	CHECK_STATUS(ask_address(0, "192.0.44.8", 443), ST_OK);
	CHECK_STATUS(ask_address(1, "10.1.2.3", 443), ST_TARGET_ADDRESS);
	CHECK_STATUS(ask_address(1, "10.2.2.3", 443), ST_OK);
	CHECK_STATUS(ask_address(1, "192.0.43.8", 443), ST_TARGET_ADDRESS);
	CHECK_STATUS(ask_address(1, "192.0.44.8", 443), ST_TARGET_ADDRESS);
	drop();
}

/* A deny of the gateway's holds for a group with an allow of its own. */
static void
the_gateways_deny_holds_for_all(void)
{
	make("[egress]\ndeny = .bad.com\n[group g]\nmembers = /m\n"
	     "requests = 1\nallow = x.bad.com\n");
	CHECK_STATUS(ask(0, "x.bad.com:443"), ST_TARGET_NAME);
	drop();
}

static void
exceptions_are_exact(void)
{
	make("[egress]\nexcept = 127.0.0.1:8443\n"
	     "[group g]\nmembers = /m\nrequests = 1\nallow = *\n");
	CHECK_STATUS(ask(0, "127.0.0.1:8443"), ST_OK);
	CHECK_STATUS(ask(0, "127.0.0.1:8444"), ST_TARGET_PORT);
	CHECK_STATUS(ask(0, "127.0.0.2:443"), ST_TARGET_LITERAL);
	CHECK_STATUS(ask_address(0, "127.0.0.1", 8443), ST_OK);
	CHECK_STATUS(ask_address(0, "127.0.0.1", 443), ST_TARGET_ADDRESS);
	drop();
}

/* The machine's own addresses are not for members, public or not. */
static void
own_addresses_are_refused(void)
{
	struct own_addresses own = {0};
	ip_t list[1], other;

	make("[group g]\nmembers = /m\nrequests = 1\n[egress]\nallow = *\n");
	CHECK_STATUS(ip_parse(&list[0], span_str("192.0.43.8")), ST_OK);
	CHECK_STATUS(ip_parse(&other, span_str("192.0.43.9")), ST_OK);
	CHECK_STATUS(
	    policy_check_addresses(&set.policies[0], &own, list, 1, 443),
	    ST_OK);
	own = (struct own_addresses){list, 1};
	CHECK_STATUS(
	    policy_check_addresses(&set.policies[0], &own, list, 1, 443),
	    ST_TARGET_ADDRESS);
	CHECK_STATUS(
	    policy_check_addresses(&set.policies[0], &own, &other, 1, 443),
	    ST_OK);
	drop();
}

static void
the_machine_is_asked(void)
{
	static const uint8_t loopback[16] = {127, 0, 0, 1};
	struct own_addresses own = {0};
	bool found = false;

	CHECK_STATUS(own_addresses_refresh(&own), ST_OK);
	CHECK_STATUS(own_addresses_refresh(&own), ST_OK); /* again: no leak */
	for (size_t i = 0; i < own.n; i++)
		found |= own.list[i].version == 4 &&
		    memcmp(own.list[i].bytes, loopback, 16) == 0;
	CHECK(found);
	own_addresses_clear(&own);
}

static void
reach_follows_from_the_addresses(void)
{
	static const struct {
		const char *ip;
		bool ip4, ip6;
	} cases[] = {
	    {"127.0.0.1", false, false},
	    {"169.254.3.4", false, false},
	    {"10.0.0.7", true, false}, /* translated on the way */
	    {"192.0.43.8", true, false},
	    {"::1", false, false},
	    {"fe80::1", false, false},
	    {"fd00::1", false, false},
	    {"2a00::1", false, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ip_t ip;
		struct own_addresses own = {&ip, 1};
		CHECK_STATUS(ip_parse(&ip, span_str(cases[i].ip)), ST_OK);
		struct address_reach reach = own_addresses_reach(&own);
		CHECK_INT(reach.ip4, cases[i].ip4);
		CHECK_INT(reach.ip6, cases[i].ip6);
	}
}

TESTS({"absent rules deny", absent_rules_deny},
    {"groups have their own", groups_have_their_own},
    {"the gateway's deny holds for all", the_gateways_deny_holds_for_all},
    {"exceptions are exact", exceptions_are_exact},
    {"own addresses are refused", own_addresses_are_refused},
    {"the machine is asked", the_machine_is_asked},
    {"reach follows from the addresses", reach_follows_from_the_addresses}, )
