/* A member list at a URL. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/follow.h"
#include "postern/group.h"
#include "store/file.h"

/* The largest list: what a gateway reads (daemon/roll.c). */
#define LIST_MAX ((size_t)512 << 20)
#define HEAD_MAX 2560

/* The file's head: what made it, and when its list was signed. */
static const char made_by[] = "# postern group follow ";
static const char signed_at[] = "# signed ";

static enum status
fail(char why[static FOLLOW_WHY_MAX], enum status st, const char *what,
    const char *detail)
{
	snprintf(why, FOLLOW_WHY_MAX, "%s: %s", what, detail);
	return st;
}

/* --- the file as it is --- */

/* Take write_file's own head off OLD; what follows is the list as it came,
 * which may begin with such a head itself.
 * Out:     *time of the signature; 0: there is none. */
static span_t
take_head(uint64_t *time, span_t old)
{
	span_t rest = old, line = span_take_line(&rest);
	size_t n = sizeof(signed_at) - 1;

	*time = 0;
	if (line.len < sizeof(made_by) - 1 ||
	    memcmp(line.ptr, made_by, sizeof(made_by) - 1) != 0)
		return old;
	old = rest;
	line = span_take_line(&rest);
	if (line.len <= n || memcmp(line.ptr, signed_at, n) != 0)
		return old;
	if (decimal_u64(time, span_of(line.ptr + n, line.len - n), INT64_MAX) !=
	    ST_OK)
		*time = 0;
	return rest;
}

/* --- the list that came --- */

/* Check the signature beside the list TEXT, which must not be older than OLD,
 * that of the list in the file. */
static enum status
check_signature(struct follow_list *l, uint64_t *time,
    char why[static FOLLOW_WHY_MAX], span_t text, uint64_t old)
{
	struct https_request r = {
	    .url = l->signature_url,
	    .proxy = l->to.proxy,
	    .ca_file = l->to.ca_file,
	};
	char error[HTTPS_ERROR_MAX], *signature;
	size_t len;
	enum status st = https_load(&signature, &len, MINISIGN_MAX, &r, error);

	if (st != ST_OK)
		return fail(why, st, l->signature_url, error);
	st = minisign_verify(time, &l->key, text, span_of(signature, len));
	free(signature);
	if (st == ST_FOREIGN)
		return fail(why, st, l->signature_url,
		    "signed with another key than --key");
	if (st == ST_BAD_MAC)
		return fail(why, st, l->signature_url,
		    "the signature is not of this list");
	if (st != ST_OK)
		return fail(
		    why, st, l->signature_url, "not a signature of minisign's");
	if (*time < old)
		return fail(why, ST_BAD_VALUE, l->url,
		    "signed before the list that is here already: somebody "
		    "serves an old one");
	return ST_OK;
}

/* Whether TEXT is a list with somebody on it. */
static enum status
check_list(char why[static FOLLOW_WHY_MAX], size_t *n, const char *url,
    const char *text, size_t len)
{
	char detail[MEMBERS_FAULT_MAX];
	struct members_fault fault;
	struct members m;
	enum status st = members_parse(&m, text, len, &fault);

	*n = m.n;
	members_clear(&m);
	if (st != ST_OK)
		return fail(why, st, url, members_fault_text(detail, &fault));
	if (*n == 0)
		return fail(why, ST_MISSING, url, "nobody is on the list");
	return ST_OK;
}

static bool
begins_signed(const char *text, size_t len)
{
	size_t n = sizeof(signed_at) - 1;

	return len >= n && memcmp(text, signed_at, n) == 0;
}

/* Write the head and the list. */
static enum status
write_file(const struct follow_list *l, char why[static FOLLOW_WHY_MAX],
    uint64_t time, const char *text, size_t len)
{
	char *all = malloc(HEAD_MAX + len);
	enum status st = ST_NO_MEMORY;
	size_t n = 0;

	if (all != NULL) {
		n = (size_t)snprintf(
		    all, HEAD_MAX, "%s%.2000s\n", made_by, l->url);
		/* A list's own such line must not be taken for ours. */
		if (l->signature_url != NULL || begins_signed(text, len))
			n += (size_t)snprintf(all + n, HEAD_MAX - n,
			    "%s%" PRIu64 "\n", signed_at, time);
		memcpy(all + n, text, len);
		st = file_replace(l->to.file, all, n + len, 0644);
	}
	free(all);
	return st == ST_OK
	    ? ST_OK
	    : fail(why, st, l->to.file,
		  st == ST_SYS ? strerror(errno) : status_text(st));
}

static enum status
take(struct follow_list *l, char why[static FOLLOW_WHY_MAX], const char *text,
    size_t len, span_t old)
{
	uint64_t time = 0, old_time;
	span_t old_list = take_head(&old_time, old);
	size_t n;
	enum status st = check_list(why, &n, l->url, text, len);

	if (st == ST_OK && l->signature_url != NULL)
		st = check_signature(
		    l, &time, why, span_of(text, len), old_time);
	if (st != ST_OK)
		return st;
	if (old.len > 0 && span_equal(old_list, span_of(text, len)) &&
	    time == old_time)
		return ST_DUPLICATE;
	st = write_file(l, why, time, text, len);
	if (st == ST_OK)
		snprintf(why, FOLLOW_WHY_MAX, "%s: %zu members", l->to.file, n);
	return st;
}

enum status
follow_list(struct follow_list *l, char why[static FOLLOW_WHY_MAX])
{
	char tag[HTTPS_TAG_MAX], error[HTTPS_ERROR_MAX], *text, *old = NULL;
	struct https_request r = {
	    .url = l->url,
	    .tag = tag,
	    .proxy = l->to.proxy,
	    .ca_file = l->to.ca_file,
	};
	size_t len, old_len = 0;
	enum status st;

	why[0] = '\0';
	/* Without a file that is ours to go by, all is new. */
	if (file_load(&old, &old_len, l->to.file, LIST_MAX, FILE_GUARDED) !=
	    ST_OK)
		l->tag[0] = '\0';
	memcpy(tag, l->tag, sizeof(tag));
	st = https_load(&text, &len, LIST_MAX, &r, error);
	if (st == ST_OK) {
		st = take(l, why, text, len, span_of(old, old_len));
		if (st == ST_OK || st == ST_DUPLICATE)
			memcpy(l->tag, tag, sizeof(tag));
	} else if (st != ST_DUPLICATE) {
		fail(why, st, l->url, error);
	}
	free(text);
	free(old);
	return st;
}
