#include "cmd/https.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

#include "base/text.h"

#define LIBRARY "libcurl.so.4"

#define CONNECT_SECONDS 60L
#define STALL_SECONDS 60L /* without a byte */
#define REDIRECTS 5L

/* What we use of the library. */
struct curl {
	void *library;
	CURLcode (*global_init)(long flags);
	void (*global_cleanup)(void);
	CURL *(*init)(void);
	CURLcode (*setopt)(CURL *curl, CURLoption option, ...);
	CURLcode (*perform)(CURL *curl);
	CURLcode (*getinfo)(CURL *curl, CURLINFO info, ...);
	void (*cleanup)(CURL *curl);
	const char *(*strerror)(CURLcode code);
	struct curl_slist *(*append)(struct curl_slist *list, const char *text);
	void (*free_all)(struct curl_slist *list);
};

/* Find NAME; *function is the address of a pointer to a function. */
static bool
find(const struct curl *c, void *function, const char *name)
{
	void *address = dlsym(c->library, name);

	/* POSIX: an address from dlsym can be that of a function, which ISO C
	 * has no conversion for. */
	memcpy(function, &address, sizeof(address));
	return address != NULL;
}

static bool
load(struct curl *c)
{
	c->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	return c->library != NULL &&
	    find(c, &c->global_init, "curl_global_init") &&
	    find(c, &c->global_cleanup, "curl_global_cleanup") &&
	    find(c, &c->init, "curl_easy_init") &&
	    find(c, &c->setopt, "curl_easy_setopt") &&
	    find(c, &c->perform, "curl_easy_perform") &&
	    find(c, &c->getinfo, "curl_easy_getinfo") &&
	    find(c, &c->cleanup, "curl_easy_cleanup") &&
	    find(c, &c->strerror, "curl_easy_strerror") &&
	    find(c, &c->append, "curl_slist_append") &&
	    find(c, &c->free_all, "curl_slist_free_all");
}

struct transfer {
	const struct https_request *request;
	struct curl_slist *fields; /* that we send */
	char tag[HTTPS_TAG_MAX]; /* that came */
	bool ended; /* by on_bytes */
};

static size_t
on_bytes(char *bytes, size_t one, size_t len, void *arg)
{
	struct transfer *t = arg;

	(void)one; /* libcurl: always 1 */
	if (t->request->on_bytes(t->request->arg, (const uint8_t *)bytes, len))
		return len;
	t->ended = true;
	return 0;
}

/* A field of an answer: there are several answers when there are redirections,
 * and the last one's counts. */
static size_t
on_field(char *line, size_t one, size_t len, void *arg)
{
	static const char name[] = "etag:";
	struct transfer *t = arg;
	size_t at = sizeof(name) - 1, end = len;

	(void)one;
	if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
		t->tag[0] = '\0';
	if (len < at || strncasecmp(line, name, at) != 0)
		return len;
	while (at < end && (line[at] == ' ' || line[at] == '\t'))
		at++;
	while (end > at && (unsigned char)line[end - 1] <= ' ')
		end--;
	if (end - at < sizeof(t->tag)) {
		memcpy(t->tag, line + at, end - at);
		t->tag[end - at] = '\0';
	}
	return len;
}

/* Add the field NAME with VALUE to those that T sends. */
static CURLcode
add_field(const struct curl *c, struct transfer *t, const char *name,
    const char *value)
{
	char line[HTTPS_TAG_MAX + 32];
	struct curl_slist *more;

	snprintf(line, sizeof(line), "%s: %s", name, value);
	more = c->append(t->fields, line);
	if (more == NULL)
		return CURLE_OUT_OF_MEMORY;
	t->fields = more;
	return CURLE_OK;
}

static CURLcode
set_fields(const struct curl *c, CURL *h, struct transfer *t)
{
	const struct https_request *r = t->request;
	CURLcode code = CURLE_OK;

	if (r->body != NULL)
		code = add_field(c, t, "Content-Type", "application/json");
	if (code == CURLE_OK && r->body != NULL)
		code = c->setopt(h, CURLOPT_POSTFIELDS, r->body);
	if (code == CURLE_OK && r->tag != NULL && r->tag[0] != '\0')
		code = add_field(c, t, "If-None-Match", r->tag);
	if (code == CURLE_OK && t->fields != NULL)
		code = c->setopt(h, CURLOPT_HTTPHEADER, t->fields);
	if (code == CURLE_OK)
		code = c->setopt(h, CURLOPT_HEADERFUNCTION, on_field);
	if (code == CURLE_OK)
		code = c->setopt(h, CURLOPT_HEADERDATA, t);
	return code;
}

/* An option that this libcurl does not know is a failure: one of them keeps us
 * on https. */
