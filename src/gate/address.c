#include "gate/address.h"

#include <string.h>

#include "base/bytes.h"

#define V4(A, B, C, D, BITS)            \
	{                               \
		{4, {A, B, C, D}}, BITS \
	}
#define G(X) (X) >> 8, (X)&0xff
#define V6(A, B, C, D, E, F, BITS)                              \
	{                                                       \
		{6, {G(A), G(B), G(C), G(D), G(E), G(F)}}, BITS \
	}

/* Sources: IANA's IPv4 and IPv6 Special-Purpose Address Registries, IPv4
 * Address Space Registry and IPv6 Address Space Registry as of 2025-10. */
static const struct address_block blocks[] = {
    {V4(0, 0, 0, 0, 8), "this network", "RFC 791, 3.2"},
    {V4(0, 0, 0, 0, 32), "this host on this network", "RFC 1122, 3.2.1.3"},
    {V4(10, 0, 0, 0, 8), "private use", "RFC 1918"},
    {V4(100, 64, 0, 0, 10), "shared address space", "RFC 6598"},
    {V4(127, 0, 0, 0, 8), "loopback", "RFC 1122, 3.2.1.3"},
    {V4(169, 254, 0, 0, 16), "link local", "RFC 3927"},
    {V4(172, 16, 0, 0, 12), "private use", "RFC 1918"},
    {V4(192, 0, 0, 0, 24), "IETF protocol assignments", "RFC 6890, 2.1"},
    {V4(192, 0, 0, 0, 29), "IPv4 service continuity", "RFC 7335"},
    {V4(192, 0, 0, 8, 32), "IPv4 dummy address", "RFC 7600"},
    {V4(192, 0, 0, 9, 32), "port control protocol anycast", "RFC 7723"},
    {V4(192, 0, 0, 10, 32), "TURN anycast", "RFC 8155"},
    {V4(192, 0, 0, 170, 32), "NAT64/DNS64 discovery", "RFC 7050, 2.2"},
    {V4(192, 0, 0, 171, 32), "NAT64/DNS64 discovery", "RFC 7050, 2.2"},
    {V4(192, 0, 2, 0, 24), "documentation", "RFC 5737"},
    {V4(192, 31, 196, 0, 24), "AS112", "RFC 7535"},
    {V4(192, 52, 193, 0, 24), "AMT", "RFC 7450"},
    {V4(192, 88, 99, 0, 24), "6to4 relay anycast, deprecated", "RFC 7526"},
    {V4(192, 88, 99, 2, 32), "6a44 relay anycast", "RFC 6751"},
    {V4(192, 168, 0, 0, 16), "private use", "RFC 1918"},
    {V4(192, 175, 48, 0, 24), "AS112 direct delegation", "RFC 7534"},
    {V4(198, 18, 0, 0, 15), "benchmarking", "RFC 2544"},
    {V4(198, 51, 100, 0, 24), "documentation", "RFC 5737"},
    {V4(203, 0, 113, 0, 24), "documentation", "RFC 5737"},
    {V4(224, 0, 0, 0, 4), "multicast", "RFC 5771"},
    {V4(240, 0, 0, 0, 4), "reserved", "RFC 1112, 4"},
    {V4(255, 255, 255, 255, 32), "limited broadcast", "RFC 919, 7"},

    /* All but 2000::/3, in three blocks. */
    {V6(0, 0, 0, 0, 0, 0, 3), "not global unicast", "RFC 4291, 2.4"},
    {V6(0x4000, 0, 0, 0, 0, 0, 2), "not global unicast", "RFC 4291, 2.4"},
    {V6(0x8000, 0, 0, 0, 0, 0, 1), "not global unicast", "RFC 4291, 2.4"},
    {{{6, {0}}, 128}, "unspecified", "RFC 4291, 2.5.2"},
    {{{6, {[15] = 1}}, 128}, "loopback", "RFC 4291, 2.5.3"},
    {V6(0, 0, 0, 0, 0, 0, 96), "IPv4-compatible, deprecated",
	"RFC 4291, 2.5.5.1"},
    {V6(0, 0, 0, 0, 0, 0xffff, 96), "IPv4-mapped", "RFC 4291, 2.5.5.2"},
    {V6(0, 0, 0, 0, 0xffff, 0, 96), "IPv4-translated, deprecated",
	"RFC 2765, 2.1"},
    {V6(0x64, 0xff9b, 0, 0, 0, 0, 96), "NAT64", "RFC 6052"},
    {V6(0x64, 0xff9b, 1, 0, 0, 0, 48), "NAT64, local use", "RFC 8215"},
    {V6(0x100, 0, 0, 0, 0, 0, 64), "discard only", "RFC 6666"},
    {V6(0x100, 0, 0, 1, 0, 0, 64), "dummy prefix", "RFC 9780"},
    {V6(0x2001, 0, 0, 0, 0, 0, 23), "IETF protocol assignments", "RFC 2928"},
    {V6(0x2001, 0, 0, 0, 0, 0, 32), "Teredo", "RFC 4380"},
    {{{6, {0x20, 0x01, 0, 1, [15] = 1}}, 128}, "port control protocol anycast",
	"RFC 7723"},
    {{{6, {0x20, 0x01, 0, 1, [15] = 2}}, 128}, "TURN anycast", "RFC 8155"},
    {{{6, {0x20, 0x01, 0, 1, [15] = 3}}, 128},
	"DNS-SD service registration anycast", "RFC 9665"},
    {V6(0x2001, 2, 0, 0, 0, 0, 48), "benchmarking", "RFC 5180"},
    {V6(0x2001, 3, 0, 0, 0, 0, 32), "AMT", "RFC 7450"},
    {V6(0x2001, 4, 0x112, 0, 0, 0, 48), "AS112", "RFC 7535"},
    {V6(0x2001, 0x10, 0, 0, 0, 0, 28), "ORCHID, deprecated", "RFC 4843"},
    {V6(0x2001, 0x20, 0, 0, 0, 0, 28), "ORCHIDv2", "RFC 7343"},
    {V6(0x2001, 0x30, 0, 0, 0, 0, 28), "drone remote identification",
	"RFC 9374"},
    {V6(0x2001, 0xdb8, 0, 0, 0, 0, 32), "documentation", "RFC 3849"},
    {V6(0x2002, 0, 0, 0, 0, 0, 16), "6to4", "RFC 3056"},
    {V6(0x2620, 0x4f, 0x8000, 0, 0, 0, 48), "AS112 direct delegation",
	"RFC 7534"},
    {V6(0x3ffe, 0, 0, 0, 0, 0, 16), "6bone, returned", "RFC 3701"},
    {V6(0x3fff, 0, 0, 0, 0, 0, 20), "documentation", "RFC 9637"},
    {V6(0x5f00, 0, 0, 0, 0, 0, 16), "SRv6 segment identifiers", "RFC 9602"},
    {V6(0xfc00, 0, 0, 0, 0, 0, 7), "unique local", "RFC 4193"},
    {V6(0xfe80, 0, 0, 0, 0, 0, 10), "link local", "RFC 4291, 2.5.6"},
    {V6(0xfec0, 0, 0, 0, 0, 0, 10), "site local, deprecated", "RFC 3879"},
    {V6(0xff00, 0, 0, 0, 0, 0, 8), "multicast", "RFC 4291, 2.7"},
};

