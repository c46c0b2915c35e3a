/* daemon/buffer.h: text that grows while it is written: documents, metrics,
 * answers of the control socket.
 *
 * When there is no memory the buffer remembers that and takes nothing more;
 * the writer asks once, at the end, with buffer_failed.
 */
#ifndef DAEMON_BUFFER_H
#define DAEMON_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "postern/attr.h"

/* All zero is an empty buffer. */
struct buffer {
	char *text; /* NULL while empty; otherwise ends with a NUL */
	size_t len, cap;
	bool failed;
};

void buffer_put(struct buffer *b, const void *bytes, size_t len);
void buffer_text(struct buffer *b, const char *s);
void buffer_format(struct buffer *b, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Some of it is missing: there was no memory. */
bool buffer_failed(const struct buffer *b);

/* What has been written. */
span_t buffer_span(const struct buffer *b);

/* Free it; the buffer is empty again. */
void buffer_clear(struct buffer *b);

#endif
