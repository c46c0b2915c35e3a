/* The target policy: which hosts and ports may be asked for. */
#include "harness.h"

#include <stdlib.h>

#include "gate/target.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof(*(ARRAY)))

/* Rules as lists of words: easier to read, and to get wrong in one place. */
struct words {
	const char *ports, *allow, *deny, *except;
	bool literals;
};

struct policy {
	void *mem;
	const struct target_policy *p;
};

#define MOST 64

static size_t
split(span_t *out, const char *words)
{
	size_t n = 0;

	for (const char *p = words; p != NULL && *p != '\0';) {
		size_t len = strcspn(p, " ");
		CHECK(n < MOST);
		out[n++] = span_of(p, len);
		p += len + (p[len] == ' ');
	}
	return n;
}

static enum status
compile(struct policy *out, size_t *bad, const struct words *w)
{
	static span_t ports[MOST], allow[MOST], deny[MOST], except[MOST];
	static port_range_t ranges[MOST];
	static endpoint_t endpoints[MOST];
	struct target_rules r = {.ports = ranges,
	    .n_ports = split(ports, w->ports),
	    .allow = allow,
	    .n_allow = split(allow, w->allow),
	    .deny = deny,
	    .n_deny = split(deny, w->deny),
	    .except = endpoints,
	    .n_except = split(except, w->except),
	    .literals = w->literals};

	for (size_t i = 0; i < r.n_ports; i++)
		CHECK_STATUS(port_range_parse(&ranges[i], ports[i]), ST_OK);
	for (size_t i = 0; i < r.n_except; i++)
		CHECK_STATUS(endpoint_parse(&endpoints[i], except[i]), ST_OK);
	size_t size = target_policy_size(&r);
	CHECK((out->mem = malloc(size)) != NULL);
	CHECK_STATUS(
	    target_compile(&out->p, out->mem, size - 1, &r, bad), ST_NO_SPACE);
	CHECK(out->p == NULL);
	return target_compile(&out->p, out->mem, size, &r, bad);
}

static struct policy
policy(const struct words *w)
{
	struct policy p;
	size_t bad;

	CHECK_STATUS(compile(&p, &bad, w), ST_OK);
	return p;
}

static enum status
judge(const struct policy *p, const char *target)
{
	struct authority a;

	if (authority_parse(&a, span_str(target)) != ST_OK)
		test_fail(__FILE__, __LINE__, "%s is no target", target);
	return target_check(p->p, &a);
}

struct expected {
	const char *target;
	enum status st;
};

static void
check(const struct words *w, const struct expected *e, size_t n)
{
	struct policy p = policy(w);

	for (size_t i = 0; i < n; i++) {
		enum status st = judge(&p, e[i].target);
		if (st != e[i].st)
			test_fail(__FILE__, __LINE__, "%s: %s, not %s",
			    e[i].target, status_info(st)->name,
			    status_info(e[i].st)->name);
	}
	free(p.mem);
}

static void
test_no_rule_denies(void)
{
	static const struct expected nothing[] = {
	    {"example.com:443", ST_TARGET_PORT},
	    {"192.0.2.1:443", ST_TARGET_PORT},
	};
	static const struct expected no_name[] = {
	    {"example.com:443", ST_TARGET_NAME},
	    {"192.0.2.1:443", ST_TARGET_LITERAL},
	};
	static const struct expected no_port[] = {
	    {"example.com:443", ST_TARGET_PORT},
	};

	check(&(struct words){0}, nothing, COUNT(nothing));
	check(&(struct words){.ports = "443"}, no_name, COUNT(no_name));
	check(&(struct words){.allow = "*"}, no_port, COUNT(no_port));
}

