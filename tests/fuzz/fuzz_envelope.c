/* The message layer: what is accepted is written back to the same bytes. */
#include "fuzz.h"

#include "postern/sphinx.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = fuzz_copy(data, size);
	span_t whole = span_of(copy, size);
	sphinx_message_t m;
	enum status st = sphinx_message_decode(&m, copy, size);

	FUZZ_CHECK((st == ST_OK) == (m.kind != 0));
	if (st == ST_OK) {
		uint8_t *again = malloc(size);
		size_t len;
		FUZZ_CHECK(again != NULL);
		FUZZ_CHECK(fuzz_within(span_of(m.body, m.body_len), whole));
		FUZZ_CHECK(fuzz_within(span_of(m.surb, m.surb_len), whole));
		FUZZ_CHECK(
		    sphinx_message_encode(again, size, &len, &m) == ST_OK);
		FUZZ_CHECK(len == size && memcmp(again, copy, size) == 0);
		free(again);
	} else {
		FUZZ_CHECK(m.body == NULL && m.surb == NULL && m.id == NULL);
	}
	free(copy);
	return 0;
}
