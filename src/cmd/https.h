/* cmd/https.h: get what is at a URL, over TLS, with libcurl.
 *
 * libcurl is loaded when it is needed and not before: it brings two dozen
 * libraries, which would cost every command some 10 ms and the gateway their
 * weight. Only https, also where a redirection leads; no proxy, no
 * credentials, nothing from the environment. Blocking; one thread.
 */
#ifndef CMD_HTTPS_H
#define CMD_HTTPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postern/attr.h"
#include "postern/status.h"

/* Longest entity tag (RFC 9110, 8.8.3) that is kept, with the NUL. */
#define HTTPS_TAG_MAX 256

struct https_request {
	const char *url;
	const char *body; /* JSON to POST; NULL: GET */
	const char *proxy; /* like socks5h://127.0.0.1:9050; NULL: none */
	const char *ca_file; /* certificates to trust; NULL: the system's */
	uint64_t from; /* leave out so many bytes at the beginning */
	/* The tag of what is known already (NULL: nothing is); in its place
	 * goes that of what came, "" if there is none or it is too long. */
	char *tag;
	/* Takes what comes; false ends it. */
	bool (*on_bytes)(void *arg, const uint8_t *bytes, size_t len);
	void *arg;
};

/* Longest explanation, with the NUL. */
#define HTTPS_ERROR_MAX 256

/* URL begins with https://. */
bool https_is_url(const char *url) NONNULL;

/* Do R.
 * Out:     error, for people; "" on success.
 * Returns: ST_OK; ST_MISSING (no libcurl on this machine); ST_NOT_FOUND (the
 *          server refused, or gives no part of the file when asked to);
 *          ST_DUPLICATE (what is there is what R's tag is of: nothing came);
 *          ST_CLOSED (on_bytes ended it); ST_SYS (network, TLS). */
enum status https_get(const struct https_request *r,
    char error[static HTTPS_ERROR_MAX]) NONNULL WARN_UNUSED;

/* Do R, whose on_bytes and arg are set here, into memory: at most MAX bytes.
 * Out:     *text, to be freed; NULL on failure.
 * Returns: as https_get; ST_NO_SPACE (longer); ST_NO_MEMORY. */
enum status
https_load(char **text, size_t *len, size_t max, struct https_request *r,
    char error[static HTTPS_ERROR_MAX]) NONNULL WARN_UNUSED;

#endif
