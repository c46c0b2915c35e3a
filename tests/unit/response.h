/* tests/unit/response.h: a response, taken apart by the letter of the RFCs.
 *
 * Independent of src/http, which it judges: RFC 9112 for the message, RFC 9651
 * for structured fields, RFC 9110 for challenges. Each reader returns false at
 * the first thing that its grammar does not have.
 */
#ifndef TESTS_RESPONSE_H
#define TESTS_RESPONSE_H

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/span.h"

#define RESPONSE_FIELDS 32

struct response {
	int code;
	char phrase[64];
	struct {
		char name[48], value[1024];
	} fields[RESPONSE_FIELDS];
	size_t n;
	span_t content; /* what follows the head */
};

static inline bool
response_copy(char *out, size_t cap, const char *from, size_t len)
{
	if (len >= cap)
		return false;
	memcpy(out, from, len);
	out[len] = '\0';
	return true;
}

/* tchar, RFC 9110, 5.6.2. */
static inline bool
response_tchar(char c)
{
	return c != '\0' &&
	    (isalnum((unsigned char)c) != 0 ||
		strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static inline bool
response_line(struct response *r, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);

	if (colon == NULL || colon == line || r->n == RESPONSE_FIELDS)
		return false;
	for (const char *p = line; p < colon; p++) {
		if (!response_tchar(*p))
			return false;
	}
	for (const char *p = colon; p < line + len; p++) {
		if (*p < ' ' || *p > '~') /* ours are ASCII */
			return false;
	}
	size_t name = (size_t)(colon - line);
	if (len - name < 3 || colon[1] != ' ' || colon[2] == ' ' ||
	    line[len - 1] == ' ')
		return false;
	if (!response_copy(r->fields[r->n].name, 48, line, name) ||
	    !response_copy(
		r->fields[r->n].value, 1024, colon + 2, len - name - 2))
		return false;
	r->n++;
	return true;
}

static inline bool
response_parse(struct response *r, span_t text)
{
	static const char version[] = "HTTP/1.1 ";
	const char *p = (const char *)text.ptr, *end = p + text.len;
	bool first = true;

	memset(r, 0, sizeof(*r));
	for (;;) {
		const char *eol = memmem(p, (size_t)(end - p), "\r\n", 2);
		if (eol == NULL)
			return false;
		size_t len = (size_t)(eol - p);
		if (first) {
			if (len < 13 || memcmp(p, version, 9) != 0 ||
			    p[12] != ' ')
				return false;
			r->code = atoi(p + 9);
			if (!response_copy(r->phrase, 64, p + 13, len - 13))
				return false;
		} else if (len == 0) {
			break;
		} else if (!response_line(r, p, len)) {
			return false;
		}
		first = false;
		p = eol + 2;
	}
	p += 2;
	r->content = span_of(p, (size_t)(end - p));
	return true;
}

/* The value of the one field NAME; NULL when there is none, or more. */
static inline const char *
response_field(const struct response *r, const char *name)
{
	const char *value = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (strcasecmp(r->fields[i].name, name) == 0) {
			value = r->fields[i].value;
			n++;
		}
	}
	return n == 1 ? value : NULL;
}

/* --- structured fields, RFC 9651 (and the parameters of challenges) --------- */

enum sf_kind { SF_NONE, SF_INTEGER, SF_STRING, SF_TOKEN };

struct sf_value {
	enum sf_kind kind;
	char text[512]; /* of strings: without quotes and backslashes */
	long long number;
};

struct sf_param {
	char key[32];
	struct sf_value value;
};

struct sf_item {
	struct sf_value value;
	struct sf_param params[8];
	size_t n;
};

static inline bool
sf_integer(struct sf_value *v, const char **p)
{
	char *end;
	size_t digits;

	v->kind = SF_INTEGER;
	v->number = strtoll(*p, &end, 10);
	digits = (size_t)(end - *p) - (**p == '-');
	*p = end;
	return digits >= 1 && digits <= 15 && *end != '.';
}

