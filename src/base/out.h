/* base/out.h: text written piece by piece into memory of the caller's.
 *
 * What does not fit is dropped as a whole and remembered, so that the pieces
 * are written without a check each and the caller looks once, at the end
 * (out_status). Nothing is ever written beyond the memory given, and no NUL is
 * added.
 *
 * Texts that may come from elsewhere have a writer for each place where they
 * can stand; what can not stand there is escaped or replaced, so that it can
 * never end the string that it is in.
 */
#ifndef BASE_OUT_H
#define BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "postern/status.h"

struct out {
	char *text;
	size_t cap, len;
	bool full; /* something did not fit; nothing is written from then on */
};

static inline struct out
out_to(char *text, size_t cap)
{
	return (struct out){.text = text, .cap = cap};
}

void out_span(struct out *o, span_t s);
void out_str(struct out *o, const char *s);
void out_char(struct out *o, char c);
void out_decimal(struct out *o, uint64_t v);

/* Write S as a JSON string, its quotes included (RFC 8259, section 7). Bytes
 * that are not valid UTF-8 become U+FFFD. */
void out_json(struct out *o, span_t s);

/* Write S as a quoted string, its quotes included, that is one for HTTP fields
 * (RFC 9110, 5.6.4), for structured fields (RFC 9651, 3.3.3) and for tor's
 * control port. Bytes that are not printable ASCII become '?'. */
void out_quoted(struct out *o, span_t s);

/* Out:     *len, what was written; 0 on failure.
 * Returns: ST_OK; ST_NO_SPACE. */
static inline enum status
out_status(const struct out *o, size_t *len)
{
	*len = o->full ? 0 : o->len;
	return o->full ? ST_NO_SPACE : ST_OK;
}

/* Bytes of the valid UTF-8 character at the start of S (RFC 3629: shortest
 * form, no surrogates); 0 when there is none. */
size_t utf8_length(span_t s);

#endif
