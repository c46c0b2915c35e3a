/* client/reply.h: what a program is told, in HTTP or in SOCKS.
 *
 * HTTP answers are problem+json (RFC 9457) with the members of the gateway's
 * own answers: title, status, detail, error, cure. A 407 here always means our
 * own token, never the proof: that is no business of the program's, and it
 * would ask its user for a password. SOCKS has a byte.
 */
#ifndef CLIENT_REPLY_H
#define CLIENT_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "client/trouble.h"
#include "postern/attr.h"

/* Room for any answer. */
#define REPLY_MAX 2048
#define REPLY_DETAIL_MAX 320

/* What went wrong. */
struct outcome {
	enum trouble trouble;
	enum status status; /* of TROUBLE_ANSWER; else ST_OK */
	uint64_t retry_after; /* seconds; 0: not told */
	char detail[REPLY_DETAIL_MAX]; /* a sentence; "": the table's */
};

/* Set O up; DETAIL may be "". */
void outcome_set(struct outcome *o, enum trouble t, enum status st,
    const char *detail) NONNULL;

/* The sentence of O, and what to do about it ("": nothing). */
const char *outcome_text(const struct outcome *o) NONNULL;
const char *outcome_cure(const struct outcome *o) NONNULL;

/* Write the HTTP answer for O; the connection closes behind it.
 * Returns: its length. */
size_t reply_http(char out[static REPLY_MAX], const struct outcome *o) NONNULL;

/* The answer of a CONNECT that worked. */
span_t reply_http_ok(void);

/* The SOCKS reply for O. */
enum socks5_reply reply_socks(const struct outcome *o) NONNULL;

/* VALUE, that of a Proxy-Authorization field, is Basic (RFC 7617) with TOKEN as
 * its password, whatever the user. Time: constant in the token. */
bool reply_authorized(span_t value, const char *token) WARN_UNUSED;

/* PASSWORD is TOKEN. Time: likewise. */
bool reply_password(span_t password, const char *token) WARN_UNUSED;

#endif
