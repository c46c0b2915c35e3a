#include "cmd/https.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>

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
	    find(c, &c->strerror, "curl_easy_strerror");
}

struct transfer {
	const struct https_request *request;
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
	    {CURLOPT_PROXY, r->proxy != NULL ? r->proxy : ""}};
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
	return code;
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
	snprintf(error, HTTPS_ERROR_MAX, "%s",
	    detail[0] != '\0' ? detail : c->strerror(code));
	return code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME
	    ? ST_NOT_FOUND
	    : ST_SYS;
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
	c->cleanup(h);
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
