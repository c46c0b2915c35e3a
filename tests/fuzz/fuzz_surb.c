/* Reply blocks as somebody else sent them, and what comes back: the first byte
 * chooses the suite. */
#include "fuzz.h"

#include "postern/sphinx.h"

/* Whoever made the block with this key at its end opens the reply, had it gone
 * no way. */
static void
open_reply(struct sphinx *s, sphinx_packet_t *packet, const uint8_t *reply_key)
{
	sphinx_surb_owner_t owner = {.hops = 0};
	const uint8_t *reply;
	size_t len;

	memcpy(owner.reply_key, reply_key, sizeof(owner.reply_key));
	FUZZ_CHECK(sphinx_surb_open(s, &reply, &len, &owner, packet->payload,
		       sizeof(packet->payload)) == ST_OK);
	FUZZ_CHECK(len == 5 && memcmp(reply, "reply", 5) == 0);
}

/* Anything else does not open. */
static void
open_noise(struct sphinx *s, const uint8_t *bytes, size_t size)
{
	static uint8_t sealed[SPHINX_PAYLOAD_SIZE];
	const sphinx_surb_owner_t owner = {.hops = 3};
	bool whole = sphinx_suite_of(s) == SPHINX_WIDE && size % 2 == 0;
	size_t len = size < sizeof(sealed) ? size : sizeof(sealed);
	const uint8_t *reply;
	enum status st;

	memset(sealed, 0, sizeof(sealed));
	memcpy(sealed, bytes, len);
	if (whole)
		len = sizeof(sealed);
	st = sphinx_surb_open(s, &reply, &len, &owner, sealed, len);
	FUZZ_CHECK(st == ST_BAD_LENGTH || st == ST_CORRUPT);
	FUZZ_CHECK(reply == NULL && len == 0);
}

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
	if (use == ST_OK && sphinx_suite_of(s) == SPHINX_WIDE)
		open_reply(s, &packet, copy + header + sizeof(packet.header));
	open_noise(s, copy, size);
	free(copy);
	return 0;
}
