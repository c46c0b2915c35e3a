#include "daemon/chart.h"

#define HEIGHT 100.0
/* Steps of a row of the table: five minutes. */
#define ROW_STEPS 10

/* Their halves are short numbers too. */
static const double steps[] = {1, 2, 4, 6, 8};

/* The least of STEPS times a power of ten that is not below V. */
static double
nice_above(double v)
{
	double unit = 1e-6;

	while (unit < 1e18) {
		for (unsigned i = 0; i < 5; i++) {
			if (steps[i] * unit >= v)
				return steps[i] * unit;
		}
		unit *= 10;
	}
	return v;
}

/* V with three figures at most. */
static void
figures(struct buffer *b, double v, const char *unit)
{
	int places = v >= 99.95 || v == (double)(long long)v ? 0
	    : v >= 9.995				     ? 1
							     : 2;

	buffer_format(b, "%.*f%s", places, v, unit);
}

void
chart_number(struct buffer *b, enum chart_unit unit, double v)
{
	static const char *const sizes[] = {
	    " B", " kB", " MB", " GB", " TB", " PB"};
	unsigned i = 0;

	if (unit == CHART_SECONDS && v < 1)
		figures(b, v * 1e3, " ms");
	else if (unit == CHART_SECONDS)
		figures(b, v, " s");
	else if (unit == CHART_COUNT)
		figures(b, v, "");
	else {
		while (v >= 1000 && i < 5) {
			v /= 1000;
			i++;
		}
		figures(b, v, sizes[i]);
	}
}

static double
top_of(const struct chart *c)
{
	double top = c->unit == CHART_SECONDS ? 1e-3
	    : c->unit == CHART_BYTES	      ? 1000
					      : 2;

	for (size_t i = 0; i < HISTORY_STEPS; i++) {
		double sum = 0;
		for (size_t s = 0; s < c->n; s++) {
			double v = c->series[s].v[i];
			sum = c->bars ? sum + v : v > sum ? v : sum;
		}
		top = sum > top ? sum : top;
	}
	return nice_above(top);
}

/* --- the picture --- */

static void
draw_bars(struct buffer *b, const struct chart *c, double top)
{
	double below[HISTORY_STEPS] = {0};

	for (size_t s = 0; s < c->n; s++) {
		const struct chart_series *series = &c->series[s];
		buffer_format(b, "<path class=\"c%u\" d=\"", series->colour);
		for (size_t i = 0; i < HISTORY_STEPS; i++) {
			double h = series->v[i] / top * HEIGHT;
			if (series->v[i] <= 0)
				continue;
			buffer_format(b, "M%zu.1 %.2fh.8v-%.2fh-.8z", i,
			    HEIGHT - below[i], h);
			below[i] += h;
		}
		buffer_text(b, "\"/>");
	}
}

/* The stretches of SERIES that have values; CLOSED: down to the ground. */
static void
draw_stretches(struct buffer *b, const struct chart_series *series, double top,
    bool closed)
{
	bool on = false;

	for (size_t i = 0; i < HISTORY_STEPS; i++) {
		double y = HEIGHT - series->v[i] / top * HEIGHT;
		bool here = series->v[i] >= 0;
		if (here && !on && closed)
			buffer_format(b, "M%zu %.0fV%.2fh1", i, HEIGHT, y);
		else if (here && !on)
			buffer_format(b, "M%zu %.2fh1", i, y);
		else if (here)
			buffer_format(b, "V%.2fh1", y);
		if (on && closed && (!here || i + 1 == HISTORY_STEPS))
			buffer_format(b, "V%.0fz", HEIGHT);
		on = here;
	}
}

static void
draw_lines(struct buffer *b, const struct chart *c, double top)
{
	for (size_t s = 0; s < c->n; s++) {
		const struct chart_series *series = &c->series[s];
		buffer_format(
		    b, "<path class=\"area c%u\" d=\"", series->colour);
		draw_stretches(b, series, top, true);
		buffer_format(
		    b, "\"/><path class=\"line s%u\" d=\"", series->colour);
		draw_stretches(b, series, top, false);
		buffer_text(b, "\"/>");
	}
}

