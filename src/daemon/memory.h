/* daemon/memory.h: memory for start-up and for the operator's own words.
 *
 * These end the process when there is no memory. That is right while a
 * configuration is read, by a command or at start-up, and wrong for anything
 * a client can cause: sessions come from a slab, and what serves them
 * allocates with malloc and answers 503.
 */
#ifndef DAEMON_MEMORY_H
#define DAEMON_MEMORY_H

#include <stddef.h>

#include "postern/attr.h"

/* SIZE zero bytes; the caller frees. */
void *memory_new(size_t size);

/* realloc. */
void *memory_resize(void *old, size_t size);

/* strdup. */
char *memory_copy(const char *s);

/* asprintf. */
char *memory_format(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Say on stderr that there is no memory, and end. */
void memory_die(void) __attribute__((noreturn));

#endif
