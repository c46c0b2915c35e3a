/* daemon/document.h: what GET answers, ready to be sent.
 *
 * A document is immutable and counted: it may be on its way to a slow reader
 * while its successor is served to others. Threads: the loop.
 */
#ifndef DAEMON_DOCUMENT_H
#define DAEMON_DOCUMENT_H

#include <stdint.h>

#include "base/span.h"
#include "daemon/buffer.h"
#include "net/conn.h"
#include "postern/status.h"

/* Characters of an ETag, with its NUL. */
#define DOCUMENT_ETAG 25

struct document {
	unsigned refs;
	const char *type; /* a constant */
	char *text;
	size_t len;
	char etag[DOCUMENT_ETAG];
	uint32_t max_age; /* seconds */
};

/* Make a document of what is in B, which is empty afterwards.
 * Returns: ST_OK; ST_NO_MEMORY (also when B has failed). */
enum status document_new(struct document **d, struct buffer *b,
    const char *type, uint32_t max_age) WARN_UNUSED;

struct document *document_ref(struct document *d);

/* Give the reference up (NULL: nothing); *d is NULL afterwards. */
void document_unref(struct document **d);

/* Send D's bytes from *SENT on, as far as C takes them without waiting.
 * In/Out:  *sent.
 * Returns: ST_OK: all are sent; ST_MORE: go on when C has drained; else as
 *          conn_write. */
enum status document_send(
    struct conn *c, const struct document *d, size_t *sent) WARN_UNUSED;

#endif
