/* The member file: see postern/group.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/span.h"
#include "base/text.h"
#include "bn254/fr.h"
#include "postern/group.h"

enum status
commitment_parse(uint8_t out[static 32], const void *text, size_t len)
{
	fr_t value;
	enum status st = decimal_decode(out, span_of(text, len));

	/* Not below 2^256 is not below r. */
	if (st == ST_BAD_VALUE)
		st = ST_NOT_CANONICAL;
	if (st == ST_OK)
		st = fr_from_bytes_strict(&value, out);
	if (st == ST_OK && fr_is_zero(&value))
		st = ST_BAD_VALUE;
	if (st != ST_OK)
		memset(out, 0, 32);
	return st;
}

const char *
members_fault_text(
    char out[static MEMBERS_FAULT_MAX], const struct members_fault *f)
{
	const char *why = status_text(f->status);

	if (f->status == ST_BAD_ENCODING)
		why = "not a decimal number (digits alone, no leading zero)";
	else if (f->status == ST_BAD_VALUE)
		why = "zero is no commitment";
	else if (f->status == ST_NOT_CANONICAL)
		why = "too large for a commitment (not below r)";
	if (f->line == 0)
		snprintf(out, MEMBERS_FAULT_MAX, "%s", why);
	else if (f->status == ST_DUPLICATE)
		snprintf(out, MEMBERS_FAULT_MAX,
		    "line %zu: the same commitment as line %zu", f->line,
		    f->first_line);
	else
		snprintf(out, MEMBERS_FAULT_MAX, "line %zu: %s", f->line, why);
	return out;
}

static bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* What is left of a line without comment and blanks. */
static span_t
content(span_t line)
{
	const uint8_t *hash =
	    line.len != 0 ? memchr(line.ptr, '#', line.len) : NULL;

	if (hash != NULL)
		line.len = (size_t)(hash - line.ptr);
	while (line.len != 0 && is_blank(line.ptr[line.len - 1]))
		line.len--;
	while (line.len != 0 && is_blank(line.ptr[0]))
		line = span_of(line.ptr + 1, line.len - 1);
	return line;
}

/* --- duplicates: an open-addressed table of places in the list --- */

struct seen {
	size_t *slots; /* place + 1; 0: free */
	size_t mask;
};

/* Commitments are hashes, so any of their bits will do; all of them, mixed as
 * in splitmix64, leave little to whoever picks one with a purpose. */
static size_t
slot_of(const struct seen *s, const struct group_member *m)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < 32; i += 8) {
		h = (h ^ load_be64(m->commitment + i)) *
		    UINT64_C(0xbf58476d1ce4e5b9);
		h ^= h >> 31;
	}
	return (size_t)h & s->mask;
}

/* Enter list[place]; the place of an equal one before it, or PLACE. */
static size_t
seen_enter(struct seen *s, const struct group_member *list, size_t place)
{
	size_t i = slot_of(s, &list[place]);

	for (; s->slots[i] != 0; i = (i + 1) & s->mask) {
		size_t other = s->slots[i] - 1;
		if (memcmp(&list[other], &list[place], sizeof(*list)) == 0)
			return other;
	}
	s->slots[i] = place + 1;
	return place;
}

/* Room for as many members as TEXT can have: one a line. */
static enum status
allocate(struct members *m, struct seen *seen, span_t text)
{
	size_t lines = 1, slots = 4;

	for (size_t i = 0; i < text.len; i++)
		lines += text.ptr[i] == '\n';
	while (slots < 2 * lines)
		slots *= 2;
	m->list = calloc(lines, sizeof(*m->list));
	m->lines = calloc(lines, sizeof(*m->lines));
	seen->slots = calloc(slots, sizeof(*seen->slots));
	seen->mask = slots - 1;
	if (m->list == NULL || m->lines == NULL || seen->slots == NULL)
		return ST_NO_MEMORY;
	return ST_OK;
}

static enum status
parse_lines(
    struct members *m, struct seen *seen, span_t rest, struct members_fault *f)
{
	for (f->line = 1; rest.len != 0; f->line++) {
		span_t text = content(span_take_line(&rest));
		if (text.len == 0)
			continue;
		enum status st = commitment_parse(
		    m->list[m->n].commitment, text.ptr, text.len);
		if (st != ST_OK)
			return st;
		m->lines[m->n] = f->line;
		size_t first = seen_enter(seen, m->list, m->n);
		if (first != m->n) {
			f->first_line = m->lines[first];
			return ST_DUPLICATE;
		}
		m->n++;
	}
	f->line = 0;
	return ST_OK;
}

enum status
members_parse(
    struct members *m, const void *text, size_t len, struct members_fault *f)
{
	struct seen seen = {NULL, 0};
	span_t in = span_of(text, len);

	memset(m, 0, sizeof(*m));
	memset(f, 0, sizeof(*f));
	f->status = allocate(m, &seen, in);
	if (f->status == ST_OK)
		f->status = parse_lines(m, &seen, in, f);
	free(seen.slots);
	if (f->status != ST_OK)
		members_clear(m);
	return f->status;
}

void
members_clear(struct members *m)
{
	free(m->list);
	free(m->lines);
	memset(m, 0, sizeof(*m));
}

/* --- editing --- */

enum status
members_text_add(char **out, size_t *out_len, const void *text, size_t len,
    const struct group_member *add, size_t n)
{
	bool open = len != 0 && ((const char *)text)[len - 1] != '\n';
	size_t at = len;

	*out_len = 0;
	if (n > (SIZE_MAX - len - 2) / DECIMAL_MAX ||
	    (*out = malloc(len + 2 + n * DECIMAL_MAX)) == NULL) {
		*out = NULL;
		return ST_NO_MEMORY;
	}
	if (len != 0)
		memcpy(*out, text, len);
	if (open)
		(*out)[at++] = '\n';
	for (size_t i = 0; i < n; i++) {
		at += decimal_encode(*out + at, add[i].commitment);
		(*out)[at++] = '\n';
	}
	(*out)[at] = '\0';
	*out_len = at;
	return ST_OK;
}

enum status
members_text_remove(char **out, size_t *out_len, const void *text, size_t len,
    const size_t *lines, size_t n)
{
	span_t rest = span_of(text, len);
	size_t at = 0, next = 0;

	*out_len = 0;
	if ((*out = malloc(len + 1)) == NULL)
		return ST_NO_MEMORY;
	for (size_t line = 1; rest.len != 0; line++) {
		const uint8_t *from = rest.ptr;
		span_take_line(&rest);
		if (next < n && lines[next] == line) {
			next++;
			continue;
		}
		memcpy(*out + at, from, (size_t)(rest.ptr - from));
		at += (size_t)(rest.ptr - from);
	}
	(*out)[at] = '\0';
	*out_len = at;
	return ST_OK;
}
