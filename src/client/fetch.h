/* client/fetch.h: a document of a gateway's, over a circuit of its own.
 *
 * GET with the strict reading of http/response.h; the content has a length,
 * which is bounded. One connection a document: what is asked here is not to
 * share one, or a circuit, with the CONNECTs of the member.
 */
#ifndef CLIENT_FETCH_H
#define CLIENT_FETCH_H

#include "client/hop.h"
#include "http/response.h"

struct fetch;

/* The end of a fetch. WHY is TROUBLE_NONE with the answer's CODE, and for 200
 * the LEN bytes at BODY, which the callee frees; else what went wrong, DETAIL
 * for people, and BODY is NULL. Called from the loop, once. */
typedef void fetch_fn(void *owner, enum trouble why, const char *detail,
    unsigned code, char *body, size_t len);

/* Fetch PATH (copied; below 200 bytes) from PORT of ONION: at most MAX bytes.
 * Returns: ST_OK (fn will be called); ST_BUSY; ST_NO_MEMORY. */
enum status fetch_start(struct fetch **f, struct client *c, const char *onion,
    uint16_t port, const char *path, size_t max, fetch_fn *fn,
    void *owner) WARN_UNUSED;

/* Forget *F and null it; nobody is called. NULL is nothing. */
void fetch_cancel(struct fetch **f);

#endif
