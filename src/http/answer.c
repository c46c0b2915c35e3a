#include "http/answer.h"

#include <string.h>

#include "base/out.h"

/* The name under which this proxy speaks in Proxy-Status. */
#define PROXY_NAME "postern"

/* The most that an integer of a structured field holds (RFC 9651, 3.3.1). */
#define FIELD_INTEGER_MAX UINT64_C(999999999999999)

#define REALM_MAX 255
#define LIMIT_NAME_MAX 32

/* draft-ietf-httpapi-ratelimit-headers, "Problem Types". */
#define QUOTA_TYPE \
	"https://iana.org/assignments/http-problem-types#quota-exceeded"
#define QUOTA_TITLE \
	"Request cannot be satisfied as assigned quota has been exceeded"

static const struct {
	int code;
	const char *phrase;
	bool closes; /* where the next request would begin is not known */
} codes[] = {
    {200, "OK", false},
    {304, "Not Modified", false},
    {400, "Bad Request", false},
    {403, "Forbidden", false},
    {404, "Not Found", false},
    {405, "Method Not Allowed", false},
    {407, "Proxy Authentication Required", false},
    {408, "Request Timeout", true},
    {429, "Too Many Requests", false},
    {431, "Request Header Fields Too Large", true},
    {500, "Internal Server Error", true},
    {502, "Bad Gateway", false},
    {503, "Service Unavailable", false},
    {504, "Gateway Timeout", false},
};

/* Index of CODE in codes; that of 500 when it is not there. */
static size_t
code_index(int code)
{
	size_t fallback = 0;

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		if (codes[i].code == code)
			return i;
		if (codes[i].code == 500)
			fallback = i;
	}
	return fallback;
}

static const struct status_info *
info_of(const struct answer *a)
{
	const struct status_info *info = status_info(a->status);

	return info->http != 0 ? info : status_info(ST_INTERNAL);
}

bool
answer_closes(const struct answer *a)
{
	return a->close || codes[code_index(info_of(a)->http)].closes;
}

/* S without its end when it is longer than MAX; none for NULL. */
static span_t
bounded(const char *s, size_t max)
{
	return s != NULL ? span_of(s, strnlen(s, max)) : span_of("", 0);
}

static void
field(struct out *o, const char *name, const char *value)
{
	out_str(o, name);
	out_str(o, ": ");
	out_str(o, value);
	out_str(o, "\r\n");
}

static void
field_decimal(struct out *o, const char *name, uint64_t value)
{
	out_str(o, name);
	out_str(o, ": ");
	out_decimal(o, value);
	out_str(o, "\r\n");
}

static void
status_line(struct out *o, int code, const char *phrase)
{
	out_str(o, "HTTP/1.1 ");
	out_decimal(o, (uint64_t)code);
	out_char(o, ' ');
	out_str(o, phrase);
	out_str(o, "\r\n");
}

static void
parameter(struct out *o, const char *name, span_t value)
{
	out_str(o, name);
	out_char(o, '=');
	out_quoted(o, value);
}

/* RFC 9110, section 11.7.1. The realm is required (section 11.5 lets a scheme
 * do without, yet clients look for it): empty when none is set. */
static void
challenge(struct out *o, const struct answer_challenge *c, const char *label)
{
	out_str(o, "Proxy-Authenticate: Semaphore ");
	parameter(o, "realm", bounded(c != NULL ? c->realm : "", REALM_MAX));
	if (c != NULL) {
		out_str(o, ", ");
		parameter(o, "scope", span_str(c->scope));
		out_str(o, ", ");
		parameter(o, "message", span_str(c->message));
		out_str(o, ", expires=");
		out_decimal(o, c->expires);
		out_str(o, ", slots=");
		out_decimal(o, c->slots);
	}
	out_str(o, ", ");
	parameter(o, "error", span_str(label));
	out_str(o, "\r\n");
}

static void
limit_parameter(struct out *o, const char *name, uint64_t value)
{
	out_str(o, name);
	out_decimal(o, value < FIELD_INTEGER_MAX ? value : FIELD_INTEGER_MAX);
}