/* These are known by other bits than their first, or by none. */
static const struct address_block isatap = {
    {{0}, 0}, "ISATAP", "RFC 5214, 6.1"};
static const struct address_block none = {{{0}, 0}, "no address", ""};

/* Where an IPv4 address stands in an IPv6 address of these networks. */
static const struct {
	ip_net_t net;
	uint8_t at, invert;
} carriers[] = {
    {V6(0, 0, 0, 0, 0, 0, 96), 12, 0},
    {V6(0, 0, 0, 0, 0, 0xffff, 96), 12, 0},
    {V6(0, 0, 0, 0, 0xffff, 0, 96), 12, 0},
    {V6(0x64, 0xff9b, 0, 0, 0, 0, 96), 12, 0},
    /* Of the layouts of RFC 6052, 2.2, the one in use: /96. */
    {V6(0x64, 0xff9b, 1, 0, 0, 0, 48), 12, 0},
    {V6(0x2001, 0, 0, 0, 0, 0, 32), 12, 0xff}, /* RFC 4380, 4 */
    {V6(0x2002, 0, 0, 0, 0, 0, 16), 2, 0},
};

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof(*(ARRAY)))

const struct address_block *
address_blocks(size_t *n)
{
	*n = COUNT(blocks);
	return blocks;
}

