#include "tor/reply.h"

/* The line that IN begins with, without its CRLF. */
static enum status
take_line(span_t *line, size_t *used, span_t in)
{
	const uint8_t *lf = in.len != 0 ? memchr(in.ptr, '\n', in.len) : NULL;

	if (lf == NULL)
		return ST_MORE;
	size_t n = (size_t)(lf - in.ptr);
	if (n == 0 || in.ptr[n - 1] != '\r')
		return ST_BAD_ENCODING;
	*line = span_of(in.ptr, n - 1);
	*used = n + 1;
	return ST_OK;
}

static bool
read_code(unsigned *code, span_t line)
{
	*code = 0;
	if (line.len < 4)
		return false;
	for (int i = 0; i < 3; i++) {
		if (line.ptr[i] < '0' || line.ptr[i] > '9')
			return false;
		*code = 10 * *code + (unsigned)(line.ptr[i] - '0');
	}
	return *code >= 100;
}

static enum status
read_reply_line(struct reply_reader *r, struct reply_line *out, span_t line)
{
	if (!read_code(&out->code, line))
		return ST_BAD_ENCODING;
	switch (line.ptr[3]) {
	case '-':
		out->kind = REPLY_MIDDLE;
		break;
	case '+':
		out->kind = REPLY_DATA_BEGIN;
		r->code = out->code;
		break;
	case ' ':
		out->kind = REPLY_LAST;
		break;
	default:
		return ST_BAD_ENCODING;
	}
	out->text = span_of(line.ptr + 4, line.len - 4);
	return ST_OK;
}

static void
read_data_line(struct reply_reader *r, struct reply_line *out, span_t line)
{
	out->code = r->code;
	out->kind = REPLY_DATA;
	out->text = line;
	if (line.len == 0 || line.ptr[0] != '.')
		return;
	out->text = span_of(line.ptr + 1, line.len - 1);
	if (line.len == 1) {
		out->kind = REPLY_DATA_END;
		r->code = 0;
	}
}

enum status
reply_read(
    struct reply_reader *r, struct reply_line *out, size_t *used, span_t in)
{
	struct reply_line read = {0};
	size_t n = 0;
	span_t line;
	enum status s = take_line(&line, &n, in);

	*out = read;
	*used = 0;
	if (s != ST_OK)
		return s;
	if (r->code != 0)
		read_data_line(r, &read, line);
	else if ((s = read_reply_line(r, &read, line)) != ST_OK)
		return s;
	*out = read;
	*used = n;
	return ST_OK;
}

/* --- values --- */

/* Where a word ends that begins at I: behind its last character, spaces in
 * quotes included. False for an open quote. */
static bool
word_end(size_t *end, span_t text, size_t i)
{
	bool quoted = false;

	for (; i < text.len && (quoted || text.ptr[i] != ' '); i++) {
		if (text.ptr[i] == '"')
			quoted = !quoted;
		else if (quoted && text.ptr[i] == '\\')
			i++;
	}
	*end = i;
	return !quoted && i <= text.len;
}

/* Copy a quoted string without what quotes it: \" \\ \n \r \t and \ooo
 * (control-spec 2.1.1). */
static enum status
unquote(char *out, size_t cap, span_t in)
{
	static const char from[] = "nrt\"\\", to[] = "\n\r\t\"\\";
	size_t n = 0, i = 1;

	if (in.len < 2 || in.ptr[in.len - 1] != '"')
		return ST_BAD_ENCODING;
	while (i < in.len - 1) {
		unsigned c = in.ptr[i++];
		if (c == '"')
			return ST_BAD_ENCODING;
		if (c == '\\') {
			unsigned digits = 0;
			c = 0;
			while (digits < 3 && i < in.len - 1 &&
			    in.ptr[i] >= '0' && in.ptr[i] <= '7') {
				c = 8 * c + (unsigned)(in.ptr[i++] - '0');
				digits++;
			}
			const char *p = digits == 0 && i < in.len - 1
			    ? memchr(from, in.ptr[i], sizeof(from) - 1)
			    : NULL;
			if (digits == 0 && p == NULL)
				return ST_BAD_ENCODING;
			if (p != NULL) {
				c = (unsigned char)to[p - from];
				i++;
			}
		}
		if (c == 0 || c > 255)
			return ST_BAD_ENCODING;
		if (n + 1 >= cap)
			return ST_NO_SPACE;
		out[n++] = (char)c;
	}
	out[n] = '\0';
	return ST_OK;
}

static enum status
copy_value(char *out, size_t cap, span_t in)
{
	enum status s = ST_OK;

	if (in.len != 0 && in.ptr[0] == '"')
		s = unquote(out, cap, in);
	else if (in.len != 0 && memchr(in.ptr, '\0', in.len) != NULL)
		s = ST_BAD_ENCODING;
	else if (in.len >= cap)
		s = ST_NO_SPACE;
	else {
		if (in.len != 0)
			memcpy(out, in.ptr, in.len);
		out[in.len] = '\0';
	}
	if (s != ST_OK)
		out[0] = '\0';
	return s;
}

enum status
reply_value(char *out, size_t cap, span_t text, const char *key)
{
	size_t n = strlen(key), i = 0, end;

	out[0] = '\0';
	while (i < text.len) {
		if (text.ptr[i] == ' ') {
			i++;
			continue;
		}
		if (!word_end(&end, text, i))
			return ST_BAD_ENCODING;
		if (end - i > n && memcmp(text.ptr + i, key, n) == 0 &&
		    text.ptr[i + n] == '=')
			return copy_value(out, cap,
			    span_of(text.ptr + i + n + 1, end - i - n - 1));
		i = end;
	}
	return ST_NOT_FOUND;
}

enum status
reply_info(span_t *value, span_t text, const char *key)
{
	size_t n = strlen(key);

	*value = span_of(NULL, 0);
	if (text.len <= n || memcmp(text.ptr, key, n) != 0 ||
	    text.ptr[n] != '=')
		return ST_NOT_FOUND;
	*value = span_of(text.ptr + n + 1, text.len - n - 1);
	return ST_OK;
}

span_t
reply_word(span_t text, unsigned n)
{
	size_t i = 0, begin = 0;

	for (;;) {
		while (i < text.len && text.ptr[i] == ' ')
			i++;
		begin = i;
		while (i < text.len && text.ptr[i] != ' ')
			i++;
		if (i == begin)
			return span_of(NULL, 0);
		if (n-- == 0)
			return span_of(text.ptr + begin, i - begin);
	}
}
