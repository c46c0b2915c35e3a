#include "http/head.h"

#include <string.h>

#include "base/ascii.h"
#include "http/lines.h"

/* --- characters: RFC 9110, section 5.6.2; RFC 3986, section 3.3 ----------- */

/* A path with its slashes and, behind a question mark, a query. */
static bool
is_origin_form(span_t s)
{
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.ptr[i];
		if (c == '%') {
			if (s.len - i < 3 || ascii_hex(s.ptr[i + 1]) < 0 ||
			    ascii_hex(s.ptr[i + 2]) < 0)
				return false;
		} else if (!ascii_is_alnum(c) &&
		    !lines_one_of(c, "/?-._~!$&'()*+,;=:@")) {
			return false;
		}
	}
	return s.len > 0 && s.ptr[0] == '/';
}

static bool
is_visible(span_t s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f)
			return false;
	}
	return s.len > 0;
}

/* Refuse the head for ST, unless it has been refused already, and read on to
 * its end. */
static enum status
refuse(struct head_parser *p, enum status st)
{
	if (p->refused == ST_OK)
		p->refused = st;
	return ST_OK;
}

/* --- slices --------------------------------------------------------------- */

static struct head_slice
slice_of(span_t in, span_t part)
{
	return (struct head_slice){
	    (uint32_t)(part.ptr - in.ptr), (uint32_t)part.len};
}

static span_t
slice_at(span_t in, struct head_slice s)
{
	return span_of(in.ptr + s.at, s.len);
}

/* --- lines ---------------------------------------------------------------- */

static enum status
check_version(span_t version, bool old)
{
	static const char form[] = "HTTP/d.d";

	if (span_equal(version, span_str("HTTP/1.1")) ||
	    (old && span_equal(version, span_str("HTTP/1.0"))))
		return ST_OK;
	if (version.len != strlen(form))
		return ST_HTTP_SYNTAX;
	for (size_t i = 0; i < version.len; i++) {
		if (form[i] == 'd' ? !ascii_is_digit(version.ptr[i])
				   : version.ptr[i] != (uint8_t)form[i])
			return ST_HTTP_SYNTAX;
	}
	return ST_HTTP_VERSION;
}

static enum http_method
method_of(span_t name)
{
	if (span_equal(name, span_str("CONNECT")))
		return HTTP_CONNECT;
	if (span_equal(name, span_str("GET")))
		return HTTP_GET;
	if (span_equal(name, span_str("HEAD")))
		return HTTP_HEAD;
	return HTTP_OTHER;
}

static enum status
read_request_line(struct head_parser *p, span_t in, span_t line)
{
	span_t rest, version;
	span_t method = lines_cut(&rest, line, ' ');
	span_t target = lines_cut(&version, rest, ' ');
	enum status st = check_version(version, p->limits.old);

	if (!lines_token(method) || !is_visible(target))
		return ST_HTTP_SYNTAX;
	if (st != ST_OK)
		return st;
	p->method = method_of(method);
	p->target = slice_of(in, target);
	p->old = !span_equal(version, span_str("HTTP/1.1"));
	p->close = p->old;
	if (p->method == HTTP_GET || p->method == HTTP_HEAD) {
		if (target.ptr[0] != '/')
			return refuse(p, ST_HTTP_FORM);
		if (!is_origin_form(target))
			return ST_HTTP_SYNTAX;
	}
	return ST_OK;
}

/* --- fields --------------------------------------------------------------- */

static enum status
on_host(struct head_parser *p, span_t in, span_t value, bool again)
{
	p->host = slice_of(in, value);
	return again ? refuse(p, ST_HTTP_HOST) : ST_OK;
}

static enum status
on_credential(struct head_parser *p, span_t in, span_t value, bool again)
{
	p->credential = slice_of(in, value);
	return again ? refuse(p, ST_CREDENTIAL_TWICE) : ST_OK;
}

static enum status
on_body(struct head_parser *p, span_t in, span_t value, bool again)
{
	(void)in, (void)value, (void)again;
	/* The answer to another method is 405 whatever its body is, but where
	 * the body ends is not looked at. */
	p->close = true;
	return p->method == HTTP_OTHER ? ST_OK : ST_HTTP_BODY;
}

static enum status
on_connection(struct head_parser *p, span_t in, span_t value, bool again)
{
	(void)in, (void)again;
	while (value.ptr != NULL) {
		span_t option = lines_trim(lines_cut(&value, value, ','));
		if (span_equal_nocase(option, span_str("close")))
			p->close = true;
	}
	return ST_OK;
}

static enum status
on_if_none_match(struct head_parser *p, span_t in, span_t value, bool again)
{
	/* Several are one list (RFC 9110, 5.3), which is not worth a copy: then
	 * nothing matches, and the client gets what it asked for. */
	p->if_none_match =
	    again ? (struct head_slice){0, 0} : slice_of(in, value);
	return ST_OK;
}

