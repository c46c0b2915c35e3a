#include "gate/target.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>

#include "base/ascii.h"
#include "base/text.h"

enum {
	ALLOW_SELF = 1,
	ALLOW_BELOW = 2,
	DENY_SELF = 4,
	DENY_BELOW = 8,
};

/* Deny's flags from allow's. */
#define DENY_SHIFT 2

/* A domain that rules speak of; an entry of the hash table. */
struct node {
	uint32_t hash;
	uint32_t at; /* of the domain, in lower case, in names */
	uint8_t len;
	uint8_t flags; /* 0: the entry is free */
};

struct target_policy {
	const struct node *nodes;
	uint32_t mask; /* entries, a power of two, less one */
	const char *names;
	const endpoint_t *except;
	size_t n_except;
	const port_range_t *ports; /* sorted, apart from each other */
	size_t n_ports;
	uint8_t root; /* flags of the pattern * */
	bool literals;
};

/* See target.h; appendix G of RFC 6762 is the list of private networks. */
static const char *const special[] = {"alt", "arpa", "corp", "example", "home",
    "internal", "intranet", "invalid", "lan", "local", "localdomain",
    "localhost", "mail", "private", "test"};

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof(*(ARRAY)))

/* --- names ---------------------------------------------------------------- */

/* NAME is DOMAIN or below it. */
static bool
is_within(span_t name, const char *domain)
{
	span_t d = span_str(domain);

	return span_ends_nocase(name, d) &&
	    (name.len == d.len || name.ptr[name.len - d.len - 1] == '.');
}

const char *
target_special_name(span_t name)
{
	for (size_t i = 0; i < COUNT(special); i++) {
		if (is_within(name, special[i]))
			return special[i];
	}
	if (name.len == 0 || memchr(name.ptr, '.', name.len) == NULL)
		return "";
	return NULL;
}

/* FNV-1a, from the last byte to the first: that of a name passes through that
 * of each domain above it. */
#define HASH_START UINT32_C(2166136261)

static uint32_t
hash_step(uint32_t h, uint8_t c)
{
	return (h ^ ascii_lower(c)) * UINT32_C(16777619);
}

static uint32_t
hash_of(span_t name)
{
	uint32_t h = HASH_START;

	for (size_t i = name.len; i-- > 0;)
		h = hash_step(h, name.ptr[i]);
	return h;
}

/* The entry of DOMAIN, or the free one where it belongs. There is always a
 * free one: the table is at most half full. */
static const struct node *
find_node(const struct target_policy *p, uint32_t hash, span_t domain)
{
	for (uint32_t i = hash;; i++) {
		const struct node *node = &p->nodes[i & p->mask];
		if (node->flags == 0)
			return node;
		if (node->hash == hash &&
		    span_equal_nocase(
			span_of(p->names + node->at, node->len), domain))
			return node;
	}
}

/* --- patterns ------------------------------------------------------------- */

struct pattern {
	span_t domain; /* empty: every name */
	uint8_t flags; /* as of an allow rule */
};

static enum status
read_pattern(struct pattern *out, span_t text)
{
	struct pattern pat = {text, ALLOW_SELF};

	*out = (struct pattern){{0}, 0};
	if (span_equal(text, span_str("*"))) {
		*out = (struct pattern){span_of(text.ptr, 0), ALLOW_BELOW};
		return ST_OK;
	}
	if (text.len > 2 && text.ptr[0] == '*' && text.ptr[1] == '.') {
		pat.domain = span_of(text.ptr + 2, text.len - 2);
		pat.flags = ALLOW_BELOW;
	} else if (text.len > 1 && text.ptr[0] == '.') {
		pat.domain = span_of(text.ptr + 1, text.len - 1);
		pat.flags = ALLOW_SELF | ALLOW_BELOW;
	}
	if (pat.domain.len > 0 && pat.domain.ptr[pat.domain.len - 1] == '.')
		pat.domain.len--;
	if (!host_is_name(pat.domain))
		return ST_BAD_ENCODING;
	*out = pat;
	return ST_OK;
}

enum status
target_pattern_check(span_t text)
{
	struct pattern pat;
	enum status st = read_pattern(&pat, text);

	if (st == ST_OK && is_within(pat.domain, "onion"))
		return ST_TARGET_ONION;
	return st;
}