static void
test_ports(void)
{
	static const struct expected e[] = {
	    {"a.com:443", ST_OK},
	    {"a.com:442", ST_TARGET_PORT},
	    {"a.com:444", ST_TARGET_PORT},
	    {"a.com:8000", ST_OK},
	    {"a.com:8999", ST_OK},
	    {"a.com:9500", ST_OK},
	    {"a.com:7999", ST_TARGET_PORT},
	    {"a.com:9501", ST_TARGET_PORT},
	    {"a.com:1", ST_TARGET_PORT},
	    {"a.com:65535", ST_OK},
	    {"a.com:65534", ST_TARGET_PORT},
	};
	struct words w = {
	    .ports = "8500-9500 443 65535 8000-8999 443 9001", .allow = "*"};
	struct policy p = policy(&w);
	size_t n;
	const port_range_t *r = target_ports(p.p, &n);

	check(&w, e, COUNT(e));
	CHECK_INT(n, 3); /* sorted, merged */
	CHECK(r[0].first == 443 && r[0].last == 443);
	CHECK(r[1].first == 8000 && r[1].last == 9500);
	CHECK(r[2].first == 65535 && r[2].last == 65535);
	free(p.mem);
	/* Neighbours are one range; all ports are one range. */
	p = policy(&(struct words){.ports = "2-65535 1"});
	r = target_ports(p.p, &n);
	CHECK(n == 1 && r[0].first == 1 && r[0].last == 65535);
	free(p.mem);
}

/* Every port against every range of a random set. */
static void
test_ports_exhaustive(void)
{
	char words[512] = "";
	static bool want[65536];
	struct authority a = {.kind = HOST_NAME, .host = span_str("a.com")};

	for (unsigned i = 0; i < 20; i++) {
		unsigned first = 1 + (unsigned)(test_random() % 65000);
		unsigned last = first + (unsigned)(test_random() % 500);
		snprintf(words + strlen(words), 16, "%s%u-%u", i ? " " : "",
		    first, last);
		for (unsigned port = first; port <= last; port++)
			want[port] = true;
	}
	struct policy p = policy(&(struct words){.ports = words, .allow = "*"});
	for (unsigned port = 1; port < 65536; port++) {
		a.port = (uint16_t)port;
		CHECK_STATUS(
		    target_check(p.p, &a), want[port] ? ST_OK : ST_TARGET_PORT);
	}
	free(p.mem);
}

static void
test_names(void)
{
	static const struct expected exact[] = {
	    {"example.com:443", ST_OK},
	    {"EXAMPLE.Com:443", ST_OK},
	    {"example.com.:443", ST_OK},
	    {"www.example.com:443", ST_TARGET_NAME},
	    {"xample.com:443", ST_TARGET_NAME},
	    {"myexample.com:443", ST_TARGET_NAME},
	    {"com:443", ST_TARGET_NAME},
	    {"example.com.org:443", ST_TARGET_NAME},
	};
	static const struct expected below[] = {
	    {"example.com:443", ST_TARGET_NAME},
	    {"www.example.com:443", ST_OK},
	    {"a.b.c.d.example.com:443", ST_OK},
	    {"myexample.com:443", ST_TARGET_NAME},
	};
	static const struct expected both[] = {
	    {"example.com:443", ST_OK},
	    {"Www.Example.com.:443", ST_OK},
	    {"myexample.com:443", ST_TARGET_NAME},
	};
	static const struct expected denied[] = {
	    {"example.com:443", ST_OK},
	    {"bad.example.com:443", ST_TARGET_NAME},
	    {"x.bad.example.com:443", ST_TARGET_NAME},
	    {"xbad.example.com:443", ST_OK},
	    {"only.example.org:443", ST_TARGET_NAME},
	    {"x.only.example.org:443", ST_OK},
	    {"below.example.net:443", ST_OK},
	    {"x.below.example.net:443", ST_TARGET_NAME},
	};

	check(&(struct words){.ports = "443", .allow = "Example.COM."}, exact,
	    COUNT(exact));
	check(&(struct words){.ports = "443", .allow = "*.example.com"}, below,
	    COUNT(below));
	check(&(struct words){.ports = "443", .allow = ".Example.com"}, both,
	    COUNT(both));
	check(&(struct words){.ports = "443",
		  .allow = "* bad.example.com",
		  .deny =
		      ".bad.example.com only.example.org *.below.example.net"},
	    denied, COUNT(denied));
	static const struct expected none[] = {
	    {"example.com:443", ST_TARGET_NAME}};
	check(
	    &(struct words){
		.ports = "443", .allow = "example.com", .deny = "*"},
	    none, 1);
}

