#include "daemon/finding.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/memory.h"

static void
make_room(struct findings *f, size_t more)
{
	if (f->n + more <= f->cap)
		return;
	f->cap = 2 * f->cap + more + 8;
	f->items = memory_resize(f->items, f->cap * sizeof(*f->items));
}

static void
count(struct findings *f, enum severity s)
{
	f->errors += s == FINDING_ERROR;
	f->warnings += s == FINDING_WARNING;
}

void
findings_add(struct findings *f, enum severity severity, struct place where,
    const char *cure, const char *fmt, ...)
{
	struct finding *item;
	va_list ap;

	make_room(f, 1);
	item = &f->items[f->n++];
	item->severity = severity;
	if (where.line > 0)
		item->where = memory_format("%s:%d", where.file, where.line);
	else
		item->where = memory_copy(where.file);
	item->cure = memory_copy(cure);
	va_start(ap, fmt);
	item->what = memory_format_list(fmt, ap);
	va_end(ap);
	count(f, severity);
}

/* One of the first N items is an error about WHERE. */
static bool
is_known(const struct findings *f, size_t n, const char *where)
{
	for (size_t i = 0; i < n; i++) {
		if (f->items[i].severity == FINDING_ERROR &&
		    strcmp(f->items[i].where, where) == 0)
			return true;
	}
	return false;
}

static void
item_clear(struct finding *item)
{
	free(item->where);
	free(item->what);
	free(item->cure);
}

void
findings_move(struct findings *f, struct findings *from)
{
	size_t before = f->n;

	make_room(f, from->n);
	for (size_t i = 0; i < from->n; i++) {
		struct finding *item = &from->items[i];
		if (item->severity == FINDING_ERROR &&
		    is_known(f, before, item->where)) {
			item_clear(item);
			continue;
		}
		f->items[f->n++] = *item;
		count(f, item->severity);
	}
	free(from->items);
	*from = (struct findings){0};
}

const char *
severity_name(enum severity s)
{
	switch (s) {
	case FINDING_NOTE:
		return "note";
	case FINDING_WARNING:
		return "warning";
	case FINDING_ERROR:
		break;
	}
	return "error";
}

void
findings_print(const struct findings *f, FILE *out)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct finding *item = &f->items[i];
		fprintf(out, "%s: %s: %s", item->where,
		    severity_name(item->severity), item->what);
		if (item->cure[0] != '\0')
			fprintf(out, " (%s)", item->cure);
		fputc('\n', out);
	}
}

void
findings_clear(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		item_clear(&f->items[i]);
	free(f->items);
	*f = (struct findings){0};
}
