/* daemon/memory.h: memory for start-up and for the operator's own words.
 *
 * These end the process when there is no memory. That is right while a
 * configuration is read, by a command or at start-up, and wrong for anything
 * a client can cause: sessions come from a slab, and what serves them
 * allocates with malloc and answers 503.
 *
 * A gateway that is at work must not end for a reload: it keeps a reserve, which
 * is given up before the process is, and reads nothing new while it has none.
 */
#ifndef DAEMON_MEMORY_H
#define DAEMON_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "postern/attr.h"

/*
 * Fill the reserve where it is empty, before the operator's words are read in a
 * gateway that has clients.
 * Returns: whether it is there; if not, do not read them now.
 */
bool memory_reserve(void);

/* Give the reserve up, for who allocates by other means than those below.
 * Returns: whether there was one, so that it is worth another try. */
bool memory_spend(void);

/* SIZE zero bytes; the caller frees. */
void *memory_new(size_t size);

/* realloc. */
void *memory_resize(void *old, size_t size);

/* strdup. */
char *memory_copy(const char *s);

/* asprintf. */
char *memory_format(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* vasprintf. */
char *memory_format_list(const char *fmt, va_list ap) PRINTF_LIKE(1, 0);

/* Say on stderr that there is no memory, and end. */
void memory_die(void) __attribute__((noreturn));

#endif
