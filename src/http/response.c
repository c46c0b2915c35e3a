#include "http/response.h"

#include <string.h>

#include "base/ascii.h"
#include "base/text.h"
#include "http/lines.h"

/* The most that a structured field's integer holds (RFC 9651, 3.3.1). */
#define INTEGER_MAX UINT64_C(999999999999999)

/* --- the status line ------------------------------------------------------ */

/* "HTTP/1.1 200 Connection established"; the phrase may be empty, but not the
 * space before it (RFC 9112, section 4). */
static enum status
read_status_line(struct response_parser *p, span_t line)
{
	static const char form[] = "HTTP/1.1 ";
	const size_t n = strlen(form);
	uint64_t code;

	if (line.len < 5 || memcmp(line.ptr, form, 5) != 0)
		return ST_HTTP_SYNTAX;
	if (line.len < n || memcmp(line.ptr, form, n) != 0)
		return ST_HTTP_VERSION;
	if (line.len < n + 4 || line.ptr[n + 3] != ' ' ||
	    decimal_u64(&code, span_of(line.ptr + n, 3), 599) != ST_OK ||
	    code < 200)
		return ST_HTTP_SYNTAX;
	p->found.code = (unsigned)code;
	p->begun = true;
	return ST_OK;
}

/* --- fields --------------------------------------------------------------- */

static struct response_slice
slice_of(span_t in, span_t part)
{
	return (struct response_slice){
	    (uint32_t)(part.ptr - in.ptr), (uint32_t)part.len};
}

static span_t
slice_at(span_t in, struct response_slice s)
{
	return span_of(in.ptr + s.at, s.len);
}

static enum status
on_length(struct response_parser *p, span_t value)
{
	if (p->found.has_length ||
	    decimal_u64(&p->found.length, value, INTEGER_MAX) != ST_OK)
		return ST_HTTP_BODY;
	p->found.has_length = true;
	return ST_OK;
}

static void
on_connection(struct response_parser *p, span_t value)
{
	while (value.ptr != NULL) {
		span_t option = lines_trim(lines_cut(&value, value, ','));
		if (span_equal_nocase(option, span_str("close")))
			p->found.keep = false;
	}
}

static bool
is_named(span_t name, const char *known)
{
	return span_equal_nocase(name, span_str(known));
}

static enum status
read_field(struct response_parser *p, span_t in, span_t line)
{
	span_t value;
	span_t name = lines_cut(&value, line, ':');

	if (value.ptr == NULL || !lines_token(name))
		return ST_HTTP_SYNTAX;
	if (++p->fields > RESPONSE_FIELDS_MAX)
		return ST_HTTP_TOO_LARGE;
	value = lines_trim(value);
	if (is_named(name, "Content-Length"))
		return on_length(p, value);
	if (is_named(name, "Transfer-Encoding"))
		return ST_HTTP_BODY;
	if (is_named(name, "Connection"))
		on_connection(p, value);
	else if (is_named(name, "ETag"))
		p->etag = slice_of(in, value);
	else if (is_named(name, "RateLimit"))
		p->rate_limit = slice_of(in, value);
	else if (is_named(name, "Retry-After") &&
	    decimal_u64(&p->found.retry_after, value, INTEGER_MAX) != ST_OK)
		p->found.retry_after = 0; /* a date: not one of ours */
	return ST_OK;
}

/* --- the head ------------------------------------------------------------- */

void
response_parser_init(struct response_parser *p)
{
	*p = (struct response_parser){.found = {.keep = true}};
}

enum status
response_parse(
    struct response_parser *p, struct response *r, size_t *used, span_t in)
{
	uint32_t eol;
	uint32_t end =
	    in.len < RESPONSE_BYTES_MAX ? (uint32_t)in.len : RESPONSE_BYTES_MAX;
	enum status st;

	*r = (struct response){0};
	*used = 0;
	while ((st = lines_scan(&p->scanned, &eol, in, end)) == ST_OK) {
		span_t line = span_of(in.ptr + p->line, eol - p->line);
		p->line = p->scanned = eol + 2;
		if (!p->begun) {
			st = read_status_line(p, line);
		} else if (line.len > 0) {
			st = read_field(p, in, line);
		} else {
			*r = p->found;
			r->etag = slice_at(in, p->etag);
			r->rate_limit = slice_at(in, p->rate_limit);
			*used = p->line;
			return ST_OK;
		}
		if (st != ST_OK)
			return st;
	}
	return st == ST_MORE && end == RESPONSE_BYTES_MAX ? ST_HTTP_TOO_LARGE
							  : st;
}

/* --- RateLimit ------------------------------------------------------------ */

/* Read ITEM, `"name";r=N;t=N` with parameters in any order.
 * Out:     *name without its quotes; *remaining, *reset. */
static enum status
read_item(span_t *name, uint64_t *remaining, uint64_t *reset, span_t item)
{
	bool found = false;
	span_t rest;

	*name = lines_trim(lines_cut(&rest, item, ';'));
	if (name->len < 2 || name->ptr[0] != '"' ||
	    name->ptr[name->len - 1] != '"')
		return ST_BAD_ENCODING;
	*name = span_of(name->ptr + 1, name->len - 2);
	*remaining = *reset = 0;
	while (rest.ptr != NULL) {
		span_t value;
		span_t part = lines_trim(lines_cut(&rest, rest, ';'));
		span_t key = lines_cut(&value, part, '=');
		uint64_t *to = span_equal(key, span_str("r")) ? remaining
		    : span_equal(key, span_str("t"))	      ? reset
							      : NULL;
		if (to == NULL)
			continue;
		if (decimal_u64(to, value, INTEGER_MAX) != ST_OK)
			return ST_BAD_ENCODING;
		found = found || to == remaining;
	}
	return found ? ST_OK : ST_BAD_ENCODING;
}

enum status
response_limit(
    uint64_t *remaining, uint64_t *reset, span_t value, const char *name)
{
	*remaining = *reset = 0;
	while (value.ptr != NULL && value.len > 0) {
		span_t found, item = lines_cut(&value, value, ',');
		uint64_t r, t;
		enum status st = read_item(&found, &r, &t, item);

		if (st != ST_OK)
			return st;
		if (!span_equal(found, span_str(name)))
			continue;
		*remaining = r;
		*reset = t;
		return ST_OK;
	}
	return ST_NOT_FOUND;
}
