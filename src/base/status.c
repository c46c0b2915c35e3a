#include "postern/status.h"

#include <stddef.h>

#define ROW(S, LABEL, TEXT) [S] = {#S, LABEL, TEXT, 0, NULL}
#define ANSWER(S, LABEL, TEXT, HTTP, PROXY) [S] = {#S, LABEL, TEXT, HTTP, PROXY}

/* Error types: RFC 9209, section 2.3. */
static const struct status_info table[ST_COUNT] = {
    ANSWER(ST_OK, "ok", "ok", 200, NULL),

    ROW(ST_MORE, "more", "incomplete"),
    ROW(ST_BAD_LENGTH, "bad_length", "wrong length"),
    ROW(ST_BAD_ENCODING, "bad_encoding", "not in canonical form"),
    ROW(ST_BAD_VALUE, "bad_value", "value not allowed"),
    ROW(ST_TRAILING, "trailing", "bytes after the end"),
    ROW(ST_NO_SPACE, "no_space", "does not fit"),
    ROW(ST_NOT_JSON, "not_json", "not JSON"),
    ROW(ST_MISSING, "missing", "missing"),
    ROW(ST_DUPLICATE, "duplicate", "there twice"),
    ROW(ST_WRONG_TYPE, "wrong_type", "of the wrong type"),
    ROW(ST_UNKNOWN, "unknown", "unknown"),
    ROW(ST_NOT_FOUND, "not_found", "not found"),
    ROW(ST_BAD_VERSION, "bad_version", "made by another version"),
    ROW(ST_CORRUPT, "corrupt", "damaged"),
    ROW(ST_FOREIGN, "foreign", "belongs to something else"),

    ROW(ST_NO_MEMORY, "no_memory", "out of memory"),
    ROW(ST_BUSY, "busy", "busy"),
    ROW(ST_LOCKED, "locked", "locked by another process"),
    ROW(ST_PERMISSION, "permission", "unsafe permissions"),
    ROW(ST_SYS, "system", "system error"),
    ROW(ST_RANDOM, "random", "no randomness from the system"),
    ANSWER(
	ST_INTERNAL, "internal", "internal error", 500, "proxy_internal_error"),

    ROW(ST_NOT_CANONICAL, "not_canonical", "not below the modulus"),
    ROW(ST_NOT_ON_CURVE, "not_on_curve", "not on the curve"),
    ROW(ST_NOT_IN_GROUP, "not_in_group",
	"on the curve but not in the subgroup"),
    ROW(ST_INFINITY, "infinity", "the point at infinity"),
    ROW(ST_BAD_DEPTH, "bad_depth", "depth not within 1 to 32"),
    ROW(ST_NO_KEY, "no_key", "no key for this depth"),
    ANSWER(ST_PROOF_INVALID, "proof_invalid", "the proof does not hold", 407,
	NULL),

    ROW(ST_BAD_MAC, "bad_mac", "authentication failed"),
    ROW(ST_REPLAY, "replay", "seen before"),
    ROW(ST_WEAK_KEY, "weak_key", "weak key"),
    ROW(ST_BAD_PASSPHRASE, "bad_passphrase", "wrong passphrase"),

    ANSWER(ST_HTTP_SYNTAX, "http_syntax", "malformed request", 400,
	"http_request_error"),
    ANSWER(ST_HTTP_VERSION, "http_version", "not HTTP/1.1", 400,
	"http_request_error"),
    ANSWER(ST_HTTP_AUTHORITY, "http_authority", "bad host:port", 400,
	"http_request_error"),
    ANSWER(ST_HTTP_BODY, "http_body", "a body on CONNECT", 400,
	"http_request_error"),
    ANSWER(ST_HTTP_METHOD, "http_method", "method not offered", 405,
	"http_request_denied"),
    ANSWER(
	ST_HTTP_PATH, "http_path", "nothing here", 404, "http_request_denied"),
    ANSWER(ST_HTTP_TOO_LARGE, "http_too_large", "request head too large", 431,
	"http_request_error"),
    ANSWER(ST_HTTP_TIMEOUT, "http_timeout",
	"the request head did not arrive in time", 408, "http_request_error"),
    ANSWER(ST_CREDENTIAL_TWICE, "credential_twice",
	"more than one Proxy-Authorization", 400, "http_request_error"),
    ANSWER(ST_CREDENTIAL_MISSING, "credential_missing", "no proof", 407, NULL),
    ANSWER(ST_CREDENTIAL_BAD, "credential_bad", "malformed proof", 407, NULL),
    ANSWER(ST_EPOCH_PAST, "epoch_past", "the proof's epoch is over", 407, NULL),
    ANSWER(ST_EPOCH_FUTURE, "epoch_future", "the proof's epoch has not begun",
	407, NULL),
    ANSWER(ST_SCOPE_UNKNOWN, "scope_unknown",
	"the proof's scope is not one of ours", 407, NULL),
    ANSWER(ST_MESSAGE_WRONG, "message_wrong",
	"the proof was made for another gateway", 407, NULL),
    ANSWER(ST_ROOT_UNKNOWN, "root_unknown",
	"the proof's group is not (or no longer) known", 407, NULL),
    ANSWER(ST_QUOTA_REQUESTS, "quota_requests",
	"all requests of this epoch are used", 429, "http_request_denied"),
    ANSWER(ST_QUOTA_TUNNELS, "quota_tunnels", "too many open tunnels", 429,
	"http_request_denied"),
    ANSWER(ST_QUOTA_BYTES, "quota_bytes", "all bytes of this epoch are used",
	429, "http_request_denied"),
    ANSWER(ST_QUOTA_RATE, "quota_rate", "too many requests a minute", 429,
	"http_request_denied"),
    ANSWER(ST_LEDGER_FULL, "ledger_full", "no room to count this epoch", 503,
	"proxy_internal_error"),
    ANSWER(ST_JOURNAL_FAILED, "journal_failed", "requests can not be counted",
	503, "proxy_internal_error"),
    ANSWER(ST_CIRCUIT_LIMIT, "circuit_limit", "too much on one circuit", 429,
	"http_request_denied"),
    ANSWER(ST_OVERLOADED, "overloaded", "overloaded", 503,
	"connection_limit_reached"),
    ANSWER(ST_DRAINING, "draining", "shutting down", 503,
	"connection_limit_reached"),
    ROW(ST_PROXY_LINE, "proxy_line", "bad or missing PROXY line"),

    ANSWER(ST_TARGET_PORT, "target_port", "port not allowed", 403,
	"http_request_denied"),
    ANSWER(ST_TARGET_NAME, "target_name", "name not allowed", 403,
	"http_request_denied"),
    ANSWER(ST_TARGET_ONION, "target_onion", "onion services are not reachable",
	403, "http_request_denied"),
    ANSWER(ST_TARGET_LITERAL, "target_literal",
	"addresses are not allowed, only names", 403, "http_request_denied"),
    ANSWER(ST_TARGET_ADDRESS, "target_address",
	"the name leads to an address that is not public", 403,
	"destination_ip_prohibited"),
    ANSWER(ST_TARGET_LIMIT, "target_limit",
	"too many connections to this destination", 503,
	"connection_limit_reached"),
    ANSWER(ST_DNS_FAILED, "dns_failed", "the name could not be resolved", 502,
	"dns_error"),
    ANSWER(ST_DNS_NOT_FOUND, "dns_not_found", "no such name", 502, "dns_error"),
    ANSWER(ST_DNS_TIMEOUT, "dns_timeout", "the name server did not answer", 504,
	"dns_timeout"),
    ANSWER(ST_CONNECT_REFUSED, "connect_refused",
	"the destination refused the connection", 502, "connection_refused"),
    ANSWER(ST_CONNECT_UNREACHABLE, "connect_unreachable",
	"the destination is not reachable", 502, "destination_ip_unroutable"),
    ANSWER(ST_CONNECT_FAILED, "connect_failed", "the connection failed", 502,
	"destination_unavailable"),
    ANSWER(ST_CONNECT_TIMEOUT, "connect_timeout",
	"the destination did not answer", 504, "connection_timeout"),

    ROW(ST_CLOSED, "closed", "closed"),
    ROW(ST_RESET, "reset", "reset by a peer"),
    ROW(ST_IDLE, "idle", "idle for too long"),
    ROW(ST_LIFETIME, "lifetime", "open for too long"),
};

const struct status_info *
status_info(enum status s)
{
	if ((unsigned)s >= ST_COUNT || table[s].name == NULL)
		return &table[ST_INTERNAL];
	return &table[s];
}

const char *
status_text(enum status s)
{
	return status_info(s)->text;
}
