/* daemon/chart.h: a chart of the last hour as HTML: a figure with an SVG
 * picture, its legend, and a table of the same numbers behind it.
 *
 * The picture is stretched to the width there is, so its words are HTML beside
 * it and keep their size on a phone. It has a title and a description for
 * those who hear it; the table is for them too, and for the keyboard. No style
 * attribute and no script: it stands under a strict Content-Security-Policy.
 * Colours are classes, set by the page (status_page.c).
 *
 * Pure. Threads: any.
 */
#ifndef DAEMON_CHART_H
#define DAEMON_CHART_H

#include "daemon/buffer.h"
#include "daemon/history.h"

#define CHART_SERIES_MAX 6

enum chart_unit { CHART_COUNT, CHART_SECONDS, CHART_BYTES };

/* Values from the oldest step to the newest; one below zero is no value. */
struct chart_series {
	const char *name; /* a constant */
	unsigned colour; /* class cN */
	double v[HISTORY_STEPS];
};

struct chart {
	const char *id, *title, *about; /* constants */
	enum chart_unit unit;
	bool bars; /* sums, stacked; else lines of what is highest */
	struct chart_series series[CHART_SERIES_MAX];
	size_t n;
};

void chart_render(struct buffer *b, const struct chart *c);

/* V in UNIT, as people write it: "12", "3.4 ms", "1.2 MB". */
void chart_number(struct buffer *b, enum chart_unit unit, double v);

#endif
