/* gate/target.h: which hosts and ports a group may ask for.
 *
 * The decision that needs nothing but the request: it comes after the proof
 * and before the first look-up of a name. What the name leads to is judged
 * later, by gate/address.h.
 *
 * What is not allowed is denied: without a rule no port and no name passes.
 * A name is compared in lower case and whole labels, its trailing dot gone.
 * Patterns of names are
 *	example.com	this name
 *	.example.com	this name and all below it
 *	*.example.com	all names below it
 *	*		every name
 * A deny rule beats every allow rule.
 *
 * Some names never mean a public host. They are refused under `*` too:
 *   .onion                          always; no rule lifts it (RFC 7686)
 *   localhost, local, test, invalid, example (RFC 6761, 6762), alt (RFC 9476),
 *   internal (ICANN, 2024), arpa with home.arpa and the reverse trees (RFC
 *   8375, 6761, 6762), and what private networks use in their place: corp,
 *   home, intranet, lan, localdomain, mail, private (RFC 6762, appendix G)
 *   a name of one label, which a resolver would complete
 * An allow rule lifts such a refusal when it names the special domain or
 * something below it ("localhost", ".test", "build.internal").
 *
 * An address in place of a name passes where literals are allowed, and is
 * judged by gate/address.h like any answer of the DNS. An endpoint that the
 * operator excepts (an address with its port, for tests and for services of
 * one's own) passes literally without looking at ports or literals.
 *
 * A policy is compiled once into memory of the caller's and then only read:
 * any number of threads may. A look-up walks the labels of the name, one probe
 * of a hash table for each, however many rules there are.
 */
#ifndef GATE_TARGET_H
#define GATE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ip.h"
#include "base/span.h"
#include "http/authority.h"
#include "postern/status.h"

/* Ports from FIRST to LAST; 1 <= first <= last. */
typedef struct {
	uint16_t first, last;
} port_range_t;

/* The rules of a group, as the configuration has them. Everything may be
 * dropped once the policy is compiled. */
struct target_rules {
	const port_range_t *ports;
	size_t n_ports;
	const span_t *allow; /* patterns of names */
	size_t n_allow;
	const span_t *deny;
	size_t n_deny;
	bool literals; /* addresses may be asked for */
	const endpoint_t *except; /* these pass, whatever the rest says */
	size_t n_except;
};

/* Read "443" or "8000-8999".
 * Returns: ST_OK; ST_BAD_ENCODING; ST_BAD_VALUE (0, or the range is empty). */
enum status port_range_parse(port_range_t *out, span_t text) WARN_UNUSED;

/* TEXT is a pattern of names.
 * Returns: ST_OK; ST_BAD_ENCODING; ST_TARGET_ONION (it names an onion, which
 *          no rule can allow; to deny one is harmless but has no effect). */
enum status target_pattern_check(span_t text) WARN_UNUSED;

/* A compiled policy. Opaque; it lives at the start of the caller's memory. */
struct target_policy;

/* Bytes that target_compile needs for RULES. */
size_t target_policy_size(const struct target_rules *rules) NONNULL;

/* Compile RULES into MEM, aligned as malloc aligns, CAP bytes.
 * Out:     *out points into MEM, NULL on failure; *bad, if not NULL, is the
 *          index of the rule that is refused, counted over ports, allow, deny,
 *          except in this order.
 * Returns: ST_OK; ST_NO_SPACE; as port_range_parse (a range) or as
 *          target_pattern_check (a pattern). */
enum status target_compile(const struct target_policy **out, void *mem,
    size_t cap, const struct target_rules *rules, size_t *bad)
    NONNULL_ARGS(1, 2, 4) WARN_UNUSED;

/* Judge TO, as authority_parse made it.
 * Returns: ST_OK; ST_TARGET_ONION; ST_TARGET_PORT; ST_TARGET_LITERAL;
 *          ST_TARGET_NAME. */
enum status target_check(const struct target_policy *p,
    const struct authority *to) NONNULL WARN_UNUSED;

/* The ports of P, sorted and merged, to tell a client; *n may be 0. */
const port_range_t *
target_ports(const struct target_policy *p, size_t *n) NONNULL;

/* Why a name is special: its registered or customary domain ("local"), "" for
 * a name of one label, NULL for an ordinary name. NAME has no trailing dot. */
const char *target_special_name(span_t name);

#endif
