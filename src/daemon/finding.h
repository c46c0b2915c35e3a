/* daemon/finding.h: what is wrong with a configuration or a machine, where,
 * and what to do about it.
 *
 * The parser of the configuration, the loader of member files and `postern
 * check` all add to one list, so that a person sees every problem at once and
 * mends them in one go. The list is for the operator: it names files, lines
 * and keys of the configuration, and never a member, a target or a circuit.
 */
#ifndef DAEMON_FINDING_H
#define DAEMON_FINDING_H

#include <stddef.h>
#include <stdio.h>

#include "postern/attr.h"

enum severity {
	FINDING_NOTE, /* good to know */
	FINDING_WARNING, /* runs, and is probably not what is wanted */
	FINDING_ERROR, /* the gateway does not start with it */
};

struct finding {
	enum severity severity;
	char *where; /* "FILE:LINE", "command line", a path; never NULL */
	char *what; /* lower case, no full stop */
	char *cure; /* an imperative; "" where there is nothing to do */
};

/* Owned by whoever declared it; all zero is an empty list. */
struct findings {
	struct finding *items;
	size_t n, cap;
	size_t errors, warnings;
};

/* A place: a file and a line in it. Line 0 means the whole file. */
struct place {
	const char *file; /* not NULL */
	int line;
};

/* Add a finding; FMT says what. CURE is text of an imperative or "". The
 * strings are copied. Out of memory ends the process: this runs at start-up
 * and in commands, on a handful of lines. */
void
findings_add(struct findings *f, enum severity severity, struct place where,
    const char *cure, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* Move the items of FROM to the end of F, but for errors about a place of which
 * F has one already: they follow from it. FROM is empty afterwards. */
void findings_move(struct findings *f, struct findings *from);

/* Print a line for each: "WHERE: error: WHAT (CURE)". */
void findings_print(const struct findings *f, FILE *out);

/* "error", "warning" or "note". */
const char *severity_name(enum severity s);

void findings_clear(struct findings *f);

#endif
