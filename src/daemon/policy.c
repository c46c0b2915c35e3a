#include "daemon/policy.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Words of two lists as spans, in one array that the caller frees. */
static span_t *
join_spans(const struct text_list *a, const struct text_list *b, size_t *n)
{
	span_t *out = calloc(a->n + b->n + 1, sizeof(*out));

	*n = 0;
	for (size_t i = 0; out != NULL && i < a->n; i++)
		out[(*n)++] = span_str(a->items[i].text);
	for (size_t i = 0; out != NULL && i < b->n; i++)
		out[(*n)++] = span_str(b->items[i].text);
	return out;
}

static const struct text_list no_words;

/* The group's own list where it is set, else the gateway's. */
static const struct text_list *
own_or(const struct config *c, const struct config_group *g, const char *key,
    const struct text_list *own, const struct text_list *general)
{
	return config_is_set(c, g, "group", key) ? own : general;
}

/* Read the networks of two lists. */
static enum status
read_networks(ip_net_t **out, size_t *n, const struct text_list *a,
    const struct text_list *b)
{
	span_t *words = join_spans(a, b, n);
	enum status st = ST_OK;

	*out = calloc(*n + 1, sizeof(**out));
	if (words == NULL || *out == NULL)
		st = ST_NO_MEMORY;
	for (size_t i = 0; i < *n && st == ST_OK; i++)
		st = ip_net_parse(&(*out)[i], words[i]);
	free(words);
	return st;
}

static enum status
read_endpoints(endpoint_t **out, size_t *n, const struct text_list *list)
{
	enum status st = ST_OK;

	*n = list->n;
	*out = calloc(*n + 1, sizeof(**out));
	if (*out == NULL)
		return ST_NO_MEMORY;
	for (size_t i = 0; i < *n && st == ST_OK; i++)
		st = endpoint_parse(&(*out)[i], span_str(list->items[i].text));
	return st;
}

static enum status
make_address_policy(
    struct policy *p, const struct config *c, const struct config_group *g)
{
	enum status st;

	st = read_networks(&p->allow, &p->address.n_allow,
	    own_or(c, g, "allow_networks", &g->allow_networks,
		&c->egress.allow_networks),
	    &no_words);
	if (st == ST_OK)
		st = read_networks(&p->deny, &p->address.n_deny,
		    &c->egress.deny_networks, &g->deny_networks);
	if (st == ST_OK)
		st = read_endpoints(
		    &p->except, &p->address.n_except, &c->egress.except);
	p->address.allow = p->allow;
	p->address.deny = p->deny;
	p->address.except = p->except;
	return st;
}

static enum status
compile(struct policy *p, const struct target_rules *rules)
{
	size_t size = target_policy_size(rules);

	if ((p->memory = malloc(size)) == NULL)
		return ST_NO_MEMORY;
	return target_compile(&p->target, p->memory, size, rules, NULL);
}

static enum status
make_target_policy(
    struct policy *p, const struct config *c, const struct config_group *g)
{
	const struct port_ranges *ports = config_is_set(c, g, "group", "ports")
	    ? &g->ports
	    : &c->egress.ports;
	port_range_t ranges[PORT_RANGES_MAX];
	struct target_rules rules = {
	    .ports = ranges,
	    .n_ports = ports->n,
	    .literals = c->egress.literals,
	    .except = p->except,
	    .n_except = p->address.n_except,
	};
	enum status st = ST_NO_MEMORY;
	span_t *allow =
	    join_spans(own_or(c, g, "allow", &g->allow, &c->egress.allow),
		&no_words, &rules.n_allow);
	span_t *deny = join_spans(&c->egress.deny, &g->deny, &rules.n_deny);

	for (unsigned i = 0; i < ports->n; i++)
		ranges[i] =
		    (port_range_t){ports->range[i].first, ports->range[i].last};
	rules.allow = allow;
	rules.deny = deny;
	if (allow != NULL && deny != NULL)
		st = compile(p, &rules);
	free(allow);
	free(deny);
	return st;
}

enum status
policy_set_make(struct policy_set *set, const struct config *c)
{
	enum status st = ST_OK;

	set->n = c->groups_n;
	set->policies = calloc(c->groups_n + 1, sizeof(*set->policies));
	if (set->policies == NULL) {
		set->n = 0;
		return ST_NO_MEMORY;
	}
	for (size_t i = 0; i < set->n && st == ST_OK; i++) {
		/* Excepted endpoints go into both. */
		st = make_address_policy(&set->policies[i], c, &c->groups[i]);
		if (st == ST_OK)
			st = make_target_policy(
			    &set->policies[i], c, &c->groups[i]);
	}
	if (st != ST_OK)
		policy_set_clear(set);
	return st;
}

void
policy_set_clear(struct policy_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		free(set->policies[i].memory);
		free(set->policies[i].allow);
		free(set->policies[i].deny);
		free(set->policies[i].except);
	}
	free(set->policies);
	*set = (struct policy_set){0};
}

static ip_t
ip_of(const struct sockaddr *sa)
{
	ip_t ip = {0};

	if (sa->sa_family == AF_INET) {
		struct sockaddr_in in;
		memcpy(&in, sa, sizeof(in));
		ip.version = 4;
		memcpy(ip.bytes, &in.sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;
		memcpy(&in6, sa, sizeof(in6));
		ip.version = 6;
		memcpy(ip.bytes, &in6.sin6_addr, 16);
	}
	return ip;
}

enum status
own_addresses_refresh(struct own_addresses *own)
{
	struct ifaddrs *all, *i;
	size_t n = 0;
	ip_t *list;

	if (getifaddrs(&all) != 0)
		return ST_SYS;
	for (i = all; i != NULL; i = i->ifa_next)
		n++;
	if ((list = calloc(n + 1, sizeof(*list))) == NULL) {
		freeifaddrs(all);
		return ST_NO_MEMORY;
	}
	n = 0;
	for (i = all; i != NULL; i = i->ifa_next) {
		if (i->ifa_addr == NULL)
			continue;
		list[n] = ip_of(i->ifa_addr);
		if (list[n].version != 0)
			n++;
	}
	freeifaddrs(all);
	free(own->list);
	own->list = list;
	own->n = n;
	return ST_OK;
}

void
own_addresses_clear(struct own_addresses *own)
{
	free(own->list);
	*own = (struct own_addresses){0};
}

struct address_reach
own_addresses_reach(const struct own_addresses *own)
{
	struct address_reach reach = {0};

	/* Private IPv4 is usually translated; IPv6 without a global address
	 * goes nowhere. */
	for (size_t i = 0; i < own->n; i++) {
		const ip_t *ip = &own->list[i];
		if (ip->version == 4 && ip->bytes[0] != 127 &&
		    !(ip->bytes[0] == 169 && ip->bytes[1] == 254))
			reach.ip4 = true;
		if (ip->version == 6 && address_special(ip) == NULL)
			reach.ip6 = true;
	}
	return reach;
}

enum status
policy_check_addresses(const struct policy *p, const struct own_addresses *own,
    const ip_t *ips, size_t n, uint16_t port)
{
	struct address_policy address = p->address;

	address.own = own->list;
	address.n_own = own->n;
	return address_check_all(&address, ips, n, port);
}
