#include "daemon/document.h"

#include <sodium.h>
#include <stdlib.h>

#include "base/text.h"

/* Bytes that are handed to a connection at once. */
#define PIECE 4096

enum status
document_new(struct document **document, struct buffer *b, const char *type,
    uint32_t max_age)
{
	struct document *d = calloc(1, sizeof(*d));
	uint8_t hash[(DOCUMENT_ETAG - 1) / 2];

	*document = NULL;
	if (d == NULL || buffer_failed(b)) {
		free(d);
		buffer_clear(b);
		return ST_NO_MEMORY;
	}
	crypto_generichash(
	    hash, sizeof(hash), (const uint8_t *)b->text, b->len, NULL, 0);
	hex_encode(d->etag, span_of(hash, sizeof(hash)));
	d->refs = 1;
	d->type = type;
	d->max_age = max_age;
	d->text = b->text;
	d->len = b->len;
	*b = (struct buffer){0};
	*document = d;
	return ST_OK;
}

struct document *
document_ref(struct document *d)
{
	d->refs++;
	return d;
}

void
document_unref(struct document **document)
{
	struct document *d = *document;

	*document = NULL;
	if (d == NULL || --d->refs > 0)
		return;
	free(d->text);
	free(d);
}

enum status
document_send(struct conn *c, const struct document *d, size_t *sent)
{
	enum status st = ST_OK;

	while (st == ST_OK && *sent < d->len) {
		size_t n = d->len - *sent < PIECE ? d->len - *sent : PIECE;
		if (conn_waiting(c) != 0)
			return ST_MORE;
		st = conn_write(c, span_of(d->text + *sent, n));
		*sent += n;
	}
	return st;
}
