/* The request head: whatever the bytes and however they are cut, the result is
 * the same, its slices lie within the head, and it holds what it promises. */
#include "fuzz.h"

#include "http/head.h"

struct result {
	enum status st;
	size_t used;
	struct head head;
};

static bool
same_slice(span_t a, span_t b)
{
	return span_equal(a, b);
}

static void
check_same(const struct result *a, const struct result *b)
{
	const struct head *x = &a->head, *y = &b->head;

	FUZZ_CHECK(a->st == b->st && a->used == b->used);
	FUZZ_CHECK(x->method == y->method && x->keep == y->keep);
	FUZZ_CHECK(x->credential == y->credential);
	FUZZ_CHECK(same_slice(x->token, y->token));
	FUZZ_CHECK(same_slice(x->path, y->path));
	FUZZ_CHECK(same_slice(x->query, y->query));
	FUZZ_CHECK(same_slice(x->if_none_match, y->if_none_match));
	FUZZ_CHECK(x->target.kind == y->target.kind);
	FUZZ_CHECK(x->target.port == y->target.port);
	FUZZ_CHECK(same_slice(x->target.host, y->target.host));
}

/* Refused for what it means: its end is known. */
static bool
by_meaning(enum status st)
{
	return st == ST_HTTP_FORM || st == ST_HTTP_AUTHORITY ||
	    st == ST_HTTP_HOST || st == ST_CREDENTIAL_TWICE;
}

static void
check_promises(const struct result *r, span_t in)
{
	const struct head *h = &r->head;
	span_t whole = span_of(in.ptr, r->used);

	if (r->st != ST_OK) {
		FUZZ_CHECK((h->method != HTTP_NONE) == by_meaning(r->st));
		FUZZ_CHECK(h->token.len == 0);
		FUZZ_CHECK(h->target.kind == HOST_NONE && h->path.len == 0);
		FUZZ_CHECK(r->used != 0 || !h->keep);
		FUZZ_CHECK((r->used != 0) == by_meaning(r->st));
	}
	if (r->used == 0)
		return;
	FUZZ_CHECK(r->used <= in.len && r->used >= 4);
	FUZZ_CHECK(memcmp(in.ptr + r->used - 4, "\r\n\r\n", 4) == 0);
	/* Nothing that ends a head is inside it. */
	FUZZ_CHECK(memmem(in.ptr, r->used - 1, "\r\n\r\n", 4) == NULL);
	FUZZ_CHECK(memchr(in.ptr, '\0', r->used) == NULL);
	if (r->st != ST_OK)
		return;
	FUZZ_CHECK(fuzz_within(h->token, whole));
	FUZZ_CHECK(fuzz_within(h->authorization, whole));
	FUZZ_CHECK(
	    h->token.len == 0 || fuzz_within(h->token, h->authorization));
	FUZZ_CHECK(fuzz_within(h->path, whole));
	FUZZ_CHECK(fuzz_within(h->query, whole));
	FUZZ_CHECK(fuzz_within(h->if_none_match, whole));
	FUZZ_CHECK(fuzz_within(h->target.host, whole));
	FUZZ_CHECK((h->credential == ST_OK) == (h->token.len > 0));
	FUZZ_CHECK(
	    (h->method == HTTP_CONNECT) == (h->target.kind != HOST_NONE));
	FUZZ_CHECK((h->method == HTTP_CONNECT) == (h->target.port != 0));
	FUZZ_CHECK((h->method == HTTP_GET || h->method == HTTP_HEAD) ==
	    (h->path.len > 0));
	FUZZ_CHECK(h->target.kind != HOST_NAME || host_is_name(h->target.host));
}

static struct result
parse_at_once(span_t in, const struct head_limits *limits)
{
	struct head_parser p;
	struct result r;

	head_parser_init(&p, limits);
	r.st = head_parse(&p, &r.head, &r.used, in);
	return r;
}

/* Give one more STEP each time, each time in other memory. The last memory is
 * the caller's to free: the result points into it. */
static struct result
parse_in_steps(
    uint8_t **memory, span_t in, size_t step, const struct head_limits *limits)
{
	struct head_parser p;
	struct result r;
	size_t n = 0;

	*memory = NULL;
	head_parser_init(&p, limits);
	do {
		uint8_t *old = *memory;
		n = in.len - n > step ? n + step : in.len;
		*memory = fuzz_copy(in.ptr, n);
		free(old);
		r.st = head_parse(&p, &r.head, &r.used, span_of(*memory, n));
	} while (r.st == ST_MORE && n < in.len);
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct head_limits all_limits[] = {
	    {HEAD_BYTES_DEFAULT, HEAD_FIELDS_DEFAULT, false}, {96, 3, false},
	    {HEAD_BYTES_DEFAULT, HEAD_FIELDS_DEFAULT, true}};
	span_t in = span_of(data, size);

	for (size_t i = 0; i < 3; i++) {
		const struct head_limits *limits = &all_limits[i];
		struct result whole = parse_at_once(in, limits);
		check_promises(&whole, in);
		FUZZ_CHECK(whole.used <= limits->bytes);
		for (size_t step = size > 600 ? 61 : 1; step < size + 3;
		     step = 3 * step + 1) {
			uint8_t *memory;
			struct result r =
			    parse_in_steps(&memory, in, step, limits);
			check_same(&whole, &r);
			free(memory);
		}
		/* The head alone, without what follows, is the same head. */
		if (whole.used != 0) {
			struct result r =
			    parse_at_once(span_of(data, whole.used), limits);
			check_same(&whole, &r);
		}
	}
	return 0;
}
