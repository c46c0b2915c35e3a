/* http/lines.h: what the heads of requests and of answers have in common:
 * lines that end in CRLF, tokens, and lists.
 *
 * Private to the folder.
 */
#ifndef HTTP_LINES_H
#define HTTP_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/status.h"

/* C is in SET; false for a NUL. */
bool lines_one_of(uint8_t c, const char *set);

/* S is a token (RFC 9110, 5.6.2). */
bool lines_token(span_t s);

/* S without the spaces and tabs around it. */
span_t lines_trim(span_t s);

/* Cut S at the first C: the part before it, and *rest behind it. When there is
 * no C the result is all of S, and *rest has no bytes and no address. */
span_t lines_cut(span_t *rest, span_t s, char c);

/* Look for the end of a line before END, from *scanned on, where the last call
 * has stopped; *eol is its CR.
 * Returns: ST_OK; ST_MORE; ST_HTTP_SYNTAX: a bare CR or LF, or another control
 *          character than a tab. */
enum status lines_scan(
    uint32_t *scanned, uint32_t *eol, span_t in, uint32_t end) WARN_UNUSED;

#endif
