#include "mix/json_line.h"

/* A place in the text; NULL is nowhere, and everything after it too. */
struct cursor {
	const char *at, *end;
};

static bool
blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void
skip_blanks(struct cursor *c)
{
	while (c->at < c->end && blank(*c->at))
		c->at++;
}

/* Past the string that starts here. */
static void
skip_string(struct cursor *c)
{
	for (c->at++; c->at < c->end && *c->at != '"'; c->at++) {
		if (*c->at == '\\' && c->at + 1 < c->end)
			c->at++;
	}
	if (c->at < c->end)
		c->at++;
}

/* Past the value that starts here. */
static void
skip_value(struct cursor *c)
{
	size_t depth = 0;

	while (c->at < c->end) {
		char x = *c->at;
		if (x == '"') {
			skip_string(c);
			if (depth == 0)
				return;
			continue;
		}
		if (depth == 0 &&
		    (x == ',' || x == ']' || x == '}' || blank(x)))
			return;
		c->at++;
		if (x == '{' || x == '[')
			depth++;
		else if ((x == '}' || x == ']') && --depth == 0)
			return;
	}
}

/* From the opening bracket to the first item; false when there is none. */
static bool
enter(struct cursor *c, char open, char close)
{
	skip_blanks(c);
	if (c->at >= c->end || *c->at != open)
		return false;
	c->at++;
	skip_blanks(c);
	return c->at < c->end && *c->at != close;
}

/* From behind an item to the next; false at the end. */
static bool
next(struct cursor *c)
{
	skip_blanks(c);
	if (c->at >= c->end || *c->at != ',')
		return false;
	c->at++;
	skip_blanks(c);
	return true;
}

/* From an object to the value of NAME in it. */
static bool
go_to_member(struct cursor *c, const char *name)
{
	span_t want = span_str(name);

	if (!enter(c, '{', '}'))
		return false;
	do {
		const char *key = c->at;
		if (*key != '"')
			return false;
		skip_string(c);
		bool found = c->at - key >= 2 &&
		    span_equal(
			span_of(key + 1, (size_t)(c->at - key) - 2), want);
		skip_blanks(c);
		if (c->at >= c->end || *c->at != ':')
			return false;
		c->at++;
		skip_blanks(c);
		if (found)
			return true;
		skip_value(c);
	} while (next(c));
	return false;
}

static bool
go_to_element(struct cursor *c, size_t index)
{
	if (!enter(c, '[', ']'))
		return false;
	while (index-- > 0) {
		skip_value(c);
		if (!next(c))
			return false;
	}
	return true;
}

unsigned
json_line_of(span_t text, const char *list, size_t index, const char *member)
{
	const char *start = (const char *)text.ptr;
	struct cursor c = {start, start + text.len};
	const char *place = start;
	unsigned line = 1;

	if (go_to_member(&c, list)) {
		place = c.at;
		if (go_to_element(&c, index)) {
			place = c.at;
			if (member != NULL && go_to_member(&c, member))
				place = c.at;
		}
	}
	for (const char *p = start; p < place; p++)
		line += *p == '\n';
	return line;
}
