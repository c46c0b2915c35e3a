/* The hour that the status page shows, and the page. */
#include <stdlib.h>
#include <string.h>

#include "daemon/chart.h"
#include "daemon/status_page.h"
#include "harness.h"

static void
the_ring_keeps_an_hour(void)
{
	struct history *h = calloc(1, sizeof(*h));
	struct metrics *m = calloc(1, sizeof(*m));
	struct history_now s = {0};
	uint64_t now = 1000;

	CHECK(h != NULL && m != NULL);
	CHECK_INT(history_step(h, 0)->bytes_up, 0);
	m->bytes_up = 500; /* before the first look: since the start */
	history_look(h, now, m, &s);
	CHECK_INT(history_step(h, 0)->bytes_up, 500);
	for (unsigned i = 0; i < 300; i++) {
		m->bytes_up += i;
		m->answers[ST_OK]++;
		m->answers[ST_PROOF_INVALID] += 2;
		histogram_add(&m->verify, i < 290 ? 150000 : 900000);
		s.tunnels = i;
		now += HISTORY_STEP_MS / 2;
		history_look(h, now - 1, m, &s);
		s.tunnels = 0;
		history_look(h, now, m, &s); /* turns at each second one */
	}
	/* The newest has just begun; the one before has two of the looks. */
	CHECK_INT(history_step(h, 0)->bytes_up, 0);
	CHECK_INT(history_step(h, 1)->bytes_up, 299 + 298);
	CHECK_INT(history_step(h, 1)->answers[ANSWER_OPENED], 2);
	CHECK_INT(history_step(h, 1)->answers[ANSWER_UNPROVEN], 4);
	CHECK_INT(history_step(h, 1)->tunnels, 299);
	CHECK_INT(history_step(h, 1)->verified, 2);
	/* Quantiles are of the step, not of all times. */
	CHECK(history_step(h, 1)->verify_p50_ns > 500000);
	CHECK(history_step(h, 20)->verify_p50_ns < 200000);
	CHECK_INT(
	    history_step(h, 119)->bytes_up, (299 - 2 * 118) + (298 - 2 * 118));
	CHECK_INT(history_step(h, HISTORY_STEPS)->bytes_up, 0);
	/* A machine that slept: those steps are empty, and it is not long. */
	now += UINT64_C(86400000);
	history_look(h, now, m, &s);
	for (size_t i = 0; i < HISTORY_STEPS - 1; i++)
		CHECK_INT(history_step(h, i)->bytes_up, 0);
	free(h);
	free(m);
}

static void
check_number(enum chart_unit unit, double v, const char *want)
{
	struct buffer b = {0};

	chart_number(&b, unit, v);
	CHECK(b.text != NULL && strcmp(b.text, want) == 0);
	buffer_clear(&b);
}

static void
numbers_are_short(void)
{
	check_number(CHART_COUNT, 0, "0");
	check_number(CHART_COUNT, 1, "1");
	check_number(CHART_COUNT, 12345, "12345");
	check_number(CHART_COUNT, 0.5, "0.50");
	check_number(CHART_SECONDS, 0.00123, "1.23 ms");
	check_number(CHART_SECONDS, 0.0456, "45.6 ms");
	check_number(CHART_SECONDS, 2, "2 s");
	check_number(CHART_BYTES, 999, "999 B");
	check_number(CHART_BYTES, 1234567, "1.23 MB");
}

static size_t
count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

static void
the_page_is_whole(void)
{
	static struct metrics m;
	static struct history h;
	struct gauges g = {.ready = false, .mix = true, .start_seconds = 100};
	struct status_page page = {
	    &m, &h, &g, "no group has members", false, 100 + 90061};
	struct buffer b = {0};
	char fields[STATUS_PAGE_FIELDS];

	/* An answer cut short would lose its last directive. */
	status_page_fields(fields);
	CHECK(strstr(fields, "frame-ancestors 'none'\r\n") != NULL);
	CHECK(strstr(fields, "no-referrer\r\n") != NULL);
	CHECK(strstr(fields, "unsafe") == NULL);
	status_page_render(&b, &page);
	CHECK(!buffer_failed(&b));
	CHECK(strstr(b.text, "Not ready: no group has members") != NULL);
	CHECK(strstr(b.text, "up for 1 d 1 h 1 min") != NULL);
	CHECK_INT(count(b.text, "<figure"), 6);
	CHECK_INT(count(b.text, "<title id="), 6);
	CHECK_INT(count(b.text, "<caption"), 6);
	CHECK_INT(count(b.text, "<details"), count(b.text, "</details>"));
	/* Nothing of elsewhere, nothing that the policy forbids. */
	CHECK_INT(count(b.text, "style=\""), 0);
	CHECK_INT(count(b.text, "http:"), 0);
	CHECK_INT(count(b.text, "https:"), 0);
	CHECK_INT(count(b.text, "src="), 0);
	CHECK_INT(count(b.text, "nan"), 0);
	CHECK_INT(count(b.text, "inf\""), 0);
	buffer_clear(&b);
}

TESTS({"the ring keeps an hour", the_ring_keeps_an_hour},
    {"numbers are short", numbers_are_short},
    {"the page is whole", the_page_is_whole}, )