static void
limit_policy(struct out *o, const struct answer_limit *l)
{
	limit_parameter(o, ";q=", l->quota);
	if (l->unit == ANSWER_BYTES)
		out_str(o, ";qu=\"content-bytes\"");
	else if (l->unit == ANSWER_TUNNELS)
		out_str(o, ";qu=\"concurrent-requests\"");
	if (l->window != 0)
		limit_parameter(o, ";w=", l->window);
}

static void
limit_state(struct out *o, const struct answer_limit *l)
{
	limit_parameter(o, ";r=", l->remaining);
	if (l->window != 0)
		limit_parameter(o, ";t=", l->reset);
}

static void
limit_list(struct out *o, const char *name, const struct answer *a,
    void (*write)(struct out *o, const struct answer_limit *l))
{
	size_t n =
	    a->n_limits < ANSWER_LIMITS_MAX ? a->n_limits : ANSWER_LIMITS_MAX;

	for (size_t i = 0; i < n; i++) {
		out_str(o, i == 0 ? name : ", ");
		out_quoted(o, bounded(a->limits[i].name, LIMIT_NAME_MAX));
		write(o, &a->limits[i]);
	}
	if (n > 0)
		out_str(o, "\r\n");
}

static void
limits(struct out *o, const struct answer *a)
{
	limit_list(o, "RateLimit-Policy: ", a, limit_policy);
	limit_list(o, "RateLimit: ", a, limit_state);
}

/* RFC 9209, section 2. */
static void
proxy_status(struct out *o, const struct status_info *info, span_t detail)
{
	out_str(o, "Proxy-Status: " PROXY_NAME);
	if (info->proxy_status != NULL) {
		out_str(o, "; error=");
		out_str(o, info->proxy_status);
	}
	out_str(o, "; details=");
	out_quoted(o, detail);
	out_str(o, "\r\n");
}

static void
member(struct out *o, const char *name, span_t value)
{
	out_str(o, ",\"");
	out_str(o, name);
	out_str(o, "\":");
	out_json(o, value);
}

static bool
has_retry_after(int code)
{
	return code == 429 || code == 503;
}

static uint32_t
retry_after(const struct answer *a)
{
	return a->retry_after != 0 ? a->retry_after : 1;
}

/* The content, RFC 9457. */
static void
problem(struct out *o, const struct answer *a, const struct status_info *info,
    span_t detail)
{
	const char *phrase = codes[code_index(info->http)].phrase;
	bool quota = info->http == 429 && a->violated != NULL;

	out_str(o, "{\"type\":");
	out_json(o, span_str(quota ? QUOTA_TYPE : "about:blank"));
	member(o, "title", span_str(quota ? QUOTA_TITLE : phrase));
	out_str(o, ",\"status\":");
	out_decimal(o, (uint64_t)info->http);
	member(o, "detail", detail);
	member(o, "error", span_str(info->label));
	if (info->cure != NULL)
		member(o, "cure", span_str(info->cure));
	if (has_retry_after(info->http)) {
		out_str(o, ",\"retry-after\":");
		out_decimal(o, retry_after(a));
	}
	if (quota) {
		out_str(o, ",\"violated-policies\":[");
		out_json(o, bounded(a->violated, LIMIT_NAME_MAX));
		out_char(o, ']');
	}
	out_str(o, "}\n");
}

static void
connection(struct out *o, bool close)
{
	field(o, "Connection", close ? "close" : "keep-alive");
}

/* Everything of a refusal's head but the length of its content. */
static void
refusal_fields(struct out *o, const struct answer *a,
    const struct status_info *info, span_t detail)
{
	connection(o, answer_closes(a));
	field(o, "Cache-Control", "no-store");
	proxy_status(o, info, detail);
	if (info->http == 405)
		field(o, "Allow", "CONNECT, GET, HEAD");
	if (info->http == 407)
		challenge(o, a->challenge, info->label);
	if (has_retry_after(info->http))
		field_decimal(o, "Retry-After", retry_after(a));
	limits(o, a);
	field(o, "Content-Type", "application/problem+json");
}