static void
test_special_names(void)
{
	/* Under * alone. */
	static const struct expected refused[] = {
	    {"localhost:443", ST_TARGET_NAME},
	    {"a.LOCALHOST:443", ST_TARGET_NAME},
	    {"localhost.:443", ST_TARGET_NAME},
	    {"printer.local:443", ST_TARGET_NAME},
	    {"a.test:443", ST_TARGET_NAME},
	    {"a.invalid:443", ST_TARGET_NAME},
	    {"a.example:443", ST_TARGET_NAME},
	    {"a.alt:443", ST_TARGET_NAME},
	    {"a.internal:443", ST_TARGET_NAME},
	    {"a.home.arpa:443", ST_TARGET_NAME},
	    {"1.0.0.127.in-addr.arpa:443", ST_TARGET_NAME},
	    {"a.ip6.arpa:443", ST_TARGET_NAME},
	    {"router.lan:443", ST_TARGET_NAME},
	    {"a.corp:443", ST_TARGET_NAME},
	    {"a.home:443", ST_TARGET_NAME},
	    {"a.intranet:443", ST_TARGET_NAME},
	    {"a.localdomain:443", ST_TARGET_NAME},
	    {"a.mail:443", ST_TARGET_NAME},
	    {"a.private:443", ST_TARGET_NAME},
	    {"intranet:443", ST_TARGET_NAME},
	    {"printer:443", ST_TARGET_NAME},
	    {"com:443", ST_TARGET_NAME},
	    /* and these are ordinary */
	    {"example.com:443", ST_OK},
	    {"localhost.com:443", ST_OK},
	    {"mylocal.com:443", ST_OK},
	    {"test.org:443", ST_OK},
	    {"xlocal.net:443", ST_OK},
	    {"a.contest:443", ST_OK},
	    /* whatever the rules */
	    {"onion:443", ST_TARGET_ONION},
	    {"abc.onion:443", ST_TARGET_ONION},
	    {"www.abc.ONION.:443", ST_TARGET_ONION},
	    {"abc.onion:80", ST_TARGET_ONION},
	    {"xonion.com:443", ST_OK},
	};
	/* Lifted by a rule that names them, and only so far. */
	static const struct expected lifted[] = {
	    {"localhost:443", ST_OK},
	    {"x.localhost:443", ST_TARGET_NAME},
	    {"a.test:443", ST_OK},
	    {"test:443", ST_OK},
	    {"build.internal:443", ST_OK},
	    {"other.internal:443", ST_TARGET_NAME},
	    {"x.build.internal:443", ST_TARGET_NAME},
	    {"x.home.arpa:443", ST_OK},
	    {"home.arpa:443", ST_TARGET_NAME},
	    {"1.0.0.127.in-addr.arpa:443", ST_TARGET_NAME},
	    {"printer:443", ST_OK},
	    {"scanner:443", ST_TARGET_NAME},
	    {"bad.test:443", ST_TARGET_NAME},
	    {"abc.onion:443", ST_TARGET_ONION},
	};

	check(&(struct words){.ports = "443", .allow = "*"}, refused,
	    COUNT(refused));
	check(
	    &(struct words){.ports = "443",
		.allow = "* localhost .test build.internal *.home.arpa printer",
		.deny = "bad.test"},
	    lifted, COUNT(lifted));
	CHECK_STR(target_special_name(span_str("x.Local")), "local");
	CHECK_STR(target_special_name(span_str("host")), "");
	CHECK(target_special_name(span_str("example.com")) == NULL);
}

