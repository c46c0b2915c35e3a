#include "daemon/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

	if (p == NULL)
		memory_die();
	return p;
}

void *
memory_resize(void *old, size_t size)
{
	void *p = realloc(old, size != 0 ? size : 1);

	if (p == NULL)
		memory_die();
	return p;
}

char *
memory_copy(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		memory_die();
	return p;
}

char *
memory_format(const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	if (vasprintf(&p, fmt, ap) < 0)
		memory_die();
	va_end(ap);
	return p;
}