/* What happened, in one line for people. */
static span_t
describe(char *text, size_t cap, const struct answer *a,
    const struct status_info *info)
{
	struct out o = out_to(text, cap);

	out_str(&o, info->text);
	if (a->detail != NULL) {
		out_str(&o, ": ");
		out_span(&o, bounded(a->detail, ANSWER_DETAIL_MAX));
	}
	return span_of(text, o.len);
}

static enum status
write_refusal(
    struct out *o, const struct answer *a, const struct status_info *info)
{
	/* Each byte of the texts from elsewhere can take six in JSON. */
	char content[1024 + 6 * (ANSWER_DETAIL_MAX + LIMIT_NAME_MAX)];
	char text[128 + ANSWER_DETAIL_MAX];
	span_t detail = describe(text, sizeof(text), a, info);
	struct out c = out_to(content, sizeof(content));
	size_t len;
	enum status st;

	problem(&c, a, info, detail);
	if ((st = out_status(&c, &len)) != ST_OK)
		return st;
	status_line(o, info->http, codes[code_index(info->http)].phrase);
	refusal_fields(o, a, info, detail);
	field_decimal(o, "Content-Length", len);
	out_str(o, "\r\n");
	if (!a->no_content)
		out_span(o, span_of(content, len));
	return ST_OK;
}

enum status
answer_write(char *out, size_t cap, size_t *len, const struct answer *a)
{
	const struct status_info *info = info_of(a);
	struct out o = out_to(out, cap);
	enum status st = ST_OK;

	*len = 0;
	if (info->http == 200) {
		status_line(&o, 200, "Connection established");
		limits(&o, a);
		out_str(&o, "\r\n");
	} else {
		st = write_refusal(&o, a, info);
	}
	return st == ST_OK ? out_status(&o, len) : st;
}

enum status
answer_document(
    char *out, size_t cap, size_t *len, const struct answer_document *d)
{
	struct out o = out_to(out, cap);

	if (d->not_modified)
		status_line(&o, 304, "Not Modified");
	else
		status_line(&o, 200, "OK");
	connection(&o, d->close);
	out_str(&o, "Cache-Control: ");
	if (d->max_age != 0) {
		out_str(&o, "max-age=");
		out_decimal(&o, d->max_age);
		out_str(&o, "\r\n");
	} else {
		out_str(&o, "no-cache\r\n");
	}
	if (d->etag != NULL) {
		out_str(&o, "ETag: ");
		out_quoted(&o, span_str(d->etag));
		out_str(&o, "\r\n");
	}
	if (!d->not_modified) {
		field(&o, "Content-Type", d->type);
		field_decimal(&o, "Content-Length", d->length);
	}
	out_str(&o, "\r\n");
	return out_status(&o, len);
}

/* Take a list's blanks and commas off the front of *S. */
static void
skip_separators(span_t *s)
{
	while (s->len > 0 &&
	    (s->ptr[0] == ' ' || s->ptr[0] == '\t' || s->ptr[0] == ','))
		*s = span_of(s->ptr + 1, s->len - 1);
}

bool
answer_etag_matches(span_t if_none_match, const char *etag)
{
	span_t s = if_none_match, want = span_str(etag);

	for (skip_separators(&s); s.len > 0; skip_separators(&s)) {
		if (s.ptr[0] == '*')
			return true;
		if (s.len >= 2 && s.ptr[0] == 'W' && s.ptr[1] == '/')
			s = span_of(s.ptr + 2, s.len - 2);
		if (s.len == 0 || s.ptr[0] != '"')
			return false;
		const uint8_t *end = memchr(s.ptr + 1, '"', s.len - 1);
		if (end == NULL)
			return false;
		span_t tag = span_of(s.ptr + 1, (size_t)(end - s.ptr) - 1);
		if (span_equal(tag, want))
			return true;
		s = span_of(end + 1, s.len - tag.len - 2);
	}
	return false;
}
