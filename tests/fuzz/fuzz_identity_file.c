/* The identity file: a plain one has one spelling; whatever is refused leaves
 * no secret behind. Argon2id is only run at its cheapest. */
#include "fuzz.h"

#include "postern/identity.h"

#define CHEAP "postern identity 1 encrypted\nargon2id 1 8 "

/* Whether reading DATA would cost no more than a fuzzer can spend. */
static bool
is_affordable(const uint8_t *data, size_t size, enum identity_file_kind kind)
{
	size_t len = strlen(CHEAP);
	const uint8_t *end;

	if (kind != IDENTITY_FILE_ENCRYPTED)
		return true;
	/* With a cost of another spelling only what comes before it counts. */
	end = memchr(data + 29, '\n', size - 29);
	return end == NULL || (size > len && memcmp(data, CHEAP, len) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum identity_file_kind kind;
	struct identity id;
	char text[IDENTITY_FILE_MAX];
	unsigned line;
	size_t len;
	enum status st = identity_file_kind(&kind, data, size);

	FUZZ_CHECK(st == ST_OK || kind == 0);
	if (st == ST_OK && !is_affordable(data, size, kind))
		return 0;
	st = identity_file_read(&id, data, size, "x", 1, &line);
	if (st != ST_OK) {
		for (size_t i = 0; i < sizeof(id); i++)
			FUZZ_CHECK(((const uint8_t *)&id)[i] == 0);
		FUZZ_CHECK(line <= 4);
		return 0;
	}
	FUZZ_CHECK(line == 0 && id.key_len <= IDENTITY_KEY_MAX);
	if (kind == IDENTITY_FILE_PLAIN) {
		identity_file_plain(text, &len, &id);
		FUZZ_CHECK(len == size && memcmp(text, data, size) == 0);
	}
	return 0;
}