enum status
port_range_parse(port_range_t *out, span_t text)
{
	const uint8_t *dash =
	    text.len != 0 ? memchr(text.ptr, '-', text.len) : NULL;
	span_t first = text, last = text;
	uint64_t from, to;
	enum status st;

	*out = (port_range_t){0};
	if (dash != NULL) {
		first = span_of(text.ptr, (size_t)(dash - text.ptr));
		last = span_of(dash + 1, text.len - first.len - 1);
	}
	if ((st = decimal_u64(&from, first, UINT16_MAX)) != ST_OK ||
	    (st = decimal_u64(&to, last, UINT16_MAX)) != ST_OK)
		return st == ST_BAD_LENGTH ? ST_BAD_ENCODING : st;
	if (from == 0 || from > to)
		return ST_BAD_VALUE;
	*out = (port_range_t){(uint16_t)from, (uint16_t)to};
	return ST_OK;
}

/* --- compiling ------------------------------------------------------------ */

/* Where the parts are in the caller's memory: by falling alignment. */
struct layout {
	size_t nodes, except, ports, names, size;
	size_t n_nodes;
};

static_assert(alignof(struct target_policy) >= alignof(struct node) &&
	alignof(struct node) >= alignof(endpoint_t) &&
	alignof(endpoint_t) >= alignof(port_range_t),
    "the parts are laid out by falling alignment");

static struct layout
lay_out(const struct target_rules *r)
{
	struct layout l = {.n_nodes = 2};
	size_t names = 0;

	while (l.n_nodes < 2 * (r->n_allow + r->n_deny))
		l.n_nodes *= 2;
	for (size_t i = 0; i < r->n_allow; i++)
		names += r->allow[i].len;
	for (size_t i = 0; i < r->n_deny; i++)
		names += r->deny[i].len;
	l.nodes = sizeof(struct target_policy);
	l.except = l.nodes + l.n_nodes * sizeof(struct node);
	l.ports = l.except + r->n_except * sizeof(endpoint_t);
	l.names = l.ports + r->n_ports * sizeof(port_range_t);
	l.size = l.names + names;
	return l;
}

size_t
target_policy_size(const struct target_rules *rules)
{
	return lay_out(rules).size;
}

/* Sort R by its first port and join what touches; returns how many are left. */
static size_t
merge_ports(port_range_t *r, size_t n)
{
	size_t kept = 0;

	for (size_t i = 1; i < n; i++) {
		port_range_t x = r[i];
		size_t k = i;
		for (; k > 0 && r[k - 1].first > x.first; k--)
			r[k] = r[k - 1];
		r[k] = x;
	}
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && r[i].first <= r[kept - 1].last + 1) {
			if (r[i].last > r[kept - 1].last)
				r[kept - 1].last = r[i].last;
		} else {
			r[kept++] = r[i];
		}
	}
	return kept;
}

/* Enter patterns[0 .. n); *used counts the bytes of names. On failure *bad is
 * the index of the one that is refused. */
static enum status
add_patterns(struct target_policy *p, struct node *nodes, char *names,
    size_t *used, size_t *bad, const span_t *patterns, size_t n, bool deny)
{
	for (size_t i = 0; i < n; i++) {
		struct pattern pat;
		enum status st = read_pattern(&pat, patterns[i]);
		*bad = i;
		if (st == ST_OK && !deny)
			st = target_pattern_check(patterns[i]);
		if (st != ST_OK)
			return st;
		uint8_t flags =
		    (uint8_t)(deny ? pat.flags << DENY_SHIFT : pat.flags);
		if (pat.domain.len == 0) {
			p->root |= flags;
			continue;
		}
		uint32_t hash = hash_of(pat.domain);
		struct node *node =
		    nodes + (find_node(p, hash, pat.domain) - nodes);
		if (node->flags == 0) {
			*node = (struct node){
			    hash, (uint32_t)*used, (uint8_t)pat.domain.len, 0};
			for (size_t k = 0; k < pat.domain.len; k++)
				names[(*used)++] =
				    (char)ascii_lower(pat.domain.ptr[k]);
		}
		node->flags |= flags;
	}
	return ST_OK;
}

static enum status
compile_ports(struct target_policy *p, port_range_t *ports, size_t *bad,
    const struct target_rules *r)
{
	for (size_t i = 0; i < r->n_ports; i++) {
		*bad = i;
		if (r->ports[i].first == 0 ||
		    r->ports[i].first > r->ports[i].last)
			return ST_BAD_VALUE;
		ports[i] = r->ports[i];
	}
	p->ports = ports;
	p->n_ports = merge_ports(ports, r->n_ports);
	return ST_OK;
}