static CURLcode
set_options(const struct curl *c, CURL *h, struct transfer *t, char *error)
{
	const struct https_request *r = t->request;
	const struct {
		CURLoption option;
		long value;
	} numbers[] = {{CURLOPT_FOLLOWLOCATION, 1},
	    {CURLOPT_MAXREDIRS, REDIRECTS}, {CURLOPT_FAILONERROR, 1},
	    {CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS},
	    {CURLOPT_LOW_SPEED_LIMIT, 1},
	    {CURLOPT_LOW_SPEED_TIME, STALL_SECONDS}, {CURLOPT_NOSIGNAL, 1},
	    {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2}};
	const struct {
		CURLoption option;
		const void *value;
	} pointers[] = {{CURLOPT_ERRORBUFFER, error}, {CURLOPT_URL, r->url},
	    {CURLOPT_PROTOCOLS_STR, "https"},
	    {CURLOPT_REDIR_PROTOCOLS_STR, "https"}, {CURLOPT_WRITEDATA, t},
	    /* "" keeps libcurl from looking for one in the environment. */
	    {CURLOPT_PROXY, r->proxy != NULL ? r->proxy : ""},
	    /* Likewise for names that would go around the one that is set. */
	    {CURLOPT_NOPROXY, ""}};
	CURLcode code = c->setopt(h, CURLOPT_WRITEFUNCTION, on_bytes);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (code == CURLE_OK)
			code =
			    c->setopt(h, numbers[i].option, numbers[i].value);
	}
	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		if (code == CURLE_OK)
			code =
			    c->setopt(h, pointers[i].option, pointers[i].value);
	}
	if (code == CURLE_OK && r->ca_file != NULL)
		code = c->setopt(h, CURLOPT_CAINFO, r->ca_file);
	if (code == CURLE_OK)
		code = c->setopt(
		    h, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)r->from);
	return code == CURLE_OK ? set_fields(c, h, t) : code;
}

static enum status
explain(const struct curl *c, CURL *h, const struct transfer *t, CURLcode code,
    const char *detail, char error[static HTTPS_ERROR_MAX])
{
	long http = 0;

	if (t->ended)
		return ST_CLOSED;
	if (code == CURLE_HTTP_RETURNED_ERROR) {
		c->getinfo(h, CURLINFO_RESPONSE_CODE, &http);
		snprintf(
		    error, HTTPS_ERROR_MAX, "the server answers %ld", http);
		return ST_NOT_FOUND;
	}
	/* It may cite the server: a certificate's name, a line of a head. */
	text_printable(error, HTTPS_ERROR_MAX,
	    span_str(detail[0] != '\0' ? detail : c->strerror(code)));
	return code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME
	    ? ST_NOT_FOUND
	    : ST_SYS;
}

/* An answer has come, and no error. */
static enum status
accept_answer(const struct curl *c, CURL *h, const struct transfer *t)
{
	long http = 0;

	c->getinfo(h, CURLINFO_RESPONSE_CODE, &http);
	if (http == 304)
		return ST_DUPLICATE;
	if (t->request->tag != NULL)
		memcpy(t->request->tag, t->tag, sizeof(t->tag));
	return ST_OK;
}

static enum status
transfer(const struct curl *c, const struct https_request *r,
    char error[static HTTPS_ERROR_MAX])
{
	struct transfer t = {.request = r};
	char detail[CURL_ERROR_SIZE] = "";
	CURL *h = c->init();
	CURLcode code;
	enum status st = ST_OK;

	if (h == NULL) {
		snprintf(error, HTTPS_ERROR_MAX, "out of memory");
		return ST_SYS;
	}
	code = set_options(c, h, &t, detail);
	if (code == CURLE_OK)
		code = c->perform(h);
	if (code != CURLE_OK)
		st = explain(c, h, &t, code, detail, error);
	else
		st = accept_answer(c, h, &t);
	c->cleanup(h);
	c->free_all(t.fields);
	return st;
}

bool
https_is_url(const char *url)
{
	return strncasecmp(url, "https://", 8) == 0;
}

enum status
https_get(const struct https_request *r, char error[static HTTPS_ERROR_MAX])
{
	struct curl c = {0};
	enum status st = ST_MISSING;

	error[0] = '\0';
	if (!load(&c) || c.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		snprintf(error, HTTPS_ERROR_MAX,
		    "%s can not be loaded (apt-get install libcurl4)", LIBRARY);
	} else {
		st = transfer(&c, r, error);
		c.global_cleanup();
	}
	if (c.library != NULL)
		dlclose(c.library);
	return st;
}

/* What has come of an answer. */
struct content {
	char *text;
	size_t len, cap, max;
	enum status status; /* why no more is taken */
};

static bool
keep(void *arg, const uint8_t *bytes, size_t len)
{
	struct content *d = arg;

	if (len > d->max - d->len) {
		d->status = ST_NO_SPACE;
		return false;
	}
	if (d->len + len > d->cap) {
		size_t cap = 2 * (d->len + len);
		char *grown = realloc(d->text, cap);
		if (grown == NULL) {
			d->status = ST_NO_MEMORY;
			return false;
		}
		d->text = grown;
		d->cap = cap;
	}
	memcpy(d->text + d->len, bytes, len);
	d->len += len;
	return true;
}

enum status
https_load(char **text, size_t *len, size_t max, struct https_request *r,
    char error[static HTTPS_ERROR_MAX])
{
	struct content d = {.text = malloc(1), .cap = 1, .max = max};
	enum status st = ST_NO_MEMORY;

	r->on_bytes = keep;
	r->arg = &d;
	error[0] = '\0';
	if (d.text != NULL)
		st = https_get(r, error);
	if (st == ST_CLOSED)
		st = d.status;
	if (st == ST_NO_SPACE || st == ST_NO_MEMORY)
		snprintf(error, HTTPS_ERROR_MAX, "%s",
		    st == ST_NO_SPACE ? "it is too long" : "out of memory");
	if (st != ST_OK) {
		free(d.text);
		d = (struct content){0};
	}
	*text = d.text;
	*len = d.len;
	return st;
}
