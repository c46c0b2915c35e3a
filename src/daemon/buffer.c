#include "daemon/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make room for LEN more bytes and a NUL. */
static bool
make_room(struct buffer *b, size_t len)
{
	size_t want = b->len + len + 1;
	char *text;

	if (b->failed)
		return false;
	if (want <= b->cap)
		return true;
	if (want < 2 * b->cap)
		want = 2 * b->cap;
	if (want < 512)
		want = 512;
	if ((text = realloc(b->text, want)) == NULL) {
		b->failed = true;
		return false;
	}
	b->text = text;
	b->cap = want;
	return true;
}

void
buffer_put(struct buffer *b, const void *bytes, size_t len)
{
	if (len == 0 || !make_room(b, len))
		return;
	memcpy(b->text + b->len, bytes, len);
	b->len += len;
	b->text[b->len] = '\0';
}

void
buffer_text(struct buffer *b, const char *s)
{
	buffer_put(b, s, strlen(s));
}

void
buffer_format(struct buffer *b, const char *fmt, ...)
{
	char small[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	if ((size_t)n < sizeof(small)) {
		buffer_put(b, small, (size_t)n);
		return;
	}
	if (!make_room(b, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(b->text + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

bool
buffer_failed(const struct buffer *b)
{
	return b->failed;
}

span_t
buffer_span(const struct buffer *b)
{
	return span_of(b->text, b->len);
}

void
buffer_clear(struct buffer *b)
{
	free(b->text);
	*b = (struct buffer){0};
}
