/* postern/status.h: why something failed.
 *
 * Every function that can fail returns an enum status and is WARN_UNUSED.
 * The names are as specific as a caller could want to act on. One table
 * (src/base/status.c) maps each to its text for people, its metric label and,
 * where a client of the gateway can meet it, its HTTP answer, so that an
 * answer can not drift from its metric.
 *
 * A status never grants anything: an authorisation is an enum verdict
 * (src/gate/verdict.h), whose zero value is no verdict at all.
 */
#ifndef POSTERN_STATUS_H
#define POSTERN_STATUS_H

#include "postern/attr.h"

enum status {
	ST_OK = 0,

	/* Bytes and values. */
	ST_MORE, /* the input is a good beginning; more is needed */
	ST_BAD_LENGTH, /* not as long as it has to be */
	ST_BAD_ENCODING, /* not the canonical spelling of anything */
	ST_BAD_VALUE, /* well spelt and outside what is allowed */
	ST_TRAILING, /* bytes after the end */
	ST_NO_SPACE, /* the caller's buffer is too small */
	ST_NOT_JSON, /* not one JSON value */
	ST_MISSING, /* a member that must be there is not */
	ST_DUPLICATE, /* a member or an entry twice */
	ST_WRONG_TYPE, /* a member of another JSON type */
	ST_UNKNOWN, /* a name that means nothing here */
	ST_NOT_FOUND, /* no such entry */
	ST_BAD_VERSION, /* made by another version */
	ST_CORRUPT, /* a checksum or a magic number does not match */
	ST_FOREIGN, /* belongs to somebody else: another key, circuit... */

	/* The machine. */
	ST_NO_MEMORY,
	ST_BUSY, /* a bounded resource is used up; try later */
	ST_LOCKED, /* another process holds it */
	ST_PERMISSION, /* modes or owner are not as they have to be */
	ST_SYS, /* a system call failed: errno says how */
	ST_RANDOM, /* the system gave no randomness */
	ST_INTERNAL, /* a broken invariant of ours */

	/* Field elements, points, proofs. */
	ST_NOT_CANONICAL, /* not below the modulus */
	ST_NOT_ON_CURVE,
	ST_NOT_IN_GROUP, /* on the curve and outside the subgroup */
	ST_INFINITY, /* the point at infinity where none may be */
	ST_BAD_DEPTH, /* a Merkle depth outside 1 to 32 */
	ST_NO_KEY, /* no verification or proving key for this depth */
	ST_PROOF_INVALID, /* well formed; the pairing equation does not hold */

	/* Ciphers and packets. */
	ST_BAD_MAC,
	ST_REPLAY,
	ST_WEAK_KEY, /* a shared secret of zeros, a non-canonical element */
	ST_BAD_PASSPHRASE,

	/* A request at the gate: see the answer table of src/http/PROTOCOL.md. */
	ST_HTTP_SYNTAX,
	ST_HTTP_VERSION,
	ST_HTTP_FORM, /* the target's form does not fit the method */
	ST_HTTP_AUTHORITY,
	ST_HTTP_HOST, /* Host is missing, there twice, or names another host */
	ST_HTTP_BODY,
	ST_HTTP_METHOD,
	ST_HTTP_PATH,
	ST_HTTP_TOO_LARGE,
	ST_HTTP_TIMEOUT,
	ST_CREDENTIAL_TWICE,
	ST_CREDENTIAL_MISSING,
	ST_CREDENTIAL_BAD, /* not a token: the codec's own status says more */
	ST_EPOCH_PAST,
	ST_EPOCH_FUTURE,
	ST_SCOPE_UNKNOWN, /* no epoch and slot of ours has this scope */
	ST_MESSAGE_WRONG, /* made for another audience */
	ST_ROOT_UNKNOWN,
	ST_QUOTA_REQUESTS,
	ST_QUOTA_TUNNELS,
	ST_QUOTA_BYTES,
	ST_QUOTA_RATE,
	ST_LEDGER_FULL,
	ST_JOURNAL_FAILED,
	ST_LEDGER_UNREACHABLE, /* the one that gateways share */
	ST_CIRCUIT_LIMIT,
	ST_OVERLOADED,
	ST_DRAINING,
	ST_PROXY_LINE, /* the PROXY line is missing, bad or not expected */

	/* The way out. */
	ST_TARGET_PORT,
	ST_TARGET_NAME,
	ST_TARGET_ONION,
	ST_TARGET_LITERAL,
	ST_TARGET_ADDRESS, /* resolves to an address that is not public */
	ST_TARGET_LIMIT, /* too many connections to one destination */
	ST_DNS_FAILED,
	ST_DNS_NOT_FOUND,
	ST_DNS_TIMEOUT,
	ST_CONNECT_REFUSED,
	ST_CONNECT_UNREACHABLE,
	ST_CONNECT_FAILED,
	ST_CONNECT_TIMEOUT,

	/* How a tunnel ends. */
	ST_CLOSED, /* both directions ended in order */
	ST_RESET, /* a peer reset it */
	ST_IDLE, /* the idle timer */
	ST_LIFETIME, /* the lifetime timer */

	ST_COUNT
};

/* What a status means to those who are told of it. */
struct status_info {
	const char *name; /* "ST_OK", for tests and logs of our own bugs */
	const char *label; /* the metric label, [a-z_]+ */
	const char *text; /* lower case, no full stop, for people */
	int http; /* the answer's code; 0: never an answer */
	const char
	    *proxy_status; /* RFC 9209 error type; NULL: never an answer */
	const char *cure; /* what the client can do about it; NULL: nothing */
};

/* Look S up. Never NULL: a value outside the enum gives ST_INTERNAL's row. */
const struct status_info *status_info(enum status s);

/* The text of S. */
const char *status_text(enum status s);

#endif
