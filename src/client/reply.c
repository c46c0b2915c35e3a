#include "client/reply.h"

#include <stdio.h>
#include <string.h>

#include "base/out.h"
#include "base/text.h"
#include "base/wipe.h"
#include "client/client.h"

void
outcome_set(
    struct outcome *o, enum trouble t, enum status st, const char *detail)
{
	o->trouble = t;
	o->status = st;
	o->retry_after = 0;
	/* It may be a gateway's, and goes to a terminal. */
	text_printable(o->detail, sizeof(o->detail), span_str(detail));
}

static bool
is_answer(const struct outcome *o)
{
	return o->trouble == TROUBLE_ANSWER;
}

const char *
outcome_text(const struct outcome *o)
{
	if (o->detail[0] != '\0')
		return o->detail;
	return is_answer(o) ? status_text(o->status)
			    : trouble_info(o->trouble)->text;
}

const char *
outcome_cure(const struct outcome *o)
{
	const char *cure = is_answer(o) ? status_info(o->status)->cure
					: trouble_info(o->trouble)->cure;

	return cure != NULL ? cure : "";
}

/* The code for the program. */
static int
code_of(const struct outcome *o)
{
	int code = is_answer(o) ? status_info(o->status)->http
				: trouble_info(o->trouble)->http;

	/* A proof that the gateway refuses is our failure, not the program's:
	 * to it we are a gateway that can not be had. */
	if (is_answer(o) && (code == 407 || code < 400))
		return 502;
	return code;
}

static const char *
phrase_of(int code)
{
	switch (code) {
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 407:
		return "Proxy Authentication Required";
	case 408:
		return "Request Timeout";
	case 429:
		return "Too Many Requests";
	case 431:
		return "Request Header Fields Too Large";
	case 502:
		return "Bad Gateway";
	case 503:
		return "Service Unavailable";
	case 504:
		return "Gateway Timeout";
	default:
		return "Internal Server Error";
	}
}

static void
out_member(struct out *o, const char *name, const char *text)
{
	out_char(o, ',');
	out_json(o, span_str(name));
	out_char(o, ':');
	out_json(o, span_str(text));
}

/* The problem of O; its length. */
static size_t
write_problem(char *text, size_t cap, const struct outcome *o, int code)
{
	struct out out = out_to(text, cap);
	const char *label = is_answer(o) ? status_info(o->status)->label
					 : trouble_info(o->trouble)->label;
	size_t len;

	out_str(&out, "{\"type\":\"about:blank\",\"status\":");
	out_decimal(&out, (uint64_t)code);
	out_member(&out, "title", phrase_of(code));
	out_member(&out, "detail", outcome_text(o));
	out_member(&out, "error", label);
	if (*outcome_cure(o) != '\0')
		out_member(&out, "cure", outcome_cure(o));
	out_str(&out, "}\n");
	return out_status(&out, &len) == ST_OK ? len : 0;
}

size_t
reply_http(char text[static REPLY_MAX], const struct outcome *o)
{
	/* Every byte of the detail may become six in JSON. */
	char problem[REPLY_MAX / 2 + 6 * REPLY_DETAIL_MAX];
	struct out out = out_to(text, REPLY_MAX);
	int code = code_of(o);
	size_t n = write_problem(problem, sizeof(problem), o, code), len;

	if (n > REPLY_MAX - 512)
		n = 0; /* control characters in a gateway's words: leave it */
	out_str(&out, "HTTP/1.1 ");
	out_decimal(&out, (uint64_t)code);
	out_char(&out, ' ');
	out_str(&out, phrase_of(code));
	out_str(&out, "\r\nConnection: close\r\nCache-Control: no-store\r\n");
	if (code == 407)
		out_str(&out,
		    "Proxy-Authenticate: Basic realm=\"postern client\"\r\n");
	if (code == 405)
		out_str(&out, "Allow: CONNECT\r\n");
	if (o->retry_after != 0) {
		out_str(&out, "Retry-After: ");
		out_decimal(&out, o->retry_after);
		out_str(&out, "\r\n");
	}
	out_str(&out,
	    "Content-Type: application/problem+json\r\n"
	    "Content-Length: ");
	out_decimal(&out, n);
	out_str(&out, "\r\n\r\n");
	out_span(&out, span_of(problem, n));
	(void)out_status(&out, &len); /* it fits: see above */
	return len;
}

span_t
reply_http_ok(void)
{
	return span_str("HTTP/1.1 200 Connection established\r\n\r\n");
}

enum socks5_reply
reply_socks(const struct outcome *o)
{
	return is_answer(o) ? trouble_socks(o->status)
			    : trouble_info(o->trouble)->socks;
}

bool
reply_password(span_t password, const char *token)
{
	return token != NULL && password.len == strlen(token) &&
	    equal_ct(password.ptr, token, password.len);
}

bool
reply_authorized(span_t value, const char *token)
{
	static const char scheme[] = "Basic ";
	const size_t n = sizeof(scheme) - 1;
	uint8_t login[2 * CLIENT_TOKEN_MAX];
	const uint8_t *colon;
	bool good = false;
	size_t len;

	if (value.len < n ||
	    !span_equal_nocase(span_of(value.ptr, n), span_str(scheme)))
		return false;
	while (value.len > n && value.ptr[n] == ' ')
		value = span_of(value.ptr + 1, value.len - 1);
	if (base64_decode(login, sizeof(login), &len,
		span_of(value.ptr + n, value.len - n),
		BASE64_STANDARD) == ST_OK &&
	    (colon = memchr(login, ':', len)) != NULL) {
		size_t at = (size_t)(colon - login) + 1;
		good = reply_password(span_of(login + at, len - at), token);
	}
	wipe(login, sizeof(login));
	return good;
}
