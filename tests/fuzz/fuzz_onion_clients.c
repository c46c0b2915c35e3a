/* The file of who may find an onion service. */
#include "fuzz.h"

#include <string.h>

#include "base/text.h"
#include "tor/onion_clients.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct onion_clients c, again;
	unsigned line;
	enum status st = onion_clients_parse(&c, &line, span_of(data, size));

	FUZZ_CHECK((st == ST_OK) == (c.n > 0));
	if (st != ST_OK || c.n == ONION_CLIENTS_MAX)
		return 0;
	/* What was read says the same when it is written: one key a line. */
	for (size_t i = 0; i < c.n; i++) {
		char text[18 + ONION_CLIENT_TEXT + 1] = "descriptor:x25519:";
		base32_encode(text + 18, span_of(c.key[i], ONION_CLIENT_KEY));
		FUZZ_CHECK(onion_clients_parse(&again, &line, span_str(text)) ==
		    ST_OK);
		FUZZ_CHECK(again.n == 1 &&
		    memcmp(again.key[0], c.key[i], ONION_CLIENT_KEY) == 0);
	}
	return 0;
}
