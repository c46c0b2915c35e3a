/* daemon/option.h: every key of the configuration, in one table.
 *
 * From the table come the parser, the overrides of the command line, the list
 * that `postern run --help` prints, and the test that compares
 * conf/postern.conf with all of them. A key that is not in the table does not
 * exist.
 *
 * A key has a type; the type says how its text is read, where it may lie and
 * how a wrong one is explained. Values land in struct config (config.h) or,
 * for the section [group NAME], in struct config_group.
 */
#ifndef DAEMON_OPTION_H
#define DAEMON_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/status.h"

enum option_type {
	OPTION_SWITCH, /* bool: on, off */
	OPTION_WORD, /* unsigned: the index of one of the words */
	OPTION_NUMBER, /* uint64_t: a count */
	OPTION_SIZE, /* uint64_t: bytes, with k, M, G or T */
	OPTION_TIME, /* uint64_t: milliseconds, with ms, s, m, h or d */
	OPTION_RATE, /* struct rate: N/TIME */
	OPTION_TEXT, /* char *, owned; NULL: none */
	OPTION_PORTS, /* struct port_ranges: 443, 8000-8010 */
	OPTION_LIST, /* struct text_list: words, may be given several times */
};

/* For a number or a size without a limit. */
#define OPTION_UNLIMITED UINT64_MAX

/* COUNT events in each PERIOD_MS; COUNT of OPTION_UNLIMITED: no limit. */
struct rate {
	uint64_t count, period_ms;
};

#define PORT_RANGES_MAX 32

struct port_ranges {
	struct {
		uint16_t first, last;
	} range[PORT_RANGES_MAX];
	unsigned n;
};

/* Words and the line that each came from (0: the command line). */
struct text_list {
	struct text_item {
		char *text;
		int line;
	} * items;
	size_t n;
};

enum option_flag {
	OPTION_RELOADS = 1, /* a reload takes it over; others need a restart */
	OPTION_REQUIRED = 2, /* has no default */
	OPTION_UNLIMITED_OK = 4, /* "unlimited" is a value */
};

struct option_info {
	const char *section; /* "group" stands for each [group NAME] */
	const char *key;
	enum option_type type;
	unsigned flags; /* enum option_flag */
	size_t offset; /* in struct config, or struct config_group */
	const char *fallback; /* as one would write it; NULL: none */
	uint64_t min, max; /* of a number, a size or a time */
	const char *const *words; /* of OPTION_WORD, ended by NULL */
	const char *arg; /* what the value is called in help */
	const char *help; /* a phrase, no full stop */
};

/* The table and its length. */
extern const struct option_info option_table[];
extern const size_t option_count;

/* The entry of KEY in SECTION ("group" for any group), or NULL. */
const struct option_info *option_find(const char *section, const char *key);

/* SECTION is one of the table's. */
bool option_section_exists(const char *section);

/* The key of SECTION whose spelling is nearest to KEY, or NULL when none is
 * near: for "did you mean". */
const char *option_nearest(const char *section, const char *key);

/* Likewise for a section. */
const char *option_nearest_section(const char *section);

/* Read TEXT into the field at BASE + offset. A list grows, all else is
 * replaced.
 * Out:     on failure the field is as it was; *why is a phrase that says what
 *          is wrong and *cure one that says what to write. Both are static or
 *          in a buffer that the next call reuses.
 * Returns: ST_OK; ST_BAD_ENCODING; ST_BAD_VALUE.
 * Threads: the loop, or a command. */
enum status
option_read(const struct option_info *o, void *base, const char *text, int line,
    const char **why, const char **cure) WARN_UNUSED;

/* Give the field its default (or zero, where there is none). */
void option_set_default(const struct option_info *o, void *base);

/* Free what the field holds. */
void option_clear(const struct option_info *o, void *base);

/* Make the field of TO a copy of FROM's. */
void option_copy(const struct option_info *o, void *to, const void *from);

/* The two fields, of two configurations, hold the same. */
bool
option_equal(const struct option_info *o, const void *base, const void *other);

/* "0" to "443" as a canonical time: "10s", "1d": for messages. OUT has 32. */
void option_time_text(char out[static 32], uint64_t ms);

#endif