/* The interface identifier is 0000:5efe or 0200:5efe and an IPv4 address. */
static bool
is_isatap(const ip_t *ip)
{
	return ip->version == 6 &&
	    (load_be32(ip->bytes + 8) & 0xfdffffff) == 0x00005efe;
}

const struct address_block *
address_special(const ip_t *ip)
{
	const struct address_block *best = NULL;

	if (ip->version != 4 && ip->version != 6)
		return &none;
	for (size_t i = 0; i < COUNT(blocks); i++) {
		if (ip_net_has(&blocks[i].net, ip) &&
		    (best == NULL || blocks[i].net.bits >= best->net.bits))
			best = &blocks[i];
	}
	return best == NULL && is_isatap(ip) ? &isatap : best;
}

bool
address_embedded(ip_t *out, const ip_t *ip)
{
	unsigned at = 0, invert = 0;

	*out = (ip_t){0};
	for (size_t i = 0; i < COUNT(carriers); i++) {
		if (ip_net_has(&carriers[i].net, ip)) {
			at = carriers[i].at;
			invert = carriers[i].invert;
		}
	}
	if (at == 0 && is_isatap(ip))
		at = 12;
	if (at == 0)
		return false;
	out->version = 4;
	for (unsigned i = 0; i < 4; i++)
		out->bytes[i] = (uint8_t)(ip->bytes[at + i] ^ invert);
	return true;
}

static bool
in_nets(const ip_net_t *nets, size_t n, const ip_t *ip)
{
	for (size_t i = 0; i < n; i++) {
		if (ip_net_has(&nets[i], ip))
			return true;
	}
	return false;
}

static bool
is_own(const struct address_policy *p, const ip_t *ip)
{
	for (size_t i = 0; i < p->n_own; i++) {
		if (ip_equal(&p->own[i], ip))
			return true;
	}
	return false;
}

enum status
address_check(const struct address_policy *p, const ip_t *ip, uint16_t port)
{
	ip_t inner;

	if (endpoints_have(p->except, p->n_except, ip, port))
		return ST_OK;
	if (is_own(p, ip) || in_nets(p->deny, p->n_deny, ip))
		return ST_TARGET_ADDRESS;
	if (in_nets(p->allow, p->n_allow, ip)) {
		/* At most one turn more: nothing is carried in IPv4. */
		return address_embedded(&inner, ip)
		    ? address_check(p, &inner, port)
		    : ST_OK;
	}
	return address_special(ip) != NULL ? ST_TARGET_ADDRESS : ST_OK;
}

enum status
address_check_all(
    const struct address_policy *p, const ip_t *ips, size_t n, uint16_t port)
{
	if (n == 0)
		return ST_DNS_NOT_FOUND;
	for (size_t i = 0; i < n; i++) {
		enum status st = address_check(p, &ips[i], port);
		if (st != ST_OK)
			return st;
	}
	return ST_OK;
}

static size_t
drop_repeated(ip_t *ips, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < kept && !ip_equal(&ips[k], &ips[i]))
			k++;
		if (k == kept)
			ips[kept++] = ips[i];
	}
	return kept;
}

/* Move the first of VERSION in ips[at .. n) to AT; the others keep their
 * order. False when there is none. */
static bool
bring_forward(ip_t *ips, size_t at, size_t n, unsigned version)
{
	for (size_t i = at; i < n; i++) {
		if (ips[i].version != version)
			continue;
		ip_t found = ips[i];
		memmove(ips + at + 1, ips + at, (i - at) * sizeof(*ips));
		ips[at] = found;
		return true;
	}
	return false;
}

size_t
address_order(ip_t *ips, size_t n, struct address_reach reach)
{
	bool ip4_first = reach.prefer_ip4, alternate = true;

	if (reach.ip4 != reach.ip6) {
		ip4_first = reach.ip4;
		alternate = false;
	}
	n = drop_repeated(ips, n);
	unsigned version = ip4_first ? 4 : 6;
	for (size_t i = 0; i < n; i++) {
		unsigned other = version == 4 ? 6 : 4;
		if (!bring_forward(ips, i, n, version))
			(void)bring_forward(ips, i, n, other);
		else if (alternate)
			version = other;
	}
	return n;
}
