/* The target policy, compiled, against the same rules applied one by one.
 *
 * The input is lines: "p 443", "p 8000-8999", "a PATTERN" (allow), "d PATTERN"
 * (deny), "x 127.0.0.1:80" (except), "l" (literals); each other line is a
 * target that is judged by the rules so far.
 */
#include "fuzz.h"

#include <strings.h>

#include "gate/target.h"

#define MOST 32

static struct {
	port_range_t ports[MOST];
	span_t allow[MOST], deny[MOST];
	endpoint_t except[MOST];
	struct target_rules rules;
} s;

/* NAME matches PATTERN, as target.h says it; *depth is the length of the
 * domain in the pattern. */
static bool
matches(span_t name, span_t pattern, size_t *depth)
{
	const char *p = (const char *)pattern.ptr;
	size_t n = pattern.len, skip = 0;
	bool self = true, below = false;

	*depth = 0;
	if (n == 1 && p[0] == '*')
		return true;
	if (n > 1 && p[0] == '.')
		skip = 1, below = true;
	else if (n > 2 && p[0] == '*' && p[1] == '.')
		skip = 2, below = true, self = false;
	p += skip;
	n -= skip;
	if (n > 0 && p[n - 1] == '.')
		n--;
	*depth = n;
	if (name.len < n ||
	    strncasecmp((const char *)name.ptr + name.len - n, p, n) != 0)
		return false;
	if (name.len == n)
		return self;
	return below && name.ptr[name.len - n - 1] == '.';
}

static enum status
judge_name(span_t name)
{
	const char *domain = target_special_name(name);
	size_t depth, deepest = 0, needed = 0;
	bool allowed = false;

	for (size_t i = 0; i < s.rules.n_deny; i++) {
		if (matches(name, s.deny[i], &depth))
			return ST_TARGET_NAME;
	}
	for (size_t i = 0; i < s.rules.n_allow; i++) {
		if (!matches(name, s.allow[i], &depth))
			continue;
		allowed = true;
		deepest = depth > deepest ? depth : deepest;
	}
	if (domain != NULL)
		needed = domain[0] != '\0' ? strlen(domain) : name.len;
	return allowed && deepest >= needed ? ST_OK : ST_TARGET_NAME;
}

static enum status
judge(const struct authority *a)
{
	bool port = false;

	if (a->kind == HOST_NAME) {
		size_t depth;
		if (matches(a->host, span_str(".onion"), &depth))
			return ST_TARGET_ONION;
	} else {
		for (size_t i = 0; i < s.rules.n_except; i++) {
			if (s.except[i].port == a->port &&
			    ip_equal(&s.except[i].ip, &a->ip))
				return ST_OK;
		}
	}
	for (size_t i = 0; i < s.rules.n_ports; i++)
		port = port ||
		    (s.ports[i].first <= a->port && a->port <= s.ports[i].last);
	if (!port)
		return ST_TARGET_PORT;
	if (a->kind == HOST_LITERAL)
		return s.rules.literals ? ST_OK : ST_TARGET_LITERAL;
	return judge_name(a->host);
}

static void
check_target(span_t text)
{
	const struct target_policy *p;
	struct authority a;
	size_t bad, size = target_policy_size(&s.rules);
	void *mem = malloc(size);

	FUZZ_CHECK(mem != NULL);
	FUZZ_CHECK(
	    target_compile(&p, mem, size - 1, &s.rules, &bad) == ST_NO_SPACE);
	FUZZ_CHECK(target_compile(&p, mem, size, &s.rules, &bad) == ST_OK);
	if (authority_parse(&a, text) == ST_OK)
		FUZZ_CHECK(target_check(p, &a) == judge(&a));
	free(mem);
}

static void
take_line(span_t line)
{
	struct target_rules *r = &s.rules;
	char what = line.len > 0 ? (char)line.ptr[0] : '\0';
	bool rule = line.len == 1 || (line.len > 1 && line.ptr[1] == ' ');
	span_t rest = line.len > 2 ? span_of(line.ptr + 2, line.len - 2)
				   : span_of(line.ptr, 0);

	if (!rule) {
		check_target(line);
	} else if (what == 'l') {
		r->literals = true;
	} else if (what == 'p' && r->n_ports < MOST) {
		if (port_range_parse(&s.ports[r->n_ports], rest) == ST_OK)
			r->n_ports++;
	} else if (what == 'a' && r->n_allow < MOST) {
		if (target_pattern_check(rest) == ST_OK)
			s.allow[r->n_allow++] = rest;
	} else if (what == 'd' && r->n_deny < MOST) {
		enum status st = target_pattern_check(rest);
		if (st == ST_OK || st == ST_TARGET_ONION)
			s.deny[r->n_deny++] = rest;
	} else if (what == 'x' && r->n_except < MOST) {
		if (endpoint_parse(&s.except[r->n_except], rest) == ST_OK)
			r->n_except++;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	s.rules = (struct target_rules){.ports = s.ports,
	    .allow = s.allow,
	    .deny = s.deny,
	    .except = s.except};
	for (size_t at = 0; at < size;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t len =
		    end != NULL ? (size_t)(end - data) - at : size - at;
		take_line(span_of(data + at, len));
		at += len + 1;
	}
	return 0;
}
