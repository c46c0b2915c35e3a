#include "daemon/option.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "daemon/memory.h"

/* The longest number, word or time that is looked at. */
#define TOKEN_MAX 64

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
    {"", 1},
    {"k", UINT64_C(1) << 10},
    {"M", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
    {NULL, 0},
};
static const struct unit count_units[] = {
    {"", 1},
    {"k", 1000},
    {"M", 1000000},
    {NULL, 0},
};
static const struct unit time_units[] = {
    {"ms", 1},
    {"s", 1000},
    {"m", 60000},
    {"h", 3600000},
    {"d", 86400000},
    {NULL, 0},
};

/* What *cure points at when it is made for the occasion. */
static char cure_text[160];

const struct option_info *
option_find(const char *section, const char *key)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *o = &option_table[i];
		if (strcmp(o->section, section) == 0 &&
		    strcmp(o->key, key) == 0)
			return o;
	}
	return NULL;
}

bool
option_section_exists(const char *section)
{
	for (size_t i = 0; i < option_count; i++) {
		if (strcmp(option_table[i].section, section) == 0)
			return true;
	}
	return false;
}

#define NEAREST_MAX 32

/* How many letters apart A and B are (Levenshtein), at most NEAREST_MAX. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[NEAREST_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > NEAREST_MAX || lb > NEAREST_MAX)
		return NEAREST_MAX;
	for (unsigned j = 0; j <= lb; j++)
		row[j] = j;
	for (unsigned i = 1; i <= la; i++) {
		unsigned diagonal = row[0];
		row[0] = i;
		for (unsigned j = 1; j <= lb; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

/* A search for what may have been meant. */
struct nearest {
	const char *best;
	unsigned least;
};

/* Two typos are still a typo. */
#define NEAREST ((struct nearest){.least = 3})

static void
consider(struct nearest *n, const char *word, const char *candidate)
{
	unsigned d = distance(word, candidate);

	if (d < n->least) {
		n->least = d;
		n->best = candidate;
	}
}

const char *
option_nearest(const char *section, const char *key)
{
	struct nearest n = NEAREST;

	for (size_t i = 0; i < option_count; i++) {
		if (strcmp(option_table[i].section, section) == 0)
			consider(&n, key, option_table[i].key);
	}
	return n.best;
}

const char *
option_nearest_section(const char *section)
{
	struct nearest n = NEAREST;

	for (size_t i = 0; i < option_count; i++)
		consider(&n, section, option_table[i].section);
	return n.best;
}

void
option_time_text(char out[static 32], uint64_t ms)
{
	const struct unit *u = time_units;

	while (u[1].name != NULL && ms != 0 && ms % u[1].factor == 0)
		u++;
	if (ms == 0)
		snprintf(out, 32, "0s");
	else
		snprintf(out, 32, "%" PRIu64 "%s", ms / u->factor, u->name);
}

/* Read digits and one of UNITS. */
static enum status
read_quantity(uint64_t *out, span_t text, const struct unit *units)
{
	size_t digits = 0;

	*out = 0;
	while (digits < text.len && text.ptr[digits] >= '0' &&
	    text.ptr[digits] <= '9')
		digits++;

	uint64_t n;
	span_t unit = span_of(text.ptr + digits, text.len - digits);
	enum status st = decimal_u64(&n, span_of(text.ptr, digits), UINT64_MAX);
	if (st != ST_OK)
		return st;
	for (; units->name != NULL; units++) {
		if (!span_equal(unit, span_str(units->name)))
			continue;
		if (n > UINT64_MAX / units->factor)
			return ST_BAD_VALUE;
		*out = n * units->factor;
		return ST_OK;
	}
	return ST_BAD_ENCODING;
}

static const struct unit *
units_of(enum option_type type)
{
	if (type == OPTION_TIME)
		return time_units;
	return type == OPTION_SIZE ? size_units : count_units;
}

/* Write V as the messages of TYPE do. */
static void
quantity_text(char out[static 32], enum option_type type, uint64_t v)
{
	const struct unit *u = size_units;

	if (type == OPTION_TIME) {
		option_time_text(out, v);
		return;
	}
	if (type == OPTION_SIZE) {
		while (u[1].name != NULL && v != 0 && v % u[1].factor == 0)
			u++;
	}
	snprintf(out, 32, "%" PRIu64 "%s", v / u->factor, u->name);
}

static void
explain_range(const struct option_info *o, const char **cure)
{
	char min[32], max[32];

	quantity_text(min, o->type, o->min);
	quantity_text(max, o->type, o->max);
	snprintf(cure_text, sizeof(cure_text), "give %s to %s%s%s", min, max,
	    o->flags & OPTION_UNLIMITED_OK ? ", or unlimited" : "",
	    o->type == OPTION_TIME	 ? "; units are ms, s, m, h, d"
		: o->type == OPTION_SIZE ? "; units are k, M, G, T"
					 : "");
	*cure = cure_text;
}