static inline bool
sf_string(struct sf_value *v, const char **p)
{
	size_t n = 0;

	v->kind = SF_STRING;
	for (++*p; **p != '"'; ++*p) {
		if (**p == '\\' && *++*p != '"' && **p != '\\')
			return false;
		if (**p < ' ' || **p > '~' || n + 1 == sizeof(v->text))
			return false;
		v->text[n++] = **p;
	}
	++*p;
	v->text[n] = '\0';
	return true;
}

static inline bool
sf_token(struct sf_value *v, const char **p)
{
	const char *start = *p;

	v->kind = SF_TOKEN;
	while (response_tchar(**p) || **p == ':' || **p == '/')
		++*p;
	return response_copy(
	    v->text, sizeof(v->text), start, (size_t)(*p - start));
}

static inline bool
sf_bare(struct sf_value *v, const char **p)
{
	memset(v, 0, sizeof(*v));
	if (**p == '"')
		return sf_string(v, p);
	if (isdigit((unsigned char)**p) || **p == '-')
		return sf_integer(v, p);
	if (isalpha((unsigned char)**p) || **p == '*')
		return sf_token(v, p);
	return false;
}

static inline bool
sf_key(char key[static 32], const char **p)
{
	const char *start = *p;

	if (!islower((unsigned char)**p) && **p != '*')
		return false;
	while (islower((unsigned char)**p) || isdigit((unsigned char)**p) ||
	    (**p != '\0' && strchr("_-.*", **p) != NULL))
		++*p;
	return response_copy(key, 32, start, (size_t)(*p - start));
}

static inline bool
sf_item(struct sf_item *item, const char **p)
{
	memset(item, 0, sizeof(*item));
	if (!sf_bare(&item->value, p))
		return false;
	while (**p == ';') {
		struct sf_param *param = &item->params[item->n];
		if (item->n++ == 8)
			return false;
		for (++*p; **p == ' '; ++*p)
			;
		if (!sf_key(param->key, p) || *(*p)++ != '=' ||
		    !sf_bare(&param->value, p))
			return false;
	}
	return true;
}

/* Read TEXT (NULL: false) as a list of items; *n is how many. */
static inline bool
sf_list(struct sf_item *items, size_t *n, size_t cap, const char *text)
{
	const char *p = text;

	for (*n = 0; text != NULL && *n < cap;) {
		if (!sf_item(&items[(*n)++], &p))
			return false;
		while (*p == ' ' || *p == '\t')
			p++;
		if (*p == '\0')
			return true;
		if (*p++ != ',')
			return false;
		while (*p == ' ' || *p == '\t')
			p++;
	}
	return false;
}

/* The parameter KEY; when there is none, a value of the kind SF_NONE. */
static inline const struct sf_value *
sf_param(const struct sf_item *item, const char *key)
{
	static const struct sf_value none = {.kind = SF_NONE};

	for (size_t i = 0; i < item->n; i++) {
		if (strcmp(item->params[i].key, key) == 0)
			return &item->params[i].value;
	}
	return &none;
}

/* Read "Scheme key=value, ..." (RFC 9110, 11.6.1) as an item whose value is
 * the scheme; ours hold only what both grammars share. */
static inline bool
response_challenge(struct sf_item *item, const char *text)
{
	const char *p = text;

	memset(item, 0, sizeof(*item));
	if (text == NULL || !sf_token(&item->value, &p) || *p++ != ' ')
		return false;
	while (item->n < 8) {
		struct sf_param *param = &item->params[item->n++];
		if (!sf_key(param->key, &p) || *p++ != '=' ||
		    !sf_bare(&param->value, &p))
			return false;
		if (*p == '\0')
			return true;
		if (*p++ != ',' || *p++ != ' ')
			return false;
	}
	return false;
}

#endif