static void
test_literals(void)
{
	static const struct expected off[] = {
	    {"192.0.2.1:443", ST_TARGET_LITERAL},
	    {"[2001:db8::1]:443", ST_TARGET_LITERAL},
	    {"127.0.0.1:8443", ST_OK}, /* excepted, and its port is too */
	    {"127.0.0.1:443", ST_TARGET_LITERAL},
	    {"127.0.0.2:8443", ST_TARGET_PORT},
	    {"[::1]:9", ST_OK},
	    {"[0:0::0:1]:9", ST_OK},
	    {"[::1]:8", ST_TARGET_PORT},
	    /* the address in another version is another address */
	    {"[::ffff:127.0.0.1]:8443", ST_TARGET_PORT},
	    {"localhost:8443", ST_TARGET_PORT},
	};
	static const struct expected on[] = {
	    {"192.0.2.1:443", ST_OK},
	    {"[2001:db8::1]:443", ST_OK},
	    {"192.0.2.1:80", ST_TARGET_PORT},
	};

	check(&(struct words){.ports = "443",
		  .allow = "*",
		  .except = "127.0.0.1:8443 [::1]:9"},
	    off, COUNT(off));
	check(&(struct words){.ports = "443", .literals = true}, on, COUNT(on));
}

static void
test_patterns(void)
{
	static const char *const good[] = {"*", "a", "*.a", ".a", "example.com",
	    ".com", "*.example.com", "example.com.", "xn--bcher-kva.example",
	    "3com.com", "LOCALHOST"};
	static const char *const bad[] = {"", ".", "*.", "**", "*a", "a.*",
	    "*.*.a", "..a", ".a.", "a..b", "-a.b", "a_b.c", "a b", "10.0.0.1",
	    ".1", "*.10", "http://a.b", "a.b:443", "a/b"};
	static const char *const onion[] = {
	    "onion", ".onion", "*.onion", "x.ONION"};

	for (size_t i = 0; i < COUNT(good); i++)
		CHECK_STATUS(target_pattern_check(span_str(good[i])), ST_OK);
	for (size_t i = 0; i < COUNT(bad); i++) {
		/* ".a." is ".a" with its trailing dot. */
		enum status want =
		    strcmp(bad[i], ".a.") == 0 ? ST_OK : ST_BAD_ENCODING;
		if (target_pattern_check(span_str(bad[i])) != want)
			test_fail(__FILE__, __LINE__, "%s", bad[i]);
	}
	for (size_t i = 0; i < COUNT(onion); i++)
		CHECK_STATUS(
		    target_pattern_check(span_str(onion[i])), ST_TARGET_ONION);
}

static void
test_port_ranges(void)
{
	static const struct {
		const char *text;
		enum status st;
		unsigned first, last;
	} cases[] = {
	    {"443", ST_OK, 443, 443},
	    {"1-65535", ST_OK, 1, 65535},
	    {"5-5", ST_OK, 5, 5},
	    {"0", ST_BAD_VALUE, 0, 0},
	    {"0-5", ST_BAD_VALUE, 0, 0},
	    {"6-5", ST_BAD_VALUE, 0, 0},
	    {"65536", ST_BAD_VALUE, 0, 0},
	    {"1-65536", ST_BAD_VALUE, 0, 0},
	    {"", ST_BAD_ENCODING, 0, 0},
	    {"-", ST_BAD_ENCODING, 0, 0},
	    {"5-", ST_BAD_ENCODING, 0, 0},
	    {"-5", ST_BAD_ENCODING, 0, 0},
	    {"1-2-3", ST_BAD_ENCODING, 0, 0},
	    {"05", ST_BAD_ENCODING, 0, 0},
	    {"https", ST_BAD_ENCODING, 0, 0},
	    {" 5", ST_BAD_ENCODING, 0, 0},
	};
	port_range_t r;

	for (size_t i = 0; i < COUNT(cases); i++) {
		CHECK_STATUS(
		    port_range_parse(&r, span_str(cases[i].text)), cases[i].st);
		CHECK_INT(r.first, cases[i].first);
		CHECK_INT(r.last, cases[i].last);
	}
}