static enum status
read_number(const struct option_info *o, uint64_t *field, const char *text,
    const char **why, const char **cure)
{
	uint64_t v;
	enum status st;

	if ((o->flags & OPTION_UNLIMITED_OK) &&
	    strcmp(text, "unlimited") == 0) {
		*field = OPTION_UNLIMITED;
		return ST_OK;
	}
	/* Zero needs no unit. */
	if (o->type == OPTION_TIME && strcmp(text, "0") == 0)
		text = "0s";
	st = read_quantity(&v, span_str(text), units_of(o->type));
	if (st == ST_OK && (v < o->min || v > o->max))
		st = ST_BAD_VALUE;
	if (st == ST_OK) {
		*field = v;
		return ST_OK;
	}
	*why = st == ST_BAD_VALUE    ? "out of range"
	    : o->type == OPTION_TIME ? "not a time"
	    : o->type == OPTION_SIZE ? "not a size"
				     : "not a number";
	explain_range(o, cure);
	return st;
}

static enum status
read_rate(const struct option_info *o, struct rate *field, const char *text,
    const char **why, const char **cure)
{
	const char *slash = strchr(text, '/');
	struct rate r;

	if ((o->flags & OPTION_UNLIMITED_OK) &&
	    strcmp(text, "unlimited") == 0) {
		*field = (struct rate){OPTION_UNLIMITED, 1};
		return ST_OK;
	}
	*why = "not a rate";
	*cure = "write a number and a time: 60/1m; or unlimited";
	if (slash == NULL ||
	    read_quantity(&r.count, span_of(text, (size_t)(slash - text)),
		count_units) != ST_OK ||
	    read_quantity(&r.period_ms, span_str(slash + 1), time_units) !=
		ST_OK)
		return ST_BAD_ENCODING;
	*why = "out of range";
	*cure = "give 1 to 1000000 in 1s to 1d";
	if (r.count < o->min || r.count > o->max || r.period_ms < 1000 ||
	    r.period_ms > 86400000)
		return ST_BAD_VALUE;
	*field = r;
	return ST_OK;
}

static enum status
read_switch(bool *field, const char *text, const char **why, const char **cure)
{
	if (strcmp(text, "on") == 0 || strcmp(text, "off") == 0) {
		*field = text[1] == 'n';
		return ST_OK;
	}
	*why = "neither on nor off";
	*cure = "write on or off";
	return ST_BAD_ENCODING;
}

static enum status
read_word(const struct option_info *o, unsigned *field, const char *text,
    const char **why, const char **cure)
{
	size_t n = 0;

	for (unsigned i = 0; o->words[i] != NULL; i++) {
		if (strcmp(o->words[i], text) == 0) {
			*field = i;
			return ST_OK;
		}
	}
	n += (size_t)snprintf(cure_text, sizeof(cure_text), "write ");
	for (unsigned i = 0; o->words[i] != NULL && n < sizeof(cure_text); i++)
		n += (size_t)snprintf(cure_text + n, sizeof(cure_text) - n,
		    "%s%s",
		    i == 0			  ? ""
			: o->words[i + 1] != NULL ? ", "
						  : " or ",
		    o->words[i]);
	*why = "not a word of this key";
	*cure = cure_text;
	return ST_BAD_ENCODING;
}

/* The next word of *TEXT, which are separated by spaces and commas; false at
 * the end. */
static bool
next_word(span_t *word, const char **text)
{
	const char *p = *text + strspn(*text, " \t,");
	size_t len = strcspn(p, " \t,");

	*word = span_of(p, len);
	*text = p + len;
	return len != 0;
}

static enum status
read_port(uint16_t *out, span_t text)
{
	uint64_t v;
	enum status st = decimal_u64(&v, text, 65535);

	*out = (uint16_t)v;
	return st == ST_OK && v == 0 ? ST_BAD_VALUE : st;
}

static enum status
read_ports(struct port_ranges *field, const char *text, const char **why,
    const char **cure)
{
	struct port_ranges ports = {.n = 0};
	span_t word;

	*cure = "write ports from 1 to 65535, or ranges: 443 8000-8010";
	while (next_word(&word, &text)) {
		uint16_t first, last;
		const uint8_t *dash = memchr(word.ptr, '-', word.len);
		size_t len = dash ? (size_t)(dash - word.ptr) : word.len;

		*why = "not a port or a range of ports";
		if (read_port(&first, span_of(word.ptr, len)) != ST_OK)
			return ST_BAD_ENCODING;
		last = first;
		if (dash != NULL &&
		    (read_port(&last, span_of(dash + 1, word.len - len - 1)) !=
			    ST_OK ||
			last < first))
			return ST_BAD_ENCODING;
		*why = "more than 32 ranges of ports";
		if (ports.n == PORT_RANGES_MAX)
			return ST_BAD_VALUE;
		ports.range[ports.n].first = first;
		ports.range[ports.n++].last = last;
	}
	*field = ports;
	return ST_OK;
}

static void
read_list(struct text_list *field, const char *text, int line)
{
	span_t word;

	while (next_word(&word, &text)) {
		struct text_item *item;
		field->items = memory_resize(
		    field->items, (field->n + 1) * sizeof(*field->items));
		item = &field->items[field->n++];
		item->text = memory_format(
		    "%.*s", (int)word.len, (const char *)word.ptr);
		item->line = line;
	}
}

