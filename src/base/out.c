#include "base/out.h"

#include <string.h>

void
out_span(struct out *o, span_t s)
{
	if (o->full || s.len > o->cap - o->len) {
		o->full = true;
		return;
	}
	if (s.len != 0)
		memcpy(o->text + o->len, s.ptr, s.len);
	o->len += s.len;
}

void
out_str(struct out *o, const char *s)
{
	out_span(o, span_str(s));
}

void
out_char(struct out *o, char c)
{
	out_span(o, span_of(&c, 1));
}

void
out_decimal(struct out *o, uint64_t v)
{
	char text[20];
	size_t n = sizeof(text);

	do {
		text[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v != 0);
	out_span(o, span_of(text + n, sizeof(text) - n));
}

size_t
utf8_length(span_t s)
{
	static const struct {
		uint8_t mask, lead;
		uint32_t least;
	} forms[] = {
	    {0x80, 0x00, 0x0},
	    {0xe0, 0xc0, 0x80},
	    {0xf0, 0xe0, 0x800},
	    {0xf8, 0xf0, 0x10000},
	};

	for (size_t n = 1; n <= 4 && n <= s.len; n++) {
		uint8_t mask = forms[n - 1].mask;
		uint32_t code;
		if ((s.ptr[0] & mask) != forms[n - 1].lead)
			continue;
		code = s.ptr[0] & (uint8_t)~mask;
		for (size_t i = 1; i < n; i++) {
			if ((s.ptr[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (s.ptr[i] & 0x3fu);
		}
		bool surrogate = code >= 0xd800 && code <= 0xdfff;
		return code < forms[n - 1].least || code > 0x10ffff || surrogate
		    ? 0
		    : n;
	}
	return 0;
}

static void
json_escape(struct out *o, uint8_t c)
{
	static const char digits[] = "0123456789abcdef";

	switch (c) {
	case '"':
		out_str(o, "\\\"");
		break;
	case '\\':
		out_str(o, "\\\\");
		break;
	case '\n':
		out_str(o, "\\n");
		break;
	case '\r':
		out_str(o, "\\r");
		break;
	case '\t':
		out_str(o, "\\t");
		break;
	default:
		out_str(o, "\\u00");
		out_char(o, digits[c >> 4]);
		out_char(o, digits[c & 15]);
	}
}

void
out_json(struct out *o, span_t s)
{
	out_char(o, '"');
	while (s.len > 0) {
		uint8_t c = s.ptr[0];
		size_t n = utf8_length(s);
		if (n == 0) {
			out_str(o, "\\ufffd");
			n = 1;
		} else if (c < ' ' || c == '"' || c == '\\' || c == 0x7f) {
			json_escape(o, c);
		} else {
			out_span(o, span_of(s.ptr, n));
		}
		s = span_of(s.ptr + n, s.len - n);
	}
	out_char(o, '"');
}

void
out_quoted(struct out *o, span_t s)
{
	out_char(o, '"');
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.ptr[i];
		if (c == '"' || c == '\\')
			out_char(o, '\\');
		out_char(o, c < ' ' || c > '~' ? '?' : (char)c);
	}
	out_char(o, '"');
}