static void
test_bad_rules_are_named(void)
{
	static const struct {
		struct words w;
		enum status st;
		size_t bad;
	} cases[] = {
	    {{.ports = "1 2", .allow = "a a_b"}, ST_BAD_ENCODING, 3},
	    {{.ports = "1", .allow = "a", .deny = "b c ."}, ST_BAD_ENCODING, 4},
	    {{.allow = "x.onion"}, ST_TARGET_ONION, 0},
	    {{.allow = "a.b", .deny = "10.0.0.1"}, ST_BAD_ENCODING, 1},
	};
	port_range_t wrong[] = {{1, 2}, {3, 2}};
	struct target_rules r = {.ports = wrong, .n_ports = 2};
	const struct target_policy *p;
	_Alignas(16) uint8_t mem[1024];
	struct policy out;
	size_t bad;

	for (size_t i = 0; i < COUNT(cases); i++) {
		CHECK_STATUS(compile(&out, &bad, &cases[i].w), cases[i].st);
		CHECK_INT(bad, cases[i].bad);
		CHECK(out.p == NULL);
		free(out.mem);
	}
	/* To deny an onion is superfluous, not wrong. */
	CHECK_STATUS(
	    compile(&out, &bad, &(struct words){.deny = ".onion"}), ST_OK);
	free(out.mem);
	CHECK_STATUS(
	    target_compile(&p, mem, sizeof(mem), &r, &bad), ST_BAD_VALUE);
	CHECK_INT(bad, 1);
	CHECK_STATUS(
	    target_compile(&p, mem, sizeof(mem), &r, NULL), ST_BAD_VALUE);
}

/* Ten thousand rules: each name is found, its neighbours are not. */
static void
test_many_rules(void)
{
	enum { RULES = 10000 };
	static char text[RULES][24];
	static span_t allow[RULES];
	port_range_t port = {443, 443};
	struct target_rules r = {
	    .ports = &port, .n_ports = 1, .allow = allow, .n_allow = RULES};
	struct authority a = {.kind = HOST_NAME, .port = 443};
	const struct target_policy *p;
	char name[64];

	for (unsigned i = 0; i < RULES; i++) {
		snprintf(text[i], sizeof(text[i]), "%s%u.example.org",
		    i % 2 != 0 ? "*." : "", i);
		allow[i] = span_str(text[i]);
	}
	size_t size = target_policy_size(&r);
	void *mem = malloc(size);
	CHECK(mem != NULL);
	CHECK_STATUS(target_compile(&p, mem, size, &r, NULL), ST_OK);
	for (unsigned i = 0; i < 2 * RULES; i++) {
		bool known = i < RULES;
		snprintf(name, sizeof(name), "%u.example.org", i);
		a.host = span_str(name);
		CHECK_STATUS(target_check(p, &a),
		    known && i % 2 == 0 ? ST_OK : ST_TARGET_NAME);
		snprintf(name, sizeof(name), "x.y.%u.example.org", i);
		a.host = span_str(name);
		CHECK_STATUS(target_check(p, &a),
		    known && i % 2 != 0 ? ST_OK : ST_TARGET_NAME);
	}
	free(mem);
}

TESTS({"no rule denies", test_no_rule_denies}, {"ports", test_ports},
    {"ports, each of them", test_ports_exhaustive}, {"names", test_names},
    {"special names", test_special_names}, {"literals", test_literals},
    {"patterns", test_patterns}, {"port ranges", test_port_ranges},
    {"bad rules are named", test_bad_rules_are_named},
    {"many rules", test_many_rules})