static enum status
read_text(char **field, const char *text, const char **why, const char **cure)
{
	if (text[0] == '\0') {
		*why = "no value";
		*cure = "write one, or leave the line out";
		return ST_BAD_LENGTH;
	}
	free(*field);
	*field = memory_copy(text);
	return ST_OK;
}

static void *
field_of(const struct option_info *o, void *base)
{
	return (char *)base + o->offset;
}

static const void *
field_of_const(const struct option_info *o, const void *base)
{
	return (const char *)base + o->offset;
}

enum status
option_read(const struct option_info *o, void *base, const char *text, int line,
    const char **why, const char **cure)
{
	void *field = field_of(o, base);

	*why = *cure = "";
	switch (o->type) {
	case OPTION_SWITCH:
		return read_switch(field, text, why, cure);
	case OPTION_WORD:
		return read_word(o, field, text, why, cure);
	case OPTION_NUMBER:
	case OPTION_SIZE:
	case OPTION_TIME:
		return read_number(o, field, text, why, cure);
	case OPTION_RATE:
		return read_rate(o, field, text, why, cure);
	case OPTION_TEXT:
		return read_text(field, text, why, cure);
	case OPTION_PORTS:
		return read_ports(field, text, why, cure);
	case OPTION_LIST:
		read_list(field, text, line);
		break;
	}
	return ST_OK;
}

void
option_set_default(const struct option_info *o, void *base)
{
	const char *why, *cure;

	/* The table's own defaults are right: test_config reads each. */
	if (o->fallback != NULL &&
	    option_read(o, base, o->fallback, 0, &why, &cure) != ST_OK)
		abort();
}

void
option_clear(const struct option_info *o, void *base)
{
	void *field = field_of(o, base);

	if (o->type == OPTION_TEXT) {
		char **text = field;
		free(*text);
		*text = NULL;
	} else if (o->type == OPTION_LIST) {
		struct text_list *list = field;
		for (size_t i = 0; i < list->n; i++)
			free(list->items[i].text);
		free(list->items);
		*list = (struct text_list){0};
	}
}

static void
copy_list(struct text_list *to, const struct text_list *from)
{
	for (size_t i = 0; i < from->n; i++) {
		to->items =
		    memory_resize(to->items, (to->n + 1) * sizeof(*to->items));
		to->items[to->n++] = (struct text_item){
		    memory_copy(from->items[i].text), from->items[i].line};
	}
}

void
option_copy(const struct option_info *o, void *to, const void *from)
{
	void *a = field_of(o, to);
	const void *b = field_of_const(o, from);
	const char *text;

	option_clear(o, to);
	switch (o->type) {
	case OPTION_SWITCH:
		memcpy(a, b, sizeof(bool));
		break;
	case OPTION_WORD:
		memcpy(a, b, sizeof(unsigned));
		break;
	case OPTION_NUMBER:
	case OPTION_SIZE:
	case OPTION_TIME:
		memcpy(a, b, sizeof(uint64_t));
		break;
	case OPTION_RATE:
		memcpy(a, b, sizeof(struct rate));
		break;
	case OPTION_PORTS:
		memcpy(a, b, sizeof(struct port_ranges));
		break;
	case OPTION_TEXT:
		text = *(char *const *)b;
		*(char **)a = text != NULL ? memory_copy(text) : NULL;
		break;
	case OPTION_LIST:
		copy_list(a, b);
		break;
	}
}

static bool
equal_lists(const struct text_list *a, const struct text_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (strcmp(a->items[i].text, b->items[i].text) != 0)
			return false;
	}
	return true;
}

static bool
equal_texts(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
equal_ports(const struct port_ranges *a, const struct port_ranges *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned i = 0; i < a->n; i++) {
		if (a->range[i].first != b->range[i].first ||
		    a->range[i].last != b->range[i].last)
			return false;
	}
	return true;
}

bool
option_equal(const struct option_info *o, const void *base, const void *other)
{
	const void *a = field_of_const(o, base);
	const void *b = field_of_const(o, other);

	switch (o->type) {
	case OPTION_SWITCH:
		return *(const bool *)a == *(const bool *)b;
	case OPTION_WORD:
		return *(const unsigned *)a == *(const unsigned *)b;
	case OPTION_NUMBER:
	case OPTION_SIZE:
	case OPTION_TIME:
		return *(const uint64_t *)a == *(const uint64_t *)b;
	case OPTION_RATE:
		return ((const struct rate *)a)->count ==
		    ((const struct rate *)b)->count &&
		    ((const struct rate *)a)->period_ms ==
		    ((const struct rate *)b)->period_ms;
	case OPTION_TEXT:
		return equal_texts(*(char *const *)a, *(char *const *)b);
	case OPTION_PORTS:
		return equal_ports(a, b);
	case OPTION_LIST:
		break;
	}
	return equal_lists(a, b);
}
