/* Requests and answers between a member and a gateway, as they come out of
 * packets: the first byte chooses which. What is accepted lies within the
 * input, and can stand in the head of a CONNECT. */
#include "fuzz.h"

#include "mix/exchange.h"

static void
check_part(span_t in)
{
	struct request_part p;
	uint8_t head[REQUEST_HEAD_SIZE];

	if (request_part_decode(&p, in) != ST_OK)
		return;
	FUZZ_CHECK(p.part < p.parts && p.parts <= EXCHANGE_PARTS_MAX);
	FUZZ_CHECK(fuzz_within(p.bytes, in) && fuzz_within(p.block_bytes, in));
	FUZZ_CHECK(request_part_head(head, &p) == REQUEST_HEAD_SIZE);
	FUZZ_CHECK(memcmp(head, in.ptr, sizeof(head)) == 0);
	for (unsigned i = 0; i < p.blocks; i++)
		FUZZ_CHECK(fuzz_within(request_next_block(&p.block_bytes), in));
	FUZZ_CHECK(p.block_bytes.len == 0);
	FUZZ_CHECK(request_next_block(&p.block_bytes).len == 0);
}

static void
check_request(span_t in)
{
	struct mix_request r;
	uint8_t *again;
	size_t len;

	if (mix_request_decode(&r, in) != ST_OK)
		return;
	FUZZ_CHECK(r.token.len > 0 && r.authority.len > 0);
	for (size_t i = 0; i < r.token.len; i++)
		FUZZ_CHECK(r.token.ptr[i] > ' ' && r.token.ptr[i] < 127);
	for (size_t i = 0; i < r.authority.len; i++)
		FUZZ_CHECK(
		    r.authority.ptr[i] > ' ' && r.authority.ptr[i] < 127);
	again = malloc(in.len);
	FUZZ_CHECK(again != NULL);
	FUZZ_CHECK(
	    mix_request_encode(again, in.len - 1, &len, &r) == ST_NO_SPACE);
	FUZZ_CHECK(mix_request_encode(again, in.len, &len, &r) == ST_OK);
	FUZZ_CHECK(len == in.len && memcmp(again, in.ptr, len) == 0);
	free(again);
}

static void
check_answer(span_t in)
{
	struct answer_part p;
	uint8_t head[ANSWER_HEAD_SIZE];

	if (answer_part_decode(&p, in) != ST_OK)
		return;
	FUZZ_CHECK(p.total > 0 && p.bytes.len <= p.total);
	FUZZ_CHECK(fuzz_within(p.bytes, in));
	answer_part_head(head, &p);
	FUZZ_CHECK(memcmp(head, in.ptr, sizeof(head)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const checks[])(span_t) = {
	    check_part, check_request, check_answer};
	uint8_t *copy;

	if (size < 1)
		return 0;
	copy = fuzz_copy(data + 1, size - 1);
	checks[data[0] % 3](span_of(copy, size - 1));
	free(copy);
	return 0;
}
