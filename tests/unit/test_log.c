/* The log: lines for people and for machines, and that nothing can break out
 * of a line. */
#include <jansson.h>
#include <stdlib.h>

#include "daemon/log.h"
#include "harness.h"

static void
a_plain_line(void)
{
	char line[LOG_LINE_MAX];
	const struct log_field fields[] = {log_number(KEY_SESSIONS, 12),
	    log_words(KEY_FILE, "/a/b"), log_words(KEY_CAUSE, "no such file"),
	    log_status(KEY_STATUS, ST_OK), LOG_END};

	log_format_line(
	    line, sizeof(line), FORMAT_PLAIN, 1796075354, EV_READY, fields);
	CHECK_STR(line,
	    "2026-11-30T21:49:14Z notice ready: the gateway is open "
	    "sessions=12 file=/a/b cause=\"no such file\" status=ok");
}

/* What is in a file's name or a configuration's line can not make a line of
 * its own, in either format. */
static void
texts_are_escaped(void)
{
	static const char nasty[] = "a\nb\r\x1b[2J\"\\=\x7f\xc3\xa9 end";
	const struct log_field fields[] = {log_words(KEY_FILE, nasty), LOG_END};
	char line[LOG_LINE_MAX];
	json_t *o;

	log_format_line(
	    line, sizeof(line), FORMAT_PLAIN, 0, EV_FINDING, fields);
	for (const char *p = line; *p != '\0'; p++)
		CHECK(*p >= 0x20 && *p < 0x7f);
	CHECK(strstr(line, "file=\"a\\x0ab\\x0d\\x1b[2J\\x22\\x5c=") != NULL);
	log_format_line(line, sizeof(line), FORMAT_JSON, 0, EV_FINDING, fields);
	o = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	CHECK(o != NULL);
	CHECK(strncmp(json_string_value(json_object_get(o, "file")),
		  "a\nb\r\x1b[2J\"\\=\x7f", 11) == 0);
	json_decref(o);
}

/* However long a text is: the line ends, and is JSON. */
static void
long_texts_are_cut(void)
{
	char text[4000], line[LOG_LINE_MAX + 1];

	for (size_t n = 0; n < sizeof(text); n += 37) {
		memset(text, n % 2 == 0 ? 'x' : '\n', n);
		text[n] = '\0';
		const struct log_field fields[] = {log_words(KEY_FILE, text),
		    log_words(KEY_GROUP, text), log_number(KEY_LINE, n),
		    log_words(KEY_CURE, text), LOG_END};
		size_t len = log_format_line(
		    line, LOG_LINE_MAX, FORMAT_JSON, 0, EV_FINDING, fields);
		CHECK(len < LOG_LINE_MAX && strlen(line) == len);
		json_t *o = json_loads(line, 0, NULL);
		if (o == NULL)
			printf("    %s\n", line);
		CHECK(o != NULL);
		json_decref(o);
		len = log_format_line(
		    line, LOG_LINE_MAX, FORMAT_PLAIN, 0, EV_FINDING, fields);
		CHECK(len < LOG_LINE_MAX && strchr(line, '\n') == NULL);
	}
}

/* Names are what scripts look for: well formed, and each once. */
static void
events_have_names(void)
{
	for (int i = 0; i < EV_COUNT; i++) {
		const struct log_event_info *e =
		    log_event_info((enum log_event)i);
		CHECK(e->name != NULL && e->text != NULL);
		CHECK(strspn(e->name, "abcdefghijklmnopqrstuvwxyz_") ==
		    strlen(e->name));
		for (int j = 0; j < i; j++)
			CHECK(
			    strcmp(e->name,
				log_event_info((enum log_event)j)->name) != 0);
	}
	CHECK(log_event_info(EV_COUNT) == log_event_info(EV_INTERNAL));
}

/* A single request is worth a line at debug alone. */
static void
requests_are_for_debug(void)
{
	CHECK_INT(log_event_info(EV_REQUEST_ANSWERED)->level, LEVEL_DEBUG);
	CHECK_INT(log_event_info(EV_TUNNEL_OPENED)->level, LEVEL_DEBUG);
	CHECK_INT(log_event_info(EV_SESSION_ENDED)->level, LEVEL_DEBUG);
}

static void
levels_hold_back(void)
{
	log_configure(LEVEL_WARNING, FORMAT_PLAIN, TARGET_STDERR);
	CHECK(log_wants(LEVEL_ERROR) && log_wants(LEVEL_WARNING));
	CHECK(!log_wants(LEVEL_NOTICE) && !log_wants(LEVEL_DEBUG));
	log_set_level(LEVEL_DEBUG);
	CHECK(log_wants(LEVEL_DEBUG));
	CHECK_STR(log_level_name(LEVEL_DEBUG), "debug");
}

TESTS({"a plain line", a_plain_line}, {"texts are escaped", texts_are_escaped},
    {"long texts are cut", long_texts_are_cut},
    {"events have names", events_have_names},
    {"requests are for debug", requests_are_for_debug},
    {"levels hold back", levels_hold_back}, )