static void
draw(struct buffer *b, const struct chart *c, double top)
{
	buffer_format(b,
	    "<div class=\"plot\"><div class=\"y\" aria-hidden=\"true\"><span>");
	chart_number(b, c->unit, top);
	buffer_text(b, "</span><span>");
	chart_number(b, c->unit, top / 2);
	buffer_format(b,
	    "</span><span>0</span></div>"
	    "<svg viewBox=\"0 0 %d %.0f\" preserveAspectRatio=\"none\" "
	    "role=\"img\" aria-labelledby=\"%s-t %s-d\">"
	    "<title id=\"%s-t\">%s</title><desc id=\"%s-d\">%s</desc>"
	    "<path class=\"grid\" d=\"M0 .5H%dM0 50H%dM0 99.5H%d\"/>",
	    HISTORY_STEPS, HEIGHT, c->id, c->id, c->id, c->title, c->id,
	    c->about, HISTORY_STEPS, HISTORY_STEPS, HISTORY_STEPS);
	if (c->bars)
		draw_bars(b, c, top);
	else
		draw_lines(b, c, top);
	buffer_text(b,
	    "</svg><div class=\"x\" aria-hidden=\"true\"><span>60 min ago"
	    "</span><span>30</span><span>now</span></div></div>");
}

/* --- the words --- */

/* SERIES over N steps from FROM: their sum, or what is highest; below zero:
 * there is nothing. */
static double
over(const struct chart_series *series, bool sum, size_t from, size_t n)
{
	double out = -1;

	for (size_t i = from; i < from + n; i++) {
		double v = series->v[i];
		if (v < 0)
			continue;
		out = out < 0 ? v : sum ? out + v : v > out ? v : out;
	}
	return out;
}

static void
cell(struct buffer *b, const struct chart *c, double v)
{
	if (v < 0)
		buffer_text(b, "&ndash;");
	else
		chart_number(b, c->unit, v);
}

static void
write_legend(struct buffer *b, const struct chart *c)
{
	buffer_text(b, "<ul class=\"legend\">");
	for (size_t s = 0; s < c->n; s++) {
		buffer_format(b, "<li><i class=\"b%u\"></i>%s <b>",
		    c->series[s].colour, c->series[s].name);
		cell(b, c, over(&c->series[s], c->bars, 0, HISTORY_STEPS));
		buffer_text(b, "</b></li>");
	}
	buffer_text(b, "</ul>");
}

static void
write_table(struct buffer *b, const struct chart *c)
{
	buffer_format(b,
	    "<details id=\"%s-x\"><summary id=\"%s-s\">Numbers<span "
	    "class=\"away\"> of %s</span></summary><div class=\"scroll\" "
	    "tabindex=\"0\" role=\"region\" aria-label=\"%s, in numbers\">"
	    "<table><caption class=\"away\">%s, in steps of five minutes: "
	    "%s</caption><thead><tr><th scope=\"col\">minutes ago</th>",
	    c->id, c->id, c->title, c->title, c->title,
	    c->bars ? "sums" : "the highest");
	for (size_t s = 0; s < c->n; s++)
		buffer_format(
		    b, "<th scope=\"col\">%s</th>", c->series[s].name);
	buffer_text(b, "</tr></thead><tbody>");
	for (size_t from = HISTORY_STEPS; from >= ROW_STEPS;
	     from -= ROW_STEPS) {
		size_t ago = (HISTORY_STEPS - from) / 2;
		buffer_format(b, "<tr><th scope=\"row\">%zu&ndash;%zu</th>",
		    ago, ago + 5);
		for (size_t s = 0; s < c->n; s++) {
			buffer_text(b, "<td>");
			cell(b, c,
			    over(&c->series[s], c->bars, from - ROW_STEPS,
				ROW_STEPS));
			buffer_text(b, "</td>");
		}
		buffer_text(b, "</tr>");
	}
	buffer_text(b, "</tbody></table></div></details>");
}

void
chart_render(struct buffer *b, const struct chart *c)
{
	buffer_format(b,
	    "<figure id=\"%s\"><figcaption><h2>%s</h2><p>%s</p>"
	    "</figcaption>",
	    c->id, c->title, c->about);
	write_legend(b, c);
	draw(b, c, top_of(c));
	write_table(b, c);
	buffer_text(b, "</figure>\n");
}
