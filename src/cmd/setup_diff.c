/* A unified diff of a text and the same with lines put in: setup_parts.h. */
#include <string.h>

#include "cmd/setup_parts.h"

/* As diff -u shows them. */
#define CONTEXT 3

/* A walk over both texts at once. NEW's line is OLD's, or put in. */
struct walk {
	const char *old, *new;
	size_t old_line, new_line; /* from 1 */
};

static size_t
line_length(const char *s)
{
	size_t n = strcspn(s, "\n");

	return n + (s[n] == '\n');
}

/* OLD's line is NEW's too; at the end of a text that lacks one, a newline makes
 * no difference. */
static bool
is_common(const struct walk *w)
{
	size_t n = strcspn(w->old, "\n"), m = strcspn(w->new, "\n");

	return *w->old != '\0' && n == m && strncmp(w->old, w->new, n) == 0;
}

static void
step(struct walk *w)
{
	if (is_common(w)) {
		w->old += line_length(w->old);
		w->old_line++;
	}
	w->new += line_length(w->new);
	w->new_line++;
}

/* How far the next line that is put in is; SIZE_MAX: there is none. */
static size_t
distance(struct walk w)
{
	for (size_t n = 0; *w.new != '\0'; n++, step(&w)) {
		if (!is_common(&w))
			return n;
	}
	return SIZE_MAX;
}

/* Whether the line at W, AFTER common ones behind the last that was put in, is
 * of the same hunk. */
static bool
belongs(const struct walk *w, size_t after)
{
	size_t next = distance(*w);

	return *w->new != '\0' &&
	    (after < CONTEXT ||
		(next != SIZE_MAX && after + next <= 2 * CONTEXT));
}

/* Walk through one hunk from W on; print it where OUT is not NULL. */
static void
hunk(FILE *out, struct walk *w)
{
	size_t after = 0;
	bool begun = false;

	while (belongs(w, begun ? after : 0)) {
		bool common = is_common(w);
		if (out != NULL)
			fprintf(out, "%c%.*s\n", common ? ' ' : '+',
			    (int)strcspn(w->new, "\n"), w->new);
		after = common ? after + 1 : 0;
		begun = begun || !common;
		step(w);
	}
}

static void
print_range(FILE *out, char sign, size_t from, size_t to)
{
	size_t n = to - from;

	/* Of an empty range the line before is named. */
	fprintf(out, " %c%zu,%zu", sign, n == 0 ? from - 1 : from, n);
}

void
setup_diff(FILE *out, const char *path, const char *old, const char *new)
{
	struct walk w = {old != NULL ? old : "", new, 1, 1};
	size_t next;

	fprintf(
	    out, "--- %s\n+++ %s\n", old != NULL ? path : "/dev/null", path);
	while ((next = distance(w)) != SIZE_MAX) {
		for (; next > CONTEXT; next--)
			step(&w);
		struct walk end = w;
		hunk(NULL, &end);
		fputs("@@", out);
		print_range(out, '-', w.old_line, end.old_line);
		print_range(out, '+', w.new_line, end.new_line);
		fputs(" @@\n", out);
		hunk(out, &w);
	}
}
