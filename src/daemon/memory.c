#include "daemon/memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough for any configuration with its findings; more than malloc keeps back
 * for small pieces, so that it is a mapping of its own. */
#define RESERVE (512 * 1024)

/* Of the main thread, as are all that call these. */
static void *reserve;

bool
memory_reserve(void)
{
	if (reserve == NULL)
		reserve = malloc(RESERVE);
	return reserve != NULL;
}

bool
memory_spend(void)
{
	bool had = reserve != NULL;

	free(reserve);
	reserve = NULL;
	return had;
}

void
memory_die(void)
{
	fputs("postern: out of memory\n", stderr);
	exit(2);
}

void *
memory_new(size_t size)
{
	void *p = calloc(1, size != 0 ? size : 1);

	if (p == NULL && memory_spend())
		p = calloc(1, size != 0 ? size : 1);
	if (p == NULL)
		memory_die();
	return p;
}

void *
memory_resize(void *old, size_t size)
{
	void *p = realloc(old, size != 0 ? size : 1);

	if (p == NULL && memory_spend())
		p = realloc(old, size != 0 ? size : 1);
	if (p == NULL)
		memory_die();
	return p;
}

char *
memory_copy(const char *s)
{
	char *p = strdup(s);

	if (p == NULL && memory_spend())
		p = strdup(s);
	if (p == NULL)
		memory_die();
	return p;
}

char *
memory_format_list(const char *fmt, va_list ap)
{
	va_list again;
	char *p;

	va_copy(again, ap);
	if (vasprintf(&p, fmt, ap) < 0 &&
	    (!memory_spend() || vasprintf(&p, fmt, again) < 0))
		memory_die();
	va_end(again);
	return p;
}

char *
memory_format(const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = memory_format_list(fmt, ap);
	va_end(ap);
	return p;
}