static const struct {
	const char *name;
	enum status (*read)(
	    struct head_parser *p, span_t in, span_t value, bool again);
} known_fields[] = {
    {"Host", on_host},
    {"Proxy-Authorization", on_credential},
    {"Content-Length", on_body},
    {"Transfer-Encoding", on_body},
    {"Connection", on_connection},
    {"If-None-Match", on_if_none_match},
};

static enum status
read_field(struct head_parser *p, span_t in, span_t line)
{
	span_t value;
	span_t name = lines_cut(&value, line, ':');

	/* A line that begins with a space would continue the one before it:
	 * a space is in no token, so that is refused here. */
	if (value.ptr == NULL || !lines_token(name))
		return ST_HTTP_SYNTAX;
	if (++p->fields > p->limits.fields)
		return ST_HTTP_TOO_LARGE;
	for (size_t i = 0; i < sizeof(known_fields) / sizeof(*known_fields);
	     i++) {
		if (!span_equal_nocase(name, span_str(known_fields[i].name)))
			continue;
		uint32_t bit = UINT32_C(1) << i;
		bool again = (p->seen & bit) != 0;
		p->seen |= bit;
		return known_fields[i].read(p, in, lines_trim(value), again);
	}
	return ST_OK;
}

/* --- the end of the head -------------------------------------------------- */

/* token68, RFC 9110, section 11.2. */
static bool
is_token68(span_t s)
{
	size_t n = 0;

	while (n < s.len &&
	    (ascii_is_alnum(s.ptr[n]) || lines_one_of(s.ptr[n], "-._~+/")))
		n++;
	if (n == 0)
		return false;
	while (n < s.len && s.ptr[n] == '=')
		n++;
	return n == s.len;
}

static enum status
read_credential(span_t *token, span_t value)
{
	span_t rest;
	span_t scheme = lines_cut(&rest, value, ' ');

	*token = span_of(NULL, 0);
	if (!span_equal_nocase(scheme, span_str("Semaphore")))
		return ST_CREDENTIAL_MISSING;
	while (rest.len > 0 && rest.ptr[0] == ' ')
		rest = span_of(rest.ptr + 1, rest.len - 1);
	if (!is_token68(rest))
		return ST_CREDENTIAL_BAD;
	*token = rest;
	return ST_OK;
}

/* A Host field may leave out the port that belongs to the scheme; the scheme
 * behind a tunnel is not known, so either will do. */
static bool
host_names_target(const struct authority *host, const struct authority *target)
{
	bool port = host->port == target->port ||
	    (host->port == 0 && (target->port == 443 || target->port == 80));

	return port && authority_same_host(host, target);
}

/* Target and Host say the same place, as the method wants it. */
static enum status
read_places(const struct head_parser *p, struct head *h, span_t in)
{
	struct authority host;
	enum status st;

	if (p->method == HTTP_CONNECT &&
	    (st = authority_parse(&h->target, slice_at(in, p->target))) !=
		ST_OK)
		return st;
	if (p->old && p->host.len == 0)
		return ST_OK;
	if (authority_parse_host(&host, slice_at(in, p->host)) != ST_OK)
		return ST_HTTP_HOST;
	if (p->method == HTTP_CONNECT && !host_names_target(&host, &h->target))
		return ST_HTTP_HOST;
	return ST_OK;
}

static enum status
finish(const struct head_parser *p, struct head *h, span_t in)
{
	enum status st = p->refused;

	if (st == ST_OK)
		st = read_places(p, h, in);
	if (st != ST_OK) {
		*h = (struct head){.method = p->method, .keep = !p->close};
		return st;
	}
	h->method = p->method;
	h->keep = !p->close;
	h->authorization = slice_at(in, p->credential);
	h->credential = read_credential(&h->token, h->authorization);
	h->if_none_match = slice_at(in, p->if_none_match);
	if (p->method == HTTP_GET || p->method == HTTP_HEAD)
		h->path = lines_cut(&h->query, slice_at(in, p->target), '?');
	return ST_OK;
}

void
head_parser_init(struct head_parser *p, const struct head_limits *limits)
{
	*p = (struct head_parser){.limits = {.bytes = HEAD_BYTES_DEFAULT,
				      .fields = HEAD_FIELDS_DEFAULT}};
	if (limits != NULL)
		p->limits = *limits;
}

enum status
head_parse(struct head_parser *p, struct head *head, size_t *used, span_t in)
{
	uint32_t most = p->limits.bytes, eol;
	uint32_t end = in.len < most ? (uint32_t)in.len : most;
	enum status st;

	*head = (struct head){0};
	*used = 0;
	while ((st = lines_scan(&p->scanned, &eol, in, end)) == ST_OK) {
		span_t line = span_of(in.ptr + p->line, eol - p->line);
		p->line = p->scanned = eol + 2;
		if (p->method == HTTP_NONE) {
			st = read_request_line(p, in, line);
		} else if (line.len > 0) {
			st = read_field(p, in, line);
		} else {
			*used = p->line;
			return finish(p, head, in);
		}
		if (st != ST_OK)
			break;
	}
	return st == ST_MORE && end == most ? ST_HTTP_TOO_LARGE : st;
}
