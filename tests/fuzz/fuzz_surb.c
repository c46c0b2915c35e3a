/* Reply blocks as somebody else sent them: the first byte chooses the suite. */
#include "fuzz.h"

#include "postern/sphinx.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sphinx *contexts[2];
	static sphinx_packet_t packet;
	uint8_t first[SPHINX_KEY_SIZE], *copy;
	struct sphinx *s;
	size_t used, header;
	enum status st, use;

	if (size < 1)
		return 0;
	for (int i = 0; i < 2 && contexts[i] == NULL; i++)
		FUZZ_CHECK(sphinx_new(&contexts[i],
			       i == 0 ? SPHINX_WIDE : SPHINX_STREAM,
			       SPHINX_KERNEL_AUTO) == ST_OK);
	s = contexts[data[0] & 1];
	header = sphinx_suite_of(s) == SPHINX_STREAM ? 64 : 32;
	size--;
	copy = fuzz_copy(data + 1, size);
	st = sphinx_surb_decode(s, &used, copy, size);
	FUZZ_CHECK(st == ST_OK || st == ST_BAD_LENGTH || st == ST_BAD_VALUE ||
	    st == ST_WEAK_KEY);
	FUZZ_CHECK((st == ST_OK) == (used > 0));
	FUZZ_CHECK(used <= size && used <= SPHINX_SURB_MAX);
	use = sphinx_surb_use(s, &packet, first, copy, size, "reply", 5);
	if (st != ST_OK || used != size) {
		FUZZ_CHECK(use == (st != ST_OK ? st : ST_TRAILING));
		FUZZ_CHECK(first[0] == 0 && packet.header.mac[0] == 0);
	} else {
		FUZZ_CHECK(use == ST_OK);
		FUZZ_CHECK(memcmp(&packet.header, copy + header,
			       sizeof(packet.header)) == 0);
		FUZZ_CHECK(memcmp(first, copy + header - 32, 32) == 0);
		FUZZ_CHECK(sphinx_id_is_valid(first));
	}
	free(copy);
	return 0;
}
