/* The head of an answer: the same result however it is cut, slices within it,
 * and limits that are numbers. */
#include "fuzz.h"

#include "http/response.h"

static void
check_promises(const struct response *r, size_t used, span_t in)
{
	span_t whole = span_of(in.ptr, used);
	uint64_t left, reset;

	FUZZ_CHECK(used <= in.len && used <= RESPONSE_BYTES_MAX);
	FUZZ_CHECK(memcmp(in.ptr + used - 4, "\r\n\r\n", 4) == 0);
	FUZZ_CHECK(memmem(in.ptr, used - 1, "\r\n\r\n", 4) == NULL);
	FUZZ_CHECK(r->code >= 200 && r->code <= 599);
	FUZZ_CHECK(r->has_length || r->length == 0);
	FUZZ_CHECK(fuzz_within(r->etag, whole));
	FUZZ_CHECK(fuzz_within(r->rate_limit, whole));
	if (response_limit(&left, &reset, r->rate_limit, "requests") != ST_OK)
		FUZZ_CHECK(left == 0 && reset == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct response_parser p;
	struct response whole, part;
	size_t used, part_used;
	enum status st, now = ST_MORE;

	response_parser_init(&p);
	st = response_parse(&p, &whole, &used, span_of(data, size));
	FUZZ_CHECK((st == ST_OK) == (used > 0));
	if (st == ST_OK)
		check_promises(&whole, used, span_of(data, size));
	response_parser_init(&p);
	for (size_t n = 0; n <= size && now == ST_MORE; n++) {
		uint8_t *copy = fuzz_copy(data, n);
		now = response_parse(&p, &part, &part_used, span_of(copy, n));
		FUZZ_CHECK(now == ST_MORE || now == st);
		if (now == ST_OK)
			FUZZ_CHECK(part_used == used &&
			    part.code == whole.code &&
			    part.length == whole.length &&
			    span_equal(part.rate_limit, whole.rate_limit));
		free(copy);
	}
	FUZZ_CHECK(now == st);
	return 0;
}
