/* tor/reply.h: what tor says on its control port, as lines.
 *
 * Control-spec, section 2.3: a reply is lines "NNN-text" and a last one
 * "NNN text"; a line "NNN+text" is followed by data lines up to a "." alone,
 * with a further dot before data lines that begin with one. Events have codes
 * from 600 and come between replies, never within one.
 *
 * Pure: bytes in, slices out. Strict where a mistake would shift the stream:
 * CRLF only, three digits, one of the three separators.
 */
#ifndef TOR_REPLY_H
#define TOR_REPLY_H

#include "base/span.h"
#include "postern/status.h"

enum reply_kind {
	REPLY_MIDDLE, /* "NNN-": more lines of this reply follow */
	REPLY_DATA_BEGIN, /* "NNN+": data lines follow */
	REPLY_DATA, /* a data line, its extra dot taken away */
	REPLY_DATA_END, /* the "." alone */
	REPLY_LAST, /* "NNN ": the reply is complete */
};

struct reply_line {
	enum reply_kind kind;
	unsigned code; /* of data lines: that of the line they belong to */
	span_t text; /* into the input, without code and CRLF */
};

/* Zero at the beginning of a connection. */
struct reply_reader {
	unsigned code; /* within data: its code, else 0 */
};

/* Read one line from IN.
 * Out:     *line and *used, the bytes it took; both zero unless ST_OK.
 * Returns: ST_OK; ST_MORE (no whole line yet); ST_BAD_ENCODING (then the
 *          connection is of no more use). */
enum status reply_read(struct reply_reader *r, struct reply_line *line,
    size_t *used, span_t in) WARN_UNUSED;

/* Find KEY=VALUE in TEXT, words and quoted strings separated by spaces, and
 * copy VALUE without quotes and escapes, and with a NUL, to OUT (CAP bytes).
 * Returns: ST_OK; ST_NOT_FOUND; ST_BAD_ENCODING (an open quote, an unknown
 *          escape, a NUL inside); ST_NO_SPACE. Unless ST_OK, *out is empty. */
enum status
reply_value(char *out, size_t cap, span_t text, const char *key) WARN_UNUSED;

/* The value of a line "KEY=value up to the end", as GETINFO answers.
 * Returns: ST_OK; ST_NOT_FOUND (another key). */
enum status reply_info(span_t *value, span_t text, const char *key) WARN_UNUSED;

/* The Nth word of TEXT, from 0; empty when there are fewer. */
span_t reply_word(span_t text, unsigned n);

#endif
