/* daemon/status_page.h: the page for people at metrics.listen: state, figures
 * and charts of the last hour.
 *
 * One HTML document that asks for nothing else: style and script are in it and
 * allowed by their hashes alone. Without the script (or with it paused) it is
 * whole; a meta element in noscript loads it anew then. The script replaces the
 * figures every few seconds and leaves open what is open.
 *
 * It tells what /metrics tells, and like that names no member, no target and
 * no circuit; the onion address is not on it. Pure. Threads: any.
 */
#ifndef DAEMON_STATUS_PAGE_H
#define DAEMON_STATUS_PAGE_H

#include "daemon/buffer.h"
#include "daemon/history.h"

/* What is shown; all borrowed. */
struct status_page {
	const struct metrics *metrics;
	const struct history *history;
	const struct gauges *gauges;
	const char *why; /* a phrase, when it is not ready */
	bool starting;
	uint64_t wall; /* now, Unix time */
};

void status_page_render(struct buffer *b, const struct status_page *p);

/* Room for status_page_fields. */
#define STATUS_PAGE_FIELDS 512

/* The lines of the answer's head that confine the page. */
void status_page_fields(char out[static STATUS_PAGE_FIELDS]);

#endif