enum status
target_compile(const struct target_policy **out, void *mem, size_t cap,
    const struct target_rules *r, size_t *bad)
{
	struct layout l = lay_out(r);
	uint8_t *base = mem;
	struct target_policy *p = mem;
	size_t index = 0, used = 0;
	enum status st;

	*out = NULL;
	if (bad != NULL)
		*bad = 0;
	if (cap < l.size)
		return ST_NO_SPACE;
	memset(mem, 0, l.size);
	struct node *nodes = (void *)(base + l.nodes);
	endpoint_t *except = (void *)(base + l.except);
	char *names = (char *)(base + l.names);
	*p = (struct target_policy){.nodes = nodes,
	    .mask = (uint32_t)l.n_nodes - 1,
	    .names = names,
	    .except = except,
	    .n_except = r->n_except,
	    .literals = r->literals};
	for (size_t i = 0; i < r->n_except; i++)
		except[i] = r->except[i];

	st = compile_ports(p, (void *)(base + l.ports), &index, r);
	if (st == ST_OK) {
		st = add_patterns(p, nodes, names, &used, &index, r->allow,
		    r->n_allow, false);
		index += r->n_ports;
	}
	if (st == ST_OK) {
		st = add_patterns(
		    p, nodes, names, &used, &index, r->deny, r->n_deny, true);
		index += r->n_ports + r->n_allow;
	}
	if (st != ST_OK) {
		if (bad != NULL)
			*bad = index;
		return st;
	}
	*out = p;
	return ST_OK;
}

/* --- judging -------------------------------------------------------------- */

static bool
port_allowed(const struct target_policy *p, uint16_t port)
{
	size_t low = 0, high = p->n_ports;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (port < p->ports[mid].first)
			high = mid;
		else if (port > p->ports[mid].last)
			low = mid + 1;
		else
			return true;
	}
	return false;
}

/* What the rules say of NAME: all flags that apply, and in *depth the length
 * of the longest domain that an allow rule names. */
static uint8_t
match_name(const struct target_policy *p, size_t *depth, span_t name)
{
	uint8_t met = p->root;
	uint32_t h = HASH_START;

	*depth = 0;
	for (size_t i = name.len; i-- > 0;) {
		h = hash_step(h, name.ptr[i]);
		if (i > 0 && name.ptr[i - 1] != '.')
			continue;
		span_t domain = span_of(name.ptr + i, name.len - i);
		uint8_t which =
		    i == 0 ? ALLOW_SELF | DENY_SELF : ALLOW_BELOW | DENY_BELOW;
		uint8_t flags = find_node(p, h, domain)->flags & which;
		met |= flags;
		if (flags & (ALLOW_SELF | ALLOW_BELOW))
			*depth = domain.len;
	}
	return met;
}

static enum status
check_name(const struct target_policy *p, span_t name)
{
	size_t depth;
	uint8_t met = match_name(p, &depth, name);
	const char *domain = target_special_name(name);

	if ((met & (DENY_SELF | DENY_BELOW)) != 0 ||
	    (met & (ALLOW_SELF | ALLOW_BELOW)) == 0)
		return ST_TARGET_NAME;
	if (domain == NULL)
		return ST_OK;
	/* Both are domains above the same name: the longer is within. */
	size_t needed = domain[0] != '\0' ? strlen(domain) : name.len;
	return depth >= needed ? ST_OK : ST_TARGET_NAME;
}

enum status
target_check(const struct target_policy *p, const struct authority *to)
{
	if (to->kind == HOST_NAME && is_within(to->host, "onion"))
		return ST_TARGET_ONION;
	if (to->kind == HOST_LITERAL &&
	    endpoints_have(p->except, p->n_except, &to->ip, to->port))
		return ST_OK;
	if (!port_allowed(p, to->port))
		return ST_TARGET_PORT;
	if (to->kind == HOST_LITERAL)
		return p->literals ? ST_OK : ST_TARGET_LITERAL;
	if (to->kind != HOST_NAME)
		return ST_TARGET_NAME;
	return check_name(p, to->host);
}

const port_range_t *
target_ports(const struct target_policy *p, size_t *n)
{
	*n = p->n_ports;
	return p->ports;
}
